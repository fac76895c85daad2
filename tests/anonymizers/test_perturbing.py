"""Perturbing methods: what they add or swap is distributed as they say, what they promise holds, and it reads again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from anonymizers.pram import Pram
from auditor.files.releases import read_release, write_release
from auditor.files.writing import write_files
from auditor.model.arrays import Floats
from auditor.model.errors import PromiseError, UsageError
from auditor.model.mechanism import Coding, Correlated, Noise, PublishedMechanism, Transition, window_of
from auditor.model.provenance import Provenance
from auditor.model.release import Kind, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric", "domain": [0, 120]},
    "pay": {"role": "quasi", "type": "numeric"},
    "grade": {"role": "quasi", "order": ["low", "mid", "high", "top"]},
    "city": {"role": "quasi"},
    "ill": {"role": "sensitive"},
}
METHODS = ("noise", "rank-swapping", "record-swapping", "pram", "top-coding", "bottom-coding", "rounding")


def people(rows: int, seed: int = 0, missing: float = 0.0, columns: dict[str, Any] | None = None) -> Table:
    """People whose pay grows with their age; some values are missing."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(45, 15, rows).round(), 0, 120)
    cells = {
        "age": [str(int(v)) for v in age],
        "pay": [f"{v:.1f}" for v in 100 + 2 * age + rng.normal(0, 20, rows)],
        "grade": rng.choice(["low", "mid", "high", "top"], rows, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
        "city": rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.25, 0.1, 0.05]).tolist(),
        "ill": rng.choice(["x", "y", "z"], rows).tolist(),
    }
    for column in ("age", "pay", "grade", "city"):
        gone = rng.random(rows) < missing
        cells[column] = ["" if no else cell for no, cell in zip(gone, cells[column], strict=True)]
    (table,) = encode(Schema.from_dict({"columns": columns or COLUMNS}), [RawTable("people", cells)])
    return table


def published(release: Release, provenance: Provenance, column: str) -> list[str]:
    """What is published of each original row."""
    texts = release.labels[column].texts
    return [texts[i] for i in release.blocks[0].cell(column)[provenance.fragment[:, 0]].tolist()]


def as_numbers(texts: list[str]) -> Floats:
    return np.array([float(text) if text else np.nan for text in texts])


def moved(table: Table, column: str, method: str, seed: int = 3, **settings: Any) -> tuple[Floats, Floats, Release]:
    """The true and the published numbers of a column, and the release."""
    release, provenance = anonymize(table, method, seed, **settings)
    return as_numbers(table.texts(column)), as_numbers(published(release, provenance, column)), release


def change(release: Release, column: str) -> Any:
    assert release.mechanism is not None
    return release.mechanism.columns[column]


# ----- what is drawn -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("distribution", "law"), [("normal", stats.norm), ("laplace", stats.laplace)])
def test_noise_is_distributed_as_it_says(distribution: str, law: Any) -> None:
    table = people(4000)
    true, made, release = moved(table, "pay", "noise", sd=0.5, distribution=distribution, decimals=6)
    told = change(release, "pay")
    assert isinstance(told, Noise)
    assert told.sd == pytest.approx(0.5 * true.std())
    scale = told.sd if distribution == "normal" else told.sd / np.sqrt(2)
    assert stats.kstest(made - true, law(scale=scale).cdf).pvalue > 0.01
    assert stats.kstest(made - true, law(scale=1.2 * scale).cdf).pvalue < 0.01  # the test sees a fifth too much
    assert abs(np.corrcoef(true, made - true)[0, 1]) < 0.05


def test_correlated_noise_keeps_correlations_where_independent_noise_weakens_them() -> None:
    table = people(6000)
    before = np.corrcoef(as_numbers(table.texts("age")), as_numbers(table.texts("pay")))[0, 1]
    found = {}
    for correlated in (True, False):
        release, provenance = anonymize(table, "noise", 5, sd=0.7, correlated=correlated)
        pair = [as_numbers(published(release, provenance, c)) for c in ("age", "pay")]
        found[correlated] = np.corrcoef(*pair)[0, 1]
        added = pair[1] - as_numbers(table.texts("pay"))
        assert added.std() == pytest.approx(0.7 * as_numbers(table.texts("pay")).std(), rel=0.05)
        assert release.mechanism is not None
        assert (release.mechanism.correlated is not None) == correlated
    assert found[True] == pytest.approx(before, abs=0.02)
    assert found[False] == pytest.approx(before / (1 + 0.7**2), abs=0.03)


