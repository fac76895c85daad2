"""The form of an unknown file: delimiter, header line, decimal mark, marks for missing and suppressed values.

`read_raw` finds encoding and delimiter from the first line. Here the first rows count too: the delimiter must give all of
them the same number of cells (so `1,5;2,5` is two decimal numbers), and a first row that looks like the rows below it is
not a header. There are two kinds of marks for missing values: `?` or `N/A` mean nothing else; `NA`, `.` or `-` may be values
(Namibia, a grade), and count only if everything else in the column is numbers or dates. R writes `NA` in texts as well:
where it stands among numbers, or the file has R's row names, it means missing everywhere but among codes of countries.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.files.csv_tables import DELIMITERS, ROW_NAMES, STATED
from auditor.files.tables import read_raw, read_text
from auditor.model.errors import TableError
from auditor.model.schema import Marks, Others, TableFormat
from auditor.model.table import RawTable
from auditor.model.values import parse_number
from auditor.profiling.dates import date_format

if TYPE_CHECKING:
    import pandas as pd

CERTAIN_MARKS = ("?", "??", "N/A", "n/a", "#N/A", "N.A.", "n.a.", "NaN", "nan", "NULL", "null", "<NA>")
POSSIBLE_MARKS = ("NA", "na", ".", "..", "-", "--", "None", "none", "missing", "Missing")
WITHHELD = ("*", "**", "***", "****", "*****")
WITHHELD_NAMES = ("(withheld)", "(suppressed)", "(hidden)", "((withheld))")

_IS_WITHHELD = "mean suppressed values; rows with all quasi-identifiers suppressed count as suppressed rows"
_LOOKS_WITHHELD = (
    "look suppressed already; listed as missing so that the table reads as it is. If this is a release to be audited, "
    "profile it with --release; otherwise its suppressed rows count as a class"
)

_ALL_MARKS = frozenset((*CERTAIN_MARKS, *POSSIBLE_MARKS, *WITHHELD))
_LOOKED_AT = 500
_LONGEST_FORM = 100
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A table whose schema is not known."""

    raw: RawTable
    format: TableFormat  # its form; what looks suppressed counts as missing here
    found: tuple[str, ...]  # what was found out about the form, in words
    stated: TableFormat  # the form that a schema for the table should state


def read_unknown(source: str | Path | pd.DataFrame, name: str = "table", release: bool = False) -> Unknown:
    """A file or frame, with the form that a schema for it should state. `release` says that it is a release: what looks
    suppressed is suppressed."""
    found: list[str] = []
    if isinstance(source, str | Path):
        raw, form = _read_file(Path(source), found)
    else:
        raw, form = RawTable.from_frame(source, name), TableFormat()
    if not raw.columns:
        raise TableError(f"{raw.name}: the table must have at least one column.")
    if raw.rows == 0:
        raise TableError(f"{raw.name}: the table must have at least one row below its header.")
    counts = {column: Counter(map(str.strip, cells)) for column, cells in raw.columns.items()}
    form = _marks(counts, form, found, release)
    decimal = _decimal(counts, form)
    if decimal != form.decimal:
        form = replace(form, decimal=decimal)
        found.append("numbers have a decimal comma")
    return Unknown(raw, form, tuple(found), _as_release(form) if release else form)


def _as_release(form: TableFormat) -> TableFormat:
    """The form of a release: `*` is suppressed. Several stars are read as everything, so they are not listed. The original
    may have columns that the release has not: no figure needs them."""
    own = {name: Marks(_but_withheld(marks.missing or ())) for name, marks in form.own.items()}
    marks, hidden = _but_withheld(form.missing), TableFormat().suppressed
    return replace(form, missing=marks, suppressed=hidden, own=own, others=Others.IGNORE)


def _but_withheld(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text not in WITHHELD)


