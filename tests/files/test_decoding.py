"""The key and what it decodes; a graded release as files; the commands `anonymize --key` and `decode`."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import audit
from auditor.files.decoding import decode_file, decode_table, decode_text
from auditor.files.manifests import labels_file
from auditor.files.releases import read_release, write_release
from auditor.files.tables import read_raw, write_files
from auditor.model.errors import KeyFileError, ReleaseError, UsageError
from auditor.model.key import Aliases, Categories, Key
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.conftest import Ended
from tests.support.anonymizer_cases import tables
from tests.support.grading_cases import COLUMNS, PATIENTS, patients, rows

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others

Run = Callable[..., Ended]


# ----- the key -------------------------------------------------------------------------------------------------------


@given(table=tables(), seed=st.integers(0, 3))
def test_what_is_encoded_is_decoded(table: Table, seed: int) -> None:
    release, provenance = anonymize(table, "grading", seed)
    assert provenance.key is not None
    key = Key.from_json(provenance.key.to_json())
    assert key == provenance.key
    published = {c: rows(release, provenance.fragment, c) for c in release.columns}
    decoded = decode_table(RawTable("release", published), key)
    lines = decoded.text.splitlines()[1:]
    columns = [table.texts(c) for c in release.columns]
    assert lines == [",".join(cells) for cells in zip(*columns, strict=True)]
    assert decoded.unknown == 0


def test_rules_and_trees_are_decoded() -> None:
    names = Aliases(("Flu", "Gout"), ("Ill-1", "Ill-2"), ("A02", "A01"))
    key = Key({"disease": names, "age": Categories((10.0,), (40.0,))})
    text = "IF disease = A02 AND age <= 1.4 THEN Ill-2 (3.0/1.5)\nfeature disease_A01 <= 0.5; A02x, XA02, A77, Ill-12"
    aliases_only = (
        "IF disease = Flu AND age <= 1.4 THEN Gout (3.0/1.5)\nfeature disease_Gout <= 0.5; A02x, XA02, A77, Ill-12"
    )
    decoded = decode_text(text, key)
    assert (decoded.text, decoded.replaced, decoded.unknown) == (aliases_only, 3, 2)
    decoded = decode_text(text, key, ["age"])
    assert decoded.text == aliases_only.replace("age <= 1.4", "age <= 22")
    decoded = decode_text("1.1 < age <= 1.4, age in [1.2, 1.3], 1.5", key, ["age"])
    assert decoded.text == "13 < age <= 22, age in [16, 19], 1.5"
    decoded = decode_text("1.4\n1.1 Ill-1 7.5", key, ["age"])  # where the column is not named all numbers are meant
    assert (decoded.text, decoded.replaced, decoded.unknown) == ("22\n13 Flu 7.5", 3, 1)
    with pytest.raises(UsageError, match=r"--column must name a graded column of the key .age.. Got"):
        decode_text(text, key, ["disease"])


def test_what_stands_for_several_numbers_becomes_an_interval_or_the_end_that_is_meant() -> None:
    incomes = Categories((0.0,), (5000.0,), digits=3).listing(np.array([0.0, 4990.0, 4994.0, 5000.0]))
    key = Key({"income": incomes})
    signs = "income = 1.998, income <= 1.998, income < 1.998, income > 1.998, "
    text = signs + "1.998 <= income < 1.999, income in [1.998, 1.998]"
    decoded = decode_text(text, key, ["income"])
    assert decoded.text == (
        "income = [4990, 4994], income <= 4994, income < 4990, income > 4994, 4990 <= income < 5000, income in [4990, 4994]"
    )
    assert (decoded.replaced, decoded.ranges) == (8, 1)
    table = RawTable("t", {"income": ["1.998", "1.999", "[1; 1.998]"], "n": ["3", "4", "5"]})
    found = decode_table(table, key)
    assert found.table is not None
    assert list(found.table.columns["income"]) == ["[4990, 4994]", "5000", "[0; 4994]"]
    assert found.ranges == 1


def test_tables_are_decoded_by_their_columns(tmp_path: Path) -> None:
    names = Aliases(("Flu, late", "Gout"), ("Ill-1", "Ill-2"), ("A02", "A01"))
    key = Key({"disease": names, "age": Categories((10.0,), (40.0,))}, ("", "?"), ",")
    file = tmp_path / "release.csv"
    file.write_text(
        'weight;age;disease;rule\n1,4;1,4;A02;A01 => x\n1;?;Gout;1,1\n2;"[1,1; 1,4]";Ill-1|Ill-2;\n2;9;Unknown;\n'
    )
    decoded = decode_file(file, key)
    assert decoded.text.splitlines() == [
        "weight;age;disease;rule",
        "1,4;22;Flu, late;Gout => x",
        "1;?;Gout;1,1",
        '2;"[13; 22]";Flu, late|Gout;',
        "2;9;Unknown;",
    ]
    assert (decoded.replaced, decoded.unknown) == (7, 2)
    other = tmp_path / "results"  # no ending: a table since it has a column of the key
    other.write_text("age,n\n" + '"1,4",3\n')
    assert decode_file(other, key).text == "age,n\n22,3\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no json", "must be JSON"),
        ('{"format": "auditor-run/1"}', "must have the format 'auditor-key/1'"),
        ('{"format": "auditor-key/1", "columns": {}}', "at least one column"),
        ('{"format": "auditor-key/1", "columns": {"a": {"aliases": [{"value": "x"}]}}}', '"alias1" and "alias2"'),
        ('{"format": "auditor-key/1", "columns": {"a": {"categories": [{"min": 1}]}}}', '"min" and "max" as numbers'),
        ('{"format": "auditor-key/1", "columns": {"a": {"categories": [{"min": 2, "max": 1}]}}}', "Category 1 does"),
        ('{"format": "auditor-key/1", "columns": {"a": 5}}', 'must have "aliases" or "categories"'),
        ('{"format": "auditor-key/1", "missing": 5, "columns": {"a": 5}}', "missing must be a list"),
        (
            '{"format": "auditor-key/1", "columns": {"a": {"aliases": [{"value": "x", "alias1": "n", "alias2": "n"}]}}}',
            "the alias 'n' stands twice",
        ),
    ],
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "key.json"
    file.write_text(content)
    with pytest.raises(KeyFileError, match=said):
        Key.read(file)


# ----- files ---------------------------------------------------------------------------------------------------------


def written(release: Release, folder: Path) -> Path:
    write_files(write_release(release, None, folder / "r.csv")[0], force=True)
    return folder / "r.csv"


@given(table=tables())
def test_a_release_is_read_back_without_its_key(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    release, _ = anonymize(table, "grading")
    file = written(release, tmp_path_factory.mktemp("r"))
    read = read_release(file, table.schema, np.random.default_rng(0), table.domains).release
    for column in release.columns:
        one, other = release.labels[column], read.labels[column]
        assert set(other.texts) <= set(one.texts)
        for number, text in enumerate(other.texts):
            assert other.codes(number).tolist() == one.codes(one.texts.index(text)).tolist()
            assert (number in other.aliases) == (one.texts.index(text) in one.aliases)


def test_what_aliases_denote_is_declared_and_nothing_else(tmp_path: Path) -> None:
    release, _ = anonymize(patients(), "grading")
    content = json.loads(labels_file(written(release, tmp_path)).read_text())
    assert content["labels"]["income"] == "**"
    meaning = content["labels"]["disease"]
    assert {m for name, m in meaning.items() if name.startswith("A")} == {"**"}
    assert {m for name, m in meaning.items() if "-" in name} == {"Respiratory", "Digestive"}
    assert set(content) == {"format", "sha256", "labels"}


def test_a_release_alone_names_no_hidden_value(tmp_path: Path) -> None:
    # Two values, of which one is only ever hidden: the alias must not be taken for the other one.
    columns: dict[str, Any] = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "c": {"role": "choice"}}
    schema = Schema.from_dict({"columns": columns})
    (table,) = encode(schema, [RawTable("t", {"q": ["a", "b"], "s": ["x", "y"], "c": ["1", "3"]})])
    release, _ = anonymize(table, "grading")
    read = read_release(written(release, tmp_path), schema, np.random.default_rng(0)).release
    labels = read.labels["s"]
    (hidden,) = labels.aliases
    assert len(labels.codes(hidden)) == 2
    figures = audit(tmp_path / "r.csv", schema).to_frame()
    assert not ((figures.measure == "certain") & (figures.value > 1)).any()


def test_labels_of_another_file_are_refused(tmp_path: Path) -> None:
    table = patients()
    file = written(anonymize(table, "grading")[0], tmp_path)
    file.write_text(file.read_text() + "40,F,1,Flu\n")
    rng = np.random.default_rng(0)
    with pytest.raises(ReleaseError, match="the SHA-256 differs"):
        read_release(file, table.schema, rng)
    content = json.loads(labels_file(file).read_text())
    del content["sha256"]
    labels_file(file).write_text(json.dumps(content))
    assert read_release(file, table.schema, rng).declared["income"] == "**"
    for broken, said in (
        ("[]", "must have the format"),
        ("{", "must be JSON"),
        ('{"format": "auditor-labels/1"}', "labels must be an object"),
        (
            '{"format": "auditor-labels/1", "labels": {"age": "**"}}',
            "column 'age' of the labels must be a sensitive column",
        ),
        ('{"format": "auditor-labels/1", "labels": {"income": 5}}', "must be texts"),
    ):
        labels_file(file).write_text(broken)
        with pytest.raises(ReleaseError, match=said):
            read_release(file, table.schema, rng)
    content["labels"]["disease"]["Flu"] = "Heart"
    labels_file(file).write_text(json.dumps(content))
    with pytest.raises(ReleaseError, match="'Flu' is declared to denote the label 'Heart'"):
        read_release(file, table.schema, rng, table.domains)


# ----- the command line ----------------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path, auditor_cli: Run) -> Path:
    lines = [",".join(PATIENTS), *(",".join(cells) for cells in zip(*PATIENTS.values(), strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    schema = [f"[columns.{name}]\n" + "\n".join(_toml(part)) for name, part in COLUMNS.items()]
    (tmp_path / "schema.toml").write_text("\n".join(schema))
    ended = auditor_cli(*_anonymize(tmp_path), "--key", tmp_path / "key.json", "--provenance", tmp_path / "p.csv")
    assert ended.code == 0, ended.err
    return tmp_path


def _toml(part: dict[str, Any]) -> list[str]:
    tree = part.get("taxonomy", {})
    inner = ", ".join(f"{group} = {json.dumps(values)}" for group, values in tree.items())
    lines = [f"{key} = {json.dumps(value)}" for key, value in part.items() if key != "taxonomy"]
    return [*lines, f"taxonomy = {{ {inner} }}\n"] if tree else lines


def _anonymize(folder: Path, method: str = "grading") -> list[object]:
    return [
        "anonymize",
        folder / "data.csv",
        "--schema",
        folder / "schema.toml",
        "--method",
        method,
        "-o",
        folder / "r.csv",
    ]


def test_the_key_is_private_and_kept(made: Path, auditor_cli: Run) -> None:
    assert stat.S_IMODE((made / "key.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((made / "p.csv").stat().st_mode) == 0o600
    before = (made / "key.json").read_text()
    (made / "r.csv").unlink()
    ended = auditor_cli(*_anonymize(made), "--key", made / "key.json")
    assert (ended.code, (made / "key.json").read_text()) == (2, before)
    assert "exists already" in ended.err
    assert auditor_cli(*_anonymize(made), "--key", made / "r.csv").code == 2
    ended = auditor_cli(*_anonymize(made), "--force")
    assert ended.code == 0
    assert "nobody can decode this release" in ended.err
    (made / "r.csv").unlink()
    ended = auditor_cli(*_anonymize(made, "identity"), "--key", made / "other.json")
    assert (ended.code, ended.err) == (2, "Error: --key: identity has no key; only `grading` does.\n")
    assert not (made / "other.json").exists()
    assert not (made / "r.csv").exists()


def test_decode_gives_the_original_back(made: Path, auditor_cli: Run) -> None:
    ended = auditor_cli("decode", made / "r.csv", "--key", made / "key.json")
    names = [c for c in PATIENTS if c != "choice"]
    truth = sorted(zip(*(PATIENTS[c] for c in names), strict=True))
    header, *lines = ended.out.splitlines()
    assert (ended.code, header) == (0, ",".join(names))
    assert sorted(tuple(line.split(",")) for line in lines) == truth
    assert ended.err == "12 values decoded.\n"  # seven incomes, five aliases
    ended = auditor_cli("decode", made / "r.csv", "--key", made / "key.json", "-o", made / "d.csv", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert stat.S_IMODE((made / "d.csv").stat().st_mode) == 0o600
    ended = auditor_cli("decode", made / "r.csv", "--key", made / "key.json", "-o", made / "d.parquet")
    again = [{c: list(cells) for c, cells in read_raw(made / name).columns.items()} for name in ("d.parquet", "d.csv")]
    assert (ended.code, again[0]) == (0, again[1])
    assert auditor_cli("decode", made / "r.csv", "--key", made / "key.json", "-o", made / "d.csv").code == 2
    assert auditor_cli("decode", made / "r.csv", "--key", made / "key.json", "-o", made / "r.csv", "--force").code == 2


def test_decode_says_what_is_wrong(made: Path, auditor_cli: Run) -> None:
    text = made / "rules.txt"
    text.write_text("A01 A99")
    ended = auditor_cli("decode", text, "--key", made / "key.json")
    assert ended.err == "1 values decoded, 1 not in the key and left unchanged.\n"
    assert ended.out.endswith(" A99")
    for arguments, code, said in (
        ((text, "--key", made / "none.json"), 3, "none.json: there is no such file"),
        ((made / "none.txt", "--key", made / "key.json"), 3, "none.txt: there is no such file"),
        ((text, "--key", made / "data.csv"), 3, "must be JSON"),
        ((text, "--key", made / "key.json", "--column", "disease"), 2, "must name a graded column"),
        ((text, "--key", made / "key.json", "-o", made / "d.parquet"), 2, "Parquet needs a table with distinct column"),
        ((text, "--key", made / "key.json", "-o", made / "d.xlsx"), 2, "cannot be written with the ending .xlsx"),
        ((text,), 2, "--key"),
    ):
        ended = auditor_cli("decode", *arguments)
        assert (ended.code, said in ended.err) == (code, True), ended.err


def test_audit_of_the_file_agrees_with_the_release(made: Path, auditor_cli: Run) -> None:
    arguments = ["audit", made / "r.csv", "--schema", made / "schema.toml", "--json", "-", "--quiet"]
    ended = auditor_cli(*arguments, "--original", made / "data.csv", "--provenance", made / "p.csv")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)["risks"]
    certain = [r for r in found if (r["attack"], r["measure"], r["link"]) == ("homogeneity", "certain", "class")]
    assert {r["sensitive"]: r["value"] for r in certain} == {"disease": 2, "income": 0}
    assert auditor_cli(*arguments).code == 0
    labels_file(made / "r.csv").unlink()
    ended = auditor_cli(*arguments)
    assert ended.code == 3  # without what they denote aliases are no values
    assert "is no value of [columns.disease]" in ended.err


# ----- another run's key ---------------------------------------------------------------------------------------------


def test_another_runs_key_is_refused(made: Path, auditor_cli: Run) -> None:
    again = _anonymize(made)
    again[-1] = other = made / "other.csv"
    (made / "secret").write_text("5a" * 32 + "\n")
    assert auditor_cli(*again, "--key", made / "other.json", "--secret", made / "secret").code == 0
    ended = auditor_cli("decode", made / "r.csv", "--key", made / "other.json")
    assert (ended.code, ended.out) == (3, "")
    assert "r.csv: the key is of another release, and would give wrong values." in ended.err
    # in another order, or only a part of it, with the right key it decodes
    header, *lines = other.read_text().splitlines()
    for name, kept in (("other.csv", lines), ("sorted.csv", sorted(lines)), ("part.csv", lines[:2])):
        (made / name).write_text("\n".join([header, *kept]) + "\n")
        ended = auditor_cli("decode", made / name, "--key", made / "other.json")
        assert (ended.code, "Warning" in ended.err) == (0, False), name


def test_a_key_that_knows_little_is_doubted(tmp_path: Path, auditor_cli: Run) -> None:
    key, table = tmp_path / "key.json", tmp_path / "t.csv"
    key.write_text(Key({"ill": Aliases(("Flu", "Gout"), ("I1", "I2"), ("A1", "A2"))}).to_json())
    for cells, doubted in ((("A1", "A2", "A9"), False), (("A1", "A8", "A9"), True)):
        table.write_text("\n".join(["ill", *cells]) + "\n")
        ended = auditor_cli("decode", table, "--key", key, "--quiet")
        assert (ended.code, "the key knows only 1 of 3 values" in ended.err) == (0, doubted)
