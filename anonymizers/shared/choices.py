"""Choices: how much of their sensitive value people let be published.

1 is the value itself, 2 its group only, 3 nothing. Choices stand in a column with `role = "choice"`. Where a table has none
they are simulated the way the paper filled them in: common and harmless values tend to 1, rare and grave ones to 3, with few
exceptions. We cannot know how grave a value is; rarity stands in for it, and the user may name grave values.

Let u be the share of people with a more common value, counting half of those with an equally common one; a value named as
grave has the greatest u, and a person with several sensitive values goes by the one with the greatest u.

- `by_value`, the paper's way: a value has one tendency (1 below u = 1/3, 3 from 2/3 on, 2 between). People follow it, but for
  a share of exceptions, who choose one of the other two.
- `drawn`: u is kept between 0.1 and 0.9, and the choice is 1 plus two draws that are 1 with probability u. A value of
  middling rarity is then published under three names, 25, 50 and 25 % of its people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

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
_THIRDS = np.array([1 / 3, 2 / 3])

Choices = NDArray[np.int8]


class Rule(StrEnum):
    """How choices are simulated."""

    BY_VALUE = "by_value"
    DRAWN = "drawn"


def find_choices(
    table: Table,
    columns: Sequence[str],
    grave: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    rule: Rule,
    exceptions: float,
) -> Choices:
    """The choice of each row: from the table's choice column, or simulated from the values of some columns."""
    given = [c for c in table.schema.names(Role.CHOICE) if c in table.codes]
    if len(given) > 1:
        raise PromiseError(f'grading: at most one column may have role = "choice". Got {", ".join(given)}.')
    if given:
        return read_choices(table, given[0])
    u = reluctance(table, columns, grave)
    return choose_by_value(u, exceptions, rng) if rule is Rule.BY_VALUE else draw_choices(u, rng)


def read_choices(table: Table, column: str) -> Choices:
    """The choice of each row, as a column of the table has it."""
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


def reluctance(table: Table, columns: Sequence[str], grave: Mapping[str, Sequence[str]]) -> Floats:
    """How reluctant each person is to show a value, from 0 to 1."""
    most = np.zeros(table.rows)
    for column in columns:
        domain, codes = table.domains[column], table.codes[column]
        of_code = _rarity(np.bincount(codes, minlength=domain.size))
        of_code[grave_codes(domain, grave.get(column, ()))] = 1.0
        if domain.missing is not None:
            of_code[domain.missing] = 0.0  # there is nothing to hide
        most = np.maximum(most, of_code[codes])
    return most


def choose_by_value(u: Floats, exceptions: float, rng: np.random.Generator) -> Choices:
    """The tendency of each person's value, with a share of exceptions."""
    tendency = np.searchsorted(_THIRDS, u, side="right")
    other = (tendency + rng.integers(1, 3, len(u))) % 3
    choices: Choices = (SHOW + np.where(rng.random(len(u)) < exceptions, other, tendency)).astype(np.int8)
    return choices


def draw_choices(u: Floats, rng: np.random.Generator) -> Choices:
    """Choices at random, the higher the more reluctant people are."""
    drawn = rng.random((len(u), 2)) < np.clip(u, _LEAST, _MOST)[:, None]
    choices: Choices = (SHOW + drawn.sum(axis=1)).astype(np.int8)
    return choices


def _rarity(counts: Ints) -> Floats:
    """For each value the share of people with a more common one, counting half of those with an equally common one."""
    order = np.sort(counts)
    running = np.concatenate([[0], np.cumsum(order)])
    below = running[np.searchsorted(order, counts, side="left")]
    upto = running[np.searchsorted(order, counts, side="right")]
    share: Floats = 1 - (below + upto) / (2 * counts.sum())
    return share


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
