"""Provenance: which original row became which fragment. Private, and kept apart from the release.

Only the audit reads it, to score and to grant a class where the link model says so. No attack can import this module
(an import contract holds that).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """For each original row its bucket, and its fragment in each block (rows × blocks); -1 where it was left out."""

    bucket: NDArray[np.int32]
    fragment: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """The number of original rows."""
        return len(self.bucket)
