"""One seed, one answer: every stage of a run draws from a generator of its own, made from the seed and its name.

Stages do not share a stream, so adding or leaving out one does not change the others.
"""

from __future__ import annotations

import zlib

import numpy as np


def stage(seed: int, *names: str | int) -> np.random.Generator:
    """The generator of a stage of a run."""
    words = [zlib.crc32(str(name).encode()) for name in names]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


DEFAULT_SEED = 2026
