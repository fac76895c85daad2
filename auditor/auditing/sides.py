"""The sides of a trial: who is attacked, with what is known and believed of them, and the truth about them.

- the *targets*, from the release;
- the same targets without it (the *baseline*);
- *outsiders*: people of the population who are not in the release (the *control*);
- *leave one out*: the targets, each with their own record taken out of the release (the control without outsiders);
- *other classes*: the targets, each with their whole class taken out (the same for attacks that learn from all classes).

Only this module and scoring read the provenance: to grant the class under the link model `class`, to leave a record out,
and to score.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from attacks.base import Attack, Lacks, NotApplicable, View
from auditor.auditing.folds import Fold, cut, without
from auditor.auditing.people import first_rows
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Control, Crowd, Figure, Truth
from auditor.auditing.scoring.people import per_person
from auditor.auditing.scoring.rows import Attempt
from auditor.auditing.subjects import Subject
from auditor.measure.points import columns_of_values
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge, drawn_people
from auditor.model.packing import Hashes
from auditor.model.record.meaning import Goal
from auditor.model.release import Release, Suppression
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.posterior.beliefs import Beliefs, Prior, Some
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import Nearest, WithoutOwn
from auditor.posterior.informed import by_records
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import BY_RECORDS, Link
from auditor.posterior.posterior import Posterior
from scenarios.adversaries import Adversary
from scenarios.fakes import fake_tuples
from scenarios.options import Options
from scenarios.simulators import Setting, Simulator, register_of

MOST_CONTROLS = 20_000
MOST_ENTRIES = 2_000_000
LEAST_SAMPLE = 200
LEAST_APART = 20


def too_few_outsiders(count: int) -> str:
    """Why people who are in the data cannot be set against others, in words."""
    there = "nobody is" if not count else "only 1 person is" if count == 1 else f"only {count} people are"
    return (
        f"{there} known to be outside of the data, and it takes at least {LEAST_APART}: give --holdout (people who are "
        "certainly not in it) or --population (people at large), or make the release from one half of the people (auditor "
        "anonymize --holdout)"
    )


class Sides:
    """The sides of trials on one release; `facing` gives those of one adversary."""

    def __init__(self, subject: Subject, options: Options) -> None:
        self.subject, self.options, self.release = subject, options, subject.release
        self.everybody, self.notes = self._targets()
        self.targets = self.everybody
        self.priors = self._priors()
        population = subject.population if subject.has_original else None
        listed = population is not None and not subject.release.synthetic
        self.register = register_of(population) if listed and population is not None else None
        self._acquainted = np.empty(0, dtype=np.int64)
        self._simulator: Simulator | None = None
        self._left: dict[bytes, LeaveOneOut | WithoutOwn] = {}
        self._left_of: Posterior | Nearest | None = None
        self._others: dict[Link, list[tuple[Release, Ints, Side]]] = {}
        self._apart_from: dict[int, tuple[Release, Knowledge]] = {}
        self._matched: dict[tuple[int, int], Matching] = {}
        self._truths: dict[str | None, Truth | None] = {}
        self._parts: dict[bytes, Release] = {}
        self._cuts: dict[bytes, list[Fold]] = {}
        self._crowds: dict[bool, Crowd] = {}

    def facing(self, adversary: Adversary) -> Sides:
        """The sides of trials by one adversary, who does not attack the people they know already."""
        subject, turned = self.subject, copy(self)
        turned.targets, turned._acquainted = self.everybody, np.empty(0, dtype=np.int64)
        turned._simulator, turned._left_of = None, None
        turned._left, turned._others, turned._apart_from, turned._matched, turned._truths = {}, {}, {}, {}, {}
        if subject.people is None or subject.provenance is None or not subject.has_original:
            return turned
        made = subject.provenance
        released = made.made_from if self.release.synthetic and made.made_from is not None else made.bucket >= 0
        beside = subject.population, self.register, subject.outsiders, subject.others, subject.maker, subject.owner
        setting = Setting(subject.people, released, self.release, self.priors, *beside)
        turned._simulator = Simulator(adversary, setting, self.options.seed)
        named = None if self.options.targets is None else self.everybody
        turned._acquainted = turned._simulator.acquainted(named)
        if len(turned._acquainted):
            theirs = subject.rows_of(turned._acquainted)
            turned.targets = self.everybody[~np.isin(self.everybody, theirs)]
        return turned

    def _targets(self) -> tuple[Ints, list[str]]:
        """The original rows that are attacked, and notes on those that are not."""
        subject = self.subject
        if subject.people is None or subject.provenance is None:
            return np.empty(0, dtype=np.int64), []
        if subject.sample is not None:
            return subject.sample.targets, []
        wanted = np.arange(subject.people.rows)
        if self.options.targets is not None:
            wanted = np.array(self.options.targets, dtype=np.int64)
            if len(wanted) and (wanted.min() < 0 or wanted.max() >= subject.people.rows):
                raise UsageError(f"targets must be rows from 1 to {subject.people.rows}.")
            wanted = subject.rows_of(wanted)
        return self._attackable(wanted)

    def _attackable(self, wanted: Ints) -> tuple[Ints, list[str]]:
        """Those of some rows that can be attacked, and notes on the others."""
        subject, notes = self.subject, list[str]()
        assert subject.provenance is not None
        bucket, made_from = subject.provenance.bucket, subject.provenance.made_from
        if made_from is not None:  # the others are outsiders
            outside = int((~made_from[wanted]).sum())
            if outside and self.options.targets is not None:
                notes.append(
                    f"{outside} of {len(wanted)} {'targets' if subject.person is None else 'rows of targets'} are outsiders: "
                    "the release was not made from them, and they are not attacked."
                )
            wanted = wanted[made_from[wanted]]
        if self.release.synthetic:
            return wanted, notes
        out, rows = bucket[wanted] < 0, "targets" if subject.person is None else "rows of targets"
        if out.any():
            notes.append(f"{int(out.sum())} of {len(wanted)} {rows} are not in the release and are not attacked.")
        withheld = ~out & self.release.suppressed[bucket[wanted]]
        if withheld.any() and self.options.suppression is Suppression.EXCLUDED:
            notes.append(
                f"{int(withheld.sum())} of {len(wanted)} {rows} have all quasi-identifiers suppressed and are left out "
                "of the figures based on classes."
            )
            out |= withheld
        return wanted[~out], notes

    def _priors(self) -> dict[str, Floats]:
        """The share of each sensitive value among people at large: in the original, else in the release itself."""
        priors = {}
        for column in self.release.sensitive:
            domain = self.release.labels[column].domain
            people = self.subject.people
            if self.subject.has_original and people is not None and _is_known(people, column):
                codes = people.codes[column]
                if self.subject.person is not None:  # a value counts once for each person who has it
                    codes = codes[first_rows(self.subject.person, codes)]
                counts = np.bincount(codes, minlength=domain.size).astype(np.float64)
            else:
                labels = self.release.labels[column]
                used = self.release.label_counts(column)
                counts = np.zeros(domain.size)
                for label in np.flatnonzero(used):
                    codes = labels.codes(int(label))
                    counts[codes] += used[label] / max(len(codes), 1)
            priors[column] = counts / max(counts.sum(), 1.0)
        return priors

    @cached_property
    def untrue(self) -> float:
        """The share of the people in the release whose published quasi-identifiers do not cover their own."""
        release, people, provenance = self.release, self.subject.people, self.subject.provenance
        if people is None or provenance is None or not self.subject.has_original or release.synthetic:
            return 0.0
        inside = np.flatnonzero(provenance.bucket >= 0)
        true = np.ones(len(inside), dtype=np.bool_)
        for column in release.quasi:
            number = release.block_number(column)
            label = release.blocks[number].cell(column)[provenance.fragment[inside, number]]
            true &= release.labels[column].covers(label, people.codes[column][inside])
        if self.subject.person is not None:  # a person is covered where any of their records covers them
            _, whose = np.unique(self.subject.person[inside], return_inverse=True)
            true = np.bincount(whose, weights=true) > 0
        return float(1 - true.mean()) if len(inside) else 0.0

    def knowledge(self) -> Knowledge:
        """What the adversary knows of the targets."""
        assert self.subject.people is not None
        return self._known(self.subject.people, self.targets, "people")

    def outsiders(self) -> Knowledge | None:
        """What the adversary knows of people who are not in the release; None where there are none."""
        population, rows = self.subject.population, self._outsider_rows()
        return None if population is None or not len(rows) else self._known(population, rows, "population")

    def apart(self) -> tuple[Knowledge, Knowledge] | NotApplicable:
        """What the adversary knows of the people from whom a synthetic release was made, and of others: all that is
        published, unless they know certain columns only. A part of the outsiders is the sample that the adversary learns
        from."""
        population, people, owner = self.subject.population, self.subject.people, self.subject.owner
        rows, reference = self._outsider_rows(), self.subject.reference
        unit = rows if owner is None else owner[rows]
        if population is None or len(np.unique(unit)) < LEAST_APART:
            return NotApplicable(too_few_outsiders(len(np.unique(unit))), Lacks.POPULATION)
        if reference is None:
            order = np.argsort(self._contents(population)[rows], kind="stable")
            units = unit[order][np.sort(np.unique(unit[order], return_index=True)[1])]
            mixed = stage(self.options.seed, "reference").permutation(units)
            learned = np.isin(unit, mixed[: len(mixed) // 2])
            reference, rows = population.take(rows[learned], "reference"), rows[~learned]
        assert people is not None
        reference = reference.take(reference.in_order(), "reference")
        members = self._whole_record(people, self.targets, "people", reference)
        others = self._whole_record(population, rows, "population", reference)
        return members, others

    def _whole_record(self, table: Table, rows: Ints, who: str, reference: Table) -> Knowledge:
        """All that is published of people, as this adversary knows it."""
        known, simulator = self._known(table, rows, who), self._simulator
        if simulator is None:
            return replace(known, auxiliary=reference)
        listed = columns_of_values(self.release) if simulator.adversary.knows is None else known.columns
        tables = (self.subject.people, self.subject.population, reference)
        columns = tuple(c for c in listed if all(one is not None and c in one.codes for one in tables))
        codes = simulator.seen(table.matrix(columns), columns, who, table.in_order())[rows]
        return replace(known, columns=columns, codes=codes, auxiliary=reference)

    def invented(self, knowledge: Knowledge, count: int) -> Knowledge | None:
        """What the adversary would know of people who do not exist; None where nobody can be invented."""
        people = self.subject.people
        codes = knowledge.codes if people is None else people.matrix(knowledge.columns)
        made = fake_tuples(codes, count, stage(self.options.seed, "fakes"))
        if not len(made):
            return None
        if self._simulator is not None:
            made = self._simulator.seen(made, knowledge.columns, "fakes")
        return replace(knowledge, codes=made, granted=None, not_values={}, person=None)

    def main(self, knowledge: Knowledge, matching: Matching, link: Link) -> Side:
        """The targets, from the release."""
        return Side(None, knowledge, self._beliefs(self.release, knowledge, link, matching), self.truth)

    def matching(self, knowledge: Knowledge) -> Matching:
        """The targets matched with the release, their class granted for the link model that may know it."""
        assert self.subject.provenance is not None
        bucket = None if self.release.synthetic else self.subject.provenance.bucket[self.targets]
        granted = replace(knowledge, granted=bucket)
        return Matching(self.release, granted, self.options.suppression)

    def outside(self, outsiders: Knowledge, link: Link) -> Side:
        """People who are not in the release."""
        beliefs = self._beliefs(self.release, outsiders, link)
        return Side(Control.OUTSIDERS, outsiders, beliefs, cache(self.outside_truth))

    def _beliefs(
        self, release: Release, knowledge: Knowledge, link: Link, matching: Matching | None = None
    ) -> Posterior | Nearest:
        """What is believed under a link model, from the matching where there is one already."""
        suppression, weighting = self.options.suppression, self.options.weighting
        if link in BY_RECORDS:
            return by_records(release, knowledge, link, suppression, weighting)
        if matching is None:
            key = id(release), id(knowledge)  # nothing else has these, since the matching holds both
            if key not in self._matched:
                self._matched[key] = Matching(release, knowledge, suppression)
            matching = self._matched[key]
        return Posterior(matching, link, weighting)

    def blind(self, side: Side) -> Side:
        """The same people for an adversary without the release."""
        release, excluded = self.release, self.options.suppression is Suppression.EXCLUDED
        counted = np.where(release.suppressed & excluded, 0, release.sizes)
        others = None if release.beyond is None else release.beyond.class_sizes(with_withheld=not excluded)
        prior = Prior(side.beliefs.targets, self.priors, counted, side.knowledge.membership, others)
        return Side(None, side.knowledge, prior, _hidden(side.truth), blind=True)

    def left_out(self, main: Side, attack: Attack, column: str | None) -> Side:
        """The targets, each with their own record left out: all of them, or a sample where their posteriors over many
        values would not fit into memory."""
        posterior = main.beliefs
        assert isinstance(posterior, Posterior | Nearest)
        if self._left_of is not posterior:
            self._left_of, self._left = posterior, {}
        which = np.arange(len(self.targets))
        left = self._without(posterior, which)
        if attack.goal is Goal.ATTRIBUTE and column is not None:
            values = posterior.values(column)
            which = np.flatnonzero(left.matched)  # nothing is left to attack of the others
            load = np.diff(values.rows.indptr)[values.row_of[which]]
            if load.sum() > MOST_ENTRIES:
                count = max(int(MOST_ENTRIES / load.mean()), LEAST_SAMPLE)
                which = which[np.argsort(self._contents(self.subject.people)[self.targets[which]], kind="stable")]
                rng = stage(self.options.seed, "leave one out")
                which = np.sort(rng.choice(which, min(count, len(which)), replace=False))
        if len(which) < len(self.targets):
            left = self._without(posterior, which)

        def truth(wanted: str | None) -> Truth | None:
            known = _hidden(main.truth)(wanted)
            chosen = np.zeros(len(self.targets), dtype=np.bool_)
            chosen[which] = True
            return None if known is None else known.take(chosen)

        return Side(Control.LEAVE_ONE_OUT, main.knowledge.take(which), left, cache(truth))

    def _without(self, posterior: Posterior | Nearest, which: Ints) -> LeaveOneOut | WithoutOwn:
        """The beliefs about some of the targets with each one's own record left out."""
        key = which.tobytes()
        if key not in self._left:
            full = posterior if len(which) == len(self.targets) else posterior.take(which)
            bucket, fragment = self.records(self.targets[which])
            made = full.without(bucket, fragment) if isinstance(full, Nearest) else LeaveOneOut(full, bucket, fragment)
            self._left[key] = made
        return self._left[key]

    @cached_property
    def _folds(self) -> list[Fold]:
        """The targets in folds of whole classes; those of a person, where somebody has several records."""
        people, provenance, person = self.subject.people, self.subject.provenance, self.subject.person
        assert provenance is not None
        key = self.targets.tobytes()
        if key not in self._cuts:
            bucket = provenance.bucket.astype(np.int64)
            unit = bucket if person is None else person.astype(np.int64)
            # With the acquaintances: they are others where targets are named, and folds must not be.
            named = self.options.targets is not None
            everybody = self._attackable(np.arange(len(bucket)))[0] if named else self.everybody
            self._cuts[key] = cut(self.release, bucket, everybody, unit, self._contents(people), self.targets)
        return self._cuts[key]

    def other_classes(self, main: Side, link: Link, usual: Link) -> list[tuple[Release, Ints, Side]]:
        """The targets fold by fold, as if they were not in the release: it is without their classes. With each release come
        the places of these targets among all. Nothing is granted, and acquaintances whose class is taken out are not known
        either. Kept are those of this link and of the `usual` one, which stands in for others too."""
        found = self._others.get(link)
        if found is None:
            self._others = {one: sides for one, sides in self._others.items() if one is usual}
            found = self._others[link] = [self._apart(main, link, number) for number in range(len(self._folds))]
        return found

    def _apart(self, main: Side, link: Link, number: int) -> tuple[Release, Ints, Side]:
        fold = self._folds[number]
        if number not in self._apart_from:
            self._apart_from[number] = self._left_for(main.knowledge, fold)
        release, knowledge = self._apart_from[number]
        chosen = np.zeros(len(self.targets), dtype=np.bool_)
        chosen[fold.people] = True

        def truth(wanted: str | None) -> Truth | None:
            known = _hidden(main.truth)(wanted)
            if known is None:
                return None
            known = known.take(chosen)
            return replace(known, bucket=np.full_like(known.bucket, -1), fragment=np.full_like(known.fragment, -1))

        beliefs = self._beliefs(release, knowledge, link)
        return release, fold.people, Side(Control.OTHER_CLASSES, knowledge, beliefs, cache(truth))

    def _left_for(self, knowledge: Knowledge, fold: Fold) -> tuple[Release, Knowledge]:
        """The release without the classes of a fold, and what is known of the targets in it."""
        provenance = self.subject.provenance
        assert provenance is not None
        kept = fold.held.tobytes()
        release = self._parts.get(kept)
        if release is None:  # one for all links and adversaries: attacks learn from it once
            release = self._parts[kept] = without(self.release, fold.held)
        knowledge = replace(knowledge.take(fold.people), granted=None)
        friends = knowledge.acquaintances
        if friends is not None:
            left = friends.take(np.flatnonzero(~fold.held[provenance.bucket[self._acquainted]]))
            knowledge = replace(knowledge, acquaintances=left if left.people else None)
        return release, knowledge

    def _known(self, table: Table, rows: Ints, who: str) -> Knowledge:
        if self._simulator is None:
            return Knowledge((), np.empty((len(rows), 0), dtype=np.int32), priors=self.priors)
        known = self._simulator.about(table, rows, who, self._acquainted)
        whose = self.subject.person if who == "people" else self.subject.owner
        known = replace(known, person=None if whose is None else whose[rows])
        if self.release.mechanism is not None and known.membership is None and not known.errors:
            known = replace(known, everybody=self._everybody(known.columns))
        return known if self.options.targets is None else replace(known, anybody=False)

    def _everybody(self, columns: tuple[str, ...]) -> Codes | None:
        """What is known of all people in the release by whoever knows that they are in it."""
        people, provenance = self.subject.people, self.subject.provenance
        if people is None or provenance is None or any(c not in people.codes for c in columns):
            return None
        return people.matrix(columns)[provenance.bucket >= 0]

    def _outsider_rows(self) -> Ints:
        rows = self.subject.outsiders
        if self._simulator is not None:  # people whom the adversary learned from are no control
            rows = np.setdiff1d(rows, self._simulator.sample)
        if self.options.half is not None and len(rows):
            rows = rows[np.argsort(self._contents(self.subject.population)[rows], kind="stable")]
            rows = np.sort(stage(self.options.seed, "halves", "outsiders").permutation(rows)[self.options.half :: 2])
        if len(rows) <= MOST_CONTROLS:
            return rows
        owner, rng = self.subject.owner, stage(self.options.seed, "controls")
        whose = None if owner is None else owner[rows]
        return rows[drawn_people(self._contents(self.subject.population)[rows], whose, MOST_CONTROLS, rng)]

    @staticmethod
    def _contents(table: Table | None) -> Hashes:
        """The contents of people: who is drawn does not depend on the order of rows."""
        assert table is not None
        return table.contents()

    def records(self, rows: Ints) -> tuple[Ints, Ints]:
        """The class and the fragments of some rows of the original."""
        provenance = self.subject.provenance
        assert provenance is not None
        return provenance.bucket[rows].astype(np.int64), provenance.fragment[rows].astype(np.int64)

    def truth(self, column: str | None) -> Truth | None:
        """The truth about the targets."""
        if column not in self._truths:
            self._truths[column] = self._truth(column)
        return self._truths[column]

    def _truth(self, column: str | None) -> Truth | None:
        people = self.subject.people
        assert people is not None
        truth = self._truth_of(people, self.targets, *self.records(self.targets), column)
        of_rows = (self.subject.person, self.subject.household)
        person, household = (None if one is None else one[self.targets] for one in of_rows)
        if truth is None:
            return None
        crowd = self._crowd(False)
        data = crowd if self.release.synthetic else None
        return replace(truth, crowd=crowd, person=person, household=household, data=data)

    def _crowd(self, outside: bool) -> Crowd:
        """Everybody in the data; or everybody outside of it, to stand in for them."""
        if outside not in self._crowds:
            people, provenance, population = self.subject.people, self.subject.provenance, self.subject.population
            assert people is not None
            assert provenance is not None
            if outside:
                assert population is not None
                rows = self.subject.outsiders
                nowhere = np.full((len(rows), len(self.release.blocks)), -1)
                person, made_from = self.subject.person, provenance.made_from
                everybody = np.arange(people.rows) if made_from is None else np.flatnonzero(made_from)
                size = len(everybody if person is None else np.unique(person[everybody]))
                owner = self.subject.owner
                crowd = Crowd(population.take(rows), rows, nowhere, size, None if owner is None else owner[rows])
            else:
                person, fragment, size = self.subject.person, provenance.fragment.astype(np.int64), people.rows
                rows = np.arange(people.rows)
                if provenance.made_from is not None:
                    rows = np.flatnonzero(provenance.made_from)
                    people, fragment, size = people.take(rows), fragment[rows], len(rows)
                    person = None if person is None else person[rows]
                if person is not None:
                    size = len(np.unique(person))
                    again = ~first_rows(person, provenance.bucket[rows])  # a person has one record in each class
                    fragment = np.where(again[:, None], -1, fragment)
                crowd = Crowd(people, rows, fragment, size, person)
            self._crowds[outside] = crowd
        return self._crowds[outside]

    def outside_truth(self, column: str | None) -> Truth | None:
        """The truth about people who are not in the release."""
        population, rows = self.subject.population, self._outsider_rows()
        assert population is not None
        nowhere = np.full(len(rows), -1)
        fragment = np.full((len(rows), len(self.release.blocks)), -1)
        truth = self._truth_of(population, rows, nowhere, fragment, column)
        household = None if self.subject.household is None else np.arange(len(rows))  # nobody outside is found anyway
        person = None if self.subject.owner is None else self.subject.owner[rows]
        if truth is None:
            return None
        data = self._crowd(False) if self.release.synthetic else None
        return replace(truth, reveal=False, crowd=self._crowd(True), person=person, household=household, data=data)

    def _truth_of(self, table: Table, rows: Ints, bucket: Ints, fragment: Ints, column: str | None) -> Truth | None:
        if column is None:
            return Truth(rows, bucket, fragment, reveal=self.options.reveal, table=table.take(rows))
        if column not in table.codes:
            return None
        codes = table.codes[column][rows].astype(np.int64)
        if (codes < 0).any():
            return None
        labels, number = self.release.labels[column], self.release.block_number(column)
        inside, shown = fragment[:, number] >= 0, np.ones(len(rows), dtype=np.bool_)
        own = self.release.blocks[number].cell(column)[fragment[inside, number]]
        shown[inside] = labels.counts[own] > 0
        return Truth(rows, bucket, fragment, codes, labels.domain, self.options.reveal, table.take(rows), shown=shown)


