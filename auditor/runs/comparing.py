"""Comparing methods: cells are planned, those not finished yet are run, and all are placed on risk and utility."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizers import ANONYMIZERS
from attacks import ATTACKS
from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Reply
from auditor.files.tables import as_schema, read_raw, sha256
from auditor.measure.utility import find_measures
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.record.comparison import RunCell
from auditor.model.record.policy import Policy, read_policy
from auditor.model.record.record import NOT_APPLICABLE, OK, AuditRecord, Input, RunRecord
from auditor.model.table import RawTable, Table, encode
from auditor.runs.mechanisms import ProgramMechanism, programs_named
from auditor.runs.placing import STRONGEST, Placed, RiskChoice, comparison
from auditor.runs.plan import Cell, Grid, grid, plan
from auditor.runs.store import TOOL, Store, make_folder, to_do
from auditor.runs.worker import CellJob, CellWork
from auditor.runs.worlds import World, counted, run_seeds, sampled
from scenarios.options import Options

if TYPE_CHECKING:
    import pandas as pd

    from auditor.model.schema import Schema

ATTACKS_COMPARED = (
    "linking", "homogeneity", "proximity", "divergence", "membership", "synthetic-membership", "linkability",
)  # fmt: skip
"""The last two are for synthetic releases, to which the others do not apply."""
UTILITY_COMPARED = ("queries", "classification", "correlation", "pmse", "granularity")
"""What is measured unless more is asked for; all but the last apply to every kind of release."""
STRENGTHS_COMPARED = (3, 5, 10)
HOLDOUT = 0.5
"""The share of people who are held out where a synthetic release is compared, and nothing else is said. Whether somebody
is in is then an even bet, and as many outsiders as members tell how well it is guessed, which gives the narrowest
intervals."""
_HELD_OUT = (
    "The release was made from {} of {} rows. The people of the others were held out, the same in all releases compared: "
    "they are the outsiders."
)

_REMARK = (
    "All releases are made without {} of the {} people. These are held out as outsiders, since nothing can be said of a "
    "synthetic release without them. --holdout changes how many, and --sample 1 holds out nobody."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a cell may take, in processor seconds and megabytes, and how many cells run at a time (None: one for each
    processor)."""

    timeout: float | None = None
    memory: int | None = None
    jobs: int | None = None

    def check(self) -> None:
        """An error where a limit is not above zero."""
        for name, value in (("timeout", self.timeout), ("memory", self.memory), ("jobs", self.jobs)):
            if value is not None and not value > 0:
                raise UsageError(f"{name} must be above 0. Got {value:g}.")


