"""What an engine cannot read is said in one message that names file, line or column, and a remedy; nothing is written."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import Ended
from tests.support.scanning_cases import ROWS, SCHEMA

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")
Cli = Callable[..., Ended]
PASSWORD = "geheim-geheim"


def bad_files(folder: Path) -> None:
    """A file or folder for each fault."""
    frame = pd.DataFrame(ROWS)
    text = frame.to_csv(index=False)
    frame.to_parquet(folder / "good.parquet")
    content = (folder / "good.parquet").read_bytes()
    many = "age,town,disease\n" + "20,a,flu\n" * 200_000
    files: dict[str, bytes] = {
        "ragged.csv": f"{text}50,c\n".encode(),
        "late.csv": f"{many}50,c\n".encode(),
        "quote.csv": f'{many}50,c,"flu\n'.encode(),
        "latin.csv": text.replace("flu", "grippé").encode("cp1252"),
        "late-latin.csv": f"{many}50,c,grippé\n".encode("cp1252"),
        "late-header.csv": f"{many}age,town,disease\n".encode(),
        "pasted.csv": f"{many}\ufeffage,town,disease\n30,b,flu\n".encode(),
        "ends.csv": f"{many}50,c,flu\r\n".encode(),
        "wide.csv": text.encode("utf-16"),
        "label.csv": text.replace("30", "thirty").encode(),
        "only-header.csv": b"age,town,disease\n",
        "empty.csv": b"",
        "gap.csv": text.replace("disease\n", "disease\n\n").encode(),
        "packed.csv": gzip.compress(text.encode()),
        "cut.parquet": content[: len(content) // 2],
        "hurt.parquet": content[:40] + b"x" * 20 + content[60:],
        "mixed/a.csv": text.encode(),
        "mixed/b.parquet": content,
        "columns/a.csv": text.encode(),
        "columns/b.csv": text.replace("town", "city").encode(),
        "blocks/manifest.json": b"{}",
        "nothing/_SUCCESS": b"",
        "no.duckdb": b"this is no database",
    }
    for name, held in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(held)
    (folder / "differ").mkdir()
    frame.to_parquet(folder / "differ" / "a.parquet")
    frame.drop(columns="town").to_parquet(folder / "differ" / "b.parquet")
    frame.assign(more=[[1], [2], [3]]).to_parquet(folder / "nested.parquet")
    frame.assign(more=1).to_parquet(folder / "unknown.parquet")
    frame.head(0).to_parquet(folder / "none.parquet")
    with duckdb.connect(str(folder / "some.duckdb")) as con:
        con.execute("create table one as select 1 as age")


FAULTS = {
    "absent.csv": "absent.csv: there is no such file or folder.",
    "ragged.csv": "ragged.csv, line 5: 2 cells, but there are 3 columns",
    "late.csv": "late.csv, line 200002: 2 cells, but there are 3 columns",
    "quote.csv": "quote.csv, line 200002: not a valid CSV line. Check its quotes.",
    "latin.csv": "latin.csv, line 2: the text is not UTF-8. Convert it to UTF-8, or use --engine memory.",
    "late-latin.csv": "late-latin.csv, line 200002: the text is not UTF-8.",
    "late-header.csv": "late-header.csv: the header line occurs again among the rows (1 times).",
    "pasted.csv": "pasted.csv: a row begins with a byte order mark (U+FEFF), as if two files had been joined.",
    "ends.csv": "ends.csv: not valid CSV. All lines must end in the same way",
    "wide.csv": "wide.csv, line 1: the text is not UTF-8.",
    "label.csv": "label.csv, column 'age': a label of 6 characters denotes no value of the column.",
    "only-header.csv": "only-header.csv: the release must have at least one row.",
    "empty.csv": "empty.csv is empty.",
    "gap.csv": "gap.csv: an engine needs CSV with the header in its first line",
    "packed.csv": "packed.csv: an engine cannot read compressed CSV. Unpack it, or use --engine memory.",
    "cut.parquet": "cut.parquet: the Parquet is damaged or cut short",
    "hurt.parquet": "hurt.parquet: the Parquet is damaged or cut short",
    "mixed": "mixed: all files must be of one kind, Parquet or CSV. a.csv and b.parquet are not.",
    "columns": "b.csv: must have the columns and the delimiter of",
    "differ": "differ: the files have different columns: column 'town' is string in a.parquet and absent in b.parquet",
    "blocks": "blocks: a release of several blocks is audited in memory. Leave out --engine",
    "nothing": "nothing: the folder has no files. It must hold Parquet or CSV files.",
    "nested.parquet": "nested.parquet: column 4 must hold single values",
    "unknown.parquet": "does not name column 4 of the table. Add it",
    "none.parquet": "none.parquet: the release must have at least one row.",
    "duckdb://some.duckdb#two": "there is no table 'two'. There are: one.",
    "duckdb://absent.duckdb#two": "there is no such file. Write duckdb:///folder/file.duckdb#table.",
    "duckdb://no.duckdb": "no.duckdb: not a DuckDB file, or it cannot be opened",
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    bad_files(folder)
    (folder / "s.toml").write_text(SCHEMA)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_read_is_said_in_one_message(
    name: str, bad: Path, tmp_path: Path, auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bad)
    out = tmp_path / "out.json"
    ended = auditor_cli("audit", name, "--schema", "s.toml", "--engine", "duckdb", "--json", out)
    assert ended.code == 3, ended.err
    assert FAULTS[name] in ended.err
    assert len(ended.err.strip().splitlines()) <= 2
    for theirs in ("Possible fixes", "strict_mode", "Original Line", "Traceback", "Internal error"):
        assert theirs not in ended.err
    assert not out.exists()


@pytest.mark.parametrize("scheme", ["mysql", "s3", "http"])
def test_other_addresses_are_refused(scheme: str, bad: Path, auditor_cli: Cli) -> None:
    ended = auditor_cli("audit", f"{scheme}://me:{PASSWORD}@x/y#z", "--schema", bad / "s.toml")
    assert (ended.code, PASSWORD in ended.err) == (2, False)
    assert "must begin with duckdb:// or postgres://" in ended.err
