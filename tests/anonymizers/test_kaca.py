"""KACA: tables worked by hand, claims of its paper, and the same classes as comparing every class with every other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from anonymizers.kaca import Kaca, kaca, kaca_counted, kept_shares
from auditor.files.tables import read_table
from auditor.model.arrays import Ints
from auditor.model.errors import UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.adult import write_adult
from tests.support.lengths import at_length
from tests.support.naive_kaca import loss, naive_kaca, weighted_hierarchical_distance


def table_of(columns: dict[str, dict[str, Any]], rows: dict[str, list[str]]) -> Table:
    schema = Schema.from_dict({"columns": {name: {"role": "quasi", **column} for name, column in columns.items()}})
    (table,) = encode(schema, [RawTable("people", rows)])
    return table


def grouped(groups: Ints) -> list[list[int]]:
    return sorted(np.flatnonzero(groups == number).tolist() for number in range(groups.max() + 1))


def ages(groups: Ints, values: Sequence[str]) -> list[list[int]]:
    return sorted(sorted(int(values[row]) for row in rows) for rows in grouped(groups))


def ragged(rng: random.Random, name: str, depth: int) -> object:
    """A random taxonomy: groups of one to three parts, leaves at any depth."""
    if depth == 0 or (len(name) > 1 and rng.random() < 0.3):
        return [f"{name}{i}" for i in range(rng.randint(1, 3))]
    return {f"{name}{i}*": ragged(rng, f"{name}{i}", depth - 1) for i in range(rng.randint(1, 3))}


def leaves(part: Any) -> list[str]:
    return part if isinstance(part, list) else [leaf for inner in part.values() for leaf in leaves(inner)]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables with up to four quasi-identifiers of all kinds, ties, constants and missing values."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    count = draw(st.sampled_from([1, 2, 7, 20, 60, 150]))
    taxonomy = ragged(rng, "v", draw(st.integers(0, 4)))
    columns: dict[str, dict[str, Any]] = {
        "age": {"type": "numeric"},
        "grade": {"order": ["low", "mid", "high", "top"]},
        "place": {"taxonomy": taxonomy},
        "team": {"type": "nominal"},
    }
    values = {
        "age": [str(v) for v in range(20, 40)] + ["31.5"],
        "grade": ["low", "mid", "high", "top"],
        "place": leaves(taxonomy),
        "team": ["red", "green", "blue"],
    }
    chosen = draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=4, unique=True))
    rows = {}
    for column in chosen:
        pool = rng.sample(values[column], rng.randint(1, len(values[column])))
        gaps = rng.choice([0.0, 0.0, 0.2])
        rows[column] = [rng.choice(pool) if rng.random() >= gaps else "" for _ in range(count)]
    return table_of({column: columns[column] for column in chosen}, rows)


def test_steps_near_the_root_weigh_more() -> None:
    # Four levels, beta = 1: the steps 4→3, 3→2, 2→1 weigh 1/3, 1/2, 1, in all 11/6: WHD(4, 3) = 2/11, WHD(3, 2) = 3/11
    # and WHD(2, 1) = 6/11.
    assert kept_shares(3, 1) == [0, Fraction(6, 11), Fraction(9, 11), 1]
    assert kept_shares(2, 0) == [0, Fraction(1, 2), 1]
    assert kept_shares(0, 1) == [0]
    for h, beta in product(range(2, 7), range(3)):
        kept = kept_shares(h - 1, beta)
        for q in range(1, h + 1):
            for p in range(q, h + 1):
                assert kept[p - 1] - kept[q - 1] == weighted_hierarchical_distance(p, q, h, beta)


def test_beta_decides_the_nearest_class() -> None:
    # k = 2 and only row 0 is alone. Of the range of 20 years rows 1 and 2 are 12 away: 12/20 = 3/5. Rows 3 and 4 are as old,
    # but share only the group at level 2 of 4: WHD(4, 2) is 2/3 with beta = 0 and (1/3 + 1/2)/(11/6) = 5/11 with beta = 1.
    # Either merge distorts three rows alike. Rows 5 and 6 make the range, and are a whole column away besides.
    places = {"a": {"a1": ["x1", "x2"], "a2": ["s1"]}, "b": {"b1": ["y1"]}}
    rows = {"age": ["20", "32", "32", "20", "20", "40", "40"], "place": ["x1", "x1", "x1", "s1", "s1", "y1", "y1"]}
    table = table_of({"age": {"type": "numeric"}, "place": {"taxonomy": places}}, rows)
    for beta, expected in ((0.0, [[0, 1, 2], [3, 4], [5, 6]]), (1.0, [[0, 3, 4], [1, 2], [5, 6]])):
        assert grouped(kaca(table, ["age", "place"], 2, beta, np.random.default_rng(1))) == expected


def test_small_classes_merge_with_the_nearest() -> None:
    # k = 2 over the range 30: 20 and 22 (distance 2·2/30), 40 and 44 and 50: from 44 to 40 2·4/30, to 50 2·6/30.
    # 20 and 22 find each other from either side. If 50 is drawn when 40 and 44 are still alone it takes 44, and then 40 goes
    # to {44, 50}: 10 + 2·4 = 18 against 18 + 2·18 for {20, 22}; otherwise it joins {40, 44}. The same classes in the end.
    values = ["20", "22", "40", "44", "50"]
    table = table_of({"age": {"type": "numeric"}}, {"age": values})
    for seed in range(10):
        groups = kaca(table, ["age"], 2, 1.0, np.random.default_rng(seed))
        assert ages(groups, values) == [[20, 22], [40, 44, 50]]


def test_a_large_class_gives_only_what_lacks() -> None:
    # k = 3. Five rows of 10 and one of 20: 1 + 5 = 2k, so two rows of 10 move and three stay. With four rows of 10 all
    # five become one class.
    for copies, expected in ((5, [[10, 10, 10], [10, 10, 20]]), (4, [[10, 10, 10, 10, 20]])):
        values = ["10"] * copies + ["20"]
        table = table_of({"age": {"type": "numeric"}}, {"age": values})
        assert ages(kaca(table, ["age"], 3, 1.0, np.random.default_rng(1)), values) == expected


def test_the_rows_that_move_are_the_nearest() -> None:
    # k = 3. If 12 is drawn first, it joins the four rows of 10 (2 + 4·2 = 10 against 8 + 8 with 20), and 20 then gets
    # two of those five: 12 (8 + 8) and one 10 (10 + 10). If 20 is drawn first, it takes 12 (16; with the rows of 10 it
    # would be 10 + 4·10), and {12, 20} lacks one row of the six. Either way:
    values = ["10", "10", "12", "10", "10", "20"]
    table = table_of({"age": {"type": "numeric"}}, {"age": values})
    for seed in range(10):
        groups = kaca(table, ["age"], 3, 1.0, np.random.default_rng(seed))
        assert ages(groups, values) == [[10, 10, 10], [10, 12, 20]]


def test_missing_values_are_a_whole_column_away() -> None:
    # k = 2. Rows 0 and 1 lie at the two ends of the range, a whole column apart, as each is from the missing values; those
    # are two rows (1 + 2 distorted against 1 + 1), so the ends merge. In a tree of three levels a leaf gives up 1
    # up to the root, and a missing value as much: x goes to the two of y in the other group (tie, first class).
    table = table_of({"age": {"type": "numeric"}}, {"age": ["20", "30", "", ""]})
    for seed in range(5):
        assert grouped(kaca(table, ["age"], 2, 1.0, np.random.default_rng(seed))) == [[0, 1], [2, 3]]
    table = table_of({"place": {"taxonomy": {"a": ["x", "w"], "b": ["y"]}}}, {"place": ["x", "", "", "y", "y"]})
    assert grouped(kaca(table, ["place"], 2, 1.0, np.random.default_rng(1))) == [[0, 3, 4], [1, 2]]


@given(table=tables(), k=st.sampled_from([1, 2, 3, 5, 11]), beta=st.integers(0, 3), seed=st.integers(0, 1000))
def test_same_classes_as_comparing_all(table: Table, k: int, beta: int, seed: int) -> None:
    k = min(k, table.rows)
    quasi = table.schema.quasi
    groups, distances = kaca_counted(table, quasi, k, float(beta), np.random.default_rng(seed))
    slow = naive_kaca(table, quasi, k, beta, np.random.default_rng(seed).random(table.rows).tolist())
    assert grouped(groups) == sorted(slow.classes)
    assert distances == slow.evaluations
    codes = table.matrix(quasi)
    for rows in grouped(groups):
        assert len(rows) >= k
        assert len(rows) < 2 * k or (codes[rows] == codes[rows[0]]).all()


@pytest.mark.parametrize("k", [3, 6])
@pytest.mark.parametrize("changed", [0.25, 1000.0])
def test_same_classes_with_a_tree_that_ages(monkeypatch: pytest.MonkeyPatch, changed: float, k: int) -> None:
    # Never built anew, the search tree has to follow every change of a class by itself. Some values are far more common than
    # others, as in real tables: classes with wide labels are then often the nearest.
    monkeypatch.setattr("anonymizers.kaca._CHANGED", changed)
    rng = random.Random(11)
    columns: dict[str, dict[str, Any]] = {"age": {"type": "numeric"}}
    rows = {"age": [str(rng.randint(17, 90)) for _ in range(600)]}
    for name in "abcde":
        columns[name] = {"taxonomy": ragged(rng, name, 3)}
        values = leaves(columns[name]["taxonomy"])
        rows[name] = rng.choices(values, [0.4**i for i in range(len(values))], k=600)
    table = table_of(columns, rows)
    groups = kaca(table, list(rows), k, 1.0, np.random.default_rng(3))
    slow = naive_kaca(table, list(rows), k, 1, np.random.default_rng(3).random(600).tolist())
    assert grouped(groups) == sorted(slow.classes)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("k", "beta"), at_length([(10, 2)], [(3, 1)]))
def test_same_classes_on_adult(data_folder: Path, tmp_path: Path, k: int, beta: int) -> None:
    table = read_table(*write_adult(data_folder, tmp_path)).take(np.arange(2000))
    quasi = table.schema.quasi
    groups = kaca(table, quasi, k, float(beta), np.random.default_rng(7))
    slow = naive_kaca(table, quasi, k, beta, np.random.default_rng(7).random(2000).tolist())
    assert grouped(groups) == sorted(slow.classes)


@given(table=tables(), seed=st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(table: Table, seed: int) -> None:
    quasi, k = table.schema.quasi, min(3, table.rows)
    moved = table.take(np.random.default_rng(seed).permutation(table.rows))
    found = []
    for one in (table, moved):
        codes = one.matrix(quasi)
        classes = grouped(kaca(one, quasi, k, 1.0, np.random.default_rng(seed)))
        found.append(Counter(tuple(sorted(map(tuple, codes[rows].tolist()))) for rows in classes))
    assert found[0] == found[1]


def test_the_distance_of_two_values_is_a_metric() -> None:
    # The paper's claim, here with leaves of unequal depth: nothing apart from itself, symmetric, no way round is shorter.
    nested = {"N": ["a", "b"], "S": {"C": ["d"], "H": {"h": ["e", "f"], "i": ["g"]}}}
    table = table_of({"place": {"taxonomy": nested}}, {"place": ["a"]})
    domain = table.domains["place"]
    for beta in range(3):
        apart = {}
        for a, b in product(range(domain.size), repeat=2):
            both = loss(domain, min(a, b), max(a, b), beta)
            apart[a, b] = 2 * both - loss(domain, a, a, beta) - loss(domain, b, b, beta)
        for a, b, c in product(range(domain.size), repeat=3):
            assert (apart[a, b] == 0) == (a == b)
            assert apart[a, b] == apart[b, a]
            assert apart[a, c] <= apart[a, b] + apart[b, c]


@pytest.mark.parametrize(("beta", "levels"), [(0.5, 3), (1.0, 70), (100.0, 5)])
def test_weights_without_a_small_common_multiple(beta: float, levels: int) -> None:
    # Weights are rounded to 2^-36 then; what is near stays near: x and y share their groups, z and w another.
    nested: Any = ["x", "y"]
    for level in range(levels):
        nested = {f"g{level}": nested}
    table = table_of({"place": {"taxonomy": {**nested, "other": ["z", "w"]}}}, {"place": list("xyzw") * 2 + ["x"]})
    for seed in range(5):
        classes = grouped(kaca(table, ["place"], 4, beta, np.random.default_rng(seed)))
        assert classes == [[0, 1, 4, 5, 8], [2, 3, 6, 7]]


def test_progress_moves_and_interruption_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizers.kaca._COMPARED_A_SLICE", 1)
    values = [str(v) for v in range(200)]
    table = table_of({"age": {"type": "numeric"}}, {"age": values})
    whole = kaca(table, ["age"], 3, 1.0, np.random.default_rng(1))
    said: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, what: str) -> None:
        said.append((done, total, what))
        if len(said) == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kaca(table, ["age"], 3, 1.0, np.random.default_rng(1), progress)
    assert said == sorted(said)
    assert said[0] == (0, 200, "KACA")
    assert said[-1][0] > 30
    monkeypatch.undo()
    assert (kaca(table, ["age"], 3, 1.0, np.random.default_rng(1)) == whole).all()


def test_settings_are_checked() -> None:
    assert Kaca(k=3).title == "kaca k=3"
    with pytest.raises(UsageError, match="k must be at least 1"):
        Kaca(k=0)
    for beta in (-1.0, 101.0, float("nan")):
        with pytest.raises(UsageError, match="beta must be from 0 to 100"):
            Kaca(beta=beta)


def test_the_release_is_generalised() -> None:
    table = table_of({"age": {"type": "numeric"}}, {"age": ["20", "22", "40", "44", "50"]})
    release, _ = anonymize(table, "kaca", k=2)
    assert sorted(release.labels["age"].texts) == ["[20, 22]", "[40, 50]"]
