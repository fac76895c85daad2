"""Grading: sensitive values are published as each person chooses, sensitive numbers as category and membership degree.

Quasi-identifiers stay as they are. In categorical sensitive columns a person's choice decides: 1 publishes the value, 2 an
alias that shows its group (`Respiratory-1`), 3 an opaque alias (`A07`). Each value has its own alias of either kind, so
classifiers and rules still work on the release. Sensitive numbers become category + degree: with one category from 10 to
40 the age 21 is 1.366, and order is kept. The key says what aliases and numbers stand for; only the trusted server has it
(`auditor anonymize --key FILE`). With it, `auditor decode` translates what was found in the release.

Settings: `categories` is how many a numeric column gets. `bounds` gives them instead, as in [["age", 17, 30, 31, 90]]; bounds
are part of the key and stand in no audit record. `digits` is how many digits of a degree are published, the others being cut
off as in the paper; 10 or more publish all. Where no column has role = "choice", choices are simulated: `choices` says how
(`by_value`: everybody follows the tendency of their value but a share of `exceptions`; `drawn`: at random, by the rarity of
their value), and `grave`, as in [["disease", "HIV", "Cancer"]], names values or groups that people are reluctant to show.

The paper claims that linking discloses nothing and that hidden values cannot be guessed. Neither is promised here: anyone
who finds the record of a person with choice 1 has the value, and counting aliases or fitting lines to the categories gives
the key away.

Paper: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009.
Decided here: the printed loop never tests the last category, and adds degree and category only between the ends; we follow
the text instead. Digits are cut off, not rounded, as in the printed 1.366 (11/30) and .999. Numbers that are then published
alike decode to the interval that they span; with all digits, those above 0.999 of a category decode to its greatest. Without
`bounds`, categories hold about as many people each, with
ends drawn at random. An alias would give away a value that is alone in its group, so groups are joined until each has two.
Missing values are published as missing. Audit records show the seed, so names and categories depend on the data as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, at_least, published_columns, read_labels, sensitive_columns
from anonymizers.shared.aliases import Namer
from anonymizers.shared.choices import GROUP, HIDE, Choices, Rule, find_choices
from auditor.files.provenances import unordered_fingerprint
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.discretion import is_revealing
from auditor.model.errors import PromiseError, UsageError
from auditor.model.key import ALL_DIGITS, Aliases, Categories, Key, bounds_fault, decimals_of
from auditor.model.labels.labels import Declared, Labels
from auditor.model.labels.notation import everything
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.model.table import Table
from auditor.model.values import format_number

_SHIFT = 0.3
"""How far the end of a category may move at random, as a share of a category."""


@dataclass(frozen=True)
class Grading(Anonymizer):
    """Aliases by each person's choice, and graded numbers."""

    name: ClassVar[str] = "grading"
    summary: ClassVar[str] = "Publishes sensitive values by each person's choice, numbers graded; a key decodes them."
    paper: ClassVar[str] = "Poovammal & Ponnaivaikko 2009"
    needs_whole: ClassVar[str | None] = "it forms no groups, and one key must hold for all rows"

    categories: int = 4
    bounds: tuple[tuple[str | float, ...], ...] = field(default=(), metadata={"private": True})
    grave: tuple[tuple[str, ...], ...] = ()
    digits: int = 3
    choices: Rule = Rule.BY_VALUE
    exceptions: float = 0.05

    def __post_init__(self) -> None:
        at_least("grading: categories", self.categories, 1)
        at_least("grading: digits", self.digits, 1)
        if not 0 <= self.exceptions <= 1:
            raise UsageError(f"grading: exceptions must be a share between 0 and 1. Got {self.exceptions}.")
        for setting, rows in (("bounds", self.bounds), ("grave", self.grave)):
            columns = [row[0] if row else None for row in rows]
            if not all(isinstance(column, str) and column for column in columns) or len(set(columns)) < len(columns):
                raise UsageError(
                    f"grading: each list of {setting} must begin with a column, none twice. Got {columns}."
                )
        for column, *ends in self.bounds:
            numbers = [end for end in ends if not isinstance(end, str)]
            fault = "they must be numbers" if len(numbers) < len(ends) else bounds_fault(numbers)
            if fault:
                raise UsageError(f"grading: bounds of {column!r}: {fault}.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (
            "choice 2 publishes the group of a value, choice 3 nothing of it",
            "sensitive numbers are published as a category and a degree",
        )

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        sensitive = sensitive_columns(table)
        if not sensitive:
            raise PromiseError('grading: the schema must name at least one column with role = "sensitive".')
        numeric = [c for c in sensitive if table.schema.columns[c].type is Type.NUMERIC]
        categorical = [c for c in sensitive if c not in numeric]
        grave = {column: names for column, *names in self.grave}
        _need_columns("grave", grave, categorical, "categorical")
        _need_columns("bounds", [str(column) for column, *_ in self.bounds], numeric, "numeric")
        choices = find_choices(table, categorical, grave, rng, self.choices, self.exceptions)
        namer = Namer(table, rng)
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        keys: dict[str, Aliases | Categories] = {}
        for done, column in enumerate(sensitive):
            progress(done, len(sensitive), f"grading {column}")
            if column in numeric:
                keys[column] = categories = self._categories(table, column, rng)
                texts, declared = _graded(table, column, categories)
            else:
                keys[column], meaning = namer.name(table.domains[column])
                texts, declared = _named(table, column, keys[column], choices), meaning
            labels[column], cells[column] = read_labels(table.domains[column], texts, declared)
        release, provenance = self.publish(table, labels, cells, [published_columns(table)], None, rng)
        form = table.schema.format
        missing = dict.fromkeys(text for column in sensitive for text in form.of(column).missing)
        published = {c: [labels[c].texts[i] for i in release.blocks[0].cell(c).tolist()] for c in keys}
        mark = unordered_fingerprint(published), release.rows
        return release, replace(provenance, key=Key(keys, tuple(missing) or form.missing, form.decimal, *mark))

    def _categories(self, table: Table, column: str, rng: np.random.Generator) -> Categories:
        """The categories of a numeric column: the given ones, or drawn from its numbers."""
        numbers, times = _numbers(table, column)
        decimals = decimals_of(numbers.tolist())
        given = [float(end) for name, *ends in self.bounds if name == column for end in ends]
        if given:
            made = Categories(tuple(given[::2]), tuple(given[1::2]), decimals, self.digits)
            outside = numbers[made.find(numbers) < 0]
            if len(outside):
                raise UsageError(
                    f"grading: the bounds of {column!r} must hold all its numbers. {len(outside)} of them "
                    f"{'is' if len(outside) == 1 else 'are'} in none{_such_as(outside[0])}."
                )
        else:
            made = replace(_drawn(numbers, times, self.categories, decimals, rng), digits=self.digits)
        _need_decodable(made, numbers, column)
        return made.listing(numbers)


