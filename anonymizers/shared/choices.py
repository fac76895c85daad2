"""Choices: how much of their sensitive value people let be published.

1 is the value itself, 2 its group only, 3 nothing. Choices stand in a column with `role = "choice"`. Where a table has none
they are simulated the way the paper filled them in: common and harmless values tend to 1, rare and grave ones to 3, with
exceptions. We cannot know how grave a value is; rarity stands in for it, and the user may name grave values.

Let u be the share of people with a more common value, counting half of those with an equally common one. It is kept between
0.1 and 0.9, so that there are always exceptions; a value named as grave has u = 0.9. The choice is 1 plus two draws that
are 1 with probability u. A person with several sensitive values goes by the one with the greatest u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Floats, Ints
from auditor.model.discretion import quote, shown
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, TableError, UsageError
from auditor.model.schema import Role
from auditor.model.table import Table

SHOW, GROUP, HIDE = 1, 2, 3

_LEAST, _MOST = 0.1, 0.9

Choices = NDArray[np.int8]


def find_choices(
    table: Table, columns: Sequence[str], grave: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> Choices:
    """The choice of each row: from the table's choice column, or simulated from the values of some columns."""
    given = [c for c in table.schema.names(Role.CHOICE) if c in table.codes]
    if len(given) > 1:
        raise PromiseError(f'grading: at most one column may have role = "choice". Got {", ".join(given)}.')
    return _read(table, given[0]) if given else simulate_choices(table, columns, grave, rng)


def _read(table: Table, column: str) -> Choices:
    meaning = {"1": SHOW, "2": GROUP, "3": HIDE}
    of_code = np.array([meaning.get(text, 0) for text in table.domains[column].texts], dtype=np.int8)
    choices: Choices = of_code[table.codes[column]]
    if (choices == 0).any():
        row = int(np.argmax(choices == 0))
        text = table.domains[column].texts[table.codes[column][row]]
        raise TableError(
            f"{table.name}, row {row + 1}, column {column!r}: a choice must be 1, 2 or 3. Got {shown(text)}."
        )
    return choices


def simulate_choices(
    table: Table, columns: Sequence[str], grave: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> Choices:
    """Choices as people would tend to make them."""
    reluctance = np.full(table.rows, _LEAST)
    for column in columns:
        domain, codes = table.domains[column], table.codes[column]
        of_code = _rarity(np.bincount(codes, minlength=domain.size))
        of_code[grave_codes(domain, grave.get(column, ()))] = _MOST
        if domain.missing is not None:
            of_code[domain.missing] = _LEAST  # there is nothing to hide
        reluctance = np.maximum(reluctance, of_code[codes])
    drawn = rng.random((table.rows, 2)) < reluctance[:, None]
    choices: Choices = (SHOW + drawn.sum(axis=1)).astype(np.int8)
    return choices


def _rarity(counts: Ints) -> Floats:
    """For each value the share of people with a more common one, counting half of those with an equally common one."""
    order = np.sort(counts)
    running = np.concatenate([[0], np.cumsum(order)])
    below = running[np.searchsorted(order, counts, side="left")]
    upto = running[np.searchsorted(order, counts, side="right")]
    share: Floats = 1 - (below + upto) / (2 * counts.sum())
    return np.clip(share, _LEAST, _MOST)


def grave_codes(domain: Domain, names: Sequence[str]) -> Ints:
    """The codes of the values and groups named as grave."""
    found: list[int] = []
    for name in names:
        code, node = domain.code(name), domain.taxonomy.node(name) if domain.taxonomy else None
        if code is not None:
            found.append(code)
        elif node is not None and domain.taxonomy is not None:
            found += range(int(domain.taxonomy.lo[node]), int(domain.taxonomy.hi[node]) + 1)
        else:
            hint = domain.nearest(name, groups=True)
            raise UsageError(f"grading: grave: {quote(name)} is no value or group of {domain.column.name!r}.{hint}")
    return np.array(found, dtype=np.int64)
