"""Excel workbooks (.xlsx, .xlsm): one sheet is read as text.

Needs openpyxl (`pip install 'auditor[excel]'`). The sheet is the one that `[table] sheet` names, else the first visible one;
where there are several, a note says which. The header is the first row that is not blank; blank rows and columns are skipped.
A formula counts as the value that the workbook stores for it. Formulas without a stored value and merged cells are refused,
since they would read as missing values. So is a workbook that unpacks to far more than any real one (it is a zip archive).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditor.files.formats import Format
from auditor.files.unpacking import refuse_bomb
from auditor.model.cells import cell_texts
from auditor.model.discretion import cause, header, quote, told
from auditor.model.errors import TableError
from auditor.model.schema import TableFormat
from auditor.model.table import MOST_COLUMNS, RawTable, check_names

NEEDED = "needs openpyxl: pip install 'auditor[excel]'"
MOST_ROWS = 1_048_576  # the most rows that a sheet can have; a damaged file may claim more
_ZIP = b"PK\x03\x04"
_DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, NotImplementedError, OSError, RuntimeError, SyntaxError,
    TypeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What openpyxl raises for a damaged workbook: it depends on the damage."""

Cells = tuple[object, ...]


def is_workbook(content: bytes, file: Path) -> bool:
    """Whether a file is an Excel workbook. An error where a zip archive is damaged, and for workbooks that are not read."""
    if not content.startswith(_ZIP):
        return False
    try:
        parts = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except _DAMAGE as error:
        raise TableError(
            f"{file} is an Excel file or zip archive that is damaged or cut short ({told(error)})."
        ) from cause(error)
    names = {part.filename for part in parts}
    if "xl/workbook.bin" in names:
        raise TableError(f"{file} is a binary Excel file (.xlsb). Save it as .xlsx, or export it as CSV.")
    if "xl/workbook.xml" not in names:
        return False
    refuse_bomb(len(content), sum(part.file_size for part in parts), file)
    return True


