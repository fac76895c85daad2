"""Anonymizers: contract tests over the registry, and small tables worked by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizers
from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from auditor.files.releases import write_release
from auditor.model.errors import PromiseError, UsageError
from auditor.model.provenance import Provenance
from auditor.model.release import Kind, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.anonymizer_cases import SETTINGS, VALUES, check_promise, impossible, table_of, tables


def cases() -> list[Any]:
    """Every anonymizer with its settings."""
    return [(name, settings) for name in ANONYMIZERS.all() for settings in SETTINGS[name]]


def check(release: Release, provenance: Provenance, table: Table) -> None:
    """What every release must hold: all rows accounted for, every label covers the true value, nothing private is out."""
    assert "name" not in release.columns
    kept = provenance.bucket >= 0
    if release.synthetic:
        assert not kept.any()
        assert (provenance.fragment == -1).all()
        assert provenance.made_from is not None
        assert provenance.made_from.all()
        assert set(release.columns) == set(table.codes) - {"name"}
        wanted = release.params["rows"] or (None if release.promises else table.rows)
        assert release.rows == (wanted or release.rows)
        assert release.suppressed_rows == 0
        return
    assert release.rows == int(kept.sum()) + release.params.get("counterfeits", 0)
    if release.method != "suppression" and release.params.get("outliers") != "marked":
        assert release.suppressed_rows == 0  # no label of other methods must look as if a value were suppressed
    for number, block in enumerate(release.blocks):
        fragment = provenance.fragment[kept, number]
        assert len(set(fragment.tolist())) == int(kept.sum())
        assert set(fragment.tolist()) <= set(range(release.rows))
        assert (block.bucket[fragment] == provenance.bucket[kept]).all()
        for column in block.columns:
            cell = block.cell(column)[fragment]
            if ANONYMIZERS.get(release.method or "").truthful and column in table.codes:
                assert release.labels[column].covers(cell, table.codes[column][kept]).all(), column


@pytest.mark.slow
def test_every_method_makes_a_release() -> None:
    """It is the first test of its file, and slow: so kernels are compiled where coverage does not trace the compiler."""
    rng = np.random.default_rng(0)
    table = table_of({column: rng.choice(values, 300).tolist() for column, values in VALUES.items()})
    for name, chosen in cases():
        if not impossible(name, chosen, table):
            assert anonymize(table, name, 0, **chosen)[0].method == name


@pytest.mark.parametrize(("name", "settings"), cases())
@given(table=tables(), seed=st.integers(0, 5))
def test_contract(name: str, settings: dict[str, Any], table: Table, seed: int) -> None:
    if impossible(name, settings, table):
        with pytest.raises(PromiseError, match=name):
            anonymize(table, name, seed, **settings)
        return
    release, provenance = anonymize(table, name, seed, **settings)
    check(release, provenance, table)
    check_promise(release, settings, table)
    again, same = anonymize(table, name, seed, **settings)
    assert write_release(release, provenance, Path("r")) == write_release(again, same, Path("r"))


def test_every_module_is_registered() -> None:
    folder = Path(anonymizers.__file__).parent
    shared = {"__init__", "anonymizing", "base", "shapes"}
    modules = {f"anonymizers.{file.stem}" for file in folder.glob("*.py") if file.stem not in shared}
    assert {plugin.__module__ for plugin in ANONYMIZERS.builtin} == modules
    assert set(SETTINGS) == set(ANONYMIZERS.all())
    documented = (folder.parent / "docs" / "measures.md").read_text()
    for name, plugin in ANONYMIZERS.all().items():
        assert plugin.summary
        assert plugin.paper
        assert f"| `{name}` |" in documented
        assert len(plugin.explanation()) > 100


def simple(**columns: list[str]) -> Table:
    roles = {
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "type": "numeric"},
        "s": {"role": "sensitive"},
    }
    schema = Schema.from_dict({"columns": {name: roles[name] for name in columns}})
    (table,) = encode(schema, [RawTable("t", columns)])
    return table


def published(release: Release) -> Counter[tuple[str, ...]]:
    block = release.blocks[0]
    return Counter(
        tuple(release.labels[c].texts[cell] for c, cell in zip(block.columns, row, strict=True))
        for row in block.cells.tolist()
    )


def test_strict_mondrian_by_hand() -> None:
    # Spread: age (40-20)/20 = 1, zip (2-1)/1 = 1: the tie goes to age. The median of 20 20 21 30 40 40 is 21, so the cut
    # is {20, 20, 21} and {30, 40, 40}. Neither half can be cut again with k = 3.
    table = simple(age=["20", "20", "21", "30", "40", "40"], zip=["1", "2", "1", "2", "1", "2"], s=list("abcdef"))
    release, _ = anonymize(table, "mondrian", k=3)
    labels = Counter((age, area) for age, area, _ in published(release).elements())
    assert labels == {("[20, 21]", "[1, 2]"): 3, ("[30, 40]", "[1, 2]"): 3}
    # With k = 2 the halves are cut at their medians: {20, 20} | {21} is too small for age; by zip {1, 1} | {2} as well.
    again, _ = anonymize(table, "mondrian", k=2)
    assert Counter(age for age, _, _ in published(again).elements()) == {"[20, 21]": 3, "[30, 40]": 3}


def test_relaxed_mondrian_divides_equal_values() -> None:
    table = simple(age=["5"] * 3 + ["6"], s=list("abcd"))
    strict, _ = anonymize(table, "mondrian", k=2)
    relaxed, _ = anonymize(table, "mondrian", k=2, strict=False)
    assert Counter(age for age, _ in published(strict).elements()) == {"[5, 6]": 4}
    assert Counter(age for age, _ in published(relaxed).elements()) == {"5": 2, "[5, 6]": 2}


def test_anatomy_groups_hold_each_value_once() -> None:
    table = simple(age=[str(i) for i in range(7)], s=list("aaabbcc"))  # 3 a, 2 b, 2 c: eligible for l = 2
    release, provenance = anonymize(table, "anatomy", l=2)
    assert release.kind is Kind.BUCKETIZED
    assert sorted(release.sizes.tolist()) == [
        2,
        2,
        3,
    ]  # three groups of two; the seventh joins a group without its value
    for bucket in range(3):
        codes = table.codes["s"][provenance.bucket == bucket]
        assert len(np.unique(codes)) == len(codes)
    with pytest.raises(PromiseError, match="has 3"):
        anonymize(table, "anatomy", l=3)


def test_slicing_keeps_blocks_and_breaks_them_apart() -> None:
    table = simple(age=[str(i) for i in range(40)], zip=[str(100 + i) for i in range(40)], s=["x", "y"] * 20)
    blocks = (("age",), ("zip", "s"))
    release, provenance = anonymize(table, "slicing", columns=blocks, bucket_size=5)
    assert release.kind is Kind.SLICED
    assert [b.columns for b in release.blocks] == [("age",), ("zip", "s")]
    assert release.sizes.min() >= 5
    assert release.sizes.max() < 10
    assert (provenance.fragment[:, 0] != provenance.fragment[:, 1]).any()
    pairs = Counter(zip(table.texts("zip"), table.texts("s"), strict=True))
    second = release.blocks[1]
    out = Counter((release.labels["zip"].texts[a], release.labels["s"].texts[b]) for a, b in second.cells.tolist())
    assert out == pairs


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"columns": [["age"]]}, "at least two blocks"),
        ({"columns": [["age"], ["s"]]}, "zip: in no block"),
        ({"columns": [["age", "zip"], ["zip", "s"]]}, "zip: in two blocks"),
        ({"columns": [["age", "zip"], ["s", "shoe"]]}, "shoe: unknown"),
    ],
)
def test_slicing_checks_its_columns(settings: dict[str, Any], said: str) -> None:
    table = simple(age=["1", "2"], zip=["1", "2"], s=["x", "y"])
    with pytest.raises(UsageError, match=said):
        anonymize(table, "slicing", bucket_size=1, **settings)


def test_release_order_tells_nothing() -> None:
    # 200 rows in their original order: where a row stands in the release is not where it stood before.
    table = simple(age=[str(i) for i in range(200)], s=["x"] * 200)
    _, provenance = anonymize(table, "identity")
    moved = np.corrcoef(np.arange(200), provenance.fragment[:, 0])[0, 1]
    assert abs(moved) < 0.25
