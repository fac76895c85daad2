"""How labels were read, said per column: small releases by hand, and the ARX reference releases without a hint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import auditor
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.record.explanation import ColumnFacts, LabelExplanation
from auditor.model.schema import Schema
from auditor.profiling.explaining import explain_labels
from reports import render_labels
from tests.support.adult import USED, unpack_release, write_adult

ARX = ("k5_s5_8qi", "local_k5_8qi", "notation_interval_set", "notation_microagg")


def explain(
    columns: dict[str, Any], cells: dict[str, list[str]], original: Any = None, **more: Any
) -> LabelExplanation:
    import pandas as pd

    schema = Schema.from_dict({"columns": columns})
    given = None if original is None else pd.DataFrame(original, dtype=str)
    return explain_labels(pd.DataFrame(cells, dtype=str), schema, original=given, **more)


def column(settings: dict[str, Any], texts: list[str], original: list[str] | None = None, **more: Any) -> ColumnFacts:
    given = None if original is None else {"c": original}
    return explain({"c": {"role": "quasi", **settings}}, {"c": texts}, given, **more).find("c")


def table(facts: ColumnFacts) -> dict[str, tuple[int, int, int | None, int | None]]:
    """Kind (and level) → labels, cells, least, greatest."""
    return {
        n.kind + ("" if n.level is None else f" {n.level}"): (n.labels, n.cells, n.least, n.greatest)
        for n in facts.notations
    }


TREE = {"Any": {"North": ["a", "b"], "South": ["c", {"Coast": ["d", "e"]}]}}


def test_a_column_of_all_kinds() -> None:
    texts = ["20", "20", "[20, 40[", "<20", "{17, 40}", "4*", "33.25", "**", "*", "*", ""]
    facts = column({"type": "numeric"}, texts, ["17", "20", "25", "40", "45", ""])
    # 4* covers 40 and 45; ** and * also the missing value, the sixth.
    assert table(facts) == {
        "value": (1, 2, 1, 1),
        "centroid": (1, 1, 0, 0),
        "interval": (1, 1, 2, 2),
        "bound": (1, 1, 1, 1),
        "mask": (1, 1, 2, 2),
        "set": (1, 1, 2, 2),
        "everything": (1, 1, 6, 6),
        "suppressed": (1, 2, 6, 6),
        "missing": (1, 1, 1, 1),
    }
    assert (facts.values, facts.values_from) == (5, "original")
    assert "Numbers that are not values of the column are read as averages" in " ".join(facts.notes)


def test_groups_by_level_and_mixed_levels() -> None:
    facts = column({"taxonomy": TREE}, ["a", "North", "North", "Coast", "South", "Any", "*"])
    assert table(facts) == {
        "value": (1, 1, 1, 1),
        "group 1": (1, 1, 2, 2),
        "group 2": (2, 3, 2, 3),
        "group 3": (1, 1, 5, 5),
        "suppressed": (1, 1, 5, 5),
    }
    assert (facts.levels, facts.mixed_levels, facts.overlap) == ((1, 2, 3), True, "within")  # from the values up
    assert (facts.values, facts.values_from) == (5, "schema")
    same = column({"taxonomy": TREE}, ["North", "South", "*"])
    assert (same.mixed_levels, same.overlap) == (False, "apart")


def test_labels_that_overlap() -> None:
    facts = column({"type": "numeric"}, ["20-39", "30-49"] * 10)
    assert (facts.overlap, facts.overlapping, facts.mixed_levels) == ("across", ("20-39", "30-49"), False)
    facts = column({"type": "numeric"}, ["20-39", "25"] * 10)
    assert (facts.overlap, facts.overlapping, facts.mixed_levels) == ("within", ("20-39", "25"), True)


def test_ranges_among_numbers_of_a_nominal_column_are_noticed() -> None:
    # half of the labels are numbers and one of four is a range: a person should hear of it
    notes = " ".join(column({}, ["20", "21", "22", "20-39"] * 10).notes)
    assert "`20-39` looks like a range of numbers" in notes
    assert not column({}, ["20", "21", "22", "A"] * 10).notes


def test_labels_of_a_sensitive_column_that_overlap() -> None:
    """North and its own town a may be one value, and count as two: whoever reads l should know."""
    said = "Class statistics count each label"
    quasi = {"q": {"role": "quasi"}}
    for texts, told in ((["a", "North"], True), (["a", "South"], False)):
        found = explain({**quasi, "c": {"role": "sensitive", "taxonomy": TREE}}, {"q": ["x", "x"], "c": texts})
        assert any(said in note for note in found.find("c").notes) is told
    assert not any(said in note for note in column({"taxonomy": TREE}, ["a", "North"]).notes)


def test_columns_withheld_together() -> None:
    roles = {name: {"role": "quasi"} for name in "abc"}
    cells = {"a": ["*", "x", "x"], "b": ["*", "y", "y"], "c": ["z", "z", "z"]}
    assert "a, b are suppressed together, c never" in explain(roles, cells).suppression.notes[0]
    assert not explain(roles, {**cells, "b": ["*", "*", "y"]}).suppression.notes  # not together
    assert not explain(roles, {**cells, "c": ["*", "z", "z"]}).suppression.notes  # then the row is suppressed


def test_long_labels_are_shown_where_they_part() -> None:
    long = ", ".join(f"v{n}" for n in range(30))
    text = render_labels(explain({"c": {"role": "quasi"}}, {"c": [f"{{{long}, last}}", f"{{{long}, other}}"] * 10}))
    title, line, *_ = text.splitlines()
    assert len(title) == len(line)
    assert max(map(len, text.splitlines())) <= 100  # the width that is asked for, without any asking
    shown = next(row for row in text.splitlines() if "neither holds the other" in row)
    assert "last}`" in text
    assert "other}`" in text
    assert "…" in shown


def test_a_text_that_is_a_value_and_an_interval() -> None:
    order = {"order": ["20", "30", "39", "20-39"]}
    facts = column(order, ["20-39"] * 12)
    assert facts.notes == (
        "`20-39` is a value of the column, so it is read as the value; "
        'write notation = ["interval"] under [columns.c] to read it as an interval.',
    )
    facts = column({**order, "notation": "interval"}, ["20-39"] * 12)
    assert table(facts) == {"interval": (1, 12, 3, 3)}
    assert facts.asked == ("interval",)
    assert facts.notes == ()
    mixed = column(order, ["20-39"] * 12 + ["20"] * 12)
    assert 'write notation = ["interval", "value"] under' in mixed.notes[0]


def test_a_group_that_is_not_what_its_name_says() -> None:
    bands = {"type": "numeric", "taxonomy": {"20-39": ["21", "40"], "0-19": ["1", "20"]}}
    (note,) = column(bands, ["20-39", "0-19"] * 10).notes
    assert note.startswith("`20-39` (and 1 more like it) is a group of the taxonomy, so it is read as the group;")
    honest = {"type": "numeric", "taxonomy": {"20-39": ["20", "39"], "0-19": ["1", "19"]}}
    assert column(honest, ["20-39", "0-19"] * 10).notes == ()


def test_numbers_beside_averages() -> None:
    facts = column({"type": "numeric"}, ["20"] * 12 + ["22.5"] * 12, ["20", "25"])
    assert 'is a value of the column, so it is read as the value; write notation = ["centroid"]' in facts.notes[0]
    assert column({"type": "numeric"}, ["20"] * 12, ["20", "25"]).notes == ()


def test_ranges_in_a_nominal_column() -> None:
    (note,) = column({}, ["20-39", "40-59", "60+"] * 10).notes
    assert "the column is nominal, so it is read as a value" in note
    assert 'write type = "numeric"' in note
    assert column({}, ["flu", "<=50K", "cold"] * 10).notes == ()


def test_a_mask_without_the_values_says_so() -> None:
    facts = column({}, ["U****", "M****", "Peru"] * 12)
    assert table(facts) == {"mask": (2, 24, None, None), "value": (1, 12, 1, 1)}
    assert (facts.values, facts.values_from) == (None, "labels")
    assert "It is not known which values masks and periods cover" in facts.notes[0]


def test_values_that_few_people_have_are_not_shown() -> None:
    texts = ["flu"] * 10 + ["HIV"] + ["{flu, cold}"] * 2 + ["{flu, cold, gout}"]
    hidden = explain({"c": {"role": "sensitive"}}, {"c": texts})
    assert "HIV" not in hidden.to_json() + render_labels(hidden)
    assert "(a rare value)" in render_labels(hidden)
    assert "{flu, cold}" in render_labels(hidden)
    assert "gout" not in hidden.to_json() + render_labels(hidden)  # one person's own label
    shown = explain({"c": {"role": "sensitive"}}, {"c": texts}, reveal=True)
    assert "HIV" in shown.to_json()
    assert "HIV" in render_labels(shown)


def test_the_conventions_on_withheld_rows() -> None:
    quasi = {"role": "quasi"}
    found = explain({"a": quasi, "b": quasi}, {"a": ["1", "1", "*", "*", "*"], "b": ["x", "x", "*", "*", "x"]})
    # Two rows are withheld altogether, one in part: classes {1,x} of two and {*,x} of one.
    assert (found.suppression.rows, found.suppression.partly) == (2, 1)
    assert {c.name: (c.classes, c.k) for c in found.suppression.conventions} == {
        "excluded": (2, 1),
        "wildcard": (2, 1),
        "own": (3, 1),
    }
    everything = explain({"a": quasi}, {"a": ["*", "*"]}).suppression
    assert (everything.rows, everything.partly) == (0, 0)
    assert "All quasi-identifiers of all rows are suppressed" in everything.notes[0]


def test_a_mark_that_is_also_the_root() -> None:
    tree = {"role": "quasi", "taxonomy": {"N": ["a"], "S": ["b"]}}
    notes = explain({"c": tree, "d": {"role": "quasi"}}, {"c": ["*", "N"], "d": ["*", "x"]}).suppression.notes
    assert "is also the root of the taxonomy (c)" in notes[0]
    free = explain({"c": {**tree, "suppressed": []}}, {"c": ["*", "N"]})
    assert free.suppression.notes == ()
    assert table(free.find("c")) == {"group 1": (1, 1, 1, 1), "group 2": (1, 1, 2, 2)}


def test_columns_with_their_own_marks_are_told_apart() -> None:
    found = explain(
        {"a": {"role": "quasi", "suppressed": ["XX"], "missing": ["NA"]}, "b": {"role": "quasi"}},
        {"a": ["XX", "NA", "p"], "b": ["*", "", "q"]},
    )
    assert [(n.kind, n.cells) for n in found.find("a").notations] == [("value", 1), ("suppressed", 1), ("missing", 1)]
    text = render_labels(found)
    assert "Suppressed: `XX`. Missing: `NA`. (a)" in text
    assert "Suppressed: `*`. Missing: the empty cell. (b)" in text


def test_the_rows_order_does_not_matter() -> None:
    texts = np.array(["20-39", "25", "*", "{1, 2}", "40+", "25"] * 3)
    shuffled = np.random.default_rng(3).permutation(texts)
    assert column({"type": "numeric"}, texts.tolist()) == column({"type": "numeric"}, shuffled.tolist())


def test_an_empty_frame_and_a_bad_label() -> None:
    with pytest.raises(ReleaseError, match="at least one row"):
        column({}, [])
    with pytest.raises(ReleaseError, match="denotes no value"):
        column({"type": "numeric"}, ["young"])


# ----- the command ----------------------------------------------------------------------------------------------------


def run(*arguments: object) -> Any:
    from auditor.commands.app import app

    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    release, schema = tmp_path / "release.csv", tmp_path / "schema.toml"
    release.write_text("age,city,ill\n" + "20-39,13*05,flu\n" * 12 + "*,*,cold\n", encoding="utf-8")
    schema.write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.city]\nrole = "quasi"\n'
        '[columns.ill]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    return release, schema


def test_the_command_prints_a_table_and_runs_no_attack(files: tuple[Path, Path]) -> None:
    release, schema = files
    result = run("audit", release, "--schema", schema, "--explain-labels")
    assert result.exit_code == 0, result.output
    assert "age (quasi, numeric; its values are not given)" in result.output
    assert "interval" in result.output
    assert "13*05" in result.output
    assert "All quasi-identifiers are suppressed in 1 row, some of them in" in result.output
    assert "linking" not in result.output
    assert run("audit", release, "--schema", schema, "--explain-labels", "--quiet").output == ""


def test_the_command_as_json(files: tuple[Path, Path], tmp_path: Path) -> None:
    release, schema = files
    result = run("audit", release, "--schema", schema, "--explain-labels", "--json", "-")
    content = json.loads(result.output)
    assert content["format"] == "auditor-label-explanation/1"
    assert [c["column"] for c in content["blocks"][0]] == ["age", "city", "ill"]
    assert content["suppression"]["rows"] == 1
    out = tmp_path / "labels.json"
    assert run("audit", release, "--schema", schema, "--explain-labels", "--json", out).exit_code == 0
    assert json.loads(out.read_text()) == content
    assert run("audit", release, "--schema", schema, "--explain-labels", "--json", out).exit_code != 0  # it exists


def test_options_of_an_audit_do_not_go_with_it(files: tuple[Path, Path], tmp_path: Path) -> None:
    release, schema = files
    result = run(
        "audit", release, "--schema", schema, "--explain-labels", "--policy", "k5", "--html", tmp_path / "r.html"
    )
    assert isinstance(result.exception, UsageError)
    assert "leave out --html, --policy" in str(result.exception)
    release.write_text("age,city,ill\nyoung,1,flu\n", encoding="utf-8")
    result = run("audit", release, "--schema", schema, "--explain-labels")
    assert isinstance(result.exception, ReleaseError)
    assert "a label of 5 characters denotes no value" in str(result.exception)


def test_the_original_gives_the_values_without_a_match(files: tuple[Path, Path], tmp_path: Path) -> None:
    release, schema = files
    original = tmp_path / "data.csv"
    original.write_text("age,city,ill\n" + "20,13005,flu\n30,13105,cold\n39,14000,flu\n40,1,flu\n", encoding="utf-8")
    found = explain_labels(release, schema, original=original)
    assert table(found.find("age"))["interval"] == (1, 12, 3, 3)
    assert table(found.find("city"))["mask"] == (1, 12, 2, 2)
    assert found == auditor.explain_labels(str(release), str(schema), original=str(original))


def test_a_release_of_several_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "sliced"
    folder.mkdir()
    (folder / "block1.csv").write_text("bucket,age\n" + "1,20-39\n" * 11 + "2,*\n", encoding="utf-8")
    (folder / "block2.csv").write_text("bucket,ill\n" + "1,flu\n" * 11 + "2,cold\n", encoding="utf-8")
    manifest = {"format": "auditor-release/1", "blocks": [{"file": "block1.csv"}, {"file": "block2.csv"}]}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}})
    found = explain_labels(folder, schema)
    assert [[c.column for c in block] for block in found.blocks] == [["age"], ["ill"]]
    assert "no row is suppressed as a whole" in found.suppression.notes[0]
    assert {c.classes for c in found.suppression.conventions} == {2}
    assert "Block 2 of 2" in render_labels(found)


def test_control_characters_and_long_labels_are_tamed() -> None:
    text = render_labels(explain({"c": {"role": "quasi"}}, {"c": ["\x1b[31mred\u202e" + "x" * 5000] * 20}))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) < 160


# ----- releases by ARX ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, LabelExplanation]:
    """The four releases with a schema that gives only role and type."""
    folder = tmp_path_factory.mktemp("arx")
    columns = {
        name: {
            "role": "sensitive" if name == "occupation" else "quasi",
            "type": "numeric" if name == "age" else "nominal",
        }
        for name in USED
    }
    schema = Schema.from_dict({"columns": columns})
    return {name: explain_labels(unpack_release(data_folder, name, folder), schema) for name in ARX}


def kinds(explanation: LabelExplanation, name: str) -> dict[str, tuple[int, int]]:
    """Kind → labels and cells; all counted with `sort | uniq -c` on the files."""
    return {n.kind: (n.labels, n.cells) for n in explanation.find(name).notations}


@pytest.mark.slow
@pytest.mark.data
def test_arx_intervals_sets_and_masks_without_a_hint(plain: dict[str, LabelExplanation]) -> None:
    found = plain["notation_interval_set"]
    assert kinds(found, "age") == {"interval": (6, 27669), "bound": (2, 1352), "suppressed": (1, 1141)}
    assert found.find("age").notations[0].examples == ("[30, 40[", "[20, 30[")
    assert kinds(found, "education") == {"set": (4, 29021), "suppressed": (1, 1141)}
    (education, _) = found.find("education").notations
    assert (education.least, education.greatest) == (4, 4)
    assert kinds(found, "native-country") == {"mask": (12, 29021), "suppressed": (1, 1141)}
    assert found.find("native-country").notations[0].examples[0].startswith("U****")
    assert kinds(found, "salary-class") == {"value": (2, 30162)}  # <=50K is a value
    assert kinds(found, "sex") == {"value": (2, 29021), "suppressed": (1, 1141)}


@pytest.mark.data
def test_arx_microaggregation_without_a_hint(plain: dict[str, LabelExplanation]) -> None:
    found = plain["notation_microagg"]
    assert kinds(found, "age") == {"interval": (90, 30035), "suppressed": (1, 127)}
    assert found.find("age").notations[0].examples[0] == "[17, 90]"
    assert found.find("age").overlap == "across"
    assert kinds(found, "education") == {"set": (92, 30035), "suppressed": (1, 127)}
    assert found.find("education").notations[0].greatest == 16
    assert kinds(found, "native-country") == {"value": (40, 30035), "suppressed": (1, 127)}


@pytest.mark.data
def test_arx_recoding_without_a_hint(plain: dict[str, LabelExplanation]) -> None:
    found = plain["k5_s5_8qi"]
    assert kinds(found, "age") == {"interval": (5, 28816), "suppressed": (1, 1346)}
    assert kinds(found, "education") == {"value": (3, 28816), "suppressed": (1, 1346)}
    assert (found.suppression.rows, found.suppression.partly) == (1346, 0)
    # ARX counts 397 classes beside the suppressed rows (risk_k5_s5_8qi.txt).
    assert {c.name: (c.classes, c.k) for c in found.suppression.conventions} == {
        "excluded": (397, 5),
        "wildcard": (397, 5),
        "own": (398, 5),
    }
    local = plain["local_k5_8qi"]
    assert kinds(local, "age") == {"value": (54, 14809), "interval": (27, 14699), "suppressed": (1, 654)}
    assert (local.find("age").overlap, local.find("age").mixed_levels) == ("within", True)
    assert local.suppression.rows == 0
    assert {c.classes for c in local.suppression.conventions} == {3394}


@pytest.mark.slow
@pytest.mark.data
def test_arx_with_the_hierarchies(data_folder: Path, tmp_path: Path) -> None:
    _, file = write_adult(data_folder, tmp_path)
    found = {name: explain_labels(unpack_release(data_folder, name, tmp_path), file) for name in ARX}
    age = found["local_k5_8qi"].find("age")
    assert table(age) == {
        "value": (54, 14809, 1, 1),
        "group 1": (14, 6595, 5, 5),
        "group 2": (8, 2853, 10, 10),
        "group 3": (5, 5251, 20, 20),
        "suppressed": (1, 654, 100, 100),
    }
    assert (age.levels, age.mixed_levels, age.overlap) == ((1, 2, 3), True, "within")
    # The hierarchy calls the years from 21 to 40 "20-39": the group is not what it says.
    assert "`20-39` (and 26 more like it) is a group of the taxonomy" in " ".join(age.notes)
    assert table(found["k5_s5_8qi"].find("education"))["group 2"] == (3, 28816, 3, 7)
    masks = table(found["notation_interval_set"].find("native-country"))["mask"]
    assert masks[:2] == (12, 29021)
    assert (masks[2] or 0) >= 1
    assert table(found["notation_interval_set"].find("age"))["interval"] == (6, 27669, 10, 10)
    assert table(found["notation_microagg"].find("education"))["set"][:2] == (92, 30035)
    assert "is also the root of the taxonomy (sex, age," in found["k5_s5_8qi"].suppression.notes[0]
