"""The red team: carries out a scenario. Releases are made or read, each is audited, and the records make one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.correspondence import find_targets
from auditor.auditing.subjects import Subject, read_subject
from auditor.files.releases import build_release, read_release
from auditor.model.errors import ScenarioError
from auditor.model.progress import Progress
from auditor.model.record.policy import read_policy
from auditor.model.record.record import RunRecord
from auditor.model.release import Release
from auditor.model.seeding import DEFAULT_SEED, stage
from auditor.runs.worlds import World, build_world
from auditor.version import VERSION
from scenarios.options import Options
from scenarios.scenario import Plan, Scenario


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
    world = build_world(scenario.data, seed)
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
