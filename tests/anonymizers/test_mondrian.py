"""Mondrian: the compiled version gives the classes of the plain one, and small tables worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.mondrian import Mondrian
from anonymizers.shared.constraints import (
    Close,
    Closeness,
    Constraint,
    DistinctValues,
    EntropyDiversity,
    LargestShare,
    RecursiveDiversity,
    Scattered,
    Size,
    Values,
    all_limits,
)
from anonymizers.shared.cuts import describe, make_room, partition
from auditor.files.tables import read_raw
from auditor.measure import divergences, diversity, nearness
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError
from auditor.model.progress import silent
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.adult import write_adult
from tests.support.anonymizer_cases import SETTINGS
from tests.support.naive_mondrian import naive_classes

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "wage": {"role": "quasi", "type": "numeric", "domain": [0, 400]},
            "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
            "city": {
                "role": "quasi",
                "taxonomy": {
                    "North": ["a", "b", "c"],
                    "South": {"Coast": ["d"], "Hills": {"Old": ["e"], "New": ["f", "g"]}},
                },
            },
            "kind": {"role": "quasi", "taxonomy": ["only"]},
            "team": {"role": "quasi"},
            "disease": {
                "role": "sensitive",
                "taxonomy": {"Lung": ["flu", "cough"], "Skin": {"Red": ["rash"], "Pale": ["acne", "wart"]}},
            },
            "income": {"role": "sensitive", "type": "numeric"},
        }
    }
)
VALUES = {
    "age": ["20", "21", "21.5", "30", "47", "60"],
    "wage": ["0.1", "0.2", "0.3", "100", "200"],
    "grade": ["low", "high", "mid"],
    "city": [*"adbecfg"],
    "kind": ["only"],
    "team": ["red", "green", "blue", "white"],
    "disease": ["flu", "rash", "cough", "acne", "wart"],
    "income": ["1000", "1200", "1450", "4000", "4100", "9000"],
}
MORE: list[dict[str, Any]] = [
    {"k": 1, "strict": False},
    {"k": 2, "l": 3, "strict": False},
    {"k": 3, "l": 2, "t": 0.4, "alpha": 0.7},
    {"k": 2, "l": 1, "diversity": "recursive", "c": 0.8},
    {"k": 1, "t": 0.25, "closeness": "ordered", "sensitive": "income", "strict": False},
    {"k": 1, "t": 0.2, "closeness": "hierarchical"},
    {"k": 1, "epsilon": 150, "m": 1.5, "sensitive": "income"},
    {"k": 2, "epsilon": 0, "m": 2, "l": 2, "t": 0.5, "closeness": "ordered", "sensitive": "income"},
]


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> Table:
    """Tables in which any column may be constant, full of ties, or have missing values."""
    count = draw(st.sampled_from([n for n in (120, 40, 7, 2, 1) if n >= least]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = {}
    for column, values in VALUES.items():
        pool = [*values[: draw(st.integers(1, len(values)))], *[""] * draw(st.booleans())]
        rows[column] = [pool[i] for i in rng.integers(len(pool), size=count)]
    return table_of(rows)


def table_of(rows: dict[str, list[str]]) -> Table:
    (table,) = encode(SCHEMA, [RawTable("people", rows)])
    return table


def classes(table: Table, settings: dict[str, Any], seed: int = 0) -> Ints:
    method = Mondrian.configure(settings)
    _, provenance = method.anonymize(table, np.random.default_rng(seed))
    return provenance.bucket.astype(np.int64)


def compiled_and_plain(table: Table, settings: dict[str, Any], seed: int) -> tuple[Ints, Ints]:
    """The classes of both versions, with the same order of rows with equal values."""
    method = Mondrian.configure(settings)
    about = None
    if {"l", "t", "alpha", "epsilon"} & set(settings):
        about = Values(table, settings.get("sensitive", "disease" if "disease" in table.codes else "occupation"))
    constraints = method.constraints(table.rows, about)
    priority = None
    if not method.strict:
        priority = np.argsort(np.random.default_rng(seed).permutation(table.rows))
    sensitive = np.zeros(table.rows, dtype=np.int32) if about is None else about.codes
    plain = naive_classes(table, sensitive, constraints, priority)
    limits = all_limits(constraints, about)
    rng = np.random.default_rng(seed)
    return partition(table, table.schema.quasi, limits, about, method.strict, rng, silent), plain


@pytest.mark.parametrize("settings", SETTINGS["mondrian"] + MORE, ids=str)
@given(table=tables(), seed=st.integers(0, 5))
def test_compiled_version_gives_the_plain_ones_classes(settings: dict[str, Any], table: Table, seed: int) -> None:
    if "epsilon" in settings and "" in table.texts("income"):
        with pytest.raises(PromiseError, match="some are missing"):
            compiled_and_plain(table, settings, seed)
        return
    compiled, plain = compiled_and_plain(table, settings, seed)
    assert compiled.tolist() == plain.tolist()


@pytest.fixture(scope="module")
def adult(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    """The first 2000 rows of Adult, with occupation or age as the sensitive column."""
    file, schema_file = write_adult(data_folder, tmp_path_factory.mktemp("adult"))
    text = schema_file.read_text()
    found = {}
    for sensitive in ("occupation", "age"):
        changed = text.replace('role = "sensitive"', 'role = "quasi"')
        changed = changed.replace(
            f'[columns.{sensitive}]\nrole = "quasi"', f'[columns.{sensitive}]\nrole = "sensitive"'
        )
        schema_file.write_text(changed)
        schema = Schema.read(schema_file)
        (table,) = encode(schema, [read_raw(file, schema.format, tuple(schema.columns))])
        found[sensitive] = table.take(np.arange(2000))
    return found


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    "settings",
    [
        {"k": 5},
        {"k": 5, "strict": False},
        {"k": 5, "l": 3},
        {"k": 5, "l": 3, "strict": False},
        {"k": 5, "l": 3, "diversity": "entropy"},
        {"k": 5, "l": 3, "diversity": "recursive", "c": 2},
        {"k": 5, "alpha": 0.4},
        {"k": 5, "t": 0.3},
        {"k": 5, "t": 0.3, "closeness": "hierarchical"},
        {"k": 5, "t": 0.15, "closeness": "ordered", "sensitive": "age"},
        {"k": 5, "epsilon": 2, "m": 3, "sensitive": "age"},
    ],
    ids=str,
)
def test_same_classes_on_adult(adult: dict[str, Table], settings: dict[str, Any]) -> None:
    table = adult[settings.get("sensitive", "occupation")]
    compiled, plain = compiled_and_plain(table, settings, 1)
    assert compiled.tolist() == plain.tolist()
    assert compiled.max() > 10  # there was something to cut


@given(table=tables(least=7), rows=st.data())
def test_figures_are_the_audits(table: Table, rows: st.DataObject) -> None:
    """Each figure of the kernel is that of auditor.measure, on classes of any kind."""
    from anonymizers.kernels import mondrian as kernel

    chosen = np.array(rows.draw(st.lists(st.integers(0, table.rows - 1), min_size=1, max_size=30, unique=True)))
    for column in ("disease", "income"):
        about = Values(table, column)
        count = np.bincount(about.codes[chosen], minlength=len(about.present))
        found, size = np.flatnonzero(count), len(chosen)
        assert kernel.entropy_l(found, count, size) == pytest.approx(diversity.entropy_l(count[None]), abs=1e-12)
        for l in (1, 2, 3):
            needed = diversity.recursive_c(count[None], l)
            assert kernel.recursive_c(found, count, l) == (np.inf if needed is None else needed)
        close: list[tuple[Close, float]] = [
            (Close(0.1, Closeness.EQUAL, about), divergences.equal_distance(count[None], about.whole)[0])
        ]
        if column == "disease":
            tree = about.domain.taxonomy
            assert tree is not None
            by_tree = Close(0.1, Closeness.HIERARCHICAL, about)
            close.append((by_tree, divergences.hierarchical_distance(count[None], about.whole, tree, by_tree.nodes)[0]))
        for constraint, expected in close:
            limits = all_limits([constraint], about)
            room = make_room(size, describe([]), limits)
            distance = kernel.tree_distance(found, count, size, limits, room.below, room.crossed)
            assert distance == pytest.approx(expected, abs=1e-12)
            assert not room.below.any()
    ranked = Close(0.1, Closeness.ORDERED, about)
    expected = divergences.ordered_distance(count[None, : ranked.ranked], about.whole[: ranked.ranked])[0]
    assert kernel.ordered_distance(found, count, all_limits([ranked], about)) == pytest.approx(expected, abs=1e-12)
    if ranked.ranked == len(about.present):
        for epsilon in (0.0, 200.0, 250.0, 5000.0):
            scattered = Scattered(epsilon, 2, about)
            numbers = scattered.numbers[about.codes[chosen]]
            largest = nearness.largest_m(np.zeros(size, dtype=np.int64), numbers, epsilon)
            assert kernel.largest_m(found, count, size, all_limits([scattered], about)) == largest


@given(table=tables(least=7), rows=st.data())
def test_constraints_hold_alike(table: Table, rows: st.DataObject) -> None:
    """At the limit itself, just inside and just outside: the kernel decides as the constraint does."""
    from anonymizers.kernels.mondrian import holds

    chosen = np.array(rows.draw(st.lists(st.integers(0, table.rows - 1), min_size=1, max_size=12, unique=True)))
    about = Values(table, "disease")
    count = np.bincount(about.codes[chosen], minlength=len(about.present))
    share = float(diversity.alpha(count[None]) or 0)
    entropy = float(diversity.entropy_l(count[None]) or 0)
    distance = float(divergences.equal_distance(count[None], about.whole)[0])
    needed = diversity.recursive_c(count[None], 1) or 1.0
    size = len(chosen)
    for slack in (-1e-3, 0.0, 1e-3):
        constraints: list[Constraint] = [
            LargestShare(share + slack, about),
            EntropyDiversity(entropy + slack, about),
            Close(distance + slack, Closeness.EQUAL, about),
            RecursiveDiversity(needed + slack, 1, about),
            DistinctValues(int((count > 0).sum()) + round(slack * 1000), about),
            Size(size + round(slack * 1000), table.rows),
        ]
        for constraint in constraints:
            limits = all_limits([constraint], about)
            room = make_room(size, describe([]), limits)
            assert holds(about.codes[chosen], limits, room) == constraint.holds(count), constraint
            assert not room.counts.any()


def test_work_in_slices_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = table_of({c: [values[i] for i in rng.integers(len(values), size=150)] for c, values in VALUES.items()})
    settings = {"k": 3, "l": 2}
    at_once = classes(table, settings)
    monkeypatch.setattr("anonymizers.shared.cuts._SLICE", 1)
    assert classes(table, settings).tolist() == at_once.tolist()
    seen: list[tuple[int, int]] = []
    Mondrian(k=3).anonymize(table, rng, lambda done, total, _: seen.append((done, total)))
    assert len(seen) > 20
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {150}

    def interrupt(done: int, *_: object) -> None:
        if done > 75:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Mondrian(k=3).anonymize(table, rng, interrupt)


def people(**columns: str) -> Table:
    """A table from texts, one letter or word a cell, with the other columns constant."""
    cells = {column: text.split() for column, text in columns.items()}
    count = len(next(iter(cells.values())))
    return table_of({c: cells.get(c, [values[0]] * count) for c, values in VALUES.items()})


def parts(table: Table, settings: dict[str, Any], seed: int = 0) -> set[frozenset[int]]:
    found = classes(table, settings, seed)
    return {frozenset(np.flatnonzero(found == number).tolist()) for number in np.unique(found)}


def sets(*members: set[int]) -> set[frozenset[int]]:
    return set(map(frozenset, members))


def test_a_taxonomy_is_cut_into_children_by_hand() -> None:
    # The common node of a b d e is the root: cut into North (a b) and South (d e). Both are cut on, North into a and b,
    # South into Coast (d) and Hills (e).
    table = people(city="a a b b d d e e")
    assert parts(table, {"k": 2}) == sets({0, 1}, {2, 3}, {4, 5}, {6, 7})
    assert parts(table, {"k": 3}) == sets({0, 1, 2, 3}, {4, 5, 6, 7})
    # Three children of North at once: with k = 2 the c alone forbids the cut, though {a, a} and {b, b} would do.
    assert parts(people(city="a a b b c"), {"k": 2}) == sets({0, 1, 2, 3, 4})


def test_missing_values_are_cut_off_first_by_hand() -> None:
    table = table_of(
        {c: ["a", "a", "d", "d", "", ""] if c == "city" else [values[0]] * 6 for c, values in VALUES.items()}
    )
    assert parts(table, {"k": 2}) == sets({0, 1}, {2, 3}, {4, 5})
    assert parts(table, {"k": 3}) == sets({0, 1, 2, 3, 4, 5})  # two missing values are too few, and go first
    # In a column without a taxonomy they stand last: the median of 20 20 30 "" "" "" is 30.
    table = table_of(
        {c: ["20", "20", "30", "", "", ""] if c == "age" else [values[0]] * 6 for c, values in VALUES.items()}
    )
    assert parts(table, {"k": 3}) == sets({0, 1, 2}, {3, 4, 5})


def test_cut_below_a_greatest_value_that_most_have() -> None:
    # The median of 20 21 30 30 30 is 30, the greatest: the cut is below it.
    assert parts(people(age="20 21 30 30 30"), {"k": 2}) == sets({0, 1}, {2, 3, 4})


def test_next_column_where_the_widest_breaks_a_constraint() -> None:
    # Spreads: age (60 - 20)/40 = 1, wage (100 - 0.1)/400 = 0.25. By age {0, 1} would have flu only; by wage both parts have
    # two diseases.
    table = people(age="20 20 60 60", wage="0.1 100 0.1 100", disease="flu flu rash rash")
    assert parts(table, {"k": 2}) == sets({0, 1}, {2, 3})
    assert parts(table, {"k": 2, "l": 2}) == sets({0, 2}, {1, 3})


def test_ties_between_columns_go_to_the_first() -> None:
    # age and grade both spread over their whole domain; age comes first in the schema.
    table = people(age="20 20 60 60", grade="low high low high")
    assert parts(table, {"k": 2}) == sets({0, 1}, {2, 3})


def test_relaxed_cuts_divide_equal_values_at_random() -> None:
    # Half of six rows: the 20 and two of the five 21s, which ones the seed says.
    table = people(age="20 21 21 21 21 21")
    found = {frozenset(parts(table, {"k": 3, "strict": False}, seed)) for seed in range(40)}
    assert all({len(part) for part in split} == {3} for split in found)
    partners = {row for split in found for part in split if 0 in part for row in part}
    assert partners == {0, 1, 2, 3, 4, 5}
    assert len(found) > 5  # of ten possible
    assert parts(table, {"k": 3, "strict": False}, 7) == parts(table, {"k": 3, "strict": False}, 7)


@given(table=tables(least=7), k=st.integers(1, 6), seed=st.integers(0, 3))
def test_relaxed_classes_are_below_twice_k(table: Table, k: int, seed: int) -> None:
    """The paper's bound for relaxed cuts, but for rows with equal quasi-identifiers, which need no cut."""
    compiled, _ = compiled_and_plain(table, {"k": k, "strict": False}, seed)
    rows = table.matrix(table.schema.quasi)
    for number in np.unique(compiled):
        inside = rows[compiled == number]
        assert len(inside) >= min(k, table.rows)
        assert len(inside) < 2 * k or len(np.unique(inside, axis=0)) == 1
