"""The schema: what it understands, and every fault with its message, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.model.errors import SchemaError
from auditor.model.schema import Others, Role, Schema, TableFormat, Type

AGE = {"role": "quasi", "type": "numeric"}


def schema(columns: Any = None, **table: Any) -> Schema:
    return Schema.from_dict({"table": table, "columns": columns or {"age": AGE}})


def test_a_file_is_read_with_its_taxonomies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "age.csv").write_text("30;old;*\n20;young;*\n", encoding="utf-8")
    file = tmp_path / "schema.toml"
    file.write_text(
        """
        [table]
        delimiter = ";"
        decimal = ","
        missing = ["?", 99]
        suppressed = ["*", "(withheld)"]
        others = "neutral"
        encoding = "cp1252"

        [columns.name]
        role = "identifier"

        [columns.age]
        role = "quasi"
        type = "numeric"
        taxonomy = "trees/age.csv"

        [columns.grade]
        role = "quasi"
        order = ["low", "middle", "high"]

        [columns.sex]
        role = "quasi"
        domain = ["f", "m"]

        [columns.income]
        role = "sensitive"
        type = "numeric"
        domain = [0, 1e6]

        [columns.disease]
        role = "sensitive"
        taxonomy = { Lung = ["Flu"], Gut = ["Ulcer"] }

        [columns.weight]
        role = "weight"
        """,
        encoding="utf-8-sig",
    )
    found = Schema.read(file)
    assert found.name == str(file)
    assert found.format == TableFormat(";", ",", "cp1252", None, ("?", "99"), ("*", "(withheld)"), Others.NEUTRAL)
    assert (found.identifiers, found.quasi) == (("name",), ("age", "grade", "sex"))
    assert found.sensitive == ("income", "disease")
    assert found.names(Role.WEIGHT) == ("weight",)
    age, income = found.columns["age"], found.columns["income"]
    assert age.taxonomy is not None
    assert age.taxonomy.leaves == ("20", "30")
    assert (income.type, income.bounds) == (Type.NUMERIC, (0.0, 1e6))
    assert found.columns["grade"].type is Type.ORDINAL
    assert found.columns["grade"].values == ("low", "middle", "high")
    assert found.columns["sex"].values == ("f", "m")
    assert found.columns["sex"].type is Type.NOMINAL
    assert found.columns["weight"].type is Type.NUMERIC
    disease = found.columns["disease"].taxonomy
    assert disease is not None
    assert disease.labels == ("*", "Lung", "Flu", "Gut", "Ulcer")


def test_defaults() -> None:
    found = schema()
    assert found.format == TableFormat(None, ".", None, None, ("",), ("*",), Others.ERROR)
    assert found.columns["age"].bounds is None
    assert Schema.from_dict({"columns": {"a": {"role": "neutral"}}}).columns["a"].type is Type.NOMINAL


def test_a_column_may_say_how_its_labels_are_written() -> None:
    found = schema({"age": {**AGE, "notation": ["interval", "bound"]}, "sex": {"role": "quasi", "notation": "value"}})
    assert found.columns["age"].notation == ("interval", "bound")
    assert found.columns["sex"].notation == ("value",)
    assert schema().columns["age"].notation == ()


def test_a_column_may_have_its_own_marks() -> None:
    found = schema(
        {"age": {**AGE, "missing": [99]}, "sex": {"role": "quasi", "suppressed": [" XX "], "domain": ["*", "f"]}},
        missing=["?"],
    ).format
    assert (found.missing, found.suppressed) == (("?",), ("*",))
    assert (found.of("age").missing, found.of("age").suppressed) == (("99",), ("*",))
    assert (found.of("sex").missing, found.of("sex").suppressed) == (("?",), ("XX",))
    assert found.of("other") is found
    assert found.every_mark == ("?", "*", "99", "XX")
    assert schema({"age": {**AGE, "suppressed": []}}).format.of("age").suppressed == ()


def test_faults_of_notation_and_marks_come_with_all_others() -> None:
    with pytest.raises(SchemaError) as caught:
        schema({"a": {"role": "quasy", "notation": "x", "missing": 1}, "b": {"role": "quasi", "missing": ["*"]}})
    assert [fault.split(": ")[1].split(" ")[0] for fault in caught.value.faults] == [
        "role",
        "notation",
        "missing",
        "suppressed",
    ]


def test_further_columns_become_neutral() -> None:
    more = schema().with_others(["note", "age"])
    assert list(more.columns) == ["age", "note"]
    assert more.columns["note"].role is Role.NEUTRAL
    assert more.columns["age"].role is Role.QUASI


def test_texts_are_compared_without_the_spaces_around_them() -> None:
    assert schema(missing=[" ? "]).format.missing == ("?",)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character, such as \";\". Got ';;'."),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"delimiter": 5}, 'delimiter must be one character, such as ";". Got 5.'),
        ({"decimal": "x"}, 'decimal must be "." or ",". Got \'x\'.'),
        ({"decimal": [","]}, "decimal must be"),
        ({"encoding": "utf-9"}, "encoding must be a known one, such as \"utf-8\". Got 'utf-9'."),
        ({"encoding": 8}, "encoding must be a known one"),
        *(
            ({"encoding": name}, "encoding must be a known one")
            for name in (
                "punycode",
                "idna",
                "unicode_escape",
                "raw_unicode_escape",
                "undefined",
                "rot13",
                "base64",
                "a\0b",
            )
        ),
        ({"missing": "?"}, "missing must be a list of values. Got '?'."),
        ({"missing": [True]}, "missing must be a list of values. Got [True]."),
        ({"suppressed": []}, "suppressed must name the texts that mean a suppressed value"),
        ({"missing": ["*"]}, "Got suppressed = ['*'] and missing = ['*']."),
        ({"header": ["a", "a"]}, "header must name every column, none twice. Got ['a', 'a']."),
        ({"header": ["a", " "]}, "header must name every column"),
        ({"others": "ignored"}, "others must be one of error, neutral, ignore. Got 'ignored'."),
        ({"others": "neutrl"}, "Did you mean 'neutral'?"),
        ({"delimeter": ";"}, "unknown key 'delimeter'. Did you mean 'delimiter'?"),
        ({"colour": "red"}, "unknown key 'colour'. Known keys: delimiter, decimal, encoding, header,"),
    ],
)
def test_faults_of_the_table_part(table: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(**table)
    assert str(caught.value).startswith("schema, [table]: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {},
            "role must be given, one of identifier, quasi, sensitive, neutral, choice, weight, person, household, ignore.",
        ),
        ({"role": "sensitve"}, "role must be one of"),
        ({"role": "sensitve"}, "Got 'sensitve'. Did you mean 'sensitive'?"),
        ({"role": 7}, "Got 7."),
        ({"role": ["quasi"]}, "Got ['quasi']."),
        ({"role": "quasi", "type": "number"}, "type must be one of numeric, ordinal, nominal. Got 'number'."),
        ({"role": "quasi", "type": "ordnal", "order": ["a", "b"]}, "Got 'ordnal'. Did you mean 'ordinal'?"),
        ({"role": "quasi", "typ": "numeric"}, "unknown key 'typ'. Did you mean 'type'?"),
        ({"role": "quasi", "type": "ordinal"}, 'type = "ordinal" needs order = [lowest, …, highest].'),
        ({"role": "quasi", "order": "abc"}, "order must be a list of values. Got 'abc'."),
        ({"role": "quasi", "order": ["a", "b", "a"]}, "order must name each of its values once."),
        ({"role": "quasi", "order": []}, "order must name each of its values once. Got []."),
        ({**AGE, "order": ["a", "b"]}, 'order is for type = "ordinal". Got type = "numeric".'),
        ({**AGE, "domain": [1]}, "the domain of a numeric column must be [lowest, highest]. Got [1]."),
        (
            {**AGE, "taxonomy": {"all": ["1", "1e300"]}},
            "the leaves of a numeric column's taxonomy must be numbers with the decimal mark '.', below 2^53. Got '1e300'",
        ),
        ({**AGE, "domain": [9, 1]}, "must be [lowest, highest]. Got [9, 1]."),
        ({**AGE, "domain": [0, float("inf")]}, "must be [lowest, highest]. Got [0, inf]."),
        ({**AGE, "domain": [float("nan"), 1]}, "must be [lowest, highest]. Got [nan, 1]."),
        ({**AGE, "domain": [0, 10**400]}, "must be [lowest, highest]."),
        ({**AGE, "domain": [False, True]}, "must be [lowest, highest]. Got [False, True]."),
        ({"role": "quasi", "domain": ["a", "a"]}, "domain must name each of its values once. Got ['a', 'a']."),
        ({"role": "quasi", "domain": 3}, "domain must be a list of values. Got 3."),
        (
            {"role": "quasi", "taxonomy": {"all": {"*": ["a", "b"], "N": ["c"]}}},
            "'*' cannot be a group: [table] suppressed",
        ),
        (
            {"role": "quasi", "domain": ["a", "*"]},
            "'*' cannot be a value: [table] suppressed says that it means a suppressed value.",
        ),
        ({"role": "quasi", "order": ["a"], "domain": ["a"]}, "an ordinal column has its order; leave the domain out."),
        (
            {"role": "quasi", "order": ["a"], "taxonomy": ["a"]},
            "an ordinal column has its order; leave the taxonomy out",
        ),
        (
            {"role": "quasi", "domain": ["a", "c"], "taxonomy": ["a", "b"]},
            "names 'c', which is no leaf of the taxonomy.",
        ),
        (
            {"role": "quasi", "taxonomy": "none.csv"},
            "none.csv: there is no such file.",
        ),
        ({"role": "quasi", "taxonomy": {"G": ["a"], "H": ["a"]}}, "taxonomy, under 'H': 'a' is already listed"),
        ({"role": "quasi", "taxonomy": {"G": [False]}}, "must hold tables, lists and values. Got False."),
        ({**AGE, "taxonomy": ["1", "x"]}, "must be numbers with the decimal mark '.', below 2^53. Got 'x'"),
        ("quasi", "must be a table with a role. Got 'quasi'."),
        ({**AGE, "notation": "intervall"}, "Got 'intervall'. Did you mean 'interval'?"),
        (
            {**AGE, "notation": 3},
            "notation must be a list of value, group, centroid, interval, bound, period, mask, set.",
        ),
        ({**AGE, "notation": []}, "notation must be a list of"),
        ({**AGE, "notation": ["value", 1]}, "notation must be a list of"),
        ({**AGE, "notation": ["mask", "mask"]}, "notation must name each kind once."),
        ({**AGE, "notation": ["suppressed"]}, "For suppressed: list the texts for suppressed values under suppressed."),
        ({**AGE, "taxonomy": "a\0b"}, "no file can have this name."),
        ({**AGE, "taxonomy": "x" * 5000}, "the taxonomy cannot be read (File name too long)."),
        ({**AGE, "notation": ["group"]}, "notation = 'group' needs a taxonomy."),
        ({**AGE, "notation": ["period"]}, "notation = 'period' needs type = ordinal or nominal."),
        ({"role": "quasi", "notation": ["interval"]}, "notation = 'interval' needs type = numeric or ordinal."),
        ({**AGE, "missing": "?"}, "missing must be a list of values. Got '?'."),
        ({**AGE, "missing": ["*"]}, "Got suppressed = ['*'] and missing = ['*']."),
        ({**AGE, "suppressed": [""]}, "Got suppressed = [''] and missing = ['']."),
        (
            {"role": "quasi", "domain": ["a", "x"], "suppressed": ["x"]},
            "'x' cannot be a value: its own suppressed says",
        ),
    ],
)
def test_faults_of_a_column(tmp_path: Path, column: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"columns": {"age": column}}, "my.toml", tmp_path)
    assert len(caught.value.faults) == 1  # nothing that merely follows from the fault
    assert str(caught.value).startswith("my.toml, [columns.age]")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "[columns.NAME] must describe at least one column."),
        ({"columns": {}}, "[columns.NAME] must describe at least one column."),
        ({"columns": ["age"]}, "[columns.NAME] must describe at least one column."),
        ({"columns": {"age": AGE}, "tabel": {}}, "unknown key 'tabel'. Did you mean 'table'?"),
        ({"columns": {"age": AGE}, "table": 3}, "[table] must be a table of settings. Got 3."),
    ],
)
def test_faults_of_the_whole(data: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(data)
    assert message in str(caught.value)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(
            {
                "tabel": {},
                "table": {"decimal": "x"},
                "columns": {
                    "a": {"role": "quasy"},
                    "b": {"role": "quasi", "type": "ordinal"},
                    "c": {"role": "quasi", "taxonomy": {"G": ["a", "a", ""]}},
                },
            }
        )
    assert [fault.split(": ")[0] for fault in caught.value.faults] == [
        "schema",
        "schema, [table]",
        "schema, [columns.a]",
        "schema, [columns.b]",
        "schema, [columns.c]",
        "schema, [columns.c]",
    ]
    assert str(caught.value).startswith("6 faults:\n  - schema: unknown key 'tabel'")
    assert str(caught.value).count("\n  - ") == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[columns.age]\nrole = quasi\n", "the schema must be TOML."),
        (b"[columns.age]\nrole = quasi\n", "line 2"),
        ("[columns.age]\nrole = 'é'".encode("cp1252"), "the schema must be UTF-8 text"),
    ],
)
def test_a_file_that_is_no_toml(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "schema.toml"
    file.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        Schema.read(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"none\.toml: there is no such file\."):
        Schema.read(tmp_path / "none.toml")
    with pytest.raises(SchemaError, match=r"the schema cannot be read \(Is a directory\)"):
        Schema.read(tmp_path)
