"""Hypothesis strategies for small worlds: a table, a release of it of any kind, and what somebody knows.

Worlds are small and awkward on purpose: duplicates, constants, missing values, overlapping classes, explicit sets with
gaps, centroids that are no value of the domain, suppressed rows, rows left out, strangers whom nothing fits. A world is
drawn as text, so that the same world can be built with its nominal values renamed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attacks.base import Attack, NotApplicable, View
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Figure, Truth
from auditor.model.arrays import Ints
from auditor.model.knowledge import Knowledge, Register
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.beliefs import Beliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.links import BY_RECORDS, Link, Weighting
from auditor.posterior.posterior import Posterior

CITIES = {"North": ["a", "b", "c"], "South": {"Coast": ["d", "e"], "Hills": ["f"]}}
ABOVE = {"a": "North", "b": "North", "c": "North", "d": "Coast", "e": "Coast", "f": "Hills"}
DISEASES = {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]}
COLUMNS = {
    "age": {"role": "quasi", "type": "numeric"},
    "grade": {"role": "quasi", "order": ["low", "middle", "high", "top"]},
    "zip": {"role": "quasi"},
    "city": {"role": "quasi", "taxonomy": CITIES},
    "income": {"role": "sensitive", "type": "numeric"},
    "disease": {"role": "sensitive", "taxonomy": DISEASES},
    "job": {"role": "sensitive"},
}
VALUES = {
    "age": ["1", "2", "3", "5", "8", "13"],
    "grade": ["low", "middle", "high", "top"],
    "zip": ["p", "q", "r", "s"],
    "city": list("abcdef"),
    "income": ["10", "20", "25", "40"],
    "disease": ["flu", "asthma", "ulcer", "gastritis"],
    "job": ["cook", "judge", "nurse"],
}
COVERING = tuple(link for link in Link if link not in BY_RECORDS)
"""The link models that match labels: those of `Posterior`."""
QUASI = ("age", "grade", "zip", "city")
SENSITIVE = ("income", "disease", "job")
BLOCKS = {
    "generalised": (QUASI + SENSITIVE,),
    "bucketized": (QUASI, SENSITIVE),
    "sliced": (("age", "income"), ("grade", "zip"), ("city", "disease", "job")),
}
RENAMED = {"p": "z", "q": "y", "r": "x", "s": "w", "cook": "smith", "judge": "potter", "nurse": "clerk"}


def same(value: str) -> str:
    return value


def renamed(value: str) -> str:
    return RENAMED.get(value, value)


@dataclass(frozen=True)
class Plan:
    """A world as text. Cells of nominal columns without taxonomy are tuples of values, other cells are label texts; `rows`
    are the table's, `strangers` the quasi-identifiers of people who are in the register only."""

    kind: str
    rows: Mapping[str, list[str]]
    strangers: Mapping[str, list[str]]
    cells: Mapping[str, list[str | tuple[str, ...]]]
    bucket: list[int]
    known: tuple[str, ...]
    register: tuple[str, ...] | None
    membership: float | None

    def build(self, rename: Callable[[str], str] = same) -> World:
        """The world itself, with its nominal values renamed."""
        schema = Schema.from_dict({"columns": COLUMNS})
        rows = {c: [rename(v) for v in values] for c, values in self.rows.items()}
        people = {c: rows[c] + [rename(v) for v in self.strangers[c]] for c in QUASI}
        table, everybody = encode(schema, [RawTable("table", rows), RawTable("register", people)])
        labels, cells = {}, {}
        for column, texts in self.cells.items():
            written = [t if isinstance(t, str) else _set([rename(v) for v in t]) for t in texts]
            distinct = sorted(set(written))
            labels[column] = Labels.read(table.domains[column], distinct, lambda i: f"label {i}")
            cells[column] = np.array([distinct.index(text) for text in written], dtype=np.int32)
        release, provenance = publish(
            schema, labels, cells, BLOCKS[self.kind], np.array(self.bucket), np.random.default_rng(1)
        )
        register = None
        if self.register is not None:
            register = Register({c: everybody.codes[c] for c in self.register}, everybody.rows)
        count = len(self.strangers["age"])
        nobody = np.full((count, len(release.blocks)), -1)
        bucket = np.concatenate([provenance.bucket, np.full(count, -1)]).astype(np.int32)
        fragment = np.concatenate([provenance.fragment, nobody]).astype(np.int64)
        priors = {}
        for column in SENSITIVE:
            counts = np.bincount(table.codes[column], minlength=table.domains[column].size)
            priors[column] = counts / counts.sum()
        codes = everybody.matrix(self.known)
        knowledge = Knowledge(self.known, codes, bucket, register, priors, self.membership)
        return World(table, release, provenance, knowledge, bucket.astype(np.int64), fragment)


