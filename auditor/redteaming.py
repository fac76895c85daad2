"""The red team: carries out a scenario. Releases are made or read, each is audited, and the records make one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonymizers import ANONYMIZERS, Anonymizer
from auditor.auditing import DEFAULT_SEED, Options, run_audit
from auditor.files import csv_text, read_raw
from auditor.model.errors import ScenarioError, UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.record import Input, RunRecord
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode
from auditor.policy import read_policy
from auditor.releasing import build_release, read_release
from auditor.row_blocks.running import DEFAULT_SIZE, Engine, anonymize_in_blocks
from auditor.subjects import Subject, find_outsiders, find_targets, read_subject
from auditor.version import VERSION
from scenarios import town
from scenarios.scenario import Data, Plan, Scenario, builtin_scenarios, read_scenario


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The data of a scenario: the table to be released, the population, and who of it is not in the table."""

    people: Table
    population: Table | None
    outsiders: NDArray[np.int64]
    inputs: tuple[Input, ...]


def anonymize(
    table: Table,
    method: str | Anonymizer,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
    *,
    blocks: bool | int = False,
    jobs: int | None = None,
    engine: str | None = None,
    **settings: object,
) -> tuple[Release, Provenance]:
    """A release of a table by a method (its name, with its settings), and apart from it its provenance.

    For large tables `blocks` cuts first: True, or the rows of a block at most. The method then works in each block, `jobs`
    of them at a time (None: one for each processor where it pays), in processes or, with `engine = "spark"`, on Spark.
    """
    if isinstance(method, str):
        method = ANONYMIZERS.get(method).configure(settings)
    elif settings:
        raise UsageError("Settings go with a method's name; a method object has its own.")
    if blocks is not False:
        size = DEFAULT_SIZE if blocks is True else blocks
        return anonymize_in_blocks(table, method, seed, size, jobs, Engine.named(engine), progress)
    if jobs is not None or engine is not None:
        raise UsageError("jobs and engine are about blocks: give blocks as well.")
    return method.anonymize(table, stage(seed, "anonymize", method.title), progress)


def redteam(
    scenario: Scenario,
    *,
    seed: int | None = None,
    targets: Sequence[str] | None = None,
    reveal: bool = False,
    progress: Progress | None = None,
) -> RunRecord:
    """Carries out a scenario: one record a release."""
    options, world = prepare(scenario, seed, targets, reveal)
    records = [run_audit(subject, options, step) for subject, step in subjects(scenario, world, options.seed, progress)]
    return RunRecord(scenario.name, options.seed, tuple(records), {"name": "auditor", "version": VERSION})


def prepare(
    scenario: Scenario, seed: int | None = None, targets: Sequence[str] | None = None, reveal: bool = False
) -> tuple[Options, World]:
    """What a scenario asks of each audit, and its data."""
    seed = seed if seed is not None else scenario.seed if scenario.seed is not None else DEFAULT_SEED
    options = Options(
        attacks=scenario.attacks,
        links=scenario.links,
        utility=scenario.utility,
        adversaries=scenario.adversaries,
        settings=scenario.settings,
        reveal=reveal,
        policy=None if scenario.policy is None else read_policy(scenario.policy),
        seed=seed,
        remedies=False,  # its releases are made anew by each run, and are no files that could be mended
    )
    world = _world(scenario.data, seed)
    for adversary in scenario.adversaries or ():
        adversary.settled(world.people.schema, seed)  # its faults before any work
    if targets is not None:
        options = replace(options, targets=find_targets(list(targets), world.people))
    return options, world


def subjects(
    scenario: Scenario, world: World, seed: int, progress: Progress | None = None
) -> Iterator[tuple[Subject, Progress]]:
    """The releases of a scenario, each with the others that its adversaries have, and how to say what is being done."""

    def steps(number: int, plan: Plan) -> Progress:
        def step(done: int, total: int, what: str) -> None:
            if progress is not None:
                part = 100 * done // max(total, 1)  # releases have different numbers of steps
                progress(100 * number + part, 100 * len(scenario.releases), f"{plan.name}: {what}")

        return step

    def made(number: int, plan: Plan) -> Subject:
        step = steps(number, plan)
        step(0, 1, "release")
        return _subject(plan, scenario, world, seed, step)

    wanted = {name for adversary in scenario.adversaries or () for name in adversary.earlier}
    early = {n: made(n, plan) for n, plan in enumerate(scenario.releases) if plan.name in wanted}
    others = {subject.release.name: subject.release for subject in early.values()}
    for name, file in scenario.earlier.items():
        others[name] = _other(file, name, world, seed)
    for number, plan in enumerate(scenario.releases):
        subject = early.get(number) or made(number, plan)
        known = {name: release for name, release in others.items() if name != plan.name}
        yield replace(subject, others=known), steps(number, plan)


