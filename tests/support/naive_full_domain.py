"""Full-domain recoding as it reads in the papers: every node, its classes row by row, its cost by definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from math import log2, prod
from typing import Any

import numpy as np

from anonymizers.full_domain import FullDomain
from anonymizers.shared.constraints import Like
from anonymizers.shared.levels import Levels
from auditor.model.table import Table

Members = dict[tuple[int, ...], list[int]]
"""The rows of each class, by its groups."""


def nodes(
    method: FullDomain, table: Table, levels: dict[str, Levels]
) -> Iterator[tuple[tuple[int, ...], Members, set[int]]]:
    """All nodes with their classes and the rows in those that hold the constraints."""
    values, limited = method.asked(table)
    constraints: list[Any] = [*limited]
    if method.beta is not None and values is not None:
        constraints.append(Like(method.beta, method.likeness, values))
    width = 1 if values is None else len(values.whole)
    for node in product(*(range(one.top + 1) for one in levels.values())):
        members = defaultdict(list)
        groups = [one.groups[at][table.codes[c]] for (c, one), at in zip(levels.items(), node, strict=True)]
        for row in range(table.rows):
            members[tuple(int(group[row]) for group in groups)].append(row)
        kept: dict[tuple[int, ...], list[int]] = {}
        for label, rows in members.items():
            counts = np.bincount([0] * len(rows) if values is None else values.codes[rows], minlength=width)
            if all(constraint.holds(counts) for constraint in constraints):
                kept[label] = rows
        yield node, members, {row for rows in kept.values() for row in rows}


def cost(
    method: FullDomain,
    table: Table,
    levels: dict[str, Levels],
    node: tuple[int, ...],
    members: Members,
    published: set[int],
) -> tuple[float, ...]:
    """What a node costs."""
    rows, gone = table.rows, table.rows - len(published)
    if method.measure == "class-size":
        return (rows / (sum(members[one][0] in published for one in members) + (gone > 0)),)
    if method.measure == "discernibility":
        sizes = [(len(some), some[0] in published) for some in members.values()]
        return (float(sum(n * (n if inside or method.monotone else rows) for n, inside in sizes)),)
    lost = []
    for (column, one), at in zip(levels.items(), node, strict=True):
        codes, group, size = table.codes[column].tolist(), one.groups[at].tolist(), one.domain.size
        of_code = {code: codes.count(code) for code in set(codes)}
        alike = {g: sum(of_code[code] for code in of_code if group[code] == g) for g in set(group)}
        out = [group[codes[row]] for row in range(rows) if row not in published]
        total = 0.0
        for row, code in enumerate(codes):
            share = group.count(group[code]) / size
            if method.measure == "entropy":
                total -= log2(of_code[code] / alike[group[code]])
                if row not in published and not method.monotone:
                    total -= log2(out.count(group[code]) / len(out))
            elif method.measure == "precision":
                total += (at / max(one.top, 1) if row in published else 1.0) / rows
            else:
                factor = method.factor if method.measure == "loss" else 0.5
                wide = share * min(2 - 2 * factor, 1)
                whole = 1.0 if factor >= 0.5 else share + 2 * factor * (1 - share)
                total += (wide if row in published else whole) / rows
        least = min(2 - 2 * method.factor, 1) / size if method.measure == "loss" else 1 / size
        if method.measure in ("loss", "granularity"):
            total = (total - least) / (1 - least) if least < 1 else 0.0
        lost.append(total)
    if method.measure == "entropy":
        return (sum(lost),)
    if method.measure == "loss" and method.aggregate != "mean":
        joined = {
            "geometric": (prod(1 + one for one in lost) ** (1 / len(lost)) - 1,),
            "sum": (sum(lost),),
            "greatest": (max(lost),),
            "rank": tuple(sorted(lost, reverse=True)),
        }
        return joined[str(method.aggregate)]
    return (sum(lost) / len(lost),)