def _is_known(people: Table, column: str) -> bool:
    return column in people.codes and bool((people.codes[column] >= 0).all())


def _hidden(truth: Callable[[str | None], Truth | None]) -> Callable[[str | None], Truth | None]:
    """The same truth, whose values do not go into details."""

    def without_values(column: str | None) -> Truth | None:
        known = truth(column)
        return None if known is None else replace(known, reveal=False)

    return without_values


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A group of people under attack; `control` says of whom, where they are one. `truth(column)` is None where it is not
    known; `blind` says that the adversary has no release."""

    control: Control | None
    knowledge: Knowledge
    beliefs: Beliefs
    truth: Callable[[str | None], Truth | None]
    blind: bool = False

    def attempted(self, attack: Attack) -> Bools:
        """The people on whom an attack can be tried at all."""
        if attack.goal is Goal.ATTRIBUTE and attack.about_matched:
            return self.beliefs.matched
        return np.ones(self.beliefs.targets, dtype=np.bool_)

    def take(self, which: Bools) -> Side:
        """Some of the people."""
        if which.all():
            return self

        def truth(column: str | None) -> Truth | None:
            known = self.truth(column)
            return None if known is None else known.take(which)

        knowledge, beliefs = self.knowledge.take(np.flatnonzero(which)), Some(self.beliefs, which)
        return Side(self.control, knowledge, beliefs, cache(truth), self.blind)


def trial(attempt: Attempt, side: Side, release: Release, options: Options) -> list[Figure] | NotApplicable:
    """Runs an attack on a side and scores it."""
    attack, column = attempt.attack, attempt.column
    truth = side.truth(column)
    if truth is None:
        return NotApplicable(f"the true values of {column} are not known", Lacks.PEOPLE)
    if not side.beliefs.targets:
        return NotApplicable("no record fits what is known of anybody")
    conventions = options.suppression, options.cells
    link = None if side.blind else attempt.link  # without the release nobody is looked for
    view = View(release, side.knowledge, side.beliefs, link, column, side.blind, *conventions)
    claims = attack.run(view, stage(options.seed, attack.name))
    if isinstance(claims, NotApplicable):
        return claims
    return [per_person(figure, truth) for figure in score(claims, truth)]