def _read_file(file: Path, found: list[str]) -> tuple[RawTable, TableFormat]:
    """A file with the best delimiter and header. If they give no table, it is read by `read_raw`, which may raise."""
    csv.field_size_limit(2**31 - 1)  # as in `read_raw`: a long cell is no fault
    try:
        text = read_text(file)
        stated = STATED.match(text)
        sign = stated[1] if stated else _delimiter(text)
        head, *body = _first_rows(text[stated.end() :] if stated else text, sign or ",")
    except (TableError, csv.Error, ValueError):  # not text, or empty
        return read_raw(file), TableFormat()
    form = TableFormat(delimiter=sign)
    if body and looks_headless(head, body):
        form = replace(form, header=tuple(f"column_{place}" for place in range(1, len(head) + 1)))
    try:
        raw = read_raw(file, form)
    except TableError:
        raw, form = read_raw(file), TableFormat()
    if form.header is not None:
        found.append("there is no header line (the first row looks like the others): the columns are numbered")
    if any("\n" in cell or "\r" in cell for cell in head) or len(head) == 1:
        form = _checked(raw, form, file)
    if raw.notes:
        said = replace(form, encoding="cp1252")
        again = _again(raw, said, file)
        if again is not None and not again.notes:
            found.append("the text is in Windows-1252, not UTF-8")
            form = said
    return raw, form


def _again(raw: RawTable, form: TableFormat, file: Path) -> RawTable | None:
    """The file read in a form, with its columns known; None if that gives a different table."""
    try:
        again = read_raw(file, form, tuple(raw.columns))
    except TableError:
        return None
    return again if dict(again.columns) == dict(raw.columns) else None


def _checked(raw: RawTable, form: TableFormat, file: Path) -> TableFormat:
    """The form, with or without its delimiter. Reading tries delimiters on the first line, which is only part of the first
    row if a cell contains a line break."""
    forms = [form, replace(form, delimiter=None), replace(form, delimiter=raw.delimiter)]
    return next((trial for trial in forms if _again(raw, trial, file) is not None), form)


def _first_rows(text: str, sign: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, skipinitialspace=True)
    rows = ([cell.strip() for cell in row] for row in islice(reader, _LOOKED_AT))
    return [row for row in rows if row and row != [""]]


def _delimiter(text: str) -> str | None:
    """The delimiter that gives the first rows the same number of cells, the most of all; None if there is none."""
    fits: dict[str, list[list[str]]] = {}
    for sign in DELIMITERS:
        rows = _first_rows(text, sign)
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            fits[sign] = rows
    if not fits:
        return None
    best = max(fits, key=lambda sign: len(fits[sign][0]))
    if best == "," and ";" in fits and any(_COMMA_NUMBER.fullmatch(cell) for row in fits[";"] for cell in row):
        return ";"
    return best


