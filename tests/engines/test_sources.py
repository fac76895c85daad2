"""What an engine reads: files, folders and tables of databases; and what it says of those that it cannot."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from auditor.engines.sources.sources import shown_address
from auditor.model.errors import UsageError
from auditor.model.schema import Schema
from tests.conftest import Ended
from tests.support.scanning_cases import ROWS, SCHEMA, Case, assert_same, differences, in_memory, random_case, scanned

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")
Cli = Callable[..., Ended]
CASE = random_case(9, rows=90, withheld=0.1).only("age", "zip", "note", "job")
PASSWORD = "geheim-geheim"


def parts(count: int) -> list[Case]:
    """The rows of the case in so many parts."""
    return [Case(CASE.columns, {c: cells[i::count] for c, cells in CASE.cells.items()}) for i in range(count)]


def assert_like_memory(where: str | Path, folder: Path, **asked: Any) -> dict[str, Any]:
    """The record of the case, wherever it lies, is that of one file; but for the names of the inputs."""
    ours, theirs = scanned(where, CASE.schema, **asked), in_memory(CASE.parquet(folder / "whole.parquet"), CASE.schema)
    assert ours["inputs"][0]["rows"] == theirs["inputs"][0]["rows"]
    for record in (ours, theirs):
        del record["inputs"]
        del record["release"]["name"]
    assert differences(theirs, ours) == []
    return ours


# ----- files and folders ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_is_one_table(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for i, part in enumerate(parts(3)):
        inner = folder / ("" if i == 0 else f"inner{i}/deeper")
        inner.mkdir(parents=True, exist_ok=True)
        getattr(part, kind)(inner / f"part-{i}.{kind}")
    for name in ("_SUCCESS", ".part-0.crc", "inner1/._junk"):
        (folder / name).write_text("not a table")
    assert_like_memory(folder, tmp_path)


def test_a_csv_folder_without_header_lines(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for i, part in enumerate(parts(2)):
        part.csv(folder / f"{i}.csv", header=False)
    schema = Schema.from_dict(
        {
            "table": {"missing": ["", "?"], "header": list(CASE.cells)},
            "columns": {k: dict(v) for k, v in CASE.columns.items()},
        }
    )
    record = scanned(folder, schema)
    assert record["release"]["rows"] == 90
    shutil.rmtree(folder)
    folder.mkdir()
    parts(1)[0].csv(folder / "headed.csv")  # a header line all the same, as our own releases have it
    again = scanned(folder, schema)
    assert differences(record["release"], again["release"]) == []


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_delimiters_are_found(sign: str, tmp_path: Path) -> None:
    assert_same(CASE.csv(tmp_path / "r.csv", delimiter=sign), CASE.schema)


def test_a_stated_delimiter_and_one_that_the_schema_does_not_say(tmp_path: Path) -> None:
    file = CASE.csv(tmp_path / "r.csv", delimiter=";")
    file.write_text("sep=;\n" + file.read_text())
    assert_same(file, CASE.schema)
    form = {**CASE.form, "delimiter": ","}
    schema = Schema.from_dict({"table": form, "columns": {k: dict(v) for k, v in CASE.columns.items()}})
    record = assert_same(file, schema)
    assert any("read with the delimiter ';', though the schema gives ','" in note["text"] for note in record["notes"])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r\n1,x\r\n1,y\r\n2,x\r\n",
        "a,b\r1,x\r1,y\r2,x\r",
        "\ufeffa,b\n1,é\n1,y\n2,x",
        'a , b\n 1 ,x \n1, "y, z"\n2,\u00a0x\n',
        'a,b\n1,"x\ny"\n1,"say ""no"""\n2,"x\r\nz"\n',
        "a,b\n1,x\n\n1,y\n2,NULL\n2,\\N\n\n",
        "a,b\n1,'=x\n1,'-y\n2,'x\n#3,x\n",
        'a,b\n1,""\n1,\n2,"x\\"\n',
        'b\nx\n""\n\ny\n',
    ],
)
def test_csv_is_read_as_in_memory(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(text.encode())
    columns: dict[str, Any] = {"a": {"role": "quasi"}, "b": {"role": "sensitive"}}
    if text.startswith("b"):
        del columns["a"]
    assert_same(tmp_path / "r.csv", Schema.from_dict({"columns": columns}))


def test_our_own_csv_announces_its_encoding(tmp_path: Path) -> None:
    """Where the schema names another encoding, our own releases are UTF-8 all the same, and say so."""
    schema = Schema.from_dict(
        {"table": {"encoding": "cp1252"}, "columns": {"a": {"role": "quasi"}, "b": {"role": "sensitive"}}}
    )
    (tmp_path / "r.csv").write_bytes("\ufeffa,b\n1,é\n2,y\n".encode())
    assert_same(tmp_path / "r.csv", schema)


# ----- databases ------------------------------------------------------------------------------------------------------


def test_tables_of_duckdb_files(tmp_path: Path) -> None:
    files = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"]
    for file, tables in zip(files, (("first", "second table"), ("only",)), strict=True):
        with duckdb.connect(str(file)) as con:
            frame = pd.DataFrame(dict(CASE.cells))
            for table in tables:
                con.execute(f'create table "{table}" as select * from frame')
            assert len(frame) == 90
    one, two = (f"duckdb://{file}" for file in files)
    record = assert_like_memory(f"{one}#second%20table", tmp_path)
    assert record["release"]["rows"] == 90
    assert scanned(two, CASE.schema)["release"]["name"] == "two.duckdb"


@pytest.mark.slow
def test_a_register_in_a_duckdb_file(tmp_path: Path) -> None:
    """Beside a table of the same file, of another one, and beside a file."""
    files = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"]
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "r.parquet")
    for file in files:
        with duckdb.connect(str(file)) as con:
            con.execute("create table people as select * from frame")
    one, two = (f"duckdb://{file}#people" for file in files)
    (tmp_path / "s.toml").write_text(SCHEMA)
    for release, population in ((one, one), (one, two), (tmp_path / "r.parquet", two), (two, tmp_path / "r.parquet")):
        found = scanned(release, tmp_path / "s.toml", population=str(population))["release"]["register"]
        assert (found["people"], found["journalist_max"], found["short"]) == (3, 1.0, 0)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL database of our own, started as an unprivileged user."""
    pytest.importorskip("psycopg")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "")]
    if not found[-1].name:
        pytest.skip("PostgreSQL is not installed here")
    binaries = found[-1].parent
    home = tmp_path_factory.mktemp("postgres")
    become: Sequence[str] = ()
    if os.geteuid() == 0:  # PostgreSQL refuses to be run by root
        if shutil.which("runuser") is None or "postgres" not in {user.pw_name for user in pwd.getpwall()}:
            pytest.skip("there is no user postgres that PostgreSQL could be run by")
        become = ("runuser", "-u", "postgres", "--")
        home = Path(f"/tmp/auditor-postgres-{os.getpid()}")
        home.mkdir()
        shutil.chown(home, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (home / "password").write_text(PASSWORD)
    (home / "password").chmod(0o644)

    def run(program: str, *arguments: object) -> None:
        command = [*become, str(binaries / program), "-D", str(home / "data"), *map(str, arguments)]
        said = subprocess.DEVNULL if "start" in arguments else subprocess.PIPE  # what is started keeps pipes open
        ended = subprocess.run(command, stdout=said, stderr=said, text=True, cwd="/", timeout=120, check=False)
        if ended.returncode:
            pytest.skip(f"PostgreSQL cannot be started here ({program}: {(ended.stderr or '').strip()[-200:]})")

    try:
        given = ("-U", "steward", "-A", "scram-sha-256", "--pwfile", home / "password", "-E", "UTF8", "--locale", "C")
        run("initdb", *given, "--no-sync")
        run("pg_ctl", "-w", "-l", home / "log", "-o", f"-p {port} -c listen_addresses=127.0.0.1 -k {home} -F", "start")
        try:
            yield f"postgres://steward:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def tables(postgres: str) -> str:
    """The database with the case in two tables, and one of typed columns."""
    import psycopg

    names = ", ".join(f'"{name}" text' for name in CASE.cells)
    with psycopg.connect(postgres) as con:
        con.execute("create schema inner_one")
        con.execute(f"create table release ({names})")
        con.execute("create table inner_one.people (age int, town text, disease text)")
        for table, cells in (("release", CASE.cells), ("inner_one.people", ROWS)):
            with con.cursor().copy(f"copy {table} from stdin") as copy:
                for row in zip(*cells.values(), strict=True):
                    copy.write_row(row)
        con.execute("create type mood as enum ('sad', 'glad')")
        con.execute(
            "create table typed as select i % 3 as q, (i % 4)::real / 10 as narrow, (i % 2) * 1.25 as exact, "
            "date '2020-01-01' + i % 2 as day, i % 5 = 0 as yes, (array['sad', 'glad'])[1 + i % 2]::mood as mood, "
            "('00000000-0000-0000-0000-00000000000' || i % 2)::uuid as id, 'x'::char(4) as wide, "
            "case when i % 7 = 0 then null else chr(97 + i % 3) end as s, "
            "case when i % 9 = 0 then 'NaN' else (i % 4) * 0.5 end::double precision as number "
            "from generate_series(1, 120) as i"
        )
    return postgres


@pytest.mark.slow
def test_tables_of_postgresql(tables: str, tmp_path: Path) -> None:
    said: list[str] = []
    record = assert_like_memory(f"{tables}#release", tmp_path, say=said.append)
    assert record["release"]["rows"] == 90
    assert "counted by postgres: up to" in said[0]
    assert PASSWORD not in f"{said} {record}"
    (tmp_path / "s.toml").write_text(SCHEMA)
    found = scanned(f"{tables}#inner_one.people", tmp_path / "s.toml", population=f"{tables}#inner_one.people")
    assert [i["name"] for i in found["inputs"]][:2] == ["postgres#inner_one.people"] * 2
    assert found["release"]["register"]["people"] == 3


@pytest.mark.slow
def test_typed_columns_of_postgresql(tables: str, tmp_path: Path) -> None:
    """The same table as CSV, written down by hand of the rules."""
    quasi = ("q", "narrow", "exact", "day", "yes", "mood", "id", "wide")
    columns: dict[str, Any] = {c: {"role": "quasi"} for c in quasi}
    columns |= {"s": {"role": "sensitive"}, "number": {"role": "sensitive", "type": "numeric"}}
    rows = range(1, 121)
    cells = {
        "q": [i % 3 for i in rows],
        "narrow": [["0", "0.1", "0.2", "0.3"][i % 4] for i in rows],
        "exact": [["0", "1.25"][i % 2] for i in rows],
        "day": [f"2020-01-0{1 + i % 2}" for i in rows],
        "yes": [str(i % 5 == 0) for i in rows],
        "mood": [["sad", "glad"][i % 2] for i in rows],
        "id": [f"00000000-0000-0000-0000-00000000000{i % 2}" for i in rows],
        "wide": ["x" for _ in rows],
        "s": ["" if i % 7 == 0 else "abc"[i % 3] for i in rows],
        "number": ["" if i % 9 == 0 else ["0", "0.5", "1", "1.5"][i % 4] for i in rows],
    }
    case = Case(columns, cells)
    ours, theirs = scanned(f"{tables}#typed", case.schema), in_memory(case.csv(tmp_path / "r.csv"), case.schema)
    for record in (ours, theirs):
        del record["inputs"]
        del record["release"]["name"]
    assert differences(theirs, ours) == []


def test_numbers_of_postgresql_that_cannot_be_fetched(postgres: str, tmp_path: Path, auditor_cli: Cli) -> None:
    """A numeric without a scale, as averages have it, and one that is not a number."""
    import psycopg

    (tmp_path / "s.toml").write_text(SCHEMA)
    for number in ("0.123456789012", "'NaN'::numeric"):
        with psycopg.connect(postgres) as con:
            con.execute("create schema if not exists numbers")
            con.execute("drop table if exists numbers.odd")
            con.execute(f"create table numbers.odd as select {number} as age, 'a' as town, 'flu' as disease")
        ended = auditor_cli("audit", f"{postgres}#numbers.odd", "--schema", tmp_path / "s.toml")
        assert ended.code == 3
        assert "numbers.odd, column 'age': has values that cannot be fetched" in ended.err
        assert "0.1234" not in ended.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("#release", "#absent"), "there is no table 'absent'. There are: release, typed."),
        (("#release", ""), "say which table, as …#table. There are: release, typed."),
        ((PASSWORD, "wrong"), "password authentication failed"),
        (("/postgres#", "/nowhere#"), 'database "nowhere" does not exist'),
        (("@127.0.0.1:", "@127.0.0.1:x"), "The port must be a number"),
    ],
)
def test_faults_of_databases_never_tell_the_password(
    tables: str, change: tuple[str, str], said: str, tmp_path: Path, auditor_cli: Cli
) -> None:
    (tmp_path / "s.toml").write_text(SCHEMA)
    where = f"{tables}#release".replace(*change)
    ended = auditor_cli("audit", where, "--schema", tmp_path / "s.toml", "--json", tmp_path / "out.json")
    assert ended.code in (2, 3)
    assert said in ended.err
    assert PASSWORD not in ended.err + ended.out
    assert not {"wrong", "steward"} & set(re.findall(r"\w+", ended.err + ended.out))
    assert not (tmp_path / "out.json").exists()


def test_a_database_and_a_file_are_not_counted_together(tables: str, tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "r.parquet")
    (tmp_path / "s.toml").write_text(SCHEMA)
    file, table = tmp_path / "r.parquet", f"{tables}#inner_one.people"
    for release, population in ((file, table), (table, file)):
        with pytest.raises(UsageError, match="both must be files, or tables of the same database"):
            scanned(release, tmp_path / "s.toml", population=str(population))


def test_addresses_are_shown_without_the_password() -> None:
    assert shown_address("postgres://me:pw@host:5/db#t") == "postgres://host:5/db#t"
    assert shown_address("postgresql://me@host/db") == "postgresql://host/db"
    assert shown_address("duckdb:////a/b.duckdb#t") == "duckdb:////a/b.duckdb#t"
    assert shown_address("release@2.csv") == "release@2.csv"
