"""Quasi-identifiers by what they add to uniqueness.

Each column alone (distinction, separation), all pairs, the greedy order in which they single out most rows, and what each
adds to all others together. Above `MOST_ROWS` rows a sample is used, drawn by the seed from the rows sorted by content, so
the order of the file does not matter. Separation is the same in a sample. Distinction and uniqueness are those *of the
sample*, which are higher than the table's.

Paper: see `auditor.measure.separation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from auditor.measure.separation import Separation, greedy_order, joined, refined, separation
from auditor.model.arrays import Ints
from auditor.model.seeding import stage
from auditor.profiling.facts import Facts

MOST_ROWS = 100_000
MOST_COLUMNS = 25  # columns beyond this many, by separation, are left out of pairs and order
_MOST_PAIRS = 5


@dataclass(frozen=True, slots=True)
class Ranked:
    """One quasi-identifier: how well it alone tells rows apart, and the share of rows that are unique only with it (None if
    there are too many columns)."""

    name: str
    alone: Separation
    adds: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking of the quasi-identifiers of a table."""

    columns: tuple[Ranked, ...]  # the quasi-identifiers by separation
    order: tuple[tuple[str, Separation], ...]  # the greedy order, with the figures of all columns up to there
    pairs: tuple[tuple[str, str, Separation], ...]  # the pairs that tell most rows apart
    together: Separation  # the figures of all columns
    rows: int  # the number of rows used
    sampled: bool  # whether these are not all rows


def rank(columns: Sequence[Facts], everything: Sequence[Facts], rows: int, seed: int) -> Ranking:
    """The ranking of some columns of a table; `everything` are all its columns, which determine the sample."""
    chosen = _sample(everything, rows, seed) if rows > MOST_ROWS else None
    codes = {facts.name: facts.codes if chosen is None else facts.codes[chosen] for facts in columns}
    looked = rows if chosen is None else len(chosen)
    alone = {name: separation(joined([code], looked)) for name, code in codes.items()}
    names = sorted(alone, key=lambda name: (-(alone[name].separation or 0.0), name))
    used = names[:MOST_COLUMNS]
    order = tuple((used[place], figures) for place, figures in greedy_order([codes[name] for name in used], looked))
    together = separation(joined([codes[name] for name in names], looked))
    adds: dict[str, float] = {}
    if len(names) <= MOST_COLUMNS:
        for name in names:
            others = separation(joined([codes[other] for other in names if other != name], looked))
            adds[name] = together.uniqueness - others.uniqueness
    pairs = []
    for one, other in combinations(used, 2):
        figures = separation(refined(joined([codes[one]], looked), codes[other]))
        pairs.append((one, other, figures))
    pairs.sort(key=lambda pair: (-pair[2].uniqueness, -(pair[2].separation or 0.0), pair[:2]))
    ranked = tuple(Ranked(name, alone[name], adds.get(name)) for name in names)
    return Ranking(ranked, order, tuple(pairs[:_MOST_PAIRS]), together, looked, chosen is not None)


def _sample(columns: Sequence[Facts], rows: int, seed: int) -> Ints:
    """Some rows, drawn from all rows sorted by content."""
    groups = joined([facts.codes for facts in sorted(columns, key=lambda facts: facts.name)], rows)
    by_content = np.argsort(groups, kind="stable")
    drawn = stage(seed, "profile", "rows").choice(rows, MOST_ROWS, replace=False)
    return by_content[np.sort(drawn)]
