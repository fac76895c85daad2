"""Individual risk, special uniques and population uniqueness: the formulas, against reference values and slow versions.

francdat's figures (four keys, weight w) are sdcMicro's and mu-Argus', from the design's reference-values.md.
"""

from __future__ import annotations

import csv
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import hyp2f1

from auditor.measure.individual_risk import individual_risk
from auditor.measure.isolation import by_chance, exactly_one, isolated, nobody
from auditor.measure.population_uniqueness import Sample, estimates, pitman, snb, zayatz
from auditor.measure.sample_uniqueness import dis_scores, largest_size, special_uniques
from auditor.measure.wildcards import Alike
from auditor.model.arrays import Bools, Codes, Floats
from tests.support.adult import write_adult

# ----- francdat ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def francdat(data_folder: Path) -> tuple[Codes, Floats]:
    with (data_folder / "data" / "casc" / "francdat.csv").open() as file:
        rows = list(csv.DictReader(file))
    keys = np.array([[int(float(row[f"Key{i}"])) for i in range(1, 5)] for row in rows], dtype=np.int32)
    return keys, np.array([float(row["w"]) for row in rows])


@pytest.mark.data
def test_individual_risk_of_francdat(francdat: tuple[Codes, Floats]) -> None:
    keys, weights = francdat
    alike = Alike.of(keys, np.zeros(keys.shape, dtype=np.bool_))
    sample, population = alike.sums(np.column_stack([np.ones(len(weights)), weights]))[alike.kind].T
    assert sample.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert population.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    expected = [0.0171443, 0.0220423, 0.0220423, 0.1770758, 0.0116545, 0.2970631, 0.4023595, 0.0171443]
    assert individual_risk(sample, population) == pytest.approx(expected, abs=5e-8)


@pytest.mark.data
def test_special_uniques_of_francdat(francdat: tuple[Codes, Floats]) -> None:
    # Row 4 (3, 3, 1, 5) is the only one with Key1 = 3, which counts 3! = 6, and with (Key2, Key4) = (3, 5), 2! = 2; row 5 the
    # only one with Key4 = 4; row 6 with (Key1, Key4) = (4, 1) and (Key2, Key4) = (3, 1); row 7 as row 4.
    found = special_uniques(francdat[0])
    assert found is not None
    assert found.score.tolist() == [0, 0, 0, 8, 6, 4, 8, 0]
    assert found.sizes.tolist() == [3, 4, 0, 0]
    assert (found.unique, found.pairs) == (4, 4)
    expected = [0, 0, 0, 0.0142135, 0.0101060, 0.0062368, 0.0142135, 0]
    assert dis_scores(found, 0.01) == pytest.approx(expected, abs=5e-8)
    # of the scores' sum 26: Key1 is in 6+2+6, Key2 in 2+2+2, Key4 in 2+6+4+2
    assert found.contribution == pytest.approx([14 / 26, 6 / 26, 0, 14 / 26])


# ----- individual risk -----------------------------------------------------------------------------------------------


@given(st.integers(1, 2), st.floats(1e-7, 0.999999))
def test_individual_risk_is_the_mean_of_one_over_the_population(f: int, p: float) -> None:
    # exactly p^f/f · ₂F₁(f, f; f+1; q)
    exact = p**f / f * hyp2f1(f, f, f + 1, 1 - p)
    assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(exact, rel=1e-6)


def test_individual_risk_at_the_ends() -> None:
    sample = np.array([1, 2, 3, 10])
    everybody = individual_risk(sample, sample.astype(np.float64))
    assert everybody == pytest.approx(1 / sample)
    nearly = individual_risk(sample, sample * (1 + 1e-9))
    assert nearly == pytest.approx(1 / sample, rel=1e-6)
    assert individual_risk(sample, np.array([0.5, 1.0, 2.0, 3.0])) == pytest.approx(1 / sample)  # weights below 1
    assert (individual_risk(sample, np.full(4, 1e9)) < 1e-6).all()


# ----- special uniques -----------------------------------------------------------------------------------------------


def naive(values: Codes, most: int, hidden: Bools) -> list[float]:
    """Minimal sample uniques by their definition."""
    rows, attributes = values.shape

    def unique(row: int, chosen: tuple[int, ...]) -> bool:
        alike = (values[:, chosen] == values[row, chosen]).all(axis=1).sum()
        return bool(alike == 1) and not hidden[row, chosen].any()

    scores = []
    for row in range(rows):
        score = 0
        for size in range(1, most + 1):
            for chosen in combinations(range(attributes), size):
                smaller = [part for k in range(1, size) for part in combinations(chosen, k)]
                if unique(row, chosen) and not any(unique(row, part) for part in smaller):
                    score += factorial(attributes - size)
        scores.append(float(score))
    return scores


@given(st.integers(0, 10_000))
def test_special_uniques_agree_with_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, rng.integers(2, 5), (int(rng.integers(1, 12)), int(rng.integers(1, 5)))).astype(np.int32)
    hidden = rng.random(values.shape) < 0.1
    most = int(rng.integers(1, values.shape[1] + 1))
    found = special_uniques(values, most, hidden)
    assert found is not None
    whole = (values[:, None] == values[None]).all(axis=2).sum(axis=1) == 1
    expected = [score if alone else 0.0 for score, alone in zip(naive(values, most, hidden), whole, strict=True)]
    assert found.score.tolist() == expected
    assert found.by_attribute.sum() == pytest.approx(
        sum(m * n * factorial(values.shape[1] - m) for m, n in enumerate(found.sizes, 1))
    )


def test_sets_are_bounded() -> None:
    assert largest_size(8) == 8
    assert largest_size(30) == 2  # 30 + 435; with three of them 4525
    assert largest_size(5000) == 1


