"""No raw value of a person reaches an output: canaries are planted in the data, and every output is searched for them.

One person has values that nobody else has: in the identifier, in quasi-identifiers (whose labels only they have) and in
sensitive columns. A release publishes values, that is its job; what the tool says *about* it, and about files that it cannot
read, must not, unless somebody asks with --reveal. Each failure is tried as it is, with --debug, and with --reveal where it
helps to see the value.
"""

from __future__ import annotations

import gzip
import http.client
import io
import json
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import auditor
from reports.serving import record_server
from tests.conftest import Ended

Cli = Callable[..., Ended]

CANARIES = ("Kanarienvogel", "canary-street-7", "CANARYitis", "98765432", "canary@example.org")
NAME, STREET, ILL, INCOME, MAIL = CANARIES
SCHEMA = """
[columns.mail]
role = "identifier"
[columns.name]
role = "quasi"
[columns.street]
role = "quasi"
[columns.age]
role = "quasi"
type = "numeric"
[columns.disease]
role = "sensitive"
[columns.income]
role = "sensitive"
type = "numeric"
"""
HEADER = "mail,name,street,age,disease,income"
ROW = f"{MAIL},{NAME},{STREET},41,{ILL},{INCOME}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(3)
    lines = [HEADER]
    for i in range(60):
        name, street = rng.choice(["Ann", "Bob", "Eve"]), rng.choice(["north", "south"])
        disease, income = rng.choice(["flu", "cold", "gout"]), rng.integers(10, 40) * 100
        lines.append(f"p{i}@example.org,{name},{street},{rng.integers(20, 60)},{disease},{income}")
    lines[7] = ROW
    lines[31] = f"p30@example.org,{NAME},{STREET},42,{ILL},{INCOME}"
    (place / "data.csv").write_text("\n".join(lines) + "\n")
    (place / "schema.toml").write_text(SCHEMA)
    return place


def found_in(text: str) -> list[str]:
    """The canaries in a text, however they are written."""
    return [canary for canary in CANARIES if canary.lower() in text.lower()]


