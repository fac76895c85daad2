"""Long simulations at two lengths: what `make test` runs, and what only `make proofs` (`--full`) adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def at_length(always: Sequence[Any], further: Sequence[Any]) -> list[Any]:
    """Values of a parameter: some that are always run, and further ones that are run at full length only."""
    only = pytest.mark.proof(only=True)
    return [*always, *(pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=only) for v in further)]
