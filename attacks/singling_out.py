"""Singling out: exactly one person in the data has these values.

The first criterion of the European data protection authorities. From the release alone the adversary makes predicates
("born 1931, widowed, in North") that are to isolate one person in the original data, each from a record drawn at random. The
values of the record are taken one column after the other until nobody else is left. In a release of several blocks they are
those of one block first, then of fragments of the same class, which may or may not belong together.

Whoever guesses a predicate that one in n people meets isolates somebody in 37 % of cases, without any release. So only
predicates count that hardly anybody would meet (Cohen and Nissim ask for a negligible weight w): among as many fresh people
as are in the data at most `weight` are expected to, n·w ≤ 0.1. By chance these isolate somebody in n·w·(1-w)^(n-1), at most 9
% of cases, which is the control unless there are real outsiders. Where all values of a record leave several people, or more
weight than that, they are narrowed to a part of their labels: k-anonymity does not hinder that, and it gains something where
a class has a smaller weight than its people's share of the data. How rare a part of a label is cannot be read off the
release: such predicates isolated people outside of it twice as often as their weights said. So for these the control is the
most that any weight gives by chance, 37 %, unless there are real outsiders. Of a record whose values are too common no
predicate is made (`detail.records_tried` says of how many it was tried): success is about an adversary who may choose whom to
single out, but who must come up with many predicates, not with the one that is likeliest to isolate.

`success` is by the quasi-identifiers, the values by which people may be recognised; `success_all` by all published values.
An exact income singles out whoever has it, however coarse the rest is: the second figure says so, the first tells releases
apart all the same.

Papers: Article 29 Working Party, Opinion 05/2014; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling
out", PNAS 2020; M. Giomi et al., "Anonymeter", PoPETs 2023.

Decided here: the weight is not known, and is estimated from the release (`ReleasedPeople.weight`). Nothing is known of the
people but what is published, so it does not matter who attacks. Where labels are wide, how their people are spread over them
is known only from narrower ones (a few steps of EM): the adversary may expect too much, so nothing is expected.
Anonymeter claims the predicates that are likeliest to isolate; there are a few hundred of them in almost any release, so
that their success does not tell one from another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attacks.base import Lacks, NotApplicable, Rows, View, WholeAttack
from attacks.claims import Claims, PredicateClaims, SeveralClaims
from auditor.measure.isolation import by_chance, exactly_one
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.packing import mixed
from auditor.model.record.meaning import Criterion, Goal, Measure
from auditor.model.release import DERIVED, Release
from auditor.model.schema import Role
from auditor.posterior.population import IndependentPopulation
from auditor.posterior.predicates import Meeting, ReleasedPeople

Predicate = dict[str, Bools]
Shares = dict[str, Floats]
Conditions = tuple[tuple[str, int], ...]
"""Labels (or values) of some columns."""

CANDIDATES = 2
"""How many records are looked at for each predicate that may be claimed."""
_ONE = 1.5
"""Below so many people expected to meet a predicate nobody else is likely to be left."""
_NEAR = 0.1
"""By how much of the wanted share narrowed values may differ from the best."""
_UP = 1 + 1e-6
"""What is above a limit by less than this is at it."""
NONE = -1
"""A block in which a class has no fragment."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A predicate, its weight, the probability with which it is believed to isolate somebody, and whether it allows a part of
    a label only."""

    predicate: Predicate
    weight: float
    belief: float
    narrowed: bool = False


@dataclass(frozen=True)
class SinglingOut(WholeAttack):
    """Describes people by up to `predicates` predicates, of at most `attributes` values each. Of as many fresh people as are
    in the release at most `weight` may be expected to fit a description."""

    name = "singling-out"
    title = "describing one person"
    summary = "Describes people of the release by values that hardly anybody has, and that one person in the data has."
    paper = "Article 29 Working Party 2014; Cohen & Nissim 2020; Giomi et al. 2023"
    goal = Goal.IDENTITY
    claim = "Exactly one person in the data has these values."
    needs = "Nothing but the release; to be scored, the original data."
    success = "Exactly one person of the original data meets the predicate, which hardly anybody else would."
    lowered_by = "Coarser values in all columns, not only the quasi-identifiers; fewer columns."
    criterion = Criterion.SINGLING_OUT
    anybody = True
    rows = Rows.EITHER
    measures = (
        Measure(
            "success",
            "Share of descriptions by quasi-identifiers, so rare that hardly anybody would fit them, that fit exactly one "
            "person in the data.",
            "of {n} descriptions by quasi-identifiers, so rare that hardly anybody would fit them, {rate}{interval} fit "
            "exactly one person in the data",
            label="people singled out",
        ),
        Measure(
            "success_all",
            "The same by all published values, sensitive ones included.",
            "of {n} descriptions by all published values, so rare that hardly anybody would fit them, {rate}{interval} fit "
            "exactly one person in the data",
            label="people singled out by all values",
        ),
    )
    support = ("success_all",)
    caption = "Singling out: a description fits one person"
    least = (("predicates", 1), ("attributes", 2))

    predicates: int = 500
    attributes: int | None = None
    weight: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.weight <= 1:
            raise UsageError(f"singling-out: weight must be above 0 and at most 1. Got {self.weight}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, hidden = view.release, (Role.WEIGHT, Role.CHOICE)
        roles = {name: column.role for name, column in release.schema.columns.items()}
        columns = _by_content(release, [c for c in release.columns if c not in DERIVED and roles[c] not in hidden])
        if not columns:
            return NotApplicable("no column of the original is published.")
        if not view.knowledge.columns:
            return NotApplicable("without the original nobody can be singled out in it.", Lacks.PEOPLE)
        quasi = [column for column in columns if column in release.quasi]
        by = {"success": quasi} if quasi else {}
        if len(quasi) < len(columns):
            by["success_all"] = columns
        return SeveralClaims(tuple(self._claims(view, some, measure, rng) for measure, some in by.items()))

    def _claims(self, view: View, columns: list[str], measure: str, rng: np.random.Generator) -> PredicateClaims:
        release = view.release
        maker = _Guesser(release, columns, self.weight) if view.blind else _Reader(release, columns, self.weight)
        different: dict[
            tuple[tuple[str, bytes], ...], Candidate
        ] = {}  # the people of a class may give the same predicate
        tried = 0
        for one in maker.made(min(self.predicates * CANDIDATES, release.rows), self.attributes, rng):
            if one is not None:
                different[tuple((c, one.predicate[c].tobytes()) for c in sorted(one.predicate))] = one
            tried += 1
            if len(different) == self.predicates:
                break
        found = list(different.values())
        weight, belief = (np.array([getattr(one, name) for one in found]) for name in ("weight", "belief"))
        narrowed, params = np.array([one.narrowed for one in found], dtype=np.bool_), {"weight": self.weight}
        return PredicateClaims(tuple(one.predicate for one in found), weight, belief, params, tried, measure, narrowed)


class _Reader:
    """Makes predicates from a release; of as many fresh people at most `most` are expected to meet one."""

    def __init__(self, release: Release, columns: list[str], most: float) -> None:
        self.release, self.columns = release, columns
        self.people = ReleasedPeople(release, columns, IndependentPopulation.fitted(release).shares)
        self.most = most / max(release.rows, 1) * _UP
        self.order = _settled(release)
        self._ends = np.cumsum([len(fragments) for fragments in self.order[0]])
        self._values: dict[tuple[str, int], Bools] = {}

    def made(self, most: int, attributes: int | None, rng: np.random.Generator) -> Iterator[Candidate | None]:
        """A predicate for each of some records at random; None where there is none that light."""
        drawn = rng.choice(int(self._ends[-1]), min(most, int(self._ends[-1])), replace=False)
        return (self._candidate(self._drawn(int(number), attributes, rng), rng) for number in drawn)

    def _drawn(self, number: int, attributes: int | None, rng: np.random.Generator) -> Conditions:
        """A record, its labels in the order in which they are taken: those of one block first, then those of fragments of
        the same class."""
        bucket = int(np.searchsorted(self._ends, number, side="right"))
        own = self._ends[bucket] - number - 1
        fragments = [cells[bucket] for cells in self.order]
        chosen = [int(f[own] if place == 0 else rng.choice(f)) if len(f) else NONE for place, f in enumerate(fragments)]
        cells = {
            column: int(cell)
            for block, fragment in zip(self.release.blocks, chosen, strict=True)
            if fragment != NONE
            for column, cell in zip(block.columns, block.cells[fragment], strict=True)
        }
        columns = [c for c in self.columns if c in cells]
        columns = [columns[i] for i in rng.permutation(len(columns))]
        first = self.release.block_of(columns[0]).columns
        columns.sort(key=lambda column: column not in first)
        return tuple((c, cells[c]) for c in columns[:attributes])

    def _candidate(self, conditions: Conditions, rng: np.random.Generator) -> Candidate | None:
        """The values of some labels, taken one after the other until nobody else is left, and few would meet them."""
        predicate: Predicate = {}
        found: Meeting = {}
        weight = 1.0
        for place, (column, label) in enumerate(conditions):
            predicate[column] = self._allowed(column, label)
            found = self.people.meeting(column, predicate[column], found)
            last = place == len(conditions) - 1
            if last or self.people.expected(found) < _ONE:
                weight = self.people.weight(predicate)
                if weight <= self.most:
                    break
        values, narrowed = {column: np.count_nonzero(allowed) for column, allowed in predicate.items()}, False
        for column in sorted(predicate, key=lambda c: (-values[c], self.columns.index(c))):
            people = self.people.expected(found)
            wanted = min(self.most / weight, 1 / people if people >= _ONE else 1.0)
            if wanted >= 1:
                break
            if values[column] > 1:
                predicate[column], narrowed = (
                    _run(predicate[column], self.people.sets[column].shares, wanted, rng),
                    True,
                )
                found = self.people.meeting(column, predicate[column], found)
                weight = self.people.weight(predicate)
        if weight > self.most:
            return None
        return Candidate(predicate, weight, exactly_one(*self.people.chances(found)), narrowed)

    def _allowed(self, column: str, label: int) -> Bools:
        """The values of a label."""
        allowed = self._values.get((column, label))
        if allowed is None:
            allowed = np.zeros(self.release.labels[column].domain.size, dtype=np.bool_)
            allowed[self.people.sets[column].codes(label)] = True
            self._values[column, label] = allowed
        return allowed


class _Guesser:
    """Makes predicates without a release: any values, so many of them that the wanted number of people would have them."""

    def __init__(self, release: Release, columns: list[str], most: float) -> None:
        self.columns, self.shares = columns, IndependentPopulation.volume(release).shares
        self.n = max(release.rows, 1)
        self.most = most / self.n * _UP

    def made(self, most: int, attributes: int | None, rng: np.random.Generator) -> Iterator[Candidate | None]:
        """Values of some columns each, drawn at random; None where nothing is as rare as that."""
        least = min(2, len(self.columns))
        for _ in range(most):
            size = attributes or int(rng.integers(least, len(self.columns) + 1))
            yield self._candidate(rng.permutation(len(self.columns))[:size], rng)

    def _candidate(self, places: Ints, rng: np.random.Generator) -> Candidate | None:
        columns = [self.columns[place] for place in places]
        drawn = {c: int(rng.integers(len(self.shares[c]))) for c in columns}
        predicate = {c: np.arange(len(self.shares[c])) == value for c, value in drawn.items()}
        weight = float(np.prod([1 / len(self.shares[c]) for c in columns]))
        for column in columns:  # as many neighbours as may be
            size = len(self.shares[column])
            enough = min(max(int(self.most / weight), 1), size)
            near = np.argsort(np.abs(np.arange(size) - drawn[column]), kind="stable")
            predicate[column][near[:enough]] = True
            weight *= enough
        if weight > self.most:
            return None
        return Candidate(predicate, weight, float(by_chance(np.array([weight]), self.n)[0]))


def _run(allowed: Bools, shares: Floats, wanted: float, rng: np.random.Generator) -> Bools:
    """Of some values neighbours whose share among them is at most the wanted one, and near to it: any of those that come
    nearest; one value where every value has more. After the last value comes the first: otherwise those in the middle, which
    are the commonest of many columns, would be allowed more often than others."""
    codes = np.flatnonzero(allowed)
    share = shares[codes] / shares[codes].sum()
    running = np.concatenate([[0.0], np.cumsum(np.tile(share, 2))])
    start = np.arange(len(codes))
    end = np.maximum(np.searchsorted(running, running[start] + wanted * _UP, side="right") - 1, start + 1)
    end = np.minimum(end, start + len(codes))
    miss = np.abs(running[end] - running[start] - wanted)
    near = np.flatnonzero(miss <= miss.min() + _NEAR * wanted)
    begin = int(near[0] if len(near) == 1 else rng.choice(near))
    run = np.zeros(len(allowed), dtype=np.bool_)
    run[codes[np.arange(begin, end[begin]) % len(codes)]] = True
    return run


def _by_content(release: Release, columns: Sequence[str]) -> list[str]:
    """Columns in an order that depends on what is published in them, and only where that is the same on their names."""
    return sorted(columns, key=lambda column: (release.label_counts(column).tobytes(), column))


def _settled(release: Release) -> list[list[Ints]]:
    """For each block the fragments of each class, classes and fragments in an order that depends on what is published in
    them and not on where: classes by a hash of their content, fragments by their labels."""
    mark = np.zeros(len(release.sizes), dtype=np.uint64)
    numbers = []
    for place, block in enumerate(release.blocks):
        places = [block.columns.index(column) for column in _by_content(release, block.columns)]
        _, number = np.unique(block.cells[:, places], axis=0, return_inverse=True)
        numbers.append(number.reshape(-1))
        np.add.at(mark, block.bucket, mixed(numbers[-1:], len(number), start=place))
    rank = np.empty(len(mark), dtype=np.int64)
    rank[np.argsort(mark, kind="stable")] = np.arange(len(mark))
    settled = []
    for block, number in zip(release.blocks, numbers, strict=True):
        where = rank[block.bucket]
        order = np.lexsort((number, where))
        settled.append(np.split(order, np.searchsorted(where[order], np.arange(1, len(mark)))))
    return settled
