"""The groups of blocks, as groups of the whole table: numbered through all blocks, rows as the table counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anonymizers.shared.grouping import Groups
from auditor.model.arrays import Ints


def compact(groups: Groups) -> Groups:
    """The same groups in half the bytes, for the way between processes."""

    def short(numbers: Ints) -> Ints:
        return numbers.astype(np.int32)  # no block has 2^31 rows

    return _mapped(groups, short)


def join(blocks: Sequence[Ints], found: Sequence[Groups]) -> Groups:
    """The groups of all rows, from the rows of each block and the groups that were found in it."""
    rows = sum(map(len, blocks))

    def spread(pieces: Sequence[Ints]) -> Ints:
        out = np.empty(rows, dtype=np.int64)
        for block, piece in zip(blocks, pieces, strict=True):
            out[block] = piece
        return out

    def numbered(pieces: Sequence[Ints]) -> Ints:
        before, shifted = 0, []
        for piece in pieces:
            shifted.append(np.where(piece >= 0, piece.astype(np.int64) + before, -1))
            before += int(piece.max(initial=-1)) + 1
        return spread(shifted)

    centres = [block[groups.centre] for block, groups in zip(blocks, found, strict=True) if groups.centre is not None]
    radii = [groups.radius for groups in found if groups.radius is not None]
    return Groups(
        numbered([groups.member for groups in found]),
        found[0].columns,
        tuple(numbered(pieces) for pieces in zip(*(groups.classes for groups in found), strict=True)),
        spread(centres) if centres else None,
        spread(radii) if radii else None,
    )


def _mapped(groups: Groups, change: Callable[[Ints], Ints]) -> Groups:
    return Groups(
        change(groups.member),
        groups.columns,
        tuple(map(change, groups.classes)),
        None if groups.centre is None else change(groups.centre),
        None if groups.radius is None else change(groups.radius),
    )
