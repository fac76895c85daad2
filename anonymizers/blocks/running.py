"""A release made in blocks of rows: cut, grouped block by block, published together.

Blocks run one after the other in this process (`jobs = 1`), side by side in several, or on Spark. Each draws from a
generator of its own, made from the seed and the number of the block, so the release is the same wherever they run. A process
gets the codes of its block and gives back the groups of its rows. A table of one block gives the release that it would give
without blocks.

The groups are published over the whole table: neither labels nor their order depend on the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from time import process_time
from typing import overload

from anonymizers import Anonymizer
from anonymizers.blocks.cutting import cut
from anonymizers.blocks.joining import compact, join
from anonymizers.blocks.on_spark import run_on_spark
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from anonymizers.shared.people import People
from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Job, Reply, Work
from auditor.model.arrays import Codes, Ints
from auditor.model.domain import Domain
from auditor.model.errors import AuditorError, PromiseError, UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.record.record import NOT_APPLICABLE, OK
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import Table

DEFAULT_SIZE = 50_000
"""The most rows in a block, unless asked otherwise."""

BLOCKS, BLOCK_ROWS = "blocks", "block_rows"
"""The settings of a release that say how many blocks it was made in, and the most rows a block was to have."""
WORTH_PROCESSES = 10.0
"""Processes are started only for at least so many seconds of work: each takes more than a second to start."""

Tick = Callable[[list[str]], None]


class Engine(StrEnum):
    """Where blocks run."""

    PROCESSES = "processes"
    SPARK = "spark"

    @classmethod
    def named(cls, name: str | None) -> Engine:
        """The engine of this name; processes where no name is given."""
        if name is None:
            return cls.PROCESSES
        if name not in list(cls):
            raise UsageError(f"Blocks run on one of {', '.join(cls)}. Got {name!r}.")
        return cls(name)


@dataclass(frozen=True)
class BlockJob(Job):
    """One block: its number, and the codes of its rows."""

    number: int
    codes: Mapping[str, Codes]


@dataclass(frozen=True)
class BlockWork(Work):
    """What all blocks share: the method, the seed, and the description of the whole table."""

    method: Grouping
    title: str
    seed: int
    schema: Schema
    domains: Mapping[str, Domain]
    whole: Mapping[str, Ints]

    def do(self, job: BlockJob) -> Groups:
        """The groups of a block."""
        rows = len(next(iter(job.codes.values())))
        block = Table(job.name, self.schema, self.domains, job.codes, rows, self.whole)
        return compact(self.method.groups(block, stage(self.seed, "anonymize", self.title, "block", job.number)))


class _Jobs(Sequence[BlockJob]):
    """The blocks of a table; the codes of a block are put together when it is asked for."""

    def __init__(self, table: Table, columns: Sequence[str], blocks: Sequence[Ints], first: int = 0) -> None:
        self.table, self.columns, self.blocks, self.first = table, columns, blocks, first

    def after(self, count: int) -> _Jobs:
        """The blocks after the first `count`; each keeps its number."""
        return _Jobs(self.table, self.columns, self.blocks[count:], self.first + count)

    def __len__(self) -> int:
        return len(self.blocks)

    @overload
    def __getitem__(self, number: int) -> BlockJob: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[BlockJob]: ...

    def __getitem__(self, number: int | slice) -> BlockJob | Sequence[BlockJob]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        codes = {column: self.table.codes[column][self.blocks[number]] for column in self.columns}
        return BlockJob(f"block {self.first + number + 1}", None, self.first + number, codes)


def anonymize_in_blocks(
    table: Table,
    method: Anonymizer,
    seed: int,
    size: int = DEFAULT_SIZE,
    jobs: int | None = None,
    engine: Engine = Engine.PROCESSES,
    progress: Progress = silent,
) -> tuple[Release, Provenance]:
    """A release of a table, made in blocks of at most `size` rows, and apart from it its provenance. `jobs` blocks run at a
    time (None: one for each processor, where the work is worth starting processes). The release's settings say how many
    blocks there were."""
    if not isinstance(method, Grouping):
        raise UsageError(f"{method.name} cannot work in blocks: {method.needs_whole}. Leave the blocks out.")
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs must be at least 1. Got {jobs}.")
    if size < method.least_rows:
        raise UsageError(
            f"Blocks must have at least {method.least_rows} rows, since {method.title} puts so many together. Got {size}."
        )
    people = People(table)
    blocking = method.in_blocks(people.table)
    blocks = cut(people.table, blocking, size, stage(seed, "anonymize", method.title, "cut"), progress)
    draws = stage(seed, "anonymize", method.title)
    if len(blocks) == 1:
        release, provenance = method.anonymize(table, draws, progress)
    else:
        groups = join(blocks, _found(people.table, blocking, blocks, method.title, seed, jobs, engine, progress))
        release, provenance = method.publish_groups(table, groups.spread(people, method.name), draws)
    said = {**release.params, BLOCKS: len(blocks), BLOCK_ROWS: int(size)}
    return replace(release, params=said), provenance


def _found(
    table: Table,
    blocking: Blocking,
    blocks: Sequence[Ints],
    title: str,
    seed: int,
    jobs: int | None,
    engine: Engine,
    progress: Progress,
) -> list[Groups]:
    """The groups of each block."""
    columns = tuple(dict.fromkeys(blocking.columns)) or tuple(table.codes)[:1]
    work = BlockWork(
        None,
        blocking.method,
        title,
        seed,
        table.schema,
        {column: table.domains[column] for column in columns},
        {column: table.counts(column) for column in columns},
    )
    found: dict[int, Groups] = {}

    def tick(running: list[str]) -> None:
        now = f", now: {', '.join(running)}" if running else ""
        progress(len(found), len(blocks), f"{len(found)} of {len(blocks)} blocks{now}")

    for number, reply in _replies(work, _Jobs(table, columns, blocks), jobs, engine, tick):
        if reply.status == NOT_APPLICABLE:
            raise PromiseError(f"block {number + 1} of {len(blocks)}: {reply.reason}")
        if reply.status != OK:
            raise AuditorError(
                f"block {number + 1} of {len(blocks)} ({len(blocks[number])} rows) was not finished: {reply.reason}. "
                "Try smaller blocks or fewer jobs."
            )
        found[number] = reply.result
    return [found[number] for number in range(len(blocks))]


def _replies(work: BlockWork, todo: _Jobs, jobs: int | None, engine: Engine, tick: Tick) -> Iterator[tuple[int, Reply]]:
    """The replies to the blocks, as they are finished. Where `jobs` is None, the first block is done in this process, and
    its time decides whether the others are worth starting processes for."""
    if engine is Engine.SPARK:
        tick([])
        yield from run_on_spark(work, todo)
        return
    here = len(todo) if jobs == 1 else 0
    if jobs is None:
        start = process_time()
        yield from _done_here(work, todo, range(1), tick)
        left = (process_time() - start) * (len(todo) - 1)
        here = 1 if left > WORTH_PROCESSES and processors() > 1 else len(todo)
        yield from _done_here(work, todo, range(1, here), tick)
    else:
        yield from _done_here(work, todo, range(here), tick)
    if here < len(todo):
        for number, reply in run_jobs(work, todo.after(here), jobs or processors(), tick):
            yield here + number, reply


def _done_here(work: BlockWork, todo: _Jobs, numbers: range, tick: Tick) -> Iterator[tuple[int, Reply]]:
    for number in numbers:
        tick([todo[number].name])
        yield number, Reply(OK, None, work.do(todo[number]), 0.0)  # an error here is simply raised
