"""Bottom-coding: numbers below a threshold are published as one number.

As top-coding, at the other end: the threshold is a number (`threshold`, of one column), or such that at most the share
`share` of the rows lies below it. Numbers below it are published as the threshold, or as the mean of those below (`by =
"mean"`).

Promised is that no number below the threshold is published (not with the mean).

Paper: L. Willenborg, T. de Waal, "Elements of Statistical Disclosure Control", 2001, section 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizers.shared.coding import EndCoding


@dataclass(frozen=True)
class BottomCoding(EndCoding):
    """Publishes numbers below a threshold as one number."""

    name: ClassVar[str] = "bottom-coding"
    summary: ClassVar[str] = "Publishes numbers below a threshold as the threshold, or as their mean."
    paper: ClassVar[str] = "Willenborg & de Waal 2001"
    above: ClassVar[bool] = False
