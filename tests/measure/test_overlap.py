"""How labels lie to each other: by hand, and against every pair compared."""

from __future__ import annotations

import numpy as np
import pytest

from auditor.measure.overlap import Overlap, overlap
from auditor.model.labels.labels import Labels
from tests.model.test_notation import domain, numbers, read

TEN = numbers(*map(str, range(10)))


def lie(*texts: str) -> tuple[Overlap, tuple[str, ...]]:
    labels = read(TEN, *texts)
    found = overlap(labels, np.arange(len(texts)))
    return found.overlap, tuple(texts[label] for label in found.pair or ())


@pytest.mark.parametrize(
    ("texts", "found", "pair"),
    [
        (["0-3", "4-6", "9"], Overlap.APART, ()),
        (["0-3", "2", "4-6"], Overlap.WITHIN, ("0-3", "2")),
        (["0-3", "3-6"], Overlap.ACROSS, ("0-3", "3-6")),
        (["0-9", "0-3", "2-5"], Overlap.ACROSS, ("0-3", "2-5")),
        (["0-3", "[0, 4[", "{0, 1, 2, 3}"], Overlap.APART, ()),  # three ways to say the same
        (["{0, 2}", "{1, 3}"], Overlap.APART, ()),
        (["{0, 2}", "{2, 4}"], Overlap.ACROSS, ("{0, 2}", "{2, 4}")),
        (["{0, 2, 4}", "{0, 4}", "0"], Overlap.WITHIN, ("{0, 2, 4}", "{0, 4}")),
        (["0-2", "{0, 2}", "1"], Overlap.WITHIN, ("0-2", "{0, 2}")),
        (["{0, 2}", "1-2"], Overlap.ACROSS, ("{0, 2}", "1-2")),
        (["{0, 2}", "{0, 2}", "2|0"], Overlap.APART, ()),
        (["3.5", "0-9"], Overlap.APART, ()),  # an average denotes no value
        ([], Overlap.APART, ()),
    ],
)
def test_by_hand(texts: list[str], found: Overlap, pair: tuple[str, ...]) -> None:
    assert lie(*texts) == (found, pair)


def slow(labels: Labels) -> Overlap:
    """Every pair of sets compared."""
    sets = [s for s in {frozenset(labels.codes(i).tolist()) for i in range(len(labels.texts))} if s]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i] if a & b]
    if any(not (a <= b or b <= a) for a, b in pairs):
        return Overlap.ACROSS
    return Overlap.WITHIN if pairs else Overlap.APART


@pytest.mark.parametrize("gaps", [False, True])
def test_against_every_pair(gaps: bool) -> None:
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(600):
        texts = []
        for _ in range(rng.integers(1, 6)):
            low, high = sorted(rng.integers(0, 10, 2).tolist())
            some = sorted(set(rng.integers(0, 10, rng.integers(1, 4)).tolist()))
            texts.append("{" + ", ".join(map(str, some)) + "}" if gaps and rng.random() < 0.6 else f"[{low}, {high}]")
        labels = read(TEN, *texts)
        found = overlap(labels, np.arange(len(texts)))
        assert found.overlap is slow(labels), texts
        seen.add(found.overlap)
        if found.pair is not None:
            one, other = (set(labels.codes(i).tolist()) for i in found.pair)
            assert one & other
            assert (other < one) if found.overlap is Overlap.WITHIN else not (one <= other or other <= one)
    assert seen == set(Overlap)


def test_only_chosen_labels_count() -> None:
    labels = read(domain(["a", "b", "c"]), "{a, b}", "{b, c}", "c")
    assert overlap(labels, np.array([0, 2])).overlap is Overlap.APART
    assert overlap(labels, np.array([1, 2])).overlap is Overlap.WITHIN
