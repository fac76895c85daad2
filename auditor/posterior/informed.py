"""Beliefs of those who know the mechanism: Bayes' rule over what it would have published for a person.

With P(y | x) the probability that the mechanism publishes a record y for a person with the values x (`likelihoods.py`), and
q(y) = Σ P(y | x) over people at large, the record y_j is the person's with a probability proportional to

    w_j = P(y_j | x) / q(y_j)

since all other records are of people at large. A record where many publish counts less than one as likely where few do. The
share q comes from the list of the population, where there is one. Otherwise it comes from the release: its records stand in
for people, and their shares are fitted by expectation maximisation until the mechanism makes of them what is published
(Richardson-Lucy; it undoes the noise). That needs nobody's true values, so that what is believed of somebody does not depend
on who else is asked for.

**Pruning.** Weights below e^-16 of a person's greatest are left out: the search is that of distances, with costs −log w. Where
very many records fit (`MOST_ENTRIES` for all people), only the likeliest are kept, never some of several that are tied; who
fits too many alike is not found at all. `lost` is the belief that is left out so.

**Absence.** With L = Σ_j w_j / n, odds(in) = prior odds · L.

All known columns must be published in one block.

Papers: W. Winkler, "Re-identification Methods for Masked Microdata", 2004; for the fit W. Richardson, "Bayesian-Based Iterative
Method of Image Restoration", 1972.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.packing import contents
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import TIE, MemberBeliefs, meaning, spread
from auditor.posterior.distance import Nearest, Search
from auditor.posterior.likelihoods import EXCLUDED, costs, is_laid_out, table_of
from auditor.posterior.links import Link, Weighting
from auditor.posterior.matching import distinct_people
from auditor.posterior.metric import Column, Metric
from auditor.posterior.pruned import beside, columns_of, nearest, tree_of

CUT = 16.0
"""Weights below e^-CUT of a person's greatest are left out."""
MOST_COMPARISONS = 3e9
"""The limit on compared pairs of a person and a record: about a minute's work."""
MOST_ENTRIES = 20_000_000
"""The most pairs that are kept."""
_LEAST_KEPT = 64
_A_PART = 1 << 22
_PROBED = 100
_ROUNDS = 8
_BELIEVED = 0.005
"""So much of the belief may be left out where expectations are told."""
_LEAST = 1e-6


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
        self.knowledge, self.lost = knowledge, 0.0

    @cached_property
    def at_large(self) -> Floats:
        """log q of each pattern."""
        people, weight, fit = self._support()
        order = np.argsort(contents(people.T, len(people)), kind="stable")
        probed = order[np.linspace(0, len(order) - 1, min(_PROBED, len(order))).astype(np.int64)]
        load = max(len(self._costly(people[probed], None)[0]) / len(probed), 1.0)
        some = order[np.linspace(0, len(order) - 1, min(int(MOST_ENTRIES / load) + 1, len(order))).astype(np.int64)]
        row, pattern, cost = self._costly(people[some], None)
        shape = (len(some), len(self.patterns))
        likely = sparse.csr_array((np.exp(-cost), (row, pattern)), shape=shape)
        share = weight[some] / weight[some].sum()
        there = self.records / self.records.sum()
        for _ in range(_ROUNDS if fit else 0):
            made = likely.T @ share
            ratio = np.divide(there, made, out=np.zeros(len(made)), where=made > 0)
            share = share * (likely @ ratio)
            share /= share.sum()
        made = likely.T @ share
        own = np.exp(-self._own()) * there  # at least what a record alone makes of itself
        least = np.maximum(own, np.finfo(np.float64).tiny)
        return np.asarray(np.log(np.where(made > 0, np.maximum(made, least * _LEAST), least)))

    def _support(self) -> tuple[Codes, Floats, bool]:
        """People at large, how many each row stands for, and whether their shares are to be fitted."""
        register = self.knowledge.register
        if register is not None and all(c in register.codes for c in self.columns):
            people, number = distinct_people(np.column_stack([register.codes[c] for c in self.columns]))
            return people, np.bincount(number, minlength=len(people)).astype(np.float64), False
        return self._stand_ins, self.records, True

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
        tree, order = tree_of(labels), np.lexsort(values.T[::-1])
        above = np.full(len(people), -1.0) if above is None else above
        most, step = EXCLUDED / 2, max(_A_PART // count, 1)
        keep = max(MOST_ENTRIES // len(people), _LEAST_KEPT)
        found, believed = [], 0.0
        for begin in range(0, len(people), step):
            some = order[begin : begin + step]
            _, starts, pattern, cost = nearest(shapes, tree, values[some], labels, above[some], 0.0, CUT, most)
            row = np.repeat(np.arange(len(some)), np.diff(starts))
            kept, share = _likeliest(row, cost, np.diff(starts), keep)
            believed += share
            found.append((some[row[kept]], pattern[kept], cost[kept]))
        self.lost = 1 - believed / len(people)
        row, pattern, cost = (np.concatenate(part) for part in zip(*found, strict=True))
        return row, pattern, cost

    def pairs(self, people: Codes, second: bool) -> tuple[Ints, Ints, Floats, Floats]:
        distance = np.full(len(people), np.inf)
        if not len(self.patterns) or not len(people):
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, np.empty(0), distance
        offset = self.at_large - self.at_large.min()
        row, pattern, cost = self._costly(people, offset)
        np.minimum.at(distance, row, cost)
        if second:
            lost, above = self.lost, np.full(len(people), -1.0)
            there = np.isfinite(distance)
            above[there] = distance[there] + CUT
            row, pattern, cost = self._costly(people, offset, above)
            self.lost, distance = lost, np.full(len(people), np.inf)
            np.minimum.at(distance, row, cost)
        return row, pattern, np.exp(distance[row] - cost), distance


def _indices(columns: list[Column]) -> tuple[Ints, Ints]:
    """The values of people and the labels of patterns, by number."""
    people, labels = (np.column_stack([getattr(one, name) for one in columns]) for name in ("value", "label"))
    return people.astype(np.int64), labels.astype(np.int64)


def _likeliest(row: Ints, cost: Floats, count: Ints, keep: int) -> tuple[Ints, float]:
    """The pairs to keep, at most so many of a row and never some of several that cost the same; and the share of the belief
    that they have, summed over rows."""
    least = np.full(len(count), np.inf)
    np.minimum.at(least, row, cost)
    weight = np.exp(least[row] - cost)
    total = np.bincount(row, weights=weight, minlength=len(count))
    kept = np.ones(len(row), dtype=np.bool_)
    starts = np.concatenate([[0], np.cumsum(count)])
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
        """So they are where all that is known is right, and (nearly) no belief was left out."""
        codes, errors = self.tuples, self.knowledge.errors
        if self.weighting is not Weighting.SIZE or not self.targets or (codes < 0).any():
            return False
        if any(e.spread > 0 or e.stale > 0 for c, e in errors.items() if c in self.search.columns):
            return False
        if column is not None and self.release.labels[column].aliases:
            return False
        return bool(self.search.lost <= _BELIEVED)

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
        with np.errstate(over="ignore"):
            ratio = each * np.exp(-np.where(np.isfinite(far), far, np.inf) - floor) / max(self.release.rows, 1)
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
