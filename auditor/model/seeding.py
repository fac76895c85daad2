"""One seed, one answer: every stage of a run draws from a generator of its own, made from the seed and its name.

Stages do not share a stream, so adding or leaving out one does not change the others.

What is published is drawn from a *secret* instead: 256 bits from the system. A record shows its seed, and whoever knows the
seed and the order of the rows could draw the same groups, orders and keys again, and so undo them.
"""

from __future__ import annotations

import zlib
from secrets import token_bytes

import numpy as np

DEFAULT_SEED = 2026
SECRET_BYTES = 32


def stage(seed: int, *names: str | int) -> np.random.Generator:
    """The generator of a stage of a run. A secret is a seed, too."""
    words = [zlib.crc32(str(name).encode()) for name in names]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def new_secret() -> int:
    """A secret that nobody else has."""
    return int.from_bytes(token_bytes(SECRET_BYTES))
