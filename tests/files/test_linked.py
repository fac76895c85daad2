"""Linked tables: joined by their key, and audited as one release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.auditing.audit import audit
from auditor.files.linked import NOTHING, with_linked
from auditor.files.tables import read_raw, read_table
from auditor.model.errors import AuditorError, SchemaError, TableError
from auditor.model.record.policy import read_policy
from auditor.model.schema import Role, Schema, Type
from scenarios.options import Options
from tests.conftest import Ended

Cli = Callable[..., Ended]
K5 = Options(policy=read_policy("k5"), remedies=False, attacks=("linking", "homogeneity"))
SCHEMA = """
[columns.patient]
role = "person"
[columns.age]
role = "quasi"
[tables.visits]
file = "visits.csv"
key = "patient"
[tables.visits.columns.ward]
role = "quasi"
[tables.visits.columns.disease]
role = "sensitive"
"""
PEOPLE = [(f"p{i:02}", "30-39" if i < 10 else "40-49") for i in range(20)]


def written(folder: Path, wards: dict[str, list[str]], disease: str = "flu", schema: str = SCHEMA) -> Path:
    """A release of people and visits in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "schema.toml").write_text(schema)
    (folder / "people.csv").write_text("patient,age\n" + "".join(f"{who},{age}\n" for who, age in PEOPLE))
    lines = [f"{who},{ward},{disease}\n" for who, mine in wards.items() for ward in mine]
    (folder / "visits.csv").write_text("patient,ward,disease\n" + "".join(reversed(lines)))
    return folder / "people.csv"


def joined(folder: Path, wards: dict[str, list[str]]) -> dict[str, list[str]]:
    file = written(folder, wards)
    schema = Schema.read(folder / "schema.toml")
    return {name: list(cells) for name, cells in with_linked(read_raw(file), schema, file).columns.items()}


SAFE = {who: ["A"] for who, _ in PEOPLE}
CROSSING = {who: ["A" if i % 10 < 9 else "B"] for i, (who, _) in enumerate(PEOPLE)} | {"p00": ["B"], "p10": ["B"]}
"""Everybody is one of ten of an age. Four people were in ward B and sixteen in ward A."""


def test_tables_each_safe_are_caught_where_joined(tmp_path: Path) -> None:
    """Five people were in ward B, and fifteen in ward A: both tables have k of at least 5. But only one of forty was in B."""
    wards = SAFE | {who: ["B"] for who in ("p00", "p10", "p11", "p12", "p13")}
    file = written(tmp_path, wards)
    for columns, k in ((("age",), 10), (("ward",), 5)):
        part = audit(read_part(file, columns), part_schema(columns), options=K5)
        assert part.release.k == k
        assert part.policy is not None
        assert part.policy.passed
    record = audit(file, tmp_path / "schema.toml", options=K5)
    assert (record.release.k, record.release.people) == (1, 20)
    assert record.release.quasi == ("age", "visits.ward")
    assert record.policy is not None
    assert not record.policy.passed
    assert any("people.csv (20 rows), visits.csv (20 rows)" in note.text for note in record.notes)


def read_part(file: Path, columns: tuple[str, ...]) -> object:
    import pandas as pd

    name = file if columns == ("age",) else file.with_name("visits.csv")
    return pd.read_csv(name)[[*columns]].assign(disease="flu")


def part_schema(columns: tuple[str, ...]) -> Schema:
    roles = {**dict.fromkeys(columns, "quasi"), "disease": "neutral"}
    return Schema.from_dict({"columns": {name: {"role": role} for name, role in roles.items()}})


def test_safe_tables_stay_safe(tmp_path: Path, auditor_cli: Cli) -> None:
    file = written(tmp_path, SAFE)
    assert auditor_cli("audit", file, "--schema", tmp_path / "schema.toml", "--policy", "k5").code == 0
    unsafe = written(tmp_path / "crossing", CROSSING)
    ended = auditor_cli("audit", unsafe, "--schema", tmp_path / "schema.toml", "--policy", "k5")
    assert ended.code == 1
    assert "The smallest class has 2 people" in ended.out


def test_a_quasi_identifier_holds_all_that_a_person_has(tmp_path: Path) -> None:
    wards = {"p00": ["D", "B", "D"], "p01": ["B", "D"], "p02": ["B"]}
    columns = joined(tmp_path, wards)
    held = dict(zip(columns["patient"], columns["visits.ward"], strict=True))
    assert [held[f"p{i:02}"] for i in range(4)] == ["B | D", "B | D", "B", NOTHING]
    assert columns["patient"].count("p00") == 3  # a row for each disease
    assert columns["visits.disease"][columns["patient"].index("p03")] == ""


