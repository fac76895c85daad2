"""Two readings of the values that fit: `frequency` weighs them by the posterior; `distinct` counts the distinct values that
have any mass alike, as Poovammal and Ponnaivaikko do (2009, Table IV: two diseases, so each is believed by 50 %)."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from scipy import sparse

from auditor.posterior.beliefs import ValueBeliefs


class Reading(StrEnum):
    """How the values that fit are weighed."""

    FREQUENCY = "frequency"
    DISTINCT = "distinct"

    def of(self, values: ValueBeliefs) -> ValueBeliefs:
        """The beliefs by this reading."""
        if self is Reading.FREQUENCY:
            return values
        rows = values.rows.copy()
        rows.data[rows.data < 1e-12] = 0.0
        rows.eliminate_zeros()
        total = np.minimum(rows.sum(axis=1), 1.0)  # less than one where membership is in doubt
        share = total / np.maximum(np.diff(rows.indptr), 1)
        rows.data = np.repeat(share, np.diff(rows.indptr))
        return ValueBeliefs(sparse.csr_array(rows), values.row_of)
