"""Roles that another tool was given: an ARX project, a script for sdcMicro, its report. Nothing in them is run."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from auditor.model.errors import SchemaError
from auditor.model.schema import Schema, Type
from auditor.profiling import tool_roles
from auditor.profiling.explaining import explain_labels
from auditor.profiling.proposal import profile
from auditor.profiling.tool_roles import read_tool_roles
from tests.conftest import Ended
from tests.support.profile_cases import roles

Cli = Callable[..., Ended]
DEFINITION = """<?xml version="1.0" encoding="UTF-8"?>
<definition>
{}
</definition>
"""
ASSIGNMENT = "<assigment><name>{}</name><type>{}_ATTRIBUTE</type><datatype>String</datatype>{}</assigment>"
AGES = "\n".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(20, 50))
SCHOOLS = "Masters,Higher,*\nBachelors,Higher,*\n9th,Lower,*\n"


def project(folder: Path, definition: str | None = None) -> Path:
    """A project as ARX writes it, as far as roles go: the spelling of `assigment` is ARX's own."""
    types = {"age": "QUASI_IDENTIFYING", "school": "QUASI_IDENTIFYING", "job": "SENSITIVE", "note": "INSENSITIVE"}
    parts = [ASSIGNMENT.format(n, t, f"<ref>hierarchies/{n}.csv</ref>") for n, t in types.items()]
    parts.append(ASSIGNMENT.format("name", "IDENTIFYING", ""))
    file = folder / "project.deid"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("metadata.xml", "<metadata><version>3.9.1</version></metadata>")
        made.writestr("input/definition.xml", definition or DEFINITION.format("\n".join(parts)))
        made.writestr("input/hierarchies/age.csv", AGES)
        made.writestr("input/hierarchies/school.csv", SCHOOLS)
        made.writestr("input/config.dat", b"\xac\xed\x00\x05")
    return file


def test_an_arx_project(tmp_path: Path, auditor_cli: Cli) -> None:
    table, schema = tmp_path / "release.csv", tmp_path / "schema.toml"
    rows = ["20-29;Higher;cook;a"] * 12 + ["30-39;Lower;nurse;b"] * 10 + ["*;*;cook;a"] * 2
    table.write_text("age;school;job;note\n" + "\n".join(rows) + "\n")
    ended = auditor_cli("profile", table, "--release", "--roles-from", project(tmp_path), "-o", schema)
    assert ended.code == 0
    assert "'name', which the table does not have" in " ".join(ended.out.split())
    read = Schema.read(schema)
    assert {name: str(column.role) for name, column in read.columns.items()} == {
        "age": "quasi", "school": "quasi", "job": "sensitive", "note": "neutral",
    }  # fmt: skip
    assert read.columns["age"].type is Type.NUMERIC
    tree = read.columns["school"].taxonomy
    assert tree is not None
    assert set(tree.leaves) == {"Masters", "Bachelors", "9th"}
    found = explain_labels(table, schema)  # the groups are read as groups
    assert [one.kind for one in found.find("school").notations] == ["group", "suppressed"]
    assert found.suppression.rows == 2


SCRIPTS = {
    "texts": 'sdc <- createSdcObj(dat,\n  keyVars=c("age", \'sex\'), numVars = "income",\n  weightVar="w", hhId = \'hh\')\n',
    "formula": "createSdcObj(dat, ~ age + sex, numVars = c('income'), weightVar='w', hhId='hh')",
    "numbers": "createSdcObj(dat, keyVars = c(1, 2), numVars=3, weightVar = 4, hhId = 5, sensibleVar = NULL)",
    "variables": 'keys <- c("age",\n  "sex")\nw <- "w"\n'
    'x <- createSdcObj(dat, keyVars = keys, weightVar = w, hhId="hh", numVars="income")',
    "the last call": "createSdcObj(d, keyVars='income')\n# createSdcObj(d, keyVars='w')\n"
    "createSdcObj(d, keyVars=c('age','sex'), numVars='income', weightVar='w', hhId='hh')",
    "markdown": "## Information on selected important (Key) Variables\n- **Categorical Key-Variable(s)**: *age* | *sex*\n"
    "- **Continuous Key-Variable(s)**: *income*\n- **Weight-Variable**: *w*\n- **householdID**: *hh*\n"
    "- **strataVariable(s)**: **\n",
    "html": "<ul><li><strong>Categorical Key-Variable(s)</strong>: <em>age</em> | <em>sex</em></li><li><strong>Continuous "
    "Key-Variable(s)</strong>: <em>income</em></li><li><strong>Weight-Variable</strong>: <em>w</em></li>"
    "<li><strong>householdID</strong>: <em>hh</em></li></ul>",
}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_sdc_micro(tmp_path: Path, text: str) -> None:
    file = tmp_path / "script.R"
    file.write_text(text)
    columns = ["age", "sex", "income", "w", "hh", "town"]
    data = {name: [n % 3 + 1 for n in range(60)] for name in columns}
    found = profile(pd.DataFrame(data), roles_from=file)
    assert roles(found) == {
        "age": "quasi", "sex": "quasi", "income": "sensitive", "w": "weight", "hh": "household", "town": "quasi",
    }  # fmt: skip
    assert any("says nothing of 'town'" in note for note in found.found)


