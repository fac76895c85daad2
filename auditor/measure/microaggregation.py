"""How much of the spread of numbers is lost if each class of them is replaced by one number.

`variance_lost` is 100·SSE/SST, the figure by which the literature on microaggregation compares methods. SSE is the sum of
(value - published)² over rows and columns, SST that of (value - mean)², each column divided by its variance. If class means
are published, SSE is the spread within the classes and the figure lies between 0 and 100. Missing values (NaN), in the table
or in the release, are left out of both sums, and a column without spread has nothing to lose.

Paper: J. Domingo-Ferrer, J. M. Mateo-Sanz, "Practical Data-Oriented Microaggregation for Statistical Disclosure Control",
IEEE TKDE 2002.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Floats


def variance_lost(original: Floats, published: Floats) -> float:
    """100·SSE/SST of numbers and their published values (rows × columns); NaN if no column has any spread."""
    lost = total = 0.0
    for values, given in zip(original.T, published.T, strict=True):
        both = ~(np.isnan(values) | np.isnan(given))
        values, given = values[both], given[both]
        spread = float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0
        if spread > 0:
            lost += float(((values - given) ** 2).sum()) / spread * len(values)
            total += len(values)
    return 100 * lost / total if total else float("nan")
