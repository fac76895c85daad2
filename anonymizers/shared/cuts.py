"""Mondrian's cuts: how a set of rows is split in two or more along one column.

A *strict* cut keeps equal values together: numbers, ordinals and nominals without a taxonomy are cut at the median of
their codes; a column with a taxonomy is split into the children of the node that covers the rows (the paper's rule for
hierarchies). A *relaxed* cut halves the rows in the order of their codes and may put equal values on both sides.
`partition` cuts a table so until no cut is allowed.

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizers.shapes import Columns, Limits, Room
from anonymizers.shared.constraints import Values
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.progress import Progress
from auditor.model.schema import Type
from auditor.model.table import Table

_SLICE = 1 << 23
"""Codes that the kernel looks at between two reports of progress: some tenths of a second."""


def partition(
    table: Table,
    columns: Sequence[str],
    limits: Limits,
    about: Values | None,
    strict: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> Ints:
    """Cuts all rows along some columns as long as every part keeps the limits on the values `about` (None: on the size only).
    Returns the number of each row's class."""
    from anonymizers.kernels.mondrian import cut_classes

    # A relaxed cut divides rows of equal value in the order in which they stand: so that order is drawn.
    order = (np.arange(table.rows) if strict else rng.permutation(table.rows)).astype(np.int32)
    codes = np.stack([table.codes[column][order] for column in columns])
    values = None if about is None or limits.values == 0 else about.codes[order]
    shapes = describe([table.domains[column] for column in columns])
    room = make_room(table.rows, shapes, limits)
    groups = np.empty(table.rows, dtype=np.int64)
    starts = np.zeros(table.rows // limits.size + 1, dtype=np.int64)
    state = np.array([table.rows, 1, 0])
    while state[0] > 0:
        progress(table.rows - int(state[0]), table.rows, "cutting classes")
        cut_classes(codes, values, order, groups, starts, state, shapes, limits, strict, room, _SLICE)
    return groups


def describe(domains: Sequence[Domain]) -> Columns:
    """The columns with these domains, as the kernel needs them."""
    first, nodes, extents, positions = [], [np.empty(0, dtype=np.int32)], [np.empty(0)], [np.empty(0)]
    steps = np.array([max(domain.size - 1, 1) for domain in domains], dtype=np.float64)
    width = steps.copy()
    for place, domain in enumerate(domains):
        taxonomy = domain.taxonomy
        if taxonomy is not None and by_tree(domain):
            first.append(sum(map(len, nodes)))
            leaves = taxonomy.hi - taxonomy.lo
            nodes.append(taxonomy.path.ravel().astype(np.int32))
            extents.append(leaves[taxonomy.path.ravel()] / max(len(taxonomy.leaf_node) - 1, 1))
            continue
        first.append(sum(map(len, positions)))
        if domain.numbers is not None:
            positions.append(domain.numbers)
            width[place] = domain.width
        else:
            positions.append(np.arange(domain.size, dtype=np.float64))
    return Columns(
        np.array([-1 if domain.missing is None else domain.missing for domain in domains], dtype=np.int32),
        steps,
        np.array([by_tree(domain) for domain in domains]),
        np.array(first, dtype=np.int64),
        np.array([domain.known for domain in domains], dtype=np.int64),
        np.concatenate(nodes),
        np.concatenate(extents),
        np.concatenate(positions),
        width,
    )


def make_room(rows: int, columns: Columns, limits: Limits) -> Room:
    """Room for classes of up to so many rows."""
    return Room(
        np.empty(rows, dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(max(rows, 2), dtype=np.int64),
        np.zeros(int(columns.node.max(initial=-1)) + 1, dtype=np.int64),
        np.zeros(limits.values, dtype=np.int64),
        np.empty(limits.values, dtype=np.int64),
        np.zeros(len(limits.weight), dtype=np.int64),
        np.empty(len(limits.weight), dtype=np.int64),
    )


def by_tree(domain: Domain) -> bool:
    """Whether a column is cut along its taxonomy."""
    return domain.taxonomy is not None and domain.column.type is Type.NOMINAL
