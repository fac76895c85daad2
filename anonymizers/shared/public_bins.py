"""What a differentially private synthesizer may know of a table without paying for it, and cuts columns by.

A promise of ε covers the values of people. It cannot cover what a method reads off the table before any noise is drawn.
So columns are cut by what the schema declares: the values of a taxonomy, an order or a list, the range of a numeric
column. These do not depend on anybody. Where the schema declares nothing, the values or the range are those of the table,
and one person can change them; they are then *taken as public*, and the release says so among its promises (`taken`).
Always taken as public are the names and types of the columns, and which of them have missing values; the release says the
latter too. Numbers in a declared range have as many decimals as its ends, or as give every bin a number.

A numeric column is cut into bins of equal width over its range. The two ends of the range are bins of their own, since
that is where numbers pile up: no income at all, or the most that is told. A number in a bin is drawn evenly from all
numbers with that many decimals in it, whether or not somebody has them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anonymizers.shared.people import People
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError
from auditor.model.table import Table
from auditor.model.values import EXACT_INTEGERS

MOST_DECIMALS = 6
NEIGHBOURS = "for one person more or less"
"""Who the promise is about, in the words of the release."""
TAKEN = "taken as public"
MISSING = "which columns have missing values is public"


class PublicBins:
    """The bins of one column; `of_code` is the bin of each code of its domain. The last is for what is missing, if there is
    one."""

    def __init__(self, domain: Domain, bins: int) -> None:
        self.domain, self.edges = domain, np.zeros(0, dtype=np.int64)
        self.size, self.of_code = domain.size, np.arange(domain.size, dtype=np.int64)
        self.is_grid = domain.numbers is not None and domain.taxonomy is None
        if domain.numbers is None or not self.is_grid:
            return
        low, high = domain.span or (0.0, 0.0)
        most = next((d for d in range(MOST_DECIMALS, 0, -1) if max(abs(low), abs(high)) * 10**d < EXACT_INTEGERS), 0)
        written, least = domain.numbers, 0
        if domain.column.bounds is not None:  # the decimals of people's own numbers would tell of them
            written, least = np.array(domain.column.bounds), bins
        self.decimals = next((d for d in range(most) if _has(written, d) and (high - low) * 10**d >= least), most)
        step = 10.0**self.decimals
        self.first = int(np.ceil(low * step - 1e-6))
        points = max(int(np.floor(high * step + 1e-6)) - self.first + 1, 1)
        if points <= bins + 2:
            edges = list(range(points + 1))
        else:
            edges = [0, *(1 + cut * (points - 2) // bins for cut in range(bins + 1)), points]
        self.edges = np.array(edges, dtype=np.int64)  # steps above the first number
        cuts = len(edges) - 1
        place = np.rint(domain.numbers * step).astype(np.int64) - self.first
        inside = np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, cuts - 1)
        self.size = cuts + (domain.missing is not None)
        self.of_code = np.concatenate([inside, np.full(domain.size - domain.known, cuts, dtype=np.int64)])

    def draw(self, bins: Ints, rng: np.random.Generator) -> Codes | Floats:
        """A value in each of some bins."""
        if not self.is_grid:
            return bins.astype(np.int32)
        cuts = len(self.edges) - 1
        inside = np.minimum(bins, cuts - 1)
        steps = self.edges[inside] + rng.integers(np.maximum(self.edges[inside + 1] - self.edges[inside], 1))
        numbers = np.round((self.first + steps) / 10.0**self.decimals, self.decimals)
        return np.where(bins < cuts, numbers, np.nan)

    @property
    def taken(self) -> str | None:
        """What is taken as public although it comes from the table, or None."""
        column = self.domain.column
        if self.is_grid:
            return None if column.bounds is not None else f"the range of {column.name}"
        declared = column.taxonomy is not None or column.values is not None
        return None if declared else f"the values of {column.name}"


def taken_as_public(bins: Iterable[PublicBins]) -> tuple[str, ...]:
    """The promises that say what ε does not cover: what the schema does not declare, and where values are missing."""
    found = [one.taken for one in bins if one.taken is not None]
    told = (f"{TAKEN}, since the schema does not declare it: {', '.join(found)}",) if found else ()
    return (*told, MISSING)


def _has(numbers: Floats, decimals: int) -> bool:
    """Whether numbers have no more decimals than these."""
    scaled = numbers * 10.0**decimals
    return bool((np.abs(scaled - np.rint(scaled)) < 1e-6).all())


def bounded(table: Table, most: int | None, name: str, rng: np.random.Generator) -> Table:
    """The rows that count: at most so many of each person, drawn by chance. Where the schema says whose rows are, a number
    must be given: to refuse only where somebody has several rows would tell that somebody has."""
    people = People(table)
    if table.schema.person is not None and table.schema.person in table.codes and most is None:
        raise PromiseError(
            f"{name}: epsilon is about people, who may have several rows. Say with most_rows how many rows of a person may "
            "count; noise grows with it, and further rows are left out."
        )
    if not people.several:
        return table
    assert most is not None
    rows = table.in_order()
    rows = rows[np.lexsort((rng.random(table.rows), people.number[rows]))]
    whose = people.number[rows]
    start = np.flatnonzero(np.diff(whose, prepend=-1))
    rank = np.arange(len(rows)) - np.repeat(start, np.diff([*start, len(rows)]))
    return table.take(np.sort(rows[rank < most]))
