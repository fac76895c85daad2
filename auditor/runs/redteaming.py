"""The red team: carries out a scenario. Its releases are made or read, each is audited, and the records make one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.correspondence import find_targets
from auditor.auditing.subjects import Sources, Subject, read_subject
from auditor.files.releases import read_release
from auditor.model.errors import MechanismError, ScenarioError, UsageError
from auditor.model.progress import Progress, shown_in_notebooks
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.release import Release
from auditor.model.seeding import stage
from auditor.runs.averaging import over_releases
from auditor.runs.mechanisms import ProgramMechanism
from auditor.runs.searching import search_release
from auditor.runs.worlds import World, build_world, run_seeds
from auditor.version import VERSION
from scenarios.options import Options, Search
from scenarios.scenario import Plan, Scenario

_A_RELEASE = 1000
"""The units of progress that a release has."""
_UNJUDGED = Note(
    "The policy was not judged: none of its checks is about a figure that the search measured.", NoteKind.NOT_JUDGED
)


@shown_in_notebooks
def redteam(
    scenario: Scenario,
    *,
    seed: int | None = None,
    seeds: int = 1,
    targets: Sequence[str] | None = None,
    reveal: bool = False,
    progress: Progress | None = None,
    only_search: bool = False,
) -> RunRecord:
    """Carries out a scenario: an audit record for each release. With several `seeds` each method makes as many releases of
    the same people, and figures are means over them, with intervals over the releases (see `averaging`). Where the scenario
    asks for a search the first release of each has one; with `only_search` nothing else is done, and the policy is judged by
    what the search finds."""
    options, world = prepare(scenario, seed, targets, reveal)
    sought = scenario.search or (Search() if only_search else None)
    if sought is not None and not world.people.schema.quasi:
        raise UsageError(
            "search: there is no quasi-identifier that could be known. Give columns that role in the schema."
        )
    if sought is not None and targets is not None:
        raise UsageError(
            "search: it needs everybody, half of them to choose and half to report on. Leave out --targets."
        )
    asked = replace(options, attacks=(), utility=(), policy=None) if only_search else options
    audits: list[list[AuditRecord]] = [[] for _ in scenario.releases]
    for number, own in enumerate(run_seeds(seeds, options.seed)):

        def part(done: int, total: int, what: str, number: int = number) -> None:
            if progress is not None:
                progress(
                    number * total + done, seeds * total, f"{what} ({number + 1} of {seeds})" if seeds > 1 else what
                )

        for place, (subject, step) in enumerate(subjects(scenario, world, own, part)):
            if number == 0 or not scenario.releases[place].is_file:  # a file is the same whatever the seed
                record = run_audit(subject, replace(asked, seed=own), step)
                if sought is not None and number == 0:
                    share = replace(sought, budget=sought.budget / len(scenario.releases))
                    record = replace(record, search=search_release(subject, options, share, step))
                    if only_search and options.policy is not None and not any(one.policy for one in record.search):
                        record = replace(record, notes=(*record.notes, _UNJUDGED))
                audits[place].append(record)
    records = tuple(over_releases(found) for found in audits)
    return RunRecord(scenario.name, options.seed, records, {"name": "auditor", "version": VERSION})


def prepare(
    scenario: Scenario, seed: int | None = None, targets: Sequence[str] | None = None, reveal: bool = False
) -> tuple[Options, World]:
    """The options of each audit of a scenario, and the scenario's data."""
    seed = scenario.options.seed if seed is None else seed
    # No remedies: each run makes its releases anew, and they are no files that could be mended.
    options = replace(scenario.options, reveal=reveal, seed=seed, remedies=False)
    world = build_world(scenario.data, seed)
    for adversary in options.adversaries or ():
        adversary.settled(world.people.schema, seed)  # raises what is wrong with it before any work
    if targets is not None:
        options = options.about(find_targets(list(targets), world.people))
    return options, world


def subjects(
    scenario: Scenario, world: World, seed: int, progress: Progress | None = None
) -> Iterator[tuple[Subject, Progress]]:
    """The releases of a scenario, each with the other releases that adversaries have, and a function to report progress."""

    def steps(number: int, plan: Plan) -> Progress:
        def step(done: int, total: int, what: str) -> None:
            if progress is not None:
                part = _A_RELEASE * done // max(total, 1)  # each release tells its progress in units of its own
                progress(_A_RELEASE * number + part, _A_RELEASE * len(scenario.releases), f"{plan.name}: {what}")

        return step

    def made(number: int, plan: Plan) -> Subject:
        step = steps(number, plan)
        step(0, 1, "release")
        return _subject(plan, scenario, world, seed, step)

    wanted = {name for adversary in scenario.options.adversaries or () for name in adversary.earlier}
    early = {n: made(n, plan) for n, plan in enumerate(scenario.releases) if plan.name in wanted}
    others = {subject.release.name: subject.release for subject in early.values()}
    for name, file in scenario.earlier.items():
        others[name] = _other(file, name, world, seed)
    for number, plan in enumerate(scenario.releases):
        subject = early.get(number) or made(number, plan)
        known = {name: release for name, release in others.items() if name != plan.name}
        yield replace(subject, others=known), steps(number, plan)


def _other(file: Path, name: str, world: World, seed: int) -> Release:
    """A release from a file that adversaries have, over the domains of the data."""
    read = read_release(file, world.people.schema, stage(seed, "earlier", name), world.people.domains)
    return replace(read.release, name=name)


def _subject(plan: Plan, scenario: Scenario, world: World, seed: int, progress: Progress) -> Subject:
    program = None if plan.program is None else ProgramMechanism(plan.program, plan.name)
    maker = program or plan.method
    if maker is not None:
        try:
            release, provenance = anonymize(world.people, maker, seed, progress)
        except MechanismError as error:
            raise MechanismError(f"release {plan.name!r}: {error}") from None
        named = replace(release, name=plan.name)
        made = Subject(named, world.people, provenance, True, world.population, world.outsiders, world.inputs)
        return replace(made, maker=program)
    data = scenario.data
    if data.file is None or data.schema is None or data.sample is not None:
        raise ScenarioError(
            f"release {plan.name!r}: a release from a file needs [data] file and schema, and no sample."
        )
    assert plan.file is not None
    whose = plan.match, plan.provenance, data.population, None, plan.no_match, plan.holdout, plan.reference
    sources = Sources(plan.file, data.schema, data.file, *whose)
    subject = read_subject(sources, seed)
    return replace(subject, release=replace(subject.release, name=plan.name))
