"""Beliefs of those who know the mechanism: Bayes' rule over what it would have published for a person.

With P(y | x) the probability that the mechanism publishes a record y for a person with the values x (`likelihoods.py`), the
record y_j is the person's with a probability that also depends on who else may have it.

- Whoever knows who is in the release knows the values of all of them (`Knowledge.everybody`). Each person has one record,
  and each record is one person's: the posterior is over all ways to assign them, and its margins are found by belief
  propagation. With L_ij = P(y_j | x_i), a message a_ij = 1 / Σ_{k≠j} L_ik b_ik says how free person i is for j beside
  other records, and b_ij = 1 / Σ_{k≠i} L_kj a_kj how free record j is beside other people; then p_ij / (1 - p_ij) = L_ij
  a_ij b_ij. Records that are alike, and people who are, count as often as they occur. Three rounds come close to the
  exact margins; more are too sure, and scaling rows and columns in turn is too cautious.
- Whoever does not know it weighs a record by L_j / q_j, where q_j = Σ P(y_j | x) over people at large: those on the list
  of the population or, without one, the records themselves, each standing for a person with these values. So do all about
  people who are not on their list of everybody, with q_j = Σ_k L_kj a_kj.

Swapped records are not independent: if one has another's values, that one has theirs. Belief propagation would take each
for an accident of its own, and be too sure. Nobody's beliefs are propagated there: b_j = 1 / Σ_k L_kj.

**Pruning.** Weights below e^-16 of a person's greatest are left out: the search is that of distances, with costs −log w.
Where very many records fit (`MOST_ENTRIES` for all people), only the likeliest are kept, never some of several that are
tied; who fits too many alike is not found at all. `lost` is the belief that is left out so. Among many
pairs the cut is narrower where more would fit than can be kept.

**Absence.** With L = Σ_j L_j / (n q_j), odds(in) = prior odds · L.

All known columns must be published in one block.

Papers: W. Winkler, "Re-identification Methods for Masked Microdata", 2004; B. Huang, T. Jebara, "Approximating the
Permanent with Belief Propagation", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.mechanism import RecordSwap
from auditor.model.packing import contents, distinct_rows
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import TIE, MemberBeliefs, meaning, spread
from auditor.posterior.distance import Nearest, Search
from auditor.posterior.likelihoods import EXCLUDED, MOST_OF_A_TABLE, costs, is_laid_out, table_of
from auditor.posterior.links import Link, Weighting
from auditor.posterior.matching import distinct_people, expand
from auditor.posterior.metric import Column, Metric
from auditor.posterior.pruned import beside, columns_of, nearest, tree_of

CUT = 16.0
"""Weights below e^-CUT of a person's greatest are left out."""
MOST_COMPARISONS = 3e9
"""The limit on compared pairs of a person and a record: about a minute's work."""
MOST_ENTRIES = 5_000_000
"""The most pairs that are kept."""
_LEAST_KEPT = 64
_A_PART = 1 << 22
_PROBED = 100
_MANY = 20_000_000
"""From so many pairs on, the cut is chosen by what some people need."""
_SWEEPS = 3
"""How often messages go round: more make beliefs too sure where many people are alike."""
_BELIEVED = 0.005
"""So much of the belief may be left out where expectations are told."""
_DIGITS = 9
_LEAST, _NOISE, _TINY = 1e-6, 1e-12, 1e-300


def no_mechanism(release: Release, columns: tuple[str, ...], people: int) -> str | None:
    """Why people with these known columns cannot be linked by the mechanism, or None."""
    if release.mechanism is None:
        return "no mechanism is published with the release"
    if release.beyond is not None:
        return "the release is held in part, and all records are needed to weigh one"
    known = [c for c in columns if c in release.columns]
    if not known:
        return "nothing that is published is known about the people"
    if len({release.block_number(c) for c in known}) > 1:
        return "what is known is published in several blocks"
    pairs = float(people) * release.rows
    if pairs > MOST_COMPARISONS:
        return (
            f"weighing every record for every person takes {pairs / 1e9:.0f} billion comparisons, above the limit of "
            f"{MOST_COMPARISONS / 1e9:.0f} billion; attack fewer people"
        )
    return None


