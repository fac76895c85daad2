"""Calibration: where a simulation follows the model, what is expected is what is found.

People get labels that do not depend on them beyond covering them; the posterior under `likelihood` is then Bayes' rule, and
P(in) from a register the share of people alike who are in. Expected and realised may differ by chance only.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from auditor.model.release import Suppression
from auditor.posterior.links import Link
from tests.support.tables import World, beliefs_of, by_hand, figures

COLUMNS = {
    "x": {"role": "quasi", "type": "numeric"},
    "y": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive"},
}
VALUES = 16


def dyadic(values: np.ndarray, rng: np.random.Generator) -> list[str]:
    """For each value an interval of 1, 2, 4, 8 or 16 values that holds it, at random."""
    shift = rng.integers(5, size=len(values))
    low = (values >> shift) << shift
    high = low + (1 << shift) - 1
    return [f"[{a}, {b}]" if a < b else str(a) for a, b in zip(low, high, strict=True)]


def texts(values: np.ndarray) -> list[str]:
    return [str(value) for value in values.tolist()]


def recoded(rng: np.random.Generator, people: int = 300) -> World:
    x, y = rng.integers(VALUES, size=(2, people))
    rows = {"x": texts(x), "y": texts(y), "ill": texts(rng.integers(4, size=people))}
    everything = {"x": texts(np.arange(VALUES)), "y": texts(np.arange(VALUES))}  # so that the domains are whole
    world = by_hand(COLUMNS, rows, {"x": dyadic(x, rng), "y": dyadic(y, rng)}, population=everything)
    return dataclasses.replace(world, knowledge=dataclasses.replace(world.knowledge, register=None))


def test_likelihood_is_calibrated_and_finds_more_than_containment() -> None:
    gaps: dict[str, list[float]] = {"linking": [], "homogeneity": [], "more": []}
    for seed in range(25):
        world = recoded(np.random.default_rng(seed))
        for attack, column in ((Linking(), None), (Homogeneity(), "ill")):
            success = figures(attack, world, Link.LIKELIHOOD, column)["success"]
            assert success.value is not None
            assert success.expected is not None
            gaps[attack.name].append(success.value - success.expected)
        plain = figures(Linking(), world, Link.CONTAINMENT)["success"]
        sharp = figures(Linking(), world, Link.LIKELIHOOD)["success"]
        assert plain.value == pytest.approx(plain.expected)  # every candidate alike: nothing to be wrong about
        gaps["more"].append((sharp.value or 0) - (plain.value or 0))
    error = {name: float(np.std(each) / np.sqrt(len(each))) for name, each in gaps.items()}
    mean = {name: float(np.mean(each)) for name, each in gaps.items()}
    assert abs(mean["linking"]) < 3.5 * error["linking"]
    assert abs(mean["homogeneity"]) < 3.5 * error["homogeneity"]
    assert mean["more"] > 3.5 * error["more"]


@pytest.mark.slow
@pytest.mark.parametrize("known", [("x", "y"), ("x",)])
def test_membership_by_a_register_is_calibrated_in_slices(known: tuple[str, ...]) -> None:
    expected, found, inside = [], [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        x = rng.integers(VALUES, size=200)
        y = (x + rng.integers(4, size=200)) % VALUES  # the blocks depend on each other
        rows = {"x": texts(x[:80]), "y": texts(y[:80]), "ill": texts(rng.integers(4, size=80))}
        bucket = (rng.permutation(80) // 5).tolist()
        people = {"x": texts(x), "y": texts(y)}
        world = by_hand(COLUMNS, rows, None, [["x"], ["y", "ill"]], bucket, known, people)
        register = world.knowledge.register
        assert register is not None
        everybody = np.column_stack([register.codes[c] for c in known])
        world = dataclasses.replace(
            world, knowledge=dataclasses.replace(world.knowledge, codes=everybody, granted=None)
        )
        present = beliefs_of(world, Link.CONTAINMENT, suppression=Suppression.WILDCARD).membership(80 / 200).posterior
        member = np.arange(200) < 80
        expected.append(np.maximum(present, 1 - present).mean())
        found.append(np.where(np.isclose(present, 0.5), 0.5, (present > 0.5) == member).mean())
        inside.append(present.sum())
    np.testing.assert_allclose(inside, 80, rtol=0.01)  # everybody's chances add up to the number of members
    gap = np.array(found) - np.array(expected)
    assert abs(gap.mean()) < 3.5 * gap.std() / np.sqrt(len(gap)) + 0.002


# ----- where probabilities may be taken at their word ----------------------------------------------------------------

PEOPLE = {"x": ["1", "1", "2", "2", "3", "3"], "y": ["1", "2", "1", "2", "1", "2"], "ill": list("aabbab")}
CUT = ["[1, 2]", "[1, 2]", "[1, 2]", "[1, 2]", "3", "3"]


def test_beliefs_are_taken_at_their_word_where_the_class_is_known_or_labels_are_apart() -> None:
    apart = by_hand(COLUMNS, PEOPLE, {"x": CUT, "y": ["[1, 2]"] * 6}, bucket=[0, 0, 0, 0, 1, 1])
    exact = by_hand(COLUMNS, PEOPLE, blocks=[["x", "y"], ["ill"]], bucket=[0, 1, 0, 1, 2, 2], known=("y",))
    overlapping = by_hand(COLUMNS, PEOPLE, {"x": ["1", "[1, 2]", "[1, 2]", "2", "3", "[2, 3]"]})
    for world, link, records, values in (
        (apart, Link.CONTAINMENT, True, True),
        (apart, Link.TIGHTEST, True, True),  # there is one class for everybody
        (exact, Link.LIKELIHOOD, True, False),  # whose value is whose of those with the same y is not known
        (exact, Link.TIGHTEST, False, False),
        (exact, Link.CLASS, True, True),
        (overlapping, Link.LIKELIHOOD, False, False),
        (overlapping, Link.CLASS, True, True),
    ):
        beliefs = beliefs_of(world, link)
        assert (beliefs.calibrated(None), beliefs.calibrated("ill")) == (records, values), (world, link)


def test_beliefs_from_vague_knowledge_are_not_taken_at_their_word() -> None:
    world = by_hand(COLUMNS, PEOPLE, {"x": CUT, "y": ["[1, 2]"] * 6}, bucket=[0, 0, 0, 0, 1, 1])
    codes = world.knowledge.codes.copy()
    codes[0, 0] = -1
    missing = dataclasses.replace(world, knowledge=dataclasses.replace(world.knowledge, codes=codes))
    assert not beliefs_of(missing, Link.LIKELIHOOD).calibrated("ill")


def test_the_tightest_class_hides_least_of_what_is_known() -> None:
    # Of x nothing is known. Of y the second class hides less; over both columns the first would.
    rows = {"x": ["1", "1", "2", "9"], "y": ["1", "3", "1", "2"], "ill": list("aabb")}
    cells = {"x": ["1", "1", "[1, 9]", "[1, 9]"], "y": ["[1, 3]", "[1, 3]", "[1, 2]", "[1, 2]"]}
    world = by_hand(COLUMNS, rows, cells, bucket=[0, 0, 1, 1], known=("y",))
    values = beliefs_of(world, Link.TIGHTEST).values("ill")
    np.testing.assert_allclose(values.rows.toarray()[values.row_of[0]], [0, 1])