def test_one_household_at_most(tmp_path: Path) -> None:
    file = tmp_path / "script.R"
    file.write_text("createSdcObj(d, keyVars='sex', hhId='family')")
    home = [n // 3 for n in range(600)]
    data = {"hid": home, "family": [1000 - n for n in home], "sex": ["f", "m", "f"] * 200}
    assert roles(profile(pd.DataFrame(data), roles_from=file)) == {
        "hid": "identifier", "family": "household", "sex": "quasi",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"nothing of the kind", "names no roles"),
        (b"createSdcObj(dat, keyVars = select(x))", "names no roles"),
        (b"createSdcObj(dat, keyVars = c('a'", "names no roles"),
        (b"PK\x03\x04 cut short", "cannot be unpacked"),
    ],
)
def test_files_without_roles(tmp_path: Path, content: bytes, fault: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(SchemaError, match=fault):
        read_tool_roles(file, ["a"])
    with pytest.raises(SchemaError, match="cannot be read"):
        read_tool_roles(tmp_path / "no such file", ["a"])


def test_a_project_may_not_declare_entities(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]>' + DEFINITION.format("&a;")
    for definition, fault in ((bomb, "entities"), ("<definition>", "not XML"), ("<definition/>", "names no roles")):
        with pytest.raises(SchemaError, match=fault):
            read_tool_roles(project(tmp_path, definition), [])
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    with pytest.raises(SchemaError, match=r"definition\.xml"):
        read_tool_roles(empty, [])


def test_a_tool_makes_no_identifier_neutral_and_weaker_roles_are_told(tmp_path: Path) -> None:
    types = {"email": "INSENSITIVE", "sex": "INSENSITIVE", "age": "SENSITIVE", "town": "QUASI_IDENTIFYING"}
    parts = [ASSIGNMENT.format(name, kind, "") for name, kind in types.items()]
    file = project(tmp_path, DEFINITION.format("\n".join(parts)))
    data = {
        "email": [f"p{n}@example.org" for n in range(60)],
        "sex": ["f", "m"] * 30,
        "age": [20 + n % 40 for n in range(60)],
        "town": ["Aheim", "Bedorf", "Cestadt"] * 20,
    }
    found = profile(pd.DataFrame(data), roles_from=file)
    assert roles(found) == {"email": "identifier", "sex": "neutral", "age": "sensitive", "town": "quasi"}
    kept, weaker = found.found[-2:]
    assert "'email' (identifier, not neutral)" in kept
    assert "'sex' (quasi became neutral), 'age' (quasi became sensitive)." in weaker
    assert "town" not in kept + weaker
    script = tmp_path / "script.R"
    script.write_text("createSdcObj(d, keyVars='town', sensibleVar='sex', weightVar='age')")
    found = profile(pd.DataFrame(data), roles_from=script)
    assert [note for note in found.found if "'sex' (quasi became sensitive)" in note]
    assert not [note for note in found.found if "'age'" in note]  # that it is a weight, the tool knows


def test_a_household_of_ours_gives_way_to_that_of_the_tool(tmp_path: Path) -> None:
    file = tmp_path / "script.R"
    file.write_text("createSdcObj(d, keyVars=c('sex', 'hid'), hhId='family')")
    home = [n // 3 for n in range(600)]
    data = {"hid": home, "family": [1000 - n for n in home], "sex": ["f", "m", "f"] * 200}
    found = profile(pd.DataFrame(data), roles_from=file)
    assert roles(found) == {"hid": "identifier", "family": "household", "sex": "quasi"}


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_damaged_project_is_read_or_refused(tmp_path: Path, method: int) -> None:
    file = tmp_path / "project.deid"
    with zipfile.ZipFile(file, "w", method) as made:
        made.writestr("input/definition.xml", DEFINITION.format(ASSIGNMENT.format("age", "SENSITIVE", "")))
    content, faults = file.read_bytes(), set()
    for place in range(2, len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            read_tool_roles(file, [])
        except SchemaError as error:
            faults.add(str(error).removeprefix(f"{file}: ").split(" (")[0])
    assert "the project cannot be unpacked" in faults
    assert not any("\n" in fault for fault in faults)


@pytest.mark.parametrize("most", [100, 300])
def test_a_project_that_is_too_large_when_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    definition = DEFINITION.format(ASSIGNMENT.format("age", "SENSITIVE", ""))
    file = tmp_path / "project.deid"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("input/definition.xml", definition)
        for name in ("age", "other"):
            made.writestr(f"input/hierarchies/{name}.csv", "1;*\n" * 50)
    assert 100 < len(definition) < 300  # and each hierarchy has 200 bytes, both 400
    monkeypatch.setattr(Path, "stat", lambda *_: type("Size", (), {"st_size": 0})())
    monkeypatch.setattr(tool_roles, "MOST_BYTES", most)
    with pytest.raises(SchemaError, match="too large"):
        read_tool_roles(file, [])
    monkeypatch.setattr(tool_roles, "MOST_BYTES", 400)
    assert read_tool_roles(file, []).hierarchies["age"]
