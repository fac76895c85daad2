"""Aliases: the names under which the values of a column are published, one of each kind for every value.

The first kind shows a group of the taxonomy (`Respiratory-1`), normally the value's parent. It hides the value only if
others share the group, so every group has at least two values: a value that stands alone beside groups is joined with them.
The second kind shows nothing (`A07`). Both are numbered at random, so the order of the names tells nothing about the values.

No name occurs in the data, not even as part of a longer text, and none is used in two columns. So in rules found in a
release each name means one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, product
from string import ascii_uppercase

import numpy as np

from anonymizers.base import published_columns
from auditor.model.domain import Domain
from auditor.model.key import Aliases, name_pattern
from auditor.model.labels.notation import Reader, everything, is_plain, quoted
from auditor.model.table import Table
from auditor.model.taxonomy import Taxonomy


class Namer:
    """Gives names to the values of a table's columns."""

    def __init__(self, table: Table, rng: np.random.Generator) -> None:
        self._rng = rng
        self._stems: set[str] = set()
        texts = set(table.schema.format.every_mark)
        for column in published_columns(table):
            domain = table.domains[column]
            texts.update(domain.texts, domain.taxonomy.labels if domain.taxonomy else ())
        self._known = "\n".join(sorted(texts))

    def name(self, domain: Domain) -> tuple[Aliases, dict[str, str]]:
        """The aliases of a column's values, and the label that says what each denotes."""
        values = domain.texts[: domain.known]
        alias1, denotes = [""] * len(values), {}
        for group, codes in _groups(domain):
            stem = self._stem(_group_stems(domain, group))
            for code, number in zip(codes, self._numbers(len(codes)), strict=True):
                alias1[code] = f"{stem}{number}"
                denotes[alias1[code]] = _denotation(domain, group, codes)
        letter, width = self._stem(_letters()), max(2, len(str(len(values))))
        alias2 = [f"{letter}{number:0{width}}" for number in self._numbers(len(values))]
        denotes.update(dict.fromkeys(alias2, everything(domain)))
        return Aliases(values, tuple(alias1), tuple(alias2)), denotes

    def _numbers(self, size: int) -> list[int]:
        numbers: list[int] = (self._rng.permutation(size) + 1).tolist()
        return numbers

    def _stem(self, candidates: Iterator[str]) -> str:
        """The first stem whose names cannot be taken for anything else."""
        for stem in candidates:
            if stem not in self._stems and not re.search(name_pattern([stem]), self._known):
                self._stems.add(stem)
                return stem
        raise LookupError("candidates do not end")


def _letters() -> Iterator[str]:
    """A, B, …, Z, AA, AB, …"""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


def _group_stems(domain: Domain, group: int | None) -> Iterator[str]:
    """The group's label; the column's name for all values where that has no plain label."""
    column, taxonomy = domain.column.name, domain.taxonomy
    label = column if group is None or taxonomy is None else taxonomy.labels[group]
    stem = label if is_plain(label) and label else column
    while True:
        yield f"{stem}-"
        stem = f"{column}-{stem}"


def _groups(domain: Domain) -> list[tuple[int | None, list[int]]]:
    """The groups that stand for values, and the codes of each; None is all values of a column without taxonomy."""
    if domain.taxonomy is None or domain.taxonomy.height == 0:
        return [(None, list(range(domain.known)))] if domain.known else []
    return sorted(shared_groups(domain.taxonomy).items())


def shared_groups(taxonomy: Taxonomy) -> dict[int, list[int]]:
    """The groups that stand for the leaves of a taxonomy: for each leaf its parent, or a node above it where the leaf would
    be alone in its group."""
    code_of = {int(node): code for code, node in enumerate(taxonomy.leaf_node)}
    loose: dict[int, list[int]] = {}
    groups: dict[int, list[int]] = {}
    for node in range(len(taxonomy.labels) - 1, -1, -1):  # preorder backwards: children come before their parent
        own = [code_of[node]] if node in code_of else sorted(loose.pop(node, []))
        low, high, parent = int(taxonomy.lo[node]), int(taxonomy.hi[node]), int(taxonomy.parent[node])
        if len(own) == 1 and node not in code_of and high > low:
            own = list(range(low, high + 1))  # it is alone beside groups: they are joined
            groups = {group: codes for group, codes in groups.items() if not low <= codes[0] <= high}
        if len(own) > 1 or parent < 0:
            if own:
                groups[node] = own
        elif own:
            loose.setdefault(parent, []).extend(own)
    return groups


def _denotation(domain: Domain, group: int | None, codes: list[int]) -> str:
    """The label that says which values a group stands for: its own where that is all of them, else the set."""
    taxonomy = domain.taxonomy
    if group is None or taxonomy is None or len(codes) == domain.known:
        return everything(domain)
    label = taxonomy.labels[group]
    if len(codes) == taxonomy.hi[group] - taxonomy.lo[group] + 1:
        return label
    text = "{" + ", ".join(quoted(domain.texts[code]) for code in codes) + "}"
    found = Reader(domain).read(text)
    exact = found is not None and (range(found.lo, found.hi + 1) if found.codes is None else found.codes.tolist())
    return text if exact and list(exact) == codes else (everything(domain) if group == 0 else label)