def _need_columns(
    setting: str, named: Sequence[str] | Mapping[str, Sequence[str]], known: list[str], kind: str
) -> None:
    for column in named:
        if column not in known:
            there = ", ".join(known) or "none"
            raise UsageError(
                f"grading: {setting} must name a {kind} sensitive column. Got {column!r}; there are: {there}."
            )


def _numbers(table: Table, column: str) -> tuple[Floats, Ints]:
    """The distinct numbers of a column, and how often each occurs."""
    domain = table.domains[column]
    assert domain.numbers is not None
    times = np.bincount(table.codes[column], minlength=domain.size)[: len(domain.numbers)]
    return domain.numbers[times > 0], times[times > 0]


def _drawn(numbers: Floats, times: Ints, wanted: int, decimals: int, rng: np.random.Generator) -> Categories:
    """Categories with about as many people each; fewer than wanted where there are too few different numbers."""
    size = min(wanted, len(numbers))
    if not size:
        return Categories((), (), decimals)
    reached = np.cumsum(times) / times.sum()
    targets = (np.arange(1, size) + rng.uniform(-_SHIFT, _SHIFT, size - 1)) / size
    cuts = [0]
    for number, cut in enumerate(np.searchsorted(reached, targets) + 1, 1):
        cuts.append(min(max(int(cut), cuts[-1] + 1), len(numbers) - (size - number)))
    low, high = numbers[cuts], numbers[[*(cut - 1 for cut in cuts[1:]), len(numbers) - 1]]
    return Categories(tuple(low.tolist()), tuple(high.tolist()), decimals)


def _need_decodable(categories: Categories, numbers: Floats, column: str) -> None:
    """An error where numbers lie too close together for their graded forms, with all digits, to tell them apart."""
    if not len(numbers) or categories.digits < ALL_DIGITS:
        return
    graded, found = categories.grade(numbers), categories.find(numbers)
    greatest = categories.grade(np.array(categories.high))[found]
    for number, published, top in zip(numbers.tolist(), graded.tolist(), greatest.tolist(), strict=True):
        if published != top and categories.numbers(published) != (number, number):
            raise PromiseError(
                f"grading: the numbers of {column!r} lie too close together to be told apart in categories so wide"
                f"{_such_as(number)}. Ask for more categories, or round the numbers."
            )


def _such_as(number: float) -> str:
    """An example in a message, where values are asked for."""
    return f", such as {format_number(number)}" if is_revealing() else ""


def _graded(table: Table, column: str, categories: Categories) -> tuple[list[str], Declared]:
    """The published text of each row of a numeric column, and what it denotes."""
    domain = table.domains[column]
    assert domain.numbers is not None
    numbers, _ = _numbers(table, column)
    published = dict(zip(numbers.tolist(), categories.grade(numbers).tolist(), strict=True)) if len(numbers) else {}
    of_code = [
        format_number(published[n], domain.format.decimal) if n in published else "" for n in domain.numbers.tolist()
    ]
    of_code += domain.texts[domain.known :]
    return [of_code[code] for code in table.codes[column].tolist()], everything(domain)


def _named(table: Table, column: str, aliases: Aliases | Categories, choices: Choices) -> list[str]:
    """The published text of each row of a categorical column."""
    assert isinstance(aliases, Aliases)
    domain = table.domains[column]
    missing = domain.texts[domain.known :]
    of_choice = {GROUP: (*aliases.alias1, *missing), HIDE: (*aliases.alias2, *missing)}
    pairs = zip(table.codes[column].tolist(), choices.tolist(), strict=True)
    return [of_choice.get(choice, domain.texts)[code] for code, choice in pairs]
