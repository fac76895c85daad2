"""Cells that local suppression suppresses, beside simple greedy ways to do it.

    python -m benchmarks.suppression                     the sets of statistical offices and Adult, k = 3 and 5
    python -m benchmarks.suppression --sets francdat,testdata --k 2,3

`by importance` takes the rows that lack company one after the other and suppresses their cells in the order of columns,
those with the most values first (as sdcMicro orders them), until enough people agree. `steepest` suppresses the cell
after which most people agree, again and again. Both count as `suppression` does: a suppressed cell agrees with any
value. Data: AUDITOR_DATA.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from tabulate import tabulate

from anonymizers.suppression import Suppression
from auditor.model.arrays import Codes
from auditor.model.schema import Schema
from auditor.model.table import Table
from benchmarks.adult import adult

KEYS = {
    "francdat": ["Key1", "Key2", "Key3", "Key4"],
    "testdata": ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"],
    "free1": ["REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "EDUC1", "ETNI"],
    "EIA": ["STATE", "YEAR", "MONTH"],
}
LARGE = 10_000
"""Of larger tables `steepest` would take many minutes: it looks at all rows for each cell of each row."""


def table_of(name: str) -> Table:
    """A set of data with its keys as quasi-identifiers."""
    if name == "adult":
        return adult()
    folder = os.environ.get("AUDITOR_DATA")
    if not folder:
        raise SystemExit("AUDITOR_DATA must name a folder with data/casc.")
    frame = pd.read_csv(Path(folder) / "data" / "casc" / f"{name}.csv", dtype=str)[KEYS[name]]
    return Table.from_frame(frame, Schema.from_dict({"columns": {c: {"role": "quasi"} for c in frame.columns}}), name)


def greedy(codes: Codes, k: int, steepest: bool) -> int:
    """How many cells a simple greedy way suppresses."""
    order = np.argsort([-len(np.unique(column)) for column in codes.T], kind="stable")
    codes = codes[:, order]
    hidden = np.zeros(codes.shape, dtype=np.bool_)

    def agree(row: int, shown: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
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


def main() -> None:
    """The table of all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join([*KEYS, "adult"]))
    parser.add_argument("--k", default="3,5")
    given = parser.parse_args()
    lines = []
    for name in given.sets.split(","):
        table = table_of(name)
        quasi = list(table.schema.quasi)
        for k in map(int, given.k.split(",")):
            start = time.process_time()
            ours = sum(int(gone.sum()) for gone in Suppression(k=k).suppressed(table).values())
            seconds = time.process_time() - start
            codes, large = table.matrix(quasi), table.rows > LARGE
            steepest = None if large else greedy(codes, k, steepest=True)
            lines.append([name, table.rows, len(quasi), k, ours, greedy(codes, k, steepest=False), steepest, seconds])
            print(*lines[-1], flush=True)
    heads = ["data", "rows", "columns", "k", "suppression", "by importance", "steepest", "CPU s"]
    print(tabulate(lines, headers=heads, floatfmt=".1f", missingval="-"))


if __name__ == "__main__":
    main()
