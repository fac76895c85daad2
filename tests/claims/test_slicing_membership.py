"""Membership by the number of matching buckets, on sliced halves of Adult.

Reference values: half of the 30162 rows is published (15081), 4000 members against 4000 outsiders, all seven values known,
area under the ROC curve of the number of matching buckets. Buckets are filled at random, or cut by Mondrian at medians that
keep equal values together (dividing them gives 0.645 and 0.593 instead).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs.papers.slicing import halves
from tests.support.adult import NAMES

COLUMNS = ("age", "workclass", "marital-status", "race", "sex", "occupation", "education")
ONLY_FULL = pytest.mark.proof(only=True)
PAIR = [["education"], [c for c in COLUMNS if c != "education"]]
TRIPLE = [["age"], ["education"], [c for c in COLUMNS if c not in ("age", "education")]]


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> Table:
    """Adult without taxonomies, whose values stand in another order than the reference has them."""
    names = NAMES.split(",")
    lines = (data_folder / "data" / "adult" / "adult.data").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    rows = [row for row in rows if len(row) == len(names) and "?" not in row]
    columns = {c: [row[names.index(c)] for row in rows] for c in COLUMNS}
    roles = {c: {"role": "quasi", "type": "numeric" if c == "age" else "nominal"} for c in COLUMNS}
    (table,) = encode(Schema.from_dict({"columns": roles}), [RawTable("adult", columns)])
    return table


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(
    ("columns", "partition", "size", "auc"),
    [
        (PAIR, "random", 5, 0.626),
        pytest.param(PAIR, "random", 100, 0.588, marks=ONLY_FULL),
        pytest.param(PAIR, "mondrian", 5, 0.740, marks=ONLY_FULL),
        (PAIR, "mondrian", 100, 0.705),
        pytest.param(TRIPLE, "random", 5, 0.547, marks=ONLY_FULL),
        pytest.param(TRIPLE, "random", 100, 0.501, marks=ONLY_FULL),
    ],
)
def test_area_under_the_curve(
    adult: Table, columns: list[list[str]], partition: str, size: int, auc: float, full: bool
) -> None:
    settings = {"columns": columns, "bucket_size": size, "partition": partition}
    if partition == "mondrian":
        settings["ties"] = "together"
    found = [halves(adult, "slicing", settings, 4000, seed)["auc buckets"] for seed in range(5 if full else 2)]
    # The reference is one run, with a standard error of 0.0065; ours over five has 0.004 (over two 0.006, in make test).
    # 0.02 is below three of both.
    assert np.mean(found) == pytest.approx(auc, abs=0.02), found
