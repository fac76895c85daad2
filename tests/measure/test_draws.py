"""Drawing a sample class by class: everybody has the same chance, alone and in pairs, whatever scans the release."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from auditor.auditing.sampling import part_of
from auditor.measure.classes import class_facts
from auditor.measure.draws import PRIME, drawn, share, touched
from auditor.model.arrays import Bools, Ints
from auditor.model.release import Suppression
from auditor.model.seeding import stage
from tests.support.sampling_cases import QUASI, alone, lines, table

RARE = 1e-4
"""Chances below this are no accident: seeds are fixed, so a test that holds once holds always."""


def grid(*sides: int) -> list[Ints]:
    """All combinations of label numbers, one array a column."""
    return [axis.reshape(-1).astype(np.int64) for axis in np.meshgrid(*map(np.arange, sides), indexing="ij")]


def slowly_touched(codes: tuple[int, ...], size: int, p: float, seed: int) -> bool:
    """The same with whole numbers of any length, and powers as they are defined."""
    start, point, factor, added = stage(seed, "sample", "classes").integers(2**20, PRIME, size=4).tolist()
    value = start * point ** len(codes)
    value += sum((code + 1) * point ** (len(codes) - 1 - i) for i, code in enumerate(codes))
    lot = (value**5 * factor + added) % PRIME
    return bool((lot + 0.5) / PRIME < 1 - (1 - p) ** size)


@pytest.mark.parametrize("sides", [(), (7,), (3, 4, 2), (2, 1, 3, 2, 2)])
def test_touching_is_what_it_says(sides: tuple[int, ...]) -> None:
    codes = grid(*sides)
    size = np.arange(1, int(np.prod(sides)) + 1, dtype=np.int64)
    for seed in range(20):
        fast = touched(codes, size, 0.07, seed)
        every = product(*map(range, sides))
        assert fast.tolist() == [slowly_touched(c, int(s), 0.07, seed) for c, s in zip(every, size, strict=True)]
    assert touched(codes, size, 1.0, 3).all()


def test_numbers_stay_below_the_end_of_64_bits() -> None:
    largest = np.array([2**31 - 2], dtype=np.int64)
    with np.errstate(over="raise"):
        for seed in range(50):
            codes = [largest] * 9
            expected = slowly_touched((2**31 - 2,) * 9, 1, 0.5, seed)
            assert touched(codes, np.ones(1, dtype=np.int64), 0.5, seed).tolist() == [expected]


@pytest.mark.parametrize("sides", [(40, 50, 30), (2,) * 14, (20000,), (1, 1, 5000, 4)])
@pytest.mark.parametrize("p", [0.5, 0.1])
def test_classes_are_touched_as_if_by_chance_and_neighbours_apart(sides: tuple[int, ...], p: float) -> None:
    """Over 100 seeds on a grid of classes of one: the number of those touched, and the products of neighbours along every
    column, have the spread that independent draws have (variances of standard normal sums: χ²)."""
    codes, one, kind = grid(*sides), np.ones(int(np.prod(sides)), dtype=np.int64), p * (1 - p)
    totals, neighbours = [], []
    for seed in range(100):
        away = touched(codes, one, p, seed).astype(np.float64).reshape(sides) - p
        totals.append(away.sum() / np.sqrt(away.size * kind))
        for axis in (i for i, side in enumerate(sides) if side > 1):
            pairs = away.take(range(1, sides[axis]), axis) * away.take(range(sides[axis] - 1), axis)
            neighbours.append(pairs.sum() / kind / np.sqrt(pairs.size))
    for scores in (np.array(totals), np.array(neighbours)):
        below = stats.chi2.cdf((scores**2).sum(), len(scores))
        assert RARE < below < 1 - RARE


def test_the_chance_of_a_class_goes_by_its_size() -> None:
    codes = grid(200, 300)
    size = (codes[0] % 12 + 1).astype(np.int64)
    hit = touched(codes, size, 0.05, 11)
    for f in range(1, 13):
        times = int(hit[size == f].sum())
        assert stats.binomtest(times, int((size == f).sum()), 1 - 0.95**f).pvalue > RARE


def test_a_query_touches_the_same_classes() -> None:
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    arrow = pytest.importorskip("pyarrow")
    codes = grid(11, 7, 13)
    size = (codes[2] + 1).astype(np.int64)
    classes = ibis.memtable(arrow.table({"a": codes[0], "b": codes[1], "c": codes[2], "people": size}))
    for seed, p in ((1, 0.3), (2, 0.01), (3, 1.0)):
        chosen = touched([classes.a, classes.b, classes.c], classes.people, p, seed)
        found = classes.mutate(hit=chosen).order_by(["a", "b", "c"]).to_pyarrow()
        assert found["hit"].to_pylist() == touched(codes, size, p, seed).tolist()


def test_the_people_of_a_touched_class_are_binomial_given_that_there_is_one() -> None:
    """Classes of six at p = 0.2: counts 1 to 6 against C(6,c) 0.2^c 0.8^(6-c) / (1 - 0.8^6)."""
    classes = 3000
    starts = np.arange(classes) * 6
    rows = drawn(starts, classes * 6, 0.2, seed=5)
    count = np.bincount(np.bincount(rows // 6, minlength=classes), minlength=7)
    assert count[0] == 0
    expected = stats.binom.pmf(np.arange(1, 7), 6, 0.2) / (1 - 0.8**6) * classes
    expected, seen = np.append(expected[:3], expected[3:].sum()), np.append(count[1:4], count[4:].sum())
    assert stats.chisquare(seen, expected).pvalue > RARE
    place = np.bincount(rows % 6, minlength=6)
    assert stats.chisquare(place).pvalue > RARE
    assert drawn(starts, classes * 6, 1.0, seed=5).tolist() == list(range(classes * 6))


def test_tiny_chances_draw_one() -> None:
    assert drawn(np.array([0, 1, 50_000]), 100_000, 1e-12, seed=1).shape == (3,)


def sampled(seeds: range, sample: int, suppression: Suppression) -> tuple[Bools, Bools]:
    """Who is in the sample by each seed (seeds × rows of a release), and who can be."""
    release = table(3, 90, withheld=0.2)
    whole = alone(release)
    facts = class_facts(whole.release, suppression)
    inside = np.zeros((len(seeds), len(release)), dtype=np.bool_)
    for i, seed in enumerate(seeds):
        part = part_of(whole, sample, seed, suppression, facts)
        assert part.sample is not None
        inside[i, np.array(lines(release, part))[part.sample.targets]] = True
    withheld = (release[list(QUASI)] == "*").all(axis=1).to_numpy()
    return inside, ~withheld if suppression is Suppression.EXCLUDED else np.ones(len(release), dtype=np.bool_)


@pytest.mark.slow
@pytest.mark.parametrize("suppression", [Suppression.EXCLUDED, Suppression.OWN])
def test_everybody_is_in_with_the_same_chance_alone_and_in_pairs(suppression: Suppression) -> None:
    seeds, sample = range(600), 20
    inside, can = sampled(seeds, sample, suppression)
    assert not inside[:, ~can].any()
    inside = inside[:, can]
    people = inside.shape[1]
    p = share(sample, people)
    times = inside.sum(axis=0)
    spread = ((times - len(seeds) * p) ** 2 / (len(seeds) * p * (1 - p))).sum()
    assert RARE < stats.chi2.cdf(spread, people) < 1 - RARE  # uniform over people
    sizes = inside.sum(axis=1)
    spread = ((sizes - people * p) ** 2 / (people * p * (1 - p))).sum()
    assert RARE < stats.chi2.cdf(spread, len(seeds)) < 1 - RARE  # binomial: nobody draws anybody along
    away = inside - p
    together = (away.T @ away)[np.triu_indices(people, 1)] / np.sqrt(len(seeds)) / (p * (1 - p))
    assert stats.kstest(together, "norm").pvalue > RARE
    assert np.abs(together).max() < 6
