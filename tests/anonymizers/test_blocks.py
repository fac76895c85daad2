"""Anonymizing in blocks of rows: cuts, promises over the whole table, the same release wherever blocks run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from anonymizers.blocks.cutting import cut
from anonymizers.blocks.joining import compact, join
from anonymizers.shared.constraints import Values
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from anonymizers.shared.points import points_of
from auditor.measure.classes import class_facts
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.anonymizers.test_contract import check, simple
from tests.support.anonymizer_cases import SETTINGS, VALUES, check_promise, impossible, table_of, tables
from tests.support.naive_slicing import promised_l

SIZE = 30
"""Rows of a block in the contract test: tables of 60 and 300 rows are cut, smaller ones are not."""


def lots() -> np.random.Generator:
    return np.random.default_rng(1)


def refused(name: str, settings: dict[str, Any]) -> bool:
    """What cannot work in blocks."""
    if name == "slicing":
        return "generalise" in settings and promised_l(settings) is not None
    return name in ("grading", "m-invariance") or not issubclass(ANONYMIZERS.get(name), Grouping)


def cases(blockwise: bool) -> list[tuple[str, dict[str, Any]]]:
    every = [(name, settings) for name in ANONYMIZERS.all() for settings in SETTINGS[name]]
    return [(name, settings) for name, settings in every if refused(name, settings) is not blockwise]


def people(rows: int, seed: int = 0) -> Table:
    """A table of the contract tests' columns, of any size."""
    rng = np.random.default_rng(seed)
    return table_of(
        {column: [values[i] for i in rng.integers(len(values), size=rows)] for column, values in VALUES.items()}
    )


# ----- promises ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), cases(blockwise=True))
@given(table=tables(), seed=st.integers(0, 5))
def test_promises_hold_over_the_whole_table(name: str, settings: dict[str, Any], table: Table, seed: int) -> None:
    if impossible(name, settings, table):
        with pytest.raises(PromiseError, match=name):
            anonymize(table, name, seed, blocks=SIZE, jobs=1, **settings)
        return
    release, provenance = anonymize(table, name, seed, blocks=SIZE, jobs=1, **settings)
    check(release, provenance, table)
    check_promise(release, settings, table)
    assert release.params["block_rows"] == SIZE
    method = ANONYMIZERS.get(name).configure(settings)
    assert isinstance(method, Grouping)
    blocks = cut(table, method.in_blocks(table), SIZE, lots())
    assert release.params["blocks"] == len(blocks)
    if len(blocks) > 1:
        assert min(map(len, blocks)) >= method.least_rows


@pytest.mark.parametrize(("name", "settings"), cases(blockwise=True))
def test_a_large_table_is_really_cut(name: str, settings: dict[str, Any]) -> None:
    release, provenance = anonymize(people(600), name, blocks=150, jobs=1, **settings)
    assert release.params["blocks"] >= 3  # (ε,m) is cut along grade alone, which has three values and none missing
    check(release, provenance, people(600))
    check_promise(release, settings, people(600))


@pytest.mark.parametrize(("name", "settings"), cases(blockwise=False))
def test_what_cannot_be_cut_is_refused_with_a_reason(name: str, settings: dict[str, Any]) -> None:
    reason = (
        "takes hardly any time|one key must hold for all rows|generalised labels match people of other blocks|who stays|"
        "one model of all rows|one choice of levels|who agrees with whom"
    )
    with pytest.raises(UsageError, match=f"{name} cannot work in blocks.*({reason})"):
        anonymize(people(100), name, blocks=50, **settings)


def test_a_table_of_one_block_gives_the_release_without_blocks() -> None:
    table = people(200)
    for name, settings in (("kmember", {"k": 3}), ("slicing", {"c": 3, "l": 2}), ("rgather", {"r": 4})):
        whole = anonymize(table, name, 3, **settings)
        again = anonymize(table, name, 3, blocks=True, **settings)
        assert again[0].params["blocks"] == 1
        assert (again[1].fragment == whole[1].fragment).all()
        assert all((a.cells == b.cells).all() for a, b in zip(again[0].blocks, whole[0].blocks, strict=True))


def test_closeness_is_measured_against_the_whole_table() -> None:
    # The old have x and the young y, and the blocks are cut by age: each block is far from the whole table (0.5), so that a
    # block measured against itself would hold t = 0.1 easily, and the whole would not. No cut is allowed, then.
    table = simple(age=[str(i) for i in range(100)], s=["x"] * 50 + ["y"] * 50)
    release, _ = anonymize(table, "mondrian", blocks=50, jobs=1, k=2, t=0.1)
    assert release.params["blocks"] == 1
    mixed = simple(age=[str(i) for i in range(100)], s=["x", "y", "y", "y"] * 25)
    release, _ = anonymize(mixed, "mondrian", blocks=50, jobs=1, k=2, t=0.1)
    assert release.params["blocks"] == 2
    figures = class_facts(release).sensitive[0]
    assert figures.t_equal is not None
    assert figures.t_equal <= 0.1 + 1e-9


def test_a_block_has_the_scale_of_the_whole_table() -> None:
    table = people(400)
    rows = np.flatnonzero(table.codes["age"] < 10)
    whole = {column: table.counts(column) for column in table.codes}
    block = Table(
        "block", table.schema, table.domains, {c: codes[rows] for c, codes in table.codes.items()}, len(rows), whole
    )
    columns = ["age", "grade", "income"]
    assert (points_of(block, columns).weight[:3] == points_of(table, columns).weight[:3]).all()
    assert (points_of(block, columns).values[:, 0] == points_of(table, columns).values[rows, 0]).all()
    assert (Values(block, "disease").whole == Values(table, "disease").whole).all()
    assert (Values(block, "disease").codes == Values(table, "disease").codes[rows]).all()
    assert (block.take(np.arange(3)).counts("age") == table.counts("age")).all()


