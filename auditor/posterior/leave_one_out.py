"""Leave-one-out: the same attack on the same person, with their own record removed from the release.

This is the control if no outsiders are known: what the release says about somebody who is not in it. The class has one person
fewer, and each block one fragment fewer. Everything else is as published, so each target has a posterior of their own,
computed by correcting the shared one at the target's own class. Only the audit can create it, since only it knows the
records.

Correcting is subtracting, which loses digits if the own class was nearly everything. And under `tightest` another class is
the tightest once the own one is gone. Such targets are computed afresh from their other classes. The probability of
membership, if that is in doubt, is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Floats, Ints
from auditor.posterior.beliefs import TIE, Shares, ValueBeliefs, Without, meaning, times
from auditor.posterior.candidates import Entries
from auditor.posterior.links import Link
from auditor.posterior.matching import expand
from auditor.posterior.posterior import Posterior, least

_NOISE = 1e-12
_CANCELLED = 1e-3
"""If less than this share of the total is left after subtracting, the rest is computed afresh."""


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """One block in the own class of each target that has one: its compatible mass, and the target's part of it."""

    mass: Floats
    gone: Floats

    @property
    def rest(self) -> Floats:
        """What is left, with float noise counting as nothing."""
        rest = self.mass - self.gone
        return np.where(rest > _NOISE * self.mass, rest, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What to take out and put in. The row of an entry is the target."""

    out: Entries
    """The own entries with the record."""
    before: Floats
    """Their weights."""
    into: Entries
    """The own entries without the record."""
    after: Floats
    """Their weights."""
    own: list[_Own]
    afresh: Bools
    """The targets to be computed afresh."""
    others: Entries
    """The other entries of these targets."""
    others_w: Floats
    """Their weights."""
    total: Floats
    """What is left in all."""


class LeaveOneOut(Without[Posterior]):
    """A posterior without each target's own record (bucket, and fragment per block)."""

    @cached_property
    def _plan(self) -> _Plan:
        full = self.full
        entry = full.own_entry(self.bucket, full.candidates)
        inside = np.flatnonzero(entry >= 0)
        entry = entry[inside]
        mine = full.candidates.take(entry)
        into, own = self._left(inside, mine)
        was = full.chosen[entry]
        before = np.where(was, full.candidate_w[entry], 0.0)
        after = full.weigh(into, [part.rest for part in own], left_out=1)
        loss = full.hidden(mine, self.fragment[inside]) if full.link is Link.TIGHTEST else None
        total: Floats = full.total[full.row_of].astype(np.float64)
        left = total[inside] - before + np.where(was, after, 0.0)
        fresh = left < _CANCELLED * total[inside]
        if loss is not None:
            fresh |= np.abs(loss - full.hidden(mine)) > TIE
        others, others_w, chosen = self._others(inside, entry, after, loss, fresh)
        after = np.where(np.where(fresh, chosen, was), after, 0.0)
        total[inside] = np.where(fresh, after, left)
        total += np.bincount(others.row, weights=others_w, minlength=self.targets)
        afresh = np.zeros(self.targets, dtype=np.bool_)
        afresh[inside] = fresh
        out = Entries(inside, mine.bucket, mine.group)
        return _Plan(out, before, into, after, own, afresh, others, others_w, total)

    def _left(self, inside: Ints, mine: Entries) -> tuple[Entries, list[_Own]]:
        """The own entries once the record is gone, and the masses of their blocks. If the granted class has nothing
        compatible left, any of its fragments counts."""
        full = self.full
        size = full.release.sizes[mine.bucket].astype(np.float64)
        own, groups = [], []
        for i, block in enumerate(full.matching.blocks):
            group = mine.group[i]
            gone = np.where(group < 0, 1.0, full.own_weights(i, self.fragment[:, block])[inside])
            part = _Own(full.mass_of(i, mine), gone)
            if full.link is Link.CLASS:
                group = np.where(part.rest > 0, group, -1)
                part = _Own(np.where(group < 0, size, part.mass), np.where(group < 0, 1.0, part.gone))
            own.append(part)
            groups.append(group)
        return Entries(inside, mine.bucket, tuple(groups)), own

    def _others(
        self, inside: Ints, entry: Ints, after: Floats, loss: Floats | None, fresh: Bools
    ) -> tuple[Entries, Floats, Bools]:
        """The entries besides the own one of targets computed afresh (their row is the target), their weights, and whether
        the own entry still counts."""
        full, candidates = self.full, self.full.candidates
        who = np.flatnonzero(fresh)
        row = full.row_of[inside[who]]
        first = np.searchsorted(candidates.row, row, side="left")
        count = np.searchsorted(candidates.row, row, side="right") - first
        place, owner = expand(first, count), np.repeat(who, count)
        own = place == entry[owner]
        keep = ~own | (after[owner] > 0)
        place, owner, own = place[keep], owner[keep], own[keep]
        if loss is not None:
            hidden = np.where(own, loss[owner], full.hidden(candidates.take(place)))
            keep = least(owner, hidden, len(inside))
            place, owner, own = place[keep], owner[keep], own[keep]
        chosen = np.zeros(len(inside), dtype=np.bool_)
        chosen[owner[own]] = True
        place, owner = place[~own], owner[~own]
        others = replace(candidates.take(place), row=inside[owner])
        return others, full.candidate_w[place], chosen

    @property
    def matched(self) -> Bools:
        return np.asarray(self._plan.total > 0)

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        full, plan = self.full, self._plan
        free = None if shares is None else shares.free
        number = full.release.block_number(column)
        inside = plan.into.row
        if number in full.matching.blocks:
            part = plan.own[full.matching.blocks.index(number)]
        else:
            size = full.release.sizes[plan.into.bucket].astype(np.float64)
            part = _Own(size, np.ones(len(size)))
        # per own class w·h/mass goes out and w'·(h - own)/rest comes in, where h are the weights of the values in it
        each = np.divide(plan.after, part.rest, out=np.zeros(len(inside)), where=part.rest > 0)
        shared = full.value_mass(column, full.entries, full.w, full.rows, free)[full.row_of]
        corrected = shared - full.value_mass(column, plan.out, plan.before, self.targets, free)
        if plan.afresh.any():
            corrected = times(corrected, np.where(plan.afresh, 0.0, 1.0))
        if len(plan.others.row):
            corrected = corrected + full.value_mass(column, plan.others, plan.others_w, self.targets, free)
        own = full.value_mass(column, plan.into, each * part.mass, self.targets, free)
        labels = full.release.labels[column]
        mine = self.fragment[inside, number]
        label = full.release.blocks[number].cell(column)[mine]
        shape = (self.targets, len(labels.texts))
        known = full.knowledge.priors.get(column)
        taken = each * part.gone if shares is None else each * part.gone * shares.gone[mine]
        mark = sparse.csr_array((taken, (inside, label)), shape=shape) @ meaning(full.release, column, known)
        rows = corrected + own - mark
        rows.data[rows.data < _NOISE * np.repeat(plan.total, np.diff(rows.indptr))] = 0.0
        rows.eliminate_zeros()
        scale = np.divide(1.0, plan.total, out=np.zeros(self.targets), where=plan.total > 0)
        rows = times(rows, scale)
        return full.believed(column, rows, np.arange(self.targets), self.matched)
