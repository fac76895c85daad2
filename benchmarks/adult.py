"""Adult as a table for benchmarks, and Adult-like tables of any size."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from auditor.files.tables import read_table
from auditor.model.schema import Schema
from auditor.model.table import Table
from tests.support.adult import write_adult

REDRAWN = 0.08
"""How often a value is drawn anew, so that rows of a large table differ."""


def adult() -> Table:
    """The 30162 rows without missing values, with the quasi-identifiers of the ARX comparison; occupation is sensitive."""
    folder = os.environ.get("AUDITOR_DATA")
    if not folder:
        raise SystemExit("AUDITOR_DATA must name a folder with data/adult/adult.data and its hierarchies.")
    with tempfile.TemporaryDirectory() as scratch:
        return read_table(*write_adult(Path(folder), Path(scratch)))


def adult_like(rows: int, seed: int = 0) -> Table:
    """Adult itself below its size; above it, rows drawn with replacement, each value drawn anew now and then."""
    table = adult()
    if rows <= table.rows:
        return table.take(np.arange(rows), f"adult {rows}")
    rng = np.random.default_rng(seed)
    drawn, codes = rng.integers(0, table.rows, rows), {}
    for column, values in table.codes.items():
        codes[column] = values[drawn].copy()
        new = rng.random(rows) < REDRAWN
        codes[column][new] = values[rng.integers(0, table.rows, int(new.sum()))]
    return Table(f"adult-like {rows}", table.schema, table.domains, codes, rows)


def numbers(rows: int, columns: int = 8, seed: int = 0) -> Table:
    """Correlated numbers, half of the columns skewed."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, columns)) + 0.3 * rng.normal(size=(rows, columns))
    mixed[:, : columns // 2] = np.exp(mixed[:, : columns // 2] / 2)
    frame = pd.DataFrame(mixed.round(6), columns=[f"x{j}" for j in range(columns)])
    schema = Schema.from_dict({"columns": {name: {"role": "quasi", "type": "numeric"} for name in frame.columns}})
    return Table.from_frame(frame, schema, "numbers")
