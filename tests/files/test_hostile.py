"""Hostile files through the command line: a message that names file, place and remedy, or a right result; never a traceback,
a file left behind, a hang, or memory without bounds. `tests/hostile/README.md` says what each file is.

All commands run in one other process (`tests/support/hostile_child.py`), each with a limit of time; starting one for
each would take minutes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from auditor.files.tables import read_raw
from auditor.model.formulas import is_live
from auditor.model.schema import Schema
from tests.support.hostile_child import SECONDS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parents[1] / "hostile"
COMMANDS = ("audit", "anonymize", "profile")
MOST_HELD = 1_500_000
"""Kilobytes of memory that no command may hold more of."""
HEADER = b"age,town,disease\n"


@dataclass(frozen=True)
class Case:
    """A hostile file, what is said where it is refused (and by which commands), or its rows where it is read."""

    file: str
    says: tuple[str, ...] = ()
    rows: int | None = None
    refused_by: tuple[str, ...] = COMMANDS
    schema: str = "schema.toml"
    columns: int = 3
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)


REFUSED = [
    Case("truncated.csv.gz", ("the gzip file is damaged or cut short",)),
    Case("bomb.csv.gz", ("unpack to more than 100 MB and 200 times their size", "unpack it yourself")),
    Case("utf16_unmarked.csv", ("line 1: a NUL byte", 'try encoding = "utf-16-le"')),
    Case("neither_encoding.csv", ("line 2: not valid utf-8", "line 3: not valid cp1252", "Set the right")),
    Case("two_headers.csv", ("line 6: the header line is repeated", "Remove it"), 10, COMMANDS[:2]),
    Case("pasted.csv", ("line 6: begins with a byte order mark", "Remove the mark")),
    Case("ragged.csv", ("line 3: 2 cells, but there are 3 columns", "Quote cells", "There are 2 such lines")),
    Case("twice_named.csv", ("line 1: column 2 ('town') and column 3 have the same name. Rename one of them.",)),
    Case("unnamed_column.csv", ("line 1: column 3 has no name. Name every column.",)),
    Case("nul.csv", ("line 3: a NUL byte.",)),
    Case("number_spaces.csv", ("line 3, column 'age'", "'12 345'"), 2, COMMANDS[:2]),
    Case("number_overflow.csv", ("line 3, column 'age'", "'1e400'"), 2, COMMANDS[:2]),
    Case("number_huge.csv", ("line 3, column 'age'", "'123456789012345678901234567890'"), 2, ("anonymize",)),
    Case("number_arabic.csv", ("line 3, column 'age'", "'١٢'"), 2, COMMANDS[:2]),
    Case("number_not_a_number.csv", ("line 3, column 'age'", "'NaN'"), 2, COMMANDS[:2]),
    Case("empty.csv", ("is empty. It must have a header line and rows.",)),
    Case("header_only.csv", ("must have at least one row",)),
    Case("blank_lines.csv", ("is empty.",)),
    Case("unclosed_quote.csv", ("line 3: not a valid CSV line", "Check its quotes.")),
    Case("stray_quote.csv", ("line 3: not a valid CSV line", "Check its quotes.")),
    Case("picture.csv", ("is a PNG picture, which cannot be read. Export it as CSV.",)),
    Case("old_excel.xls", ("is an old Excel file (.xls), or one with a password", "Save it as .xlsx")),
    Case("damaged.xlsx", ("an Excel file or zip archive that is damaged or cut short",)),
    Case("unfolding.xlsx", ("an Excel file that is damaged", "amplification")),
    Case("formula.xlsx", ("sheet 'Sheet', cell A3: a formula without a stored value.", "save it")),
    Case("archive.zip", ("is a zip archive, not an Excel workbook, which cannot be read. Unpack it",)),
    Case("cut_short.parquet", ("a Parquet file that is damaged or cut short",)),
    Case("nested.parquet", ("'disease'", " must hold single values, not lists or structures.", "Flatten")),
    Case("commas.csv", ("line 2: a table may have at most 10000 columns. Got 1000001.", "Check the delimiter.")),
    Case("escapes.csv", (r"line 3, column 'age': ", r"'\x1b[2J\x1b]0;owned\x0730'"), 2, COMMANDS[:2]),
    Case("escapes_in_name.csv", (r"line 1: the name of column 4 ('\x1b[31mnote') must not hold control characters",)),
    Case("", only={"audit": ("all files must be of one kind", "manifest.json"), "anonymize": ("(Is a directory)",),
                   "profile": ("(Is a directory)",)}),
]  # fmt: skip
READ = [
    Case("utf16_marked.csv", rows=4),
    Case("windows_1252.csv", rows=2),
    Case("mixed_newlines.csv", rows=4),
    Case("carriage_returns.csv", rows=4),
    Case("quoted_breaks.csv", rows=2),
    Case("separator_statement.csv", rows=2),
    Case("decimal_comma.csv", rows=2, schema="decimal_comma.toml"),
    Case("formulas.csv", rows=8),
    Case("html.csv", rows=4, schema="html.toml"),
    Case("wide.csv", rows=4, columns=2000),
    Case("long_cell.csv", rows=2),
]
CASES = {case.file or "a folder": case for case in [*REFUSED, *READ]}


def _make_large(folder: Path) -> None:
    """The files that are too large to be kept: made anew for each run."""
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(HEADER + b"20,Oslo,flu\n" * 17_000_000, 1))  # 204 MB unpacked
    names = ",".join(["age", "town", "disease", *(f"c{i}" for i in range(1997))])
    rows = [",".join([age, "A", sick, *(str(i % 7) for i in range(1997))]) for age, sick in AGES]
    (folder / "wide.csv").write_text("\n".join([names, *rows]) + "\n")
    (folder / "long_cell.csv").write_bytes(HEADER + b'20,Oslo,flu\n20,"' + b"x\n" * 5_000_000 + b'y",cold\n')
    (folder / "commas.csv").write_bytes(HEADER + b"," * 1_000_000 + b"\n")


AGES = [("20", "flu"), ("20", "cold"), ("30", "flu"), ("30", "ulcer")]


@dataclass(frozen=True)
class Ran:
    """How a command on a hostile file ended, and the folder that was all its own."""

    code: int
    out: str
    err: str
    held: int
    folder: Path


def _arguments(command: str, file: Path, case: Case, folder: Path) -> list[str]:
    schema = str(HERE / case.schema)
    if command == "audit":
        few = ["--attacks", "homogeneity", "--html", f"{folder}/r.html", "--json", f"{folder}/r.json"]
        asked = ["--schema", schema, *few, "--markdown", f"{folder}/r.md"]
    elif command == "anonymize":
        asked = ["--schema", schema, "--method", "identity", "-o", f"{folder}/release.csv"]
    else:
        asked = ["-o", f"{folder}/schema.toml", "--taxonomies", "none"]
    return [command, str(file), *asked, "--reveal"]  # what messages say with the values of hostile files


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Ran]:
    """What became of every command on every file."""
    home = tmp_path_factory.mktemp("hostile")
    _make_large(home)
    jobs: list[tuple[str, str, Path]] = []
    arguments = []
    for name, case in CASES.items():
        for command in COMMANDS:
            folder = home / f"{command} {name}"
            folder.mkdir()
            file = home / case.file if (home / case.file).is_file() else HERE / case.file
            jobs.append((command, name, folder))
            arguments.append(_arguments(command, file, case, folder))
    child = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.hostile_child"],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        cwd=HERE.parent.parent,
        env=os.environ | {"COLUMNS": "100"},
        timeout=SECONDS * 10,
        check=False,
    )
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    stuck = "" if len(answers) == len(jobs) else f"ended at {jobs[len(answers)][:2]}: {child.stderr[-500:]}"
    assert (child.returncode, stuck) == (0, "")
    return {job[:2]: Ran(*answer, job[2]) for job, answer in zip(jobs, answers, strict=True)}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", CASES)
def test_hostile_files(ran: dict[tuple[str, str], Ran], name: str, command: str) -> None:
    case, run = CASES[name], ran[command, name]
    assert "Traceback" not in run.out + run.err
    assert "Internal error" not in run.err
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", run.out + run.err)  # nothing acts on the terminal
    assert run.held < MOST_HELD, f"{run.held} kB"
    said = case.only.get(command, case.says)
    if said and command in case.refused_by:
        assert run.code == 3, run.err
        assert run.err.startswith("Error: ")
        assert len(run.err) < 1000
        assert run.err.count("\n") <= 2
        for part in (case.file, *said):
            assert part in run.err
        assert list(run.folder.iterdir()) == []  # nothing was written
    else:
        assert run.code == 0, run.err
        assert list(run.folder.iterdir()) != []


def _record(run: Ran) -> Any:
    return json.loads((run.folder / "r.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [case.file for case in READ])
def test_what_is_read_is_right(ran: dict[tuple[str, str], Ran], name: str) -> None:
    case = CASES[name]
    facts = _record(ran["audit", name])["release"]
    assert facts["rows"] == case.rows
    assert facts["k"] == {"formulas.csv": 4, "long_cell.csv": 1}.get(name, 2)
    release = ran["anonymize", name].folder / "release.csv"
    schema = Schema.read(HERE / case.schema)
    raw = read_raw(release, schema.format, tuple(schema.columns))
    assert (raw.rows, len(raw.columns)) == (case.rows, case.columns)


def _published(ran: dict[tuple[str, str], Ran], name: str) -> list[list[str]]:
    """The cells of a release as any program reads them, its rows in order."""
    text = (ran["anonymize", name].folder / "release.csv").read_text(encoding="utf-8")
    return sorted(csv.reader(io.StringIO(text, newline=""), delimiter=";" if name == "decimal_comma.csv" else ","))


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("utf16_marked.csv", [["20", "Zürich", "cold"], ["20", "Zürich", "flu"], ["30", "Łódź", "flu"]]),
        ("windows_1252.csv", [["20", "Zürich", "5€ cold"], ["20", "Zürich", "flu"]]),
        ("mixed_newlines.csv", [["20", "A", "cold"], ["20", "A", "flu"], ["30", "B", "flu"], ["30", "B", "ulcer"]]),
        ("carriage_returns.csv", [["20", "Zürich", "cold"], ["20", "Zürich", "flu"]]),
        ("quoted_breaks.csv", [["20", "Zürich,\nSchweiz", "flu"], ["20", "Zürich,\nSchweiz", 'say "cold"']]),
        ("separator_statement.csv", [["20", "A, b", "cold"], ["20", "A, b", "flu"]]),
    ],
)
def test_values_are_kept(ran: dict[tuple[str, str], Ran], name: str, rows: list[list[str]]) -> None:
    assert _published(ran, name)[: len(rows)] == rows


def test_a_decimal_comma_is_one(ran: dict[tuple[str, str], Ran]) -> None:
    text = (ran["anonymize", "decimal_comma.csv"].folder / "release.csv").read_text(encoding="utf-8")
    assert list(csv.reader(io.StringIO(text)))[1] in (["20,5", "A", "flu"], ["20,5", "A", "cold"])


def test_what_had_to_be_assumed_is_said(ran: dict[tuple[str, str], Ran]) -> None:
    # Without a schema nobody knows what the columns are called, so a first line that stands again may be a value.
    assert "there is no header line" in ran["profile", "two_headers.csv"].out
    assert "read as Windows-1252" in json.dumps(_record(ran["audit", "windows_1252.csv"]))


def test_no_cell_of_a_release_is_a_formula(ran: dict[tuple[str, str], Ran]) -> None:
    cells = [cell for row in _published(ran, "formulas.csv") for cell in row]
    assert "'=cmd|' /C calc'!A0" in cells
    assert "-5" in cells
    assert [cell for cell in cells if is_live(cell) and not cell.startswith("'")] == []
    # What was meant reads back: seven diseases are as in the file, and one had its apostrophe from another program.
    original = read_raw(HERE / "formulas.csv")
    again = read_raw(ran["anonymize", "formulas.csv"].folder / "release.csv")
    assert sorted(again.columns["disease"]) == sorted(original.columns["disease"])
    assert "=quoted" in again.columns["disease"]


def test_the_report_shows_tags_and_does_not_run_them(ran: dict[tuple[str, str], Ran]) -> None:
    folder = ran["audit", "html.csv"].folder
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    markdown = (folder / "r.md").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in markdown
    assert "<script" not in markdown
    assert "<img" not in markdown


def test_every_hostile_file_is_tried() -> None:
    kept = {
        file.name for file in HERE.iterdir() if file.suffix not in (".md", ".toml") and file.name != ".gitattributes"
    }
    assert kept <= set(CASES)
    listed = (HERE / "README.md").read_text(encoding="utf-8")
    assert [name for name in CASES if f"`{name}`" not in listed and name != "a folder"] == []
    assert len(CASES) >= 20