def test_whole_numbers_stay_whole() -> None:
    true, made, release = moved(people(300, missing=0.1), "age", "noise")
    assert (made[~np.isnan(made)] % 1 == 0).all()
    assert (np.isnan(true) == np.isnan(made)).all()
    assert change(release, "age").unit == 1


@pytest.mark.parametrize("window", [0.1, 3.0, 20.0, 100.0])
def test_the_window_of_rank_swapping_holds(window: float) -> None:
    table = people(700, missing=0.1)
    for column in ("age", "pay", "grade"):
        release, provenance = anonymize(table, "rank-swapping", 2, window=window)
        domain, true = table.domains[column], table.codes[column].astype(np.int64)
        made = np.array([domain.code(text) for text in published(release, provenance, column)])
        there = true < domain.known
        assert (made[~there] == true[~there]).all()
        counts = np.bincount(true[there], minlength=domain.known)
        assert (
            counts == np.bincount(made[there], minlength=domain.known)
        ).all()  # every value is as frequent as it was
        last = np.cumsum(counts)
        first = last - counts
        low, high = np.minimum(true, made)[there], np.maximum(true, made)[there]
        between = np.where(low == high, 0, first[high] - (last[low] - 1))  # ranks apart, at least
        allowed = window_of(int(there.sum()), window)
        assert between.max() <= allowed
        if window == 20 and column == "pay":
            assert between.max() > 0.8 * allowed
            assert (made[there] != true[there]).mean() > 0.95


def test_records_are_swapped_within_strata_and_as_often_as_asked() -> None:
    table = people(2000)
    swapped = ("age", "pay", "grade")
    release, provenance = anonymize(table, "record-swapping", 1, rate=0.3, strata=("city",), columns=swapped)
    before = list(zip(*(table.texts(c) for c in swapped), strict=True))
    after = list(zip(*(published(release, provenance, c) for c in swapped), strict=True))
    differ = np.array([a != b for a, b in zip(before, after, strict=True)])
    assert differ.mean() == pytest.approx(0.3, abs=0.01)  # hardly any two have the same pay
    assert published(release, provenance, "city") == table.texts("city")
    for city in "abcd":
        here = np.array(table.texts("city")) == city
        assert sorted(b for b, h in zip(before, here, strict=True) if h) == sorted(
            a for a, h in zip(after, here, strict=True) if h
        )


@pytest.mark.parametrize("invariant", [False, True])
def test_pram_changes_values_with_the_probabilities_of_its_matrix(invariant: bool) -> None:
    table = people(8000)
    release, provenance = anonymize(table, "pram", 4, keep=0.6, invariant=invariant)
    told = change(release, "city")
    assert isinstance(told, Transition)
    matrix, true = np.array(told.matrix), np.array(table.texts("city"))
    made = np.array(published(release, provenance, "city"))
    for i, value in enumerate(told.values):
        here = made[true == value]
        counts = np.array([(here == other).sum() for other in told.values])
        assert stats.chisquare(counts, matrix[i] * len(here)).pvalue > 0.01
    assert np.diag(matrix) == pytest.approx([0.6] * 4) or invariant


def test_invariant_pram_keeps_the_expected_counts() -> None:
    shares = np.array([0.6, 0.25, 0.1, 0.05])
    kept = Pram(keep=0.3, invariant=True).matrix(shares)
    assert kept.sum(axis=1) == pytest.approx(np.ones(4))
    assert shares @ kept == pytest.approx(shares)
    assert np.abs(shares @ Pram(keep=0.3).matrix(shares) - shares).max() > 0.1
    table, column = people(600, 9), "city"
    counts = np.bincount(table.codes[column], minlength=4)
    runs = []
    for seed in range(60):
        release, _ = anonymize(table, "pram", seed, keep=0.3, invariant=True)
        runs.append(release.label_counts(column)[:4])
    deviation = np.std(runs, axis=0) / np.sqrt(len(runs))
    assert (np.abs(np.mean(runs, axis=0) - counts) < 4 * deviation).all()


