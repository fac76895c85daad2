"""The worst class of a scan: bounds hold for every class, and what they leave out is not the worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.engines.engine import Engine, batches, kept, open_engine
from auditor.engines.scanning import statistics, worst
from auditor.engines.scanning.distances import EQUAL, NEAR, ORDERED, greatest_distances, greatest_in_memory
from auditor.engines.scanning.opening import open_release
from auditor.engines.scanning.sensitive import Sensitive, Values
from auditor.measure.counts import ClassCounts
from auditor.measure.divergences import equal_distance, ordered_distance
from auditor.measure.nearness import near
from auditor.model.progress import silent
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from tests.support.lengths import at_length
from tests.support.scanning_cases import MEMORY, assert_same, random_case

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

NUMERIC = Schema.from_dict({"columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive", "type": "numeric"}}})


def by_windows(column: Sensitive, entries: Any, _: Any) -> dict[str, float]:
    """The greatest figures without bounds: the engine computes those of all classes."""
    return greatest_distances(column, entries, worst.figures(column))


@pytest.fixture(params=[False, True], ids=["bounds", "windows"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to the worst class."""
    if request.param:
        monkeypatch.setattr(worst, "greatest", by_windows)


def numbers(
    seed: int, classes: int, most: int, values: int, spreads: Sequence[float] = (0.3, 1.0, 3.0), apart: float = 1.0
) -> pd.DataFrame:
    """Classes of very unequal sizes, incomes skewed and partly missing; `apart` says how far classes differ."""
    rng = np.random.default_rng(seed)
    age = np.repeat(np.arange(classes), rng.integers(1, most, classes))
    spread = rng.choice(spreads, classes)[age]
    income = np.floor(rng.lognormal(rng.normal(2, apart, classes)[age], spread)) % values
    return pd.DataFrame({"age": age, "income": np.where(rng.random(len(age)) < 0.1, np.nan, income)})


@pytest.mark.slow
@pytest.mark.parametrize("seed", at_length([0], range(1, 8)))
@pytest.mark.parametrize("suppression", [Suppression.EXCLUDED, Suppression.OWN])
def test_windows_over_all_classes(
    seed: int, suppression: Suppression, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worst, "greatest", by_windows)
    case = random_case(100 + seed, rows=200, withheld=0.1)
    assert_same(case.parquet(tmp_path / "r.parquet"), case.schema, suppression=suppression, sample=5)


@contextmanager
def opened_column(frame: pd.DataFrame, folder: Path, epsilon: float | None = None) -> Iterator[tuple[Sensitive, Any]]:
    """A sensitive column of a release, and its entries."""
    frame.to_parquet(folder / "r.parquet")
    with open_engine("duckdb", MEMORY) as engine:
        opened = open_release(engine, str(folder / "r.parquet"), NUMERIC, Suppression.EXCLUDED, silent)
        values = Values.of(opened.counting.labels["income"], opened.counting.codings["income"].rows)
        column = Sensitive.of(opened.counting, "income", values, epsilon)
        with kept(engine, column.entries()) as entries:
            yield column, entries