def test_sensitive_values_are_those_of_people(tmp_path: Path) -> None:
    """Everybody has flu, some twice: that is one value, known of all of them."""
    file = written(tmp_path, {who: ["A"] * (1 + i % 3) for i, (who, _) in enumerate(PEOPLE)})
    record = audit(file, tmp_path / "schema.toml", options=K5)
    assert [(one.column, one.l_distinct) for one in record.release.sensitive] == [("visits.disease", 1)]
    certain = record.find("homogeneity", "certain", link="class")
    assert (certain.value, certain.n) == (20, 20)


def test_an_original_is_joined_alike(tmp_path: Path) -> None:
    wards = {who: ["A", "B"] if i % 2 else ["B"] for i, (who, _) in enumerate(PEOPLE)}
    release, original = written(tmp_path / "release", wards), written(tmp_path / "original", wards)
    record = audit(release, tmp_path / "release" / "schema.toml", original=original, match="rows", options=K5)
    assert record.find("linking", "success", link="containment").n == 20
    # where the original has no visits beside it, the release is audited alone
    (tmp_path / "original" / "visits.csv").unlink()
    alone = audit(release, tmp_path / "release" / "schema.toml", original=original, match="rows", options=K5)
    assert any("there is no visits.csv beside the original" in note.text for note in alone.notes)
    assert alone.release.k == record.release.k == 5


def test_coarser_values_are_audited_alone(tmp_path: Path) -> None:
    release, original = (
        written(tmp_path / "release", {"p00": ["A or B"]}),
        written(tmp_path / "original", {"p00": ["A"]}),
    )
    record = audit(release, tmp_path / "release" / "schema.toml", original=original, match="rows", options=K5)
    assert any("coarser values than the original in 'visits.ward'" in note.text for note in record.notes)


def test_what_is_wrong_with_linked_tables(tmp_path: Path) -> None:
    file = written(tmp_path, {"p99": ["A"]})
    with pytest.raises(
        TableError, match=r"visits\.csv, line 2, column 'patient': nobody in .*people\.csv has this key"
    ):
        audit(file, tmp_path / "schema.toml")
    written(tmp_path, SAFE)
    text = (tmp_path / "visits.csv").read_text()
    (tmp_path / "visits.csv").write_text(text.replace("ward", "room"))
    with pytest.raises(TableError, match=r"the column 'ward' of \[tables\.visits\] must be in the table"):
        audit(file, tmp_path / "schema.toml")
    (tmp_path / "visits.csv").write_text("\n".join(line + ",1" for line in text.splitlines()))
    with pytest.raises(TableError, match="does not name column 4 of the table"):
        audit(file, tmp_path / "schema.toml")
    (tmp_path / "visits.csv").unlink()
    with pytest.raises(TableError, match=r"visits\.csv: there is no such file"):
        audit(file, tmp_path / "schema.toml")


def test_other_commands_do_not_take_one_table_for_all(tmp_path: Path) -> None:
    file = written(tmp_path, SAFE)
    with pytest.raises(TableError, match="Only `auditor audit` joins linked tables"):
        read_table(file, tmp_path / "schema.toml")
    with pytest.raises(AuditorError, match="must be a file with theirs beside it"):
        audit(tmp_path, tmp_path / "schema.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('key = "patient"', 'key = "age"'), 'key must name the column with role = "person"'),
        (('file = "visits.csv"\n', ""), "file must be given"),
        (
            ('role = "sensitive"', 'role = "weight"'),
            "role must be one of identifier, quasi, sensitive, neutral in a linked table",
        ),
        (("[tables.visits.columns.ward]", "[tables.visits.colums.ward]"), "unknown key 'colums'"),
        (("[columns.age]", '[columns."visits.ward"]'), "[columns] has a column 'visits.ward' too"),
    ],
)
def test_faults_of_the_schema(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA.replace(*change))
    with pytest.raises(SchemaError) as caught:
        Schema.read(tmp_path / "schema.toml")
    assert message in str(caught.value)


def test_columns_of_linked_tables_have_their_types(tmp_path: Path) -> None:
    text = SCHEMA.replace('role = "sensitive"', 'role = "sensitive"\ntype = "numeric"').replace(
        'ward]\nrole = "quasi"', 'ward]\nrole = "quasi"\ntype = "numeric"'
    )
    (tmp_path / "schema.toml").write_text(text)
    columns = Schema.read(tmp_path / "schema.toml").columns
    assert (columns["visits.disease"].type, columns["visits.disease"].role) == (Type.NUMERIC, Role.SENSITIVE)
    assert columns["visits.ward"].type is Type.NOMINAL  # all that a person has there is one value
