"""Running a mechanism again and again on the same tables, for the test of a claim.

The runs are shared out to processes in batches. Each draws from a generator of its own, so that their number and order do not
matter. Every run ends in one of three ways:

- It gives a release, and what the release shows is noted.
- It gives none, by the mechanism's own doing: it refuses, ends with an error, crashes, or writes what is no table. That is an
  outcome like any other, since a mechanism must not tell by failing.
- It is *lost*: a time limit, a memory limit, a signal from outside or a bug of ours ended it. What it would have given is not
  known, and it is no outcome. Where one run of a batch takes its process with it, the whole batch is lost.

Where both tables have their size in rows published, that size tells them apart if one has a person more. No score can see
past it: every count of rows grows with the table. So where a release has as many rows as its table, or a fixed multiple, what
it shows is noted a second time, after leaving out rows by chance, as many as the larger table makes it longer. Whoever draws
rows independently from noisy counts then publishes the same of either size, whatever the counts of the only, or of a very
common, value of a column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anonymizers.base import Anonymizer
from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Job, Reply, Work, carry_out
from auditor.model.arrays import Floats
from auditor.model.errors import AuditorError, EndedError
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.runs.canaries import Published, Watch, published, published_text, rows_in, shortened
from auditor.runs.mechanisms import ProgramMechanism

_SEEDS = 2**31
_BATCHES = 40
"""The batches that a process does of one world: few enough to cost nothing, many enough that one can be lost."""


class Shown(NamedTuple):
    """What a run publishes: the release, and what is said of it."""

    release: Published
    promises: tuple[str, ...]


@dataclass(frozen=True)
class BatchJob(Job):
    """Some runs of one world."""

    world: int
    first: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What runs showed, without those that are lost."""

    figures: Floats
    """Runs × figures; a run without a release has -1 throughout."""
    shortened: Floats
    """The same of releases without the rows that the larger table makes them longer."""
    rows: list[int]
    """The rows of each release; -1 is none."""
    refused: Counter[str] = field(default_factory=Counter)
    """How often each reason was given for no release."""
    lost: Counter[str] = field(default_factory=Counter)
    """How often runs were lost, and why."""
    promises: tuple[str, ...] = ()
    """What is said of a release."""

    @classmethod
    def of(cls, batches: Sequence[Batch]) -> Batch:
        """Several batches as one."""
        return cls(
            np.concatenate([one.figures for one in batches]),
            np.concatenate([one.shortened for one in batches]),
            [rows for one in batches for rows in one.rows],
            sum((one.refused for one in batches), Counter[str]()),
            sum((one.lost for one in batches), Counter[str]()),
            next((one.promises for one in batches if one.promises), ()),
        )


@dataclass(frozen=True)
class WorldsWork(Work):
    """What all runs share: the tables of the worlds, the mechanism, what is noted, and what is drawn from."""

    tables: tuple[Table, ...]
    mechanism: Anonymizer
    watch: Watch
    seed: int
    purpose: str

    def do(self, job: BatchJob) -> Batch:
        """Some runs of one world."""
        table, least = self.tables[job.world], min(table.rows for table in self.tables)
        figures, shorter = self._nothing(job.count), self._nothing(job.count)
        rows, refused, lost = [-1] * job.count, Counter[str](), Counter[str]()
        ended, promises = np.ones(job.count, dtype=np.bool_), tuple[str, ...]()
        for place in range(job.count):
            names = "claim", self.purpose, job.world, job.first + place
            try:
                release, promises = released(self.mechanism, table, stage(self.seed, *names))
            except EndedError as error:
                lost[str(error)] += 1
                ended[place] = False
                continue
            except AuditorError as error:
                refused[str(error)] += 1
                continue
            rows[place] = rows_in(release)
            figures[place] = shorter[place] = self.watch.figures(release)[0]
            times, odd = divmod(rows[place], table.rows)
            if table.rows > least and times and not odd:
                fewer = shortened(release, times * least, stage(self.seed, *names, "shortened"))
                shorter[place] = self.watch.figures(fewer)[0]
        kept = [count for count, there in zip(rows, ended.tolist(), strict=True) if there]
        return Batch(figures[ended], shorter[ended], kept, refused, lost, promises)

    def lost(self, job: BatchJob, reason: str) -> Batch:
        """The batch of a process that ended."""
        return Batch(self._nothing(0), self._nothing(0), [], lost=Counter({reason: job.count}))

    def _nothing(self, runs: int) -> Floats:
        return np.full((runs, len(self.watch.names)), -1.0)


def released(mechanism: Anonymizer, table: Table, rng: np.random.Generator) -> Shown:
    """What a mechanism publishes of a table."""
    if isinstance(mechanism, ProgramMechanism):
        return Shown(published_text(mechanism.program.run(table, int(rng.integers(_SEEDS))).columns), ())
    release, _ = mechanism.anonymize(table, rng)
    return Shown(published(release), tuple(release.promises))


def repeated(work: WorldsWork, runs: int, processes: int | None, told: Callable[[int], None]) -> tuple[Batch, Batch]:
    """So many runs of either world; `told` hears how many have ended."""
    count = processes or processors()
    size = max(math.ceil(runs / (count * _BATCHES)), 1)
    jobs = [
        BatchJob(f"runs {first + 1} to {min(first + size, runs)}", None, world, first, min(size, runs - first))
        for first in range(0, runs, size)
        for world in (0, 1)
    ]
    made: dict[int, Batch] = {}

    def tick(_: list[str]) -> None:
        told(sum(jobs[number].count for number in made))

    for number, reply in _replies(work, jobs, count, tick):
        why = reply.reason or "the process ended"
        made[number] = reply.result if isinstance(reply.result, Batch) else work.lost(jobs[number], why)
    inside, outside = (
        Batch.of([made[number] for number, job in enumerate(jobs) if job.world == world]) for world in (0, 1)
    )
    return inside, outside


def _replies(
    work: WorldsWork, jobs: Sequence[BatchJob], count: int, tick: Callable[[list[str]], None]
) -> Iterator[tuple[int, Reply]]:
    """The replies to jobs. One job at a time without a limit of memory needs no process of its own."""
    if count > 1 or work.memory is not None:
        yield from run_jobs(work, jobs, count, tick)
        return
    for number, job in enumerate(jobs):
        tick([job.name])
        yield number, carry_out(job, work)
