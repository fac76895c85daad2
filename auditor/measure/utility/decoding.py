"""A release read with its key: aliases and graded numbers as the values that they stand for.

What is mined from a release by `grading` is decoded by the trusted server (Poovammal and Ponnaivaikko 2009). Measures of
results, such as the shares of values and the rules between them, therefore compare after decoding where there is a key. No
attack is given one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from auditor.model.key import Aliases, Categories, Key
from auditor.model.labels.labels import Labels
from auditor.model.release import Block, Release
from auditor.model.values import format_number


def decoded(release: Release, key: Key) -> Release:
    """The release with the columns of the key decoded; a text that the key does not know keeps what it is declared to say."""
    labels, blocks = dict(release.labels), list(release.blocks)
    for column in (c for c in key.columns if c in labels):
        old = labels[column]
        texts = _texts(old, key.columns[column])
        distinct = sorted(set(texts))
        place = {text: number for number, text in enumerate(distinct)}
        labels[column] = Labels.read(old.domain, distinct, partial(_place, f"{release.name}, {column}"))
        number = release.block_number(column)
        cells = blocks[number].cells.copy()
        at = blocks[number].columns.index(column)
        cells[:, at] = np.array([place[text] for text in texts], dtype=cells.dtype)[cells[:, at]]
        blocks[number] = Block(blocks[number].columns, blocks[number].bucket, cells)
    return replace(release, labels=labels, blocks=tuple(blocks))


def _place(where: str, _: int) -> str:
    return where


def _texts(labels: Labels, column: Aliases | Categories) -> list[str]:
    """What each label of a column stands for."""
    if isinstance(column, Aliases):
        pairs = (zip(names, column.values, strict=True) for names in (column.alias1, column.alias2))
        meaning = {name: value for pair in pairs for name, value in pair}
        return [
            meaning.get(text.strip(), labels.aliases[i]) if i in labels.aliases else text
            for i, text in enumerate(labels.texts)
        ]
    mark, texts = labels.domain.format.decimal, list(labels.texts)
    for i, said in labels.aliases.items():
        ends = None if np.isnan(labels.low[i]) else column.numbers(float(labels.low[i]))
        low, high = (said, said) if ends is None else (format_number(number, mark) for number in ends)
        texts[i] = low if low == high else f"[{low}{';' if mark == ',' else ','} {high}]"
    return texts
