"""One candidate of a search: made, mended, and judged by a policy as far as it takes.

First by its classes and on a few people, then on the half of the people that chooses, on the other half, and on everybody.
What is suppressed in mending are the classes that drive the checks which fail on the choosing half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from attacks import ATTACKS
from auditor.auditing.audit import run_audit
from auditor.auditing.remedies.drivers import criterion_of
from auditor.auditing.remedies.mending import Criterion, Mending, mended_subject, not_mendable
from auditor.auditing.subjects import Subject
from auditor.engines.worker import Job, Work
from auditor.measure.utility import find_measures
from auditor.model.errors import UsageError
from auditor.model.record.comparison import which_figure
from auditor.model.record.meaning import Kind
from auditor.model.record.policy import EXCESS, OF_SAMPLE, VALUE, Policy
from auditor.model.record.record import OK, AuditRecord, PolicyCheck, PolicyVerdict, Risk
from auditor.posterior.links import Link
from auditor.runs.candidates import Candidate
from auditor.runs.worlds import World
from scenarios.options import Options

FEW = 400
"""On so many people of the choosing half a candidate is tried first."""
SHOWN = ("linking", "homogeneity")
"""Attacks that every candidate is placed by, where the policy names none."""


class Step(StrEnum):
    """How far a candidate has come."""

    MADE = "made"
    JUDGED = "judged"
    OTHERS = "others"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is to be kept: a measure of utility, and for granularity how much each column counts."""

    figure: str = "granularity"
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return find_measures([self.figure.partition(".")[0]])[0]

    def check(self, quasi: Sequence[str]) -> None:
        """An error where a weight cannot be used."""
        if self.weights and self.measure != "granularity":
            raise UsageError("Weights of columns are for granularity: keep that, or leave the weights out.")
        absent = [column for column in self.weights if column not in quasi]
        if absent:
            raise UsageError(
                f"A weight is for a quasi-identifier. {absent[0]!r} is none: there are {', '.join(quasi)}."
            )
        if any(not 0 <= weight < float("inf") for weight in self.weights.values()) or (
            self.weights and not any(self.weights.get(column, 1.0) for column in quasi)
        ):
            raise UsageError("Weights of columns must be at least 0, and one of them above 0.")

    def of(self, record: AuditRecord) -> tuple[float, str] | str:
        """What a release keeps, and which way is better; or why that is not known."""
        which = self.figure.partition(".")[2]
        rows = [row for row in record.utility if row.measure == self.measure]
        for row in rows:
            if (
                row.status == OK
                and row.value is not None
                and which_figure(row.params) == (which or which_figure(row.params))
            ):
                if not self.weights:
                    return float(row.value), row.better
                kept = row.detail["columns"]
                share = [self.weights.get(column, 1.0) for column in kept]
                return float(np.average(list(kept.values()), weights=share)), row.better
        return next((row.reason for row in rows if row.reason), f"it has no {self.figure}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is asked for; `budget` is in seconds by the clock."""

    policy: Policy
    methods: tuple[str, ...]
    keep: Keeping = field(default_factory=Keeping)
    budget: float = 600.0
    seed: int = 0
    jobs: int | None = None

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that the policy asks about."""
        named = [check.figure.partition(".")[0] for check in self.policy.checks]
        return tuple(name for name in ATTACKS.all() if name in named)

    @property
    def links(self) -> tuple[Link, ...] | None:
        """The link that grants the class, where the policy asks for no other."""
        checks = [check for check in self.policy.checks if check.figure.partition(".")[0] in self.attacks]
        return (Link.CLASS,) if all(check.link == Link.CLASS for check in checks) else None

    @property
    def options(self) -> Options:
        """What each audit on the way does."""
        return Options(
            attacks=self.attacks or SHOWN,
            links=self.links,
            policy=self.policy,
            seed=self.seed,
            utility=(),
            remedies=False,
            facts=(),
        )

    def check(self, world: World) -> None:
        """Raises what is wrong with it before any work is done."""
        self.keep.check(world.people.schema.quasi)
        if not self.methods:
            raise UsageError("There must be at least one method to search with.")
        for name in self.methods:
            if ANONYMIZERS.get(name).synthetic:
                raise UsageError(
                    f"{name} makes synthetic releases, whose rows are nobody's: their classes cannot pass a policy. Compare "
                    "it with `auditor compare` instead."
                )
        if not self.budget > 0:
            raise UsageError(f"--budget must be above 0. Got {self.budget:g}.")


# ----- one candidate -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CandidateJob(Job):
    """A candidate to make, and how far to judge it."""

    candidate: Candidate
    step: Step


@dataclass(frozen=True)
class CandidateWork(Work):
    """What all candidates share."""

    world: World
    wanted: Wanted
    secret: int

    def do(self, job: CandidateJob) -> str:
        """The audit record of a candidate, as JSON."""
        subject, options = made(self.world, job.candidate, self.wanted, self.secret), self.wanted.options
        everybody = self.world.people.rows
        match job.step:
            case Step.WHOLE:
                return run_audit(subject, Options(policy=options.policy, seed=options.seed, remedies=False)).to_json()
            case Step.OTHERS:
                return run_audit(subject, replace(options, sample=everybody, half=1)).to_json()
            case Step.JUDGED:
                keeping = replace(options, utility=(self.wanted.keep.measure,), sample=everybody, half=0)
                return run_audit(subject, keeping).to_json()
        facts = run_audit(subject, replace(options, attacks=(), utility=(self.wanted.keep.measure,)))
        if facts.policy is None or any(check.passed is False for check in facts.policy.checks):
            return facts.to_json()
        some = replace(options, sample=FEW, half=0)
        return run_audit(replace(subject, utility=tuple(facts.utility)), some).to_json()


def made(world: World, candidate: Candidate, wanted: Wanted, secret: int) -> Subject:
    """The release of a candidate, with its people."""
    release, provenance = anonymize(world.people, candidate.configured(), secret)
    beside = world.population, world.outsiders, world.inputs, world.notes
    subject = Subject(replace(release, name=candidate.name), world.people, provenance, True, *beside)
    if not candidate.mended:
        return subject
    reason = not_mendable(release)
    if reason is None and world.people.schema.person is not None:
        reason = "mending changes single rows, and several may be one person's"
    if reason is not None:
        raise UsageError(f"It cannot be mended: {reason}.")
    if candidate.coarsen:
        subject, _ = mended_subject(subject, Mending(coarsen=dict.fromkeys(candidate.coarsen, 1)))
    if candidate.suppress:
        criteria = _driving(subject, wanted)
        if not criteria:
            raise UsageError("No single classes drive the checks that fail: suppressing some would not help.")
        subject, _ = mended_subject(subject, Mending(suppress=criteria))
    return replace(subject, release=replace(subject.release, name=candidate.name))


def _driving(subject: Subject, wanted: Wanted) -> tuple[Criterion, ...]:
    """The classes that drive the checks that fail on the choosing half."""
    options = replace(wanted.options, sample=subject.people.rows if subject.people is not None else None, half=0)
    record = run_audit(subject, options)
    failing = [_of_value(check, record) for check in judged(record, wanted.policy).checks if check.passed is False]
    found = {str(c): c for check in failing if (c := criterion_of(check, subject.release, Mending(), {})) is not None}
    return tuple(found.values())


def _of_value(check: PolicyCheck, record: AuditRecord) -> PolicyCheck:
    """A check of an excess as one of the figure itself: as much as its control, and the excess that is allowed."""
    if check.of != EXCESS:
        return check
    attack, _, measure = check.measure.partition(".")
    mine = [r for r in record.risks if (r.attack, r.measure, r.adversary) == (attack, measure, check.adversary)]
    known = [r for r in mine if r.link == check.link and r.status == OK and r.detail.get("excess") is not None]
    worst = [r for r in known if r.detail["excess"]["value"] == check.value]
    beside = [r.control if r.detail["excess"]["over"] == "control" else r.baseline for r in worst]
    least = min((one for one in beside if one is not None), default=0.0)
    return replace(check, limit=least + check.limit * (1 - least), of=VALUE)


def judged(record: AuditRecord, policy: Policy) -> PolicyVerdict:
    """The verdict by a record's own figures, whoever was attacked."""
    risks = [replace(risk, detail={**risk.detail, OF_SAMPLE: False}) for risk in record.risks]
    return policy.judge(record.release, risks, record.adversaries)


def surely_fails(record: AuditRecord, policy: Policy) -> list[PolicyCheck]:
    """The checks that fail even by the better ends of their intervals."""
    found = []
    for relation, end in (("<=", "low"), (">=", "high")):
        some = replace(policy, checks=tuple(check for check in policy.checks if check.relation == relation))
        verdict = some.judge(record.release, [_at_best(risk, end) for risk in record.risks], record.adversaries)
        found += [check for check in verdict.checks if check.passed is False]
    return list(dict.fromkeys(found))


def _at_best(risk: Risk, end: str) -> Risk:
    """A figure at the better end of its interval."""
    value, excess = getattr(risk, end), risk.detail.get("excess")
    value = risk.value if value is None or risk.kind != Kind.RATE else value
    at_best = {} if excess is None else {"excess": {**excess, **dict.fromkeys(("value", "low", "high"), excess[end])}}
    return replace(risk, value=value, low=value, high=value, detail={**risk.detail, **at_best})


def beyond(check: PolicyCheck) -> float:
    """By how much a check fails, as a share of its limit."""
    assert check.value is not None
    away = check.value - check.limit if check.relation == "<=" else check.limit - check.value
    return away / max(abs(check.limit), 1e-3)


def missed(failing: Sequence[PolicyCheck]) -> float:
    """By how much the worst check fails; what cannot be judged is farther away than anything."""
    return max((float("inf") if check.value is None else beyond(check) for check in failing), default=float("inf"))


def in_words(checks: Sequence[PolicyCheck], surely: bool = False) -> str:
    """Checks in short: `linking.max is 0.2, and must be at most 0.09`. Where they fail `surely`, the value is the better end
    of an interval."""
    said = []
    for check in checks[:3]:
        name = check.measure + (" beyond control" if check.of == EXCESS else "")
        bound = "at most" if check.relation == "<=" else "at least"
        if check.value is None:
            said.append(f"{name} cannot be judged: {check.reason or 'there is no figure'}")
        else:
            end = {"<=": "at least ", ">=": "at most "}[check.relation] if surely else ""
            value = check.value if check.estimate is None or surely else check.estimate
            said.append(f"{name} is {end}{value:.4g}, and must be {bound} {check.limit:.4g}")
    return "; ".join(said) + (f"; and {len(checks) - 3} more" if len(checks) > 3 else "")
