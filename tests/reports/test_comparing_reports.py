"""A comparison in its reports: table, static and interactive picture have the same figures and the same numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from auditor.engines.worker import carry_out
from auditor.model.errors import UsageError
from auditor.model.record.comparison import RunCell
from auditor.model.record.record import AuditRecord, Risk, RunRecord, Utility
from auditor.model.record.release_facts import ReleaseFacts
from auditor.runs.placing import Placed, RiskChoice, comparison
from auditor.runs.worker import CellJob, CellWork
from reports import render_html, render_markdown, render_terminal
from reports.pictures import charts
from reports.pictures.charts import Axes, Point, unbeaten
from reports.pictures.detailed import detailed
from reports.pictures.explorer import explorer
from reports.pictures.pictures import frontier, panels
from reports.pictures.points import numbers
from reports.tables.frontier import frontier_note
from tests.runs.test_comparing import FEW, world
from tests.support import record_samples as samples
from tests.support.record_samples_rows import row

# By method and seed: excess of homogeneity under the links class and containment, m of proximity, query error, accuracies.
#   x: containment, the only link that does not grant the class: 0.4 and 0.6 → 0.5; error 0.1 and 0.3 → 0.2; m 2 and 4 → 3
#   y: 0.2; 0.2: less risk, the same error as x: y beats x
#   z: 0.5; 0.05: on the frontier
FIGURES = {
    ("x", 1): (0.1, 0.4, 2, 0.1, 0.9),
    ("x", 2): (0.2, 0.6, 4, 0.3, 0.7),
    ("y", 1): (0.3, 0.2, 5, 0.2, 0.6),
    ("z", 1): (0.6, 0.5, 1, 0.05, 0.5),
}


def success(link: str, value: float) -> Risk:
    detail = {"excess": {"value": value, "over": "control"}}
    return row("homogeneity", "prosecutor", link, "success", "disease", value=value, control=0.0, n=100, detail=detail)


def record(name: str, method: str, figures: tuple[float, ...]) -> AuditRecord:
    of_class, contained, m, error, right = figures
    risks = [success("class", of_class), success("containment", contained)]
    risks.append(row("proximity", "prosecutor", "class", "m", "income", value=int(m), n=100))
    utility = [
        Utility("queries", value=error, better="lower", params={"statistic": "median"}),
        Utility("classification", value=right, better="higher", params={"class": "sex"}),
        Utility("classification", value=1 - right, better="higher", params={"class": "disease"}),
    ]
    return AuditRecord(
        1,
        ReleaseFacts(name, "generalised", 100, 0, "excluded", 20, 5, {"5": 20}, method),
        risks,
        utility,
        **samples.WORDS,
    )


def compared(risk: str, utility: str) -> RunRecord:
    cells = []
    for (method, seed), figures in FIGURES.items():
        name = f"{method} seed={seed}"
        cell = RunCell(f"{method}-{seed}", name, method, {}, seed)
        cells.append(Placed(method, cell, record(name, method, figures)))
    found = comparison(cells, RiskChoice.read(risk), utility)
    records = tuple(one.record for one in cells if one.record is not None)
    return RunRecord("compared", 1, records, {}, cells=tuple(one.cell for one in cells), comparison=found)


@pytest.mark.parametrize(
    ("risk", "utility", "points"),
    [
        ("homogeneity.success", "queries", [("y", 0.2, 0.2), ("z", 0.5, 0.05), ("x", 0.5, 0.2)]),
        # under the link class alone x has (0.1 + 0.2)/2 and is best
        ("homogeneity.success@class", "queries", [("x", 0.15, 0.2), ("z", 0.6, 0.05), ("y", 0.3, 0.2)]),
        ("strongest", "classification.disease", [("y", 0.2, 0.4), ("z", 0.5, 0.5), ("x", 0.5, 0.2)]),
        ("prosecutor:value", "classification", [("y", 0.2, 0.6), ("x", 0.5, 0.8), ("z", 0.5, 0.5)]),
        ("proximity.m", "queries", [("y", 5, 0.2), ("z", 1, 0.05), ("x", 3, 0.2)]),  # higher is better
    ],
)
def test_table_and_pictures_agree(risk: str, utility: str, points: list[tuple[str, float, float]]) -> None:
    run = compared(risk, utility)
    assert run.comparison is not None
    assert [(p.name, p.risk, p.utility) for p in run.comparison.points] == [
        (name, pytest.approx(y), pytest.approx(x)) for name, y, x in points
    ]
    static, interactive = frontier(run), explorer(run)
    assert static is not None
    assert interactive is not None
    start = interactive["start"]
    shown = [
        (p["number"], p["risks"][start["risk"]]["value"], p["utility"][start["utility"]]) for p in interactive["points"]
    ]
    assert shown == [(p.place, p.y, p.x) for p in static.points]
    assert shown == [(number, p.risk, p.utility) for number, p in enumerate(run.comparison.points, 1)]
    best = {p.name for p in run.comparison.points if p.beaten_by is None}
    assert {p.name for p in unbeaten(static.points, static.better)} == best
    axis = next(one for one in interactive["risks"] if one["key"] == start["risk"])
    assert axis["better"] == run.comparison.risk.better == ("higher" if risk == "proximity.m" else "lower")


def test_in_a_crowd_what_no_other_beats_is_labelled_first() -> None:
    # 40 releases at (0.30 … 0.69, 0.5) stand right of and above the three that no other beats: the line joins these in order
    crowd = [Point(number, "beaten", 0.3 + number / 100, 0.5) for number in range(40)]
    best = [Point(41, "least risk", 0.5, 0.1), Point(42, "between", 0.32, 0.44), Point(43, "least error", 0.29, 0.5)]
    drawing = charts.scatter([*crowd, *best], Axes("error", "risk"), "p")
    for point in best:
        assert f">{point.place} {point.name}</text>" in drawing
    line = re.findall(r'<polyline points="([^"]*)" class="front"/>', drawing)
    assert [len(points.split()) for points in line] == [3]
    across = [float(pair.split(",")[0]) for pair in line[0].split()]
    assert across == sorted(across)


def test_every_class_attribute_can_be_chosen() -> None:
    run = replace(compared("strongest", "queries"), comparison=None, cells=())
    data = explorer(run)
    assert data is not None
    assert [axis["key"] for axis in data["utility"]] == [
        "queries|median",
        "classification|sex",
        "classification|disease",
    ]
    assert data["points"][0]["utility"] == pytest.approx(
        {"queries|median": 0.1, "classification|sex": 0.9, "classification|disease": 0.1}
    )


def test_a_release_has_one_number_all_over_the_report() -> None:
    run = compared("homogeneity.success", "queries")
    # y is 1, z is 2, x with its two seeds is 3
    assert numbers(run) == {1: 3, 2: 3, 3: 1, 4: 2}
    assert detailed(run) == [3, 4, 1, 2]
    assert [mark.name for mark in panels(run)[0].marks] == ["1 y seed=1", "2 z seed=1", "3 x seed=1", "3 x seed=2"]
    page = render_html(run)
    assert re.findall(r'<li value="(\d)"><h3><a href="#release-(\d)">(\w)', page) == [
        ("1", "3", "y"), ("2", "4", "z"), ("3", "1", "x"), ("3", "2", "x"),
    ]  # fmt: skip
    assert re.findall(r"<summary><h3>(\d · \w)", page) == ["1 · y", "2 · z", "3 · x", "3 · x"]
    assert (
        '<th scope="row" class="num">3</th><td><a href="#release-1">x</a></td>' in page
    )  # the table leads to the first


def test_records_that_no_cell_names_have_numbers_too() -> None:
    run = replace(compared("homogeneity.success", "queries"), cells=())
    assert sorted(numbers(run)) == [1, 2, 3, 4]
    for render in (render_html, render_markdown, render_terminal):
        assert "nobody" in render(run)


@pytest.mark.parametrize(
    ("risk", "utility", "said"),
    [
        ("homogeneity.sucess", "queries", "homogeneity.success"),
        ("strongest", "queries.mean", "queries.median"),
        ("strongest", "classification.age", "classification.sex, classification.disease"),
    ],
)
def test_a_figure_that_nothing_has_is_an_error_that_says_what_there_is(risk: str, utility: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compared(risk, utility)


def test_the_interval_of_an_error_over_seeds_ends_at_nothing() -> None:
    found = compared("homogeneity.success", "queries").comparison
    assert found is not None
    x = found.points[-1]
    # 0.1 and 0.3: 0.2 ± 12.7062 · 0.1; 0.4 and 0.6 likewise, and an excess may be below 0
    assert (x.utility_low, x.utility_high) == (0.0, pytest.approx(0.2 + 1.27062, abs=1e-4))
    assert x.risk_low == pytest.approx(0.5 - 1.27062, abs=1e-4)


def test_the_note_speaks_of_others_only_where_there_are_some() -> None:
    run = compared("homogeneity.success", "queries")
    found = run.comparison
    assert found is not None
    assert "The others are beaten by the one named" in frontier_note(run, found)
    assert "others" not in frontier_note(run, replace(found, points=found.points[:2]))


def test_a_cell_that_took_more_than_its_seconds_is_too_slow_whatever_the_clock_of_the_system() -> None:
    asked: dict[str, Any] = {"method": "mondrian", "params": {"k": 3}, "seed": 1, "name": "x"}
    slow = carry_out(CellJob(**asked, timeout=1e-6), CellWork(None, world(), FEW))
    assert (slow.status, slow.reason, slow.result) == ("timeout", "more than 1e-06 s", None)
    assert carry_out(CellJob(**asked, timeout=600), CellWork(None, world(), FEW)).status == "ok"