def looks_headless(head: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is data like the rows below it: numbers above numbers, values that occur again below."""
    numbers = [_number(cell) for cell in head]
    if len(head) > 1 and None not in numbers:
        steps = {float(b or 0) - float(a or 0) for a, b in pairwise(numbers)}
        if steps == {1.0}:
            return False  # years or other numbers, one per column, as in the header of a wide table
    like = unlike = 0
    for place, cell in enumerate(head):
        cells = [row[place] for row in body if len(row) > place]
        cells = [text for text in cells if text and text not in CERTAIN_MARKS]
        if not cells or not cell or cell in CERTAIN_MARKS or cell in POSSIBLE_MARKS:
            continue
        numeric = sum(_number(text) is not None for text in cells) >= 0.9 * len(cells)
        if numeric:
            like, unlike = (like + 1, unlike) if numbers[place] is not None else (like, unlike + 1)
        elif cell in cells or _telling(cell) in _common_form(cells):
            like += 1
        elif len(set(cells)) <= len(cells) / 4:
            unlike += 1  # in a column of few values this one would very likely occur again
    return like > unlike


def _telling(cell: str) -> str:
    """The form of a cell (each run of letters or digits as one character), if it is that of a code, date or address and not
    that of a word: `9-9-9`, `a9999999`, `a@a.a`."""
    digits = sum(sign.isdigit() for sign in cell)
    if digits < 3 and "@" not in cell and "://" not in cell:
        return ""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", cell[:_LONGEST_FORM]))


def _common_form(cells: Sequence[str]) -> set[str]:
    """The form of most of these cells, if it tells something."""
    form, count = Counter(map(_telling, cells)).most_common(1)[0]
    return {form} if form and count >= 0.8 * len(cells) else set()


def _number(text: str) -> float | None:
    return parse_number(text) if parse_number(text) is not None else parse_number(text, ",")


def _marks(counts: Mapping[str, Counter[str]], form: TableFormat, found: list[str], release: bool) -> TableFormat:
    """The form with the marks for missing and suppressed values that occur. A mark that is one in some columns and may be a
    value in others is stated for those columns only."""
    everywhere: Counter[str] = Counter()
    for cells in counts.values():
        everywhere.update({mark: cells[mark] for mark in _ALL_MARKS if mark in cells})
    marks = [mark for mark in CERTAIN_MARKS if everywhere[mark]]
    own: dict[str, list[str]] = {}
    for mark in POSSIBLE_MARKS:
        here = [name for name, cells in counts.items() if mark in cells]
        plain = [name for name in here if _plain_but(counts[name])]
        if mark == "NA" and (plain or ROW_NAMES in counts):  # R writes it in texts too
            plain = [name for name in here if name in plain or not _country_codes(counts[name])]
        if plain and plain == here:
            marks.append(mark)
        for name in plain if plain != here else ():
            own.setdefault(name, []).append(mark)
    withheld = [mark for mark in WITHHELD if everywhere[mark]]
    found += [f"{mark!r} means a missing value ({everywhere[mark]} cells)" for mark in marks]
    missing = (*marks, *withheld, "")
    own_marks = {name: Marks((*texts, *missing)) for name, texts in own.items()}
    found += [
        f"{' and '.join(map(repr, texts))} in column {name!r}: a missing value there" for name, texts in own.items()
    ]
    form = replace(form, missing=missing, own=own_marks)
    if "*" in withheld:
        used = {cell for cells in counts.values() for cell in cells}
        names = chain(WITHHELD_NAMES, (f"(withheld {number})" for number in count()))
        form = replace(form, suppressed=(next(name for name in names if name not in used),))
    if withheld:
        found.append(
            f"{' and '.join(map(repr, withheld))} ({sum(everywhere[mark] for mark in withheld)} cells) "
            + (_IS_WITHHELD if release else _LOOKS_WITHHELD)
        )
    return form


def _plain_but(cells: Counter[str]) -> bool:
    """Whether all but the marks are numbers or dates, and there are any."""
    others = [cell for cell in cells if cell and cell not in _ALL_MARKS]
    if not others:
        return False
    return all(_number(cell) is not None for cell in others) or date_format(others) is not None


def _country_codes(cells: Counter[str]) -> bool:
    """Whether all texts but the marks are two capital letters, among which NA is Namibia."""
    return all(len(cell) == 2 and cell.isupper() for cell in cells if cell and cell not in _ALL_MARKS)


def _decimal(counts: Mapping[str, Counter[str]], form: TableFormat) -> str:
    """The decimal mark with which more columns are numbers. `1,234` alone may be a thousand and decides nothing."""
    points = commas = 0
    for name, cells in counts.items():
        missing = form.of(name).missing
        values = [cell for cell in cells if cell not in missing]
        if not values or all(cell.lstrip("+-").isdigit() for cell in values):
            continue
        points += all(parse_number(cell) is not None for cell in values)
        with_comma = [cell for cell in values if "," in cell]
        commas += (
            bool(with_comma)
            and all(parse_number(cell, ",") is not None for cell in values)
            and not all(_THOUSANDS.fullmatch(cell) for cell in with_comma)
        )
    return "," if commas > points else "."
