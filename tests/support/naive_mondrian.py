"""Mondrian as it reads in the paper: lists of rows, cut one by one, every constraint asked about every part.

The compiled version must give the same classes, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizers.shared.constraints import Constraint
from auditor.model.arrays import Codes, Ints
from auditor.model.domain import Domain
from auditor.model.schema import Type
from auditor.model.table import Table


def naive_classes(
    table: Table,
    sensitive: Codes,
    constraints: list[Constraint],
    priority: Ints | None,
) -> Ints:
    """The class of each row. `sensitive` are the values that constraints are about, numbered without gaps. `priority` says
    which of several rows with equal values comes first in a relaxed cut; None asks for strict cuts."""
    groups = np.empty(table.rows, dtype=np.int64)
    waiting, done = [np.arange(table.rows)], 0
    while waiting:
        rows = waiting.pop()
        for parts in cuts(table, rows, priority):
            counts = [np.bincount(sensitive[part], minlength=int(sensitive.max()) + 1) for part in parts]
            if all(constraint.holds(count) for constraint in constraints for count in counts):
                waiting.extend(parts)
                break
        else:
            groups[rows] = done
            done += 1
    return groups


def cuts(table: Table, rows: Ints, priority: Ints | None) -> Iterator[list[Ints]]:
    """Possible cuts of the rows, the column with the widest spread first; ties in the columns' order."""
    columns = [(table.codes[column][rows], table.domains[column]) for column in table.schema.quasi]
    spreads = [spread(codes, domain) for codes, domain in columns]
    for place in sorted(range(len(spreads)), key=lambda i: (-spreads[i], i)):
        if spreads[place] > 0:
            if priority is not None:
                yield relaxed_cut(rows, columns[place][0], priority)
            else:
                yield strict_cut(rows, *columns[place])


def relaxed_cut(rows: Ints, codes: Codes, priority: Ints) -> list[Ints]:
    order = np.lexsort((priority[rows], codes))
    half = len(rows) // 2
    return [rows[order[:half]], rows[order[half:]]]


def strict_cut(rows: Ints, codes: Codes, domain: Domain) -> list[Ints]:
    if by_tree(domain):
        group = children(codes, domain)
        return [rows[group == g] for g in np.unique(group)]
    middle = np.sort(codes)[(len(codes) - 1) // 2]
    below = codes <= middle
    if below.all():  # more than half have the greatest value: cut below it
        below = codes < middle
    return [rows[below], rows[~below]]


def by_tree(domain: Domain) -> bool:
    return domain.taxonomy is not None and domain.column.type is Type.NOMINAL


def children(codes: Codes, domain: Domain) -> Ints:
    """For each code the child of the rows' common ancestor that it lies under; missing values are a child apart, and are
    parted from the others before these are cut."""
    assert domain.taxonomy is not None
    missing = codes == (-1 if domain.missing is None else domain.missing)
    if missing.any():
        return np.asarray(missing, dtype=np.int64)
    node = domain.taxonomy.common_ancestor(np.array([codes.min()]), np.array([codes.max()]))[0]
    return np.asarray(domain.taxonomy.path[domain.taxonomy.depth[node] + 1][codes])


def spread(codes: Codes, domain: Domain) -> float:
    """The normalised spread of some values, from 0 (all equal) to 1 (the whole domain)."""
    lo, hi = int(codes.min()), int(codes.max())
    if lo == hi:
        return 0.0
    if hi == domain.missing:
        return (hi - lo) / (domain.size - 1)
    if domain.numbers is not None:
        return float((domain.numbers[hi] - domain.numbers[lo]) / domain.width)
    if by_tree(domain):
        assert domain.taxonomy is not None
        node = domain.taxonomy.common_ancestor(np.array([lo]), np.array([hi]))[0]
        return float((domain.taxonomy.hi[node] - domain.taxonomy.lo[node]) / (len(domain.taxonomy.leaf_node) - 1))
    return (hi - lo) / (domain.size - 1)
