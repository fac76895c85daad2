"""Folds of whole classes: the people of some classes, and the release without these classes (cross-fitting).

Attacks that learn from a release learn from everybody in it. To leave one record out takes a person out of their class, not
out of what was learned; and to learn anew for everybody would take too long. So the control of such attacks holds out whole
classes: the people of a fold are attacked with what the other classes teach, as outsiders are.

People are taken in the order of their contents, neither of rows nor of names, until a fold has a fifth of the release.
Somebody with records in several classes is attacked without all of these. Where there are many people a few folds are
enough; where there are few classes each is a fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auditor.model.arrays import Bools, Ints
from auditor.model.packing import Hashes
from auditor.model.release import Block, Release

FOLDS = 5
ENOUGH_PEOPLE = 10_000
"""After so many targets no further fold is made: their control is known to one percentage point."""
ONE_CLASS = "all people of the release are in one class: without it nothing is left to learn from"


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Some targets (by their places), and by class whether it is held out for them."""

    people: Ints
    held: Bools


def cut(
    release: Release, bucket: Ints, everybody: Ints, unit: Ints, mark: Hashes, targets: Ints | None = None
) -> list[Fold]:
    """The folds for some targets (rows), who are some of `everybody` (None: all of them): a fold is the same whoever else is
    a target. For every row of the data: `bucket` is its class (-1: none), `unit` a number that rows have in common which are
    held out together (those of a class; or of a person), `mark` a hash of its content. A fold for which every class would be
    held out is not made, nor is one without targets."""
    sizes, targets = release.sizes, everybody if targets is None else targets
    inside = np.flatnonzero((bucket >= 0) & np.isin(unit, unit[everybody]))
    units, number = np.unique(unit[inside], return_inverse=True)
    content = np.zeros(len(units), dtype=np.uint64)
    np.add.at(content, number, mark[inside])
    rank = np.empty(len(units), dtype=np.int64)
    rank[np.argsort(content, kind="stable")] = np.arange(len(units))
    pairs = np.unique(np.column_stack([rank[number], bucket[inside]]), axis=0)
    classes = np.split(pairs[:, 1], np.flatnonzero(np.diff(pairs[:, 0])) + 1)
    weight = np.bincount(rank[np.searchsorted(units, unit[targets])], minlength=len(units))
    folds: list[list[int]] = []
    held, rows, asked = np.zeros(len(sizes), dtype=np.bool_), 0, 0
    for place, some in enumerate(classes):
        more = int(sizes[some[~held[some]]].sum())
        if not folds or (rows and (rows + more) * FOLDS > release.rows):
            if asked >= ENOUGH_PEOPLE:
                break
            folds.append([])
            held, rows, more = np.zeros(len(sizes), dtype=np.bool_), 0, int(sizes[some].sum())
        held[some] = True
        rows, asked = rows + more, asked + int(weight[place])
        folds[-1].append(place)
    mine = rank[np.searchsorted(units, unit[targets])]
    made = []
    for places in folds:
        held = np.zeros(len(sizes), dtype=np.bool_)
        held[np.concatenate([classes[place] for place in places])] = True
        people = np.flatnonzero(np.isin(mine, places))
        if len(people) and not held.all():
            made.append(Fold(people, held))
    return made


def without(release: Release, held: Bools) -> Release:
    """A release without some classes."""
    number = np.cumsum(~held) - 1
    blocks = []
    for block in release.blocks:
        kept = ~held[block.bucket]
        bucket = number[block.bucket[kept]].astype(block.bucket.dtype)
        blocks.append(Block(block.columns, bucket, block.cells[kept]))
    return replace(release, blocks=tuple(blocks), sizes=release.sizes[~held], suppressed=release.suppressed[~held])
