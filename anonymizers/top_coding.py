"""Top-coding: numbers above a threshold are published as one number.

The threshold is a number (`threshold`, of one column), or such that at most the share `share` of the rows lies above it.
Numbers above it are published as the threshold, or as the mean of those above (`by = "mean"`), which keeps the mean of
the column.

Promised is that no number above the threshold is published (not with the mean). It hides how rich the richest are, and
nothing about anybody below.

Paper: L. Willenborg, T. de Waal, "Elements of Statistical Disclosure Control", 2001, section 1.2; the mean as in the US
Current Population Survey since 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizers.shared.coding import EndCoding


@dataclass(frozen=True)
class TopCoding(EndCoding):
    """Publishes numbers above a threshold as one number."""

    name: ClassVar[str] = "top-coding"
    summary: ClassVar[str] = "Publishes numbers above a threshold as the threshold, or as their mean."
    paper: ClassVar[str] = "Willenborg & de Waal 2001"
    above: ClassVar[bool] = True
