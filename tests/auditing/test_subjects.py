"""Subjects: whose record is whose, who is outside, and whom the user asks about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers import ANONYMIZERS
from auditor.auditing.audit import run_audit
from auditor.auditing.correspondence import find_outsiders, find_targets
from auditor.auditing.subjects import Sources, Subject, read_subject
from auditor.files.releases import write_release
from auditor.files.tables import read_table, sha256, write_files
from auditor.model.errors import AuditorError, ReleaseError, TableError, UsageError
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.release import Kind
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from scenarios.options import Options

COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
ORIGINAL = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cas", "Dee"],
        "age": [20, 30, 40, 50],
        "town": ["X", "X", "Y", "Y"],
        "disease": ["flu", "HIV", "flu", "cold"],
    }
)
RELEASE = pd.DataFrame(
    {"age": ["[20, 30]"] * 2 + ["[40, 50]"] * 2, "town": ["X", "X", "Y", "Y"], "disease": ["flu", "HIV", "flu", "cold"]}
)


def subject(
    release: Any = RELEASE,
    original: Any = ORIGINAL,
    match: str | None = None,
    provenance: Any = None,
    population: Any = None,
    schema: Any = SCHEMA,
) -> Subject:
    return read_subject(Sources(release, schema, original, match, provenance, population), seed=3)


def published(found: Subject, row: int) -> tuple[str, ...]:
    """What the release has of one original row, by the provenance; empty where it has nothing."""
    assert found.provenance is not None
    texts: list[str] = []
    for number, block in enumerate(found.release.blocks):
        place = found.provenance.fragment[row, number]
        if place < 0:
            return ()
        assert block.bucket[place] == found.provenance.bucket[row]
        cells = zip(block.columns, block.cells[place], strict=True)
        texts += [found.release.labels[column].texts[cell] for column, cell in cells]
    return tuple(texts)


# ----- whose record is whose ------------------------------------------------------------------------------------------


def test_rows_in_the_same_order() -> None:
    found = subject(match="rows")
    assert [published(found, row) for row in range(4)] == [tuple(row) for row in RELEASE.itertuples(index=False)]
    assert found.has_original
    assert found.notes == ()
    assert [(i.role, i.name, i.rows) for i in found.inputs] == [("release", "release", 4), ("original", "original", 4)]


def test_rows_matched_by_an_id_column() -> None:
    mixed = RELEASE.assign(name=ORIGINAL["name"]).iloc[[3, 0, 2]]
    stranger = pd.DataFrame({"age": ["20"], "town": ["X"], "disease": ["flu"], "name": ["Zoe"]})
    found = subject(pd.concat([mixed, stranger]), match="name")
    assert published(found, 0) == ("[20, 30]", "X", "flu")
    assert published(found, 1) == ()  # Bob was left out
    assert published(found, 2) == ("[40, 50]", "Y", "flu")
    assert published(found, 3) == ("[40, 50]", "Y", "cold")
    assert found.release.rows == 4  # Zoe is in the release and not in the original
    assert found.release.columns == ("age", "town", "disease")


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_rows_matched_by_the_provenance(tmp_path: Path, method: str) -> None:
    table = Table.from_frame(ORIGINAL, SCHEMA)
    settings = {"mondrian": {"k": 2}, "anatomy": {"l": 2}}[method]
    release, whose = ANONYMIZERS.get(method).configure(settings).anonymize(table, np.random.default_rng(1))
    files, private = write_release(release, whose, tmp_path / "release")
    assert private is not None
    if len(release.blocks) > 1:
        (tmp_path / "release").mkdir()
    ORIGINAL.to_csv(tmp_path / "original.csv", index=False)
    write_files({**files, tmp_path / "whose.csv": private})
    found = subject(tmp_path / "release", tmp_path / "original.csv", provenance=tmp_path / "whose.csv")
    own = read_subject(Sources(release, original=table, provenance=whose), seed=3)
    assert own.release is release
    for row in range(4):
        assert published(found, row) == published(own, row)
        assert published(found, row)[-1] == ORIGINAL["disease"][row]
    digests = {i.role: i.sha256 for i in found.inputs}
    assert digests["original"] == sha256((tmp_path / "original.csv").read_bytes())
    assert digests["provenance"] == sha256((tmp_path / "whose.csv").read_bytes())


def test_rows_in_another_order_are_doubted() -> None:
    original = pd.concat([ORIGINAL] * 10, ignore_index=True).drop(columns="name")
    release = pd.concat([RELEASE] * 10, ignore_index=True)
    found = subject(release.sort_values("age", ascending=False), original, match="rows").notes[0]
    assert isinstance(found, Note)
    assert found.kind == NoteKind.DOUBT
    assert "would not if rows were matched at random" in found.text


def test_labels_that_do_not_cover_the_truth_are_noted() -> None:
    found = subject(RELEASE.iloc[[2, 1, 0, 3]], match="rows")  # Ann and Cas have changed places
    assert found.notes == tuple(
        Note(f"{column}: 2 of 4 labels do not cover the original value. Check how rows are matched.", NoteKind.DOUBT)
        for column in ("age", "town")
    )


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"match": "rows", "release": RELEASE.head(3)}, ReleaseError, "as many rows as the original. Got 3 and 4."),
        ({"match": "id"}, ReleaseError, "release: there is no column 'id' to match rows by."),
        ({"match": "name"}, ReleaseError, "release: there is no column 'name' to match rows by."),
        (
            {"match": "name", "release": RELEASE.assign(name=["Ann", "Ann", "Cas", "Dee"])},
            ReleaseError,
            "release: an id of the column 'name' occurs twice.",
        ),
        (
            {"match": "town"},
            ReleaseError,
            "original, row 2, column 'town': an id of 1 character that row 1 has too. Ids must be unique.",
        ),
        ({"match": "rows", "provenance": "whose.csv"}, UsageError, "Give either match or provenance"),
        ({"match": "rows", "original": None}, UsageError, "Give the original and one of these, or neither"),
        ({"provenance": "whose.csv", "original": None}, UsageError, "Give the original and one of these, or neither"),
        ({}, UsageError, "Give the original and one of these, or neither"),
        ({"schema": None}, UsageError, "A release from a file or frame needs its schema."),
        (
            {"original": ORIGINAL.drop(columns="disease"), "match": "rows"},
            TableError,
            "original: the column 'disease' of the schema",
        ),
        ({"release": RELEASE.head(0), "match": "rows"}, ReleaseError, "release: the frame must have at least one row."),
        ({"provenance": "none.csv"}, TableError, "none.csv: there is no such file."),
        ({"release": "none.csv", "match": "rows"}, TableError, "none.csv: there is no such file."),
        ({"schema": "none.toml", "match": "rows"}, AuditorError, "none.toml: there is no such file."),
    ],
)
def test_what_does_not_go_together(settings: dict[str, Any], error: type[AuditorError], message: str) -> None:
    with pytest.raises(error) as caught:
        subject(**settings)
    assert message in str(caught.value)


def test_a_release_in_memory_needs_its_table() -> None:
    table = Table.from_frame(ORIGINAL, SCHEMA)
    release, whose = ANONYMIZERS.get("identity")().anonymize(table, np.random.default_rng(1))
    for original, provenance in ((ORIGINAL, whose), (table, None), (None, whose)):
        with pytest.raises(UsageError, match="needs the table it was made from and its provenance"):
            read_subject(Sources(release, original=original, provenance=provenance), seed=1)
    with pytest.raises(UsageError, match="For a population beside a release in memory"):
        read_subject(Sources(release, original=table, provenance=whose, population=ORIGINAL), seed=1)
    with pytest.raises(UsageError, match="needs its original and provenance as files or frames"):
        read_subject(Sources(RELEASE, SCHEMA, table), seed=1)


def test_several_blocks_are_not_matched_by_rows(tmp_path: Path) -> None:
    table = Table.from_frame(ORIGINAL, SCHEMA)
    release, _ = ANONYMIZERS.get("anatomy")().anonymize(table, np.random.default_rng(1))
    (tmp_path / "release").mkdir()
    write_files(write_release(release, None, tmp_path / "release")[0])
    with pytest.raises(UsageError, match="matched by its provenance"):
        subject(tmp_path / "release", match="rows")
    alone = subject(tmp_path / "release", None)
    assert (alone.people, alone.provenance, alone.release.kind) == (None, None, Kind.BUCKETIZED)
    assert "does not say whose value is whose" in alone.notes[0]


# ----- a release alone ------------------------------------------------------------------------------------------------


def test_a_release_alone_knows_the_class_and_the_published_value() -> None:
    found = subject(RELEASE.assign(disease=["flu", "{flu, HIV}", "cold", "*"]), None)
    assert not found.has_original
    assert found.people is not None
    assert found.provenance is not None
    domain = found.people.domains["disease"]
    truth = [domain.texts[code] if code >= 0 else None for code in found.people.codes["disease"]]
    assert truth == ["flu", None, "cold", None]  # a label of several values does not say which
    assert [published(found, row)[0] for row in range(4)] == ["[20, 30]"] * 2 + ["[40, 50]"] * 2
    assert list(found.people.codes) == ["disease"]
    assert "There is no original" in found.notes[0]


def test_nobody_is_looked_up_in_a_population_without_an_original() -> None:
    population = ORIGINAL.drop(columns="disease")
    found = subject(RELEASE, None, population=population)
    assert (found.has_original, len(found.outsiders)) == (False, 0)
    assert found.population is not None
    assert "The population was only counted beside the classes" in found.notes[0]
    assert [i.role for i in found.inputs] == ["release", "population"]
    alone = run_audit(found, Options(attacks=("linking",)))
    assert [adversary.stance for adversary in alone.adversaries] == ["prosecutor"]
    assert alone.release.register is not None  # it is counted beside the classes
    both = run_audit(subject(match="rows", population=population), Options(attacks=("linking",)))
    assert [adversary.stance for adversary in both.adversaries] == ["prosecutor", "journalist", "marketer"]


# ----- outsiders ------------------------------------------------------------------------------------------------------


def tables(original: dict[str, list[str]], population: dict[str, list[str]]) -> tuple[Table, Table]:
    one, other = encode(SCHEMA, [RawTable("original", original), RawTable("population", population)], ())
    return one, other


def test_outsiders_by_identifier() -> None:
    original, population = tables(
        {"name": ["Bob", "Dee"], "age": ["30", "30"], "town": ["X", "X"]},
        {"name": ["Ann", "Bob", "Cas", "Dee"], "age": ["30", "31", "30", "30"], "town": ["X"] * 4},
    )
    assert find_outsiders(original, population).tolist() == [0, 2]


def test_outsiders_by_quasi_identifiers_as_many_as_are_left() -> None:
    original, population = tables(
        {"name": ["a", "b", "c"], "age": ["30", "30", "40"], "town": ["X", "X", "Y"]},
        {"age": ["30", "40", "30", "30", "50"], "town": ["X", "X", "X", "X", "Y"]},
    )
    # Three people are (30, X), two of them in the original: one is left. Nobody else of the population is in it.
    assert find_outsiders(original, population).tolist() == [1, 3, 4]


def test_outsiders_of_a_subject() -> None:
    population = pd.concat([ORIGINAL, ORIGINAL.assign(name=["E", "F", "G", "H"])]).drop(columns="disease")
    found = subject(match="rows", population=population.iloc[::-1])
    assert found.outsiders.tolist() == [0, 1, 2, 3]
    assert found.population is not None
    assert found.population.rows == 8


def test_a_population_without_anything_in_common() -> None:
    original, population = tables({"age": ["30"], "town": ["X"]}, {"disease": ["flu"]})
    with pytest.raises(TableError, match="population: a population must have the identifiers or quasi-identifiers"):
        find_outsiders(original, population)


PEOPLE = st.lists(st.tuples(st.sampled_from(["20", "30"]), st.sampled_from("XY")), min_size=1, max_size=8)


@given(PEOPLE, PEOPLE)
def test_outsiders_are_the_multiset_difference(ours: list[tuple[str, str]], theirs: list[tuple[str, str]]) -> None:
    original, population = tables(
        {"age": [a for a, _ in ours], "town": [t for _, t in ours]},
        {"age": [a for a, _ in theirs], "town": [t for _, t in theirs]},
    )
    left = list(ours)
    outside = []
    for row, person in enumerate(theirs):
        if person in left:
            left.remove(person)
        else:
            outside.append(row)
    assert find_outsiders(original, population).tolist() == outside


# ----- targets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (["1", "4"], (0, 3)),
        (["Cas"], (2,)),
        (["name=Cas", "3", "Ann"], (2, 0)),
        (["town=X"], (0, 1)),
        (["age=40.0"], (2,)),
        ([], ()),
    ],
)
def test_targets(wanted: list[str], rows: tuple[int, ...]) -> None:
    assert find_targets(wanted, Table.from_frame(ORIGINAL, SCHEMA)) == rows


def test_a_target_who_is_only_in_the_population_is_an_outsider() -> None:
    schema, cells = (
        Schema.from_dict({"columns": {"id": {"role": "identifier"}}}),
        ({"id": ["a", "b"]}, {"id": ["b", "c"]}),
    )
    members, others = encode(schema, [RawTable(name, one) for name, one in zip(("in", "out"), cells, strict=True)])
    assert find_targets(["b"], members, others) == (1,)
    with pytest.raises(UsageError, match="number 1 in the list is not in the original but in out: an outsider"):
        find_targets(["c"], members, others)
    with pytest.raises(UsageError, match="number 1 in the list is not in id"):
        find_targets(["d"], members, others)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("0", "targets: number 1 in the list must be a row from 1 to 4."),
        ("5", "targets: number 1 in the list must be a row from 1 to 4."),
        ("Zoe", "targets: number 1 in the list is not in name. Give row numbers, or COLUMN=VALUE."),
        ("town=Z", "targets: number 1 in the list is not in town."),
        ("city=X", "targets: number 1 in the list is not in name."),
        ("²", "targets: number 1 in the list is not in name."),
        ("-1", "targets: number 1 in the list is not in name."),
    ],
)
def test_targets_that_are_not_there(wanted: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_targets([wanted], Table.from_frame(ORIGINAL, SCHEMA))
    assert message in str(caught.value)


def test_targets_by_name_need_an_identifier() -> None:
    without = Schema.from_dict({"columns": {c: v for c, v in COLUMNS.items() if c != "name"}})
    with pytest.raises(UsageError, match="the schema names no identifier"):
        find_targets(["Ann"], Table.from_frame(ORIGINAL.drop(columns="name"), without))


# ----- files ----------------------------------------------------------------------------------------------------------


def test_a_table_is_read_with_the_schema_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(
        '[table]\ndelimiter = ";"\n[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.town]\nrole = "quasi"\n'
    )
    (tmp_path / "data.csv").write_text("age;town\n30;X\n20;Y\n")
    table = read_table(tmp_path / "data.csv", tmp_path / "schema.toml")
    assert table.codes["age"].tolist() == [1, 0]
    assert table.texts("town") == ["X", "Y"]
    data, schema = tmp_path / "data.csv", str(tmp_path / "schema.toml")
    found = read_subject(Sources(data, schema, data, "rows"), seed=1)
    assert [i.role for i in found.inputs] == ["release", "original", "schema"]
    assert found.inputs[2].sha256 == sha256((tmp_path / "schema.toml").read_bytes())


def test_published_identifiers_are_found() -> None:
    named = RELEASE.assign(name=ORIGINAL["name"].tolist())
    assert subject(named, None).identifiers == ("name",)
    matched = subject(named, match="name")  # the steward's own way to match, not something that is published
    assert matched.identifiers == ()
    assert any("used to match rows" in note for note in matched.notes)


def test_perturbed_values_are_noted_and_not_refused() -> None:
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {"age": rng.integers(20, 60, 80), "town": rng.choice(["X", "Y"], 80), "disease": rng.choice(["flu", "HIV"], 80)}
    )
    noisy = people.assign(age=people["age"] + rng.integers(-3, 4, 80))
    found = subject(noisy, people, match="rows")
    (note,) = found.notes
    assert isinstance(note, Note)
    assert (note.text.split(":")[0], note.kind) == ("age", NoteKind.DOUBT)


def test_people_whose_values_changed_are_still_members() -> None:
    # nobody has an identifier, and everybody's income went up: the quasi-identifiers still say who is in
    original = {"age": ["20", "30", "30"], "town": ["X", "X", "X"], "disease": ["flu", "flu", "HIV"]}
    population = {"age": ["30", "20", "30", "30"], "town": ["X"] * 4, "disease": ["cold", "cold", "HIV", "cold"]}
    assert find_outsiders(*tables(original, population)).tolist() in ([0], [3])


@pytest.mark.parametrize("kind", [{}, {"type": "numeric"}])
def test_a_neutral_value_that_the_original_lacks_is_no_reason_to_stop(kind: dict[str, str]) -> None:
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, "note": {"role": "neutral", **kind}}
    original = pd.DataFrame({"age": list("aabb"), "ill": list("xyxy"), "note": ["1", "2", "3", "5"]})
    release = original.assign(note=["1", "4", "", "5"])  # 4 and a missing value are new
    schema = Schema.from_dict({"columns": columns})
    population = pd.concat([original, original.assign(note="9")])
    for known in ({"original": original, "match": "rows"}, {"population": population}):
        sources = Sources(release, schema, **known)
        subject = read_subject(sources, 1)
        domain = subject.release.labels["note"].domain
        assert {"5", "", *([] if kind else ["4"])} <= set(domain.texts)  # a number that no table has is a centroid
        for table in (subject.people, subject.population):
            if table is not None and "note" in table.codes:
                assert table.domains["note"] is domain  # over the same codes
        held = subject.people if "original" in known else subject.population
        assert held is not None
        assert held.texts("note")[:4] == ["1", "2", "3", "5"]
    both = Sources(release, schema, original, "rows", population=population)
    assert run_audit(read_subject(both, 1), Options(attacks=("singling-out", "membership"), utility=())).risks
    # of other columns it is: a value that nobody has
    with pytest.raises(AuditorError):
        read_subject(Sources(release.assign(ill=list("xyzz")), schema, original, "rows"), 1)
