"""Singling out: exactly one person in the data has these values.

The first criterion of the European data protection authorities. From the release alone the adversary makes predicates
("born 1931, widowed, in North") that are to isolate one person in the original data:

- `univariate`: one label of one column, or the lowest or highest published values of it;
- `multivariate`: labels of several columns of one record; in a release of several blocks fragments of one class are put
  together, which may or may not belong together.

Where a label holds more than one person, the values are narrowed to the share that one of them would have: k-anonymity
does not hinder that (Cohen and Nissim). Of many predicates those are claimed that are likeliest to isolate somebody.

Success alone means little: whoever guesses a predicate that one in n people meets isolates somebody in 37 % of cases. So
beside it stand the same predicates on people who are not in the data (the control), guesses from what is known of people
at large (the baseline), and what a predicate of that weight w isolates by chance, n·w·(1-w)^(n-1) (`detail.by_chance`).

Papers: Article 29 Working Party, Opinion 05/2014; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling
out", PNAS 2020; M. Giomi et al., "Anonymeter", PoPETs 2023.

Decided here: `expected` is what the adversary believes from the release; a predicate is claimed where that is at least half
of the best one's; weights are counted in the population where there is one, else products of the release's shares. Values are
taken at their word: where cells are those of a cluster's centre, or rows were left out, the adversary expects too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, PredicateClaims, SeveralClaims
from auditor.measure.isolation import by_chance, exactly_one, meeting
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.packing import mixed
from auditor.model.record.meaning import Criterion, Goal, Measure
from auditor.model.release import DERIVED, Release
from auditor.model.schema import Role, Type
from auditor.posterior.population import IndependentPopulation
from auditor.posterior.predicates import Meeting, ReleasedPeople

Predicate = dict[str, Bools]
Shares = dict[str, Floats]
Conditions = tuple[tuple[str, int], ...]
"""Labels (or values) of some columns."""
Candidate = tuple[Predicate, float]
"""A predicate, and the probability with which it is believed to isolate somebody."""

CANDIDATES = 2
"""How many predicates are looked at for each one that may be claimed."""
_CLAIMED = 0.5
_ONE = 1.5
"""Below so many people expected to meet a predicate nobody else is likely to be left."""
_NEAR = 0.1
"""By how much of the wanted share narrowed values may differ from the best."""
NONE = -1
"""A block in which a class has no fragment."""


@dataclass(frozen=True)
class SinglingOut(WholeAttack):
    """Claims up to `predicates` predicates of each kind. Those of several attributes have `attributes` of them, by default
    any number from two to all."""

    name = "singling-out"
    summary = "Makes predicates from the release that exactly one person in the data meets."
    paper = "Article 29 Working Party 2014; Cohen & Nissim 2020; Giomi et al. 2023"
    goal = Goal.IDENTITY
    claim = "Exactly one person in the data has these values."
    needs = "Nothing but the release; to be scored, the original data."
    success = "Exactly one person of the original data meets the predicate."
    lowered_by = "Coarser values in all columns, not only the quasi-identifiers; fewer columns."
    criterion = Criterion.SINGLING_OUT
    calibrated = True
    measures = (
        Measure(
            "success",
            "Share of descriptions that fit exactly one person in the data.",
            "{who} describes people so that {rate} of {n} descriptions{interval} fit exactly one person in the data",
            label="people singled out",
        ),
    )
    caption = "Singling out: a description fits one person"
    least = (("predicates", 1), ("attributes", 2))

    predicates: int = 500
    attributes: int | None = None

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        hidden = (Role.WEIGHT, Role.CHOICE)
        roles = {name: column.role for name, column in view.release.schema.columns.items()}
        columns = _by_content(
            view.release, [c for c in view.release.columns if c not in DERIVED and roles[c] not in hidden]
        )
        if not columns:
            return NotApplicable("no column of the original is published.")
        if not view.knowledge.columns:
            return NotApplicable("without the original nobody can be singled out in it.", Lacks.PEOPLE)
        shares, source = shares_at_large(view, columns)
        most = self.predicates * CANDIDATES
        maker = _Guesser(view, columns, shares) if view.blind else _Reader(view, columns, shares)
        parts = [
            self._claimed(view, maker.univariate(most, rng), shares, rng, {"kind": "univariate", "population": source})
        ]
        if len(columns) > 1:
            found = maker.multivariate(most, self.attributes, rng)
            parts.append(self._claimed(view, found, shares, rng, {"kind": "multivariate", "population": source}))
        return SeveralClaims(tuple(parts))

    def _claimed(
        self, view: View, found: list[Candidate], shares: Shares, rng: np.random.Generator, params: dict[str, str]
    ) -> PredicateClaims:
        """The likeliest of some predicates."""
        belief = np.array([believed for _, believed in found])
        good = likeliest(belief, self.predicates, rng)
        chosen = tuple(found[i][0] for i in good)
        weight = np.array([share_meeting(view, p, shares) for p in chosen])
        return PredicateClaims(chosen, weight, belief[good], params)


def likeliest(belief: Floats, most: int, rng: np.random.Generator) -> Ints:
    """The places of the predicates to claim: all that are at least half as likely as the best, up to the number allowed,
    among equally likely ones at random."""
    good = np.flatnonzero(belief >= _CLAIMED * belief.max(initial=0.0))
    if len(good) > most:
        good = np.sort(good[np.lexsort((rng.permutation(len(good)), -belief[good].round(9)))[:most]])
    return good


def shares_at_large(view: View, columns: Sequence[str]) -> tuple[Shares, str]:
    """The share of each value among people at large, and where it is from: the population, and for the rest the release
    itself (or, without it, every value alike). The shares of sensitive values that the audit grants are the data's own,
    and would say which values one person has."""
    release, register = view.release, view.knowledge.register
    rest = IndependentPopulation.volume(release) if view.blind else IndependentPopulation.from_release(release)
    shares = {}
    for column in columns:
        size = release.labels[column].domain.size
        if register is not None and column in register.codes:
            shares[column] = np.bincount(register.codes[column], minlength=size) / register.people
        else:
            shares[column] = rest.shares[column]
    return shares, rest.name if register is None else "register"


def share_meeting(view: View, predicate: Predicate, shares: Shares) -> float:
    """The share of people at large who meet a predicate."""
    register = view.knowledge.register
    known = {} if register is None else {c: a for c, a in predicate.items() if c in register.codes}
    weight = 1.0
    if register is not None and known:
        weight = max(len(meeting(known, register.codes, register.people)), 1) / register.people
    for column, allowed in predicate.items():
        if column not in known:
            weight *= float(shares[column][allowed].sum())
    return weight


class _Reader:
    """Makes predicates from a release."""

    def __init__(self, view: View, columns: list[str], shares: Shares) -> None:
        self.release, self.columns = view.release, columns
        self.people = ReleasedPeople(view.release, columns, shares)
        self.order = _settled(view.release)
        self._ends = np.cumsum([len(fragments) for fragments in self.order[0]])

    def univariate(self, most: int, rng: np.random.Generator) -> list[Candidate]:
        """One label of one column each, and what lies at its ends."""
        found: list[Candidate] = []
        for column in self.columns:
            used = np.unique(self.people.cells[column])
            labels: list[Conditions] = [((column, int(label)),) for label in used]
            found += [self._candidate(label, 1, rng) for label in _some(labels, most // len(self.columns) + 1, rng)]
            domain = self.release.labels[column].domain
            if domain.column.type is not Type.NOMINAL:
                lowest = np.arange(domain.size) <= self.people.sets[column].hi[used].min()
                highest = np.arange(domain.size) >= self.people.sets[column].lo[used].max()
                found += [({column: end}, self._belief(self.people.meeting(column, end))) for end in (lowest, highest)]
        return _distinct(found)

    def multivariate(self, most: int, attributes: int | None, rng: np.random.Generator) -> list[Candidate]:
        """Labels of several columns of one record each."""
        drawn = self._all(most, attributes)
        if drawn is None:
            drawn = list(dict.fromkeys(self._drawn(attributes, rng) for _ in range(most)))
        return _distinct([self._candidate(cells, attributes or 2, rng) for cells in drawn if len(cells) > 1])

    def _all(self, most: int, attributes: int | None) -> list[Conditions] | None:
        """All combinations, where they are few enough to look at."""
        found: dict[Conditions, None] = {}
        for bucket in range(len(self.release.sizes)):
            fragments = [cells[bucket].tolist() or [NONE] for cells in self.order]
            if sum(map(len, fragments)) > most:
                return None
            for whole in product(*fragments):
                cells = self._record(whole)
                columns = [c for c in self.columns if c in cells]
                for size in range(2, len(columns) + 1) if attributes is None else (min(attributes, len(columns)),):
                    for chosen in combinations(columns, size):
                        found[tuple((c, cells[c]) for c in chosen)] = None
                        if len(found) > most:
                            return None
        rank = {column: place for place, column in enumerate(self.columns)}
        return sorted(found, key=lambda conditions: [(rank[column], label) for column, label in conditions])

    def _drawn(self, attributes: int | None, rng: np.random.Generator) -> Conditions:
        """A record at random, with the order in which its labels are taken; half of the time of one block only, else
        from each block some fragment of one class."""
        bucket = int(np.searchsorted(self._ends, rng.integers(self.release.rows), side="right"))
        fragments = [cells[bucket] for cells in self.order]
        cells = self._record([int(rng.choice(f)) if len(f) else NONE for f in fragments])
        columns = [c for c in self.columns if c in cells]
        columns = [columns[i] for i in rng.permutation(len(columns))]
        if len(fragments) > 1 and rng.random() < 0.5:
            block = self.release.block_of(columns[0]).columns
            columns = [c for c in columns if c in block] if len(block) > 1 else columns
        return tuple((c, cells[c]) for c in columns[:attributes])

    def _record(self, fragments: Sequence[int]) -> dict[str, int]:
        """The labels of a fragment of each block that has one."""
        return {
            column: int(cell)
            for block, fragment in zip(self.release.blocks, fragments, strict=True)
            if fragment != NONE
            for column, cell in zip(block.columns, block.cells[fragment], strict=True)
        }

    def _candidate(self, conditions: Conditions, least: int, rng: np.random.Generator) -> Candidate:
        """The values of some labels, taken one after the other until nobody else is left, but at least so many. Where all
        of them leave several people, the values of the widest are narrowed to the share of one."""
        predicate: Predicate = {}
        found: Meeting = {}
        people = 0.0
        for column, label in conditions:
            allowed = np.zeros(self.release.labels[column].domain.size, dtype=np.bool_)
            allowed[self.people.sets[column].codes(label)] = True
            predicate[column] = allowed
            found = self.people.meeting(column, allowed, found)
            people = float(self.people.chances(found).sum())
            if people < _ONE and len(predicate) >= least:
                break
        widest = max(predicate, key=lambda c: (int(predicate[c].sum()), self.columns.index(c)))
        if people >= _ONE and predicate[widest].sum() > 1:
            predicate[widest] = _run(predicate[widest], self.people.sets[widest].shares, 1 / people, rng)
            found = self.people.meeting(widest, predicate[widest], found)
        return predicate, self._belief(found)

    def _belief(self, found: Meeting) -> float:
        return exactly_one(self.people.chances(found))


class _Guesser:
    """Makes predicates without a release: values of people at large, so many of them that one person would have them."""

    def __init__(self, view: View, columns: list[str], shares: Shares) -> None:
        self.columns, self.shares = columns, shares
        self.n = max(view.release.rows, 1)

    def univariate(self, most: int, rng: np.random.Generator) -> list[Candidate]:
        """One value of one column each."""
        values: list[Conditions] = [((c, int(v)),) for c in self.columns for v in np.flatnonzero(self.shares[c] > 0)]
        return [self._candidate(value) for value in _some(values, most, rng)]

    def multivariate(self, most: int, attributes: int | None, rng: np.random.Generator) -> list[Candidate]:
        """Values of several columns each, drawn by their shares, and widened until one in n people would meet them."""
        running = {c: np.cumsum(share) for c, share in self.shares.items()}
        found = []
        for _ in range(most):
            size = min(attributes or int(rng.integers(2, len(self.columns) + 1)), len(self.columns))
            chosen = [self.columns[i] for i in rng.permutation(len(self.columns))[:size]]
            drawn = [(c, int(np.searchsorted(running[c], rng.random() * running[c][-1], side="right"))) for c in chosen]
            found.append(self._candidate(tuple(drawn)))
        return _distinct(found)

    def _candidate(self, conditions: Conditions) -> Candidate:
        predicate = {c: np.arange(len(self.shares[c])) == value for c, value in conditions}
        weight = float(np.prod([self.shares[c][value] for c, value in conditions]))
        for column, value in conditions if len(conditions) > 1 else ():
            if weight * self.n >= 1 or weight <= 0:
                break
            share, mine = self.shares[column], float(self.shares[column][value])
            near = np.argsort(np.abs(np.arange(len(share)) - value), kind="stable")
            enough = int(np.searchsorted(np.cumsum(share[near]), mine / (weight * self.n))) + 1
            predicate[column][near[:enough]] = True
            weight *= float(share[predicate[column]].sum()) / mine
        return predicate, float(by_chance(np.array([weight]), self.n)[0])


def _run(allowed: Bools, shares: Floats, wanted: float, rng: np.random.Generator) -> Bools:
    """Of some values neighbours whose share among them is about the wanted one: any of those that come nearest to it."""
    codes = np.flatnonzero(allowed)
    share = shares[codes] / shares[codes].sum()
    running = np.concatenate([[0.0], np.cumsum(share)])
    start = np.arange(len(codes))
    longer = np.clip(np.searchsorted(running, running[start] + wanted), start + 1, len(codes))
    shorter = np.maximum(longer - 1, start + 1)
    misses = np.abs(running[np.stack([longer, shorter])] - running[start] - wanted)
    end, miss = np.where(misses[1] < misses[0], shorter, longer), misses.min(axis=0)
    near = np.flatnonzero(miss <= miss.min() + _NEAR * wanted)
    begin = int(near[0] if len(near) == 1 else rng.choice(near))
    run = np.zeros(len(allowed), dtype=np.bool_)
    run[codes[begin : end[begin]]] = True
    return run


def _some(items: list[Conditions], most: int, rng: np.random.Generator) -> list[Conditions]:
    """All items, or as many at random as may be."""
    if len(items) <= most:
        return items
    return [items[i] for i in np.sort(rng.choice(len(items), most, replace=False))]


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    seen = {tuple((c, p[c].tobytes()) for c in sorted(p)): (p, belief) for p, belief in candidates}
    return list(seen.values())


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
