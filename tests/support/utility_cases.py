"""A small table with a column of every type, and releases of it, for the tests of utility measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from auditor.measure.utility import Case
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import Table

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "type": "numeric"},
    "height": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi", "taxonomy": {"North": ["A", "B"], "South": ["C", "D", "E"]}},
    "job": {"role": "quasi"},
    "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
    "income": {"role": "sensitive", "type": "numeric"},
    "illness": {"role": "sensitive"},
    "pay": {"role": "neutral", "type": "numeric"},
}
ORIGINAL = {
    "age": ["20", "30", "40", "60", "30", "20"],
    "town": ["A", "B", "C", "D", "E", "A"],
    "job": ["x", "y", "z", "x", "y", "x"],
    "income": ["1", "2", "3", "4", "2", "1"],
}
GENERALISED = {
    "age": ["[20, 40]", "[20, 40]", "[20, 40]", "60", "*", "*"],
    "town": ["North", "North", "C", "C", "*", "*"],
    "job": ["{x, y}", "{x, y}", "z", "x", "*", "*"],
    "income": ["1", "2", "3", "4", "2", "1"],
}

Rows = dict[str, list[str]]


def table_of(rows: Rows, **more: dict[str, Any]) -> Table:
    columns = {column: COLUMNS[column] for column in rows}
    return Table.from_frame(pd.DataFrame(rows), Schema.from_dict({"columns": {**columns, **more}}))


def published(
    texts: Rows, original: Table, blocks: list[list[str]] | None = None, bucket: list[int] | None = None
) -> tuple[Release, Provenance]:
    """A release with these texts for each original row."""
    labels, cells = {}, {}
    for column, column_texts in texts.items():
        distinct = sorted(set(column_texts))
        labels[column] = Labels.read(original.domains[column], distinct, lambda i: f"label {i}")
        cells[column] = np.array([distinct.index(text) for text in column_texts], dtype=np.int32)
    buckets = None if bucket is None else np.array(bucket)
    return publish(original.schema, labels, cells, blocks or [list(texts)], buckets, np.random.default_rng(3))


def case_of(
    texts: Rows,
    original: Table,
    blocks: list[list[str]] | None = None,
    bucket: list[int] | None = None,
    k: int | None = None,
    seed: int = 1,
) -> Case:
    """The same, to be measured."""
    release, provenance = published(texts, original, blocks, bucket)
    return Case(release, original, provenance.fragment, k, seed)
