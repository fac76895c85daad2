"""Bad input through the Python entry: each fault with where it is, what it is, and what would be right.

(The command line prints the same messages; its exit codes are tested with it.)
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from auditor.auditing.audit import audit
from auditor.files.tables import read_table
from auditor.model.errors import AuditorError, ReleaseError, SchemaError, TableError, UsageError
from scenarios.options import Options

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others

GOOD_SCHEMA = """
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
domain = [0, 120]
[columns.town]
role = "quasi"
taxonomy = { North = ["A", "B"], South = ["C", "D"] }
[columns.grade]
role = "neutral"
order = ["low", "high"]
[columns.disease]
role = "sensitive"
"""
GOOD_TABLE = "name,age,town,grade,disease\nAnn,20,A,low,flu\nBob,30,C,high,HIV\n"
GOOD_RELEASE = 'age,town,grade,disease\n"[20, 30]",*,low,flu\n"[20, 30]",*,high,HIV\n'


def files(
    folder: Path, schema: str | bytes = GOOD_SCHEMA, table: str | bytes = GOOD_TABLE, release: str = GOOD_RELEASE
) -> Path:
    for name, content in (("schema.toml", schema), ("data.csv", table), ("release.csv", release)):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def said(folder: Path) -> str:
    """The message of auditing what is in the folder, which reading the table alone gives as well."""
    with pytest.raises(AuditorError) as caught:
        audit(folder / "release.csv", folder / "schema.toml", original=folder / "data.csv", match="rows")
    assert "Traceback" not in str(caught.value)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_the_good_files_are_fine(tmp_path: Path) -> None:
    files(tmp_path)
    record = audit(
        tmp_path / "release.csv",
        tmp_path / "schema.toml",
        original=tmp_path / "data.csv",
        match="rows",
        options=Options(attacks=("linking",)),
    )
    assert (record.release.k, record.release.rows) == (2, 2)
    assert read_table(tmp_path / "data.csv", tmp_path / "schema.toml").rows == 2


@pytest.mark.parametrize(
    ("schema", "parts"),
    [
        ("", ["schema.toml: [columns.NAME] must describe at least one column."]),
        ("[columns.age\n", ["schema.toml: the schema must be TOML.", "line 1"]),
        ("age = 3\n" + GOOD_SCHEMA, ["schema.toml: unknown key 'age'. Known keys: table, columns, tables."]),
        (GOOD_SCHEMA.replace('"quasi"', '"qasi"', 1), ["[columns.age]: role must be one of", "Did you mean 'quasi'?"]),
        (GOOD_SCHEMA.replace("type =", "tipe ="), ["[columns.age]: unknown key 'tipe'. Did you mean 'type'?"]),
        (GOOD_SCHEMA.replace('"numeric"', '"integer"'), ["[columns.age]: type must be one of numeric", "'integer'"]),
        (GOOD_SCHEMA.replace("[0, 120]", "[120, 0]"), ["[columns.age]: the domain of a numeric", "[120, 0]"]),
        (GOOD_SCHEMA.replace("[0, 120]", '["0", "120"]'), ["must be [lowest, highest]. Got ['0', '120']."]),
        (GOOD_SCHEMA.replace('"B"]', '"A"]'), ["[columns.town]: taxonomy, under 'North': 'A' is already listed"]),
        (GOOD_SCHEMA.replace('["C", "D"]', "[]"), ["[columns.town]: taxonomy: the group 'South' must hold"]),
        (
            GOOD_SCHEMA.replace('{ North = ["A", "B"], South = ["C", "D"] }', '"trees/town.csv"'),
            ["[columns.town]", "trees/town.csv: there is no such file."],
        ),
        (GOOD_SCHEMA.replace('["low", "high"]', '["low", "low"]'), ["[columns.grade]: order must name each of its"]),
        (GOOD_SCHEMA.replace('role = "neutral"\n', ""), ["[columns.grade]: role must be given, one of identifier"]),
        (
            '[table]\nothers = "drop"\n' + GOOD_SCHEMA,
            ["[table]: others must be one of error, neutral, ignore. Got 'drop'."],
        ),
        ('[table]\nencoding = "latin-99"\n' + GOOD_SCHEMA, ["[table]: encoding must be a known one", "'latin-99'"]),
        ('[table]\nmissing = "*"\n' + GOOD_SCHEMA, ["[table]: missing must be a list of values. Got '*'."]),
        (GOOD_SCHEMA.encode("utf-16"), ["schema.toml: the schema must be UTF-8 text"]),
        (
            GOOD_SCHEMA.replace('"quasi"', '"qasi"').replace("[0, 120]", "3"),
            ["3 faults:", "  - ", "[columns.age]: role", "[columns.age]: the domain", "[columns.town]: role"],
        ),
    ],
)
def test_broken_schemas(tmp_path: Path, schema: str | bytes, parts: list[str]) -> None:
    files(tmp_path, schema=schema)
    message = said(tmp_path)
    assert message.startswith("SchemaError: ")
    assert str(tmp_path / "schema.toml") in message
    for part in parts:
        assert part in message
    with pytest.raises(SchemaError):
        read_table(tmp_path / "data.csv", tmp_path / "schema.toml")


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("", ["data.csv is empty. It must have a header line and rows."]),
        ("name,age,town,grade,disease\n", ["data.csv: the table must have at least one row below its header."]),
        (GOOD_TABLE.replace("Ann,", "Ann,,"), ["data.csv, line 2: 6 cells, but there are 5 columns", "Quote cells"]),
        (GOOD_TABLE.replace("30", "thirty"), ["data.csv, line 3, column 'age': 'thirty' must be a number.", "missing"]),
        (GOOD_TABLE.replace("30", "NaN"), ["data.csv, line 3, column 'age': 'NaN' must be a number."]),
        (GOOD_TABLE.replace("30", "130"), ["line 3, column 'age': '130' is outside the declared domain [0, 120]."]),
        (GOOD_TABLE.replace("30", "1e300"), ["line 3, column 'age': '1e300' is too large"]),
        (
            GOOD_TABLE.replace(",C,", ",E,"),
            ["line 3, column 'town': 'E' is outside the taxonomy of [columns.town].", "Add it there"],
        ),
        (
            GOOD_TABLE.replace(",C,", ",South,"),
            ["'South' is a group of the taxonomy of [columns.town]; only a release"],
        ),
        (GOOD_TABLE.replace("high", "highh"), ["'highh' is outside the order of [columns.grade].", "is 'high'. Add"]),
        (GOOD_TABLE.replace("high", "tall"), ["'tall' is outside the order of [columns.grade]. Add it there"]),
        (
            GOOD_TABLE.replace("20", "old").replace("30", "an age"),
            ["data.csv, line 2, column 'age': 'old' must be a number."],
        ),
        (
            GOOD_TABLE.replace("30", '"30,5"'),
            [
                "line 3, column 'age': '30,5' must be a number.",
                'If "," is the decimal mark, set [table] decimal = ",".',
            ],
        ),
        (
            "Cas,40,A,low,flu\n" * 2,
            ["does not name column 1 ('Cas'),", "If the file has no header line, set [table] h"],
        ),
        (
            "Cas,40,A,A,flu\n",
            ["line 1: column 3 ('A') and column 4 have the same name", "If the file has no header line"],
        ),
        (
            '\n"A\nnn",20,A,low,flu\n'.join(["name,age,town,grade,disease", "Bob,old,C,high,HIV\n"]),
            ["data.csv, line 4, column 'age': 'old'"],
        ),
        (GOOD_TABLE.replace("HIV", "*"), ["line 3, column 'disease': '*' means a suppressed value", "suppressed ="]),
        (
            GOOD_TABLE.replace("town", "twon"),
            ["data.csv: the schema (", "does not name column 3 ('twon') of the table.", "others"],
        ),
        (
            GOOD_TABLE.replace(",disease", "").replace(",flu", "").replace(",HIV", ""),
            [
                "data.csv: the column 'disease' of the schema",
                "must be in the table. It has column 'name', column 'age',",
            ],
        ),
        (GOOD_TABLE.replace("town", "age"), ["data.csv, line 1: column 2 ('age') and column 3 have the same name."]),
        (GOOD_TABLE.replace("name,", ",", 1), ["data.csv, line 1: column 1 has no name."]),
        (GOOD_TABLE + 'Cas,40,"B,low,flu\n', ["data.csv, line 4: not a valid CSV line", "Check its quotes."]),
        (GOOD_TABLE.encode() + b"Cas,40,B\x00,low,flu\n", ["data.csv, line 4: a NUL byte."]),
        (gzip.compress(GOOD_TABLE.encode(), mtime=0)[:-9], ["data.csv: the gzip file is damaged or cut short"]),
        (b"PAR1\x15\x04\x00\x00\xff", ["data.csv is a Parquet file that is damaged or cut short"]),
        (GOOD_TABLE.encode("utf-16-le"), ["data.csv, line 1: a NUL byte.", "[table] encoding"]),
    ],
)
def test_broken_tables(tmp_path: Path, table: str | bytes, parts: list[str]) -> None:
    files(tmp_path, table=table)
    message = said(tmp_path)
    assert message.startswith("TableError: ")
    for part in parts:
        assert part in message
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "data.csv", tmp_path / "schema.toml")
    assert message == f"TableError: {caught.value}"


@pytest.mark.parametrize(
    ("release", "parts"),
    [
        ("age,town,grade,disease\n", ["release.csv: the release must have at least one row below its header."]),
        (
            GOOD_RELEASE.replace("[20, 30]", "[30, 20]"),
            ["line 2, column 'age': the label '[30, 20]' denotes no value: its bounds are reversed."],
        ),
        (
            GOOD_RELEASE.replace("*,high", "Nort,high"),
            ["'Nort' is no value of [columns.town] nor a group of its taxonomy.", "'North'"],
        ),
        (GOOD_RELEASE.replace("HIV", ""), ["line 3, column 'disease': '' means a missing value", "suppressed"]),
        (
            GOOD_RELEASE.replace("HIV", "HPV"),
            ["line 3, column 'disease': the label 'HPV' is no value of [columns.disease]."],
        ),
        (GOOD_RELEASE + "20,A,low,flu\n", ["to match by rows it must have as many rows as the original. Got 3 and 2."]),
        (
            GOOD_RELEASE.replace("town", "place"),
            ["release.csv: the schema (", "does not name column 2 ('place') of the table."],
        ),
        (GOOD_RELEASE.replace("*,low", "low"), ["release.csv, line 2: 3 cells, but there are 4 columns"]),
        ("name\nAnn\nBob\n", ["release.csv: must have a column that is not an identifier."]),
    ],
)
def test_broken_releases(tmp_path: Path, release: str, parts: list[str]) -> None:
    files(tmp_path, release=release)
    message = said(tmp_path)
    assert message.startswith(("ReleaseError: ", "TableError: "))
    assert str(tmp_path / "release.csv") in message
    for part in parts:
        assert part in message


def test_files_that_are_not_there(tmp_path: Path) -> None:
    files(tmp_path)
    for name, error in (("release.csv", TableError), ("schema.toml", SchemaError), ("data.csv", TableError)):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        with pytest.raises(error, match=rf"{name}: there is no such file\."):
            audit(tmp_path / "release.csv", tmp_path / "schema.toml", original=tmp_path / "data.csv", match="rows")
        (tmp_path / name).write_bytes(content)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReleaseError, match=r"empty: a release folder must hold manifest\.json"):
        audit(tmp_path / "empty", tmp_path / "schema.toml")


def test_wrong_settings(tmp_path: Path) -> None:
    files(tmp_path)
    for options, message in (
        (Options(attacks=("linkin",)), "There is no attack 'linkin'. Did you mean 'linking'?"),
        (
            Options(settings={"linking": {"treshold": 1}}),
            "linking has no setting 'treshold'. Did you mean 'threshold'?",
        ),
        (Options(settings={"linking": {"threshold": "high"}}), "linking: threshold must be a number. Got 'high'."),
        (Options(settings={"linking": {"threshold": "nan"}}), "linking: threshold must be a number. Got nan."),
        (Options(targets=(7,)), "targets must be rows from 1 to 2."),
    ):
        with pytest.raises(UsageError) as caught:
            audit(
                tmp_path / "release.csv",
                tmp_path / "schema.toml",
                original=tmp_path / "data.csv",
                match="rows",
                options=options,
            )
        assert message in str(caught.value)
