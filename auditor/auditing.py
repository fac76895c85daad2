"""The audit: runs attacks on a release, scores them against the truth, judges the result.

For every adversary and link model an attack is run on three sets of beliefs: about the targets, from the release; about the
same targets without it (the *baseline*); and about people who are not in it (the *control*: real outsiders where a
population is given, otherwise the targets themselves with their own record left out). What the attack has over the
control is the risk a person owes to being in the release.

Only this module and scoring read the provenance: to grant the class under the link model `class`, to leave a record out,
and to score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attacks import ATTACKS
from attacks.base import Attack, Goal, NotApplicable, View
from attacks.claims import MemberClaims
from auditor.measure.classes import class_facts
from auditor.measure.utility import utility_rows
from auditor.member_scoring import score_members
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.progress import Progress, silent
from auditor.model.record import (
    AdversaryFacts,
    AttackFacts,
    AuditRecord,
    PolicyVerdict,
    ReleaseFacts,
    Risk,
)
from auditor.model.release import Release, Suppression
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.policy import Policy
from auditor.posterior.beliefs import Prior
from auditor.posterior.candidates import Matching
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link, Weighting
from auditor.posterior.posterior import Posterior
from auditor.risk_rows import member_row, not_applicable, risk_row
from auditor.scoring import Figure, Truth
from auditor.subjects import Subject, read_subject
from auditor.trials import Side, trial
from auditor.version import VERSION
from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR, Adversary, register_of
from scenarios.fakes import fake_tuples

if TYPE_CHECKING:
    import pandas as pd

    from auditor.model.provenance import Provenance
    from auditor.model.schema import Schema

Ints = NDArray[np.int64]
DEFAULT_SEED = 2026
MOST_CONTROLS = 20_000
MOST_FAKES = 5_000
MOST_ENTRIES = 2_000_000
LEAST_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Options:
    """What to run. None means: all that apply."""

    attacks: tuple[str, ...] | None = None
    links: tuple[Link, ...] | None = None
    adversaries: tuple[Adversary, ...] | None = None
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    targets: tuple[int, ...] | None = None
    reveal: bool = False
    policy: Policy | None = None
    seed: int = DEFAULT_SEED
    suppression: Suppression = Suppression.EXCLUDED
    weighting: Weighting = Weighting.SIZE
    utility: bool = True
    recursive_l: int = 2


def run_audit(subject: Subject, options: Options, progress: Progress | None = None) -> AuditRecord:
    """Audits one release."""
    return _Audit(subject, options, progress or silent).record()


def audit(
    release: str | Path | pd.DataFrame | Release,
    schema: Schema | str | Path | None = None,
    *,
    original: str | Path | pd.DataFrame | Table | None = None,
    match: str | None = None,
    provenance: str | Path | Provenance | None = None,
    population: str | Path | pd.DataFrame | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> AuditRecord:
    """Audits a release made by any tool: a file, a folder, a frame, or what an anonymizer returned.

    `match` says how release rows and original rows correspond: "rows" (same order) or the name of a column with an id in
    both; for our own releases the provenance does. `options` holds what to run.
    """
    options = options or Options()
    subject = read_subject(release, schema, original, match, provenance, population, options.seed)
    return run_audit(subject, options, progress)


class _Audit:
    """One audit under way: holds what its steps share."""

    def __init__(self, subject: Subject, options: Options, progress: Progress) -> None:
        self.subject, self.options, self.progress = subject, options, progress
        self.release = subject.release
        self.attacks = self._attacks()
        self.adversaries = self._adversaries()
        self.targets, self.notes = self._targets()
        self.priors = self._priors()
        self.register = None if subject.population is None else register_of(subject.population)
        self.done = 0
        self.left_out: tuple[Posterior, LeaveOneOut] | None = None

    def record(self) -> AuditRecord:
        subject, options = self.subject, self.options
        risks = [risk for adversary in self.adversaries for risk in self._by(adversary)]
        facts = class_facts(self.release, options.suppression, options.recursive_l)
        facts = replace(facts, identifiers=subject.identifiers)
        self.progress(self.done, self._steps(), "utility")
        utility = []
        if options.utility:
            k = self.release.params.get("k")
            original = subject.people if subject.has_original else None
            utility = utility_rows(
                self.release, original, stage(options.seed, "utility"), k if isinstance(k, int) else None
            )
        quasi = self.release.schema.quasi
        register = None if subject.population is None else subject.population.rows
        adversaries = tuple(
            AdversaryFacts(a.name, a.sentence(quasi, register), a.stance, a.columns(quasi)) for a in self.adversaries
        )
        return AuditRecord(
            seed=options.seed,
            release=facts,
            risks=tuple(risks),
            utility=tuple(utility),
            policy=self._verdict(facts, risks, adversaries),
            adversaries=adversaries,
            attacks=tuple(AttackFacts(a.name, a.goal, a.claim, a.lowered_by, a.paper) for a in self.attacks),
            inputs=subject.inputs,
            notes=(*subject.notes, *self.notes),
            tool={"name": "auditor", "version": VERSION},
        )

    def _verdict(
        self, facts: ReleaseFacts, risks: list[Risk], adversaries: tuple[AdversaryFacts, ...]
    ) -> PolicyVerdict | None:
        """What the policy says. It is about the release, so there is no verdict where only some people were attacked."""
        if self.options.policy is None:
            return None
        if self.options.targets is not None:
            self.notes.append(
                "The policy was not judged: it is about the whole release, and only some people were attacked."
            )
            return None
        return self.options.policy.judge(facts, risks, adversaries)

    def _attacks(self) -> list[Attack]:
        names = self.options.attacks or tuple(ATTACKS.all())
        for name in self.options.settings:
            ATTACKS.get(name)
        return [ATTACKS.get(name).configure(self.options.settings.get(name, {})) for name in names]

    def _adversaries(self) -> tuple[Adversary, ...]:
        if self.options.adversaries is not None:
            return self.options.adversaries
        return (PROSECUTOR, JOURNALIST, MARKETER) if self.subject.population is not None else (PROSECUTOR,)

    def _targets(self) -> tuple[Ints, list[str]]:
        """The original rows that are attacked, and what is to be said of those that are not."""
        subject = self.subject
        if subject.people is None or subject.provenance is None:
            return np.empty(0, dtype=np.int64), []
        bucket = subject.provenance.bucket
        wanted = np.arange(subject.people.rows)
        if self.options.targets is not None:
            wanted = np.array(self.options.targets, dtype=np.int64)
            if len(wanted) and (wanted.min() < 0 or wanted.max() >= subject.people.rows):
                raise UsageError(f"targets must be rows from 1 to {subject.people.rows}.")
        notes = []
        out = bucket[wanted] < 0
        if out.any():
            notes.append(f"{int(out.sum())} of {len(wanted)} targets are not in the release and are not attacked.")
        withheld = ~out & self.release.suppressed[bucket[wanted]]
        if withheld.any() and self.options.suppression is Suppression.EXCLUDED:
            notes.append(
                f"{int(withheld.sum())} of {len(wanted)} targets have all quasi-identifiers withheld and are left out of the "
                "figures based on classes."
            )
            out |= withheld
        return wanted[~out], notes

    def _priors(self) -> dict[str, NDArray[np.float64]]:
        """The share of each sensitive value among people at large: the original's, else the release's own."""
        priors = {}
        for column in self.release.sensitive:
            domain = self.release.labels[column].domain
            people = self.subject.people
            if people is not None and column in people.codes and (people.codes[column] >= 0).all():
                counts = np.bincount(people.codes[column], minlength=domain.size).astype(np.float64)
            else:
                labels = self.release.labels[column]
                used = np.bincount(self.release.block_of(column).cell(column), minlength=len(labels.texts))
                counts = np.zeros(domain.size)
                for label in np.flatnonzero(used):
                    codes = labels.codes(int(label))
                    counts[codes] += used[label] / max(len(codes), 1)
            priors[column] = counts / max(counts.sum(), 1.0)
        return priors

    # ----- one adversary ---------------------------------------------------------------------------------------------

    def _steps(self) -> int:
        return len(self.adversaries) * len(self._links()[0]) + 1

    def _links(self) -> tuple[tuple[Link, ...], dict[Link, str]]:
        """The link models that are run, and why others that were asked for do not apply."""
        asked = self.options.links or tuple(Link)
        barred: dict[Link, str] = {}
        for link in asked:
            if link is not Link.CLASS and not self.subject.has_original:
                barred[link] = "without the original nothing is known of the people, only their class can be granted"
            elif link is Link.TIGHTEST and self.release.exact:
                barred[link] = "every label is one value, so no class is tighter than another"
        return tuple(link for link in asked if link not in barred), barred

    def _by(self, adversary: Adversary) -> Iterator[Risk]:
        subject = self.subject
        attacks = [a for a in self.attacks if a.goal in adversary.aims]
        if not attacks:
            return
        if subject.people is None or subject.provenance is None:
            reason = (
                "a release of several blocks does not say whose value is whose; give the original and the provenance"
            )
            yield from (not_applicable(a, adversary, None, reason) for a in attacks)
            return
        if not len(self.targets):
            reason = "there is no target in the release whose quasi-identifiers are published"
            yield from (not_applicable(a, adversary, None, reason) for a in attacks)
            return
        if not subject.has_original and not adversary.sure_of_membership:
            reason = "without the original nothing is known of the people, so nobody can be looked up in the register"
            yield from (not_applicable(a, adversary, None, reason) for a in attacks)
            return
        knowledge = self._knowledge(adversary, subject.people, self.targets)
        links, barred = self._links()
        class_based = [a for a in attacks if a.goal is not Goal.MEMBERSHIP]
        for link, reason in barred.items():
            yield from (not_applicable(a, adversary, link, reason) for a in class_based)
        matching: Matching | None = None
        outsiders = self._outsiders(adversary)
        for link in links:
            self.progress(self.done, self._steps(), f"{adversary.name}, {link}")
            self.done += 1
            if not class_based:
                continue
            granted = replace(knowledge, granted=subject.provenance.bucket[self.targets])
            matching = matching or Matching(self.release, granted, self.options.suppression)
            main = Side("targets", knowledge, Posterior(matching, link, self.options.weighting), self._truth)
            outside = None
            if link is not Link.CLASS and outsiders is not None:  # outsiders have no class that could be granted
                outside = Side("outsiders", outsiders, self._posterior(outsiders, link), self._outside_truth)
            for attack in class_based:
                yield from self._attack(attack, adversary, link, main, outside)
        for attack in (a for a in attacks if a.goal is Goal.MEMBERSHIP):
            yield from self._membership(attack, adversary, knowledge, outsiders)

    def _knowledge(self, adversary: Adversary, table: Table, rows: Ints) -> Knowledge:
        if not self.subject.has_original:
            return Knowledge((), np.empty((len(rows), 0), dtype=np.int32), priors=self.priors)
        known = adversary.knowledge(table, rows, self.register, self.priors, self.release.rows)
        return known if self.options.targets is None else replace(known, anybody=False)

    def _posterior(self, knowledge: Knowledge, link: Link) -> Posterior:
        return Posterior(Matching(self.release, knowledge, self.options.suppression), link, self.options.weighting)

    def _outsiders(self, adversary: Adversary) -> Knowledge | None:
        subject = self.subject
        if subject.population is None or not len(self._outsider_rows()):
            return None
        return self._knowledge(adversary, subject.population, self._outsider_rows())

    def _outsider_rows(self) -> Ints:
        rows = self.subject.outsiders
        if len(rows) <= MOST_CONTROLS:
            return rows
        return np.sort(stage(self.options.seed, "controls").choice(rows, MOST_CONTROLS, replace=False))

    def _records(self, rows: Ints) -> tuple[Ints, Ints]:
        provenance = self.subject.provenance
        assert provenance is not None
        return provenance.bucket[rows].astype(np.int64), provenance.fragment[rows].astype(np.int64)

    # ----- one attack ------------------------------------------------------------------------------------------------

    def _attack(
        self, attack: Attack, adversary: Adversary, link: Link, main: Side, outside: Side | None
    ) -> Iterator[Risk]:
        columns: Sequence[str | None] = self.release.sensitive if attack.goal is Goal.ATTRIBUTE else (None,)
        if not columns:
            yield not_applicable(attack, adversary, link, "no sensitive column is published")
        tried = main.take(main.attempted(attack))
        for column in columns:
            figures = self._trial(attack, tried, link, column)
            truth = tried.truth(column)
            if isinstance(figures, NotApplicable) or truth is None:
                reason = figures.reason if isinstance(figures, NotApplicable) else "the truth is not known"
                yield not_applicable(attack, adversary, link, reason, column)
                continue
            baseline = self._trial(attack, self._blind(tried), link, column)
            control, kind = self._control(attack, main, outside, link, column)
            for i, figure in enumerate(figures):
                without = None if isinstance(baseline, NotApplicable) else baseline[i]
                yield risk_row(
                    attack, adversary, link, column, figure, without, control[i] if control else None, kind, truth
                )

    def _trial(self, attack: Attack, side: Side, link: Link, column: str | None) -> list[Figure] | NotApplicable:
        return trial(attack, side, self.release, link, column, self.options.seed)

    def _blind(self, side: Side) -> Side:
        """The same people for an adversary without the release."""
        counted = self.release.sizes.copy()
        if self.options.suppression is Suppression.EXCLUDED:
            counted[self.release.suppressed] = 0
        prior = Prior(side.beliefs.targets, self.priors, counted, side.knowledge.membership)
        return Side("baseline", side.knowledge, prior, _hidden(side.truth), blind=True)

    def _control(
        self, attack: Attack, main: Side, outside: Side | None, link: Link, column: str | None
    ) -> tuple[list[Figure] | None, str | None]:
        """The figures of the same attack on people who are not in the release, and who they are; None where nobody such
        can be attacked at all."""
        for own_record_left_out in (False, True):
            side = self._left_out(main, attack, column) if own_record_left_out else outside
            if side is None:
                continue
            figures = self._trial(attack, side.take(side.attempted(attack)), link, column)
            if not isinstance(figures, NotApplicable):
                return figures, side.name
        return None, None

    def _left_out(self, main: Side, attack: Attack, column: str | None) -> Side:
        """The targets, each with their own record left out: all of them, or a sample where their posteriors over many
        values would not fit into memory."""
        posterior = main.beliefs
        assert isinstance(posterior, Posterior)
        bucket, fragment = self._records(self.targets)
        if self.left_out is None or self.left_out[0] is not posterior:
            self.left_out = (posterior, LeaveOneOut(posterior, bucket, fragment))
        without, which = self.left_out[1], np.arange(len(self.targets))
        if attack.goal is Goal.ATTRIBUTE and column is not None:
            values = posterior.values(column)
            which = np.flatnonzero(without.matched)  # of the others nothing is left to attack
            load = np.diff(values.rows.indptr)[values.row_of[which]]
            if load.sum() > MOST_ENTRIES:
                count = max(int(MOST_ENTRIES / load.mean()), LEAST_SAMPLE)
                rng = stage(self.options.seed, "leave one out", column)
                which = np.sort(rng.choice(which, min(count, len(which)), replace=False))
        if len(which) < len(self.targets):
            without = LeaveOneOut(posterior.take(which), bucket[which], fragment[which])

        def truth(wanted: str | None) -> Truth | None:
            known = _hidden(main.truth)(wanted)
            chosen = np.zeros(len(self.targets), dtype=np.bool_)
            chosen[which] = True
            return None if known is None else known.take(chosen)

        return Side("leave_one_out", main.knowledge.take(which), without, truth)

    def _truth(self, column: str | None) -> Truth | None:
        people = self.subject.people
        assert people is not None
        return self._truth_of(people, self.targets, *self._records(self.targets), column)

    def _outside_truth(self, column: str | None) -> Truth | None:
        population, rows = self.subject.population, self._outsider_rows()
        assert population is not None
        nowhere = np.full(len(rows), -1)
        fragment = np.full((len(rows), len(self.release.blocks)), -1)
        truth = self._truth_of(population, rows, nowhere, fragment, column)
        return None if truth is None else replace(truth, reveal=False)

    def _truth_of(self, table: Table, rows: Ints, bucket: Ints, fragment: Ints, column: str | None) -> Truth | None:
        if column is None:
            return Truth(rows, bucket, fragment, reveal=self.options.reveal)
        if column not in table.codes:
            return None
        codes = table.codes[column][rows].astype(np.int64)
        if (codes < 0).any():
            return None
        return Truth(rows, bucket, fragment, codes, self.release.labels[column].domain, self.options.reveal)

    def _membership(
        self, attack: Attack, adversary: Adversary, knowledge: Knowledge, outsiders: Knowledge | None
    ) -> Iterator[Risk]:
        if not knowledge.columns:
            yield not_applicable(attack, adversary, None, "nothing is known of the people whose membership is asked")
            return
        rng = stage(self.options.seed, attack.name)
        members = self._claims(attack, knowledge)
        codes = knowledge.codes if self.subject.people is None else self.subject.people.matrix(knowledge.columns)
        invented = fake_tuples(codes, MOST_FAKES, stage(self.options.seed, "fakes"))
        groups = {
            "outsiders": (
                outsiders,
                "no outsiders are known: give a population with people who are not in the release",
            ),
            "fakes": (
                replace(knowledge, codes=invented) if len(invented) else None,
                "every combination of known values that could be invented belongs to somebody",
            ),
        }
        for against, (others, reason) in groups.items():
            if others is None:
                yield not_applicable(attack, adversary, None, reason, params={"against": against})
                continue
            for figure in score_members(members, self._claims(attack, others), against, rng):
                yield member_row(attack, adversary, figure, against, self.targets)

    def _claims(self, attack: Attack, knowledge: Knowledge) -> MemberClaims:
        """Membership claims; suppressed rows are candidates for everybody here."""
        beliefs = Posterior(Matching(self.release, knowledge, Suppression.WILDCARD), Link.CONTAINMENT)
        claims = attack.run(View(self.release, knowledge, beliefs), stage(self.options.seed, attack.name))
        assert isinstance(claims, MemberClaims)
        return claims


def _hidden(truth: Callable[[str | None], Truth | None]) -> Callable[[str | None], Truth | None]:
    """The same truth, whose values do not go into details."""

    def without_values(column: str | None) -> Truth | None:
        known = truth(column)
        return None if known is None else replace(known, reveal=False)

    return without_values
