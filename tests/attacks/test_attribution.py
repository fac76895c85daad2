"""Attribution: SDMetrics' figures of CAP, and DiSCO and repU by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.audit import run_audit
from auditor.measure.attribution import attributed, binned, others_with
from auditor.model.arrays import Ints
from auditor.model.packing import distinct_rows
from scenarios.options import Options
from tests.support.synthesizers import by_margins, copying, subject

LETTERS = list("abcde")


def real() -> pd.DataFrame:
    return pd.DataFrame({"k1": LETTERS * 20, "k2": range(100), "s1": LETTERS * 20, "s2": range(100)})


def tables() -> dict[str, pd.DataFrame]:
    first, second = np.random.RandomState(42), np.random.RandomState(42)
    perfect = {"k1": first.choice(LETTERS, 20), "k2": range(20), "s1": first.choice(list("fghij"), 20)}
    perfect["s2"] = first.randint(100, 200, size=20)
    good = {"k1": second.choice(LETTERS, 20), "k2": second.randint(0, 5, size=20), "s1": second.choice(LETTERS, 20)}
    good["s2"] = second.randint(0, 5, size=20)
    bad = {"k1": LETTERS * 20, "k2": range(100), "s1": list("abced") * 20, "s2": range(100)}
    return {"perfect": pd.DataFrame(perfect), "good_seed42": pd.DataFrame(good), "bad": pd.DataFrame(bad)}


def numbered(ours: pd.DataFrame, theirs: pd.DataFrame, text: str, number: str) -> tuple[Ints, Ints]:
    """A column of texts and one of numbers, in ten bins, as one number for each row of both tables."""
    letters = pd.concat([ours[text], theirs[text]]).astype("category").cat.codes.to_numpy()
    low, high = float(ours[number].min()), float(ours[number].max())
    bins = np.concatenate([binned(one[number].to_numpy(dtype=float), low, high, 10) for one in (ours, theirs)])
    found = distinct_rows(np.column_stack([letters, bins]).astype(np.int64))
    return found[: len(ours)], found[len(ours) :]


def test_cap_protection_of_sdmetrics(data_folder: Path) -> None:
    file = data_folder / "reference" / "synthetic" / "sdmetrics.json"
    expected = json.loads(file.read_text())["disclosure_protection"]
    for name, made in tables().items():
        keys, values = numbered(real(), made, "k1", "k2"), numbered(real(), made, "s1", "s2")
        found = attributed(keys[0], values[0], keys[1], values[1])
        assert 1 - found.right[found.matched].mean() == pytest.approx(expected[name]["cap_protection"]), name


def test_by_hand() -> None:
    key, value = np.array([0, 0, 1, 2, 3]), np.array([5, 6, 5, 6, 5])
    found = attributed(key, value, np.array([0, 0, 1, 2, 9]), np.array([5, 5, 5, 5, 5]))
    assert found.matched.tolist() == [True, True, True, True, False]
    assert found.right.tolist() == [1, 0, 1, 0, 0]
    assert found.disclosed.tolist() == [True, False, True, False, False]
    assert found.replicated.tolist() == [False, False, True, True, False]
    keys, person = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 2, 3, 3])  # two rows of one person are not two people
    others = others_with(keys, person, keys, person)
    assert others.tolist() == [1, 1, 0, 0, 0]
    twice = attributed(keys, value, np.array([1, 2]), np.array([5, 5]), others)
    assert twice.replicated.tolist() == [False, False, True, True, True]
    assert others_with(np.array([0, 2, 7]), np.full(3, 9), keys, person).tolist() == [2, 1, 0]  # people not in the data


def test_replicated_uniques_of_few_outsiders_are_as_many_as_of_many() -> None:
    coarse = {"attribution": {"bins": 3}}
    options, found = Options(attacks=("attribution",), utility=(), settings=coarse), []
    for seed in range(8):
        made = subject(by_margins, 200, seed, others=40, null=True)
        risks = {r.measure: r for r in run_audit(made, options).risks}
        found.append((risks["replicated"].value, risks["replicated"].control))
    apart = np.diff(np.array(found, dtype=np.float64), axis=1).ravel()
    assert abs(apart.mean()) < 3 * apart.std() / np.sqrt(len(apart))


def test_a_copy_discloses_what_outsiders_do_not_lose() -> None:
    options = Options(attacks=("attribution",), utility=(), settings={"attribution": {"bins": 40}})
    found = {r.measure: r for r in run_audit(subject(copying, 250, 5), options).risks}
    assert set(found) == {"cap", "disco", "replicated"}
    assert found["disco"].value is not None
    assert found["disco"].value > 0.9
    assert found["disco"].detail["excess"]["low"] > 0.5
    assert found["replicated"].value is not None
    assert found["replicated"].value > 0.9
    harmless = {r.measure: r for r in run_audit(subject(by_margins, 250, 5), options).risks}
    assert harmless["disco"].detail["excess"]["low"] < 0
