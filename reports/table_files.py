"""The tables of a report as files for papers and scripts: each as CSV and as LaTeX.

`figures.csv` is for scripts: every figure of the record with its full digits, one row a figure. All other tables are those of
the report, with its words and its rounding; where a run has several releases, their tables are put together, with the
release in the first column, so that none is left out. LaTeX tables use booktabs, long ones longtable. Names come from files
of others: they are escaped for LaTeX, and no cell of a CSV file begins a formula of a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from auditor.model.record.record import AuditRecord, RunRecord, figure_rows
from reports.pictures.detailed import detailed
from reports.pictures.points import numbers
from reports.tables.frontier import frontier_table, left_out_table
from reports.tables.matrix import matrix
from reports.tables.search import SEARCH_TABLES, searches
from reports.tables.statistics import class_table, statistics_table
from reports.tables.sweeps import sweep_table, sweeps
from reports.tables.tables import Table, overview, policy_table, risk_table, sorted_risks, utility_table
from reports.text import NONE, THIN, clean, slug

FIGURES = "figures.csv"
LONG = 40
"""A table with more rows goes over several pages."""
_LEFT_OUT = ("detail", "worst_rows")  # of a figure: too long for a cell; the record has them
_OF_A_RELEASE: Mapping[str, Callable[[AuditRecord], Table | None]] = {
    "policy": lambda record: policy_table(record) if record.policy is not None else None,
    "attacks": lambda record: risk_table(sorted_risks(record)),
    "classes": class_table,
    "sensitive-columns": statistics_table,
    "utility": lambda record: utility_table(record.utility) if record.utility else None,
}
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", THIN: r"\,", NONE: "--",
    "−": "$-$", "…": r"\ldots{}", "≥": r"$\ge$", "≤": r"$\le$", "×": r"$\times$", "ε": r"$\varepsilon$", "τ": r"$\tau$",
    "β": r"$\beta$", "δ": r"$\delta$", "α": r"$\alpha$", "✓": r"$\surd$", "[": "{[}", "*": "{*}",
}  # fmt: skip
"""How characters are written. Next after the end of a row or a rule, a bare `[` or `*` would be read as its option."""


def tables(run: RunRecord) -> dict[str, Table]:
    """The tables of a run, by their names, in the order of the report. Empty ones are left out."""
    made: dict[str, Table] = {}
    for wanted, table in _tables(run):
        if table is not None and table.rows:
            name, copy = wanted, 2
            while name in made:
                name, copy = f"{wanted}-{copy}", copy + 1
            made[name] = table
    return made


def table_files(run: RunRecord, folder: Path) -> dict[Path, str | bytes]:
    """What to write into a folder: each table as CSV and as LaTeX, and all figures with their full digits."""
    return named_files(tables(run), folder) | ({folder / FIGURES: figures_csv(run)} if run.records else {})


def named_files(found: Mapping[str, Table], folder: Path) -> dict[Path, str | bytes]:
    """Tables as the contents of files, by their names."""
    files: dict[Path, str | bytes] = {}
    for name, table in found.items():
        files[folder / f"{name}.csv"] = csv_table(table)
        files[folder / f"{name}.tex"] = latex_table(table)
    return files


def _tables(run: RunRecord) -> Iterator[tuple[str, Table | None]]:
    several = len(run.records) > 1
    for swept in sweeps(run):
        yield f"known-attributes-{slug(swept.title)}", sweep_table(swept)
    for sought in searches(run):
        for name, table in zip(SEARCH_TABLES, sought.tables, strict=True):
            yield f"search-{slug(sought.title)}-{slug(name)}", table
    if run.comparison is not None:
        yield "frontier", frontier_table(run, run.comparison)
        yield "left-out", left_out_table(run.comparison)
    elif several:
        yield "overview", overview(run)
    if run.records:
        yield "adversaries", matrix(run, detailed(run, len(run.records)))
    for name, make in _OF_A_RELEASE.items():
        yield name, _together(run, make)


def _together(run: RunRecord, make: Callable[[AuditRecord], Table | None]) -> Table | None:
    """The tables of all releases as one, with the number and the name of the release in front where there are several."""
    if len(run.records) == 1:
        return make(run.records[0])
    headings: dict[str, bool] = {}
    rows: list[dict[str, str]] = []
    for place, number in sorted(numbers(run).items(), key=lambda pair: (pair[1], pair[0])):
        record = run.records[place - 1]
        table = make(record)
        if table is None:
            continue
        name = f"{number} {clean(record.release.name, 60)}"
        rows += [dict(zip(table.headings, row, strict=True)) | {"": name} for row in table.rows]
        for i, heading in enumerate(table.headings):
            headings.setdefault(heading, i in table.numeric)
    cells = tuple((row[""], *(row.get(heading, NONE) for heading in headings)) for row in rows)
    numeric = frozenset(i for i, is_numeric in enumerate(headings.values(), 1) if is_numeric)
    return Table(("release", *headings), cells, numeric)


def csv_table(table: Table) -> str:
    """A table as CSV, its numbers as programs write them: no space between thousands, a plain minus."""
    plain = str.maketrans({THIN: "", "−": "-"})
    rows = ([cell.translate(plain) if cell != NONE else "" for cell in row] for row in table.rows)
    return _csv(table.headings, rows)


def figures_csv(run: RunRecord) -> str:
    """Every figure of a run with its full digits, one row a figure."""
    rows = [
        {"release": record.release.name, **{key: value for key, value in row.items() if key not in _LEFT_OUT}}
        for record in run.records
        for row in figure_rows(record)
    ]
    headings = tuple(dict.fromkeys(key for row in rows for key in row))
    return _csv(headings, ([_plain(row.get(heading)) for heading in headings] for row in rows))


def _plain(value: object) -> str:
    """A value of the record as a cell."""
    if value is None or value == {}:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return repr(value)
    return clean(json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value, 2000)


def _csv(headings: tuple[str, ...], rows: Iterable[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(heading) for heading in headings])
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; a negative number stays one."""
    if not cell.startswith(("=", "@", "+", "-")):
        return cell
    try:
        float(cell.split(" ")[0])
    except ValueError:
        return f"'{cell}"
    return cell


def latex_table(table: Table) -> str:
    """A table as LaTeX, for booktabs; long ones go over several pages with longtable."""
    columns = "".join("r" if i in table.numeric else "l" for i in range(len(table.headings)))
    long = len(table.rows) > LONG
    kind, packages = ("longtable", "booktabs and longtable") if long else ("tabular", "booktabs")
    head = f"{_row(table.headings)}\n\\midrule" + ("\n\\endhead" if long else "")
    body = "\n".join(_row(row) for row in table.rows)
    return (
        f"% needs the LaTeX packages {packages}\n\\begin{{{kind}}}{{{columns}}}\n\\toprule\n{head}\n{body}\n\\bottomrule\n"
        f"\\end{{{kind}}}\n"
    )


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join("".join(_LATEX.get(char, char) for char in clean(cell, 2000)) for cell in cells) + r" \\"