def read_excel(content: bytes, file: Path, form: TableFormat, expected: Sequence[str] = ()) -> RawTable:
    """One sheet of a workbook as a table of text. The lines of its rows are their numbers in the sheet."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError as error:
        raise TableError(f"{file} is an Excel file. Reading it {NEEDED}. Or export it as CSV.") from error
    notes: list[str] = []
    try:
        # openpyxl warns of decorations that it drops, and prints about damaged styles; neither matters here
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            sheet = _sheet(_workbook(openpyxl, content, values=True), form, file, notes)
            where = f"{file}, sheet {quote(sheet.title)}"
            _refuse_merged(content, sheet, where)
            rows = list(_rows(sheet, where))
            width = max((len(cells) for _, cells in rows), default=0)
            if any(len(cells) < width or None in cells for _, cells in rows):
                _refuse_uncounted(_workbook(openpyxl, content, values=False)[sheet.title], dict(rows), where)
    except _DAMAGE as error:
        raise TableError(f"{file} is an Excel file that is damaged ({told(error)}).") from cause(error)
    return replace(_table(openpyxl, rows, where, form, expected), name=str(file), notes=tuple(notes))


def _workbook(openpyxl: Any, content: bytes, values: bool) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=values, keep_links=False)


def _sheet(book: Any, form: TableFormat, file: Path, notes: list[str]) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise TableError(f"{file}: the workbook must have a sheet with a table.")
    names = ", ".join(map(quote, list(sheets)[:12]))
    if form.sheet in sheets:
        return sheets[form.sheet]
    if form.sheet is not None and len(sheets) > 1:
        raise TableError(
            f"{file}: the workbook has no sheet {quote(form.sheet)} ([table] sheet). Its sheets are: {names}."
        )
    chosen = next((sheet for sheet in sheets.values() if sheet.sheet_state == "visible"), next(iter(sheets.values())))
    if form.sheet is not None:
        notes.append(
            f"{file}: read its only sheet, {quote(chosen.title)}, though the schema names {quote(form.sheet)}."
        )
    elif len(sheets) > 1:
        notes.append(f"{file}: read the sheet {quote(chosen.title)} of {names}. To read another, set [table] sheet.")
    return chosen


def _refuse_merged(content: bytes, sheet: Any, where: str) -> None:
    """An error where cells of the sheet are merged. Read-only sheets do not tell; their XML does, after the cells."""
    with zipfile.ZipFile(io.BytesIO(content)) as folder, folder.open(sheet._worksheet_path) as stream:
        tail = b""
        while block := stream.read(1 << 20):
            if b"<mergeCell " in tail + block:
                raise TableError(f"{where}: some cells are merged. Split them, and repeat the value in each.")
            tail = block[-16:]


def _rows(sheet: Any, where: str) -> Iterator[tuple[int, Cells]]:
    """The rows that are not blank, with their numbers and without empty cells at the end."""
    sheet.reset_dimensions()  # the size that the file states may be wrong
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_ROWS:
            raise TableError(f"{where}: a sheet may have at most {MOST_ROWS} rows. Export the table as CSV.")
        last = max((i for i, cell in enumerate(cells) if cell is not None and cell != ""), default=-1)
        if last >= 0:
            yield number, tuple(cells[: last + 1])


def _refuse_uncounted(sheet: Any, values: dict[int, Cells], where: str) -> None:
    """An error where a cell has a formula without a stored value."""
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(), 1):
        if number > MOST_ROWS:
            return
        there = values.get(number, ())
        for place, cell in enumerate(cells):
            if cell.data_type == "f" and (place >= len(there) or there[place] is None):
                raise TableError(
                    f"{where}, cell {cell.coordinate}: a formula without a stored value. Open the workbook in a spreadsheet "
                    "program and save it, or replace formulas by values."
                )


def _table(
    openpyxl: Any, rows: Sequence[tuple[int, Cells]], where: str, form: TableFormat, expected: Sequence[str]
) -> RawTable:
    """The table in the rows of a sheet."""
    if not rows:
        raise TableError(f"{where} is empty. It must have a header row and rows below it.")
    width = max(len(cells) for _, cells in rows)
    if width > MOST_COLUMNS:
        raise TableError(f"{where}: a table may have at most {MOST_COLUMNS} columns. Got {width}.")
    given = form.header
    places = [i for i in range(width) if any(i < len(cells) and cells[i] not in (None, "") for _, cells in rows)]
    if given is not None and len(given) == len(places):
        names = list(given)
        first = cell_texts([rows[0][1][i] if i < len(rows[0][1]) else None for i in places], form)
        body = rows[1:] if first == names else rows
    else:
        line, head = rows[0]
        names = ["" if (i >= len(head) or head[i] is None) else cell_texts([head[i]], form)[0] for i in places]
        if "" in names:
            column = openpyxl.utils.get_column_letter(places[names.index("")] + 1)
            raise TableError(f"{where}, cell {column}{line}: the column has no name. Name every column.")
        check_names(names, f"{where}, row {line}")
        body = rows[1:]
        again = [number for number, cells in body if cells == head] if len(names) > 1 else []
        if again:
            raise TableError(f"{where}, row {again[0]}: the header row is repeated. Remove it.")
    columns = {}
    for number, (name, place) in enumerate(zip(names, places, strict=True), 1):
        cells = [cells[place] if place < len(cells) else None for _, cells in body]
        texts = cell_texts(cells, form.of(name))
        nul = next((i for i, text in enumerate(texts) if "\x00" in text), None)
        if nul is not None:
            column = header(number, name, expected)
            raise TableError(f"{where}, row {body[nul][0]}, {column}: a NUL character. Remove it.")
        columns[name] = texts
    return RawTable(where, columns, None, [line for line, _ in body])


EXCEL = Format("Excel", (".xlsx", ".xlsm"), read_excel, is_workbook)
