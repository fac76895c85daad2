"""Tiny synthesizers whose leakage is known, and small tables of mixed columns to make releases from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from auditor.auditing.subjects import Subject
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish_synthetic
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

COLUMNS = {
    "age": {"role": "quasi", "type": "numeric"},
    "height": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi"},
    "job": {"role": "quasi"},
    "income": {"role": "neutral", "type": "numeric"},
    "illness": {"role": "sensitive"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})


def folk(people: int, seed: int) -> Table:
    """People with correlated columns of all types."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, people)
    job = np.where(age > 66, 5, rng.integers(0, 5, people))
    cells = {
        "age": age,
        "height": rng.normal(172, 9, people).round().astype(int),
        "town": rng.choice(8, people, p=np.arange(8, 0, -1) / 36),
        "job": job,
        "income": (20_000 + 6_000 * job + rng.exponential(9_000, people)).round(-2).astype(int),
        "illness": (rng.integers(0, 4, people) + (age > 60)) % 6,
    }
    texts = {
        c: [f"{c[0]}{v}" if c in ("town", "job", "illness") else str(v) for v in values] for c, values in cells.items()
    }
    (table,) = encode(SCHEMA, [RawTable("folk", texts)])
    return table


def published(table: Table, cells: Mapping[str, Codes], made_from: Bools, seed: int) -> tuple[Release, Provenance]:
    """Made-up rows, by the codes of their values, as a release."""
    labels = {
        c: Labels.read(d, d.texts, lambda _: "made up", None, d.column.notation) for c, d in table.domains.items()
    }
    return publish_synthetic(table.schema, labels, cells, made_from, np.random.default_rng(seed), "made up")


def copying(table: Table, rows: Ints, _: np.random.Generator) -> dict[str, Codes]:
    """The people themselves."""
    return {c: codes[rows].copy() for c, codes in table.codes.items()}


def blurring(table: Table, rows: Ints, rng: np.random.Generator) -> dict[str, Codes]:
    """People drawn with replacement, a third of whose values are those of somebody else."""
    drawn, made = rng.choice(rows, len(rows)), {}
    for column, codes in table.codes.items():
        other = codes[rng.choice(rows, len(rows))]
        made[column] = np.where(rng.random(len(rows)) < 1 / 3, other, codes[drawn]).astype(np.int32)
    return made


def by_margins(table: Table, rows: Ints, rng: np.random.Generator) -> dict[str, Codes]:
    """Each column by itself."""
    return {c: codes[rng.choice(rows, len(rows))] for c, codes in table.codes.items()}


def alone(made: Subject) -> Subject:
    """A release with the people from whom it was made, and nobody else."""
    assert made.people is not None
    assert made.provenance is not None
    assert made.provenance.made_from is not None
    inside = np.flatnonzero(made.provenance.made_from)
    nowhere = np.full(len(inside), -1, dtype=np.int32)
    whose = Provenance(nowhere, nowhere[:, None].copy(), made_from=np.ones(len(inside), dtype=np.bool_))
    return replace(made, people=made.people.take(inside), provenance=whose)


def subject(how: object, people: int, seed: int, others: int | None = None, null: bool = False) -> Subject:
    """A synthetic release made from so many people, beside others of whom nothing was learned. For a `null` it was made from
    neither: from people of the same kind who are not in the table of the audit."""
    assert callable(how)
    others = people if others is None else others
    table, rng = folk(2 * people + others, seed), np.random.default_rng(seed + 10_000)
    inside, outside, strangers = np.split(np.arange(table.rows), [people, people + others])
    cells = how(table, strangers if null else inside, rng)
    known = np.concatenate([inside, outside])
    release, provenance = published(table, cells, np.isin(known, inside), seed)
    return Subject(release, table.take(known), provenance)