def test_rounding_by_hand_and_without_bias() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}
    cells = {"age": ["0", "2.4", "2.5", "-2.5", "7.6", "-7.6", "5", ""], "ill": list("xyxyxyxy")}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", cells)])
    _, made, _ = moved(table, "age", "rounding")
    assert made[:-1].tolist() == [0, 0, 5, 0, 10, -10, 5]
    _, thirds, _ = moved(table, "age", "rounding", base=0.3)
    assert thirds[1] == 2.4
    true, drawn, _ = moved(people(4000), "pay", "rounding", base=7, random=True)
    assert np.abs(drawn - true).max() < 7
    assert abs((drawn - true).mean()) < 4 * 7 / 2 / np.sqrt(4000)
    up = drawn > true
    share = (true % 7) / 7
    assert (
        stats.chisquare(
            [up[(share >= a) & (share < a + 0.25)].sum() for a in (0, 0.25, 0.5, 0.75)],
            [share[(share >= a) & (share < a + 0.25)].sum() for a in (0, 0.25, 0.5, 0.75)],
            sum_check=False,
        ).pvalue
        > 0.01
    )


@pytest.mark.parametrize("method", ["top-coding", "bottom-coding"])
def test_the_ends_are_coded(method: str) -> None:
    table, sign = people(500, missing=0.05), 1 if method == "top-coding" else -1
    true, made, release = moved(table, "pay", method, share=0.1)
    told = change(release, "pay")
    assert isinstance(told, Coding)
    there = ~np.isnan(true)
    beyond = sign * true[there] > sign * told.threshold
    assert 0.08 < beyond.mean() <= 0.1
    assert (made[there][~beyond] == true[there][~beyond]).all()
    assert (made[there][beyond] == told.threshold).all()
    _, meant, _ = moved(table, "pay", method, share=0.1, by="mean")
    assert meant[there].mean() == pytest.approx(true[there].mean())
    _, cut, _ = moved(table, "age", method, threshold=50, columns=("age",))
    assert (sign * cut[~np.isnan(cut)]).max() == sign * 50


# ----- the release ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_perturbed_release_and_its_mechanism_read_again(method: str, tmp_path: Path) -> None:
    table = people(60, missing=0.1)
    release, provenance = anonymize(table, method, 1)
    assert release.kind is Kind.PERTURBED
    files, _ = write_release(release, provenance, tmp_path / "made.csv")
    write_files(files)
    assert sorted(file.name for file in files) == ["made.csv", "made.csv.mechanism.toml"]
    for known in (table.domains, None):
        again = read_release(tmp_path / "made.csv", table.schema, np.random.default_rng(0), known).release
        assert again.mechanism is not None
        assert release.mechanism is not None
        assert dict(again.mechanism.columns) == dict(release.mechanism.columns)
        for column in release.columns:
            texts = [one.labels[column].texts[i] for one in (release, again) for i in one.blocks[0].cell(column)]
            assert sorted(texts[:60]) == sorted(texts[60:])


def test_the_covariance_of_correlated_noise_reads_again() -> None:
    release, _ = anonymize(people(200), "noise", 1, correlated=True)
    assert release.mechanism is not None
    assert isinstance(release.mechanism.correlated, Correlated)
    text = release.mechanism.to_toml()
    assert PublishedMechanism.from_dict(tomllib.loads(text), "m") == release.mechanism


