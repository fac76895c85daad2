"""Narrowest labels: what a label says beyond the values that it covers, where it is known to be the narrowest one.

A method that publishes for each class the narrowest label that covers its values gives away that nothing narrower would
do: of an interval both ends are somebody's, of a set every value, and below a node of a taxonomy people lie under two of
its children at least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.labels.notation import is_everything
from auditor.model.schema import Type

METHODS = frozenset(
    (
        "mondrian",
        "kmember",
        "caat",
        "kaca",
        "oka",
        "kmeans1",
        "kmeans2",
        "kmeans3",
        "wfcm",
        "loukides-shao",
        "l-clustering",
        "ebkc",
    )
)
"""Methods that are known to publish the narrowest labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of what a label covers: `of_code` is the part of each code of the domain (-1: none), and of `count` parts at
    least `occupied` have somebody."""

    of_code: Ints
    count: int
    occupied: int

    @property
    def certain(self) -> bool:
        """Whether somebody is in every part."""
        return self.occupied == self.count

    def covered(self, codes: Codes) -> int:
        """How many parts some people are in who have these codes."""
        part = self.of_code[codes]
        return len(np.unique(part[part >= 0]))


def parts(labels: Labels, label: int) -> Parts | None:
    """The parts of a label that is the narrowest of some people's values; None where nothing follows from that: one value,
    a suppressed one, an alias, or a label for everything, which also stands for what has no label of its own."""
    domain, codes = labels.domain, labels.codes(label)
    if len(codes) < 2 or labels.suppressed[label] or label in labels.aliases:
        return None
    if domain.taxonomy is not None and domain.numbers is None and domain.column.type is Type.NOMINAL:
        return _below(domain, codes)
    if is_everything(domain, labels.texts[label].strip()):
        return None
    of_code = np.full(domain.size, -1, dtype=np.int64)
    on_a_line = domain.numbers is not None or domain.column.type is Type.ORDINAL
    ends = codes if label in labels.gaps or not on_a_line else codes[[0, -1]]
    of_code[ends] = np.arange(len(ends))
    return Parts(of_code, len(ends), len(ends))


def _below(domain: Domain, codes: Codes) -> Parts | None:
    """The children of a node, and missing values as one more where they are covered as well."""
    taxonomy = domain.taxonomy
    assert taxonomy is not None
    if any(text in domain.format.suppressed for text in taxonomy.labels[1:]):
        return None  # such a group is published as everything
    leaves = codes[codes < domain.known].astype(np.int64)
    if len(leaves) < 2:
        return None
    node = int(taxonomy.common_ancestor(leaves[:1], leaves[-1:])[0])
    if taxonomy.hi[node] - taxonomy.lo[node] + 1 != len(leaves):
        return None  # a set of values, which these methods do not write for a taxonomy
    below = taxonomy.path[taxonomy.depth[node] + 1, leaves]
    of_code = np.full(domain.size, -1, dtype=np.int64)
    children, of_code[leaves] = np.unique(below, return_inverse=True)
    count = len(children)
    if len(codes) > len(leaves):
        of_code[codes[-1]], count = count, count + 1
    return Parts(of_code, count, 2)
