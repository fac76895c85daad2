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

from tabulate import tabulate

from anonymizers.suppression import Suppression
from auditor.model.table import Table
from benchmarks.adult import adult
from tests.support.naive_suppression import KEYS, greedy, office_table

LARGE = 10_000
"""Of larger tables `steepest` would take many minutes: it looks at all rows for each cell of each row."""


def table_of(name: str) -> Table:
    """A set of data by its name."""
    folder = os.environ.get("AUDITOR_DATA")
    if not folder:
        raise SystemExit("AUDITOR_DATA must name a folder with data/casc and data/adult.")
    return adult() if name == "adult" else office_table(Path(folder), name)


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
