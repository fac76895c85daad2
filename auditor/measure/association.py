"""Association between two columns: the mean-square contingency coefficient φ².

    φ²(A, B) = 1/(min(a, b) - 1) · Σ_ij (f_ij - f_i. f_.j)² / (f_i. f_.j)

f_ij is the share of rows with value i of A and j of B, f_i. and f_.j are its margins, a and b the numbers of values that
occur. It is 0 for independent columns and 1 if the column with more values determines the other (Cramér's V is its root). A
column with one value is associated with nothing: 0.

Only the pairs that occur are needed, since Σ_ij (f_ij - f_i. f_.j)²/(f_i. f_.j) = Σ_ij f_ij²/(f_i. f_.j) - 1.

Source: H. Cramér, "Mathematical Methods of Statistics", 1946. The slicing paper (Li, Li, Zhang and Molloy, TKDE 2012) groups
attributes by this correlation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean_square_contingency(first: NDArray[np.integer], second: NDArray[np.integer]) -> float:
    """φ² of two columns of codes (0 or above), row by row; 0 if there are no rows."""
    one, other = np.bincount(first), np.bincount(second)
    least = min(int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    if least < 2:
        return 0.0
    pair = first.astype(np.int64) * len(other) + second
    if len(one) * len(other) <= 4 * len(first) + 1024:
        counts = np.bincount(pair)
        pairs = np.flatnonzero(counts)
        together = counts[pairs]
    else:
        pairs, together = np.unique(pair, return_counts=True)
    margins = one[pairs // len(other)].astype(np.float64) * other[pairs % len(other)]
    return min(max((float((together / margins * together).sum()) - 1) / (least - 1), 0.0), 1.0)
