"""Full-domain recoding: the search against every node, small tables worked by hand, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from anonymizers.full_domain import FullDomain
from anonymizers.shared.constraints import Constraint, Like
from anonymizers.shared.costs import Aggregate, Measure
from anonymizers.shared.lattice import Packing
from anonymizers.shared.levels import Levels
from auditor.measure.counts import entries
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.naive_full_domain import cost, nodes

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "city": {"role": "quasi", "taxonomy": {"North": ["a", "b", "c"], "South": {"Coast": ["d"], "Hills": ["e", "f"]}}},
    "team": {"role": "quasi"},
    "disease": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "cough"], "Skin": ["rash", "acne"]}},
    "income": {"role": "sensitive", "type": "numeric"},
}
CONSTRAINTS: list[dict[str, Any]] = [
    {"k": 4},
    {"k": 2, "l": 3},
    {"k": 2, "l": 2, "diversity": "entropy"},
    {"k": 1, "l": 2, "diversity": "recursive", "c": 2.0},
    {"k": 2, "t": 0.25},
    {"k": 2, "t": 0.25, "closeness": "hierarchical"},
    {"k": 2, "t": 0.2, "closeness": "ordered", "sensitive": "income"},
    {"k": 2, "alpha": 0.5},
    {"k": 1, "beta": 1.0},
    {"k": 1, "beta": 2.0, "likeness": "enhanced"},
    {"k": 2, "epsilon": 500.0, "m": 2.0, "sensitive": "income"},
]
MEASURES: list[dict[str, Any]] = [
    *({"aggregate": str(one)} for one in Aggregate),
    {"factor": 0.2},
    {"factor": 0.9, "aggregate": "rank"},
    *({"measure": str(one)} for one in Measure if one is not Measure.LOSS),
    {"measure": "entropy", "monotone": True},
    {"measure": "discernibility", "monotone": True},
]


def table_of(columns: dict[str, list[str]], described: dict[str, Any] | None = None) -> Table:
    schema = Schema.from_dict({"columns": described or {c: COLUMNS[c] for c in columns}})
    (table,) = encode(schema, [RawTable("t", columns)])
    return table


def drawn(seed: int, rows: int = 30) -> Table:
    rng = np.random.default_rng(seed)
    values = {
        "age": ["20", "21", "30", "39", ""],
        "city": [*"abcdef"],
        "team": ["red", "blue", ""],
        "disease": ["flu", "cough", "rash", "acne"],
        "income": ["1000", "1250", "2000", "4000", "5000"],
    }
    return table_of({c: rng.choice(pool, rows).tolist() for c, pool in values.items()})


@pytest.mark.parametrize(
    "place",
    [place if place == 5 else pytest.param(place, marks=pytest.mark.slow) for place in range(len(CONSTRAINTS))],
)
def test_no_node_costs_less(place: int) -> None:
    table = drawn(place, 24)
    levels = {c: Levels.of(table.domains[c]) for c in ("age", "city", "team")}
    every = list(nodes(FullDomain.configure({**CONSTRAINTS[place], "outliers": "marked"}), table, levels))
    for number, measure in enumerate(MEASURES):
        limit = (0.0, 0.1, 0.4, 1.0)[(place + number) % 4]
        method = FullDomain.configure({**CONSTRAINTS[place], **measure, "limit": limit, "outliers": "marked"})
        allowed = [one for one in every if len(one[2]) >= (1 - limit) * table.rows - 1e-9]
        costs = [tuple(round(part, 9) for part in cost(method, table, levels, *one)) for one in allowed]
        recoded = method.recode(table)
        assert recoded.found[0].cost == pytest.approx(min(costs), rel=1e-9, abs=2e-9)
        found = tuple(recoded.chosen[0][c] for c in levels)
        assert found in [one[0] for one, spent in zip(allowed, costs, strict=True) if spent == min(costs)]


@pytest.mark.parametrize("settings", CONSTRAINTS, ids=str)
def test_however_a_class_is_divided_so_many_break_the_constraint(settings: dict[str, Any]) -> None:
    method, rng, positive = FullDomain.configure({**settings, "outliers": "marked"}), np.random.default_rng(3), 0
    table = drawn(2, 60)
    values, limited = method.asked(table)
    constraints: list[Constraint] = [*limited]
    if values is not None and method.beta is not None:
        constraints.append(Like(method.beta, method.likeness, values))
    for _ in range(200):
        width = 1 if values is None else len(values.whole)
        parts = rng.poisson(rng.exponential(1.5, (rng.integers(1, 6), width)))
        parts = parts[parts.sum(axis=1) > 0]
        if not len(parts):
            continue
        for constraint in constraints:
            broken = parts.sum(axis=1)[~constraint.which(entries(parts))].sum()
            doomed = constraint.doomed(entries(parts.sum(axis=0)[None]))[0] * parts.sum()
            assert doomed <= broken + 1e-9
            positive += doomed > 0
    assert positive > 10 or method.epsilon is not None


def test_levels_of_columns_with_and_without_a_taxonomy() -> None:
    table = table_of(
        {"age": ["20", "23", "29", "36", ""], "city": [*"abde", ""], "team": ["red", "blue", "red", "", "red"]}
    )
    age, city, team = (Levels.of(table.domains[c]) for c in ("age", "city", "team"))
    # the range is 16 wide: one part each year, then two, four and eight; 29 and 36 are 9 and 16 from its start
    assert [age.labels(level) for level in range(age.top + 1)] == [
        ["20", "23", "29", "36", ""],
        ["[20, 23]", "29", "36", ""],
        ["[20, 23]", "[29, 36]", ""],
        ["**"],
    ]
    assert [city.labels(level) for level in range(city.top + 1)] == [
        [*"abcdef", ""],
        [*"abcd", "Hills", ""],
        ["North", "South", ""],
        ["**"],
    ]
    assert [team.labels(level) for level in range(team.top + 1)] == [["blue", "red", ""], ["**"]]
    assert city.shares[2].tolist() == [3 / 7, 3 / 7, 1 / 7]


def test_by_hand() -> None:
    # City at the level North and South: {a, b, c} 3 rows, {d, e, f} 3 rows. Team as it is: 3 red in the north, 3 blue in the
    # south. So k = 3 holds with team exact, and no lower level of city has classes of 3.
    table = table_of({"city": [*"abcdef"], "team": ["red"] * 3 + ["blue"] * 3})
    release, _ = anonymize(table, "full-domain", k=3, limit=0)
    block = release.blocks[0]
    texts = {tuple(release.labels[c].texts[block.cell(c)[row]] for c in block.columns) for row in range(6)}
    assert texts == {("North", "red"), ("South", "blue")}
    # Loss: city (3/6 - 1/6)/(5/6) = 0.4, team 0: the geometric mean of 1.4 and 1 is 1.1832
    (found,) = FullDomain(k=3, limit=0).recode(table).found
    assert found.cost == pytest.approx([1.4**0.5 - 1])


def test_suppressed_rows_are_removed_or_marked() -> None:
    table = table_of({"city": [*"aaaaabbbbbf"], "disease": ["flu", "rash", "acne", "flu", "rash"] * 2 + ["cough"]})
    removed, whose = anonymize(table, "full-domain", k=5, limit=0.1)
    assert (removed.rows, removed.suppressed_rows, removed.left_out) == (10, 0, 1)
    assert whose.bucket[-1] == -1
    marked, whose = anonymize(table, "full-domain", k=5, limit=0.1, outliers="marked")
    assert (marked.rows, marked.suppressed_rows) == (11, 1)
    assert marked.suppressed[whose.bucket[-1]]
    assert set(marked.labels["city"].texts) == {"a", "b", "*"}
    with pytest.raises(UsageError, match='limit = 0 or outliers = "marked"'):
        FullDomain(t=0.2)


def test_order_of_rows_and_columns_does_not_matter() -> None:
    table, rng = drawn(3, 200), np.random.default_rng(0)
    again = table.take(rng.permutation(200))
    names = ["team", "disease", "city", "income", "age"]
    (turned,) = encode(
        Schema.from_dict({"columns": {c: COLUMNS[c] for c in names}}),
        [RawTable("t", {c: again.texts(c) for c in names})],
    )
    first, second = (FullDomain(k=4, limit=0.1).recode(one).found[0] for one in (table, turned))
    assert (first.node, first.cost) == (second.node, second.cost)


def test_rounds_recode_suppressed_rows_again() -> None:
    table = drawn(5, 400)
    once, often = (FullDomain(k=5, limit=0.01, rounds=rounds, factor=0.2).recode(table) for rounds in (1, 4))
    assert len(often.found) > 1
    assert (~often.kept).sum() <= 4
    domains = {c: Levels.of(table.domains[c]) for c in often.levels}

    def lost(levels: dict[str, Any]) -> float:
        shares = [
            [one.shares[at][one.groups[at][code]] for at, code in zip(levels[c], table.codes[c], strict=True)]
            for c, one in domains.items()
        ]
        return float(np.mean(shares))

    assert lost(often.levels) < lost(once.levels)
    with pytest.raises(UsageError, match="rounds = 1"):
        FullDomain(epsilon=1.0, m=2.0, rounds=2)


def test_a_map_counts_the_population(tmp_path: Path) -> None:
    table = table_of({"city": [*"abde"], "team": ["red", "red", "red", "red"]})
    file = tmp_path / "population.csv"
    # Of city a there are 3 red ones, of b, d and e 2 each; green is nobody's in the table, and agrees with nobody there.
    rows = [*("a,red",) * 3, *("b,red",) * 2, *("d,red",) * 2, *("e,red",) * 2, *("d,green",) * 9]
    file.write_text("city,team\n" + "\n".join(rows) + "\n")
    method = FullDomain(k=1, kmap=2, population=str(file), limit=0)
    assert method.recode(table).found[0].node == (0, 0)
    north = FullDomain(k=1, kmap=4, population=str(file), limit=0).recode(table)
    assert north.chosen == ({"team": 0, "city": 2},)  # 5 in the north, 4 in the south
    few = FullDomain(k=1, kmap=3, population=str(file), limit=0.75, factor=0.0).recode(table)
    assert few.kept.tolist() == [True, False, False, False]
    release, _ = method.anonymize(table, np.random.default_rng(0))
    assert release.promises == ("k = 1", "k-map = 2")
    assert "population" not in release.params  # where the file lies is nobody's business
    with pytest.raises(UsageError, match="go together"):
        FullDomain(kmap=3)


def test_people_with_several_rows() -> None:
    described = {"id": {"role": "person"}, "city": COLUMNS["city"], "disease": {"role": "neutral"}}
    rows = {"id": [*"112233"], "city": [*"aabbbb"], "disease": [*"uvwxyz"]}
    release, _ = anonymize(table_of(rows, described), "full-domain", k=3, limit=0)
    assert set(release.labels["city"].texts) == {"North"}  # three people, not four rows in b
    with pytest.raises(PromiseError, match="differ in 'city'"):
        anonymize(table_of({**rows, "city": [*"abbbbb"]}, described), "full-domain", k=2)


def test_what_it_refuses() -> None:
    table = drawn(1)
    with pytest.raises(PromiseError, match="at most the 4 distinct values"):
        anonymize(table, "full-domain", l=9)
    with pytest.raises(UsageError, match="weights must name quasi-identifiers"):
        anonymize(table, "full-domain", weights=[["shoe", 2]])
    for wrong in ({"weights": [["age"]]}, {"weights": [["age", 0]]}, {"limit": 1.5}, {"factor": -1}, {"beta": 0}):
        with pytest.raises(UsageError):
            FullDomain.configure(wrong)
    many = {f"x{i}": ["1", "2", "3"] for i in range(21)}
    with pytest.raises(PromiseError, match=r"2\.1e\+06 choices of levels"):
        anonymize(table_of(many, {c: {"role": "quasi"} for c in many}), "full-domain", k=2)


def test_weights_spare_a_column() -> None:
    table = drawn(8, 300)
    plain, spared = (
        FullDomain.configure({"k": 10, "aggregate": "sum", "weights": weights}).recode(table)
        for weights in ([], [["city", 9]])
    )
    assert spared.chosen[0]["city"] < plain.chosen[0]["city"]


def test_groups_that_need_several_words() -> None:
    rng = np.random.default_rng(0)
    sizes = [1000] * 9 + [3]  # 92 bits
    packing = Packing(sizes)
    groups = [rng.integers(0, size, 50) for size in sizes]
    words = packing.packed(groups)
    assert packing.words == 2
    assert all((packing.group(words, place) == group).all() for place, group in enumerate(groups))
    order = np.argsort(packing.key(words), kind="stable")
    assert (order == np.lexsort(groups[::-1])).all()
    changed = packing.replaced(words, 0, np.zeros(50, dtype=np.int64))
    assert (packing.group(changed, 0) == 0).all()
    assert (packing.group(changed, 9) == groups[9]).all()
