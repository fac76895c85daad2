"""L-clustering and EBKC: against plain versions, and tables worked by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from anonymizers.ebkc import bounded_clusters, entropy, weights
from anonymizers.l_clustering import diverse_clusters
from anonymizers.shared.distance import Space
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support import naive_growing as naive
from tests.support.anonymizer_cases import tables

QUASI = ("age", "grade", "city", "team")


@settings(max_examples=15)
@given(table=tables(), data=st.data())
def test_fast_is_plain_on_random_tables(table: Table, data: st.DataObject) -> None:
    table = table.take(np.arange(min(table.rows, 25)))
    columns = data.draw(st.permutations(QUASI).map(lambda c: c[: data.draw(st.integers(1, 4))]))
    start = data.draw(st.integers(0, table.rows - 1))
    space = Space.of(table, columns)
    l = data.draw(st.integers(2, 4))
    if len(set(table.codes["disease"].tolist())) >= l:
        found = diverse_clusters(space, table.codes["disease"], l, start)
        assert found.tolist() == naive.l_clustering(table, columns, "disease", l, start).tolist()
    k = data.draw(st.integers(1, max(table.rows // 2, 1)))
    most, part = data.draw(st.integers(k, 2 * k)), data.draw(st.integers(0, 10))
    weight = dict(zip(space.columns, data.draw(st.lists(st.integers(0, 9), min_size=4, max_size=4)), strict=False))
    found = bounded_clusters(space, np.array([weight[c] for c in space.columns]), k, most, part / 10, start)
    wanted = naive.ebkc(table, space.columns, weight, k, most, Fraction(part, 10), start)
    assert found.tolist() == wanted.tolist()


def line(values: list[int], ills: str) -> Table:
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}})
    (table,) = encode(schema, [RawTable("people", {"age": [str(v) for v in values], "ill": list(ills)})])
    return table


def test_l_clustering_by_hand() -> None:
    # From 0 (flu) the nearest row with another illness is 3, not 1. Farthest from 0 is 10 (flu); 9 has its illness, so it
    # takes 8. Of 1 and 9, both flu, no class of two illnesses can be made: each joins the class next to it.
    table = line([0, 1, 3, 8, 9, 10], "ffccff")
    found = diverse_clusters(Space.of(table, ("age",)), table.codes["ill"], 2, 0)
    assert found.tolist() == [0, 0, 0, 1, 1, 1]
    release, _ = anonymize(table, "l-clustering", 0, l=2)
    assert release.promises == ("k = 2", "l = 2 distinct ill")
    with pytest.raises(PromiseError, match="l must be at most the 2 distinct values of 'ill'"):
        anonymize(table, "l-clustering", l=3)


def test_ebkc_by_hand() -> None:
    # k = 2, range 10, diameter 0.2: 0 takes 1, and 2 as well, since 2/10 is within the diameter; 3 is not (3/10), and most
    # is 3 anyway. Farthest from 0 is 10: it takes 9. Of 3 there is one row, fewer than k: it raises {0, 1, 2} from 3 · 2 to
    # 4 · 3, by 6, and {9, 10} from 2 · 1 to 3 · 7.
    table = line([0, 1, 2, 3, 9, 10], "ffffff")
    space, one = Space.of(table, ("age",)), np.array([1000])
    assert bounded_clusters(space, one, 2, 3, 0.2, 0).tolist() == [0, 0, 0, 0, 1, 1]
    # Without room to grow classes have two rows each: 0 and 1, 9 and 10, then 2 and 3.
    assert bounded_clusters(space, one, 2, 3, 0.0, 0).tolist() == [0, 0, 2, 2, 1, 1]


def test_columns_count_by_their_entropy() -> None:
    # four values alike: 2 bits; two alike: 1 bit; one: 0 bits
    assert [entropy(np.array(counts)) for counts in ([3, 3, 3, 3], [5, 0, 5], [7])] == pytest.approx([2, 1, 0])
    assert weights(np.array([2.0, 1.0, 0.0])).tolist() == [667, 333, 0]
    assert weights(np.zeros(2)).tolist() == [500, 500]


@pytest.mark.parametrize(
    "chosen", [{"diameter": -0.1}, {"diameter": 1.5}, {"most": 4}, {"most": 1_000_000}, {"diameter": float("nan")}]
)
def test_settings_are_checked(chosen: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="ebkc: "):
        anonymize(line([1, 2], "fc"), "ebkc", k=5, **chosen)
