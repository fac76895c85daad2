"""A sample: the people who are attacked in place of everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rows (from 0) of those who are attacked, drawn by the seed, in place of all `people` that count."""

    targets: NDArray[np.int64]
    people: int

    @property
    def partial(self) -> bool:
        """Whether not everybody is attacked."""
        return len(self.targets) < self.people