@dataclass(frozen=True)
class World:
    """A table, its release, and knowledge about everybody: first the table's rows, then strangers."""

    table: Table
    release: Release
    provenance: Provenance
    knowledge: Knowledge
    bucket: Ints
    fragment: Ints


def _set(values: list[str]) -> str:
    return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"


def _cover(column: str, values: set[str], used: list[str], rng: random.Random, wide: float) -> str | tuple[str, ...]:
    """A label that covers some values, and with probability `wide` further ones."""
    if rng.random() < wide:
        values = values | set(rng.sample(used, min(len(used), rng.randint(1, 2))))
    if "" in values:
        return "" if len(values) == 1 else "*"
    if rng.random() < wide / 6:
        return "*"
    if column in ("zip", "job"):
        return tuple(sorted(values))
    ordered = sorted(values, key=VALUES[column].index)
    if len(ordered) == 1:
        return ordered[0]
    if column in ("age", "income", "grade"):
        ends = f"{ordered[0]}, {ordered[-1]}"
        if column == "age" and rng.random() < 0.3:
            return f"[{ordered[0]}, {int(ordered[-1]) + 1}["
        return f"[{ends}]" if rng.random() < 0.6 else _set(ordered)
    if column == "city" and rng.random() < 0.6:
        above = {ABOVE[v] for v in ordered}
        return above.pop() if len(above) == 1 else "South" if "North" not in above else "*"
    return _set(ordered)


@st.composite
def plans(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(BLOCKS), doubt: bool = False) -> Plan:
    """Worlds as text. Few choices are drawn one by one and the rest from a seed: fast, and shrinks well enough."""
    kind = draw(st.sampled_from(kinds))
    count, strangers = draw(st.integers(1, 12)), draw(st.integers(0, 4))
    groups = draw(st.integers(1, 5))
    wide = draw(st.sampled_from([0.0, 0.3, 0.8]))
    known = draw(st.lists(st.sampled_from(QUASI), unique=True, max_size=4))
    membership = draw(st.sampled_from([0.1, 0.5, 1.0])) if doubt else None
    register = draw(st.sampled_from([None, QUASI, QUASI[:2]]))
    rng = random.Random(draw(st.integers(0, 2**20)))
    rows: dict[str, list[str]] = {}
    for column, values in VALUES.items():
        some = rng.sample(values, rng.randint(1, len(values)))
        rows[column] = [rng.choice(some) if rng.random() > 0.1 else "" for _ in range(count)]
    for row in range(1, count):
        if rng.random() < 0.2:  # duplicates
            for cells in rows.values():
                cells[row] = cells[row - 1]
    others = {c: [rng.choice([*VALUES[c], rows[c][0]]) for _ in range(strangers)] for c in QUASI}
    used = {c: sorted({v for v in [*rows[c], *others.get(c, [])] if v}) for c in VALUES}
    bucket = [rng.randrange(groups) for _ in range(count)]
    cells = _cells(kind, rows, used, bucket, rng, wide)
    for row in range(1, count):
        if rng.random() < 0.08:  # left out
            bucket[row] = -1
    return Plan(kind, rows, others, cells, bucket, tuple(known), register, membership)


