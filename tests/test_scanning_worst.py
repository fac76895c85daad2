"""The worst class of a scan: bounds hold for every class, and what they leave out is not the worst."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.measure.counts import ClassCounts
from auditor.measure.divergences import equal_distance, ordered_distance
from auditor.measure.nearness import near
from auditor.model.progress import silent
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from auditor.scanning import statistics, worst
from auditor.scanning.distances import EQUAL, NEAR, ORDERED, greatest_distances, greatest_in_memory
from auditor.scanning.engines import kept, open_engine
from auditor.scanning.opening import open_release
from auditor.scanning.scan import counted_values
from auditor.scanning.sensitive import Sensitive
from tests.scanning_cases import MEMORY, assert_same, random_case

pytest.importorskip("ibis")

NUMERIC = Schema.from_dict({"columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive", "type": "numeric"}}})


def by_windows(column: Sensitive, entries: Any, _: Any) -> dict[str, float]:
    """The greatest figures without bounds: the engine computes those of all classes."""
    return greatest_distances(column, entries, worst.figures(column))


@pytest.fixture(params=[False, True], ids=["bounds", "windows"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to the worst class."""
    if request.param:
        monkeypatch.setattr(worst, "greatest", by_windows)


def numbers(seed: int, classes: int, most: int, values: int) -> pd.DataFrame:
    """Classes of very unequal sizes, incomes skewed and partly missing."""
    rng = np.random.default_rng(seed)
    age = np.repeat(np.arange(classes), rng.integers(1, most, classes))
    spread = rng.choice([0.3, 1.0, 3.0], classes)[age]
    income = np.floor(rng.lognormal(rng.normal(2, 1, classes)[age], spread)) % values
    return pd.DataFrame({"age": age, "income": np.where(rng.random(len(age)) < 0.1, np.nan, income)})


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("suppression", [Suppression.EXCLUDED, Suppression.OWN])
def test_windows_over_all_classes(
    seed: int, suppression: Suppression, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worst, "greatest", by_windows)
    case = random_case(100 + seed, rows=200, withheld=0.1)
    assert_same(case.parquet(tmp_path / "r.parquet"), case.schema, suppression=suppression, sample=5)


@pytest.mark.parametrize("cells", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_few_fetched_and_few_cells(seed: int, cells: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(worst, "FETCHED", 1)
    monkeypatch.setattr(worst, "CELLS", cells)
    monkeypatch.setattr(
        worst, "greatest_distances", lambda *given: asked.extend(given[2]) or greatest_distances(*given)
    )
    numbers(seed, 60, 30, 50).to_parquet(tmp_path / "r.parquet")
    assert_same(tmp_path / "r.parquet", NUMERIC, sample=5)
    if cells == 1:
        assert asked  # one class and one cell do not suffice: the engine was asked for the rest


def test_where_bounds_suffice_the_engine_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worst, "greatest_distances", None)
    numbers(1, 3000, 30, 60).to_parquet(tmp_path / "r.parquet")
    record = assert_same(tmp_path / "r.parquet", NUMERIC, sample=5)
    assert record["release"]["classes"] > 5 * worst.FETCHED


@pytest.mark.parametrize("cells", [1, 3, 8, 100])
@pytest.mark.parametrize("epsilon", [None, 0.0, 3.0])
def test_bounds_hold_for_every_class(
    cells: int, epsilon: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worst, "CELLS", cells)
    numbers(cells, 300, 40, 40).to_parquet(tmp_path / "r.parquet")
    with open_engine("duckdb", MEMORY) as engine:
        opened = open_release(engine, str(tmp_path / "r.parquet"), NUMERIC, Suppression.EXCLUDED, silent)
        values = counted_values(opened.counting, "income")
        column = Sensitive.of(opened.counting, "income", values, epsilon)
        with kept(engine, column.entries()) as entries:
            each = statistics._by_class(column, entries, 2).to_pandas().sort_values(column.keys)
            exact = [figures_of(column, counts) for counts in column.counts(entries)]
    figures = {name: np.concatenate([some[name] for some in exact]) for name in (EQUAL, ORDERED, NEAR)}
    assert len(figures[EQUAL]) == len(each) > 200
    for name, figure in figures.items():
        assert (each[worst.bound_name(name)] >= figure - 1e-12).all()
    if cells == 100:  # every place is a cell
        assert np.allclose(each[worst.bound_name(ORDERED)], figures[ORDERED])
        assert cells > column.placed


def figures_of(column: Sensitive, counts: ClassCounts) -> dict[str, Any]:
    """The figures of each class: its distances, and the greatest share that is near to one of its values."""
    assert column.order is not None
    assert column.number is not None
    assert column.reach is not None
    placed, whole = counts.counts.arranged(column.order), column.values.whole
    greatest = np.zeros(len(placed.sizes))
    np.maximum.at(greatest, placed.row, near(placed, column.number, column.reach) / placed.sizes[placed.row])
    distances = equal_distance(counts.counts, whole), ordered_distance(placed, whole[column.order])
    return dict(zip((EQUAL, ORDERED, NEAR), (*distances, greatest), strict=True))


def test_both_ways_agree_on_classes_of_which_nothing_is_said(tmp_path: Path) -> None:
    cells = {"age": [1, 1, 2, 2, 3], "income": [None, None, 5.0, None, 7.0]}
    pd.DataFrame(cells).to_parquet(tmp_path / "r.parquet")
    with open_engine("duckdb", MEMORY) as engine:
        opened = open_release(engine, str(tmp_path / "r.parquet"), NUMERIC, Suppression.EXCLUDED, silent)
        column = Sensitive.of(opened.counting, "income", counted_values(opened.counting, "income"), None)
        with kept(engine, column.entries()) as entries:
            here = greatest_in_memory(column, entries, [EQUAL, ORDERED, NEAR])
            there = greatest_distances(column, entries, [EQUAL, ORDERED, NEAR])
    # the whole has 3/5 missing, 1/5 of 5 and 1/5 of 7; the last class has only 7; in order each of 5 and 7 is half
    assert here == pytest.approx({EQUAL: 0.8, ORDERED: 0.5, NEAR: 1.0})
    assert there == pytest.approx(here)


@pytest.mark.usefixtures("way")
def test_a_missing_value_beside_one_large_number_is_near_to_nothing(tmp_path: Path) -> None:
    """Whatever is added to such a number may be lost in rounding."""
    cells = {"age": [1, 1, 1, 2, 2], "income": [1e17, 1e17, None, 1e17, 1e17]}
    pd.DataFrame(cells).to_parquet(tmp_path / "r.parquet")
    record = assert_same(tmp_path / "r.parquet", NUMERIC)
    assert record["release"]["sensitive"][0]["proximity_m"] == 1.0


@pytest.mark.usefixtures("way")
def test_numbers_so_large_that_their_noise_is_wider_than_what_parts_small_ones(tmp_path: Path) -> None:
    cells = {"age": [1, 1, 1, 1, 2, 2, 2, 2, 3], "income": [0.0, 0.1, 0.2, None, 1e15, 1e15 + 0.5, 5.0, 7.0, None]}
    pd.DataFrame(cells).to_parquet(tmp_path / "r.parquet")
    settings = {"proximity": {"epsilon": 0.01, "relative": False}}
    record = assert_same(tmp_path / "r.parquet", NUMERIC, settings=settings)
    assert record["release"]["sensitive"][0]["proximity_m"] == 2.0
