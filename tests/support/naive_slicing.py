"""The obvious version of l-diverse slicing, straight from the paper's Table 2: after every cut all tuples are checked against
all buckets. It shares no code with the fast one; only `cannot_slice` makes a release of one bucket with it.

`World` says which published labels cover what is known of each tuple; it is made from a table that is about to be cut, or
from a release, to recompute what is believed there. Checks are exact (in fractions) where `exact` is set; otherwise in
floats, with the noise of the fast version, for larger tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizers.slicing import Slicing
from auditor.model.arrays import Codes, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.release import Release
from auditor.model.table import Table

NOISE = 2.0**-30


@dataclass(frozen=True)
class Check:
    """p(t,s) must be at most 1/l (below it where strict) for all tuples and values."""

    l: int
    strict: bool = False
    paper: bool = False
    exact: bool = True

    def holds(self, value: NDArray[Any], total: NDArray[Any]) -> bool:
        """Whether p(t,s) = value/total (tuples × values) keeps it."""
        noise = 0 if self.exact else NOISE
        if self.strict:
            return not (self.l * value >= total[:, None] * (1 - noise)).any()
        return not (self.l * value > total[:, None] * (1 + noise)).any()

    def share(self, counts: Ints, of: Ints) -> NDArray[Any]:
        """Counts as shares of other counts."""
        if not self.exact:
            return counts / of
        return np.array([Fraction(int(n), int(m)) for n, m in zip(counts, of, strict=True)], dtype=object)


@dataclass(frozen=True)
class World:
    """For each block with something known, that of the sensitive column last: each tuple's known value, which label (column
    of the matrix) covers which value (row), and each fragment's label; then each fragment's sensitive value."""

    known: list[Ints]
    covers: list[Ints]
    label: list[Ints]
    value: Ints

    @classmethod
    def of_table(
        cls,
        table: Table,
        blocks: Sequence[Sequence[str]],
        sensitive: str,
        labels: Mapping[str, Labels],
        cells: Mapping[str, Codes],
    ) -> World:
        """A table that is published in these blocks; columns without labels go out as they are."""
        exact = {c: Labels.exact(table.domains[c]) for block in blocks for c in block}
        parts = [(block, np.column_stack([cells.get(c, table.codes[c]) for c in block])) for block in blocks]
        return cls._of(table, parts, sensitive, {**exact, **labels})

    @classmethod
    def of_release(cls, release: Release, table: Table, sensitive: str) -> tuple[World, list[list[Ints]]]:
        """A release about the people in a table, and for each bucket its fragments in each block of the world."""
        world = cls._of(table, [(b.columns, b.cells) for b in release.blocks], sensitive, release.labels)
        own = [b for b in release.blocks if sensitive in b.columns]
        others = [b for b in release.blocks if sensitive not in b.columns and set(b.columns) & set(table.schema.quasi)]
        members = [[np.flatnonzero(b.bucket == i) for b in [*others, *own]] for i in range(len(release.sizes))]
        return world, members

    @classmethod
    def _of(
        cls,
        table: Table,
        parts: Sequence[tuple[Sequence[str], NDArray[Any]]],
        sensitive: str,
        labels: Mapping[str, Labels],
    ) -> World:
        quasi = [c for c in table.schema.quasi if c in table.codes]
        people = sorted(set(zip(*(table.codes[c].tolist() for c in quasi), strict=True)))
        known, covers, label, value = [], [], [], None
        for columns, cells in sorted(parts, key=lambda part: sensitive in part[0]):
            here = [c for c in columns if c in quasi]
            if sensitive in columns:
                value = np.unique(cells[:, list(columns).index(sensitive)], return_inverse=True)[1]
            elif not here:
                continue
            of_person = [tuple(person[quasi.index(c)] for c in here) for person in people]
            of_fragment = [tuple(row) for row in cells[:, [list(columns).index(c) for c in here]].tolist()]
            values, patterns = sorted(set(of_person)), sorted(set(of_fragment))
            fits = np.ones((len(values), len(patterns)), dtype=np.int64)
            for i, c in enumerate(here):
                sets = {p[i]: np.isin(np.arange(table.domains[c].size), labels[c].codes(p[i])) for p in patterns}
                fits *= np.column_stack([sets[p[i]] for p in patterns])[[v[i] for v in values]]
            covers.append(fits)
            known.append(_numbers(of_person, values))
            label.append(_numbers(of_fragment, patterns))
        assert value is not None
        return cls(known, covers, label, value)

    def sums(self, buckets: Sequence[Sequence[Ints]], check: Check) -> tuple[NDArray[Any], NDArray[Any]]:
        """The numerators (tuples × values) and denominators of p(t,s) for buckets of fragments in each block."""
        values = int(self.value.max()) + 1
        total: Any = 0
        value: Any = 0
        for bucket in buckets:
            size = len(bucket[0])
            weight: Any = 1 if check.paper else size
            for b, fragments in enumerate(bucket):
                matching = self.covers[b] @ np.bincount(self.label[b][fragments], minlength=self.covers[b].shape[1])
                weight = weight * check.share(matching, np.full(len(matching), size))[self.known[b]]
            # matching is now that of the sensitive block: the share of each value among the matching fragments
            having = np.zeros((self.covers[-1].shape[1], values), dtype=np.int64)
            np.add.at(having, (self.label[-1][bucket[-1]], self.value[bucket[-1]]), 1)
            shares = [check.share(here, np.maximum(matching, 1)) for here in (self.covers[-1] @ having).T]
            total = total + weight
            value = value + weight[:, None] * np.column_stack(shares)[self.known[-1]]
        return value, total


def _numbers(items: Sequence[tuple[int, ...]], distinct: Sequence[tuple[int, ...]]) -> Ints:
    place = {item: i for i, item in enumerate(distinct)}
    return np.array([place[item] for item in items])


def most_believed(release: Release, table: Table, sensitive: str, paper: bool) -> float:
    """The greatest p(t,s) over the people of a table and all values, from what is published."""
    world, members = World.of_release(release, table, sensitive)
    value, total = world.sums(members, Check(2, paper=paper, exact=False))
    return float((value / total[:, None]).max())


def least_size(settings: Mapping[str, Any]) -> int:
    """The least size of a bucket that the settings of `slicing` promise."""
    return int(settings.get("bucket_size", 1))


def promised_l(settings: Mapping[str, Any]) -> int | None:
    """The l that the settings of `slicing` promise: 2 where they say nothing of l or of a size."""
    found: int | None = settings.get("l", None if "bucket_size" in settings else 2)
    return found


def check_sliced(release: Release, settings: Mapping[str, Any], table: Table) -> None:
    """The promises of `slicing` with these settings, recomputed from what is published about the people in a table."""
    assert release.sizes.min() >= least_size(settings)
    for block in release.blocks if "generalise" in settings else ():
        quasi = [i for i, c in enumerate(block.columns) if c in table.schema.quasi]
        together = Counter(map(tuple, block.cells[:, quasi].tolist()))
        assert min(together.values()) >= settings["generalise"]
    l = promised_l(settings)
    if l is not None:
        most = most_believed(release, table, settings.get("sensitive", "disease"), settings.get("weighting") == "paper")
        assert most < 1 / l - 1e-12 if settings.get("strict") else most <= 1 / l + 1e-9


def cannot_slice(settings: Mapping[str, Any], table: Table) -> bool:
    """Whether not even one bucket of all rows keeps the promises."""
    if table.rows < max(least_size(settings), settings.get("generalise", 1)):
        return True
    l = promised_l(settings)
    if l is None:
        return False
    sensitive = settings.get("sensitive", "disease")
    if "generalise" in settings or not {"columns", "sensitive_size"} & set(settings):
        # partners of the sensitive column move away, or are generalised until they may stay
        most = np.bincount(table.codes[sensitive]).max() * l
        return bool(most >= table.rows if settings.get("strict") else most > table.rows)
    about = {"l", "strict", "weighting", "ties", "partition"}
    by_size = {key: value for key, value in settings.items() if key not in about}
    whole = Slicing.configure({**by_size, "bucket_size": table.rows})
    release, _ = whole.anonymize(table, np.random.default_rng(0))
    assert len(release.sizes) == 1
    most = most_believed(release, table, sensitive, paper=False)
    return bool(most >= 1 / l - 1e-12 if settings.get("strict") else most > 1 / l + 1e-9)


def tuple_partition(
    world: World, codes: Codes, domains: Sequence[Domain], check: Check, together: bool, least: int = 1
) -> list[Ints] | None:
    """The buckets of the paper's tuple partition; None where all rows in one bucket break the check. `codes`: rows × the
    columns that are cut."""
    blocks = len(world.known)
    queue: list[Ints] = [np.arange(len(codes))]
    done: list[Ints] = []
    if not check.holds(*world.sums([[queue[0]] * blocks], check)):
        return None
    while queue:
        bucket = queue.pop(0)
        for left, right in cuts(bucket, codes, domains, together):
            buckets = [[rows] * blocks for rows in [*queue, left, right, *done]]
            if min(len(left), len(right)) >= least and check.holds(*world.sums(buckets, check)):
                queue += [left, right]
                break
        else:
            done.append(bucket)
    return done


def cuts(rows: Ints, codes: Codes, domains: Sequence[Domain], together: bool) -> Iterator[tuple[Ints, Ints]]:
    """All cuts in the order in which they are tried: Mondrian's at the median of each column, the widest column first (the
    first where several are as wide); then all between two values, the most even one first, of equally even ones that of the
    wider column, and in a column the lower one."""
    spreads = [spread(codes[rows, a], domain) for a, domain in enumerate(domains)]
    columns = sorted((a for a, wide in enumerate(spreads) if wide >= 0), key=lambda a: -spreads[a])
    for a in columns:
        values = codes[rows, a]
        order = np.argsort(values, kind="stable")
        half = len(rows) // 2
        median = values[order[(len(rows) - 1) // 2]]
        below = values <= median if median < values.max() else values < median
        yield (rows[below], rows[~below]) if together else (rows[np.sort(order[:half])], rows[np.sort(order[half:])])
    places = [(a, value) for a in columns for value in np.unique(codes[rows, a])[:-1]]
    lefts = [codes[rows, a] <= value for a, value in places]
    for left in sorted(lefts, key=lambda left: -min(left.sum(), (~left).sum())):
        yield rows[left], rows[~left]


def spread(values: Codes, domain: Domain) -> float:
    """How wide the values lie in their domain, from 0 to 1; -1 where they are all equal."""
    low, high = int(values.min()), int(values.max())
    if low == high:
        return -1.0
    if high == domain.missing:
        return 1.0
    if domain.numbers is not None and domain.span is not None:
        places = (domain.numbers - domain.span[0]) / domain.width
    else:
        places = np.arange(domain.known) / (domain.known - 1)
    return float(min(places[high] - places[low], 1.0))
