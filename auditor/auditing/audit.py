"""The audit: runs attacks on a release, scores them against the truth, judges the result.

For every adversary and link model an attack is run on the sides of a trial (`auditor/auditing/sides.py`): the targets, from
the release; the same targets without it (the *baseline*); and people who are not in it (the *control*: real outsiders where a
population is given, otherwise the targets themselves with their own record left out). What the attack has over the
control is the risk a person owes to being in the release. Attacks that do not look for a person's class run once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from attacks import ATTACKS
from attacks.base import ONLY_A_PART, Attack, Goal, Lacks, NotApplicable, View
from attacks.claims import MemberClaims
from auditor.auditing.estimates import JUDGED, estimated
from auditor.auditing.facts import release_facts
from auditor.auditing.lacking import lacking
from auditor.auditing.remedies.command_lines import with_commands
from auditor.auditing.remedies.search import Advice, advise
from auditor.auditing.sampling import sampled
from auditor.auditing.scoring.claims import Figure
from auditor.auditing.scoring.members import score_members
from auditor.auditing.scoring.rows import member_row, not_applicable, risk_row
from auditor.auditing.sides import Side, Sides, trial
from auditor.auditing.subjects import Subject, read_subject
from auditor.measure.ambiguity import NOTE
from auditor.measure.utility import find_measures, utility_rows
from auditor.model.knowledge import Knowledge
from auditor.model.progress import Progress, silent
from auditor.model.record.record import (
    ORIGINAL,
    AdversaryFacts,
    AttackFacts,
    AuditRecord,
    Lack,
    PolicyVerdict,
    ReleaseFacts,
    Risk,
    SampleFacts,
)
from auditor.model.release import Release, Suppression
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.posterior.beliefs import Beliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import Nearest, no_distance
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from auditor.version import VERSION
from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR, Adversary, Stance
from scenarios.options import Options

if TYPE_CHECKING:
    import pandas as pd

    from auditor.model.provenance import Provenance
    from auditor.model.schema import Schema

MOST_FAKES = 5_000
MOSTLY = 0.5
"""The share of people whose record does not cover them above which covering says nothing."""
_COVERING = (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST)


def run_audit(subject: Subject, options: Options, progress: Progress | None = None) -> AuditRecord:
    """Audits one release. Where `options.sample` asks for it a sample of its people is drawn, unless one was already."""
    if options.sample is not None and subject.sample is None:
        subject = sampled(subject, options)
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
    record = run_audit(subject, options, progress)
    if isinstance(release, str | Path) and isinstance(schema, str | Path):
        record = with_commands(record, release, schema, options.suppression, options.recursive_l)
    return record


class _Audit:
    """One audit under way: holds what its steps share."""

    def __init__(self, subject: Subject, options: Options, progress: Progress) -> None:
        self.subject, self.options, self.progress = subject, options, progress
        self.release = subject.release
        self.attacks = self._attacks()
        self.measures = None if options.utility is None else find_measures(options.utility)
        self.adversaries = self._adversaries()
        self.sides = Sides(subject, options)
        self.notes: list[str] = []
        self.done = 0

    def record(self) -> AuditRecord:
        subject, options = self.subject, self.options
        risks = [risk for adversary in self.adversaries for risk in self._by(adversary)]
        if subject.has_original:  # it was given, and whoever knows nothing of the people was not to know
            risks = [replace(risk, lacks=None) if risk.lacks == ORIGINAL else risk for risk in risks]
        facts = release_facts(subject, options)
        risks = estimated(risks, subject, facts, self.adversaries)
        self.progress(self.done, self._steps(), "utility")
        k = self.release.params.get("k", self.release.params.get("r"))  # r is what k is where clusters are gathered
        known = subject.has_original
        utility = subject.utility or utility_rows(
            self.release,
            subject.people if known else None,
            subject.provenance.fragment if known and subject.provenance is not None else None,
            k=k if isinstance(k, int) else None,
            seed=options.seed,
            names=self.measures,
        )
        quasi = self.release.schema.quasi
        register = None if subject.population is None else subject.population.rows
        adversaries = tuple(
            AdversaryFacts(a.name, a.sentence(quasi, register), a.stance, a.columns(quasi)) for a in self.adversaries
        )
        overlapping = [NOTE.format(one.column) for one in facts.sensitive if one.labels_overlap]
        verdict = self._verdict(facts, risks, adversaries)
        advice = self._advice(verdict)
        return AuditRecord(
            seed=options.seed,
            release=facts,
            risks=tuple(risks),
            utility=tuple(utility),
            policy=verdict,
            adversaries=adversaries,
            attacks=tuple(AttackFacts(a.name, a.goal, a.claim, a.lowered_by, a.paper) for a in self.attacks),
            inputs=subject.inputs,
            notes=(*subject.notes, *self.sides.notes, *self.notes, *overlapping),
            tool={"name": "auditor", "version": VERSION},
            lacking=self._lacking(risks),
            drivers=advice.drivers,
            remedies=advice.remedies,
            sample=None if subject.sample is None else SampleFacts(len(subject.sample.targets), subject.sample.people),
        )

    def _lacking(self, risks: Sequence[Risk]) -> tuple[Lack, ...]:
        """What was not given. Where the adversaries were chosen nobody else is wanted."""
        stances = {a.stance for a in self.adversaries} if self.options.adversaries is None else set(Stance)
        return lacking(risks, stances, self.subject.has_original, self.subject.population is not None)

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
        partly = self.subject.sample is not None and self.subject.sample.partial
        if partly:
            self.notes.append(JUDGED)
        return self.options.policy.judge(facts, risks, adversaries, sampled=partly)

    def _advice(self, verdict: PolicyVerdict | None) -> Advice:
        """What would help, where the policy fails and that is asked for."""
        if verdict is None or verdict.passed or not self.options.remedies or self.subject.sample is not None:
            return Advice()
        self.progress(self.done, self._steps(), "remedies")

        def judge(subject: Subject, options: Options, attacks: Collection[str]) -> PolicyVerdict:
            again = _Audit(subject, options, silent)
            again.attacks = [a for a in again.attacks if a.name in attacks]
            found = again.record().policy
            assert found is not None
            return found

        advice = advise(self.subject, verdict, self.options, [a.name for a in self.attacks], judge)
        self.notes.extend(advice.notes)
        return advice

    def _attacks(self) -> list[Attack]:
        names = self.options.attacks or tuple(ATTACKS.all())
        for name in self.options.settings:
            ATTACKS.get(name)
        return [ATTACKS.get(name).configure(self.options.settings.get(name, {})) for name in names]

    def _adversaries(self) -> tuple[Adversary, ...]:
        asked = self.options.adversaries
        if asked is None:
            asked = (PROSECUTOR, JOURNALIST, MARKETER) if self.subject.population is not None else (PROSECUTOR,)
        return tuple(one for adversary in asked for one in adversary.settled(self.release.schema, self.options.seed))

    # ----- one adversary ---------------------------------------------------------------------------------------------

    def _steps(self) -> int:
        alone = sum(not attack.linked for attack in self.attacks)
        return sum(len(self._links(adversary)[0]) + alone for adversary in self.adversaries) + 1

    def _links(self, adversary: Adversary) -> tuple[tuple[Link, ...], dict[Link, NotApplicable]]:
        """The link models that are run, and why others that were asked for do not apply. Those that cannot tell anything are
        run only where they are asked for by name."""
        asked, named = self.options.links or tuple(Link), bool(self.options.links)
        barred: dict[Link, NotApplicable] = {}
        for link in asked:
            why, lacks = None, None
            if link is not Link.CLASS and not self.subject.has_original:
                lacks = Lacks.PEOPLE
                why = "without the original nothing is known of the people, only their class can be granted"
            elif link is Link.TIGHTEST and self.release.exact:
                why = "every label is one value, so no class is tighter than another"
            elif link is Link.DISTANCE:
                why = self._no_distance(adversary)
                if why is None and not named and not self.sides.untrue:
                    why = "every record covers its person, so the nearest records are those that contain the person"
            elif link in _COVERING and not named and self._by_distance(adversary):
                share = f"{100 * self.sides.untrue:.0f} %"
                why = f"{share} of the records do not cover their person (averages, centres or noise): see the link distance"
            if why is not None:
                barred[link] = NotApplicable(why, lacks)
        return tuple(link for link in asked if link not in barred), barred

    def _no_distance(self, adversary: Adversary) -> str | None:
        """Why an adversary cannot find people by distance, or None."""
        return no_distance(self.release, adversary.columns(self.release.schema.quasi), len(self.sides.targets))

    def _by_distance(self, adversary: Adversary) -> bool:
        """Whether records mostly do not cover their people, so that an adversary looks for the nearest ones."""
        return self.sides.untrue > MOSTLY and self._no_distance(adversary) is None

    def _by(self, adversary: Adversary) -> Iterator[Risk]:
        attacks = [a for a in self.attacks if a.goal in adversary.aims]
        if not attacks:
            return
        self.sides = self.sides.facing(adversary)
        nobody = self._nobody(adversary)
        if nobody is not None:
            yield from (not_applicable(a, adversary, None, nobody) for a in attacks)
            return
        knowledge = self.sides.knowledge()
        outsiders = self.sides.outsiders()
        links, barred = self._links(adversary)
        linked = [a for a in attacks if a.linked]
        for link, why in barred.items():
            yield from (not_applicable(a, adversary, link, why) for a in linked)
        matching: Matching | None = None
        for link in links:
            self.progress(self.done, self._steps(), f"{adversary.name}, {link}")
            self.done += 1
            if not linked:
                continue
            matching = matching or self.sides.matching(knowledge)
            main = self.sides.main(knowledge, matching, link)
            outside = None
            if link is not Link.CLASS and outsiders is not None:  # outsiders have no class that could be granted
                outside = self.sides.outside(outsiders, link)
            for attack in linked:
                yield from self._attack(attack, adversary, link, main, outside)
        for attack in (a for a in attacks if not a.linked):
            self.progress(self.done, self._steps(), f"{adversary.name}, {attack.name}")
            self.done += 1
            if attack.goal is Goal.MEMBERSHIP:
                yield from self._membership(attack, adversary, knowledge, outsiders)
            else:
                matching = matching or self.sides.matching(knowledge)
                yield from self._once(attack, adversary, knowledge, outsiders, matching)

    def _nobody(self, adversary: Adversary) -> NotApplicable | None:
        """Why an adversary can attack nobody at all, or None."""
        subject = self.subject
        if subject.nobody is not None:
            return NotApplicable(subject.nobody)
        if subject.people is None or subject.provenance is None:
            why = "a release of several blocks does not say whose value is whose; give the original and the provenance"
            return NotApplicable(why, Lacks.PEOPLE)
        if not len(self.sides.targets):
            return NotApplicable("there is no target in the release whose quasi-identifiers are published")
        if not subject.has_original and not adversary.sure_of_membership:
            why = "without the original nothing is known of the people, so nobody can be looked up in the register"
            return NotApplicable(why, Lacks.PEOPLE)
        return None

    # ----- one attack ------------------------------------------------------------------------------------------------

    def _once(
        self,
        attack: Attack,
        adversary: Adversary,
        knowledge: Knowledge,
        outsiders: Knowledge | None,
        matching: Matching,
    ) -> Iterator[Risk]:
        """An attack that has its own way to a person's value or record, whatever the link model."""
        found_by = Link.DISTANCE if self._by_distance(adversary) else Link.CONTAINMENT
        link = found_by if self.subject.has_original else Link.CLASS
        main = self.sides.main(knowledge, matching, link)
        outside = None if outsiders is None or link is Link.CLASS else self.sides.outside(outsiders, link)
        yield from self._attack(attack, adversary, None, main, outside)

    def _attack(
        self, attack: Attack, adversary: Adversary, link: Link | None, main: Side, outside: Side | None
    ) -> Iterator[Risk]:
        columns: Sequence[str | None] = self.release.sensitive if attack.goal is Goal.ATTRIBUTE else (None,)
        if attack.needs_whole and self.release.beyond is not None:
            yield not_applicable(attack, adversary, link, ONLY_A_PART)
            return
        if not columns:
            yield not_applicable(attack, adversary, link, NotApplicable("no sensitive column is published"))
        tried = main.take(main.attempted(attack))
        for column in columns:
            figures = self._trial(attack, tried, link, column)
            truth = tried.truth(column)
            if isinstance(figures, NotApplicable) or truth is None:
                why = figures if isinstance(figures, NotApplicable) else NotApplicable("the truth is not known")
                yield not_applicable(attack, adversary, link, why, column)
                continue
            baseline = self._trial(attack, self.sides.blind(tried), link, column)
            control, kind = self._control(attack, main, outside, link, column)
            for i, figure in enumerate(figures):
                without = None if isinstance(baseline, NotApplicable) else baseline[i]
                yield risk_row(
                    attack, adversary, link, column, figure, without, control[i] if control else None, kind, truth
                )

    def _trial(self, attack: Attack, side: Side, link: Link | None, column: str | None) -> list[Figure] | NotApplicable:
        return trial(attack, side, self.release, link, column, self.options.seed, self.options.suppression)

    def _control(
        self, attack: Attack, main: Side, outside: Side | None, link: Link | None, column: str | None
    ) -> tuple[list[Figure] | None, str | None]:
        """The figures of the same attack on people who are not in the release, and who they are; None where nobody such
        can be attacked at all."""
        for own_record_left_out in (False, True) if attack.linked else (False,):
            side = self.sides.left_out(main, attack, column) if own_record_left_out else outside
            if side is None:
                continue
            figures = self._trial(attack, side.take(side.attempted(attack)), link, column)
            if not isinstance(figures, NotApplicable):
                return figures, side.name
        return None, None

    def _membership(
        self, attack: Attack, adversary: Adversary, knowledge: Knowledge, outsiders: Knowledge | None
    ) -> Iterator[Risk]:
        if not knowledge.columns or (attack.needs_whole and self.release.beyond is not None):
            nothing = NotApplicable("nothing is known of the people whose membership is asked", Lacks.PEOPLE)
            yield not_applicable(attack, adversary, None, ONLY_A_PART if knowledge.columns else nothing)
            return
        rng = stage(self.options.seed, attack.name)
        by_distance = self._by_distance(adversary)
        members = self._claims(attack, knowledge, by_distance)
        if isinstance(members, NotApplicable):
            yield not_applicable(attack, adversary, None, members)
            return
        groups = {
            "outsiders": (
                outsiders,
                NotApplicable(
                    "no outsiders are known: give a population with people who are not in the release", Lacks.POPULATION
                ),
            ),
            "fakes": (
                self.sides.invented(knowledge, MOST_FAKES),
                NotApplicable("every combination of known values that could be invented belongs to somebody"),
            ),
        }
        for against, (others, why) in groups.items():
            if others is None:
                yield not_applicable(attack, adversary, None, why, params={"against": against})
                continue
            strangers = self._claims(attack, others, by_distance)
            if isinstance(strangers, NotApplicable):
                yield not_applicable(attack, adversary, None, strangers, params={"against": against})
                continue
            for figure in score_members(members, strangers, against, rng):
                yield member_row(attack, adversary, figure, against, self.sides.targets)

    def _claims(self, attack: Attack, knowledge: Knowledge, by_distance: bool) -> MemberClaims | NotApplicable:
        """Membership claims; suppressed rows are candidates for everybody here."""
        beliefs: Beliefs
        if by_distance:
            beliefs = Nearest(self.release, knowledge, Suppression.EXCLUDED)  # what is withheld is near to everybody
        else:
            beliefs = Posterior(Matching(self.release, knowledge, Suppression.WILDCARD), Link.CONTAINMENT)
        claims = attack.run(View(self.release, knowledge, beliefs), stage(self.options.seed, attack.name))
        assert isinstance(claims, MemberClaims | NotApplicable)
        return claims
