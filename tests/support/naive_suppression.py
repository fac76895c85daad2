"""Simple greedy ways to suppress cells, and the sets of statistical offices that they are compared on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from auditor.model.arrays import Codes, Ints
from auditor.model.schema import Schema
from auditor.model.table import Table

KEYS = {
    "francdat": ["Key1", "Key2", "Key3", "Key4"],
    "testdata": ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"],
    "free1": ["REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "EDUC1", "ETNI"],
    "EIA": ["STATE", "YEAR", "MONTH"],
}


def office_table(data: Path, name: str) -> Table:
    """A set of data with its keys as quasi-identifiers."""
    frame = pd.read_csv(data / "data" / "casc" / f"{name}.csv", dtype=str)[KEYS[name]]
    return Table.from_frame(frame, Schema.from_dict({"columns": {c: {"role": "quasi"} for c in frame.columns}}), name)


def greedy(codes: Codes, k: int, steepest: bool) -> int:
    """How many cells a simple greedy way suppresses."""
    order = np.argsort([-len(np.unique(column)) for column in codes.T], kind="stable")
    codes = codes[:, order]
    hidden = np.zeros(codes.shape, dtype=np.bool_)

    def agree(row: int, shown: Ints) -> int:
        alike = (codes[:, shown] == codes[row, shown]) | hidden[:, shown]
        return int((alike.all(axis=1) & ~hidden.all(axis=1)).sum())

    for row in range(len(codes)):
        while not hidden[row].all():
            shown = np.flatnonzero(~hidden[row])
            if agree(row, shown) >= k:
                break
            left = [agree(row, shown[shown != column]) for column in shown] if steepest else [0]
            hidden[row, shown[int(np.argmax(left))]] = True
    return int(hidden.sum())
