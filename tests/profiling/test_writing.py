"""The schema that `auditor profile` writes: always readable, without values of people; taxonomies; the command."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditor
from auditor.files.tables import read_table
from auditor.model.errors import TableError
from auditor.model.schema import Others, Schema, TableFormat
from auditor.profiling.proposal import profile
from tests.conftest import Ended
from tests.support.profile_cases import PEOPLE_ROLES, accepted, people

Cli = Callable[..., Ended]


@pytest.mark.slow
def test_nothing_of_a_person_is_in_what_is_shown(tmp_path: Path, auditor_cli: Cli) -> None:
    frame = people(300, seed=3)
    table = tmp_path / "people.csv"
    frame.to_csv(table, index=False)
    shown = auditor_cli("profile", table, "--json", tmp_path / "p.json")
    text = shown.out + shown.err + (tmp_path / "p.json").read_text()
    for column, role in PEOPLE_ROLES.items():
        if role in ("identifier", "sensitive"):
            values = [value for value in frame[column].astype(str) if len(value) > 4]
            assert [value for value in values if value in text] == []
    assert not set(frame["born"]) & set(auditor_cli("profile", table, "--taxonomies", "none").out.split())


def test_taxonomies_cover_and_nest(tmp_path: Path) -> None:
    frame = people(300, seed=3)
    table = tmp_path / "people.csv"
    frame.to_csv(table, index=False)
    read = accepted(profile(table, taxonomies="all"), table, tmp_path)

    def above(column: str, leaf: str) -> list[str]:
        tree = read.schema.columns[column].taxonomy
        assert tree is not None
        node, path = tree.node(leaf), []
        while node is not None and node >= 0:
            path.append(tree.labels[node])
            node = int(tree.parent[node])
        return path

    day = frame["born"][0]
    assert above("born", day) == [day, day[:7], day[:4], f"{day[:3]}0s", "*"]
    code = str(frame["zip"][0])
    assert above("zip", code) == [code, *(code[:n] + "*" * (5 - n) for n in (4, 3, 2, 1)), "*"]
    assert above("age", "67") == ["67", "65-69", "60-69", "60-79", "*"]
    assert above("age", "91") == ["91", "90+", "80+", "*"]
    assert above("seen_from", "10.1.2.3") == ["10.1.2.3", "10.1.2.*", "10.1.*.*", "10.*.*.*", "*"]
    assert above("finding", "J45.9") == ["J45.9", "J45*", "J00-J99", "*"]
    income = read.schema.columns["pay"].taxonomy
    assert income is not None
    assert income.height == 4


WEIRD = [
    'say "x"',
    "a.b",
    "new\nline",
    "<b>bold</b>",
    "=cmd|' /C calc'!A0",
    "back\\slash",
    "#hash",
    "[t]",
    "ü\u200b",
    "𝔘",
]


def test_weird_names_are_escaped(tmp_path: Path, auditor_cli: Cli) -> None:
    table = tmp_path / "t.csv"
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(WEIRD)
        writer.writerows([[f"v{n % 3}"] * len(WEIRD) for n in range(30)])
    found = profile(table)
    assert list(tomllib.loads(found.to_toml())["columns"]) == WEIRD
    accepted(found, table, tmp_path)
    ended = auditor_cli("profile", table, "-o", tmp_path / "s.toml")
    assert ended.code == 0
    assert all(line.isprintable() for line in ended.out.splitlines())


CELLS = st.one_of(
    st.sampled_from(["", "?", "NA", ".", "-", "*", "**", "(withheld)", "0", "-0", "00", "1e300", "9" * 20, "'=x"]),
    st.sampled_from(["1984-03-01", "03/04/1985", "10.0.0.1", "J45.9", "20-29", "<20", "1,5", "a;b", "{a, b}"]),
    st.sampled_from(["low", "high", "medium", "M", "F"]),
    st.integers(-5, 2030).map(str),
    st.floats(-10, 10).map(lambda number: f"{number:.2f}"),
    st.text(max_size=6),
)  # fmt: skip


@st.composite
def csv_tables(draw: st.DrawFn) -> bytes:
    names = st.one_of(
        st.sampled_from([*WEIRD, "age", "zip", "id", "weight", "born", "1", "2"]), st.text(min_size=1, max_size=8)
    )
    header = draw(st.lists(names, min_size=1, max_size=4))
    rows = draw(st.integers(0, 25))
    columns = []
    for _ in header:
        few = draw(st.lists(CELLS, min_size=1, max_size=4))
        columns.append(draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows)))
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=draw(st.sampled_from(",;\t|")))
    writer.writerow(header)
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue().encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])), "replace")


def refusal(call: Callable[[], object]) -> str | None:
    """What the error of a call says, None where there is none."""
    try:
        call()
    except TableError as error:
        return str(error)
    return None


@pytest.mark.slow
@given(csv_tables(), st.sampled_from(["none", "texts", "all"]))
def test_what_is_proposed_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, taxonomies: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    table = folder / "t.csv"
    table.write_bytes(content)
    refused = refusal(lambda: profile(table, taxonomies))
    if refused is not None:  # then it is no table, and reading it says the same
        assert refused == refusal(lambda: read_table(table, Schema({}, TableFormat(others=Others.NEUTRAL))))
        return
    found = profile(table, taxonomies)
    accepted(found, table, folder)
    assert json.loads(found.to_json())["rows"] == found.rows


def test_from_python() -> None:
    frame = pd.DataFrame({"age": range(20, 80), "disease": ["flu", "cold"] * 30}, index=[0] * 60)
    found = auditor.profile(frame)
    assert isinstance(found, auditor.Profile)
    assert found.to_frame().set_index("column")["role"].to_dict() == {"age": "quasi", "disease": "sensitive"}
    schema = Schema.from_dict(tomllib.loads(found.to_toml()))
    assert auditor.Table.from_frame(frame, schema).rows == 60
    assert "60 rows" in repr(found)
    with pytest.raises(auditor.AuditorError, match="must be one of none, texts, all"):
        auditor.profile(frame, taxonomies="some")
    with pytest.raises(TableError, match="at least one row"):
        auditor.profile(frame.iloc[:0])


@pytest.mark.slow
def test_the_command(tmp_path: Path, auditor_cli: Cli) -> None:
    data, schema = tmp_path / "data.csv", tmp_path / "schema.toml"
    people(500, seed=1).to_csv(data, index=False)
    ended = auditor_cli("profile", data, "-o", schema)
    assert ended.code == 0, ended.err
    assert "sampling weight" in ended.out
    assert "guidance, not legal advice" in ended.out
    assert (tmp_path / "schema-hierarchies" / "23-zip.csv").is_file()
    assert read_table(data, schema).rows == 500
    again = auditor_cli("profile", data, "-o", schema)
    assert (again.code, "exists already" in again.err) == (2, True)
    assert auditor_cli("profile", data, "-o", schema, "--force", "--quiet").out == ""
    printed = auditor_cli("profile", data, "--taxonomies", "none")
    assert "columns" in tomllib.loads(printed.out)
    assert "sampling weight" in printed.err
    piped = auditor_cli("profile", data, "--json", "-")
    assert json.loads(piped.out)["format"] == "auditor-profile/1"
    assert (piped.err, piped.code) == ("", 0)
    assert auditor_cli("profile", data, "-o", data, "--force").code == 2
    assert auditor_cli("profile", data, "--taxonomies", "some").code == 2


def test_bad_input_is_refused_as_elsewhere(tmp_path: Path, auditor_cli: Cli) -> None:
    for name, content, words in (
        ("empty.csv", b"", "empty"),
        ("header.csv", b"a,b\n", "at least one row"),
        ("ragged.csv", b"a,b\n1,2,3\n4,5\n", "cells, but there are"),
        ("nul.csv", b"a,b\n1,\x00\n", "NUL"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG"),
    ):
        (tmp_path / name).write_bytes(content)
        ended = auditor_cli("profile", tmp_path / name, "-o", tmp_path / "s.toml")
        assert (ended.code, words in ended.err) == (3, True), ended.err
        assert not (tmp_path / "s.toml").exists()
    assert auditor_cli("profile", tmp_path / "none.csv").code == 3
