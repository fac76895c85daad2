"""The kernel of the decision tree: finds the cuts, node by node.

A node is cut in two where Gini's impurity falls most. An ordered column is cut between two of its codes. A nominal one is
cut into two sets of values: values are put into the order of their share of one class, and cut between different shares.
For two classes the best of all sets is among these (Breiman, Friedman, Olshen and Stone 1984); for more, this is done for
each of the commonest classes. Values with equal shares stay together, so neither the order nor the names of values matter.

Rows are counted, not compared: the answer does not depend on their order. Of equally good cuts that of the first column wins.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.compiling import kernel


@kernel
def grow(
    x: Ints, sizes: Ints, ordered: Bools, y: Ints, classes: int, leaf: int, orders: int
) -> tuple[Ints, Ints, Bools, Floats]:
    """A tree for rows × columns of codes and classes of rows: for each node its column (-1: a leaf), its first child (the
    other is the next), which codes go to that, and how many rows of each class it has. Parents come before children."""
    rows, columns = x.shape
    most = 2 * max(rows // leaf, 1) + 1
    width = 1
    for size in sizes:
        width = max(width, size)
    column, child = np.full(most, -1, np.int64), np.full(most, -1, np.int64)
    goes = np.zeros((most, width), np.bool_)
    counts = np.zeros((most, classes), np.float64)
    first, last = np.zeros(most, np.int64), np.zeros(most, np.int64)
    last[0] = rows
    order, spare = np.arange(rows), np.empty(rows, np.int64)
    table, of_code = np.zeros((width, classes), np.float64), np.zeros(width, np.float64)
    here, key = np.empty(width, np.int64), np.empty(width, np.float64)
    left, chosen = np.empty(classes, np.float64), np.zeros(width, np.bool_)
    nodes, node = 1, 0
    while node < nodes:
        start, end = first[node], last[node]
        own = counts[node]
        for place in range(start, end):
            own[y[order[place]]] += 1
        total = float(end - start)
        square = 0.0
        for c in range(classes):
            square += own[c] * own[c]
        if end - start >= 2 * leaf and square < total * total:
            least = square / total + 1e-9 * total
            best = -1
            for f in range(columns):
                table[: sizes[f]] = 0.0
                of_code[: sizes[f]] = 0.0
                for place in range(start, end):
                    row = order[place]
                    table[x[row, f], y[row]] += 1
                    of_code[x[row, f]] += 1
                held = 0
                for code in range(sizes[f]):
                    if of_code[code] > 0:
                        here[held] = code
                        held += 1
                if held < 2:
                    continue
                for o in range(1 if ordered[f] else orders):
                    if not ordered[f]:
                        for j in range(held):  # insertion sort by the share of class o
                            code = here[j]
                            share = table[code, o] / of_code[code]
                            k = j
                            while k > 0 and key[k - 1] > share:
                                key[k], here[k] = key[k - 1], here[k - 1]
                                k -= 1
                            key[k], here[k] = share, code
                    left[:] = 0.0
                    many = 0.0
                    for j in range(held - 1):
                        many += of_code[here[j]]
                        for c in range(classes):
                            left[c] += table[here[j], c]
                        if not ordered[f] and key[j + 1] - key[j] < 1e-12:
                            continue
                        if many < leaf or total - many < leaf:
                            continue
                        one, other = 0.0, 0.0
                        for c in range(classes):
                            one += left[c] * left[c]
                            other += (own[c] - left[c]) * (own[c] - left[c])
                        found = one / many + other / (total - many)
                        if found > least:
                            least, best = found + 1e-9 * total, f
                            chosen[:] = many >= total - many  # codes that nobody here has go with the most
                            for k in range(held):
                                chosen[here[k]] = k <= j
            if best >= 0:
                column[node], child[node] = best, nodes
                for code in range(width):
                    goes[node, code] = chosen[code]
                ahead, behind = start, 0
                for place in range(start, end):
                    row = order[place]
                    if chosen[x[row, best]]:
                        order[ahead] = row
                        ahead += 1
                    else:
                        spare[behind] = row
                        behind += 1
                for place in range(behind):
                    order[ahead + place] = spare[place]
                first[nodes], last[nodes], first[nodes + 1], last[nodes + 1] = start, ahead, ahead, end
                nodes += 2
        node += 1
    return column[:nodes], child[:nodes], goes[:nodes], counts[:nodes]
