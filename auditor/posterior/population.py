"""Population models: what share of people at large do some labels cover?

`q(labels)` enters the link model `likelihood`, the membership posterior and the journalist's risk. A list of the population
(a `Register`) counts people jointly. Without one, columns count as independent, with given shares per value: uniform over the
values (leaf volume) if nothing is known, or the shares in the release itself. If known values may be wrong (`noise.py`), the
population tells who may be meant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.knowledge import Register
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.release import Release
from auditor.posterior.beliefs import covered
from auditor.posterior.matching import distinct_people, match_doubtful, match_labels, match_patterns
from auditor.posterior.noise import Noise

_CHUNK = 50_000
_STEPS = 20


class Population(ABC):
    """People at large. `name` tells in the audit record where the shares come from."""

    name: str
    people: int | None = None

    @abstractmethod
    def of_labels(self, release: Release, columns: Sequence[str], labels: Codes) -> Floats:
        """The share of people that each row of labels (rows × columns) covers; never zero."""

    @abstractmethod
    def of_known(self, noise: Noise, way: Ints, patterns: Codes, pattern: Ints) -> Floats:
        """For pairs of a way to match and a pattern (of label numbers, `patterns`): the probability that somebody about whom
        that is known, which may be wrong, truly has values that the labels cover."""

    @abstractmethod
    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        """The share of people who have exactly these values; never zero."""


class RegisterPopulation(Population):
    """Shares counted in a list of the population. What covers nobody there counts as covering one person. Columns that the
    list does not have count as independent of it, with their shares from `rest`."""

    name = "register"

    def __init__(self, register: Register, rest: Population) -> None:
        self.register = register
        self.people = register.people
        self.rest = rest

    def _split(self, columns: Sequence[str]) -> tuple[list[int], list[int]]:
        known = [i for i, c in enumerate(columns) if c in self.register.codes]
        return known, [i for i in range(len(columns)) if i not in known]

    def _matrix(self, columns: Sequence[str]) -> Codes:
        return np.column_stack([self.register.codes[c] for c in columns])

    def of_labels(self, release: Release, columns: Sequence[str], labels: Codes) -> Floats:
        known, others = self._split(columns)
        rest = self.rest.of_labels(release, [columns[i] for i in others], labels[:, others])
        if not known:
            return rest
        columns, labels = [columns[i] for i in known], labels[:, known]
        tuples, number = distinct_people(self._matrix(columns))
        times = np.bincount(number, minlength=len(tuples)).astype(np.float64)
        covered = np.zeros(len(labels))
        for begin in range(0, len(tuples), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            starts, pattern = match_patterns(release, columns, labels, tuples[part])
            weight = np.repeat(times[part], np.diff(starts))
            covered += np.bincount(pattern, weights=weight, minlength=len(labels))
        return rest * np.maximum(covered, 1.0) / self.register.people

    def of_known(self, noise: Noise, way: Ints, patterns: Codes, pattern: Ints) -> Floats:
        """Each person in the list is the one who is meant, with the probability of being known as that. It may also be
        somebody who is not in it, about whom only the shares of single values are known."""
        places, others = self._split(noise.columns)
        rest = self.rest.of_known(noise.take(others), way, patterns[:, others], pattern)
        if not places:
            return rest
        noise, patterns = noise.take(places), np.ascontiguousarray(patterns[:, places])
        apart, seen = noise.believed(way, patterns, pattern, self.marginals(noise))
        tuples, number = distinct_people(self._matrix(noise.columns))
        times = np.bincount(number, minlength=len(tuples)).astype(np.float64)
        owner, found, weight = self.alike(noise, tuples)
        shape = (len(noise.known), len(tuples))
        meant = sparse.csr_array((weight * times[found] / self.register.people, (owner, found)), shape=shape)
        starts, covering = match_labels(noise.labels, patterns, tuples, [None] * len(places))
        covers = sparse.csr_array((np.ones(len(covering)), covering, starts), shape=(len(tuples), len(patterns)))
        both = sparse.csr_array(meant @ covers)
        both.sort_indices()
        key = np.repeat(np.arange(shape[0]), np.diff(both.indptr)) * len(patterns) + both.indices
        wanted = way * len(patterns) + pattern
        place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
        inside = np.where(key[place] == wanted, both.data[place], 0.0) if len(key) else np.zeros(len(way))
        share = min(self.register.coverage, 1 - 1 / self.register.people)
        whole = share * np.asarray(meant.sum(axis=1)).reshape(-1)[way] + (1 - share) * seen
        joint = share * inside + (1 - share) * seen * apart
        return rest * np.divide(joint, whole, out=apart, where=whole > 0)

    def marginals(self, noise: Noise) -> dict[str, Floats]:
        """The shares of the values of single columns."""
        pairs = zip(noise.columns, noise.labels, strict=True)
        counts = {c: np.bincount(self.register.codes[c], minlength=labels.domain.size) for c, labels in pairs}
        return {c: count / self.register.people for c, count in counts.items()}

    def alike(self, noise: Noise, tuples: Codes) -> tuple[Ints, Codes, Floats]:
        """Which of some distinct people (by their codes) may be known as each way to match: pairs of a way and a person, and
        the probability that the person is known as that."""
        exact = [Labels.exact(labels.domain) for labels in noise.labels]
        starts, found = match_doubtful(exact, tuples, noise.known, noise.doubts)
        owner = np.repeat(np.arange(len(noise.known)), np.diff(starts))
        weight, shares = np.ones(len(found)), self.marginals(noise)
        for place, (column, doubt) in enumerate(zip(noise.columns, noise.doubts, strict=True)):
            if doubt is not None:
                code = noise.known[owner, place]
                each = doubt.known_as(tuples[found, place], np.maximum(code, 0), shares[column])
                weight *= np.where(code < 0, 1.0, each)
        return owner, found, weight

    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        known, others = self._split(columns)
        rest = self.rest.of_people([columns[i] for i in others], codes[:, others])
        if not known:
            return rest
        columns, codes = [columns[i] for i in known], codes[:, known]
        both = distinct_rows(np.concatenate([self._matrix(columns), codes]))
        mine, asked = both[: self.register.people], both[self.register.people :]
        times = np.bincount(mine, minlength=int(both.max(initial=0)) + 1)
        return np.asarray(rest * np.maximum(times[asked], 1) / self.register.people)


class IndependentPopulation(Population):
    """Shares as a product over columns, from the share of each value."""

    def __init__(self, name: str, shares: Mapping[str, Floats]) -> None:
        self.name = name
        self.shares = shares

    @classmethod
    def volume(cls, release: Release) -> IndependentPopulation:
        """Every value of a domain equally likely."""
        sizes = {c: release.labels[c].domain.size for c in release.columns}
        return cls("leaf volume", {c: np.full(size, 1.0 / max(size, 1)) for c, size in sizes.items()})

    @classmethod
    def from_release(cls, release: Release) -> IndependentPopulation:
        """The shares of values in the release itself, with a label's people spread evenly over its values."""
        shares = {}
        for column in release.columns:
            labels = release.labels[column]
            each = release.label_counts(column) / np.maximum(labels.counts, 1)
            step = np.zeros(labels.domain.size + 1)
            whole = np.ones(len(each), dtype=np.bool_)
            for label, codes in labels.gaps.items():
                whole[label] = False
                step[codes] += each[label]
                step[codes + 1] -= each[label]
            whole &= labels.hi >= labels.lo
            np.add.at(step, labels.lo[whole], each[whole])
            np.add.at(step, labels.hi[whole] + 1, -each[whole])
            mass = np.maximum(np.cumsum(step[:-1]), 0.0)
            shares[column] = mass / mass.sum() if mass.sum() > 0 else np.full(len(mass), 1.0 / max(len(mass), 1))
        return cls("marginals of the release", shares)

    @classmethod
    def fitted(cls, release: Release) -> IndependentPopulation:
        """The shares of values that make the labels of the release likeliest (a few steps of EM): the people of a wide label
        are spread over its values as those of narrower ones are."""
        shares = {}
        for column, share in cls.from_release(release).shares.items():
            counts, covers = release.label_counts(column), covered(release.labels[column])
            for _ in range(_STEPS):
                mass = covers @ share
                share = share * (covers.T @ np.divide(counts, mass, out=np.zeros(len(mass)), where=mass > 0))
                share = share / max(float(share.sum()), 1e-300)
            shares[column] = share
        return cls("fitted to the release", shares)

    def of_labels(self, release: Release, columns: Sequence[str], labels: Codes) -> Floats:
        share = np.ones(len(labels))
        for place, column in enumerate(columns):
            share *= release.labels[column].mass(self.shares[column])[labels[:, place]]
        return np.maximum(share, 1e-300)

    def of_known(self, noise: Noise, way: Ints, patterns: Codes, pattern: Ints) -> Floats:
        return noise.believed(way, patterns, pattern, self.shares)[0]

    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        share = np.ones(len(codes))
        for place, column in enumerate(columns):
            share *= self.shares[column][codes[:, place]]
        return np.maximum(share, 1e-300)
