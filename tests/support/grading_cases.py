"""The tables that tests of grading share, and what a release publishes of each original row."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from auditor.model.key import Aliases, Key
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

# Table I of the paper; the groups of diseases and the choices are ours.
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "income": {"role": "sensitive", "type": "numeric"},
    "disease": {
        "role": "sensitive",
        "taxonomy": {"Respiratory": ["Flu", "Bronchitis"], "Digestive": ["Gastritis", "Stomach Cancer"]},
    },
    "choice": {"role": "choice"},
}
PATIENTS = {
    "age": ["33", "29", "21", "31", "22", "60", "25"],
    "sex": ["M", "F", "M", "M", "M", "M", "F"],
    "income": ["22000", "15000", "10000", "20000", "10020", "23000", "10030"],
    "disease": ["Flu", "Stomach Cancer", "Bronchitis", "Gastritis", "Bronchitis", "Flu", "Bronchitis"],
    "choice": ["1", "3", "2", "2", "3", "1", "2"],
}


def patients(columns: dict[str, Any] | None = None, **changed: list[str]) -> Table:
    schema = Schema.from_dict({"columns": {**COLUMNS, **(columns or {})}})
    (table,) = encode(schema, [RawTable("patients", {**PATIENTS, **changed})])
    return table


def one(values: list[str], **column: Any) -> Table:
    """A table of one sensitive column."""
    schema = Schema.from_dict({"columns": {"s": {"role": "sensitive", **column}}})
    (table,) = encode(schema, [RawTable("t", {"s": values})])
    return table


def rows(release: Release, fragment: np.ndarray, column: str) -> list[str]:
    """What is published of each original row."""
    cells = release.block_of(column).cell(column)[fragment[:, 0]]
    return [release.labels[column].texts[cell] for cell in cells]


def key_of(table: Table, seed: int = 0, **settings: Any) -> Key:
    key = anonymize(table, "grading", seed, **settings)[1].key
    assert key is not None
    return key


def aliases_of(table: Table, seed: int = 0, column: str = "s") -> Aliases:
    aliases = key_of(table, seed).columns[column]
    assert isinstance(aliases, Aliases)
    return aliases
