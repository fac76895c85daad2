"""Leave-one-out: the same attack on the same person, with their own record taken out of the release.

It is the control where no outsiders are known: what the release says about someone who is not in it. One person fewer
in the bucket, one fragment fewer in each block; all else is as published, so each target has a posterior of their own,
which is computed by correcting the shared one at the target's own bucket. Made by the audit, which alone knows the records.

Correcting is subtracting, which loses digits where the own bucket was nearly all there was; and under `tightest` another
class is the tightest once the own one is gone. Such targets are computed afresh from their other buckets. The probability
of membership, where that is in doubt, is left as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Floats, Ints
from auditor.posterior.beliefs import (
    TIE,
    Beliefs,
    MemberBeliefs,
    RecordBeliefs,
    Shares,
    ValueBeliefs,
    or_prior,
    scaled,
    spread,
)
from auditor.posterior.candidates import Entries
from auditor.posterior.links import Link
from auditor.posterior.matching import expand
from auditor.posterior.posterior import Posterior, least

_NOISE = 1e-12
_CANCELLED = 1e-3
"""Where less than this share of the total is left after subtracting, the rest is computed afresh."""


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """One block in the own bucket of each target that has one: its compatible mass, and the part that is the target's."""

    mass: Floats
    gone: Floats

    @property
    def rest(self) -> Floats:
        """What is left, with float noise taken for nothing."""
        rest = self.mass - self.gone
        return np.where(rest > _NOISE * self.mass, rest, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What to take out and put in: `out` and `into` are the own entries before and after (their row being the target)
    with their weights, `others` further entries for the targets computed `afresh`, `total` what is left in all."""

    out: Entries
    before: Floats
    into: Entries
    after: Floats
    own: list[_Own]
    afresh: Bools
    others: Entries
    others_w: Floats
    total: Floats


class LeaveOneOut(Beliefs):
    """A posterior in which each target's own record (bucket, and fragment per block) is missing."""

    def __init__(self, posterior: Posterior, bucket: Ints, fragment: Ints) -> None:
        self._full, self._bucket, self._fragment = posterior, bucket, fragment
        self.targets = posterior.targets

    @cached_property
    def _plan(self) -> _Plan:
        full = self._full
        entry = full.own_entry(self._bucket, full.candidates)
        inside = np.flatnonzero(entry >= 0)
        entry = entry[inside]
        mine = full.candidates.take(entry)
        into, own = self._left(inside, mine)
        was = full.chosen[entry]
        before = np.where(was, full.candidate_w[entry], 0.0)
        after = full.weigh(into, [part.rest for part in own], left_out=1)
        loss = self._losses(inside)
        total: Floats = full.total[full.row_of].astype(np.float64)
        left = total[inside] - before + np.where(was, after, 0.0)
        fresh = left < _CANCELLED * total[inside]
        if loss is not None:
            fresh |= np.abs(loss - full.losses[mine.bucket]) > TIE
        others, others_w, chosen = self._others(inside, entry, after, loss, fresh)
        after = np.where(np.where(fresh, chosen, was), after, 0.0)
        total[inside] = np.where(fresh, after, left)
        total += np.bincount(others.row, weights=others_w, minlength=self.targets)
        afresh = np.zeros(self.targets, dtype=np.bool_)
        afresh[inside] = fresh
        out = Entries(inside, mine.bucket, mine.group)
        return _Plan(out, before, into, after, own, afresh, others, others_w, total)

    def _left(self, inside: Ints, mine: Entries) -> tuple[Entries, list[_Own]]:
        """The own entries once the record is gone, and the masses of their blocks. Where the granted class has nothing
        compatible left, any of its fragments will do."""
        full = self._full
        size = full.release.sizes[mine.bucket].astype(np.float64)
        own, groups = [], []
        for i, block in enumerate(full.matching.blocks):
            group = mine.group[i]
            gone = np.where(group < 0, 1.0, full.own_weights(i, self._fragment[:, block])[inside])
            part = _Own(full.mass_of(i, mine), gone)
            if full.link is Link.CLASS:
                group = np.where(part.rest > 0, group, -1)
                part = _Own(np.where(group < 0, size, part.mass), np.where(group < 0, 1.0, part.gone))
            own.append(part)
            groups.append(group)
        return Entries(inside, mine.bucket, tuple(groups)), own

    def _losses(self, inside: Ints) -> Floats | None:
        """The loss of the own bucket without the own record; None where losses do not matter."""
        full, release = self._full, self._full.release
        if full.link is not Link.TIGHTEST:
            return None
        bucket = self._bucket[inside]
        size = release.sizes[bucket]
        loss = full.losses[bucket] * size
        for column in release.quasi:
            number = release.block_number(column)
            label = release.blocks[number].cell(column)[self._fragment[inside, number]]
            loss -= release.labels[column].losses[label]
        return np.divide(loss, size - 1, out=full.losses[bucket], where=size > 1)

    def _others(
        self, inside: Ints, entry: Ints, after: Floats, loss: Floats | None, fresh: Bools
    ) -> tuple[Entries, Floats, Bools]:
        """The entries besides the own one of targets computed afresh (their row being the target), their weights, and
        whether the own entry still counts."""
        full, candidates = self._full, self._full.candidates
        who = np.flatnonzero(fresh)
        row = full.row_of[inside[who]]
        first = np.searchsorted(candidates.row, row, side="left")
        count = np.searchsorted(candidates.row, row, side="right") - first
        place, owner = expand(first, count), np.repeat(who, count)
        own = place == entry[owner]
        keep = ~own | (after[owner] > 0)
        place, owner, own = place[keep], owner[keep], own[keep]
        if loss is not None:
            hidden = np.where(own, loss[owner], full.losses[candidates.bucket[place]])
            keep = least(owner, hidden, len(inside))
            place, owner, own = place[keep], owner[keep], own[keep]
        chosen = np.zeros(len(inside), dtype=np.bool_)
        chosen[owner[own]] = True
        place, owner = place[~own], owner[~own]
        return self._owned(candidates.take(place), inside[owner]), full.candidate_w[place], chosen

    @property
    def matched(self) -> Bools:
        return np.asarray(self._plan.total > 0)

    @staticmethod
    def _owned(entries: Entries, target: Ints) -> Entries:
        return Entries(target, entries.bucket, entries.group)

    @property
    def full(self) -> Posterior:
        """The posterior with the records in place."""
        return self._full

    @property
    def fragment(self) -> Ints:
        """The fragment of each target in each block that is left out, -1 for somebody without a record."""
        return self._fragment

    def values(self, column: str) -> ValueBeliefs:
        return self.thinned(column, None)

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        full, plan = self._full, self._plan
        free = None if shares is None else shares.free
        number = full.release.block_number(column)
        inside = plan.into.row
        if number in full.matching.blocks:
            part = plan.own[full.matching.blocks.index(number)]
        else:
            size = full.release.sizes[plan.into.bucket].astype(np.float64)
            part = _Own(size, np.ones(len(size)))
        # per own bucket w·h/mass goes out and w'·(h - own)/rest comes in, h being the weights of the values in it
        each = np.divide(plan.after, part.rest, out=np.zeros(len(inside)), where=part.rest > 0)
        shared = full.value_mass(column, full.entries, full.w, full.rows, free)[full.row_of]
        corrected = shared - full.value_mass(column, plan.out, plan.before, self.targets, free)
        kept = sparse.diags_array(np.where(plan.afresh, 0.0, 1.0))
        others = full.value_mass(column, plan.others, plan.others_w, self.targets, free)
        own = full.value_mass(column, plan.into, each * part.mass, self.targets, free)
        labels = full.release.labels[column]
        mine = self._fragment[inside, number]
        label = full.release.blocks[number].cell(column)[mine]
        shape = (self.targets, len(labels.texts))
        known = full.matching.knowledge.priors.get(column)
        taken = each * part.gone if shares is None else each * part.gone * shares.gone[mine]
        mark = sparse.csr_array((taken, (inside, label)), shape=shape) @ spread(labels, known)
        rows = sparse.csr_array(kept @ corrected + others + own - mark)
        rows.data[rows.data < _NOISE * np.repeat(plan.total, np.diff(rows.indptr))] = 0.0
        rows.eliminate_zeros()
        scale = np.divide(1.0, plan.total, out=np.zeros(self.targets), where=plan.total > 0)
        rows = sparse.csr_array(sparse.diags_array(scale) @ rows)
        if full.certain:
            prior = full.matching.knowledge.priors[column]
            return or_prior(rows, np.arange(self.targets), plan.total > 0, prior)
        return scaled(rows, np.arange(self.targets), full.present)

    def records(self) -> RecordBeliefs:
        return self._full.records()

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return np.zeros(self.targets)  # the record is not there

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        share, top = self._full.classes(bucket)
        return np.zeros_like(share), top  # likewise: no class is theirs

    def membership(self, prior: float) -> MemberBeliefs:
        raise TypeError("Membership is scored against outsiders or fakes, not by leaving one out.")