class Likely(Search):
    """Finds the records that the mechanism may have made of people."""

    def __init__(self, release: Release, knowledge: Knowledge, suppression: Suppression) -> None:
        super().__init__(release, knowledge.columns, suppression, Metric.GOWER)
        self.knowledge, self.lost, self.cut = knowledge, 0.0, CUT

    @property
    def whole(self) -> bool:
        """Whether all columns that were swapped together are weighed together."""
        mechanism = self.release.mechanism
        assert mechanism is not None
        swapped = {change for c in self.columns if isinstance(change := mechanism.columns.get(c), RecordSwap)}
        everybody = self.knowledge.everybody
        people = 0 if everybody is None else len(everybody)
        return not swapped or people * len(self.patterns) <= MOST_OF_A_TABLE

    @cached_property
    def at_large(self) -> Floats:
        """log q of each pattern, but for a number that is the same for all."""
        if self._joint is not None:
            return self._joint.taken
        people, weight = self._support()
        order = np.argsort(contents(people.T, len(people)), kind="stable")
        probed = order[np.linspace(0, len(order) - 1, min(_PROBED, len(order))).astype(np.int64)]
        load = max(len(self._costly(people[probed], None)[0]) / len(probed), 1.0)
        some = order[np.linspace(0, len(order) - 1, min(int(MOST_ENTRIES / load) + 1, len(order))).astype(np.int64)]
        row, pattern, cost = self._costly(people[some], None)
        each = weight[some] / weight[some].sum()
        made = np.bincount(pattern, weights=np.exp(-cost) * each[row], minlength=len(self.patterns))
        own = np.exp(-self._own()) * self.records / self.records.sum()  # at least what a record makes of itself
        return np.asarray(np.log(np.maximum(np.where(made > 0, made, own), _TINY)))

    def _support(self) -> tuple[Codes, Floats]:
        """People at large, and how many each row stands for."""
        register = self.knowledge.register
        if register is not None and all(c in register.codes for c in self.columns):
            people, number = distinct_people(np.column_stack([register.codes[c] for c in self.columns]))
            return people, np.bincount(number, minlength=len(people)).astype(np.float64)
        return self._stand_ins, self.records

    @cached_property
    def _joint(self) -> _Joint | None:
        """The beliefs about everybody in the release at once, where all of them are known."""
        everybody = self.knowledge.everybody
        if everybody is None or not len(everybody) or not len(self.patterns):
            return None
        places = [self.knowledge.columns.index(c) for c in self.columns]
        people, number = distinct_people(everybody[:, places])
        times = np.bincount(number, minlength=len(people)).astype(np.float64)
        row, pattern, cost = self._costly(people, None)
        mechanism = self.release.mechanism
        assert mechanism is not None
        pairwise = any(isinstance(mechanism.columns.get(c), RecordSwap) for c in self.columns)
        least = np.full(len(people), np.inf)
        np.minimum.at(least, row, cost)
        likely = np.exp(least[row] - cost)  # what all records of a person have in common does not matter
        chance, taken = propagated(row, pattern, likely, times, self.records, 0 if pairwise else _SWEEPS)
        return _Joint(people, row, pattern, -np.log(np.maximum(chance, _TINY)), np.log(np.maximum(taken, _TINY)))

    @cached_property
    def _stand_ins(self) -> Codes:
        """The records as people: the value that each label is, or stands nearest to; -1 where it is no single one."""
        found = []
        for place, column in enumerate(self.columns):
            labels = self.release.labels[column]
            whole = spread(labels)
            single = np.diff(whole.indptr) == 1
            code = np.full(len(labels.texts), -1, dtype=np.int32)
            code[single] = whole.indices[whole.indptr[:-1][single]]
            found.append(code[self.patterns[:, place]])
        return np.column_stack(found).astype(np.int32)

    def _own(self) -> Floats:
        """What each pattern costs a person who has its values."""
        columns = self._columns(self._stand_ins)
        return beside(columns_of([one.distances for one in columns]), *_indices(columns))

    def _columns(self, people: Codes) -> list[Column]:
        errors = {c: e for c, e in self.knowledge.errors.items() if c in self.columns}
        return costs(self.release, self.columns, self.patterns, people, errors)

    def _costly(self, people: Codes, offset: Floats | None, above: Floats | None = None) -> tuple[Ints, Ints, Floats]:
        """Pairs of a person and a pattern whose cost is at most CUT above the person's least, and the cost of each. `offset`
        is added to the cost of each pattern; costs up to `above` are left out."""
        if not len(self.patterns) or not len(people):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        count = len(self.patterns)
        last = np.zeros((1, count)) if offset is None else offset[None, :]
        columns = [
            *self._columns(people),
            Column(last, np.zeros(len(people), dtype=np.int64), np.arange(count)),  # it tells all patterns apart
        ]
        shapes = columns_of([one.distances for one in columns])
        values, labels = _indices(columns)
        tree, order = tree_of(labels.astype(np.int32)), np.lexsort(values.T[::-1])
        above = np.full(len(people), -1.0) if above is None else above
        most, step = EXCLUDED / 2, max(_A_PART // count, 1)
        keep = max(MOST_ENTRIES // len(people), _LEAST_KEPT)
        found, believed, self.cut, seen = [], 0.0, CUT, 1.0
        if len(people) * count > _MANY:
            some = order[np.linspace(0, len(order) - 1, _PROBED).astype(np.int64)]
            _, starts, _, cost = nearest(shapes, tree, values[some], labels, above[some], 0.0, CUT, most)
            self.cut, seen = _narrower(starts, cost, keep)
        for begin in range(0, len(people), step):
            some = order[begin : begin + step]
            _, starts, pattern, cost = nearest(shapes, tree, values[some], labels, above[some], 0.0, self.cut, most)
            row = np.repeat(np.arange(len(some)), np.diff(starts))
            kept, share = _likeliest(row, cost, np.diff(starts), keep)
            believed += share
            found.append((some[row[kept]], pattern[kept], cost[kept]))
        self.lost = 1 - seen * believed / len(people)
        row, pattern, cost = (np.concatenate(part) for part in zip(*found, strict=True))
        by_row = np.argsort(row, kind="stable")
        return row[by_row], pattern[by_row], cost[by_row]

    def pairs(self, people: Codes, second: bool) -> tuple[Ints, Ints, Floats, Floats]:
        distance = np.full(len(people), np.inf)
        if not len(self.patterns) or not len(people):
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, np.empty(0), distance
        joint, offset = self._joint, self.at_large - self.at_large.min()
        lost, known = self.lost, np.full(len(people), -1)
        if second:
            row, _, cost = self._costly(people, offset)
            np.minimum.at(distance, row, cost)
            above = np.where(np.isfinite(distance), distance + self.cut, -1.0)
            distance = np.full(len(people), np.inf)
            row, pattern, cost = self._costly(people, offset, above)
            self.lost = lost
        else:
            known = known if joint is None else joint.find(people)
            strangers = np.flatnonzero(known < 0)
            row, pattern, cost = self._costly(people[strangers], offset)
            row = strangers[row]
            if joint is not None:
                self.lost = lost if not len(strangers) else max(lost, self.lost)
                listed = np.flatnonzero(known >= 0)
                more = joint.of(known[listed])
                row = np.concatenate([row, listed[more[0]]])
                pattern, cost = np.concatenate([pattern, more[1]]), np.concatenate([cost, more[2]])
        cost = np.round(cost, _DIGITS)  # sums in another order differ in their last digits, and ties must stay ties
        np.minimum.at(distance, row, cost)
        return row, pattern, np.exp(distance[row] - cost), distance


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """What is believed of everybody at once: pairs of a person and a pattern, ordered by person, with −log of the probability
    that one of its records is theirs; and log of how much of each pattern people take."""

    people: Codes
    row: Ints
    pattern: Ints
    cost: Floats
    taken: Floats

    def find(self, people: Codes) -> Ints:
        """The number of each of some people on the list; -1 for those who are not on it."""
        both = distinct_rows(np.vstack([self.people, people]).astype(np.int32))
        place = np.full(int(both.max(initial=-1)) + 1, -1)
        place[both[: len(self.people)]] = np.arange(len(self.people))
        return place[both[len(self.people) :]]

    def of(self, who: Ints) -> tuple[Ints, Ints, Floats]:
        """The pairs of some people of the list, numbered in their order."""
        first = np.searchsorted(self.row, who)
        count = np.searchsorted(self.row, who, side="right") - first
        place = expand(first, count)
        return np.repeat(np.arange(len(who)), count), self.pattern[place], self.cost[place]


def propagated(
    row: Ints, pattern: Ints, likely: Floats, people: Floats, records: Floats, sweeps: int
) -> tuple[Floats, Floats]:
    """By belief propagation, for pairs of a person and a pattern with these likelihoods: the probability that one of the
    records is the person's, and how much of each pattern is taken. `people` and `records` say how many each stands for."""
    often, held = people[row], records[pattern]
    free = 1 / _sums(row, likely * held, len(people))[row]
    for sweep in range(max(sweeps, 1)):
        taken = _sums(pattern, likely * free * often, len(records))
        if not sweeps:
            return likely / taken[pattern], taken
        open_to = 1 / _rest(taken[pattern], likely * free)
        total = _sums(row, likely * open_to * held, len(people))[row]
        left = 1 / _rest(total, likely * open_to)
        free = left if not sweep else np.sqrt(free * left)
    odds = likely * free * open_to
    return odds / (1 + odds), taken


def _sums(number: Ints, weight: Floats, size: int) -> Floats:
    """The sum of the weights with each number."""
    return np.bincount(number, weights=weight, minlength=size).astype(np.float64, copy=False)


def _rest(whole: Floats, part: Floats) -> Floats:
    """What is left without a part, never quite nothing."""
    return np.maximum(whole - part, _NOISE * whole)


def _indices(columns: list[Column]) -> tuple[Ints, Ints]:
    """The values of people and the labels of patterns, by number."""
    people, labels = (np.column_stack([getattr(one, name) for one in columns]) for name in ("value", "label"))
    return people.astype(np.int64), labels.astype(np.int64)


def _narrower(starts: Ints, cost: Floats, keep: int) -> tuple[float, float]:
    """The cut at which most of some people still have as many pairs as are kept, and the share of their belief within it."""
    rows = [np.sort(cost[begin:end]) for begin, end in pairwise(starts.tolist()) if end > begin]
    if not rows:
        return CUT, 1.0
    reach = [float(one[2 * keep] - one[0]) if len(one) > 2 * keep else CUT for one in rows]
    cut = min(float(np.quantile(reach, 0.8)), CUT)
    weight = [np.exp(one[0] - one) for one in rows]
    within = [float(each[each >= np.exp(-cut)].sum() / each.sum()) for each in weight]
    return cut, float(np.mean(within))


def _likeliest(row: Ints, cost: Floats, count: Ints, keep: int) -> tuple[Ints, float]:
    """The pairs to keep, at most so many of a row and never some of several that cost the same; and the share of the belief
    that they have, summed over rows."""
    starts, least = np.concatenate([[0], np.cumsum(count)]), np.full(len(count), np.inf)
    filled = np.flatnonzero(count)
    least[filled] = np.minimum.reduceat(cost, starts[filled]) if len(filled) else least[filled]
    weight = np.exp(least[row] - cost)
    total = np.bincount(row, weights=weight, minlength=len(count))
    kept = np.ones(len(row), dtype=np.bool_)
    for place in np.flatnonzero(count > keep).tolist():
        mine = slice(starts[place], starts[place + 1])
        limit = np.partition(cost[mine], keep)[keep]
        kept[mine] = cost[mine] < limit - TIE * max(limit, 1.0)
    believed = np.bincount(row[kept], weights=weight[kept], minlength=len(count))
    share = np.divide(believed, total, out=np.ones(len(total)), where=total > 0)
    return np.flatnonzero(kept), float(share.sum())


class Informed(Nearest):
    """The beliefs of an adversary who knows the mechanism; see `no_mechanism` for when there are none."""

    link = Link.MECHANISM
    search: Likely

    def __init__(
        self,
        release: Release,
        knowledge: Knowledge,
        suppression: Suppression,
        weighting: Weighting = Weighting.SIZE,
        metric: Metric = Metric.EUCLID,
    ) -> None:
        super().__init__(release, knowledge, suppression, weighting, metric)
        self.p = np.round(self.p, _DIGITS + 3)  # ties stay ties, whatever the order of the records

    def _searching(self, suppression: Suppression, metric: Metric) -> Likely:
        return Likely(self.release, self.knowledge, suppression)

    def meaning(self, column: str) -> sparse.csr_array:
        """By Bayes' rule, where the column was changed: its values at large, times the likelihood of the label."""
        release, prior = self.release, self.knowledge.priors[column]
        mechanism, labels = release.mechanism, release.labels[column]
        usual = meaning(release, column, prior)
        if mechanism is None or column not in mechanism.columns or not is_laid_out(labels):
            return usual
        every, used = np.arange(labels.domain.size, dtype=np.int32), np.arange(len(labels.texts), dtype=np.int32)
        cost = table_of(release, column, mechanism.columns[column], every, used)
        chance = (np.where(cost < EXCLUDED / 2, np.exp(-(cost - cost.min(axis=0))), 0.0) * prior[:, None]).T
        chance[chance < _LEAST * chance.max(axis=1, keepdims=True)] = 0.0
        total = chance.sum(axis=1)
        made = sparse.csr_array(chance / np.where(total > 0, total, 1.0)[:, None])
        if (total > 0).all():
            return made
        other = sparse.diags_array((total <= 0).astype(np.float64)) @ usual
        return sparse.csr_array(made + other)

    def calibrated(self, column: str | None) -> bool:
        """So they are where everybody is known, all that is known is right, and (nearly) no belief was left out."""
        codes, errors = self.tuples, self.knowledge.errors
        if self.knowledge.everybody is None or self.weighting is not Weighting.SIZE:
            return False
        if not self.targets or (codes < 0).any():
            return False
        if any(e.spread > 0 or e.stale > 0 for c, e in errors.items() if c in self.search.columns):
            return False
        if column is not None and self.release.labels[column].aliases:
            return False
        return self.search.whole and bool(self.search.lost <= _BELIEVED)

    def _present(self, prior: float | None) -> Floats:
        if prior is None or prior >= 1:
            return np.ones(self.targets)
        odds = prior / (1 - prior) * self._ratio()
        return np.asarray(np.where(np.isinf(odds), 1.0, odds / (1 + np.where(np.isinf(odds), 0.0, odds))))

    def _ratio(self) -> Floats:
        """How much likelier the release is with each target in it than without."""
        far, floor = self.entries.distance, float(self.search.at_large.min()) if len(self.search.patterns) else 0.0
        each = np.bincount(
            self.entries.row,
            weights=self.search.cells.count[self.entries.cell] * self.entries.weight,
            minlength=len(self.tuples),
        )
        with np.errstate(over="ignore", divide="ignore"):
            log = np.log(each) - np.where(np.isfinite(far), far, np.inf) - floor - np.log(max(self.release.rows, 1))
            ratio = np.exp(np.round(log, _DIGITS))
        return np.asarray(ratio[self.row_of])

    def membership(self, prior: float) -> MemberBeliefs:
        """Scores of being in the release; the degree is the likelihood of the record that fits best, over that at large."""
        near = super().membership(prior)
        best = np.where(np.isfinite(self.entries.distance), self.entries.distance, np.inf)
        return MemberBeliefs(near.buckets, (1 / (1 + best))[self.row_of], self._present(prior))


def links_of(release: Release) -> tuple[Link, ...]:
    """The links that a release asks for: that by the mechanism only where one is published."""
    return tuple(link for link in Link if link is not Link.MECHANISM or release.mechanism is not None)


def by_records(
    release: Release, knowledge: Knowledge, link: Link, suppression: Suppression, weighting: Weighting = Weighting.SIZE
) -> Nearest:
    """The beliefs under a link that goes by single records: by their distance, or by the mechanism."""
    kind = Informed if link is Link.MECHANISM else Nearest
    return kind(release, knowledge, suppression, weighting)