@pytest.mark.parametrize("method", METHODS)
def test_the_public_seed_does_not_undo_the_draws(method: str) -> None:
    # All is known but the secret: the table in its order, the method, its settings. The draws of the public seed tell no
    # more about the true release than those of any other seed.
    table, settings = people(400, 6), {"top-coding": {}, "bottom-coding": {}}.get(method, {})
    real = anonymize(table, method, **settings)
    replay = anonymize(table, method, 2026, **settings)
    assert (real[1].fragment == replay[1].fragment).mean() < 0.05
    if method in ("noise", "rank-swapping", "rounding"):
        ours, theirs = (as_numbers(published(*made, "pay")) - as_numbers(table.texts("pay")) for made in (real, replay))
        same = np.corrcoef(ours, theirs)[0, 1]
        assert (
            same == pytest.approx(1) if method == "rounding" else abs(same) < 0.25
        )  # rounding draws nothing by default
    if method in ("pram", "record-swapping"):
        changed = [np.array(published(*made, "city")) != np.array(table.texts("city")) for made in (real, replay)]
        assert abs(np.corrcoef(*changed)[0, 1]) < 0.25


def test_a_person_with_several_rows_has_one_draw() -> None:
    columns = {"who": {"role": "person"}, **COLUMNS}
    rng = np.random.default_rng(0)
    who = rng.integers(0, 40, 400)
    cells = {
        "who": [str(v) for v in who],
        "age": [str(20 + v) for v in who],
        "pay": [f"{v / 3:.1f}" for v in rng.integers(0, 900, 400)],
        "grade": ["low"] * 400,
        "city": [["a", "b", "c"][v % 3] for v in who],
        "ill": rng.choice(["x", "y"], 400).tolist(),
    }
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", cells)])
    for method, column, settings in (
        ("noise", "age", {"sd": 2.0}),
        ("noise", "age", {"sd": 2.0, "correlated": True}),
        ("pram", "city", {"keep": 0.2}),
        ("rounding", "age", {"base": 7, "random": True}),
    ):
        release, provenance = anonymize(table, method, 1, **settings)
        made = published(release, provenance, column)
        pairs = set(zip(cells["who"], made, strict=True))
        assert len(pairs) == len(set(cells["who"])), (method, settings)


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("noise", {"sd": 0.0}, "sd must be above 0"),
        ("noise", {"correlated": True, "distribution": "laplace"}, "correlated noise is normal"),
        ("noise", {"decimals": -1}, "decimals must be at least 0"),
        ("noise", {"columns": ("city",)}, "'city' is nominal"),
        ("noise", {"columns": ("age", "age")}, "each column once"),
        ("rank-swapping", {"window": 101.0}, "window must be a percentage"),
        ("record-swapping", {"rate": 0.0}, "rate must be a share"),
        ("record-swapping", {"strata": ("age",), "columns": ("age",)}, "strata must not name"),
        ("record-swapping", {"strata": ("age", "pay", "grade", "city")}, "leave a quasi-identifier"),
        ("record-swapping", {"strata": ("shoe",)}, "strata must name published columns"),
        ("pram", {"keep": 1.0}, "keep must be a probability"),
        ("pram", {"columns": ("pay",)}, "'pay' is numeric"),
        ("top-coding", {"share": 1.0}, "share must be a share"),
        ("bottom-coding", {"threshold": 3.0}, "threshold is a number of one column"),
        ("rounding", {"base": 0.0}, "base must be a number above 0"),
        ("rounding", {"columns": ("shoe",)}, "columns must name published columns"),
    ],
)
def test_settings_are_checked(method: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ANONYMIZERS.get(method)(**settings).anonymize(people(20), np.random.default_rng(0))


def test_a_table_without_a_column_to_change_is_refused() -> None:
    only = {name: {**column, "role": "neutral" if name != "city" else "quasi"} for name, column in COLUMNS.items()}
    with pytest.raises(PromiseError, match="quasi-identifier that is numeric"):
        anonymize(people(20, columns=only), "noise", 1)
    anonymize(people(20, columns=only), "pram", 1)


@pytest.mark.parametrize("method", ["noise", "pram", "top-coding"])
def test_where_nothing_can_be_changed_there_is_no_mechanism(method: str, tmp_path: Path) -> None:
    table = people(40).take(np.zeros(5, dtype=np.int64))
    release, provenance = anonymize(table, method, 1)
    assert release.mechanism is None
    assert release.kind is Kind.GENERALISED
    assert list(write_release(release, provenance, tmp_path / "made.csv")[0]) == [tmp_path / "made.csv"]
