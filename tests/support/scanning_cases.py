"""What the tests of scans share: awkward random releases as files, and the two records of one of them."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from auditor.auditing.audit import audit
from auditor.auditing.scanned import SAMPLE, scan_audit
from auditor.model.schema import Schema
from scenarios.options import Options

MEMORY = 1_000_000_000
SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.town]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
"""A schema file, and rows that it describes."""
ROWS: dict[str, list[Any]] = {"age": [20, 30, 40], "town": ["a", "b", "b"], "disease": ["flu", "HIV", "flu"]}
RELEASE: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "zip": {"role": "quasi"},
    "city": {"role": "quasi", "taxonomy": {"North": ["a", "b", "c"], "South": ["d", "e"]}},
    "note": {"role": "neutral"},
    "income": {"role": "sensitive", "type": "numeric"},
    "grade": {"role": "sensitive", "order": ["low", "middle", "high", "top"]},
    "disease": {
        "role": "sensitive",
        "taxonomy": {"Respiratory": ["Flu", "Bronchitis"], "Digestive": ["Gastritis", "Stomach Cancer"]},
    },
    "job": {"role": "sensitive"},
    "w": {"role": "weight", "type": "numeric"},
}
CELLS = {
    "age": ["[20, 30[", "[30, 40]", "30-40", "[20, 40]", "35", "*", "<30"],
    "zip": ["1300*", "13053", "{13053, 13068}", "1485*", "*"],
    "city": ["a", "North", "South", "*", "{a, d}"],
    "note": ["x", "'=1+1", " padded ", "y"],
    "income": ["10", "20.5", "[10, 30]", "40", "", "1000"],
    "grade": ["low", "middle", "high", "top", "[low, middle]", "?"],
    "disease": ["Flu", "Bronchitis", "Respiratory", "Gastritis", "Stomach Cancer", "*"],
    "job": ["cook", "-cook", "judge", "{cook, judge}", "", " nurse"],
}
"""Labels to draw from, the first ones more often: some overlap, some denote the same set."""


@dataclass(frozen=True)
class Case:
    """A release as text cells, and the schema that describes it."""

    columns: Mapping[str, Mapping[str, Any]]
    cells: Mapping[str, Sequence[Any]]
    form: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        return Schema.from_dict({"table": dict(self.form), "columns": {k: dict(v) for k, v in self.columns.items()}})

    def only(self, *names: str) -> Case:
        """Some columns of the case."""
        columns, cells = ({name: each[name] for name in names} for each in (self.columns, self.cells))
        return Case(columns, cells, self.form)

    def parquet(self, file: Path, **types: str) -> Path:
        pd.DataFrame(dict(self.cells)).astype(types).to_parquet(file, index=False)
        return file

    def csv(self, file: Path, delimiter: str = ",", header: bool = True, ending: str = "\n") -> Path:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator=ending)
            if header:
                writer.writerow(self.cells)
            writer.writerows(zip(*self.cells.values(), strict=True))
        return file


def random_case(seed: int, rows: int | None = None, wide: bool | None = None, withheld: float | None = None) -> Case:
    """A release with all kinds of columns and labels; `wide` lets sensitive cells cover several values."""
    rng = random.Random(seed)
    rows = rng.choice([1, 7, 60, 400]) if rows is None else rows
    wide = rng.random() < 0.5 if wide is None else wide
    withheld = rng.choice([0.0, 0.1, 0.9]) if withheld is None else withheld
    chosen = {c: rng.sample(cells, rng.randint(1, len(cells))) for c, cells in CELLS.items()}
    if not wide:
        single = {"income": ["10", "20.5", "40", "1000"], "grade": ["low", "middle", "top"], "job": ["cook", "judge"]}
        single["disease"] = ["Flu", "Bronchitis", "Gastritis"]
        chosen |= {c: rng.sample(cells, rng.randint(1, len(cells))) for c, cells in single.items()}
    cells: dict[str, list[str]] = {c: [] for c in RELEASE}
    for _ in range(rows):
        hidden = rng.random() < withheld
        for column, texts in chosen.items():
            quasi = RELEASE[column]["role"] == "quasi"
            text = texts[min(int(rng.expovariate(0.6)), len(texts) - 1)]
            cells[column].append("*" if hidden and quasi else text)
        cells["w"].append(str(rng.randint(1, 60)))
    left_out = set(rng.sample(list(RELEASE), rng.choice([0, 0, 2])))
    if len(left_out) == 2 and left_out <= {"zip", "city", "note", "job", "w", "income"}:
        cells = {c: column for c, column in cells.items() if c not in left_out}
    columns = {c: RELEASE[c] for c in cells}
    return Case(columns, cells, {"missing": ["", "?"]})


def plain(record: Any) -> dict[str, Any]:
    """A record as plain values."""
    found: dict[str, Any] = json.loads(record.to_json())
    return found


def scanned(where: str | Path, schema: Schema | Path, engine: str = "duckdb", **asked: Any) -> dict[str, Any]:
    """The record of a scan; what is not an option of an audit is one of the scan."""
    given = {key: asked.pop(key) for key in ("population", "progress", "say", "spill") if key in asked}
    memory = asked.pop("memory", MEMORY)
    return plain(scan_audit(str(where), schema, Options(**asked), engine=engine, memory=memory, **given))


def in_memory(where: str | Path, schema: Schema | Path, **asked: Any) -> dict[str, Any]:
    """The record of the same audit in memory."""
    population = asked.pop("population", None)
    options = Options(**{"sample": SAMPLE, **asked})
    return plain(audit(where, schema, population=population, options=options))


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two records differ: whole numbers and texts must be equal, other numbers to 1e-9 of their size."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{path}: {sorted(one.keys() ^ other.keys())}"]
        return [found for key in one for found in differences(one[key], other[key], f"{path}.{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{path}: {len(one)} and {len(other)} of them"]
        return [
            found for i, pair in enumerate(zip(one, other, strict=True)) for found in differences(*pair, f"{path}[{i}]")
        ]
    if isinstance(one, float) and isinstance(other, float):
        return [] if abs(one - other) <= 1e-9 * max(1.0, abs(one)) else [f"{path}: {one!r} and {other!r}"]
    return [] if one == other and isinstance(one, type(other)) else [f"{path}: {one!r} and {other!r}"]


def assert_same(where: Path, schema: Schema | Path, engine: str = "duckdb", **asked: Any) -> dict[str, Any]:
    """The record of a scan, which must be that of memory."""
    ours, theirs = scanned(where, schema, engine, **asked), in_memory(where, schema, **asked)
    assert differences(theirs, ours) == []
    assert ours["release"]["classes"] > 0 or ours["release"]["suppressed_rows"] > 0
    return ours
