"""The cases of the anonymizers' contract tests: the table's schema and values, settings per method, and what each promises.

A method is listed in `SETTINGS`; `check_promise` recomputes its promise from what is published; `impossible` says where no
release can keep it, and the method must refuse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from anonymizers import ANONYMIZERS
from anonymizers.shared.public_bins import PublicBins
from auditor.measure.classes import class_facts
from auditor.measure.nearness import largest_m
from auditor.measure.wildcards import alike_records
from auditor.model.release import Release, Suppression, WithheldCells
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.naive_slicing import cannot_slice, check_sliced

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
MIXED_BLOCKS = (("age", "team"), ("grade", "note", "income"), ("city", "disease"))
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
    "full-domain": [
        {"k": 3, "rounds": 2, "measure": "granularity", "limit": 0.02},
        {"k": 2, "l": 2, "diversity": "entropy", "measure": "discernibility", "limit": 0.0},
        {"k": 2, "t": 0.2, "closeness": "ordered", "sensitive": "income", "limit": 0.3, "outliers": "marked"},
    ],
    "suppression": [{"k": 3}, {"k": 2, "l": 2, "weights": [["city", 3]]}, {"k": 2, "l": 2, "matching": "own"}],
    "kmember": [{"k": 3}, {"k": 1}, {"k": 20}],
    "caat": [{"k": 3}, {"k": 1}, {"k": 10, "ties": "all"}],
    "kaca": [{"k": 3}, {"k": 1}, {"k": 20, "beta": 0.5}],
    "oka": [{"k": 3}, {"k": 1, "distance": "absolute"}, {"k": 7, "attributes": "all"}],
    "kmeans1": [{"k": 3}, {"k": 1, "iterations": 4}, {"k": 7, "attributes": "qi"}],
    "kmeans2": [{"k": 3}, {"k": 2, "attributes": "qi", "iterations": 3}],
    "kmeans3": [{"k": 3}, {"k": 2, "attributes": "qi", "iterations": 1}],
    "wfcm": [{"k": 3}, {"k": 2, "attributes": "all"}],
    "loukides-shao": [{"k": 2, "threshold": 1.0}, {"k": 3, "threshold": 1}],
    "l-clustering": [{"l": 2}, {"l": 3, "sensitive": "income"}],
    "ebkc": [{"k": 3}, {"k": 2, "diameter": 1.0, "most": 9}],
    "mdav": [{"k": 3}, {"k": 1, "restore": False}, {"k": 7, "ordinal": "convex", "standardise": False}],
    "mdav-refined": [{"k": 3}, {"k": 2, "rounds": 0}, {"k": 20, "restore": False}],
    "rgather": [{"r": 3}, {"r": 1, "orders": 1}, {"r": 20}],
    "rcellular": [{"r": 3}, {"r": 2, "facility": 2.5}],
    "grading": [
        {},
        {"categories": 1, "grave": [["disease", "Skin"]]},
        {"bounds": [["income", 0, 3000, 3250, 9000]]},
    ],
    "anatomy": [{"l": 2}, {"l": 2, "sensitive": "income"}],
    "slicing": [
        {"columns": BLOCKS, "bucket_size": 3},
        {"columns": BLOCKS, "bucket_size": 2, "partition": "random"},
        {"columns": BLOCKS, "l": 2},
        {"columns": BLOCKS, "l": 2, "ties": "divided", "weighting": "paper"},
        {"columns": BLOCKS, "l": 3, "strict": True, "generalise": 4},
        {"columns": MIXED_BLOCKS, "l": 2, "generalise": 5, "bucket_size": 2, "ties": "divided"},
        {},
        {"c": 3, "l": 2},
        {"c": 4, "sensitive_size": 1, "bins": 4, "sensitive": "income", "ties": "divided", "l": 2},
        {"c": 3, "sensitive_size": 2, "generalise": 3, "l": 2, "strict": True, "weighting": "paper"},
        {"c": 2, "generalise": 2, "bucket_size": 4},
        {"c": 2, "generalise": 2},
    ],
    "noise": [
        {},
        {"sd": 0.5, "distribution": "laplace", "decimals": 2},
        {"correlated": True, "columns": ["age", "income"]},
    ],
    "rank-swapping": [{}, {"window": 30, "columns": ["age", "grade", "income"]}],
    "record-swapping": [{}, {"rate": 1, "strata": ["city"]}, {"columns": ["disease"], "strata": ["team", "grade"]}],
    "pram": [{}, {"keep": 0.3, "invariant": True, "columns": ["city", "disease"]}],
    "top-coding": [{}, {"threshold": 40, "columns": ["age"], "by": "mean"}],
    "bottom-coding": [{"share": 0.3, "columns": ["income"]}, {"by": "mean"}],
    "rounding": [{}, {"base": 0.3, "random": True}],
    "m-invariance": [{"m": 2}, {"m": 3, "sensitive": "income"}],
    "cart": [{}, {"leaf": 1, "bins": 3, "order": ["disease", "age"], "rows": 7}],
    "copula": [{}, {"rows": 40}],
    "marginals": [{}, {"bins": 3, "rows": 5}, {"epsilon": 1.0}, {"epsilon": 10.0, "delta": 1e-6, "bins": 4, "rows": 9}],
    "noisy-histogram": [{"epsilon": 1000.0, "delta": 0.5}, {"epsilon": 1000.0, "delta": 0.5, "bins": 1, "rows": 3}],
    "opendp": [],  # a library that may not be installed, and takes half a minute: test_opendp.py
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


def check_promise(release: Release, settings: dict[str, Any], table: Table) -> None:
    """The promise, recomputed from what is published about the people in the table."""
    if release.synthetic:
        check_budget(release, settings)
        return
    if release.method == "slicing":
        check_sliced(release, settings, table)
        return
    if release.method == "suppression" and settings.get("matching") != "own":
        check_agreeing(release, settings)
        return
    facts = class_facts(release)
    if release.rows == release.suppressed_rows:
        return
    if {"k", "r"} & set(settings):
        assert facts.k is not None
        assert facts.k >= settings.get("k", settings.get("r"))
    figures = {f.column: f for f in facts.sensitive}[settings.get("sensitive", "disease")]
    if release.method == "m-invariance":
        block = release.block_of(figures.column)
        pairs = np.column_stack([block.bucket, block.cell(figures.column)])
        assert len(np.unique(pairs, axis=0)) == len(pairs)  # all values of a class differ
        assert release.sizes.min() >= settings["m"]
        return
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
    if release.method == "grading":
        check_grading(release)


def check_agreeing(release: Release, settings: dict[str, Any]) -> None:
    """Enough people agree with everybody who is not suppressed altogether, with enough values among them."""
    counts = (Suppression.EXCLUDED, WithheldCells.WILDCARD)
    alike, _, _ = alike_records(release, release.quasi, *counts)
    cell = release.blocks[0].cell(settings.get("sensitive", "disease"))
    per_value = [alike.agreeing(alike.sums((cell == value).astype(np.float64))) for value in np.unique(cell)]
    friends = np.column_stack([found for found in per_value if found is not None])
    assert (friends.sum(axis=1) >= settings["k"]).all()
    assert ((friends > 0).sum(axis=1) >= settings.get("l", 1)).all()


def check_budget(release: Release, settings: dict[str, Any]) -> None:
    """A private release says its budget, and what of the table it takes as public; the noise itself has tests of its own."""
    if "epsilon" not in settings:
        assert release.promises == ()
        return
    delta = f", delta = {settings['delta']:g}".replace("e-0", "e-") if "delta" in settings else ""
    said = f"epsilon = {settings['epsilon']:g}{delta}", "for one person more or less"
    assert release.promises[:2] == said
    assert release.promises[2].endswith(
        "the range of age, the range of income"
        if release.method == "noisy-histogram"
        else "the range of age, the values of team, the values of note, the range of income"
    )


def check_grading(release: Release) -> None:
    """No number is published, and an alias leaves at least two values open."""
    income, disease = release.labels["income"], release.labels["disease"]
    assert income.is_alias.all()
    assert (income.counts == income.domain.size).all()
    assert all(1 <= float(text) < 5 for text in income.texts)
    assert (disease.counts[disease.is_alias] >= 2).all()
    assert (disease.counts[~disease.is_alias] == 1).all()


def impossible(name: str, settings: dict[str, Any], table: Table) -> bool:
    """Whether no release of this table can keep the promise: not even one class of all rows does."""
    if name == "slicing":
        return cannot_slice(settings, table)
    if name == "noisy-histogram":  # without noise, combinations that occur once are left out
        published = [c for c in table.codes if c != "name"]
        binned = [PublicBins(table.domains[c], settings.get("bins", 8)).of_code[table.codes[c]] for c in published]
        return bool(np.unique(np.column_stack(binned), axis=0, return_counts=True)[1].max() < 2)
    codes = table.codes[settings.get("sensitive", "disease")]
    counts = np.sort(np.unique(codes, return_counts=True)[1])[::-1]
    share = counts / table.rows
    l = settings.get("l", 1)
    if ANONYMIZERS.get(name).configure(settings).promises() == ():
        return False
    if table.rows < settings.get("k", settings.get("r", settings.get("bucket_size", 1))):
        return True
    if name == "m-invariance":
        return bool(counts[0] * settings["m"] > table.rows)
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


ONE_OF_EACH = ("identity", "mondrian", "mdav", "kmeans1", "rgather", "rcellular", "anatomy", "slicing", "grading")
"""A method for each kind of release: the others publish the same kinds from other groups."""


def kinds() -> list[Any]:
    """A release of each kind whose rows are people's; with `--full`, one of every such method."""
    known = ANONYMIZERS.all()
    others = [name for name in known if name not in ONE_OF_EACH and not known[name].synthetic]
    return [*ONE_OF_EACH, *(pytest.param(name, marks=pytest.mark.proof(only=True)) for name in others)]
