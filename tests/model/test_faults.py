"""The collector of faults: all at once, each with its place, and files that cannot be read."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from auditor.model.errors import KeyFileError, SchemaError, UsageError
from auditor.model.faults import Faults, hint, is_count, is_number, parse_json, read_text, read_toml


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


def said(faults: Faults) -> list[str]:
    with pytest.raises(faults.error) as caught:
        faults.check()
    return list(caught.value.faults)


def of(**data: Any) -> Faults:
    return Faults(SchemaError, "a.toml", data)


def test_without_faults_nothing_is_raised() -> None:
    faults = of(name="x")
    faults.known("name")
    assert faults.text("name") == "x"
    assert not faults.found
    faults.check()


def test_faults_of_all_parts_are_raised_once_with_their_places() -> None:
    faults = Faults(UsageError, "a.toml")
    first = faults.at("[one]")
    first.at("row 2").add("this is wrong.")
    second = faults.at("[two]")
    assert (faults.found, first.found, second.found) == (True, True, False)
    second.add("that is wrong.")
    with pytest.raises(UsageError) as caught:
        second.check()
    assert str(caught.value) == "2 faults:\n  - a.toml, [one], row 2: this is wrong.\n  - a.toml, [two]: that is wrong."
    assert caught.value.faults == ("a.toml, [one], row 2: this is wrong.", "a.toml, [two]: that is wrong.")


def test_a_part_that_is_no_table() -> None:
    faults = of()
    part = faults.at("[columns.age]", "quasi", "a table with a role")
    assert part.found
    assert not part.data
    assert said(faults) == ["a.toml, [columns.age] must be a table with a role. Got 'quasi'."]


def test_faults_of_another_reader_get_the_place_unless_they_name_it() -> None:
    faults = of()
    faults.take(SchemaError.of(["b.csv: empty.", "a.toml: taxonomy: no tree."]))
    assert said(faults) == ["a.toml: b.csv: empty.", "a.toml: taxonomy: no tree."]


def test_unknown_keys() -> None:
    faults = of(delimeter=";", rows=3, decimal=".")
    faults.known("delimiter", "decimal")
    assert said(faults) == [
        "a.toml: unknown key 'delimeter'. Did you mean 'delimiter'?",
        "a.toml: unknown key 'rows'. Known keys: delimiter, decimal.",
    ]


@pytest.mark.parametrize(
    ("data", "found", "fault"),
    [
        ({"colour": "red"}, Colour.RED, None),
        ({}, None, "colour must be given, one of red, green."),
        ({"colour": "gren"}, None, "colour must be one of red, green. Got 'gren'. Did you mean 'green'?"),
        ({"colour": 3}, None, "colour must be one of red, green. Got 3."),
        ({"colour": ["red"]}, None, "colour must be one of red, green. Got ['red']."),
    ],
)
def test_choices(data: dict[str, Any], found: Colour | None, fault: str | None) -> None:
    faults = of(**data)
    assert faults.choice("colour", Colour, required=True) is found
    assert (said(faults) if fault else []) == ([f"a.toml: {fault}"] if fault else [])


def test_a_choice_that_is_not_required() -> None:
    faults = of()
    assert (faults.choice("colour", Colour), faults.choices("colours", list(Colour))) == (None, None)
    faults.check()


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (["red", "gren"], "Got ['red', 'gren']. Did you mean 'green'?"),
        ([], "Got []."),
        ("red", "Got 'red'."),
        (3, "Got 3."),
        ([["red"]], "Got [['red']]."),
    ],
)
@pytest.mark.parametrize("names", [list(Colour), dict.fromkeys(Colour)])
def test_lists_of_choices(value: Any, fault: str, names: Collection[str]) -> None:
    assert of(run=["green"]).choices("run", names) == ("green",)
    faults = of(run=value)
    assert faults.choices("run", names) is None
    (told,) = said(faults)
    assert told.startswith("a.toml: run must be a list of: red, green. ")
    assert told.endswith(fault)


def test_texts() -> None:
    faults = of(one="a", none="", number=3, many=["a", ""], mixed=["a", 3])
    assert (faults.text("one"), faults.text("absent"), faults.texts("many")) == ("a", None, ("a", ""))
    assert (faults.text("none", "a name"), faults.text("number"), faults.texts("mixed")) == (None,) * 3
    assert faults.text("absent", required=True) is None
    assert said(faults) == [
        "a.toml: none must be a name. Got ''.",
        "a.toml: number must be a text. Got 3.",
        "a.toml: mixed must be a list of texts. Got ['a', 3].",
        "a.toml: absent must be given, a text.",
    ]


def test_tables_in_a_list() -> None:
    faults = of(release=[{"k": 3}], adversary=3)
    assert (faults.tables("release"), faults.tables("absent"), faults.tables("adversary")) == ([{"k": 3}], [], [])
    assert said(faults) == ["a.toml: write each adversary as [[adversary]]."]


def test_files_must_exist(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("")
    faults = of(file="there.csv", schema="none.toml", population=3)
    assert faults.file("file", tmp_path) == tmp_path / "there.csv"
    assert faults.file("schema", tmp_path) == tmp_path / "none.toml"
    assert (faults.file("population", tmp_path), faults.file("absent", tmp_path)) == (None, None)
    assert said(faults) == [
        f"a.toml, schema: {tmp_path / 'none.toml'}: there is no such file.",
        "a.toml: population must be the name of a file. Got 3.",
    ]


def test_numbers() -> None:
    assert all(map(is_number, (0, -1.5, 10**300)))
    assert not any(map(is_number, (True, "1", None, math.nan, math.inf, -math.inf, 10**400)))
    assert is_number(math.inf, 0, math.inf)
    assert [is_number(value, 0, 1) for value in (0, 1, 0.5, -0.1, 1.1)] == [True, True, True, False, False]
    assert [is_count(value) for value in (0, 7, -1, 1.0, True)] == [True, True, False, False, False]


def test_hints() -> None:
    assert hint("mondrain", ["mondrian", "anatomy"]) == " Did you mean 'mondrian'?"
    assert hint("kaca", ["mondrian", "anatomy"]) == hint(3, []) == ""


# ----- files ---------------------------------------------------------------------------------------------------------


def test_toml_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfk = 3\r\n")  # with the mark that some editors put first
    assert read_toml(tmp_path / "a.toml", "schema", SchemaError) == {"k": 3}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "a.toml: there is no such file."),
        (b"k = \xe9\n", "a.toml: the policy must be UTF-8 text (invalid continuation byte)."),
        (b"k = ", "a.toml: the policy must be TOML. Invalid value (at end of document)."),
    ],
)
def test_toml_that_cannot_be_read(tmp_path: Path, content: bytes | None, fault: str) -> None:
    file = tmp_path / "a.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        read_toml(file, "policy", SchemaError)
    assert str(caught.value) == f"{tmp_path}/{fault}"
    with pytest.raises(SchemaError, match=r"the policy cannot be read \(Is a directory\)"):
        read_text(tmp_path, "policy", SchemaError)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "key.json must be JSON. Line 1: Expecting property name enclosed in double quotes. Why."),
        ('{"a": NaN}', "key.json must be JSON. It holds a number beyond all bounds. Why."),
        (f'{{"a": {"9" * 5000}}}', "key.json must be JSON. It holds a number beyond all bounds. Why."),
        ('{"a": "\\ud800"}', "key.json must be JSON. It holds half of a character. Why."),
        ("[" * 100_000, "key.json must be JSON. Too many things lie inside each other. Why."),
        ("[]", "key.json must have the format 'key/1'. Why."),
        ("{}", "key.json must have the format 'key/1'. Why."),
        ('{"format": "run/1"}', "key.json must have the format 'key/1'. Got a text of 5 characters. Why."),
    ],
)
def test_json_of_another_format(text: str, fault: str) -> None:
    assert parse_json('{"format": "key/1"}', "key.json", "key/1", KeyFileError) == {"format": "key/1"}
    with pytest.raises(KeyFileError) as caught:
        parse_json(text, "key.json", "key/1", KeyFileError, " Why.")
    assert str(caught.value) == fault
