"""A sliced table as arrays for the diversity check: what is known of each tuple, and which published labels cover it.

The adversary knows a person's quasi-identifiers, as the strongest adversary of an audit does; a block without any tells
nobody apart and is left out. Where columns are generalised, several labels can cover a value (a label that mixes a missing
value with others covers everything). So each known value has the list of all labels that cover it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.errors import PromiseError
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.diversity import Fragments


_MOST_SUMS = 250_000_000
"""The most sums that the check keeps (2 GB): one for each distinct tuple and each sensitive value that it may have."""
_MOST_CELLS = 1 << 25
"""Pairs of a value and a pattern that are compared at a time."""


def fragments_of(
    table: Table,
    blocks: Sequence[Sequence[str]],
    sensitive: str,
    labels: Mapping[str, Labels],
    cells: Mapping[str, Codes],
) -> Fragments:
    """What the check needs of a table that is published in these blocks; columns without labels go out as they are."""
    from anonymizers.kernels.diversity import Fragments

    about = {number: [c for c in block if c in table.schema.quasi] for number, block in enumerate(blocks)}
    own = next(number for number, block in enumerate(blocks) if sensitive in block)
    others = [columns for number, columns in about.items() if columns and number != own]
    pieces = [_block(table, columns, labels, cells) for columns in [*others, about[own]]]
    known = np.column_stack([known for known, _, _, _ in pieces]).astype(np.int32)
    rows = _first_of_each(distinct_rows(known))
    *plain, (last_known, last_shown, last_start, last_cover) = pieces
    values = np.unique(table.codes[sensitive], return_inverse=True)[1].astype(np.int64)
    key, pair = np.unique(last_shown * (values.max() + 1) + values, return_inverse=True)
    pair_shown, pair_value = np.divmod(key, values.max() + 1)
    entry_start, entry_pair = _joined(last_start, last_cover, pair_shown)
    entry_known = np.repeat(np.arange(len(last_start) - 1), np.diff(entry_start))
    slot, slots = _slots(entry_known, pair_value[entry_pair], len(last_start) - 1)
    first = np.concatenate([[0], np.cumsum(slots[last_known[rows]])])
    if first[-1] > _MOST_SUMS:
        raise PromiseError(
            f"slicing: the diversity check of {len(rows)} distinct tuples would keep {first[-1]} sums, at most {_MOST_SUMS} "
            f"fit. Coarsen {sensitive!r}, or put columns into its block."
        )
    known_before = np.cumsum([0, *(len(start) - 1 for _, _, start, _ in plain)])[: len(plain)]
    shown_before = np.cumsum([0, *(int(shown.max()) + 1 for _, shown, _, _ in plain)])[: len(plain)]
    return Fragments(
        known=_side_by_side([k[rows] + n for (k, _, _, _), n in zip(plain, known_before, strict=True)], len(rows)),
        shown=_side_by_side([s + n for (_, s, _, _), n in zip(plain, shown_before, strict=True)], table.rows),
        cover_start=np.concatenate([[0], *(np.diff(start) for _, _, start, _ in plain)]).cumsum().astype(np.int64),
        cover=np.concatenate(
            [np.empty(0), *(c + n for (_, _, _, c), n in zip(plain, shown_before, strict=True))]
        ).astype(np.int32),
        sensitive_known=last_known[rows].astype(np.int32),
        pair=pair.astype(np.int32),
        entry_start=entry_start,
        entry_pair=entry_pair.astype(np.int32),
        entry_slot=slot.astype(np.int32),
        slots=slots,
        first=first.astype(np.int64),
    )


def most_shares(table: Table, columns: Sequence[str], sensitive: str, rows: Ints) -> tuple[Ints, Ints]:
    """For each combination of values in some columns among these rows: how often its most frequent sensitive value occurs,
    and how many rows it has. Where `columns` are the quasi-identifiers in the block of the sensitive column and all rows are
    one class, the one over the other is the greatest probability of a sensitive value for a person with these values."""
    group = distinct_rows(
        np.column_stack([np.zeros(len(rows), dtype=np.int32), *(table.codes[c][rows] for c in columns)])
    )
    size = table.domains[sensitive].size
    key, times = np.unique(group * size + table.codes[sensitive][rows], return_counts=True)
    most = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.maximum.at(most, key // size, times)
    return most, np.bincount(group)


def _side_by_side(columns: Sequence[Ints], rows: int) -> Codes:
    return np.ascontiguousarray(np.column_stack([np.empty((rows, 0)), *columns]).astype(np.int32))


def _first_of_each(group: Ints) -> Ints:
    """The first row of each group."""
    return np.unique(group, return_index=True)[1].astype(np.int64)


def _block(
    table: Table, columns: Sequence[str], labels: Mapping[str, Labels], cells: Mapping[str, Codes]
) -> tuple[Ints, Ints, Ints, Ints]:
    """Each row's known values in a block as one number, and its labels as one number; then, for each number of known values,
    which numbers of labels cover it (as starts and a list)."""
    known = distinct_rows(table.matrix(columns))
    generalised = [c for c in columns if c in labels]
    if not generalised:
        count = int(known.max()) + 1
        return known, known, np.arange(count + 1), np.arange(count)
    exact = {c: Labels.exact(table.domains[c]) for c in columns if c not in labels}
    published = {c: cells.get(c, table.codes[c]) for c in columns}
    shown = distinct_rows(np.column_stack([published[c] for c in columns]))
    values, patterns = _first_of_each(known), _first_of_each(shown)
    start, cover = covering(
        [labels[c] if c in labels else exact[c] for c in columns],
        [published[c][patterns] for c in columns],
        [table.codes[c][values] for c in columns],
    )
    return known, shown, start, cover


def covering(labels: Sequence[Labels], patterns: Sequence[Codes], values: Sequence[Codes]) -> tuple[Ints, Ints]:
    """Which patterns (one label in each column) cover which values (one code in each column): where the patterns of each
    value start, and the patterns. Found by bit masks, over some of the patterns at a time."""
    found_value, found_pattern = [], []
    codes = [np.unique(column, return_inverse=True) for column in values]
    widest = max(len(values[0]), *(len(present) for present, _ in codes))
    step = max(8, _MOST_CELLS // widest // 8 * 8)
    for begin in range(0, len(patterns[0]), step):
        fits = np.full((len(values[0]), 1), 0xFF, dtype=np.uint8)
        for label, column, (present, number) in zip(labels, patterns, codes, strict=True):
            chosen = column[begin : begin + step]
            allowed = (label.lo[chosen] <= present[:, None]) & (present[:, None] <= label.hi[chosen])
            for gapped in np.flatnonzero(np.isin(chosen, list(label.gaps))):
                allowed[:, gapped] = np.isin(present, label.gaps[int(chosen[gapped])])
            fits = fits & np.packbits(allowed, axis=1)[number]
        value, byte = np.nonzero(fits)
        bits = np.unpackbits(fits[value, byte][:, None], axis=1)
        place, bit = np.nonzero(bits)
        found_value.append(value[place])
        found_pattern.append(begin + byte[place] * 8 + bit)
    which, pattern = np.concatenate(found_value), np.concatenate(found_pattern)
    order = np.argsort(which, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(values[0])))])
    return start.astype(np.int64), pattern[order].astype(np.int64)


def _joined(start: Ints, cover: Ints, pair_shown: Ints) -> tuple[Ints, Ints]:
    """For each known value the pairs whose label covers it; pairs are in the order of their labels."""
    pairs = np.searchsorted(pair_shown, np.arange(int(pair_shown.max()) + 2))
    length = np.diff(pairs)[cover]
    ends = np.cumsum(length)
    within = np.arange(int(length.sum())) - np.repeat(ends - length, length)
    found = np.repeat(pairs[cover], length) + within
    return np.concatenate([[0], ends])[start].astype(np.int64), found.astype(np.int64)


def _slots(known: Ints, value: Ints, count: int) -> tuple[Ints, Ints]:
    """The place of each entry's sensitive value among those of its known value, and how many each known value has."""
    base = int(value.max()) + 1
    distinct, number = np.unique(known * base + value, return_inverse=True)
    slots = np.bincount(distinct // base, minlength=count).astype(np.int64)
    before = np.cumsum(slots) - slots
    return number - before[known], slots