@pytest.mark.slow
@pytest.mark.parametrize("limit", at_length(["FETCHED"], ["ENTRIES"]))
def test_what_few_classes_do_not_show_the_engine_is_asked_for(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One class of each kind is fetched, whose bound is the greatest; others may be worse."""
    asked: list[str] = []
    monkeypatch.setattr(worst, limit, 1)
    monkeypatch.setattr(
        worst, "greatest_distances", lambda *given: asked.extend(given[2]) or greatest_distances(*given)
    )
    for seed in range(16):
        monkeypatch.setattr(worst, "CELLS", 1 + seed % 3)
        frame = numbers(seed, 40, 60, 50, spreads=(1.0,)) if seed % 2 else numbers(seed, 40, 8, 50)
        with opened_column(frame, tmp_path) as (column, entries):
            found = worst.greatest(column, entries, statistics._by_class(column, entries, 2))
            assert found == pytest.approx(greatest_in_memory(column, entries, worst.figures(column)), abs=1e-12)
    assert set(asked) == {EQUAL, ORDERED, NEAR}


def test_a_bound_above_the_figure_by_very_little_is_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class with the greatest bound is nearly the worst one, whose bound is nearly its figure."""
    monkeypatch.setattr(worst, "FETCHED", 1)
    with opened_column(numbers(2, 300, 600, 50, spreads=(1.0,), apart=0.01), tmp_path) as (column, entries):
        each = statistics._by_class(column, entries, 2).to_pandas().sort_values(column.keys)
        exact = [figures_of(column, counts) for counts in column.counts(entries)]
        true, close = {}, 1.0
        for name in (EQUAL, ORDERED, NEAR):
            figure = np.concatenate([some[name] for some in exact])
            first, second = np.unique(figure)[[-1, -2]]
            true[name] = first
            bound = np.where(figure == second, first + (first - second), figure)
            each[worst.bound_name(name)] = np.where(figure == first, first + (first - second) / 2, bound)
            close = min(close, first - second)
        given = column.ibis.memtable(each)
        assert worst.greatest(column, entries, given) == pytest.approx(true, abs=1e-12)
    assert close < 0.005


def test_the_worst_class_may_be_among_those_fetched(tmp_path: Path) -> None:
    """Then the engine finds less among the others. A class of one person who has 9 is 1 - q from the whole, and its bound
    says just that; the bounds of classes with a rare value are higher, what they come to is not."""
    rare = [([2] * 98 + [0, rare]) for rare in (1, 3)]
    classes = [[9], *rare, [0] * 4998 + [2] * 2804 + [9] * 1009]
    frame = pd.DataFrame({"age": np.repeat(np.arange(4), [len(c) for c in classes]), "income": np.concatenate(classes)})
    with pytest.MonkeyPatch.context() as patched, opened_column(frame, tmp_path) as (column, entries):
        patched.setattr(worst, "FETCHED", 1)
        each = statistics._by_class(column, entries, 2)
        _, beyond = worst._most_bounded(column, each, worst.figures(column))
        found = worst.greatest(column, entries, each)
    assert found[EQUAL] == pytest.approx(1 - 1010 / len(frame))
    assert beyond[EQUAL] > found[EQUAL] + 0.01


@pytest.mark.slow
def test_classes_whose_keys_need_two_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.engines.scanning.coding.KEY_ROOM", 50)
    monkeypatch.setattr(worst, "FETCHED", 2)
    case = random_case(7, rows=300, withheld=0.1)
    assert_same(case.parquet(tmp_path / "r.parquet"), case.schema, sample=5)


def tables_of(engine: Engine) -> list[str]:
    """The tables that an engine has."""
    return [name for (name,) in engine.con.con.execute("select table_name from duckdb_tables()").fetchall()]


def test_nothing_is_left_of_what_cannot_be_kept() -> None:
    with open_engine("duckdb", MEMORY) as engine:
        table = engine.ibis.memtable(pa.table({"a": ["1", "2", "x"]}))
        with pytest.raises(duckdb.Error, match="x"), kept(engine, table.select(a=table.a.cast("int64"))):
            raise AssertionError
        with pytest.raises(ZeroDivisionError), kept(engine, table):
            raise ZeroDivisionError
        assert tables_of(engine) == []


def test_a_fault_while_batches_are_read_is_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, rows: int) -> Iterator[Any]:
        raise OSError(f"Invalid Input Error: after {rows} rows")
        yield self

    monkeypatch.setattr(duckdb.DuckDBPyRelation, "to_arrow_reader", broken)
    with open_engine("duckdb", MEMORY) as engine:
        table = engine.ibis.memtable(pa.table({"a": [1, 2]}))
        with pytest.raises(duckdb.Error, match="after 5 rows"):
            list(batches(engine, table, 5))
        assert tables_of(engine) == []


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
    with opened_column(numbers(cells, 300, 40, 40), tmp_path, epsilon) as (column, entries):
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
    frame = pd.DataFrame({"age": [1, 1, 2, 2, 3], "income": [None, None, 5.0, None, 7.0]})
    with opened_column(frame, tmp_path) as (column, entries):
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
def test_numbers_of_suppressed_rows_alone_are_near_to_nothing(tmp_path: Path) -> None:
    pd.DataFrame({"age": ["1", "1", "*", "*"], "income": [None, None, 5.0, 7.0]}).to_parquet(tmp_path / "r.parquet")
    record = assert_same(tmp_path / "r.parquet", NUMERIC)
    assert record["release"]["sensitive"][0]["proximity_m"] is None


@pytest.mark.usefixtures("way")
def test_numbers_so_large_that_their_noise_is_wider_than_what_parts_small_ones(tmp_path: Path) -> None:
    cells = {"age": [1, 1, 1, 1, 2, 2, 2, 2, 3], "income": [0.0, 0.1, 0.2, None, 1e15, 1e15 + 0.5, 5.0, 7.0, None]}
    pd.DataFrame(cells).to_parquet(tmp_path / "r.parquet")
    settings = {"proximity": {"epsilon": 0.01, "relative": False}}
    record = assert_same(tmp_path / "r.parquet", NUMERIC, settings=settings)
    assert record["release"]["sensitive"][0]["proximity_m"] == 2.0


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("first", "steps", "m"),
    [(0, (0, 1, 2, 3, 100, 200, 300, 400), 4 / 3), (2**52, (0, 10, 1000, 5000, 5009, 6000, 7000, 8000), 4.0)],
)
def test_numbers_that_are_just_so_far_apart_as_is_near(
    first: int, steps: Sequence[int], m: float, tmp_path: Path
) -> None:
    """Of the small numbers three of a class are near to its second. Of the large ones, by their noise, those 9 apart are near
    (which stand in two classes) and those 10 apart are not: half way between, once added, is rounded to 10."""
    frame = pd.DataFrame({"age": [1, 1, 1, 1, 2, 2, 2, 2], "income": [float(first + step) for step in steps]})
    frame.to_parquet(tmp_path / "r.parquet")
    record = assert_same(tmp_path / "r.parquet", NUMERIC, settings={"proximity": {"epsilon": 1.0, "relative": False}})
    assert record["release"]["sensitive"][0]["proximity_m"] == pytest.approx(m)