def searched(folder: Path, *said: Ended) -> None:
    """Every file of a folder, and what was said, without a canary."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    texts = [(text, where) for one in said for text, where in ((one.out, "stdout"), (one.err, "stderr"))]
    for text, where in [*texts, *((f.read_bytes().decode("latin-1"), str(f)) for f in files)]:
        assert not found_in(text), (found_in(text), where)


# ----- commands that succeed ----------------------------------------------------------------------------------------


METHODS = [
    ("identity", []),
    ("mondrian", ["k=3"]),
    ("anatomy", ["l=2"]),
    ("slicing", ["bucket_size=4"]),
    ("mdav", ["k=3"]),
    ("grading", []),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_no_value_of_a_person_is_in_an_audit(
    auditor_cli: Cli, folder: Path, tmp_path: Path, method: str, settings: list[str]
) -> None:
    release, private, out = tmp_path / "release.csv", tmp_path / "private.csv", tmp_path / "out"
    common = ("--schema", folder / "schema.toml")
    chosen = [part for setting in settings for part in ("--set", setting)]
    made = auditor_cli(
        "anonymize", folder / "data.csv", *common, "--method", method, *chosen, "-o", release, "--provenance", private
    )
    assert made.code == 0, made.err
    out.mkdir()
    searched(out, made)
    files = [part for kind in ("html", "json", "markdown", "junit") for part in (f"--{kind}", out / f"report.{kind}")]
    ended = auditor_cli(
        "audit", release, *common, "--original", folder / "data.csv", "--provenance", private, "--policy", "strict",
        *files, "--plots", out / "plots", "--tables", out / "tables",
    )  # fmt: skip
    assert ended.code == 1, ended.err  # strict
    searched(out, ended)
    alone = auditor_cli("audit", release, *common, "--policy", "strict", "--json", out / "alone.json")
    assert alone.code == 1, alone.err
    searched(out, alone)
    drawn = auditor_cli("render", out / "report.json", out / "alone.json", "--html", out / "both.html", "--debug")
    assert drawn.code == 0, drawn.err
    searched(out, drawn)


@pytest.mark.slow
def test_a_planted_value_would_be_found(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    """The search itself works: with --reveal the claimed values are there, wherever the option stands."""
    release, private = tmp_path / "release.csv", tmp_path / "private.csv"
    common = ("--schema", folder / "schema.toml")
    chosen = ("--method", "identity", "-o", release, "--provenance", private)
    assert auditor_cli("anonymize", folder / "data.csv", *common, *chosen).code == 0
    asked = ("--original", folder / "data.csv", "--provenance", private, "--targets", "7", "--attacks", "homogeneity")
    audit = ("audit", release, *common, *asked, "--utility", "none", "--json", "-")
    for command, there in ((audit, False), ((*audit, "--reveal"), True), (("--reveal", *audit), True)):
        ended = auditor_cli(*command)
        assert ended.code == 0, ended.err
        assert (ILL in ended.out) is there


def test_how_labels_are_read(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    """Labels that one person has are not among the examples."""
    explain = ("audit", folder / "data.csv", "--schema", folder / "schema.toml", "--explain-labels")
    ended = auditor_cli(*explain, "--json", tmp_path / "labels.json")
    assert ended.code == 0, ended.err
    searched(tmp_path, ended)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    few = (
        f"{HEADER}\n" + 'a@b.c,"{' + f"{NAME}, Ann" + '}",*,[41;98765432],gout,1\n' + "b@b.c,Ann,*,[1;2],gout,1\n" * 12
    )
    (tmp_path / "release.csv").write_text(few.replace("[", '"[').replace("]", ']"').replace(";", ", "))
    explain = ("audit", tmp_path / "release.csv", "--schema", tmp_path / "schema.toml", "--explain-labels")
    hidden, shown = auditor_cli(*explain), auditor_cli(*explain, "--reveal")
    assert (hidden.code, shown.code) == (0, 0), hidden.err
    assert found_in(hidden.out + hidden.err) == []
    assert NAME in found_in(shown.out)


@pytest.mark.slow
def test_no_value_of_a_person_is_in_a_scan(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    """An engine counts the rows; its progress, notes and worst classes name nobody."""
    ended = auditor_cli(
        "audit", folder / "data.csv", "--schema", folder / "schema.toml", "--engine", "duckdb", "--policy", "strict",
        "--json", tmp_path / "scan.json", "--html", tmp_path / "scan.html",
    )  # fmt: skip
    assert ended.code == 1, ended.err
    searched(tmp_path, ended)


@pytest.mark.slow
def test_no_value_of_a_person_is_in_a_comparison(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = auditor_cli(
        "compare", folder / "data.csv", "--schema", folder / "schema.toml", "--methods", "mondrian,anatomy", "--k", "3",
        "--l", "2,5", "--jobs", "1", "-o", out,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    searched(out, ended)


@pytest.mark.slow
def test_no_value_of_a_person_is_in_a_red_team_report(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    scenario, out = tmp_path / "scenario.toml", tmp_path / "out"
    scenario.write_text(
        f'[data]\nfile = "{folder / "data.csv"}"\nschema = "{folder / "schema.toml"}"\n'
        '[[release]]\nmethod = "mondrian"\nk = 3\n[[adversary]]\nname = "prosecutor"\n'
    )
    ended = auditor_cli("redteam", scenario, "-o", out, "--utility", "none")
    assert ended.code == 0, ended.err
    searched(out, ended)
    swept = auditor_cli("redteam", scenario, "--sweep", "known=1,2", "--attacks", "linking", "--reveal")
    assert swept.code == 0, swept.err
    missed = auditor_cli("redteam", scenario, "--targets", MAIL.replace("@", "@x."), "--debug")
    assert missed.code == 2
    searched(out, swept, missed)


def test_mending_and_decoding_say_nothing_of_values(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    common, key = ("--schema", folder / "schema.toml"), tmp_path / "key.json"
    names = {name: tmp_path / name for name in ("graded.csv", "mended.csv", "decoded.csv")}
    made = auditor_cli(
        "anonymize", folder / "data.csv", *common, "--method", "grading", "-o", names["graded.csv"], "--key", key
    )
    mended = auditor_cli(
        "mend", folder / "data.csv", *common, "--coarsen", "age", "--suppress", "k<2", "-o", names["mended.csv"]
    )
    decoded = auditor_cli("decode", names["graded.csv"], "--key", key, "-o", names["decoded.csv"])
    for ended in (made, mended, decoded):
        assert ended.code == 0, ended.err
        assert not found_in(ended.out + ended.err)
    assert ILL in names["decoded.csv"].read_text()  # decoding puts values back: that is its result


def test_a_profile(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    """No value of an identifier or a sensitive column is proposed, and none that few rows have is printed."""
    out = tmp_path / "out"
    out.mkdir()
    ended = auditor_cli("profile", folder / "data.csv", "-o", out / "schema.toml", "--json", out / "profile.json")
    assert ended.code == 0, ended.err
    searched(out, ended)
    rows = [f"{20 + i % 3},{d},{'high' if i else 'very high'}" for i, d in enumerate(["1950-01-02"] * 30)]
    rows += [f"30,{1960 + i // 12}-{i % 12 + 1:02d}-13,low" for i in range(30)]
    dates = tmp_path / "dates.csv"
    dates.write_text("age,born,level\n" + "\n".join([*rows, "31,1987-06-05,medium"]) + "\n")
    hidden, shown = auditor_cli("profile", dates), auditor_cli("profile", dates, "--reveal")
    assert (hidden.code, shown.code) == (0, 0)
    assert "1987-06" not in hidden.out + hidden.err
    assert "1987-06-05" in shown.out
    assert "--reveal prints it" in hidden.out
    (tmp_path / "printed.toml").write_text(hidden.out)  # it still reads the table
    assert auditor_cli(
        "anonymize", dates, "--schema", tmp_path / "printed.toml", "--method", "identity", "-o", tmp_path / "i.csv"
    ).code == 0  # fmt: skip


@pytest.mark.parametrize("command", ["list", "explain", "export", "demo", "serve", "render", "decode", "compare"])
def test_every_command_takes_the_option(auditor_cli: Cli, command: str) -> None:
    told = auditor_cli(command, "--help").out
    assert "--reveal" in told
    assert "--debug" in told


# ----- commands that fail ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A failure: files to write, the command, and the canary that --reveal shows, if it helps to see one."""

    files: dict[str, str | bytes]
    command: Sequence[str]
    shown: str | None
    said: str = ""


