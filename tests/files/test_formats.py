"""File formats: one that is registered by one line is read and written by every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest

from auditor.files import tables
from auditor.files.formats import Format, begins_with
from auditor.files.tables import FORMATS, is_named_table, read_raw, read_text, target_format
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable
from tests.conftest import Ended

Cli = Callable[..., Ended]

MAGIC = b"%sheaf\n"
SCHEMA = """
columns.age = {role = "quasi", type = "numeric"}
columns.town = {role = "quasi"}
columns.ill = {role = "sensitive"}
"""
AGES, TOWNS, ILL = ["21", "22", "43", "44"] * 3, ["X", "X", "Y", "Y"] * 3, ["flu", "HIV", "cold"] * 4


def read_sheaf(content: bytes, file: Path, _form: TableFormat, _expected: Sequence[str]) -> RawTable:
    """A column per line: its name, and its cells, with tabs between."""
    lines = [line.split("\t") for line in content.removeprefix(MAGIC).decode().splitlines()]
    return RawTable(str(file), {name: cells for name, *cells in lines})


def write_sheaf(table: RawTable, _: TableFormat) -> bytes:
    return MAGIC + "\n".join("\t".join([name, *cells]) for name, cells in table.columns.items()).encode()


SHEAF = Format("Sheaf", (".sheaf", ".shf"), read_sheaf, begins_with(MAGIC), write_sheaf)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tables, "FORMATS", (*FORMATS, SHEAF))
    table = RawTable("data", {"age": AGES, "town": TOWNS, "ill": ILL})
    (tmp_path / "data").write_bytes(write_sheaf(table, TableFormat()))  # the content tells the format, not the name
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def ran(ended: Ended) -> Ended:
    assert ended.code == 0, ended.err
    return ended


@pytest.mark.parametrize("name", ["release.sheaf", "release.SHF"])
def test_a_new_format_is_one_line(folder: Path, auditor_cli: Cli, name: str) -> None:
    data, schema, release, whose = folder / "data", folder / "schema.toml", folder / name, folder / "provenance.csv"
    made = ("anonymize", data, "--schema", schema, "--method", "mondrian", "--set", "k=2", "--provenance", whose)
    ran(auditor_cli(*made, "-o", release))
    assert release.read_bytes().startswith(MAGIC)
    ended = ran(auditor_cli("audit", release, "--schema", schema, "--original", data, "--provenance", whose))
    assert "mondrian" not in ended.err
    ran(auditor_cli(*made, "-o", folder / "same.csv", "--force"))
    same = auditor_cli("audit", folder / "same.csv", "--schema", schema, "--original", data, "--provenance", whose)
    assert figures(ran(same).out) == figures(ended.out)
    mended = folder / f"mended{release.suffix}"
    ran(auditor_cli("mend", release, "--schema", schema, "--drop", "town", "-o", mended))
    assert list(read_raw(mended).columns) == ["age", "ill"]


def figures(out: str) -> list[str]:
    return [line for line in out.splitlines() if "%" in line]


def test_a_release_of_several_blocks_in_a_new_format(folder: Path, auditor_cli: Cli) -> None:
    release, schema = folder / "release.sheaf", folder / "schema.toml"
    made = ("anonymize", folder / "data", "--schema", schema, "--method", "anatomy", "--set", "l=2", "-o", release)
    ran(auditor_cli(*made))
    assert sorted(file.name for file in release.iterdir()) == ["block1.sheaf", "block2.sheaf", "manifest.json"]
    ran(auditor_cli("audit", release, "--schema", schema))


def test_other_commands_read_a_new_format(folder: Path, auditor_cli: Cli) -> None:
    profile = folder / "profile.toml"
    ran(auditor_cli("profile", folder / "data", "-o", profile))
    assert "[columns.town]" in profile.read_text()
    with pytest.raises(TableError, match=r"data is a table \(Sheaf\), not a text\."):
        read_text(folder / "data")
    assert is_named_table(Path("a.sheaf.gz"))


def test_a_format_without_a_writer_is_only_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FORMATS", (Format("Sheaf", (".sheaf",), read_sheaf, begins_with(MAGIC)), *FORMATS))
    assert read_raw(folder / "data").rows == len(AGES)
    with pytest.raises(UsageError, match=r"ending \.sheaf\. Use one of \.csv \(CSV\), \.parquet \(Parquet\)\."):
        target_format(Path("r.sheaf"))


@pytest.mark.parametrize(
    ("name", "asked"), [("a.csv", "CSV"), ("a.tsv", "CSV"), ("a", "CSV"), ("a.PARQUET", "Parquet"), ("a.b", "CSV")]
)
def test_the_ending_asks_for_a_format(name: str, asked: str) -> None:
    assert target_format(Path(name)).name == asked


def test_endings_belong_to_one_format() -> None:
    endings = [ending for one in FORMATS for ending in one.endings]
    assert len(set(endings)) == len(endings)
    assert all(ending == ending.lower() and ending.startswith(".") for ending in endings)
    assert [one.name for one in FORMATS if one.detect is None] == ["CSV"]


def test_what_is_written_is_detected_and_reads_back(tmp_path: Path) -> None:
    columns = {"age": ["1", "2"], "town": ["X", "=Y"]}
    for one in FORMATS:
        if one.write is not None:
            content = one.write(RawTable("t", columns), TableFormat())
            file = tmp_path / f"table{one.endings[0]}"
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            assert pd.DataFrame(read_raw(file).columns).to_dict("list") == columns
