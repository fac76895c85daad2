"""Closeness: SDMetrics' distances to six digits, the figures of a copy and of harmless rows, and what none of them shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attacks.claims import CloseClaims
from attacks.closeness import Closeness
from auditor.auditing.audit import run_audit
from auditor.auditing.scoring.members import score_closeness
from auditor.measure.closeness import identical, identifiable, nearer, ratio, to_people
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

    records, people = line(0.0, 4.0), line(0.0, 1.0, 9.0)
    apart = to_people(records, people)
    assert identical(records, people).tolist() == [1, 0]
    assert ratio(apart).tolist() == [0.0, 0.75]
    assert identifiable(records, people).tolist() == [1, 0, 1]  # 0 is at a record; 9 is 5 from one and 8 from anybody
    assert nearer(apart[:, 0], to_people(records, line(0.0, 2.0, 3.9))[:, 0]).tolist() == [0.5, 0]
    one_person = np.array([0, 0, 1])  # 0 and 1 are one person's
    assert ratio(to_people(records, people, one_person)).tolist() == [0.0, 0.6]
    record, beside = line(-0.35), line(0.0, 0.3, 5.0)  # 0 is nearer to 0.3 than to the record, which hides nobody
    assert identifiable(record, beside).tolist() == [0, 0, 0]
    assert identifiable(record, beside, one_person).tolist() == [1, 0]


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


def test_a_copy_shows_however_few_the_outsiders_are() -> None:
    made = subject(copying, 200, 2, others=50)
    found = {r.measure: r for r in run_audit(made, Options(attacks=("closeness",), utility=())).risks}
    share, median = found["dcr_share"], found["dcr"]
    assert share.detail["people"] == 25  # the other outsiders are the reference
    assert share.value is not None
    assert share.value > 0.98
    assert median.value == 0
    assert median.detail["of_as_many"] > 0


def shares_of_harmless_records(rng: np.random.Generator, several: bool) -> list[float]:
    """The DCR share of records that owe nothing to anybody, on a small grid where many are as near."""
    found = []
    for _ in range(120):
        people, claims = rng.integers(0, 5, (38, 2)).astype(np.float64), []
        person = rng.integers(0, 19, 38) if several else np.arange(38)
        inside = rng.permutation(19)[:14] if several else rng.permutation(38)[:30]
        records = Axes(rng.integers(0, 5, (20, 2)).astype(np.float64), np.empty((20, 0), dtype=np.int32))
        for mine in (np.isin(person, inside), ~np.isin(person, inside)):
            whose = np.unique(person[mine], return_inverse=True)[1]
            axes = Axes(people[mine], np.empty((int(mine.sum()), 0), dtype=np.int32))
            claims.append(CloseClaims(records, axes, records, rng.permutation(whose.max() + 1), whose))
        found += [f.value for f in score_closeness(*claims) if f.measure == "dcr_share" and f.value is not None]
    return found


@pytest.mark.parametrize("several", [False, True])
def test_one_half_is_no_difference_however_few_the_outsiders_are(several: bool) -> None:
    found = shares_of_harmless_records(np.random.default_rng(6), several)
    assert np.mean(found) == pytest.approx(0.5, abs=4 * np.std(found) / np.sqrt(len(found)))


def test_every_figure_says_what_it_does_not_show() -> None:
    for measure in Closeness.measures:
        assert "not show" in measure.meaning or "shows nothing" in measure.meaning, measure.name
