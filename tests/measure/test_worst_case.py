"""Bounds for somebody who knows the classes and m facts: by hand, by trying all facts, and by trying all atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from auditor.measure.counts import entries
from auditor.measure.worst_case import WorstCase, none_holds, worst_case
from auditor.model.arrays import Bools, Floats, Ints
from tests.support.worst_cases import Counts, slowly

VALUES = 3


def bounds(classes: Sequence[Sequence[int]], facts: int) -> WorstCase:
    return worst_case(entries(np.array(classes)), facts)


def test_by_hand() -> None:
    # Two of four people have flu, one a cough, one a rash. Nothing known: P(Ann has flu) = 2/4.
    assert bounds([(2, 1, 1)], 0).anybody.tolist() == [0.5]
    # One fact, "if Ann has a cough, she has flu", leaves flu, flu, rash for her: 2/3. "If Bob has flu, so has Ann" leaves the
    # cases in which she has flu, or neither of them has: P(neither) = 2/4 · 1/3 = 1/6, and 1/2 / (1/2 + 1/6) = 3/4.
    assert bounds([(2, 1, 1)], 1).own == pytest.approx([3 / 4])
    # Two facts about Ann alone rule everything else out.
    assert bounds([(2, 1, 1)], 2).own == pytest.approx([1.0])
    # A fact about the other class is better still where its people are nearly alike: 1/2 / (1/2 + 1/2 · 1/5) = 5/6.
    assert bounds([(2, 1, 1), (4, 1, 0)], 1).anybody[0] == pytest.approx(5 / 6)
    assert bounds([(2, 1, 1), (4, 1, 0)], 1).own[0] == pytest.approx(3 / 4)


def test_a_class_of_one_value_makes_one_fact_enough() -> None:
    found = bounds([(1, 1, 1), (0, 3, 0)], 1)
    assert found.anybody.tolist() == [1.0, 1.0]
    assert found.own == pytest.approx([0.5, 1.0])


# ----- all facts, on all tables of a few rows -----------------------------------------------------------------------------


def dealt(size: int) -> list[Counts]:
    """The ways in which the people of a class can have the values, by counts."""
    return [counts for counts in product(range(size, -1, -1), repeat=VALUES) if sum(counts) == size]


def tables(rows: int) -> Iterator[list[Counts]]:
    """All tables of so many rows in one or two classes, but for the names of values and the order of classes."""
    for first in range(rows, (rows - 1) // 2, -1):
        for counts in dealt(first):
            if list(counts) == sorted(counts, reverse=True):
                yield from ([counts, *rest] for rest in ([(c,) for c in dealt(rows - first)] if first < rows else [()]))


def worlds(classes: Sequence[Counts]) -> Ints:
    """All ways to deal the values of each class out to its people (worlds × people), each as likely as any other."""
    ways = [
        sorted(set(permutations([value for value, count in enumerate(counts) for _ in range(count)])))
        for counts in classes
    ]
    return np.array([sum(one, ()) for one in product(*ways)])


def most(happens: Bools, facts: Bools, number: int) -> Fraction:
    """The highest probability of any of some events (by world), over all sets of so many facts (facts × worlds)."""
    best, event = Fraction(0), happens.astype(np.int64)
    for chosen in combinations(range(len(facts)), number - 1) if number else [()]:
        # the last fact is any that stands behind the chosen ones, or one of them again
        last = facts[chosen[-1] if chosen else 0 :] if number else np.ones((1, happens.shape[1]), dtype=np.bool_)
        true = (last & facts[list(chosen)].all(axis=0)).astype(np.int64)
        both, whole = true @ event.T, true.sum(axis=1)
        share = np.where(whole[:, None] > 0, both / np.maximum(whole, 1)[:, None], 0.0)
        place = np.unravel_index(int(share.argmax()), share.shape)
        best = max(best, Fraction(int(both[place]), max(int(whole[place[0]]), 1)))
    return best


def tried(classes: Sequence[Counts], number: int, own: bool) -> list[float]:
    """The bounds of each class, by trying all facts: about anybody, or about people of the class."""
    found, who = worlds(classes), np.repeat(np.arange(len(classes)), [sum(counts) for counts in classes])
    made = []
    for one in range(len(classes)):
        people = np.flatnonzero((who == one) | (not own))
        atoms = np.unique([found[:, p] == value for p in people for value in range(VALUES)], axis=0)
        facts = np.unique((~atoms[:, None, :] | atoms[None, :, :]).reshape(-1, len(found)), axis=0)
        target = int(np.argmax(who == one))
        made.append(float(most(np.array([found[:, target] == value for value in range(VALUES)]), facts, number)))
    return made


def check_all_facts(rows: int) -> int:
    count = 0
    for classes in tables(rows):
        for number in (0, 1, 2):
            found = bounds(classes, number)
            assert found.anybody == pytest.approx(tried(classes, number, own=False), abs=1e-12), (classes, number)
            assert found.own == pytest.approx(tried(classes, number, own=True), abs=1e-12), (classes, number)
            count += 1
    return count


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_no_set_of_facts_does_better(rows: int) -> None:
    assert check_all_facts(rows) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [5, 6])
def test_no_set_of_facts_does_better_on_larger_tables(rows: int) -> None:
    assert check_all_facts(rows) > 100


# ----- all atoms, for more facts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [[(2, 2, 1)], [(3, 1, 1)], [(2, 1, 0), (1, 1, 0)], [(2, 2, 0), (1, 0, 1)]])
def test_no_three_atoms_do_better(classes: list[Counts]) -> None:
    found = worlds(classes)
    atoms = np.array([found[:, p] == value for p in range(found.shape[1]) for value in range(VALUES)])
    starts = np.cumsum([0, *(sum(counts) for counts in classes[:-1])])
    for place, target in enumerate(starts):
        best = 0.0
        for event in atoms[VALUES * target : VALUES * (target + 1)]:
            nothing = min(
                (~(event | atoms[list(three)].any(axis=0))).mean() for three in combinations(range(len(atoms)), 3)
            )
            best = max(best, event.mean() / (event.mean() + nothing) if event.any() else 0.0)
        assert bounds(classes, 3).anybody[place] == pytest.approx(best, abs=1e-12)


def drawn(counts: Counts, people: int) -> dict[tuple[int, ...], Fraction]:
    """What some people of a class have, and with which probability: values are drawn and not put back."""
    found = {(): Fraction(1)}
    for number in range(people):
        found = {
            (*had, value): chance * Fraction(max(count - had.count(value), 0), sum(counts) - number)
            for had, chance in found.items()
            for value, count in enumerate(counts)
        }
    return found


@pytest.mark.parametrize("counts", [(20, 18, 1, 1), (9, 4, 4, 3), (40, 2, 1), (6, 5, 5)])
def test_no_atoms_do_better_in_larger_classes(counts: Counts) -> None:
    # In the first, the worst three atoms name two values of one person and one of another: 2/40 · 19/39 < 1/40.
    tops = np.concatenate([[0], np.cumsum(counts), np.full(4, sum(counts))])[:5]
    least_of = none_holds(np.array([sum(counts)]), tops[None, :])[0]
    for number in (1, 2, 3):
        cases = drawn(counts, number)
        atoms = list(product(range(number), range(len(counts))))
        best = min(
            sum(chance for had, chance in cases.items() if not any(had[who] == value for who, value in chosen))
            for chosen in combinations(atoms, number)
        )
        assert least_of[number] == pytest.approx(float(best), abs=1e-12)
    if counts[0] == 20:
        assert least_of[3] == pytest.approx(2 / 40 * 19 / 39)


# ----- many classes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_many_classes_and_facts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = [
        tuple(row) for row in rng.multinomial(int(rng.integers(3, 9)), [0.4, 0.2, 0.2, 0.1, 0.1], size=7).tolist()
    ]
    classes += [*classes[:2], (20, 18, 1, 1, 0)]  # some are alike, one is large
    for facts in (1, 2, 4):
        assert bounds(classes, facts).anybody == pytest.approx(slowly(classes, facts), abs=1e-12)


def test_more_facts_tell_more_and_the_order_of_classes_and_values_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    classes: Ints = rng.multinomial(12, np.full(9, 1 / 9), size=40)
    before: Floats = np.zeros(40)
    for facts in range(6):
        found = bounds(classes.tolist(), facts)
        assert (found.anybody >= before).all()
        assert (found.own <= found.anybody).all()
        order, values = rng.permutation(40), rng.permutation(9)
        assert bounds(classes[order][:, values].tolist(), facts).anybody.tolist() == found.anybody[order].tolist()
        before = found.anybody
    assert (bounds(classes.tolist(), 20).anybody == 1).all()


def test_without_classes_there_are_no_bounds() -> None:
    assert worst_case(entries(np.empty((0, 3), dtype=np.int64)), 2).anybody.tolist() == []
