"""r-gather and r-cellular clustering: by hand, against the plain versions, against the best of all partitions, as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from anonymizers.rcellular import LARGEST_FACILITY, cellular, cheapest_balls, cost, improve
from anonymizers.rgather import RGather, gather, recentred
from anonymizers.shared.centres import Clusters, new_ground
from anonymizers.shared.distance import Space
from auditor.auditing.subjects import Sources, read_subject
from auditor.files.releases import read_release, write_release
from auditor.files.tables import read_table, write_files
from auditor.model.errors import PromiseError, TableError, UsageError
from auditor.model.progress import silent
from auditor.model.release import DERIVED, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.conftest import Ended
from tests.support import naive_rgather as naive
from tests.support.adult import write_adult
from tests.support.anonymizer_cases import tables

SCHEMA: dict[str, Any] = {
    "columns": {"x": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}},
}


def line(*values: float, form: dict[str, Any] | None = None) -> Table:
    """A table with one numeric quasi-identifier."""
    schema = Schema.from_dict(SCHEMA | ({"table": form} if form else {}))
    cells = {"x": [f"{v:g}" for v in values], "s": [f"s{i}" for i in range(len(values))]}
    (table,) = encode(schema, [RawTable("t", cells)])
    return table


def space_of(table: Table) -> Space:
    return Space.of(table, table.schema.quasi)


def by_value(table: Table, clusters: Clusters) -> list[list[str]]:
    """The values of the first column in each cluster, sorted within it."""
    space = space_of(table)
    texts = np.array(table.texts(table.schema.quasi[0]))[space.rows]
    return sorted(sorted(texts[clusters.member == c].tolist()) for c in range(len(clusters.centre)))


def rows_of(release: Release) -> list[dict[str, str]]:
    block = release.blocks[0]
    return [
        {c: release.labels[c].texts[cell] for c, cell in zip(block.columns, row, strict=True)}
        for row in block.cells.tolist()
    ]


def test_two_groups_by_hand() -> None:
    # r = 3: the third nearest row of 0 is 2 away, so no threshold below 2 passes; at 2 there is one centre on each side.
    table = line(0, 1, 2, 10, 11, 12)
    clusters = gather(space_of(table), 3, np.arange(6))
    assert by_value(table, clusters) == [["0", "1", "2"], ["10", "11", "12"]]
    assert clusters.radius.tolist() == [2, 2]  # the first in order, 0 and 10, are centres
    middle = gather(space_of(table), 3, np.array([1, 4, 0, 2, 3, 5]))
    assert by_value(table, middle) == by_value(table, clusters)
    assert middle.radius.tolist() == [1, 1]


def test_a_centre_below_r_takes_a_row_from_one_above() -> None:
    # r = 2. The second nearest row is 3 away from 0, so T >= 3. At 3 the centre 0 marks 3, 3; then 5 is a centre. Both rows
    # with 3 are nearer to 5, which leaves 0 alone; 5 has three rows and gives one back.
    table = line(0, 3, 3, 5)
    clusters = gather(space_of(table), 2, np.arange(3))
    assert by_value(table, clusters) == [["0", "3"], ["3", "5"]]
    assert clusters.radius.max() == 3


def test_twice_the_best_radius_is_reached_at_worst() -> None:
    # r = 2: three rows make one cluster, around 2 with radius 2. With the centre 0 first, T = 2 gives the centres 0 and 4,
    # for which three rows are too few, and so does T = 3; T = 4 gives one cluster around 0.
    table = line(0, 2, 4)
    assert gather(space_of(table), 2, np.array([1, 0, 2])).radius.max() == 1  # a unit is a range of 4, a step is 2
    assert gather(space_of(table), 2, np.array([0, 1, 2])).radius.max() == 2


def test_what_is_published() -> None:
    # The range is 12. Clusters are {0, 1, 2} and {10, 11, 12}, around 1 and 11; their radius is 1/12, rounded up.
    release, provenance = anonymize(line(0, 1, 2, 10, 11, 12), "rgather", r=3)
    assert release.columns == ("x", "s", "cluster_size", "cluster_radius")
    assert release.promises == ("k = 3",)
    assert release.quasi == ("x",)
    for row in rows_of(release):
        assert row["x"] in ("1", "11")
        assert row["cluster_size"] == "3"
        assert row["cluster_radius"] == "0.0834"
    assert sorted(row["s"] for row in rows_of(release)) == [f"s{i}" for i in range(6)]
    first = {rows_of(release)[provenance.fragment[i, 0]]["x"] for i in range(3)}
    assert first == {"1"}


@pytest.mark.parametrize("seed", range(20))
def test_examples_of_the_lecture(seed: int) -> None:
    # Five people (slides 12 to 14), r = 2: ages 25 27 29 35 39 (range 14), salaries 50 60 100 110 120 (range 70). Best is
    # {25, 27, 29} and {35, 39}: around 27, 29 is 2/14 + 40/70 = 0.714 away; and {25, 27}, {29, 35, 39}: around 35, 29 is
    # 6/14 + 10/70 = 0.5714 away and 39 is 4/14 + 10/70 = 0.4286.
    columns = {name: {"role": "quasi", "type": "numeric"} for name in ("age", "salary")}
    cells = {"age": ["25", "27", "29", "35", "39"], "salary": ["50", "60", "100", "110", "120"]}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", cells)])
    release, _ = anonymize(table, "rgather", seed, r=2)
    assert max(float(row["cluster_radius"]) for row in rows_of(release)) == 0.5715  # 4/7, rounded up
    # Five rows without a common value (slides 15, 16), r = 5: any row but 1111 has another one at distance 2.
    rows = ["0111", "1011", "1101", "1110", "1111"]
    binary = {f"b{i}": [row[i] for row in rows] for i in range(4)}
    (table,) = encode(
        Schema.from_dict({"columns": {name: {"role": "quasi"} for name in binary}}), [RawTable("t", binary)]
    )
    release, _ = anonymize(table, "rgather", seed, r=5)
    for row in rows_of(release):
        assert [row[name] for name in binary] == ["1"] * 4
        assert row["cluster_radius"] == "1"


@st.composite
def small(draw: st.DrawFn) -> Table:
    """Mixed columns, missing values, ties and constants, up to 40 rows."""
    table = draw(tables())
    return table.take(np.arange(min(table.rows, draw(st.sampled_from([3, 8, 40])))))


def exact_points(table: Table) -> tuple[Space, naive.Matrix, list[int]]:
    space = space_of(table)
    assert space.exact
    return (space, *naive.points(table, space.unit))


@given(table=small(), r=st.sampled_from([1, 2, 3, 5]), seed=st.integers(0, 9))
def test_same_clusters_as_the_plain_version(table: Table, r: int, seed: int) -> None:
    r = min(r, table.rows)
    space, distance, copies = exact_points(table)
    order = np.random.default_rng(seed).permutation(len(copies))
    fast = gather(space, r, order)
    centres, member = naive.gather(distance, copies, r, order.tolist(), len(space.columns) * space.unit)
    assert fast.centre.tolist() == centres
    assert fast.member.tolist() == member
    tuple_of = np.repeat(np.arange(len(copies)), copies)
    assert fast.way.tolist() == [distance[centres[c]][u] for c, u in zip(member, tuple_of, strict=True)]


@given(table=small(), r=st.sampled_from([1, 2, 3, 5]), seed=st.integers(0, 9))
def test_every_cluster_gets_its_best_centre(table: Table, r: int, seed: int) -> None:
    r = min(r, table.rows)
    space, distance, copies = exact_points(table)
    before = gather(space, r, np.random.default_rng(seed).permutation(len(copies)))
    after = recentred(space, new_ground(space), before)
    tuple_of = np.repeat(np.arange(len(copies)), copies)
    check_clusters(after, distance, tuple_of, r)
    assert after.member.tolist() == before.member.tolist()
    for c, (centre, old) in enumerate(zip(after.centre.tolist(), before.centre.tolist(), strict=True)):
        inside = sorted(set(tuple_of[after.member == c].tolist()))
        taken = {
            *after.centre[:c].tolist(),
            *before.centre[c + 1 :].tolist(),
        }  # centres of others, when it was c's turn
        least = min(max(distance[u][v] for v in inside) for u in {*inside, old} - taken)
        assert max(distance[centre][v] for v in inside) == least


@st.composite
def tiny(draw: st.DrawFn) -> tuple[Table, int]:
    """A table of at most eight rows, and r."""
    table = draw(tables())
    rows = draw(st.integers(2, 8))
    r = draw(st.sampled_from([2, 3]))
    return table.take(np.resize(np.arange(table.rows), max(rows, r))), r


def by_row(distance: naive.Matrix, copies: list[int]) -> naive.Matrix:
    """Distances of rows from those of tuples."""
    rows = np.repeat(np.arange(len(copies)), copies)
    return [[distance[a][b] for b in rows] for a in rows]


@given(case=tiny(), seed=st.integers(0, 3))
def test_at_most_twice_the_best_radius(case: tuple[Table, int], seed: int) -> None:
    table, r = case
    space, distance, copies = exact_points(table)
    rows = by_row(distance, copies)
    parts = list(naive.partitions(list(range(len(rows))), r))
    best = min(max(naive.radius_of(rows, block) for block in blocks) for blocks in parts)
    across = min(max(rows[a][b] for block in blocks for a in block for b in block) for blocks in parts)
    for found in (
        gather(space, r, np.random.default_rng(seed).permutation(len(copies))),
        RGather(r, orders=2).find_clusters(space, np.random.default_rng(seed), silent),
    ):
        assert found.size.min() >= r
        assert best <= found.radius.max() <= 2 * best
        assert found.radius.max() <= across  # the bound does not hang on centres being rows


@given(case=tiny(), facility=st.sampled_from([0, 1, 3]))
def test_cellular_against_all_partitions(case: tuple[Table, int], facility: int) -> None:
    table, r = case
    space, distance, copies = exact_points(table)
    rows, opening = by_row(distance, copies), facility * space.unit
    parts = naive.partitions(list(range(len(rows))), r)
    best = min(sum(opening + len(b) * naive.radius_of(rows, b) for b in blocks) for blocks in parts)
    order = np.arange(len(copies))
    found = cellular(space, r, opening, order)
    assert found.size.min() >= r
    assert best <= cost(found, opening) <= cost(gather(space, r, order), opening)
    assert cost(found, opening) <= 2.5 * best  # not proven: 1.83 was the worst of 1800 cases, 1.07 the mean


@given(table=small(), r=st.sampled_from([1, 2, 5]), facility=st.sampled_from([0.0, 0.5, 20.0]))
def test_cheapest_balls_and_their_improvement(table: Table, r: int, facility: float) -> None:
    r = min(r, table.rows)
    space, distance, copies = exact_points(table)
    opening, ground = round(facility * space.unit), new_ground(space)
    cells = cheapest_balls(space, ground, r, opening, silent)
    balls = naive.cheapest_balls(distance, copies, r, opening)
    tuple_of = np.repeat(np.arange(len(copies)), copies)
    free = set(range(len(copies)))
    for number, (centre, inside) in enumerate(balls):
        assert cells.centre[number] == centre
        members = set(tuple_of[cells.member == number].tolist())
        free -= inside
        assert members >= inside
    assert np.count_nonzero(cells.size) == len(balls)
    assert sum(copies[u] for u in free) < r
    before = int((opening * (cells.size > 0) + cells.size * cells.radius).sum())
    found = improve(space, ground, cells, r, opening, silent)
    check_clusters(found, distance, tuple_of, r)
    assert cost(found, opening) <= before


def check_clusters(found: Clusters, distance: naive.Matrix, tuple_of: np.ndarray, r: int) -> None:
    """Every row in a cluster of r rows, at the distance that is said, and no centre twice."""
    assert found.size.min() >= r
    assert found.size.sum() == len(tuple_of)
    assert len(set(found.centre.tolist())) == len(found.centre)
    assert found.way.tolist() == [
        distance[found.centre[c]][u] for c, u in zip(found.member.tolist(), tuple_of.tolist(), strict=True)
    ]


def test_many_rows_pay_nothing_for_one_far_away() -> None:
    # 50 rows at 0 and one at 10 (r = 5): r-gather has one centre, and 51 rows bear the radius 10. Five must, no more: 5 · 1
    # column.
    table = line(*[0] * 50, 10)
    space = space_of(table)
    found = cellular(space, 5, 0, np.arange(2))
    assert sorted(found.size.tolist()) == [5, 46]
    assert cost(found, 0) == 5 * space.unit
    # A cluster that costs more to open than it saves stays closed: 51 rows bear the radius, 46 columns more than above.
    assert len(cellular(space, 5, 45 * space.unit, np.arange(2)).centre) == 2
    assert len(cellular(space, 5, 47 * space.unit, np.arange(2)).centre) == 1


def test_a_ball_of_very_many_tuples() -> None:
    # 300 different rows on a line: with a high price of opening, all are one ball, around the middle.
    table = line(*range(301))
    space = space_of(table)
    found = cellular(space, 2, 10_000 * space.unit, np.arange(301))
    assert found.centre.tolist() == [150]
    assert found.radius.tolist() == [150]


def test_the_cost_of_many_facilities_passes_64_bits() -> None:
    # 1000 clusters of one row each, at the largest facility (10^6 columns) and the largest unit: 1000 · 10^6 · 2^36 > 2^63.
    each = np.arange(1000)
    assert cost(Clusters(each, np.zeros(1000, dtype=np.int64), each), LARGEST_FACILITY * 2**36) == 10**9 * 2**36


@pytest.mark.parametrize("name", ["rgather", "rcellular"])
def test_refusals(name: str) -> None:
    with pytest.raises(PromiseError, match=f"{name}: r must be at most the number of rows. Got r = 4 and 3 rows"):
        anonymize(line(1, 2, 3), name, r=4)
    with pytest.raises(UsageError, match="r must be at least 1"):
        anonymize(line(1, 2, 3), name, r=0)
    schema = Schema.from_dict({"columns": {**SCHEMA["columns"], "cluster_size": {"role": "neutral"}}})
    (table,) = encode(schema, [RawTable("t", {"x": ["1", "2"], "s": ["a", "b"], "cluster_size": ["1", "1"]})])
    with pytest.raises(UsageError, match="'cluster_size' must have another name"):
        anonymize(table, name, r=2)


@pytest.mark.parametrize("facility", [-1.0, float("nan"), float("inf"), 2.0 * LARGEST_FACILITY])
def test_facility_is_a_cost(facility: float) -> None:
    with pytest.raises(UsageError, match="facility must be a number"):
        anonymize(line(1, 2, 3), "rcellular", r=2, facility=facility)


@pytest.mark.parametrize("form", [None, {"header": ["x", "s"]}, {"decimal": ",", "delimiter": ";"}])
def test_derived_columns_are_read_back(tmp_path: Path, form: dict[str, Any] | None) -> None:
    table = line(0, 1, 2, 10, 11, 12, 12, form=form)
    release, provenance = anonymize(table, "rgather", r=3)
    file = tmp_path / "release.csv"
    files, private = write_release(release, provenance, file)
    write_files({**files, tmp_path / "whose.csv": private or ""})
    again = read_release(file, table.schema, np.random.default_rng(0), table.domains).release
    assert again.columns == release.columns
    assert key(rows_of(again)) == key(rows_of(release))
    assert {again.schema.columns[c].role for c in DERIVED if c in again.columns} == {"neutral"}
    assert read_subject(Sources(file, table.schema), 1).release.columns == release.columns


def key(rows: Sequence[dict[str, str]]) -> list[tuple[str, ...]]:
    return sorted(tuple(row.values()) for row in rows)


def test_other_columns_are_still_refused(tmp_path: Path) -> None:
    table = line(0, 1, 2)
    for header, said in (("x,s,cluster_size,shoe", "column 4"), ("x,s,cluster_sizes", "column 3")):
        file = tmp_path / "release.csv"
        file.write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
        with pytest.raises(TableError, match=said):
            read_release(file, table.schema, np.random.default_rng(0))
    file.write_text("x,s,cluster_size\n1,a,2\n")  # only a release may hold them
    with pytest.raises(TableError, match="column 3"):
        read_table(file, table.schema)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rgather", "rcellular"])
def test_anonymize_and_audit_from_the_command_line(
    tmp_path: Path, auditor_cli: Callable[..., Ended], name: str
) -> None:
    rng = np.random.default_rng(3)
    rows = [
        f"{a},{b},{s}"
        for a, b, s in zip(rng.integers(0, 90, 80), rng.choice(list("abcde"), 80), range(80), strict=True)
    ]
    (tmp_path / "t.csv").write_text(
        "\n".join(["age,town,s", *(f"{row}"[: row.rfind(",")] + f",s{i % 4}" for i, row in enumerate(rows))]) + "\n"
    )
    (tmp_path / "t.toml").write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.town]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n'
    )
    data = [tmp_path / "t.csv", "--schema", tmp_path / "t.toml"]
    release, whose = tmp_path / "r.csv", tmp_path / "whose.csv"
    # With r = 40 a centre covers hardly more of its rows' values than of anybody's: that is no wrong match of rows.
    for r in (5, 40):
        made = auditor_cli(
            "anonymize", *data, "--method", name, "--set", f"r={r}", "-o", release, "--provenance", whose, "--force"
        )
        assert made.code == 0, made.err
        audited = auditor_cli("audit", release, "--schema", data[2], "--original", data[0], "--provenance", whose)
        assert audited.code == 0, audited.err
        assert "cluster centres" in audited.out


@pytest.mark.data
@pytest.mark.slow
def test_adult(data_folder: Path, tmp_path: Path) -> None:
    table = read_table(*write_adult(data_folder, tmp_path))
    space = space_of(table)
    order = np.random.default_rng(1).permutation(len(space.tuples))
    wide = gather(space, 5, order)
    assert wide.size.min() >= 5
    assert wide.size.sum() == table.rows
    # Some row has its fifth nearest row 2.02 columns away: the best radius is at least half of that, so this is within twice.
    assert round(wide.radius.max() / space.unit, 2) == 2.02
    narrow = cellular(space, 5, 0, order)
    assert narrow.size.min() >= 5
    assert cost(narrow, 0) < cost(wide, 0) / 10
