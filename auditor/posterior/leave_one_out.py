"""Leave-one-out: the same attack on the same person, with their own record taken out of the release.

It is the control where no outsiders are known: what the release says about someone who is not in it. One person fewer
in the bucket, one fragment fewer in each block; all else is as published, so each target has a posterior of their own,
which is computed by correcting the shared one at the target's own bucket. Made by the audit, which alone knows the records.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.posterior.beliefs import Beliefs, MemberBeliefs, RecordBeliefs, ValueBeliefs, spread
from auditor.posterior.matching import Floats, Ints
from auditor.posterior.posterior import Posterior


class LeaveOneOut(Beliefs):
    """A posterior in which each target's own record (bucket, and fragment per block) is missing."""

    def __init__(self, posterior: Posterior, bucket: Ints, fragment: Ints) -> None:
        self.full, self.bucket, self.fragment = posterior, bucket, fragment
        self.targets = posterior.targets
        self._entry = posterior.own_entry(bucket)
        self._inside = self._entry >= 0

    @cached_property
    def _own(self) -> tuple[Floats, list[Floats], Floats, Floats]:
        """For targets with an entry: its w, the masses left per match, the w left, and the row total left."""
        full = self.full
        mine = full.entries.take(self._entry[self._inside])
        left = []
        for i, block in enumerate(full.matching.blocks):
            weight = np.zeros(self.targets)
            weight[self._inside] = full.own_weights(i, self.fragment[:, block])[self._inside]
            left.append(np.maximum(full.mass_of(i, mine) - weight[self._inside], 0.0))
        before = full.w[self._entry[self._inside]]
        after = full.weigh(mine, left, left_out=1)
        total: Floats = full.total[full.row_of].astype(np.float64)
        total[self._inside] += after - before
        return before, left, after, np.where(total > 1e-12 * full.total[full.row_of], total, 0.0)

    def values(self, column: str) -> ValueBeliefs:
        full = self.full
        before, left, after, total = self._own
        inside = np.flatnonzero(self._inside)
        mine = full.entries.take(self._entry[inside])
        mine = type(mine)(inside, mine.bucket, mine.group)
        unnormalised = full.value_mass(column, full.entries, full.w, full.rows)[full.row_of]
        number = full.release.block_number(column)
        size = full.release.sizes[mine.bucket].astype(np.float64)
        if number in full.matching.blocks:
            i = full.matching.blocks.index(number)
            mass, rest = full.mass_of(i, mine), left[i]
            own = full.own_weights(i, self.fragment[:, number])[inside]
        else:
            mass, rest, own = size, size - 1, np.ones(len(size))
        # w·h/mass goes out, w'·(h - own)/mass' comes in, h being the weights of the values in the bucket
        scale = np.divide(after * mass, rest, out=np.zeros(len(rest)), where=rest > 0)
        swap = full.value_mass(column, mine, scale - before, self.targets)
        label = full.release.blocks[number].cell(column)[self.fragment[inside, number]]
        gone = np.divide(after * own, rest, out=np.zeros(len(rest)), where=rest > 0)
        shape = (self.targets, len(full.release.labels[column].texts))
        mark = sparse.csr_array((gone, (inside, label)), shape=shape) @ spread(full.release.labels[column])
        rows = sparse.csr_array(unnormalised + swap - mark)
        rows.data[rows.data < 1e-12 * np.repeat(full.total[full.row_of], np.diff(rows.indptr))] = 0.0
        rows.eliminate_zeros()
        scale = np.divide(1.0, total, out=np.zeros(self.targets), where=total > 0)
        rows = sparse.csr_array(sparse.diags_array(scale) @ rows)
        empty = (total <= 0).astype(np.float64).reshape(-1, 1)
        if empty.any():  # nobody else fits: only the prior is left
            prior = full.matching.knowledge.priors[column].reshape(1, -1)
            rows = sparse.csr_array(rows + sparse.csr_array(empty) @ sparse.csr_array(prior))
        if full.matching.knowledge.membership is not None:
            rows = sparse.csr_array(sparse.diags_array(full.present) @ rows)
        return ValueBeliefs(rows, np.arange(self.targets))

    def records(self) -> RecordBeliefs:
        return self.full.records()

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return np.zeros(self.targets)  # the record is not there

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        share, top = self.full.classes(bucket)
        return np.zeros_like(share), top  # likewise: no class is theirs

    def membership(self, prior: float) -> MemberBeliefs:
        raise TypeError("Membership is scored against outsiders or fakes, not by leaving one out.")