def _other(file: Path, name: str, world: World, seed: int) -> Release:
    """A release in a file, over the domains of the data, for adversaries who have it."""
    schema = world.people.schema
    release, _ = build_release(
        read_release(file, schema), schema, dict(world.people.domains), stage(seed, "earlier", name)
    )
    return replace(release, name=name)


def _world(data: Data, seed: int) -> World:
    if data.source == "town":
        frame = town.population(seed=seed)
        schema = Schema.read(Path(str(town.schema_path())))
        raw = RawTable.from_frame(frame, "town")
        inputs: tuple[Input, ...] = (Input("population", "town (built in)", None, raw.rows),)
    else:
        if data.file is None or data.schema is None:
            raise ScenarioError("[data]: a built-in source, or a file with its schema, must be given.")
        schema = Schema.read(data.schema)
        raw = read_raw(data.file, schema.format, tuple(schema.columns))
        inputs = (Input("original", data.file.name, raw.sha256, raw.rows),)
    if data.population is not None:
        register = read_raw(data.population, schema.format, tuple(schema.columns))
        people, population = encode(schema, [raw, register])
        inputs = (*inputs, Input("population", data.population.name, register.sha256, register.rows))
        return World(people, population, find_outsiders(people, population), inputs)
    (everybody,) = encode(schema, [raw])
    return sampled(everybody, data.sample, seed, inputs)


def sampled(everybody: Table, sample: float | None, seed: int, inputs: tuple[Input, ...]) -> World:
    """A table of which a random share is released and the rest are outsiders; all of it where no share is given."""
    if sample is None or sample == 1:
        return World(everybody, None, np.empty(0, dtype=np.int64), inputs)
    count = max(round(sample * everybody.rows), 1)
    chosen = np.sort(stage(seed, "sample").choice(everybody.rows, count, replace=False))
    outsiders = np.setdiff1d(np.arange(everybody.rows), chosen)
    return World(everybody.take(chosen), everybody, outsiders, inputs)


def _subject(plan: Plan, scenario: Scenario, world: World, seed: int, progress: Progress) -> Subject:
    if plan.method is not None:
        release, provenance = anonymize(world.people, plan.method, seed, progress)
        named = replace(release, name=plan.name)
        return Subject(named, world.people, provenance, True, world.population, world.outsiders, world.inputs)
    data = scenario.data
    if data.file is None or data.schema is None or data.sample is not None:
        raise ScenarioError(
            f"release {plan.name!r}: a release from a file needs [data] file and schema, and no sample."
        )
    assert plan.file is not None
    subject = read_subject(plan.file, data.schema, data.file, plan.match, plan.provenance, data.population, seed)
    return replace(subject, release=replace(subject.release, name=plan.name))


def export_scenario(name: str, folder: Path, seed: int | None = None) -> dict[Path, str]:
    """The files of a built-in scenario, by where they go. A generated town is written as `data.csv` (the sampled people) and
    `population.csv` (everybody, with the sensitive columns that a control needs)."""
    known = builtin_scenarios()
    if name not in known:
        raise UsageError(f"There is no built-in scenario {name!r}. There are: {', '.join(known)}.")
    scenario = read_scenario(name)
    chosen = seed if seed is not None else scenario.seed if scenario.seed is not None else DEFAULT_SEED
    home = known[name].parent
    files = {
        folder / file.name: file.read_text(encoding="utf-8")
        for file in sorted(home.iterdir())
        if file.suffix in (".csv", ".toml")
    }
    if scenario.data.source == "town":
        files.pop(folder / "names.toml", None)
        released = files[folder / "scenario.toml"].split("[[release]]", 1)[1]
        data = '[data]\nfile = "data.csv"\nschema = "schema.toml"\npopulation = "population.csv"\n'
        files[folder / "scenario.toml"] = f"{data}seed = {chosen}\n\n[[release]]{released}"
        world = _world(scenario.data, chosen)
        assert world.population is not None
        for table, file in ((world.people, "data.csv"), (world.population, "population.csv")):
            rows = zip(*(table.texts(column) for column in table.codes), strict=True)
            files[folder / file] = csv_text(list(table.codes), rows)
    return files