def table(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, "a@b.c,Ann,north,20,flu,1000", *rows]) + "\n"


def declared(**columns: str) -> str:
    """The schema with further settings of columns."""
    text = SCHEMA
    for name, settings in columns.items():
        text = text.replace(f"[columns.{name}]\n", f"[columns.{name}]\n{settings}\n")
    return text


ANONYMIZE = ("anonymize", "data.csv", "--schema", "schema.toml", "--method", "identity", "-o", "out.csv")
AUDIT = ("audit", "data.csv", "--schema", "schema.toml", "--utility", "none")
BY_ROWS = (*AUDIT, "--original", "original.csv", "--match", "rows")
DUCKDB = (*AUDIT, "--engine", "duckdb")
KEY = '{"format": "auditor-key/1", "columns": {"disease": {"aliases": [%s]}}}'
ALIAS = f'{{"value": "{ILL}", "alias1": "{NAME}", "alias2": "{NAME}"}}'
PRIVATE = ("--original", "original.csv", "--provenance", "private.csv")


def parquet(**columns: object) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def excel(*rows: Sequence[object]) -> bytes:
    import openpyxl

    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(list(row))
    book.save(stream)
    return stream.getvalue()


def typed(**changes: object) -> dict[str, list[object]]:
    cells: dict[str, list[object]] = {
        "mail": ["a@b.c", MAIL], "name": ["Ann", NAME], "street": ["north", STREET], "age": [20, 41],
        "disease": ["flu", ILL], "income": [1000, 98765432],
    }  # fmt: skip
    return cells | {name: ["flu" if name != "age" else "20", value] for name, value in changes.items()}


def renamed(*pairs: tuple[str, str]) -> str:
    header = HEADER
    for old, new in pairs:
        header = header.replace(old, new)
    return header