def test_without_uniques_and_without_pairs() -> None:
    twice = special_uniques(np.array([[1, 2], [1, 2]], dtype=np.int32))
    assert twice is not None
    assert dis_scores(twice, 0.01).tolist() == [0, 0]
    assert twice.contribution.tolist() == [0, 0]
    alone = special_uniques(np.array([[1, 2], [2, 1]], dtype=np.int32))
    assert alone is not None
    assert dis_scores(alone, 0.01).tolist() == [1, 1]  # where there are no pairs every match is right


# ----- population uniqueness -----------------------------------------------------------------------------------------


def test_zayatz_by_hand() -> None:
    # Two records of four people, both alone. Classes have size one: all sample uniques are unique, 2/(2/4) = 4 people.
    assert zayatz(Sample.of(np.array([1, 1]), 4)).number == pytest.approx(4)
    # Classes 1 and 2, three records of six people. A class of one is drawn once with 3/6; one of two with
    # C(2,1)·C(4,2)/C(6,3) = 12/20. The chance that a sample unique is a population unique: 0.5/(0.5 + 0.6); over 3/6.
    assert zayatz(Sample.of(np.array([1, 2]), 6)).number == pytest.approx(0.5 / 1.1 / 0.5)


def test_nobody_is_unique_without_sample_uniques() -> None:
    found = estimates(Sample.of(np.array([2, 3, 5]), 1000))
    assert {u.number for u in found.values()} == {0.0}


def test_the_whole_population_needs_no_estimate() -> None:
    found = estimates(Sample.of(np.array([1, 1, 2]), 4))
    assert {u.number for u in found.values()} == {2.0}


def test_what_does_not_converge_says_so() -> None:
    alone = Sample.of(np.ones(50, dtype=np.int64), 1000)
    assert pitman(alone).number is None
    assert "every record is unique" in (pitman(alone).doubt or "")
    assert snb(alone).number is None
    assert "classes of two" in (snb(alone).doubt or "")
    chosen = estimates(alone)["dankar"]
    assert (chosen.model, chosen.doubt) == ("zayatz", None)
    assert chosen.number == pytest.approx(1000)
    odd = snb(Sample.of(np.array([1] * 3 + [2] * 400), 2000))  # nearly all in pairs: no such population
    assert odd.number is None
    assert odd.doubt


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_pitman_recovers_its_own_uniques(fraction: float) -> None:
    # A population grown by Pitman's urn with θ = 200, α = 0.5, and a sample of it.
    rng = np.random.default_rng(3)
    theta, alpha, people = 200.0, 0.5, 20_000
    sizes: list[int] = []
    member: list[int] = []
    for i in range(people):
        if rng.random() < (theta + alpha * len(sizes)) / (theta + i):
            sizes.append(0)
            member.append(len(sizes) - 1)
        else:
            while True:  # a class with probability proportional to its size - α
                one = member[int(rng.integers(i))]
                if rng.random() < 1 - alpha / sizes[one]:
                    break
            member.append(one)
        sizes[member[-1]] += 1
    true = sizes.count(1)
    drawn = rng.choice(people, int(fraction * people), replace=False)
    counts = np.bincount(np.array(member)[drawn])
    found = pitman(Sample.of(counts[counts > 0], people))
    assert found.number == pytest.approx(true, rel=0.15)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("fraction", "within"), [(0.05, 0.35), (0.1, 0.35), (0.3, 0.15), (0.6, 0.08)])
def test_dankars_rule_on_samples_of_adult(data_folder: Path, tmp_path: Path, fraction: float, within: float) -> None:
    table, _ = write_adult(data_folder, tmp_path)
    cells = [line.split(";") for line in table.read_text().splitlines()[1:]]
    for columns in ((0, 1, 2, 3, 4, 5, 6, 8), (0, 1, 2, 3, 4)):
        key = np.unique([";".join(row[c] for c in columns) for row in cells], return_inverse=True)[1].reshape(-1)
        true = int((np.bincount(key) == 1).sum())
        drawn = np.random.default_rng(7).choice(len(key), int(fraction * len(key)), replace=False)
        counts = np.bincount(key[drawn])
        found = estimates(Sample.of(counts[counts > 0], len(key)))
        assert found["dankar"].model == ("pitman" if fraction <= 0.1 else found["dankar"].model)
        assert found["dankar"].number == pytest.approx(true, rel=within)


# ----- isolation -----------------------------------------------------------------------------------------------------


def test_isolation_by_hand() -> None:
    # of 4 people: nobody, one, two meet it
    assert isolated(np.array([0, 1, 2]), 4, 4).tolist() == [0, 1, 0]
    # two of them drawn: one of one with 1/2; exactly one of two with C(2,1)·C(2,1)/C(4,2) = 4/6
    assert isolated(np.array([0, 1, 2, 4]), 4, 2) == pytest.approx([0, 1 / 2, 4 / 6, 0])
    # eight stand for four: with share 1/4 each, 8 · 1/4 · (3/4)^7
    assert isolated(np.array([1]), 4, 8) == pytest.approx([8 / 4 * 0.75**7])
    assert by_chance(np.array([0.01]), 100)[0] == pytest.approx(0.99**99)
    assert exactly_one(np.array([0.5]), np.array([2.0])) == pytest.approx(0.5)
    assert exactly_one(np.array([1.0, 0.25]), np.ones(2)) == pytest.approx(0.75)
    assert exactly_one(np.array([1.0, 0.5]), np.array([2.0, 1.0])) == 0
    assert exactly_one(np.empty(0), np.empty(0)) == 0
    assert nobody(np.array([0.5, 0.25]), np.array([2.0, 1.0])) == pytest.approx(3 / 16)
