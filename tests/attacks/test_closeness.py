"""Closeness: SDMetrics' distances to six digits, the figures of a copy and of harmless rows, and what none of them shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attacks.closeness import Closeness
from auditor.auditing.audit import run_audit
from auditor.measure.closeness import Close, identical
from auditor.measure.points import Axes, Points, gower, ranges
from scenarios.options import Options
from tests.support.synthesizers import by_margins, copying, subject

CATEGORIES = ("cat_col", "cat_int_col", "bool_col")
VALUES = ["A", "B", "C", "1", "2", "3", "True", "False"]


def points(table: dict[str, list[object]]) -> Points:
    numbers, values = [], []
    for column, cells in table.items():
        if column in CATEGORIES:
            values.append([-1 if cell is None else VALUES.index(str(cell)) for cell in cells])
        elif column.startswith("datetime"):
            days = pd.to_datetime(pd.Series(cells)).to_numpy().astype("datetime64[D]")
            numbers.append(np.where(np.isnat(days), np.nan, days.astype(np.int64)))
        else:
            numbers.append([np.nan if cell is None else float(str(cell)) for cell in cells])
    return Points(np.array(numbers, dtype=np.float64).T, np.array(values, dtype=np.int32).T)


def test_distances_of_sdmetrics(data_folder: Path) -> None:
    given = json.loads((data_folder / "reference" / "synthetic" / "sdmetrics.json").read_text())["dcr"]
    real, made = points(given["real"]), points(given["synthetic"])
    columns = len(given["real"])
    nearest = gower(made, real, ranges(real)).min(axis=1) / columns
    assert nearest == pytest.approx(given["expected_dcr_of_synthetic"], abs=1e-6)
    assert gower(made, made, ranges(real)).min(axis=1) == pytest.approx(given["expected_to_itself"])


def test_by_hand() -> None:
    def line(*places: float) -> Axes:
        return Axes(np.array(places)[:, None], np.empty((len(places), 0), dtype=np.int32))

    close = Close.of(line(0.0, 4.0), line(0.0, 1.0, 9.0))
    assert identical(line(0.0, 4.0), line(0.0, 1.0, 9.0)).tolist() == [1, 0]
    assert close.ratio.tolist() == [0.0, 0.75]
    assert close.identifiable.tolist() == [1, 0, 1]  # 0 is at a record; 9 is 5 from one and 8 from anybody
    assert close.nearer(Close.of(line(0.0, 4.0), line(0.0, 2.0, 3.9))).tolist() == [0.5, 0]


def test_a_copy_and_harmless_rows() -> None:
    options = Options(attacks=("closeness",), utility=())
    copy = {r.measure: r for r in run_audit(subject(copying, 200, 2, others=400), options).risks}
    assert copy["identical"].value == 1
    assert copy["dcr_share"].value is not None
    assert copy["dcr_share"].value > 0.98
    assert copy["dcr"].value == 0
    assert copy["dcr"].detail["of_outsiders"] > 0
    harmless = {r.measure: r for r in run_audit(subject(by_margins, 200, 2), options).risks}
    share = harmless["dcr_share"]
    assert share.low is not None
    assert share.high is not None
    assert share.low < 0.5 < share.high


def test_every_figure_says_what_it_does_not_show() -> None:
    for measure in Closeness.measures:
        assert "not show" in measure.meaning or "shows nothing" in measure.meaning, measure.name
