"""The sweep: how the success of attacks grows with the number of known quasi-identifiers.

For each number q some sets of q quasi-identifiers are drawn, and every attack is run by an adversary who knows just these.
The sets grow along a few random orders, so each contains a smaller one, and knowing more can only add. A figure is the mean
over the sets. Its interval is the mean of their intervals: it covers the choice of people, not the choice of sets, for which
the details have the least and the greatest figure.

The audit record has one adversary for each q, such as "prosecutor knowing 3 of 8", the one who knows most first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from auditor.auditing.audit import run_audit
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, shown_in_notebooks
from auditor.model.record.record import OK, AdversaryFacts, AuditRecord, Risk, RunRecord
from auditor.model.seeding import stage
from auditor.runs.averaging import by_figure, mean
from auditor.runs.finished import Finished
from auditor.runs.redteaming import prepare, subjects
from auditor.runs.store import SWEPT, make_folder
from auditor.version import VERSION
from scenarios.adversaries import PROSECUTOR, Adversary, bases
from scenarios.scenario import Scenario

ORDERS = 5  # the number of random orders in which quasi-identifiers become known


@dataclass(frozen=True, slots=True)
class _Step:
    """The adversaries whose figures are averaged: each knows one set of q columns (`subsets`, by the adversary's name)."""

    base: Adversary
    title: str
    known: int
    of: int
    subsets: dict[str, tuple[str, ...]]

    def sentence(self, quasi: Sequence[str], population: int | None) -> str:
        """Who attacks, in one sentence."""
        if self.known == self.of:
            return self.base.sentence(quasi, population)
        sets = f"the mean over {len(self.subsets)} sets of them" if len(self.subsets) > 1 else "one set of them"
        return self.base.sentence(quasi, population, f"{self.known} of {self.of} quasi-identifiers ({sets})")


def read_sweep(text: str) -> tuple[int, ...]:
    """The numbers of known quasi-identifiers that `--sweep known=1..8` or `known=2,4,8` asks for."""
    found = re.fullmatch(r"\s*known\s*=\s*(?:(\d+)\s*\.\.\s*(\d+)|(\d+(?:\s*,\s*\d+)*))\s*", text)
    numbers: list[int] = []
    if found is not None and found[3] is not None:
        numbers = sorted({int(part) for part in found[3].split(",")})
    elif found is not None:
        numbers = list(range(int(found[1]), int(found[2]) + 1))
    if not numbers:
        raise UsageError(f"--sweep must be known=FROM..TO or known=N,N,…, such as known=1..8. Got {text!r}.")
    return tuple(numbers)


@shown_in_notebooks
def sweep(
    scenario: Scenario,
    counts: Sequence[int],
    *,
    seed: int | None = None,
    targets: Sequence[str] | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> RunRecord:
    """Carries out a scenario for each number of known quasi-identifiers: an audit record for each release, with an adversary
    for each number. Policies are not judged and utility is not measured, since neither depends on what is known. The rows of
    each set of columns are kept in `folder`, and a sweep that finds some there attacks only with the others."""
    options, world = prepare(scenario, seed, targets)
    quasi = world.people.schema.quasi
    if max(counts) > len(quasi):
        raise UsageError(
            f"--sweep: known must be at most {len(quasi)}, the number of quasi-identifiers. Got {max(counts)}; "
            f"there are: {', '.join(quasi)}."
        )
    steps = [
        step
        for base in bases(options.adversaries or (PROSECUTOR,))
        for step in _steps(base, sorted(set(counts), reverse=True), quasi, options.seed)
    ]
    crew = tuple(
        replace(step.base, name=name, knows=columns, subsets=None)
        for step in steps
        for name, columns in step.subsets.items()
    )
    asked = replace(options, adversaries=crew, policy=None, utility=())
    population = None if world.population is None else world.population.rows
    records = []
    if folder is not None:
        make_folder(folder, SWEPT)
    for subject, step_done in subjects(scenario, world, options.seed, progress):
        keeper = None if folder is None else Finished.of(folder, world, asked, subject)
        record = run_audit(subject, asked, step_done, keeper)
        records.append(_averaged(record, steps, quasi, population))
    return RunRecord(scenario.name, options.seed, tuple(records), {"name": "auditor", "version": VERSION})


def _steps(base: Adversary, counts: Sequence[int], quasi: Sequence[str], seed: int) -> list[_Step]:
    orders = [stage(seed, "sweep", number).permutation(len(quasi)).tolist() for number in range(ORDERS)]
    steps = []
    for count in counts:
        sets = dict.fromkeys(tuple(sorted(order[:count])) for order in orders)
        title = f"{base.name} knowing {count} of {len(quasi)}"
        named = {f"{title} #{place}": tuple(quasi[i] for i in chosen) for place, chosen in enumerate(sets, 1)}
        steps.append(_Step(base, title, count, len(quasi), named))
    return steps


def _averaged(record: AuditRecord, steps: Sequence[_Step], quasi: Sequence[str], population: int | None) -> AuditRecord:
    risks = [risk for step in steps for risk in _mean_risks(record, step)]
    facts = tuple(
        AdversaryFacts(
            step.title,
            step.sentence(quasi, population),
            step.base.stance,
            next(iter(step.subsets.values())) if len(step.subsets) == 1 else (),
        )
        for step in steps
    )
    return replace(record, risks=tuple(risks), adversaries=facts, bounds=())  # these are of those who know the class


def _mean_risks(record: AuditRecord, step: _Step) -> list[Risk]:
    """The figures of one step: each the mean over the sets of columns."""
    groups = by_figure(risk for risk in record.risks if risk.adversary in step.subsets)
    return [_mean_risk(rows, step) for rows in groups.values()]


def _mean_risk(rows: Sequence[Risk], step: _Step) -> Risk:
    one = rows[0]
    params = {**one.params, "known": step.known, "of": step.of}
    good = [r for r in rows if r.status == OK and r.value is not None]
    if not good:
        return replace(one, adversary=step.title, params=params)
    first = good[0]
    values = [float(r.value) for r in good if r.value is not None]
    people = min((r.n for r in good if r.n is not None), default=None)
    columns = [list(step.subsets[r.adversary]) for r in good]
    detail = {"columns": columns, "values": values, "least": min(values), "greatest": max(values)}
    figures: dict[str, Any] = {"value": fmean(values)}
    for name in ("expected", "baseline", "control", "low", "high"):
        figures[name] = mean([getattr(r, name) for r in good])
    return replace(first, adversary=step.title, params=params, n=people, worst_rows=(), detail=detail, **figures)
