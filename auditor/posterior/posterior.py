"""The posterior: one computation that feeds all attacks, for every kind of release.

For a target t with known values, a class (bucket) B and its blocks b:

    m_b(t,B)  = fragments of block b in B compatible with what is known of t  (|B| if nothing of b is known)
    f(t,B)    = product over b of m_b(t,B)/|B|                                (the slicing paper's matching degree)
    w(t,B)    = |B| f(t,B)                                                    (expected number of matching people)
    p(t,B)    = w(t,B) / sum over B' of w(t,B')
    p(s|t,B)  = share of s among the compatible fragments of the sensitive block
    P(t,s)    = sum over B of p(t,B) p(s|t,B)

w is Bayes' rule: if every way to join fragments within a class is equally likely, the expected number of people in B with t's
values is w(t,B), and t is any one of them. Under `likelihood` fragments count with weight 1/q(labels). If known values may be
wrong (`noise.py`), a compatible fragment counts with its likelihood.

**Absence.** If membership is in doubt, everything is multiplied by P(in). Given a list of the population, `presence.py`
computes it. Without one the population is unbounded: with L = (1/n) sum over B of w(t,B), where fragments weigh 1/q(labels)
with q from the release's marginals, odds(in) = prior odds · L. (The design's m/(n q(t)) is the same for exact labels; for
wide ones Bayes' rule requires the q of the labels.)

Sources: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing", IEEE TKDE 2012. Our weighting by |B| departs from it (see `Weighting`);
the paper's can be selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Floats, Ints
from auditor.posterior.beliefs import TIE, Linked, MemberBeliefs, RecordBeliefs, Shares, ValueBeliefs
from auditor.posterior.candidates import Entries, Matching
from auditor.posterior.links import Link, Weighting
from auditor.posterior.matching import Masses, expand
from auditor.posterior.noise import Reading
from auditor.posterior.presence import presence_of, register_presence

_MOSTLY = 0.98
"""The share of targets whose class must be known so that what is believed of the others does not matter."""


class Posterior(Linked):
    """The beliefs that follow from a release, a link model and the knowledge."""

    def __init__(self, matching: Matching, link: Link, weighting: Weighting = Weighting.SIZE) -> None:
        matching = matching if link is Link.CLASS else matching.ungranted()
        self.matching, self.link, self.weighting = matching, link, weighting
        self.release, self.targets, self.knowledge = matching.release, matching.targets, matching.knowledge
        granted = self.knowledge.granted
        if link is Link.DISTANCE:
            raise ValueError(
                "The link model `distance` does not match by containment: use auditor.posterior.distance.Nearest."
            )
        if link is Link.CLASS and granted is None:
            raise ValueError("The link model `class` needs a granted class in the knowledge.")
        self.row_of, self.way, self.granted = matching.rows(granted)
        self.rows = int(self.row_of.max(initial=-1)) + 1
        self.masses = self._masses()
        self.candidates = matching.entries(self.way, self.rows, self.granted)
        self.candidate_w = self.weigh(
            self.candidates, [self.mass_of(i, self.candidates) for i in range(len(self.masses))]
        )
        if matching.inexact:  # for `tightest`, what fits only if it is stale does not fit
            possible = self.candidate_w > 0
            self.candidates, self.candidate_w = self.candidates.take(possible), self.candidate_w[possible]
        self.chosen = np.ones(len(self.candidates.row), dtype=np.bool_)
        if link is Link.TIGHTEST:
            self.chosen = least(self.candidates.row, self.hidden(self.candidates), self.rows)
        self.entries = self.candidates.take(self.chosen)
        self.w = self.candidate_w[self.chosen]
        self.total = np.bincount(self.entries.row, self.w, self.rows).astype(np.float64)
        total = self.total[self.entries.row]
        self.p = np.divide(self.w, total, out=np.zeros(len(total)), where=total > 0)

    def _masses(self) -> list[Masses]:
        matching = self.matching
        if self.link is Link.LIKELIHOOD:
            population = matching.population
            return matching.masses(matching.label_weights(population), population, Reading.BAYES)
        reading = Reading.CURRENT if self.link is Link.TIGHTEST else Reading.PLAIN
        alike = [np.ones(len(m.cells.labels)) for m in matching.matches]
        return matching.masses(alike, matching.membership_population, reading)

    def hidden(self, entries: Entries, own: Ints | None = None) -> Floats:
        """What the labels of each entry's class hide of what is known, summed over columns (the mean over its fragments).
        Columns of which nothing is known do not tell one class from another. `own` are the fragments (entries × blocks) of
        one record of each class that is left out."""
        release, loss = self.release, np.zeros(len(entries.row))
        size = release.sizes[entries.bucket].astype(np.float64)
        for i, (number, match) in enumerate(zip(self.matching.blocks, self.matching.matches, strict=True)):
            block = release.blocks[number]
            for place, column in enumerate(match.cells.columns):
                if column not in release.quasi:
                    continue
                each = release.labels[column].losses[block.cell(column)]
                whole = np.bincount(block.bucket, weights=each, minlength=len(release.sizes))[entries.bucket]
                mean = np.divide(whole, size, out=np.zeros(len(whole)), where=size > 0)
                if own is not None:
                    mean = np.divide(whole - each[own[:, number]], size - 1, out=mean, where=size > 1)
                if match.noise is not None:
                    mean = np.where(match.noise.known[self.way[i][entries.row], place] >= 0, mean, 0.0)
                loss += mean
        return loss

    def mass_of(self, match: int, entries: Entries) -> Floats:
        """The compatible mass of one block for entries; all of it if nothing in a granted class is compatible."""
        sizes = self.release.sizes[entries.bucket].astype(np.float64)
        if not len(self.masses[match].total):
            return sizes
        group = entries.group[match]
        return np.where(group >= 0, self.masses[match].total[group], sizes)

    def weigh(self, entries: Entries, masses: Sequence[Floats], left_out: int = 0) -> Floats:
        """w (or f) of entries from the masses of their blocks, with `left_out` people fewer in the class."""
        size = self.release.sizes[entries.bucket].astype(np.float64) - left_out
        if self.link is Link.CLASS:
            return np.where(size > 0, 1.0, 0.0)
        weight = np.where(size > 0, 1.0, 0.0) if self.weighting is Weighting.PAPER else size.copy()
        for mass in masses:
            weight *= np.divide(mass, size, out=np.zeros(len(size)), where=size > 0)
        return weight

    def _present(self, prior: float | None) -> Floats:
        if prior is None or prior >= 1:
            return np.ones(self.targets)  # certainty is not changed by evidence
        release, register = self.release, self.knowledge.register
        odds = prior / (1 - prior)
        unbounded = odds * self._membership_ratio()
        out = unbounded / (1 + unbounded)
        if register is None:
            return np.asarray(out)
        among, known = presence_of(self.matching, register)
        sampled = min(release.rows * register.coverage / register.people, 1 - 1 / register.people)
        scale = odds * (1 - sampled) / sampled if sampled > 0 else odds
        among = np.where(among > 1 - TIE, 1.0, among)
        scaled_odds = np.divide(scale * among, 1 - among, out=np.full(len(among), np.inf), where=among < 1)
        finite = np.divide(scaled_odds, 1 + scaled_odds, out=np.ones(len(among)), where=np.isfinite(scaled_odds))
        return np.where(known, finite, out)

    def _membership_ratio(self) -> Floats:
        """How much likelier the release is with the target in it than without: L, for an unbounded population."""
        matching, release = self.matching, self.release
        population = matching.membership_population
        weights = matching.label_weights(population)
        row_of, ways, _ = matching.rows(None)
        rows = int(row_of.max(initial=-1)) + 1
        entries = matching.entries(ways, rows, None)
        size = release.sizes[entries.bucket].astype(np.float64)
        weight = size.copy()
        masses = matching.masses(weights, population, Reading.BAYES)
        for group, mass in zip(entries.group, masses, strict=True):
            weight *= mass.total[group] / size
        ratio = np.bincount(entries.row, weights=weight, minlength=rows)[row_of] / max(release.rows, 1)
        if len(matching.matches) > 1 and not matching.inexact:
            # blocks are not independent: convert the product of their shares to the joint share
            columns, codes = matching.knowledge.columns, matching.knowledge.codes
            apart, known = np.ones(self.targets), []
            for match in matching.matches:
                places = [columns.index(c) for c in match.cells.columns]
                known += places
                apart *= population.of_people(match.cells.columns, codes[:, places])
            ratio = ratio * apart / population.of_people([columns[i] for i in known], codes[:, known])
        return np.asarray(ratio, dtype=np.float64)

    def calibrated(self, column: str | None) -> bool:
        """So they are where the class is known: it is granted, or what is known fits no other. And where what is known stands
        beside the column in one block under labels that do not overlap: as many people as records are alike then. Elsewhere
        the posterior does not know how values go together within classes and across them, and is too cautious; `tightest` is
        too sure. Nor does it know who chooses which alias."""
        if column is not None and self.release.labels[column].aliases:
            return False
        if self.link is Link.CLASS:
            return True
        if self.matching.inexact or not self.targets:
            return False
        alone = np.bincount(self.candidates.row, minlength=self.rows)[self.row_of] == 1
        plain = self.link is not Link.TIGHTEST and self.weighting is Weighting.SIZE
        return bool(alone.mean() >= _MOSTLY) or (plain and self.matching.alike(column))

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        rows = self.value_mass(column, self.entries, self.p, self.rows, None if shares is None else shares.free)
        return self.believed(column, rows, self.row_of, self.matched)

    def value_mass(
        self, column: str, entries: Entries, coefficient: Floats, rows: int, share: Floats | None = None
    ) -> sparse.csr_array:
        """Sum over entries of coefficient · p(s|t,B), as rows × codes; `share` is how much each fragment counts."""
        number = self.release.block_number(column)
        if share is None:
            values = partial(self.matching.values, column)
        else:
            marks, even = self.matching.marks(column, share), self.matching.meaning(column)
            values = partial(self.matching.content, number, marks, even)
        return self.fragment_mass(number, values, entries, coefficient, rows)

    def fragment_mass(
        self,
        number: int,
        content: Callable[[int | None], sparse.csr_array],
        entries: Entries,
        coefficient: Floats,
        rows: int,
    ) -> sparse.csr_array:
        """Sum over entries of coefficient · the weighted mean content of the compatible fragments of a block, as rows × what
        `content` tells of the cells of a match or, for None, of the classes (see `Matching.content`)."""
        if number not in self.matching.blocks:
            open_entries = np.ones(len(entries.row), dtype=np.bool_)
            out = sparse.csr_array((rows, content(None).shape[1]))
        else:
            i = self.matching.blocks.index(number)
            match, masses = self.matching.matches[i], self.masses[i]
            open_entries = entries.group[i] < 0
            closed = entries.take(~open_entries)
            first, count = match.hits(closed.group[i]) if len(closed.row) else (closed.row, closed.row)
            hit = expand(first, count)
            cell = match.hit_cell[hit]
            each = (
                np.repeat(coefficient[~open_entries] / masses.total[closed.group[i]], count)
                if len(hit)
                else np.empty(0)
            )
            each = each * masses.weight[match.cells.pattern[cell]]
            if masses.likelihood is not None:
                each = each * masses.likelihood[hit]
            shape = (rows, len(match.cells.bucket))
            chosen = sparse.csr_array((each, (np.repeat(closed.row, count), cell)), shape=shape)
            out = chosen @ content(i)
        if open_entries.any():
            left = entries.take(open_entries)
            each = coefficient[open_entries] / self.release.sizes[left.bucket]
            chosen = sparse.csr_array((each, (left.row, left.bucket)), shape=(rows, len(self.release.sizes)))
            out = out + chosen @ content(None)
        return sparse.csr_array(out)

    def own_entry(self, bucket: Ints, entries: Entries | None = None) -> Ints:
        """The entry of each target in the given class, -1 if there is none."""
        entries = entries or self.entries
        key = entries.row * len(self.release.sizes) + entries.bucket
        wanted = self.row_of * len(self.release.sizes) + bucket
        place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
        if not len(key):
            return np.full(self.targets, -1)
        return np.where((key[place] == wanted) & (bucket >= 0), place, -1)

    def own_weights(self, match: int, fragment: Ints) -> Floats:
        """The weight of the given fragment in one match for each target; 0 if it is not compatible or is -1."""
        one = self.matching.matches[match]
        cell = one.cells.of_fragment[fragment]
        return np.where(fragment >= 0, one.weights(self.masses[match], self.way[match][self.row_of], cell), 0.0)

    def _best_record(self) -> tuple[Floats, Floats]:
        """For each entry the probability of its likeliest record, and how many records have it."""
        best, count = self.p.copy(), np.ones(len(self.p))
        if not self.masses:
            size = self.release.sizes[self.entries.bucket]
            return best / size, count * size
        for group, mass in zip(self.entries.group, self.masses, strict=True):
            sizes = self.release.sizes[self.entries.bucket].astype(np.float64)
            fits = group >= 0
            if not len(mass.total):
                best, count = best / sizes, count * sizes
                continue
            best *= np.where(fits, mass.best[group] / mass.total[group], 1 / sizes)
            count *= np.where(fits, mass.best_count[group], sizes)
        return best, count

    def records(self) -> RecordBeliefs:
        return self.likeliest(self.entries.row, *self._best_record())

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        entry = self.own_entry(bucket)
        out = np.where(entry >= 0, self.p[entry] if len(self.p) else 0.0, 0.0) * self.present
        if not self.masses:
            return out / np.maximum(self.release.sizes[bucket], 1)
        if not len(self.p):
            return out
        for i, block in enumerate(self.matching.blocks):
            # if nothing in a granted class is compatible, any of its fragments counts
            weight = np.where(self.entries.group[i][entry] < 0, 1.0, self.own_weights(i, fragment[:, block]))
            out = out * weight / self.mass_of(i, self.entries)[entry]
        return out

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        top = np.zeros(self.rows)
        np.maximum.at(top, self.entries.row, self.p)
        at_top = self.p >= top[self.entries.row] * (1 - TIE)
        tied = np.maximum(np.bincount(self.entries.row[at_top], minlength=self.rows), 1)
        entry = self.own_entry(bucket)
        found = (entry >= 0) & (at_top[entry] if len(at_top) else False)
        return np.where(found, 1 / tied[self.row_of], 0.0), top[self.row_of]

    def membership(self, prior: float) -> MemberBeliefs:
        entries = self.entries
        matched = np.bincount(entries.row, minlength=self.rows)[self.row_of].astype(np.float64)
        size = self.release.sizes[entries.bucket] if self.weighting is Weighting.SIZE else 1.0
        degree = np.bincount(entries.row, weights=self.w / size, minlength=self.rows)
        register, gap = self.knowledge.register, 0.0
        if register is not None:
            gap = register_presence(self.release, register, self.matching.suppression).gap
        return MemberBeliefs(matched, degree[self.row_of].astype(np.float64), self._present(prior), gap)


def least(row: Ints, loss: Floats, rows: int) -> Bools:
    """The entries whose loss is the least of their row, ties included."""
    best = np.full(rows, np.inf)
    np.minimum.at(best, row, loss)
    return np.asarray(loss <= best[row] + TIE)
