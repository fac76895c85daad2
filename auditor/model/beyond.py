"""Beyond: what is known of the part of a release that is not held.

A release may be far larger than memory. An attack that is granted a person's class looks at that class alone, and at the rest
through sums only: how many people there are, how large the other classes are, how often each label is published. So a
release may hold the classes of some people, and of all others these sums. `Release` adds the two up, and code that asks about
the whole release is answered by its methods.

Classes whose quasi-identifiers are all suppressed are counted apart, since they count as classes by some conventions only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from auditor.model.arrays import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """The classes of a one-block release that are not held: `sizes` says how many there are of each size, `withheld` the same
    of those whose quasi-identifiers are all suppressed; `labels[column]` in how many of their rows each label stands.
    `proximity_m` is a figure of all classes, held or not: the m of (ε,m)-anonymity of each sensitive column, None where it
    has none."""

    sizes: Mapping[int, int]
    withheld: Mapping[int, int]
    labels: Mapping[str, Ints]
    proximity_m: Mapping[str, float | None]

    @property
    def rows(self) -> int:
        """The number of people who are not held, those with suppressed quasi-identifiers included."""
        return _people(self.sizes) + self.suppressed_rows

    @property
    def suppressed_rows(self) -> int:
        """The number of rows not held whose quasi-identifiers were all withheld."""
        return _people(self.withheld)

    def class_sizes(self, with_withheld: bool) -> dict[int, int]:
        """How many classes of each size are not held, with or without those of suppressed quasi-identifiers."""
        return dict(Counter(self.sizes) + Counter(self.withheld if with_withheld else {}))


def _people(sizes: Mapping[int, int]) -> int:
    return sum(size * times for size, times in sizes.items())
