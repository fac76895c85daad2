"""Membership by the number of matching buckets, on sliced halves of Adult.

Reference values: half of the 30162 rows is published (15081), 4000 members against 4000 outsiders, all seven values known,
area under the ROC curve of the number of matching buckets. Buckets are filled at random, or cut by Mondrian at medians that
keep equal values together (dividing them gives 0.645 and 0.593 instead).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from scenarios.options import Options
from tests.support.adult import NAMES

COLUMNS = ("age", "workclass", "marital-status", "race", "sex", "occupation", "education")
ONLY_FULL = pytest.mark.proof(only=True)
PAIR = [["education"], [c for c in COLUMNS if c != "education"]]
TRIPLE = [["age"], ["education"], [c for c in COLUMNS if c not in ("age", "education")]]


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> Table:
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
        (TRIPLE, "random", 5, 0.547),
        pytest.param(TRIPLE, "random", 100, 0.501, marks=ONLY_FULL),
    ],
)
def test_area_under_the_curve(
    adult: Table, columns: list[list[str]], partition: str, size: int, auc: float, full: bool
) -> None:
    ties = {"ties": "together"} if partition == "mondrian" else {}
    found = []
    for seed in range(5 if full else 2):
        order = np.random.default_rng(seed).permutation(adult.rows)
        members, others = np.sort(order[: adult.rows // 2]), np.sort(order[adult.rows // 2 :])
        release, provenance = anonymize(
            adult.take(members), "slicing", seed, columns=columns, bucket_size=size, partition=partition, **ties
        )
        subject = Subject(release, adult.take(members), provenance, True, adult, others[:4000])
        options = Options(attacks=("membership",), targets=tuple(range(4000)), utility=(), seed=seed)
        record = run_audit(subject, options)
        (row,) = [
            r
            for r in record.risks
            if r.adversary == "prosecutor"
            and r.measure == "auc"
            and r.params.get("score") == "buckets"
            and r.params.get("against") == "outsiders"
        ]
        assert row.value is not None
        found.append(row.value)
    # The reference is one run, with a standard error of 0.0065; ours over five has 0.004 (over two 0.006, in make test).
    # 0.02 is below three of both.
    assert np.mean(found) == pytest.approx(auc, abs=0.02), found
