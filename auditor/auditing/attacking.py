"""Attacking: one adversary tries every attack on a release, under every link model that applies, and each try is scored.

An attack is run on the sides of a trial (`auditor/auditing/sides.py`): the targets, from the release; the same targets
without it (the *baseline*); and people who are not in it (the *control*). These are real outsiders where a population is
given. Otherwise, for a claim of a value, they are the targets themselves with their own record left out or, where an attack
learns from all classes, with their whole class left out; and for a claim of a record it is one drawn at random. Attacks that
do not look for a person's class run once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attacks.base import NO_ROW, ONLY_A_PART, Attack, Lacks, NotApplicable, View
from attacks.claims import Claims, CloseClaims, MemberClaims
from auditor.auditing.choices import Compared, by_choice, choices_of
from auditor.auditing.folds import ONE_CLASS
from auditor.auditing.scoring.claims import as_often
from auditor.auditing.scoring.figures import Control, Figure, joined
from auditor.auditing.scoring.members import score_closeness, score_members
from auditor.auditing.scoring.people import members_of
from auditor.auditing.scoring.rows import Attempt, Beside, completed, not_applicable, risk_row
from auditor.auditing.sides import Side, Sides, too_few_outsiders, trial
from auditor.auditing.stages import LINK
from auditor.model.arrays import Bools, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.record import Risk
from auditor.model.release import Suppression
from auditor.model.seeding import stage
from auditor.posterior.beliefs import Beliefs, Prior
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import no_distance
from auditor.posterior.informed import by_records, links_of, no_mechanism
from auditor.posterior.links import BY_RECORDS, Link
from auditor.posterior.posterior import Posterior
from scenarios.adversaries import Adversary

MOST_FAKES = 5_000
MOSTLY = 0.5  # above this share of people whom their own record does not cover, covering says nothing
RARELY = 0.01  # up to this share of them, whether covering records are one's own may be taken for granted
_OF_NOBODY = (Link.CONTAINMENT, Link.DISTANCE)
"""How rows that are nobody's are read as if they were a person's: those that fit, or the nearest."""
_COVERING = (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST)

Tell = Callable[[str, str], None]  # is told what comes next: the kind of stage, and what it is


NOBODY_LEFT = "no record fits anybody who is not in the release, and no record is left once a person's own is taken out"


@dataclass(frozen=True, slots=True, eq=False)
class _Controls:
    """The figures of a control, of what kind it is, and which rows its people have where they are targets; else why there is
    none."""

    figures: list[Figure] | None = None
    kind: Control | None = None
    rows: Ints | None = None
    why: str | None = None


class Attacker:
    """One adversary at work on one release."""

    def __init__(self, adversary: Adversary, sides: Sides, attacks: Sequence[Attack]) -> None:
        self.adversary, self.options = adversary, sides.options
        self.subject, self.release = sides.subject, sides.release
        self.attacks = [a for a in attacks if a.goal in adversary.aims]
        self.sides, self.untrue = sides.facing(adversary), sides.untrue
        self._blind: dict[tuple[str, str | None, bytes], list[Figure] | None] = {}

    def risks(self, tell: Tell) -> Iterator[Risk]:
        """The rows of all attacks."""
        if not self.attacks:
            return
        nobody = self._nobody()
        if nobody is not None:
            yield from (not_applicable(Attempt(a, self.adversary), nobody) for a in self.attacks)
            return
        barred = {attack.name: attack.barred(self.release.synthetic) for attack in self.attacks}
        for attack in self.attacks:
            why = barred[attack.name]
            if why is not None:
                yield not_applicable(Attempt(attack, self.adversary), why)
        attacks = [attack for attack in self.attacks if barred[attack.name] is None]
        yield from self._linked([a for a in attacks if a.linked], tell)
        for attack in (a for a in attacks if not a.linked):
            tell(attack.name, attack.name)
            if attack.goal is not Goal.MEMBERSHIP:
                yield from self._once(attack)
            else:
                yield from self._made_from(attack) if self.release.synthetic else self._membership(attack)

    def _nobody(self) -> NotApplicable | None:
        """Why this adversary can attack nobody at all, or None."""
        subject = self.subject
        if subject.nobody is not None:
            return NotApplicable(subject.nobody)
        if subject.people is None or subject.provenance is None:
            why = "a release of several blocks does not say whose value is whose; give the original and the provenance"
            return NotApplicable(why, Lacks.PEOPLE)
        made_from = subject.provenance.made_from
        if self.options.targets and made_from is not None and not made_from[list(self.options.targets)].any():
            return NotApplicable(
                "the people named as targets are outsiders: the release was not made from them, so that it has nothing of "
                "theirs to find. They are part of the control. Name people from whom it was made"
            )
        if not len(self.sides.targets):
            return NotApplicable("there is no target in the release whose quasi-identifiers are published")
        if not subject.has_original and not self.adversary.sure_of_membership:
            why = "without the original nothing is known of the people, so nobody can be looked up in the population"
            return NotApplicable(why, Lacks.PEOPLE)
        return None

    # ----- how people are found --------------------------------------------------------------------------------------

    @cached_property
    def links(self) -> tuple[tuple[Link, ...], dict[Link, NotApplicable]]:
        """The link models that are run, and why others that were asked for do not apply. A link that cannot tell anything is
        run only where it is asked for by name."""
        asked = self.options.links or (_OF_NOBODY if self.release.synthetic else links_of(self.release))
        barred = {link: why for link in asked if (why := self._barred(link)) is not None}
        return tuple(link for link in asked if link not in barred), barred

    def _barred(self, link: Link) -> NotApplicable | None:
        named = bool(self.options.links)
        if self.release.synthetic:
            impossible = self._no_distance if link is Link.DISTANCE else None if link in _OF_NOBODY else NO_ROW.reason
            return None if impossible is None else NotApplicable(impossible)
        if link is not Link.CLASS and not self.subject.has_original:
            why = "without the original nothing is known of the people; only their class can be granted"
            return NotApplicable(why, Lacks.PEOPLE)
        if link is Link.TIGHTEST and self.release.exact:
            return NotApplicable("every label is one value, so no class is tighter than another")
        if link is Link.MECHANISM:
            return None if self._no_mechanism is None else NotApplicable(self._no_mechanism)
        if link is Link.DISTANCE:
            impossible = self._no_distance
            if impossible is None and not named and not self.untrue:
                impossible = "every record covers its person, so the nearest records are those that contain the person"
            return None if impossible is None else NotApplicable(impossible)
        if link in _COVERING and not named and self._by_distance:
            share = f"{100 * self.untrue:.0f} %"
            return NotApplicable(
                f"{share} of the records do not cover their person (averages, centres or noise): see the link {Link.DISTANCE}"
            )
        return None

    @cached_property
    def _no_distance(self) -> str | None:
        """Why this adversary cannot find people by distance, or None."""
        return no_distance(self.release, self.adversary.columns(self.release.schema.quasi), len(self.sides.targets))

    @cached_property
    def _no_mechanism(self) -> str | None:
        """Why this adversary cannot find people by the mechanism, or None."""
        return no_mechanism(self.release, self.adversary.columns(self.release.schema.quasi), len(self.sides.targets))

    @property
    def _by_distance(self) -> bool:
        """Whether records mostly do not cover their people, so that the nearest ones are looked for."""
        return self.untrue > MOSTLY and self._no_distance is None

    @cached_property
    def _knowledge(self) -> Knowledge:
        return self.sides.knowledge()

    @cached_property
    def _outsiders(self) -> Knowledge | None:
        return self.sides.outsiders()

    @cached_property
    def _matching(self) -> Matching:
        return self.sides.matching(self._knowledge)

    # ----- attacks on values and records -----------------------------------------------------------------------------

    def _linked(self, attacks: Sequence[Attack], tell: Tell) -> Iterator[Risk]:
        """The attacks that run under each link model."""
        links, barred = self.links
        for link, why in barred.items():
            tell(f"{LINK} {link}", link)
            yield from (not_applicable(Attempt(a, self.adversary, link), why) for a in attacks)
        for link in links:
            tell(f"{LINK} {link}", link)
            if attacks:
                main, outside = self._both(link)
                for attack in attacks:
                    yield from self._tried(Attempt(attack, self.adversary, link), main, outside)

    def _both(self, link: Link) -> tuple[Side, Side | None]:
        """The targets, and the people who are not in the release; these have no class that could be granted."""
        main = self.sides.main(self._knowledge, self._matching, link)
        if self._outsiders is None or link is Link.CLASS:
            return main, None
        return main, self.sides.outside(self._outsiders, link)

    def _once(self, attack: Attack) -> Iterator[Risk]:
        """An attack that has its own way to a person's value or record, whatever the link model."""
        main, outside = self._both(self._found_by if self.subject.has_original else Link.CLASS)
        yield from self._tried(Attempt(attack, self.adversary), main, outside)

    @property
    def _found_by(self) -> Link:
        """How people are found by whoever is told nothing of their class."""
        if self._no_mechanism is None:
            return Link.MECHANISM
        return Link.DISTANCE if self._by_distance else Link.CONTAINMENT

    def _tried(self, attempt: Attempt, main: Side, outside: Side | None) -> Iterator[Risk]:
        attack = attempt.attack
        columns: Sequence[str | None] = self.release.sensitive if attack.goal is Goal.ATTRIBUTE else (None,)
        if attack.needs_whole and self.release.beyond is not None:
            yield not_applicable(attempt, ONLY_A_PART)
            return
        if not columns:
            yield not_applicable(attempt, NotApplicable("no sensitive column is published"))
        attempted = main.attempted(attack)
        tried = main.take(attempted)
        for column in columns:
            about = replace(attempt, column=column)
            figures = self._trial(about, tried)
            truth = tried.truth(column)
            if isinstance(figures, NotApplicable) or truth is None:
                why = figures if isinstance(figures, NotApplicable) else NotApplicable("the truth is not known")
                yield not_applicable(about, why)
                continue
            if not self._expects(about, tried):
                figures = [figure.unexpected for figure in figures]
            baseline = self._baseline(about, tried, attempted)
            control = self._control(about, main, outside, baseline)
            if control.figures and control.kind is Control.LEAVE_ONE_OUT:
                control = replace(control, figures=as_often(control.figures, figures))
            for i, figure in enumerate(figures):
                if figure.doubt is not None and figure.kind is not Kind.FACT:  # nothing was claimed
                    yield not_applicable(about, NotApplicable(figure.doubt), figure.params, figure.measure)
                    continue
                without = None if baseline is None else baseline[i]
                other = control.figures[i] if control.figures else None
                beside = Beside(without, other, control.kind, control.rows, control.why)
                whole = completed(about, figure, beside, truth)
                yield risk_row(about, self._by_choice(about, whole, beside, truth.rows))

    def _by_choice(self, attempt: Attempt, figure: Figure, beside: Beside, rows: Ints) -> Figure:
        """A figure with its parts by what people chose to have published."""
        if self._choices is None:
            return figure
        same = beside.rows is not None  # else the control is other people, who made no choice
        companions = Compared(beside.baseline, rows), Compared(beside.control if same else None, beside.rows)
        parts = by_choice(self._choices, Compared(figure, rows), *companions, attempt.attack.compared)
        return replace(figure, detail={**figure.detail, "by_choice": parts}) if parts else figure

    @cached_property
    def _choices(self) -> Ints | None:
        return choices_of(self.subject)

    def _expects(self, attempt: Attempt, side: Side | None = None) -> bool:
        """Whether what the adversary expects is told: where their claims are known to be right as often as they say."""
        attack, link = attempt.attack, attempt.link
        if not attack.calibrated or (link not in (Link.CLASS, Link.MECHANISM) and self.untrue > RARELY):
            return False
        if not self.adversary.sure_of_membership:
            return False  # they expect less than is found among people who are in: that is another question
        if attempt.column is not None or link is not None:
            return side is None or side.beliefs.calibrated(None if attack.decodes else attempt.column)
        if attack.goal is Goal.MEMBERSHIP:  # with less knowledge, the model of who is present is a little too sure
            return not self._matching.inexact and set(self.release.quasi) <= set(self._knowledge.columns)
        return not any(labels.aliases for labels in self.release.labels.values())

    def _trial(self, attempt: Attempt, side: Side) -> list[Figure] | NotApplicable:
        return trial(attempt, side, self.release, self.options)

    def _baseline(self, attempt: Attempt, tried: Side, which: Bools) -> list[Figure] | None:
        """The figures of the same attack on some of the targets without the release: the same under all link models."""
        key = attempt.attack.name, attempt.column, which.tobytes()
        if key not in self._blind:
            found = self._trial(attempt, self.sides.blind(tried))
            self._blind[key] = None if isinstance(found, NotApplicable) else found
        return self._blind[key]

    def _control(self, attempt: Attempt, main: Side, outside: Side | None, baseline: list[Figure] | None) -> _Controls:
        """The figures of the same attack on people who are not in the release."""
        attack = attempt.attack
        if outside is None and self.release.synthetic:
            return _Controls(why=too_few_outsiders(0))
        if outside is not None:
            found = self._trial(attempt, outside.take(outside.attempted(attack)))
            if not isinstance(found, NotApplicable):
                return _Controls(found, outside.control)
            if self.release.synthetic:
                return _Controls(why=f"of people who are not in the release {found.reason}")
        if attack.goal is Goal.IDENTITY:  # somebody without a record is never linked to it rightly
            return _Controls(baseline, Control.RANDOM_RECORD, why="without the release there is no record to draw")
        if attack.needs_whole:
            return self._other_classes(attempt, main)
        side = self.sides.left_out(main, attack, attempt.column)
        side = side.take(side.attempted(attack))
        found, truth = self._trial(attempt, side), side.truth(attempt.column)
        if isinstance(found, NotApplicable) or truth is None:
            return _Controls(why=NOBODY_LEFT)
        return _Controls(found, side.control, truth.rows)

    def _other_classes(self, attempt: Attempt, main: Side) -> _Controls:
        """The targets fold by fold, with what all classes but their own say. Who has nothing to go by guesses as without any
        release, so that the people are the same."""
        attack, asked = attempt.attack, attempt.link
        link = self._found_by if asked is None or asked is Link.CLASS else asked
        attempted, made, rows = main.attempted(attack), [], []
        for release, people, side in self.sides.other_classes(main, link, self._found_by):
            side = side.take(attempted[people])
            truth = side.truth(attempt.column)
            if truth is None or not side.beliefs.targets:
                continue
            about = replace(attempt, link=None if asked is None else link)
            found = trial(about, side, release, self.options)
            if isinstance(found, NotApplicable):
                found = self._trial(about, self.sides.blind(side))
            if isinstance(found, NotApplicable):
                return _Controls(why=found.reason)
            made.append([replace(f, rows=truth.rows if f.rows is None else f.rows) for f in found])
            rows.append(truth.rows)
        if not made:
            return _Controls(why=ONE_CLASS)
        return _Controls(list(map(joined, zip(*made, strict=True))), Control.OTHER_CLASSES, np.concatenate(rows))

    # ----- membership ------------------------------------------------------------------------------------------------

    def _membership(self, attack: Attack) -> Iterator[Risk]:
        attempt, knowledge = Attempt(attack, self.adversary), self._knowledge
        if not knowledge.columns or (attack.needs_whole and self.release.beyond is not None):
            nothing = NotApplicable("nothing is known of the people whose membership is asked", Lacks.PEOPLE)
            yield not_applicable(attempt, ONLY_A_PART if knowledge.columns else nothing)
            return
        rng = stage(self.options.seed, attack.name)
        members = self._claims(attack, knowledge)
        if isinstance(members, NotApplicable):
            yield not_applicable(attempt, members)
            return
        rows = _asked_rows(members, self.sides.targets, knowledge.person)
        members = members_of(members, knowledge.person)
        for against, others in self._strangers().items():
            strangers = others if isinstance(others, NotApplicable) else self._claims(attack, others)
            if isinstance(strangers, NotApplicable):
                yield not_applicable(attempt, strangers, {"against": against})
                continue
            for figure in score_members(members, strangers, against, rng):
                told = figure if self._expects(attempt) else figure.unexpected
                yield risk_row(attempt, replace(told, rows=rows))

    def _made_from(self, attack: Attack) -> Iterator[Risk]:
        """Membership in a synthetic release: whom it was made from."""
        attempt, sides = Attempt(attack, self.adversary), self.sides.apart()
        if isinstance(sides, NotApplicable):
            yield not_applicable(attempt, sides, {"against": Control.OUTSIDERS})
            return
        claims: list[Claims] = []
        rows = self.sides.targets
        for who, knowledge in zip(("members", "others"), sides, strict=True):
            rng = stage(self.options.seed, attack.name, who)
            beliefs = Prior(knowledge.targets, self.sides.priors, self.release.sizes, None)  # nobody has a class
            found = attack.run(View(self.release, knowledge, beliefs), rng)
            if isinstance(found, NotApplicable):
                yield not_applicable(attempt, found, {"against": Control.OUTSIDERS})
                return
            if isinstance(found, MemberClaims):
                rows = rows if who == "others" else _asked_rows(found, rows, knowledge.person)
                found = members_of(found, knowledge.person)
            claims.append(found)
        rng, figures = stage(self.options.seed, attack.name), list[Figure]()
        match claims:
            case [MemberClaims() as members, MemberClaims() as strangers]:
                figures = score_members(members, strangers, Control.OUTSIDERS, rng)
            case [CloseClaims() as members, CloseClaims() as strangers]:
                figures = score_closeness(members, strangers)
        if not figures:
            yield not_applicable(attempt, NotApplicable("it compares two people of either group at least"))
        yield from (risk_row(attempt, replace(figure, rows=rows)) for figure in figures)

    def _strangers(self) -> dict[str, Knowledge | NotApplicable]:
        """Who is not in the release: real outsiders, and made-up people."""
        return {
            "outsiders": self._outsiders
            or NotApplicable(
                "no outsiders are known: give a population with people who are not in the release", Lacks.POPULATION
            ),
            "fakes": self.sides.invented(self._knowledge, MOST_FAKES)
            or NotApplicable("every combination of known values that could be invented belongs to somebody"),
        }

    def _claims(self, attack: Attack, knowledge: Knowledge) -> MemberClaims | NotApplicable:
        """Membership claims; suppressed rows are candidates for everybody here."""
        beliefs: Beliefs
        if self._found_by in BY_RECORDS:  # what is suppressed is near to everybody
            unsure = replace(knowledge, everybody=None)  # who is in the release is the question
            beliefs = by_records(self.release, unsure, self._found_by, Suppression.EXCLUDED)
        else:
            beliefs = Posterior(Matching(self.release, knowledge, Suppression.WILDCARD), Link.CONTAINMENT)
        claims = attack.run(View(self.release, knowledge, beliefs), stage(self.options.seed, attack.name))
        assert isinstance(claims, MemberClaims | NotApplicable)
        return claims


def _asked_rows(claims: MemberClaims, rows: Ints, person: Ints | None) -> Ints:
    """Of the rows of the targets those that were asked about; of each person the first."""
    asked = np.arange(len(rows)) if claims.asked is None else claims.asked
    return rows[asked] if person is None else rows[asked][np.unique(person[asked], return_index=True)[1]]