def _cells(
    kind: str,
    rows: Mapping[str, list[str]],
    used: Mapping[str, list[str]],
    bucket: list[int],
    rng: random.Random,
    wide: float,
) -> dict[str, list[str | tuple[str, ...]]]:
    count = len(bucket)
    cells: dict[str, list[str | tuple[str, ...]]] = {}
    for column in VALUES:
        narrow = 0.15 if column in SENSITIVE else wide
        own = [_cover(column, {rows[column][i]}, used[column], rng, narrow) for i in range(count)]
        if column in QUASI and kind == "generalised":
            for group in set(bucket):
                members = [i for i in range(count) if bucket[i] == group]
                label = _cover(column, {rows[column][i] for i in members}, used[column], rng, wide)
                if column == "age" and rng.random() < 0.1 * wide:
                    label = "4.5"  # a centroid: no value of the domain
                for i in members:
                    own[i] = label
        cells[column] = own
    if kind == "generalised" and rng.random() < 0.3:
        for row in range(count):
            if bucket[row] == bucket[0]:
                for column in QUASI:
                    cells[column][row] = "*"
    return cells


def worlds(kinds: tuple[str, ...] = tuple(BLOCKS), doubt: bool = False) -> st.SearchStrategy[World]:
    """Worlds, built."""
    return plans(kinds, doubt).map(Plan.build)


def by_hand(
    columns: Mapping[str, Mapping[str, object]],
    rows: Mapping[str, list[str]],
    cells: Mapping[str, list[str]] | None = None,
    blocks: list[list[str]] | None = None,
    bucket: list[int] | None = None,
    known: tuple[str, ...] | None = None,
    population: Mapping[str, list[str]] | None = None,
    membership: float | None = None,
    anybody: bool = False,
) -> World:
    """A world written down: `cells` replace the columns of `rows` that are published otherwise; targets are all rows, and
    the quasi-identifiers of `population` (which holds the rows' as well) are a register."""
    schema = Schema.from_dict({"columns": columns})
    raws = [RawTable("table", rows)] + ([RawTable("population", population)] if population else [])
    coded = encode(schema, raws)
    table = coded[0]
    published = {**rows, **(cells or {})}
    labels, numbers = {}, {}
    for column, texts in published.items():
        distinct = sorted(set(texts))
        labels[column] = Labels.read(table.domains[column], distinct, lambda i: f"label {i}")
        numbers[column] = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    group = None if bucket is None else np.array(bucket)
    release, provenance = publish(schema, labels, numbers, blocks or [list(published)], group, np.random.default_rng(5))
    register = Register({c: coded[1].codes[c] for c in schema.quasi}, coded[1].rows) if population else None
    priors = {}
    for column in schema.sensitive:
        counts = np.bincount(table.codes[column], minlength=table.domains[column].size)
        priors[column] = counts / counts.sum()
    names = schema.quasi if known is None else known
    knowledge = Knowledge(names, table.matrix(names), provenance.bucket, register, priors, membership, anybody)
    return World(
        table, release, provenance, knowledge, provenance.bucket.astype(np.int64), provenance.fragment.astype(np.int64)
    )


def beliefs_of(
    world: World,
    link: Link,
    weighting: Weighting = Weighting.SIZE,
    suppression: Suppression = Suppression.EXCLUDED,
) -> Posterior:
    """The posterior about a world's targets."""
    return Posterior(Matching(world.release, world.knowledge, suppression), link, weighting)


def figures(
    attack: Attack, world: World, link: Link, sensitive: str | None = None, beliefs: Beliefs | None = None
) -> dict[str, Figure]:
    """The figures of an attack on a world, by measure."""
    view = View(world.release, world.knowledge, beliefs or beliefs_of(world, link), link, sensitive)
    claims = attack.run(view, np.random.default_rng(0))
    assert not isinstance(claims, NotApplicable), claims.reason
    codes = None if sensitive is None else world.table.codes[sensitive].astype(np.int64)
    truth = Truth(np.arange(world.table.rows), world.bucket, world.fragment, codes)
    return {figure.measure: figure for figure in score(claims, truth)}