CASES: dict[str, Case] = {
    "a text for a number": Case(
        {"data.csv": table(ROW.replace(",41,", f",{NAME},"))}, ANONYMIZE, NAME, "line 3, column 'age'"
    ),
    "a number out of its domain": Case(
        {"data.csv": table(ROW), "schema.toml": declared(income="domain = [0, 9000]")},
        ANONYMIZE,
        INCOME,
        "column 'income'",
    ),
    "a value outside the taxonomy": Case(
        {"data.csv": table(ROW), "schema.toml": declared(disease='taxonomy = {a = ["flu"], b = ["cold", "gout"]}')},
        ANONYMIZE,
        ILL,
        "the taxonomy of [columns.disease]",
    ),
    "a value like a known one": Case(
        {
            "data.csv": table(ROW),
            "schema.toml": declared(disease=f'taxonomy = {{a = ["flu"], b = ["{ILL}x", "gout"]}}'),
        },
        ANONYMIZE,
        ILL,
    ),
    "a value outside the order": Case(
        {"data.csv": table(ROW), "schema.toml": declared(street='type = "ordinal"\norder = ["north", "south"]')},
        ANONYMIZE,
        STREET,
        "the order of [columns.street]",
    ),
    "a value outside the domain": Case(
        {"data.csv": table(ROW), "schema.toml": declared(name='domain = ["Ann", "Bob"]')}, ANONYMIZE, NAME
    ),
    "a line with a cell too many": Case({"data.csv": table(f"{ROW},{NAME}")}, ANONYMIZE, None, "line 3: 7 cells"),
    "an open quote": Case({"data.csv": table(f'"{ROW}')}, ANONYMIZE, None, "line 3"),
    "a wrong encoding": Case(
        {"data.csv": table(ROW).encode() + b"\xff\n", "schema.toml": '[table]\nencoding = "utf-8"\n' + SCHEMA},
        ANONYMIZE,
        None,
        "not valid utf-8",
    ),
    "a NUL byte": Case({"data.csv": table(ROW).encode() + b"\x00"}, ANONYMIZE, None, "a NUL byte"),
    "no header": Case({"data.csv": f"{ROW}\n{ROW}\n"}, ANONYMIZE, NAME, "does not name column 1, column 2,"),
    "no header, others are neutral": Case(
        {"data.csv": f"{ROW}\n{ROW}\n", "schema.toml": '[table]\nothers = "neutral"\n' + SCHEMA},
        ANONYMIZE,
        NAME,
        "It has column 1, ",
    ),
    "no header, a value twice": Case(
        {"data.csv": f"{NAME},{NAME},3,4,5,6\n"}, ANONYMIZE, NAME, "line 1: column 1 and column 2 have the same name"
    ),
    "no header, a control character": Case(
        {"data.csv": f"{NAME}\x1b[31m,2,3,4,5,6\n"}, ANONYMIZE, NAME, "the name of column 1 must not hold control"
    ),
    "no header, other delimiter": Case(
        {"data.csv": f"{ROW}\n{ROW}\n".replace(",", ";"), "schema.toml": '[table]\ndelimiter = ","\n' + SCHEMA},
        ANONYMIZE,
        None,
    ),
    "no header in a release": Case({"data.csv": f"{ROW}\n{ROW}\n"}, AUDIT, NAME, "does not name column 1"),
    "no header in a release, others are neutral": Case(
        {"data.csv": f"{ROW}\n{ROW}\n", "schema.toml": '[table]\nothers = "neutral"\n' + SCHEMA},
        AUDIT,
        None,
        "names none of its columns",
    ),
    "no header in a population": Case(
        {"data.csv": table(), "original.csv": table(), "people.csv": f"{ROW}\n{ROW}\n"},
        (*BY_ROWS, "--population", "people.csv"),
        NAME,
        "does not name column 1",
    ),
    "no header in a population, others are neutral": Case(
        {
            "data.csv": table(),
            "original.csv": table(),
            "people.csv": f"{ROW}\n{ROW}\n",
            "schema.toml": '[table]\nothers = "neutral"\n' + SCHEMA,
        },
        (*BY_ROWS, "--population", "people.csv"),
        None,
    ),
    "data for rows to suppress": Case(
        {"data.csv": table(ROW)},
        ("mend", "data.csv", "--schema", "schema.toml", "--suppress-rows", "@data.csv", "-o", "out.csv"),
        "mail",
    ),
    "no header in a scan": Case({"data.csv": f"{ROW}\n{ROW}\n"}, DUCKDB, NAME, "does not name column 1"),
    "a column too many": Case(
        {"data.csv": table(f"{ROW},9", header=f"{HEADER},{NAME}").replace("1000", "1000,9")},
        ANONYMIZE,
        NAME,
        "does not name column 7 of",
    ),
    "a wrong label": Case(
        {"data.csv": table(ROW.replace(",41,", f",{NAME},"))}, AUDIT, NAME, "line 3, column 'age': a label of 13"
    ),
    "a label with reversed bounds": Case(
        {"data.csv": table(ROW.replace(",41,", ",98765432-3,"))}, AUDIT, INCOME, "its bounds are reversed"
    ),
    "a set with an unknown member": Case(
        {
            "data.csv": table(ROW.replace(NAME, f'"{{Ann, {NAME}}}"')),
            "schema.toml": declared(name='taxonomy = {a = ["Ann"], b = ["Bob", "Eve"]}'),
        },
        AUDIT,
        NAME,
        "a part of 13 characters is none",
    ),
    "a label in another notation": Case(
        {
            "data.csv": table(ROW.replace(",41,", ",[41;98765432],")),
            "schema.toml": declared(age='notation = ["value"]'),
        },
        AUDIT,
        INCOME,
        "denotes no value in the notations",
    ),
    "a label that the original lacks": Case(
        {"data.csv": table(ROW), "original.csv": table(ROW.replace(ILL, "gout"))}, BY_ROWS, ILL, "column 'disease'"
    ),
    "a wrong label in a scan": Case(
        {"data.csv": table(ROW.replace(",41,", f",{NAME},"))}, DUCKDB, NAME, "column 'age'"
    ),
    "a line with a cell too many in a scan": Case({"data.csv": table(f"{ROW},{NAME}")}, DUCKDB, None),
    "a population that cannot be read": Case(
        {"data.csv": table(ROW), "people.csv": table(ROW.replace(",41,", f",{NAME},"))},
        (*DUCKDB, "--population", "people.csv"),
        NAME,
    ),
    "ids that occur twice": Case(
        {"data.csv": table(ROW, ROW), "original.csv": table(ROW, ROW)},
        (*AUDIT, "--original", "original.csv", "--match", "mail"),
        MAIL,
        "line 4, column 'mail': an id of 18 characters",
    ),
    "ids that occur twice in the release": Case(
        {"data.csv": table(ROW, ROW), "original.csv": table(ROW)},
        (*AUDIT, "--original", "original.csv", "--match", "mail"),
        None,
    ),
    "an unknown target": Case(
        {"data.csv": table(), "original.csv": table()},
        (*BY_ROWS, "--targets", MAIL),
        MAIL,
        "number 1 in the list is not in mail",
    ),
    "unknown targets in a file": Case(
        {"data.csv": table(), "original.csv": table(), "who.txt": f"1\n{MAIL}\n"},
        (*BY_ROWS, "--targets", "@who.txt"),
        MAIL,
    ),
    "a row number that is none": Case(
        {"data.csv": table(), "original.csv": table()}, (*BY_ROWS, "--targets", INCOME), INCOME
    ),
    "a target by its value": Case(
        {"data.csv": table(), "original.csv": table()}, (*BY_ROWS, "--targets", f"disease={ILL}"), ILL
    ),
    "a provenance with a text": Case(
        {"data.csv": table(ROW), "original.csv": table(ROW), "private.csv": f"row,fragment_1\n1,{NAME}\n"},
        (*AUDIT, *PRIVATE),
        None,
        "line 2: must hold whole numbers",
    ),
    "a provenance with a number too large": Case(
        {"data.csv": table(ROW), "original.csv": table(ROW), "private.csv": f"row,fragment_1\n{INCOME},1\n"},
        (*AUDIT, *PRIVATE),
        None,
    ),
    "data for a provenance": Case(
        {"data.csv": table(ROW), "original.csv": table(ROW), "private.csv": f"{ROW}\n{ROW}\n"}, (*AUDIT, *PRIVATE), None
    ),
    "data for a secret": Case({"data.csv": table(ROW)}, (*ANONYMIZE, "--secret", "data.csv"), None),
    "data for a schema": Case({"data.csv": table(ROW), "schema.toml": ROW}, ANONYMIZE, None),
    "data for a policy": Case({"data.csv": table(ROW)}, (*AUDIT, "--policy", "data.csv"), None),
    "data for a scenario": Case({"data.csv": table(ROW)}, ("redteam", "data.csv"), None),
    "data for a record": Case({"data.csv": table(ROW)}, ("render", "data.csv"), None),
    "a record with a value for its format": Case({"r.json": json.dumps({"format": NAME})}, ("render", "r.json"), None),
    "data for a key": Case(
        {"data.csv": table(ROW)}, ("decode", "data.csv", "--key", "data.csv", "-o", "out.csv"), None
    ),
    "a key with an alias twice": Case(
        {"data.csv": table(ROW), "key.json": KEY % ALIAS},
        ("decode", "data.csv", "--key", "key.json", "-o", "out.csv"),
        NAME,
    ),
    "a key with a wrong part": Case(
        {
            "data.csv": table(ROW),
            "key.json": (KEY % ALIAS).replace('auditor-key/1",', f'auditor-key/1", "missing": "{NAME}",'),
        },
        ("decode", "data.csv", "--key", "key.json", "-o", "out.csv"),
        NAME,
        "missing must be a list of texts. Got a text of 13",
    ),
    "a key with reversed categories": Case(
        {
            "data.csv": table(ROW),
            "key.json": KEY.replace("disease", "income").replace("aliases", "categories")
            % f'{{"min": {INCOME}, "max": 3}}',
        },
        ("decode", "data.csv", "--key", "key.json", "-o", "out.csv"),
        None,
        "Category 1 does",
    ),
    "declared labels that mean nothing": Case(
        {
            "data.csv": table(ROW),
            "original.csv": table(ROW),
            "data.csv.labels.json": json.dumps({"format": "auditor-labels/1", "labels": {"disease": {ILL: NAME}}}),
        },
        BY_ROWS,
        NAME,
    ),
    "declared labels of a column that is none": Case(
        {
            "data.csv": table(ROW),
            "data.csv.labels.json": json.dumps({"format": "auditor-labels/1", "labels": {NAME: {ILL: 3}}}),
        },
        AUDIT,
        NAME,
        "column 1 of the labels must be a sensitive column",
    ),
    "declared labels that are none": Case(
        {"data.csv": table(ROW), "data.csv.labels.json": json.dumps({"format": "auditor-labels/1", "labels": [NAME]})},
        AUDIT,
        NAME,
    ),
    "a manifest with a value for a file": Case(
        {"release/manifest.json": json.dumps({"format": "auditor-release/1", "blocks": [{"file": f"../{NAME}"}]})},
        ("audit", "release", "--schema", "schema.toml"),
        NAME,
        "Got a list",
    ),
    "a block with a text for a class": Case(
        {
            "release/manifest.json": json.dumps({"format": "auditor-release/1", "blocks": [{"file": "b.csv"}]}),
            "release/b.csv": f"bucket,name\n1,Ann\n{NAME},Bob\n",
        },
        ("audit", "release", "--schema", "schema.toml"),
        NAME,
        "line 3, column 'bucket': must be a whole number",
    ),
    "a text in a Parquet column of numbers": Case(
        {"data.csv": parquet(**typed(age=NAME))}, ANONYMIZE, NAME, "row 2, column 'age'"
    ),
    "a nested Parquet column": Case(
        {"data.csv": parquet(**{NAME: [[1], [2]]})}, ANONYMIZE, NAME, "column 1 must hold single values"
    ),
    "a NUL character in Parquet": Case(
        {"data.csv": parquet(**typed(disease=f"{ILL}\0"))}, ANONYMIZE, ILL, "holds a NUL character"
    ),
    "bytes in Parquet": Case({"data.csv": parquet(name=[NAME.encode() + b"\xff"])}, ANONYMIZE, None, "not UTF-8"),
    "damaged Parquet": Case({"data.csv": parquet(**typed())[:-40] + b"PAR1"}, ANONYMIZE, None, "damaged or cut short"),
    "damaged Parquet in a scan": Case(
        {"data.csv": parquet(**typed())[:-40] + b"PAR1"}, DUCKDB, None, "damaged or cut short"
    ),
    "a text in an Excel column of numbers": Case(
        {"data.csv": excel(HEADER.split(","), ROW.replace(",41,", f",{NAME},").split(","))},
        ANONYMIZE,
        NAME,
        "line 2, column 'age'",
    ),
    "Excel without a header": Case(
        {"data.csv": excel(ROW.split(","), ROW.split(",")[::-1])}, ANONYMIZE, NAME, "does not name column 1"
    ),
    "a damaged Excel file": Case({"data.csv": excel(ROW.split(","))[:-30]}, ANONYMIZE, None, "damaged"),
    "a damaged gzip file": Case(
        {"data.csv": gzip.compress(table(ROW).encode(), 0)[:-9]}, ANONYMIZE, None, "damaged or cut short"
    ),
    "a choice that is none": Case(
        {
            "data.csv": table(ROW),
            "schema.toml": declared().replace('[columns.name]\nrole = "quasi"', '[columns.name]\nrole = "choice"'),
        },
        (*ANONYMIZE, "--method", "grading"),
        None,
        "a choice must be 1, 2 or 3",
    ),
    "a value that is too common": Case(
        {"data.csv": table(*[ROW.replace(MAIL, f"{i}@b.c") for i in range(9)])},
        (*ANONYMIZE, "--method", "anatomy", "--set", "l=2", "--set", "sensitive=disease"),
        ILL,
        "The most common, a value of 10 characters",
    ),
    "bounds that leave a number out": Case(
        {"data.csv": table(ROW)},
        (*ANONYMIZE, "--method", "grading", "--set", 'bounds=[["income", 1, 5000]]'),
        INCOME,
        "1 of them is in none",
    ),
    "a label that cannot be coarser": Case(
        {"data.csv": table(ROW.replace(",41,", f",{NAME},"))},
        ("mend", "data.csv", "--schema", "schema.toml", "--coarsen", "age", "-o", "out.csv"),
        NAME,
    ),
    "a profile of a line with a cell too many": Case(
        {"data.csv": table(f"{ROW},{NAME}")}, ("profile", "data.csv"), None, "7 cells"
    ),
    "a profile of columns with the same name": Case(
        {"data.csv": f"{NAME},{NAME}\na,b\n"}, ("profile", "data.csv"), NAME
    ),
    "a comparison of a wrong table": Case(
        {"data.csv": table(ROW.replace(",41,", f",{NAME},"))},
        ("compare", "data.csv", "--schema", "schema.toml", "--methods", "mondrian", "-o", "out"),
        NAME,
    ),
    "a scenario about a wrong table": Case(
        {
            "data.csv": table(ROW.replace(",41,", f",{NAME},")),
            "scenario.toml": '[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "mondrian"\nk = 2\n',
        },
        ("redteam", "scenario.toml"),
        NAME,
    ),
}