@dataclass(frozen=True, slots=True)
class Request:
    """What a comparison is asked for: the releases to make, what each audit does, the two axes (the first utility measure is
    one of them), what a cell may take, and whether cells that gave no release are run again."""

    grid: Grid
    options: Options
    risk: RiskChoice
    utility: Sequence[str]
    limits: Limits
    retry: bool = False

    @property
    def measures(self) -> tuple[str, ...]:
        """The utility measures, by the names that they are listed under."""
        return find_measures([name.partition(".")[0] for name in self.utility])

    def check(self) -> None:
        """Raises what is wrong with the request before any work is done."""
        self.limits.check()
        if not self.measures:
            raise UsageError("A comparison needs at least one utility measure: the first is an axis.")
        attacks = self.options.attacks
        for name in attacks or ():
            ATTACKS.get(name)
        for name, given in self.options.settings.items():
            ATTACKS.get(name).configure(given)
        if self.risk.attack is not None and attacks is not None and self.risk.attack not in attacks:
            raise UsageError(
                f"The risk axis is {self.risk.figure}, and {self.risk.attack} is not among the attacks to run."
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished comparison: its run, how many of its cells had been run before, and the processor time of each cell."""

    run: RunRecord
    reused: int
    seconds: Mapping[str, float]


@shown_in_notebooks
def compare(
    data: Table | pd.DataFrame | str | Path,
    schema: Schema | str | Path | None = None,
    *,
    methods: Sequence[str] | str = "all",
    programs: Sequence[str | ProgramMechanism] = (),
    k: Sequence[int] = STRENGTHS_COMPARED,
    l: Sequence[int | None] = (),
    settings: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
    seeds: int = 1,
    options: Options | None = None,
    policy: str | Policy | None = None,
    sample: float | None = None,
    holdout: float | None = None,
    risk: str = STRONGEST,
    utility: Sequence[str] = UTILITY_COMPARED,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    retry: bool = False,
    progress: Progress = silent,
) -> RunRecord:
    """Compares methods at several strengths on one table: one record a release, and the frontier of risk against utility.

    `methods` are names of anonymizers, or "all" or "none"; `programs` are commands, "NAME=COMMAND {in} {out} {seed}", or
    programs that `ProgramMechanism.of` made of them, for instance with a shell or a time limit of their own.

    `k`, `l` and `settings` (by method, each a list of values) are swept, and every cell is run with `seeds` seeds.
    `options` says what each audit does; by default it runs the five basic attacks. `risk` and the first of `utility`
    are the axes. `holdout` is the share of people who are held out: all releases are made from the same others, and
    judged with the same outsiders. It is a half where a method is a synthesizer or a program, unless `sample` says it
    the other way round, as the share of people who are released. Finished cells are kept in `folder`, and a comparison
    that finds some there runs only the others.
    """
    names = (methods,) if isinstance(methods, str) else tuple(methods)
    options = options or Options(attacks=ATTACKS_COMPARED)
    judged = read_policy(policy) if isinstance(policy, str) else policy
    chosen = grid(names, k, l, settings, run_seeds(seeds, options.seed), programs_named(programs))
    world = read_world(data, schema, sample, options.seed, held_out(chosen, sample, holdout))
    audits = replace(options, policy=judged or options.policy)
    asked = Request(chosen, audits, RiskChoice.read(risk), utility, limits or Limits(), retry)
    if folder is not None:
        return run_comparison(world, asked, Store(Path(folder)), progress).run
    with tempfile.TemporaryDirectory() as temporary:
        run = run_comparison(world, asked, Store(Path(temporary)), progress).run
    return replace(run, cells=tuple(replace(cell, record=None) for cell in run.cells))


def held_out(asked: Grid, sample: float | None, holdout: float | None) -> float | None:
    """The share of people to hold out: what is asked for, or else a half where a method is a synthesizer, as programs are
    taken to be."""
    if holdout is not None and sample is not None:
        raise UsageError("Give either holdout or sample: each is what the other leaves.")
    if holdout is not None and not 0 < holdout < 1:
        raise UsageError(f"holdout must be above 0 and below 1. Got {holdout:g}.")
    synthetic = bool(asked.programs) or any(ANONYMIZERS.get(method).synthetic for method in asked.methods)
    return HOLDOUT if holdout is None and sample is None and synthetic else holdout


def read_world(
    data: Table | pd.DataFrame | str | Path,
    schema: Schema | str | Path | None,
    sample: float | None,
    seed: int,
    holdout: float | None = None,
) -> World:
    """The data of a comparison, which are the same in all cells, and the files they come from."""
    if holdout is not None:
        world = read_world(data, schema, 1 - holdout, seed)
        whole = world.people if world.population is None else world.population
        notes = _HELD_OUT.format(world.people.rows, whole.rows)
        return replace(world, notes=(notes,), remarks=(_REMARK.format(*counted(world)),))
    if sample is not None and not 0 < sample <= 1:
        raise UsageError(f"sample must be above 0 and at most 1. Got {sample:g}.")
    if isinstance(data, Table):
        return sampled(data, sample, seed, (Input("original", Path(data.name).name, None, data.rows),))
    if schema is None:
        raise UsageError("A file or frame needs its schema.")
    found = as_schema(schema)
    if isinstance(data, str | Path):
        raw = read_raw(data, found.format, tuple(found.columns))
    else:
        raw = RawTable.from_frame(data, "table", found.format)
    inputs = [Input("original", Path(raw.name).name, raw.sha256, raw.rows)]
    if isinstance(schema, str | Path):
        inputs.append(Input("schema", Path(schema).name, sha256(Path(schema).read_bytes())))
    (everybody,) = encode(found, [raw])
    return sampled(everybody, sample, seed, tuple(inputs))


def run_comparison(world: World, asked: Request, store: Store, progress: Progress = silent) -> Outcome:
    """Runs the cells that are not finished yet, and reads the results of all cells from their files."""
    asked.check()
    absent = [column for column in asked.options.columns or () if column not in world.people.codes]
    if absent:
        raise UsageError(f"The columns of utility must be in the table. It has no {absent[0]!r}.")
    limits = asked.limits
    _, dot, which = asked.utility[0].partition(".")
    measures = asked.measures
    options = replace(asked.options, utility=tuple(sorted(measures)), remedies=False)  # their order is about axes only
    cells = plan(asked.grid, world, options)
    make_folder(store.folder)
    finished = {cell.id: found[0] for cell in cells if (found := store.read(cell)) is not None}
    waiting = [c for c in cells if to_do(finished.get(c.id), limits.timeout, limits.memory, asked.retry)]
    for cell, reply in _replies(waiting, world, options, limits, progress, asked.grid.programs):
        record = None if reply.result is None else AuditRecord.from_json(reply.result, cell.name)
        store.write(_finished(cell, reply, limits, store.place(cell)), record)
    placed, seconds = _placed(cells, store)
    source = Path(world.inputs[0].name).stem if world.inputs else "table"
    methods = asked.grid.names
    run = RunRecord(
        f"{source}: {len(methods)} methods compared" if len(methods) > 1 else f"{source}: {methods[0]}",
        options.seed,
        tuple(one.record for one in placed if one.record is not None),
        TOOL,
        cells=tuple(one.cell for one in placed),
        comparison=replace(comparison(placed, asked.risk, f"{measures[0]}{dot}{which}"), notes=world.remarks),
    )
    return Outcome(run, len(cells) - len(waiting), seconds)


def _replies(
    cells: Sequence[Cell],
    world: World,
    options: Options,
    limits: Limits,
    progress: Progress,
    programs: Mapping[str, ProgramMechanism],
) -> Iterator[tuple[Cell, Reply]]:
    """How the cells end, as they finish; those that a method refuses come first."""
    done = 0
    for cell in cells:
        if cell.fault is not None:
            done += 1
            yield cell, Reply(NOT_APPLICABLE, cell.fault, None, 0.0)
    able = [cell for cell in cells if cell.fault is None]
    jobs = [
        CellJob(cell.point, limits.timeout, cell.method, cell.params, cell.seed, programs.get(cell.point))
        for cell in able
    ]
    count = limits.jobs or processors()

    def tick(running: list[str]) -> None:
        progress(done, len(cells), f"{done} of {len(cells)} cells, now: {', '.join(running) or 'starting'}")

    for number, reply in run_jobs(CellWork(limits.memory, world, options), jobs, count, tick):
        done += 1
        yield able[number], reply


def _finished(cell: Cell, reply: Reply, limits: Limits, place: str) -> RunCell:
    """A cell as it is kept; with its limits where it might end better with higher ones."""
    ended = reply.status in (OK, NOT_APPLICABLE)
    bounds = {} if ended else {"timeout": limits.timeout, "memory": limits.memory}
    given = {name: value for name, value in bounds.items() if value is not None}
    record = None if reply.result is None else place
    asked = cell.id, cell.point, cell.method, cell.params, cell.seed
    return RunCell(*asked, reply.status, reply.reason, record, given, round(reply.cpu_seconds, 3))


def _placed(cells: Sequence[Cell], store: Store) -> tuple[list[Placed], dict[str, float]]:
    """All cells and their processor time as their files have them: the same whether they were run now or before."""
    placed, seconds = [], {}
    for cell in cells:
        found = store.read(cell)
        if found is None:
            raise UsageError(
                f"{store.folder / store.place(cell)} is gone: another program is writing into this folder."
            )
        done, record = found
        seconds[cell.name] = done.cpu_seconds or 0.0
        if record is not None:
            record = replace(record, release=replace(record.release, name=cell.name))
        done = replace(done, name=cell.name, params=cell.params, cpu_seconds=None)
        placed.append(Placed(cell.point, done, record))
    return placed, seconds
