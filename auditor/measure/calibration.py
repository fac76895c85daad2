"""Calibration: is a claim made with confidence p right in a share p of cases?

Claims are sorted into tenths by their stated confidence. For each tenth that occurs we give the number of claims, their mean
confidence and the share that was right (a reliability diagram). If the last two agree, the adversary's posterior is right; if
the share is lower, it is overconfident.

Paper: M. H. DeGroot, S. E. Fienberg, "The Comparison and Evaluation of Forecasters", The Statistician 32, 1983.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auditor.model.arrays import Floats

BINS = 10
_NOISE = 1e-9
"""A confidence this close below an edge counts as at the edge."""


def calibration(confidence: Floats, right: Floats) -> dict[str, list[Any]]:
    """Number, mean confidence and share of right claims, for each tenth of confidence that occurs."""
    tenth = np.clip(np.floor(confidence * BINS + _NOISE), 0, BINS - 1).astype(np.int64)
    number = np.bincount(tenth, minlength=BINS)
    there = np.flatnonzero(number)
    stated = np.bincount(tenth, weights=confidence, minlength=BINS)[there] / number[there]
    found = np.bincount(tenth, weights=right, minlength=BINS)[there] / number[there]
    return {"n": number[there].tolist(), "expected": stated.tolist(), "realised": found.tolist()}