def test_a_block_without_a_large_class_is_not_the_end_where_others_have_one() -> None:
    # Ages 0 to 7 are all different, 100 is there eight times. Alike means equal (threshold 0): with k = 8 only the latter
    # are a class, and the first block has none.
    table = simple(age=[*map(str, range(8)), *["100"] * 8], s=["x"] * 16)
    release, provenance = anonymize(table, "loukides-shao", blocks=8, jobs=1, k=8, threshold=0.0)
    assert release.params["blocks"] == 2
    assert (provenance.bucket >= 0).tolist() == [False] * 8 + [True] * 8
    with pytest.raises(PromiseError, match="the largest has 1"):
        anonymize(
            simple(age=[*map(str, range(16))], s=["x"] * 16), "loukides-shao", blocks=8, jobs=1, k=8, threshold=0.0
        )


# ----- cuts ----------------------------------------------------------------------------------------------------------


def blocking(table: Table, least: int = 1, **more: Any) -> Blocking:
    method = ANONYMIZERS.get("kmember")()
    assert isinstance(method, Grouping)
    return Blocking(method, table.schema.quasi, table.schema.quasi, least, **more)


def test_cuts_by_hand() -> None:
    # Both columns spread over everything: the first, age, is cut. Its middle is between 3 and 4: 1 2 3 | 4 8 9.
    # With at most 2 rows a block: 1 2 3 spreads over 2/8 of age and all of zip (1 and 2), so it is cut by zip: {2, 3} have
    # zip 1, {1} has 2. 4 8 9 spreads over 5/8 of age and all of zip: zip again, {8, 9} have 1, {4} has 2.
    table = simple(age=list("123489"), zip=list("211211"), s=list("abcdef"))
    halves = cut(table, blocking(table), 3, lots())
    assert [block.tolist() for block in halves] == [[0, 1, 2], [3, 4, 5]]
    assert [block.tolist() for block in cut(table, blocking(table), 2, lots())] == [
        [1, 2],
        [0],
        [4, 5],
        [3],
    ]
    assert [block.tolist() for block in cut(table, blocking(table, least=2), 2, lots())] == [
        [0, 1, 2],
        [3, 4, 5],
    ]
    assert [len(block) for block in cut(table, blocking(table, allows=lambda rows: 0 in rows), 3, lots())] == [6]


def test_a_taxonomy_is_cut_between_its_branches() -> None:
    # In the order of leaves the middle is between b and c, inside of North; c | d is nearly as even, and between branches.
    tree = {"North": ["a", "b", "c"], "South": ["d", "e"]}
    schema = Schema.from_dict({"columns": {"city": {"role": "quasi", "taxonomy": tree}}})
    (table,) = encode(schema, [RawTable("t", {"city": list("aabbcdddee")})])
    sides = [sorted(table.texts("city")[row] for row in block) for block in cut(table, blocking(table), 5, lots())]
    assert sides == [list("aabbc"), list("dddee")]
    (lopsided,) = encode(schema, [RawTable("t", {"city": list("aaabbbccd")})])  # one in nine is in the South: not even
    assert [len(block) for block in cut(lopsided, blocking(lopsided), 6, lots())] == [3, 6]


def test_equal_rows_are_divided_only_where_the_method_allows_it() -> None:
    table = simple(age=["7"] * 90 + ["8"] * 10, s=["x"] * 100)
    assert [len(block) for block in cut(table, blocking(table, least=2), 40, lots())] == [
        25,
        25,
        25,
        25,
    ]
    together = cut(table, blocking(table, least=2, divide=False), 40, lots())
    assert sorted(len(block) for block in together) == [10, 90]
    crumb = cut(table, blocking(table, least=2, divide=False), 95, lots())
    assert sorted(len(block) for block in crumb) == [10, 90]
    few = simple(age=["7"] * 98 + ["8"] * 2, s=["x"] * 100)
    assert len(cut(few, blocking(few, divide=False), 95, lots())) == 1  # two rows are no block beside 98


@given(table=tables(), size=st.integers(4, 60), least=st.integers(1, 4), divide=st.booleans())
def test_blocks_part_the_table(table: Table, size: int, least: int, divide: bool) -> None:
    blocks = cut(table, blocking(table, least, divide=divide), size, lots())
    assert sorted(row for block in blocks for row in block.tolist()) == list(range(table.rows))
    assert len(blocks) == 1 or min(map(len, blocks)) >= least
    if divide:
        assert max(map(len, blocks)) <= max(size, 2 * least - 1)
    else:
        tuples = [{tuple(row) for row in table.matrix(table.schema.quasi)[block].tolist()} for block in blocks]
        assert sum(map(len, tuples)) == len(set.union(*tuples))


def test_groups_of_blocks_are_numbered_through() -> None:
    rows = [np.array([0, 3, 4]), np.array([1, 2])]
    first = Groups(
        np.array([1, 0, -1]), (("a",), ("b",)), (np.array([0, 0, 1]),), np.array([0, 2, 2]), np.array([5, 6, 7])
    )
    second = Groups(np.array([0, 0]), (("a",), ("b",)), (np.array([1, 0]),), np.array([1, 1]), np.array([8, 9]))
    joined = join(rows, [compact(first), compact(second)])
    assert joined.member.tolist() == [1, 2, 2, 0, -1]
    assert joined.columns == (("a",), ("b",))
    assert [classes.tolist() for classes in joined.classes] == [[0, 3, 2, 0, 1]]
    assert joined.centre is not None
    assert joined.centre.tolist() == [0, 2, 2, 4, 4]
    assert joined.radius is not None
    assert joined.radius.tolist() == [5, 8, 9, 6, 7]
