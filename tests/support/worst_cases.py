"""Worst-case background knowledge by plain recursion, in fractions: for comparison with `auditor/measure/worst_case.py`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

Counts = tuple[int, ...]
"""How often each value occurs in a class."""


@cache
def least(counts: Counts, atoms: int, people: int = 0, cap: int = 99) -> Fraction:
    """The least probability that none of some atoms holds in a class, by plain recursion: so many people have been named,
    with at least `cap` values each."""
    size = sum(counts)
    options = [Fraction(1)] if not atoms else []
    for values in range(1, min(atoms, cap) + 1) if people < size else ():
        avoids = Fraction(max(size - people - sum(sorted(counts)[::-1][:values]), 0), size - people)
        options.append(avoids * least(counts, atoms - values, people + 1, values))
    return min(options, default=Fraction(2))


def slowly(classes: Sequence[Counts], facts: int) -> list[float]:
    """The bounds of each class, by plain recursion over all other classes."""

    def others(rest: Sequence[Counts], atoms: int) -> Fraction:
        if not rest or not atoms:
            return Fraction(1)
        return min(least(rest[0], here) * others(rest[1:], atoms - here) for here in range(atoms + 1))

    made = []
    for place, counts in enumerate(classes):
        rest = [*classes[:place], *classes[place + 1 :]]
        odds = min(least(counts, here + 1) * others(rest, facts - here) for here in range(facts + 1))
        made.append(float(1 / (1 + odds * Fraction(sum(counts), max(counts)))))
    return made
