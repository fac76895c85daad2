"""Local suppression: small tables worked by hand, the fewest cells by a solver, and simple greedy ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from anonymizers.anonymizing import anonymize
from anonymizers.suppression import Suppression
from auditor.measure.wildcards import alike_records
from auditor.model.arrays import Codes
from auditor.model.errors import PromiseError, UsageError
from auditor.model.release import Release, WithheldCells
from auditor.model.release import Suppression as Whole
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.naive_suppression import KEYS, greedy, office_table


def coded(columns: dict[str, list[str]], **others: Any) -> Table:
    described = {c: {"role": "quasi"} for c in columns} | others
    (table,) = encode(Schema.from_dict({"columns": described}), [RawTable("t", columns)])
    return table


def cells(method: Suppression, table: Table) -> int:
    return sum(int(gone.sum()) for gone in method.suppressed(table).values())


def frequencies(release: Release) -> Any:
    """How many records agree with each, by the code that an audit uses; records suppressed altogether are left out."""
    found, _, _ = alike_records(release, release.quasi, Whole.EXCLUDED, WithheldCells.WILDCARD)
    frequency = found.frequency()
    assert frequency is not None
    return frequency[found.inside]


def fewest(codes: Codes, k: int) -> int:
    """The fewest cells such that k rows agree with each, by a solver, which says which cells are suppressed and which rows
    agree. Rows may agree only where in every column in which they differ one of the two cells is suppressed. Rows that
    lose everything are not left out here, so it is a bound from below."""
    rows, columns = codes.shape
    pairs = [(i, j) for i in range(rows) for j in range(i)]
    size = codes.size + len(pairs)
    lines, low = [], []
    for place, (i, j) in enumerate(pairs):
        for column in np.flatnonzero(codes[i] != codes[j]):
            line = np.zeros(size)
            line[[i * columns + column, j * columns + column]] = 1
            line[codes.size + place] = -1
            lines.append(line)
            low.append(0.0)
    for row in range(rows):
        line = np.zeros(size)
        line[[codes.size + place for place, pair in enumerate(pairs) if row in pair]] = 1
        lines.append(line)
        low.append(k - 1.0)
    price = np.concatenate([np.ones(codes.size), np.zeros(len(pairs))])
    found = milp(
        price, integrality=np.ones(size), bounds=Bounds(0, 1), constraints=LinearConstraint(np.array(lines), low)
    )
    assert found.success
    return round(found.fun)


def test_by_hand() -> None:
    # Two rows a x, two b y, and one a y: the last agrees with two others once either of its cells is suppressed.
    table = coded({"one": [*"aabba"], "two": [*"xxyyy"]})
    release, whose = anonymize(table, "suppression", k=2)
    assert cells(Suppression(k=2), table) == 1
    assert frequencies(release).min() >= 2
    assert release.promises == ("k = 2, suppressed cells fitting any value",)
    gone = {c: release.labels[c].suppressed[release.blocks[0].cell(c)[whose.fragment[4, 0]]] for c in ("one", "two")}
    assert sum(gone.values()) == 1
    # The more important column is spared.
    for spared, lost in (("one", "two"), ("two", "one")):
        found = Suppression.configure({"k": 2, "weights": [[spared, 2]]}).suppressed(table)
        assert (found[spared].sum(), found[lost].sum()) == (0, 1)
    # As a value of its own the suppressed cell agrees with nobody's: another row has to lose it as well.
    own, _ = anonymize(table, "suppression", k=2, matching="own")
    assert own.sizes[~own.suppressed].min() >= 2
    assert own.promises == ("k = 2",)


def test_never_fewer_than_the_fewest_and_never_more_than_greedy() -> None:
    rng, total = np.random.default_rng(4), np.zeros(4, dtype=np.int64)
    for _ in range(6):
        codes = rng.integers(0, (4, 3, 2), (7, 3)).astype(np.int32)
        table = coded({f"x{j}": [str(v) for v in column] for j, column in enumerate(codes.T)})
        found = (
            fewest(codes, 2),
            cells(Suppression(k=2), table),
            *(greedy(codes, 2, steepest) for steepest in (False, True)),
        )
        assert found[0] <= found[1]
        total += found
    assert total[0] <= total[1] <= min(1.3 * total[0], *total[2:])


def test_values_among_those_who_agree() -> None:
    rng = np.random.default_rng(1)
    columns = {"one": rng.choice([*"abc"], 60).tolist(), "two": rng.choice([*"xyz"], 60).tolist()}
    columns["s"] = rng.choice([*"uvw"], 60, p=[0.8, 0.1, 0.1]).tolist()
    table = coded(columns, s={"role": "sensitive"})
    plain, diverse = (cells(Suppression(k=3, l=l), table) for l in (None, 3))
    assert diverse > plain
    with pytest.raises(PromiseError, match="at most the 3 distinct values"):
        anonymize(table, "suppression", k=2, l=4)


def test_order_of_rows_and_columns_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    columns = {c: rng.choice([*"abcdefgh"][:many], 80).tolist() for c, many in (("x", 8), ("y", 5), ("z", 2))}
    order = rng.permutation(80)
    turned = {c: [columns[c][i] for i in order] for c in ("z", "x", "y")}
    first, second = (Suppression(k=3).suppressed(coded(one)) for one in (columns, turned))
    assert all((first[c][order] == second[c]).all() for c in columns)


def test_what_it_refuses() -> None:
    table = coded({"one": [*"aab"], "two": [*"xyz"]})
    with pytest.raises(PromiseError, match="k must be at most the number of rows"):
        anonymize(table, "suppression", k=4)
    with pytest.raises(UsageError, match="weights must name quasi-identifiers"):
        anonymize(table, "suppression", k=2, weights=[["three", 1]])
    with pytest.raises(PromiseError, match="at most 14 quasi-identifiers"):
        anonymize(coded({f"x{j}": ["1", "2"] for j in range(15)}), "suppression", k=2)
    stars = coded({"one": [*"ab"]}, one={"role": "quasi", "suppressed": []})
    with pytest.raises(PromiseError, match="no text for a suppressed value"):
        anonymize(stars, "suppression", k=2)


def test_people_with_several_rows() -> None:
    described = {"id": {"role": "person"}, "n": {"role": "neutral"}}
    rows = {"id": [*"112233"], "city": [*"aabbbb"], "n": [*"uvwxyz"]}
    release, _ = anonymize(coded(rows, **described), "suppression", k=2)
    assert release.suppressed_rows == 2  # one person lacks company, not two rows
    with pytest.raises(PromiseError, match="differ in 'city'"):
        anonymize(coded({**rows, "city": [*"abbbbb"]}, **described), "suppression", k=2)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k"),
    [("francdat", 3), *(pytest.param(name, 3, marks=pytest.mark.slow) for name in ("testdata", "free1", "EIA"))],
)
def test_sets_of_statistical_offices(name: str, k: int, data_folder: Path) -> None:
    table = office_table(data_folder, name)
    release, _ = Suppression(k=k).anonymize(table, np.random.default_rng(0))
    assert frequencies(release).min() >= k
    suppressed = sum(int(release.labels[c].suppressed[release.blocks[0].cell(c)].sum()) for c in KEYS[name])
    assert 0 < suppressed <= greedy(table.matrix(list(table.schema.quasi)), k, steepest=False)
