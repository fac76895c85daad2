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
from auditor.measure.classes import class_facts
from auditor.measure.nearness import largest_m
from auditor.model.errors import PromiseError, UsageError
from auditor.model.provenance import Provenance
from auditor.model.release import Kind, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.redteaming import anonymize
from auditor.releasing import write_release

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "numeric"},
            "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
            "city": {
                "role": "quasi",
                "taxonomy": {"North": ["a", "b", "c"], "South": {"Coast": ["d"], "Hills": ["e", "f"]}},
            },
            "team": {"role": "quasi"},
            "note": {"role": "neutral"},
            "disease": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "cough"], "Skin": ["rash", "acne"]}},
            "income": {"role": "sensitive", "type": "numeric"},
        }
    }
)
VALUES = {
    "age": [*map(str, range(20, 60)), "31.5", ""],
    "grade": ["low", "mid", "high"],
    "city": [*"abcdef", ""],
    "team": ["red", "green", "blue", ""],
    "note": ["x", "y"],
    "disease": ["flu", "cough", "rash", "acne"],
    "income": [str(v) for v in range(1000, 9000, 250)],
}
BLOCKS = (("age", "grade"), ("city", "team", "note"), ("disease", "income"))
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "identity": [{}],
    "mondrian": [
        {"k": 3},
        {"k": 2, "l": 2},
        {"k": 4, "strict": False},
        {"k": 1},
        {"k": 2, "l": 2, "diversity": "entropy"},
        {"k": 2, "l": 2, "diversity": "recursive", "c": 3},
        {"k": 2, "t": 0.3},
        {"k": 2, "t": 0.2, "closeness": "ordered", "sensitive": "income"},
        {"k": 2, "t": 0.3, "closeness": "hierarchical", "strict": False},
        {"k": 2, "alpha": 0.6, "l": 2},
        {"k": 2, "epsilon": 500, "m": 2, "sensitive": "income"},
    ],
    "anatomy": [{"l": 2}, {"l": 2, "sensitive": "income"}],
    "slicing": [{"columns": BLOCKS, "bucket_size": 3}, {"columns": BLOCKS, "bucket_size": 2, "partition": "random"}],
}


def table_of(rows: dict[str, list[str]]) -> Table:
    count = len(rows["age"])
    (table,) = encode(SCHEMA, [RawTable("people", {"name": [f"p{i}" for i in range(count)], **rows})])
    return table


@st.composite
def tables(draw: st.DrawFn) -> Table:
    count = draw(st.sampled_from([1, 2, 5, 17, 60, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = {}
    for column, values in VALUES.items():
        pool = values[: draw(st.integers(1, len(values)))]  # often constant, often with ties
        rows[column] = [pool[i] for i in rng.integers(len(pool), size=count)]
    return table_of(rows)


def cases() -> list[tuple[str, dict[str, Any]]]:
    return [(name, settings) for name in ANONYMIZERS.all() for settings in SETTINGS[name]]


def check(release: Release, provenance: Provenance, table: Table) -> None:
    """What every release must hold: all rows accounted for, every label covers the true value, nothing private is out."""
    kept = provenance.bucket >= 0
    assert release.rows == int(kept.sum())
    assert release.suppressed_rows == 0  # none of these methods withholds rows, and no label of theirs must look so
    assert "name" not in release.columns
    for number, block in enumerate(release.blocks):
        fragment = provenance.fragment[kept, number]
        assert sorted(fragment.tolist()) == list(range(release.rows))
        assert (block.bucket[fragment] == provenance.bucket[kept]).all()
        for column in block.columns:
            cell = block.cell(column)[fragment]
            assert release.labels[column].covers(cell, table.codes[column][kept]).all(), column


def check_promise(release: Release, settings: dict[str, Any]) -> None:
    """The promise, recomputed from what is published."""
    facts = class_facts(release)
    if release.rows == release.suppressed_rows:
        return
    if release.method == "mondrian":
        assert facts.k is not None
        assert facts.k >= settings["k"]
    figures = {f.column: f for f in facts.sensitive}[settings.get("sensitive", "disease")]
    if "l" in settings:
        assert (figures.l_distinct or 0) >= settings["l"]
    if settings.get("diversity") == "entropy":
        assert (figures.l_entropy or 0) >= settings["l"] - 1e-9
    if settings.get("diversity") == "recursive":
        assert figures.l_recursive_c is not None
        assert figures.l_recursive_c < settings["c"]
    if "t" in settings:
        reached = getattr(figures, f"t_{settings.get('closeness', 'equal')}")
        assert reached is not None
        assert reached <= settings["t"] + 1e-9
    if "alpha" in settings:
        assert (figures.alpha or 1) <= settings["alpha"] + 1e-9
    if "m" in settings:
        block = release.blocks[0]
        numbers = release.labels["income"].low[block.cell("income")]
        assert largest_m(block.bucket.astype(np.int64), numbers, settings["epsilon"]) >= settings["m"] - 1e-9
    if release.method == "slicing":
        assert release.sizes.min() >= settings["bucket_size"]


def impossible(name: str, settings: dict[str, Any], table: Table) -> bool:
    """Whether no release of this table can keep the promise: not even one class of all rows does."""
    codes = table.codes[settings.get("sensitive", "disease")]
    counts = np.sort(np.unique(codes, return_counts=True)[1])[::-1]
    share = counts / table.rows
    l = settings.get("l", 1)
    if table.rows < settings.get("k", settings.get("bucket_size", 1)):
        return True
    if name == "anatomy":
        return bool(counts[0] * l > table.rows)
    broken = [len(counts) < l, share[0] > settings.get("alpha", 1) + 1e-9]
    if settings.get("diversity") == "entropy":
        broken.append(np.exp(-(share * np.log(share)).sum()) < l - 1e-9)
    if settings.get("diversity") == "recursive":
        broken.append(counts[0] >= settings["c"] * counts[l - 1 :].sum())
    if "m" in settings:
        numbers = np.array([float(text) for text in table.texts("income")])
        near = (np.abs(numbers[:, None] - numbers[None, :]) <= settings["epsilon"]).mean(axis=1).max()
        broken.append(near > 1 / settings["m"] + 1e-9)
    return bool(any(broken))


@pytest.mark.parametrize(("name", "settings"), cases())
@given(table=tables(), seed=st.integers(0, 5))
def test_contract(name: str, settings: dict[str, Any], table: Table, seed: int) -> None:
    if impossible(name, settings, table):
        with pytest.raises(PromiseError, match=name):
            anonymize(table, name, seed, **settings)
        return
    release, provenance = anonymize(table, name, seed, **settings)
    check(release, provenance, table)
    check_promise(release, settings)
    again, same = anonymize(table, name, seed, **settings)
    assert write_release(release, provenance, Path("r")) == write_release(again, same, Path("r"))


def test_every_module_is_registered() -> None:
    folder = Path(anonymizers.__file__).parent
    shared = {"__init__", "base", "constraints", "cuts"}
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
    with pytest.raises(PromiseError, match="'a' has 3"):
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
