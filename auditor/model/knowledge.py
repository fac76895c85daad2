"""Background knowledge: what an adversary knows about some people before looking at the release.

The threat model as an object. `Knowledge` is about a set of targets; it says itself in one sentence. A granted class
(the link model `class`) is part of the knowledge: the audit puts it there, attacks never see where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A population register: the quasi-identifiers of everybody (coded), which need not be complete."""

    codes: Mapping[str, NDArray[np.int32]]
    people: int


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is known of each target: `codes` (targets × `columns`), and beside them

    - `granted`: the bucket each target is known to be in, or None;
    - `register`: the population, or None;
    - `priors`: for each sensitive column the share of each value among people at large;
    - `membership`: the prior probability that a target is in the release; None where it is known to be in;
    - `anybody`: whether any one person will do (the journalist), rather than each of the targets.
    """

    columns: tuple[str, ...]
    codes: NDArray[np.int32]
    granted: NDArray[np.int32] | None = None
    register: Register | None = None
    priors: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    membership: float | None = None
    anybody: bool = False

    @property
    def targets(self) -> int:
        """The number of people it is about."""
        return len(self.codes)

    def take(self, targets: NDArray[np.int64]) -> Knowledge:
        """The knowledge about some of the targets."""
        granted = None if self.granted is None else self.granted[targets]
        return replace(self, codes=self.codes[targets], granted=granted)
