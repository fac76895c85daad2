"""Array types: the names that signatures use for numpy arrays, each defined once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]  # whole numbers: rows, counts, group numbers
Codes = NDArray[np.int32]  # codes of values in a domain
Floats = NDArray[np.float64]  # figures, weights, distances, coordinates
Bools = NDArray[np.bool_]  # which of some things