def marks(case: Case) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if "duckdb" in case.command else []  # the engine takes its time to start


@pytest.mark.parametrize("case", [pytest.param(case, id=name, marks=marks(case)) for name, case in CASES.items()])
def test_no_error_quotes_a_value(case: Case, auditor_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {"schema.toml": SCHEMA, **case.files}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    plain, debug = auditor_cli(*case.command), auditor_cli("--debug", *case.command)
    for ended in (plain, debug):
        assert ended.code in (2, 3), ended.err
        assert not found_in(ended.out + ended.err), ended.err
    assert case.said in plain.err
    assert "Traceback" in debug.err
    if case.shown is not None:
        shown = auditor_cli(*case.command, "--reveal")
        assert case.shown.lower() in shown.err.lower(), shown.err


@pytest.mark.parametrize(
    "name", ["damaged Parquet", "bytes in Parquet", "a NUL character in Parquet", "a text for a number"]
)
def test_no_exception_in_python_quotes_a_value(name: str, tmp_path: Path) -> None:
    """Nor do the errors of libraries that Python would print beside ours."""
    for file, content in {"schema.toml": SCHEMA, **CASES[name].files}.items():
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(auditor.AuditorError) as caught:
        auditor.read_table(tmp_path / "data.csv", tmp_path / "schema.toml")
    assert not found_in("".join(traceback.format_exception(caught.value)))
    if CASES[name].shown is not None:
        with pytest.raises(auditor.AuditorError) as caught, auditor.revealing():
            auditor.read_table(tmp_path / "data.csv", tmp_path / "schema.toml")
        assert found_in(str(caught.value)) == [CASES[name].shown]


def test_no_bug_quotes_a_value(auditor_cli: Cli, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error, with what a library said as its cause: neither the message nor the details have it."""

    def fail(*_: object) -> object:
        try:
            return float(ILL)
        except ValueError as error:
            raise KeyError(NAME) from error

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("auditor.files.tables.unpacked", fail)
    command = ("profile", folder / "data.csv")
    for ended in (auditor_cli(*command), auditor_cli("--debug", *command)):
        assert ended.code == 70
        assert "KeyError" in ended.err
        searched(tmp_path, ended)
    shown = auditor_cli(*command, "--debug", "--reveal")
    assert found_in(shown.err) == [NAME, ILL]


def test_names_do_not_command_the_terminal(
    auditor_cli: Cli, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File names, column names and labels from elsewhere are escaped: in errors, on the terminal and in reports."""
    monkeypatch.chdir(tmp_path)
    evil, turned = "a\x1b[31m\x9b.csv", "age\u202eega\u2066"
    Path("schema.toml").write_text(SCHEMA.replace("columns.age", f'columns."{turned}"'), encoding="utf-8")
    data = (folder / "data.csv").read_text().replace("age,", f"{turned},", 1)
    Path(evil).write_text(data, encoding="utf-8")
    out = {kind: f"r.{kind}" for kind in ("html", "markdown", "json", "junit")}
    files = [part for kind, name in out.items() for part in (f"--{kind}", name)]
    ended = auditor_cli(
        "audit", evil, "--schema", "schema.toml", "--attacks", "linking", "--utility", "none", "--policy", "k5", *files
    )
    assert ended.code == 1, ended.err
    explained = auditor_cli("audit", evil, "--schema", "schema.toml", "--explain-labels")
    profiled = auditor_cli("profile", evil)
    missing = auditor_cli("audit", f"no{evil}", "--schema", "schema.toml")
    wrong = auditor_cli("audit", evil, "--schema", folder / "schema.toml", "--reveal", "--debug")
    assert (explained.code, profiled.code, missing.code, wrong.code) == (0, 0, 3, 3)
    assert r"noa\x1b[31m\x9b.csv: there is no such file" in missing.err
    assert r"age\u202eega\u2066" in wrong.err
    texts = [one.out + one.err for one in (ended, explained, profiled, missing, wrong)]
    for text in [*texts, *(Path(name).read_text(encoding="utf-8") for name in out.values())]:
        assert not set(text) & set("\x1b\x9b\u202e\u2066")


def test_a_page_about_a_damaged_record(tmp_path: Path) -> None:
    """`auditor serve` shows what is wrong with a record, and no value in it."""
    (tmp_path / "a.json").write_text(json.dumps({"format": NAME, "seed": ILL}))
    (tmp_path / "b.json").write_text(
        json.dumps({"format": "auditor-record/2", "tool": {"name": [INCOME]}, "seed": MAIL})
    )
    (tmp_path / "c.json").write_text(f'{{"format": "auditor-record/2", {ROW}')
    with record_server(tmp_path, port=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for page in ("/", "/report?record=a.json:1", "/report?record=b.json:1", "/report?record=c.json:1"):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
            connection.request("GET", page)
            assert not found_in(connection.getresponse().read().decode())
            connection.close()
        server.shutdown()
