"""Full-domain recoding: every column at one level of its taxonomy, chosen so that least is lost.

All values of a column are published at the same level, such as ages in bands of ten years. Rows in classes that break
what is asked for are suppressed, up to the share `limit` of the rows. Of all choices of levels the one that costs least
by `measure` is taken: loss (with `aggregate` and `factor`), granularity, entropy, discernibility, precision or
class-size; `weights` says how much a column counts, such as [["age", 2]]. The search is exact
(`anonymizers/shared/lattice.py`).

Every class holds all constraints asked for: k; `l` with `diversity` distinct, entropy or recursive (with `c`); `t` with
`closeness` equal, ordered or hierarchical; `alpha`; `beta` with `likeness` basic or enhanced; `epsilon` with `m`. All
but k are about the sensitive column that `sensitive` names (default: the first of the schema). With `kmap`, at least so
many people of a `population` (a file with the same columns) fit each class; set k = 1 where only that is asked for.

Suppressed rows are removed. With `outliers = "marked"` they are published with all quasi-identifiers suppressed, as ARX
does: then their sensitive values are out, and somebody who fits no class is known to be among them. t and β compare
classes with the whole table, so they need either that or limit = 0.

With `rounds` above 1 the rows that would be suppressed are recoded again by themselves, at other levels (what ARX calls
local transformation), and at most `limit` of all rows are suppressed in the end. That is no longer one level for each
column, and no longer optimal.

Papers: P. Samarati, L. Sweeney, 1998 (generalisation and suppression); F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper,
K. Kuhn, "Flash: Efficient, Stable and Optimal K-Anonymity", PASSAT 2012; F. Prasser et al., "Flexible Data
Anonymization Using ARX", Software: Practice and Experience 2020.
Decided here: levels of columns without a taxonomy are those of `anonymizers/shared/levels.py`. People of a population
who have a value that nobody in the table can have are not counted, which makes kmap stricter, never weaker.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least, column_weights, need_quasi, published_columns, read_labels, sensitive_column
from anonymizers.shared.constrained import Constrained
from anonymizers.shared.constraints import Constraint, Like, Likeness, Values, check_whole
from anonymizers.shared.costs import Aggregate, Chosen, Measure, costing
from anonymizers.shared.lattice import Classes, Found, Lattice
from anonymizers.shared.levels import Levels
from anonymizers.shared.people import People
from anonymizers.shared.withholding import mark_of_suppressed
from auditor.files.tables import read_table
from auditor.measure.counts import Entries
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.packing import mark_of
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_LARGEST = 100
"""So many of the largest classes are judged first: where many people are in classes that break a constraint, they tell."""
MOST_NODES = 1_000_000
"""Of more choices of levels the best is not searched for: that would take hours."""


class Outliers(StrEnum):
    """What happens to suppressed rows."""

    REMOVED = "removed"
    MARKED = "marked"


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """What became of the rows of a table: the level of each row by column, which rows are kept, and for each round what was
    found."""

    levels: dict[str, Ints]
    kept: Bools
    found: tuple[Found, ...]

    @property
    def chosen(self) -> tuple[dict[str, int], ...]:
        """By round, the level of each column."""
        return tuple(dict(zip(self.levels, one.node, strict=True)) for one in self.found)


@dataclass(frozen=True)
class FullDomain(Constrained):
    """The levels of columns that cost least, with few rows suppressed."""

    name: ClassVar[str] = "full-domain"
    summary: ClassVar[str] = (
        "Each column at one level of its taxonomy, the least loss of all; k, l, t, α, β, (ε,m), k-map."
    )
    paper: ClassVar[str] = "Samarati & Sweeney 1998; Kohlmayer, Prasser, Eckert, Kemper & Kuhn 2012"
    needs_whole: ClassVar[str | None] = "one choice of levels must do for all rows"

    beta: float | None = None
    likeness: Likeness = Likeness.BASIC
    kmap: int | None = None
    population: str | None = field(default=None, metadata={"private": True})
    limit: float = 0.05
    outliers: Outliers = Outliers.REMOVED
    measure: Measure = Measure.LOSS
    aggregate: Aggregate = Aggregate.GEOMETRIC
    factor: float = 0.5
    monotone: bool = False
    weights: tuple[tuple[str | float, ...], ...] = ()
    rounds: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("full-domain: kmap", self.kmap, 1)
        at_least("full-domain: rounds", self.rounds, 1)
        for name, value in (("limit", self.limit), ("factor", self.factor)):
            if not 0 <= value <= 1:
                raise UsageError(f"full-domain: {name} must be from 0 to 1. Got {value:g}.")
        if self.beta is not None and self.beta <= 0:
            raise UsageError(f"full-domain: beta must be above 0. Got {self.beta:g}.")
        if (self.kmap is None) != (self.population is None):
            raise UsageError("full-domain: kmap and population (a file) go together.")
        if self.epsilon is not None and self.rounds > 1:
            raise UsageError(
                "full-domain: epsilon and m need rounds = 1: classes of two rounds may have the same labels."
            )
        if (self.t is not None or self.beta is not None) and self.limit > 0 and self.outliers is Outliers.REMOVED:
            raise UsageError(
                "full-domain: t and beta compare classes with the whole table, and removed rows are no part of what is "
                'published. Set limit = 0 or outliers = "marked".'
            )
        column_weights(self.weights, self.name)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        said = list(super().promises(sensitive))
        about = f" ({sensitive or self.sensitive})" if sensitive or self.sensitive else ""
        if self.beta is not None:
            said.append(f"beta = {self.beta:g} {self.likeness}{about}")
        if self.kmap is not None:
            said.append(f"k-map = {self.kmap}")
        return tuple(said)

    def about(self, table: Table) -> str | None:
        if self.beta is not None:
            return sensitive_column(table, self.sensitive, self.name)
        return super().about(table)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        people = People(table)
        people.need_alike(self.name, "rows of one person must get the same labels")
        recoded = self.recode(people.table, progress)
        kept = recoded.kept[people.number]
        if not kept.any():
            raise PromiseError(f"{self.name}: every row would be suppressed. Give a limit below 1, or a smaller k.")
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        marked = self.outliers is Outliers.MARKED and not kept.all()
        for column in need_quasi(table, self.name):
            at = recoded.levels[column][people.number]
            labels[column], cells[column] = _published(table, column, at, ~kept if marked else None)
        bucket = None if marked else np.where(kept, 0, -1)
        made = self.publish(table, labels, cells, [published_columns(table)], bucket, rng, self.about(table))
        people.check(*made, self.name)
        return made

    def recode(self, table: Table, progress: Progress = silent) -> Recoded:
        """The levels of each row of a table with one row for each person."""
        quasi = need_quasi(table, self.name)
        values, limited = self.asked(table)
        constraints: list[Constraint] = [*limited]
        if self.beta is not None and values is not None:
            constraints.append(Like(self.beta, self.likeness, values))
        check_whole(constraints, np.array([table.rows]) if values is None else values.whole, self.name)
        work = _Work(self, table, _in_order(table, quasi), values, constraints, progress)
        for rounds in range(self.rounds, 0, -1):
            recoded = work.recoded(rounds)
            if recoded is not None:
                return recoded
        raise PromiseError(
            f"{self.name}: no choice of levels holds {', '.join(self.promises())} with at most {self.limit:g} of the rows "
            "suppressed. Give a larger limit, or ask for less."
        )


def _in_order(table: Table, columns: Sequence[str]) -> list[str]:
    """Columns in an order that depends on their values only; last those with the most levels, which are raised most often."""
    return sorted(columns, key=lambda c: (Levels.of(table.domains[c]).top, mark_of(table.codes[c]), c))


class _Work:
    """One search after the other over parts of a table."""

    def __init__(
        self,
        method: FullDomain,
        table: Table,
        columns: list[str],
        values: Values | None,
        constraints: list[Constraint],
        progress: Progress,
    ) -> None:
        self.method, self.table, self.columns, self.values = method, table, columns, values
        self.constraints, self.progress = constraints, progress
        self.levels = [Levels.of(table.domains[c]) for c in columns]
        nodes = math.prod(one.top + 1 for one in self.levels)
        if nodes > MOST_NODES:
            raise PromiseError(
                f"{method.name}: there are {nodes:.1e} choices of levels, and at most {MOST_NODES:,} are searched. Give "
                "columns taxonomies with fewer levels, or make some of them neutral."
            )
        weights = tuple(column_weights(method.weights, method.name, columns).values())
        self.chosen = Chosen(method.measure, method.aggregate, method.factor, method.monotone, weights)
        self.population = None if method.population is None else self._crowd(method.population)

    def _crowd(self, file: str) -> list[Codes]:
        """The people of the population by column, without those who have a value that the table does not have."""
        crowd = read_table(file, self.table.schema)
        found = []
        for column in self.columns:
            if column not in crowd.codes:
                raise PromiseError(f"{self.method.name}: the population must have the column {column!r}.")
            domain, other = self.table.domains[column], crowd.domains[column]
            here = [domain.missing if at == other.missing else domain.code(text) for at, text in enumerate(other.texts)]
            known = np.array([-1 if code is None else code for code in here], dtype=np.int32)
            found.append(known[crowd.codes[column]])
        there = np.min(found, axis=0) >= 0
        return [codes[there] for codes in found]

    def recoded(self, rounds: int) -> Recoded | None:
        """The rows recoded in so many rounds; None where too many would be left."""
        rows, most = np.arange(self.table.rows), int(self.method.limit * self.table.rows + 1e-9)
        levels = {c: np.zeros(self.table.rows, dtype=np.int64) for c in self.columns}
        kept = np.zeros(self.table.rows, dtype=np.bool_)
        found: list[Found] = []
        for number in range(rounds):
            last = number == rounds - 1
            best = self._best(rows, most if last else len(rows))
            if best is None:
                return None
            if not last and not best.kept.any():
                best = self._best(rows, most)  # nothing is gained by another round
                last = True
                if best is None:
                    return None
            here = self._kept(rows, best)
            for column, at in zip(self.columns, best.node, strict=True):
                levels[column][rows[here]] = at
            kept[rows[here]] = True
            rows = rows[~here]
            found.append(best)
            if last or not len(rows):
                break
        return Recoded(levels, kept, tuple(found))

    def _best(self, rows: Ints, most: int) -> Found | None:
        """The best levels for some rows."""
        codes = [self.table.codes[c][rows] for c in self.columns]
        values = None if self.values is None else self.values.codes[rows]
        cost = costing(self.chosen, self.levels, codes)
        lattice = Lattice(self.levels, codes, values, self._allowed, cost, most, self._doomed, self.population)
        return lattice.best(self.progress)

    def _allowed(self, classes: Classes, most: int | None) -> Bools:
        """Which classes hold all that is asked for; none where more than `most` people are in others, and that is found out
        early. Classes that nobody of the table is in hold everything."""
        there = classes.sizes > 0
        kept = classes.sizes >= self.method.k
        if classes.crowd is not None and self.method.kmap is not None:
            kept &= classes.crowd >= self.method.kmap
        if classes.counts is None or self.values is None or not kept.any():
            return kept | ~there
        if most is not None and 4 * most < int(classes.sizes.sum()):
            left = most - int(classes.sizes[~kept].sum())
            large = np.zeros(len(kept), dtype=np.bool_)
            large[np.argsort(-classes.sizes, kind="stable")[:_LARGEST]] = True
            large &= kept
            if left >= 0 and large.any():
                left -= int(classes.sizes[large][~self._hold(classes.counts, large, self.values.whole)].sum())
            if left < 0:
                return ~there
        kept[kept] = self._hold(classes.counts, kept, self.values.whole)
        return kept | ~there

    def _doomed(self, classes: Classes) -> float:
        """How many people cannot be published however the classes are divided."""
        small = classes.sizes < self.method.k
        if classes.crowd is not None and self.method.kmap is not None:
            small |= classes.crowd < self.method.kmap
        total = float(classes.sizes[small].sum())
        if classes.counts is not None and self.values is not None and not small.all():
            found = _of_some(classes.counts, ~small, self.values.whole)
            shares = [constraint.doomed(found) for constraint in self.constraints]
            total += float(found.sizes @ np.max(shares, axis=0))
        return total

    def _hold(self, counts: Entries, some: Bools, whole: Ints) -> Bools:
        """Which of some classes hold the constraints."""
        found = _of_some(counts, some, whole)
        holds = np.ones(len(found.sizes), dtype=np.bool_)
        for constraint in self.constraints:
            holds &= constraint.which(found)
        return holds

    def _kept(self, rows: Ints, found: Found) -> Bools:
        """Which rows are in classes that are kept."""
        classes = found.classes
        groups = [
            one.groups[at][self.table.codes[column][rows]]
            for one, at, column in zip(self.levels, found.node, self.columns, strict=True)
        ]
        words = classes.packing.packed(groups)
        both = tuple(np.concatenate([mine, theirs]) for mine, theirs in zip(classes.words, words, strict=True))
        key = classes.packing.key(both)
        place = np.searchsorted(key[: len(found.kept)], key[len(found.kept) :])
        return found.kept[place]


def _of_some(counts: Entries, some: Bools, whole: Ints) -> Entries:
    """The counts of some classes, beside those of the whole table."""
    here = some[counts.row]
    row = (np.cumsum(some) - 1)[counts.row[here]]
    return Entries.of(row, counts.column[here], counts.count[here], int(some.sum()), len(whole), whole)


def _published(table: Table, column: str, level: Ints, gone: Bools | None) -> tuple[Labels, Codes]:
    """The labels of a column, given the level of each row, and which rows are published as suppressed."""
    domain, levels, codes = table.domains[column], Levels.of(table.domains[column]), table.codes[column]
    texts: list[str] = []
    place = np.zeros(table.rows, dtype=np.int64)
    for at in np.unique(level).tolist():
        here = level == at
        place[here] = len(texts) + levels.groups[at][codes[here]]
        texts += levels.labels(at)
    if gone is not None:
        place[gone] = len(texts)
        texts.append(mark_of_suppressed(domain))
    used, place = np.unique(place, return_inverse=True)
    labels, number = read_labels(domain, [texts[i] for i in used.tolist()])
    return labels, number[place]
