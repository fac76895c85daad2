"""Releases as files: what is written reads back as the same release, and the provenance still leads to the same records."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers import ANONYMIZERS
from auditor.files.provenances import Lines, read_provenance
from auditor.files.releases import ReadRelease, number_texts, read_release, write_release
from auditor.files.tables import write_files
from auditor.measure.classes import class_facts
from auditor.model.errors import ReleaseError, TableError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import Kind, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others

COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi", "taxonomy": {"North": ["A", "B"], "South": ["C", "D"]}},
    "note": {"role": "neutral"},
    "disease": {"role": "sensitive"},
}
ROWS = 24


def schema(**table: Any) -> Schema:
    return Schema.from_dict({"table": table, "columns": COLUMNS})


def people(rows: int = ROWS, seed: int = 1, **table: Any) -> Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows).astype(str),
            "town": rng.choice(list("ABCD"), rows),
            "note": rng.choice(["", 'say "hi", twice', "two\nlines", "Łódź"], rows),
            "disease": np.resize(["flu", "HIV, late", "cold"], rows),
        }
    )
    return Table.from_frame(frame, schema(**table))


def made(method: str, table: Table, **settings: Any) -> tuple[Release, Provenance]:
    return ANONYMIZERS.get(method).configure(settings).anonymize(table, np.random.default_rng(5))


def written(release: Release, provenance: Provenance | None, target: Path) -> Path:
    """The release on disk, and its provenance beside it."""
    files, private = write_release(release, provenance, target)
    if len(release.blocks) > 1:
        target.mkdir()
    write_files(files)
    if private is not None:
        write_files({target.parent / "provenance.csv": private})
    return target


def read_back(target: Path, table: Table) -> tuple[Release, Provenance]:
    read = read_release(
        target,
        table.schema,
        np.random.default_rng(99),
        table.domains,
        lambda blocks: read_provenance(target.parent / "provenance.csv", blocks, table.rows),
    )
    assert read.provenance is not None
    assert read.release.left_out == (read.provenance.bucket < 0).sum()
    return read.release, read.provenance


def contents(release: Release) -> Counter[Any]:
    """A release without its order: for each bucket, in each block, how often each row of texts occurs."""
    buckets: list[list[Counter[Any]]] = [[Counter() for _ in release.blocks] for _ in release.sizes]
    for number, block in enumerate(release.blocks):
        for bucket, cells in zip(block.bucket, block.cells, strict=True):
            texts = [release.labels[c].texts[cell] for c, cell in zip(block.columns, cells, strict=True)]
            buckets[bucket][number][tuple(texts)] += 1
    return Counter(tuple(frozenset(block.items()) for block in bucket) for bucket in buckets)


def record_of(release: Release, provenance: Provenance, row: int) -> list[str]:
    """What was published of one original row."""
    texts = []
    for number, block in enumerate(release.blocks):
        cells = block.cells[provenance.fragment[row, number]]
        texts += [f"{c}={release.labels[c].texts[cell]}" for c, cell in zip(block.columns, cells, strict=True)]
        assert block.bucket[provenance.fragment[row, number]] == provenance.bucket[row]
    return texts


METHODS = [
    ("identity", {}, Kind.GENERALISED),
    ("mondrian", {"k": 4}, Kind.GENERALISED),
    ("anatomy", {"l": 2}, Kind.BUCKETIZED),
    ("slicing", {"columns": [["age", "note"], ["town", "disease"]], "bucket_size": 10}, Kind.SLICED),
    ("m-invariance", {"m": 2}, Kind.BUCKETIZED),
]


@pytest.mark.parametrize(("method", "settings", "kind"), METHODS)
@pytest.mark.parametrize("table_format", [{}, {"delimiter": ";", "encoding": "cp1252"}])
@pytest.mark.parametrize("name", ["release", "release.parquet"])
def test_what_is_written_reads_back(
    tmp_path: Path, method: str, settings: dict[str, Any], kind: Kind, table_format: dict[str, Any], name: str
) -> None:
    table = people(**table_format)
    release, provenance = made(method, table, **settings)
    assert release.kind is kind
    again, whose = read_back(written(release, provenance, tmp_path / name), table)
    assert contents(again) == contents(release)
    facts, same = class_facts(again), class_facts(release)
    assert facts.class_sizes == same.class_sizes
    assert facts.sensitive == same.sensitive
    assert facts.blocks == same.blocks
    if kind is not Kind.GENERALISED:
        assert (again.method, again.params) == (release.method, release.params)
    for row in range(table.rows):
        assert record_of(again, whose, row) == record_of(release, provenance, row)


def test_rows_that_were_left_out_stay_out(tmp_path: Path) -> None:
    table = people()
    columns = ["age", "town", "disease"]
    labels = {c: Labels.exact(table.domains[c]) for c in columns}
    bucket = np.arange(table.rows) % 3 - 1  # every third row is left out
    for blocks in ([columns], [["age", "town"], ["disease"]]):
        release, provenance = publish(table.schema, labels, table.codes, blocks, bucket, np.random.default_rng(1))
        folder = tmp_path / f"{len(blocks)}"
        folder.mkdir()
        again, whose = read_back(written(release, provenance, folder / "release"), table)
        assert again.rows == 16
        assert (whose.bucket < 0).tolist() == (bucket < 0).tolist()
        assert contents(again) == contents(release)
        for row in np.flatnonzero(bucket >= 0).tolist():
            assert record_of(again, whose, row) == record_of(release, provenance, row)


@pytest.mark.parametrize(("method", "settings", "kind"), METHODS)
def test_no_original_row_shows_in_the_files(tmp_path: Path, method: str, settings: dict[str, Any], kind: Kind) -> None:
    table = people(400)
    release, provenance = made(method, table, **settings)
    files, private = write_release(release, provenance, tmp_path / "release")
    published = {c for block in release.blocks for c in block.columns}
    assert published - {"counterfeits"} == {"age", "town", "note", "disease"}
    assert ("counterfeits" in published) == (method == "m-invariance")
    for file, text in files.items():
        assert "person " not in text
        if file.suffix != ".json":
            header = text.splitlines()[0].split(",")
            assert set(header) <= {*published, "bucket"}
            assert ("bucket" in header) == (kind is not Kind.GENERALISED)
    assert private is not None
    assert private.startswith("row,bucket,fragment_1")
    assert len(private.splitlines()) == table.rows + 1
    # The order of the rows in the files says nothing about their order in the original.
    lines = [list(map(int, line.split(",")[2:-2])) for line in private.splitlines()[1:]]
    for fragments in zip(*lines, strict=True):
        assert abs(np.corrcoef(np.arange(table.rows), fragments)[0, 1]) < 0.2
    assert write_release(release, None, tmp_path / "release") == (files, None)


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 3))
def test_any_blocks_and_buckets_read_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, rows: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    table = people(rows, seed % 1000)
    columns = ["age", "town", "note", "disease"]
    parts = [list(part) for part in np.array_split(rng.permutation(columns), count)]
    labels = {c: Labels.exact(table.domains[c]) for c in columns}
    release, provenance = publish(table.schema, labels, table.codes, parts, rng.integers(0, 3, rows), rng)
    again, whose = read_back(written(release, provenance, tmp_path_factory.mktemp("files") / "release"), table)
    assert contents(again) == contents(release)
    for row in range(rows):
        assert record_of(again, whose, row) == record_of(release, provenance, row)


def test_a_schema_with_a_given_header_reads_our_releases(tmp_path: Path) -> None:
    table = people(header=["name", "age", "town", "note", "disease"])
    release, provenance = made("identity", table)
    again, _ = read_back(written(release, provenance, tmp_path / "release.csv"), table)
    assert contents(again) == contents(release)


def test_a_parquet_release_has_numbers_where_they_are_numbers(tmp_path: Path) -> None:
    table = people()
    for method, settings, ages in (("identity", {}, "int64"), ("mondrian", {"k": 4}, "string")):
        file = written(*made(method, table, **settings), tmp_path / f"{method}.parquet")
        assert file.read_bytes()[:4] == b"PAR1"
        kinds = {field.name: str(field.type) for field in pq.read_schema(file)}
        assert kinds == {"age": ages, "town": "string", "note": "string", "disease": "string"}
        (tmp_path / "provenance.csv").unlink()
    folder = written(*made("anatomy", table, l=2), tmp_path / "anatomy.parquet")
    assert sorted(file.name for file in folder.iterdir()) == ["block1.parquet", "block2.parquet", "manifest.json"]
    assert str(pq.read_schema(folder / "block2.parquet").field("bucket").type) == "int64"


@pytest.mark.parametrize("name", ["r.xlsx", "r.XLS", "r.arrow", "r.csv.gz"])
def test_releases_are_written_as_csv_or_parquet(tmp_path: Path, name: str) -> None:
    release, _ = made("identity", people())
    with pytest.raises(
        UsageError, match=r"cannot be written with the ending \.\w+\. Use one of \.csv \(CSV\), \.parquet \(Parquet\)\."
    ):
        write_release(release, None, tmp_path / name)


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_values_that_look_like_formulas_read_back(tmp_path: Path, name: str) -> None:
    values = ["=cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "'=x", "-5", "+x"]
    frame = pd.DataFrame({"age": ["1"] * 6, "town": ["A"] * 6, "note": ["<b>"] * 6, "disease": values})
    table = Table.from_frame(frame, schema())
    release, provenance = made("identity", table)
    again, _ = read_back(written(release, provenance, tmp_path / name), table)
    assert contents(again) == contents(release)
    if name.endswith(".csv"):
        published = {line.rsplit(",", 1)[1] for line in (tmp_path / name).read_text().splitlines()[1:]}
        assert published == {"'=cmd|' /C calc'!A0", "'@SUM(A1)", "'-2+3", "''=x", "-5", "'+x"}


# ----- files of other tools -------------------------------------------------------------------------------------------


def read_of(**columns: list[str]) -> ReadRelease:
    return read_release(pd.DataFrame(columns), schema(), np.random.default_rng(0))


def test_labels_make_the_classes_of_a_release_of_one_block() -> None:
    table = people()
    frame = pd.DataFrame(
        {
            "age": ["[20, 60]", "*", "[20, 60]", table.texts("age")[2]],
            "town": ["North", "*", "North", "A"],
            "disease": ["flu"] * 4,
            "name": ["a", "b", "c", "d"],
        }
    )
    fragments = np.full((table.rows, 1), -1)
    fragments[[5, 0, 2], 0] = [0, 2, 3]
    read = read_release(frame, table.schema, np.random.default_rng(0), table.domains, lambda _: Lines(fragments))
    release, provenance = read.release, read.provenance
    assert read.identifiers == ("name",)
    assert release.left_out == table.rows - 3
    assert sorted(release.sizes.tolist()) == [1, 1, 2]
    assert (release.rows, release.suppressed_rows) == (4, 1)
    assert release.columns == ("age", "town", "disease")  # identifiers are not taken over
    assert provenance is not None
    assert provenance.rows == table.rows
    assert np.flatnonzero(provenance.bucket >= 0).tolist() == [0, 2, 5]
    assert provenance.bucket[0] == provenance.bucket[5] != provenance.bucket[2]
    assert record_of(release, provenance, 2) == [f"age={table.texts('age')[2]}", "town=A", "disease=flu"]


def test_one_class_that_covers_all_is_not_a_suppressed_one() -> None:
    release = read_of(age=["*", "*"]).release
    assert (release.suppressed_rows, release.sizes.tolist()) == (0, [2])


def test_the_domains_of_a_release_alone_are_what_its_labels_name() -> None:
    read = read_of(age=["[20, 40[", "50", "*"], town=["North", "C", "*"], disease=["flu", "{cold, HIV}", ""])
    domains = {column: labels.domain.texts for column, labels in read.release.labels.items()}
    assert domains["age"] == ("20", "39", "40", "50")  # the ends, and 39 inside
    assert domains["town"] == ("A", "B", "C", "D")
    assert domains["disease"] == ("HIV", "cold", "flu", "")


def test_the_schema_of_a_release_is_checked_once_for_each_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checked = []
    check = RawTable.check

    def counting(self: RawTable, *rest: Any) -> Schema:
        checked.append(Path(self.name).name)
        return check(self, *rest)

    target = written(*made("anatomy", people(), l=2), tmp_path / "release")
    monkeypatch.setattr(RawTable, "check", counting)
    read_release(target, schema(), np.random.default_rng(0))
    assert checked == ["block1.csv", "block2.csv"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": ["20", "young"]}, "release, row 2, column 'age': the label 'young' denotes no value"),
        (
            {"town": ["A", "Nort"]},
            "row 2, column 'town': the label 'Nort' is no value of [columns.town] nor a group of its taxonomy. The nearest",
        ),
        ({"name": ["Ann", "Bob"]}, "release: must have a column that is not an identifier."),
        ({"agee": ["20"]}, "release: the schema (schema) does not name column 1 ('agee') of the table."),
    ],
)
def test_a_release_alone_that_does_not_fit(columns: dict[str, list[str]], message: str) -> None:
    with pytest.raises((ReleaseError, TableError)) as caught:
        read_of(**columns)
    assert message in str(caught.value)


def test_texts_are_numbered() -> None:
    numbers, distinct, first = number_texts(["b", "a", "b", "c"])
    assert (numbers.tolist(), distinct, first) == ([1, 0, 1, 2], ["a", "b", "c"], [1, 0, 3])


# ----- broken files ---------------------------------------------------------------------------------------------------


def broken(folder: Path, manifest: Any, **blocks: str) -> str:
    """What is said of a folder with this manifest (a text goes as it is) and these files."""
    target = folder / "release"
    target.mkdir()
    if manifest is not None:
        text = manifest if isinstance(manifest, str) else json.dumps({"format": "auditor-release/1", **manifest})
        (target / "manifest.json").write_text(text, encoding="utf-8")
    for name, content in blocks.items():
        (target / f"{name}.csv").write_text(content, encoding="utf-8")
    with pytest.raises((ReleaseError, TableError)) as caught:
        read_release(target, schema(), np.random.default_rng(0))
    assert "release" in str(caught.value)
    return str(caught.value)


TWO = {"blocks": [{"file": "a.csv"}, {"file": "b.csv"}]}
FIRST = "bucket,age\n1,20\n2,30\n"


def test_a_release_whose_name_is_as_long_as_names_may_be(tmp_path: Path) -> None:
    """There can be no file of labels beside it."""
    file = tmp_path / ("r" * 251 + ".csv")
    file.write_text("age\n1\n")
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}}})
    assert read_release(file, schema, np.random.default_rng(1)).release.rows == 1


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "a release folder must hold manifest.json. "),
        ("{", "manifest.json must be JSON. Line 1: "),
        ("[]", "manifest.json must have the format 'auditor-release/1'."),
        ({"format": "x/1"}, "manifest.json must have the format"),
        ({}, "manifest.json: blocks must be given, a list of files beside the manifest"),
        ({"blocks": []}, "manifest.json: blocks must be a list of files beside the manifest"),
        ({"blocks": ["a.csv"]}, "manifest.json: blocks must be a list of files beside the manifest"),
        ({"blocks": [{"file": 3}]}, "manifest.json: blocks must be a list of files beside the manifest"),
        ({"blocks": [{"file": "../a.csv"}]}, "manifest.json: blocks must be a list of files beside the manifest"),
        ({"blocks": [{"file": "/etc/passwd"}]}, "files beside the manifest"),
        ({"blocks": [{"file": "a\0b"}]}, "no file can have this name."),
        ({"blocks": [{"file": "x" * 5000}]}, "the file cannot be read (File name too long)."),
        ({"blocks": [{"file": "a.csv"}], "params": [1]}, "manifest.json: params must be an object. Got [1]."),
        ({"blocks": [{"file": "a.csv"}], "method": 1}, "manifest.json: method must be a text. Got 1."),
        ({"method": 1, "params": 2}, "3 faults:"),
        ({"blocks": [{"file": "none.csv"}]}, "none.csv: there is no such file."),
    ],
)
def test_broken_manifests(tmp_path: Path, manifest: Any, message: str) -> None:
    assert message in broken(tmp_path, manifest, a=FIRST)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("group,disease\n1,flu\n2,flu\n", "b.csv: a block must have the column 'bucket'"),
        ("bucket\n1\n2\n", "b.csv: a block must have the column 'bucket', other columns, and rows."),
        ("bucket,disease\n", "other columns, and rows."),
        ("bucket,disease\n1,flu\nx,flu\n", "b.csv, line 3, column 'bucket': must be a whole number. Got 'x'."),
        ("bucket,disease\n1,flu\n-2,flu\n", "b.csv, line 3, column 'bucket': must be a whole number. Got '-2'."),
        (f"bucket,disease\n{'9' * 30},flu\n2,flu\n", "line 2, column 'bucket': must be a whole number."),
        ("bucket,disease\n1,flu\n1,flu\n", "b.csv: every class must have as many rows as in"),
        ("bucket,disease\n1,flu\n", "b.csv: every class must have as many rows as in"),
        ("bucket,age\n1,20\n2,30\n", "b.csv: the column 'age' must be in one block only. It is also in"),
        ("bucket,name\n1,Ann\n2,Bob\n", "b.csv: must have a column that is not an identifier."),
        ("bucket,town\n1,A\n2,X\n", "b.csv, line 3, column 'town': the label 'X' is no value of [columns.town]"),
    ],
)
def test_broken_blocks(tmp_path: Path, second: str, message: str) -> None:
    assert message in broken(tmp_path, TWO, a=FIRST, b=second)


def test_a_release_without_rows(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("age,town\n")
    with pytest.raises(ReleaseError, match="must have at least one row below its header"):
        read_release(tmp_path / "release.csv", schema(), np.random.default_rng(0))


def test_a_column_called_bucket_cannot_be_in_a_release_of_several_blocks(tmp_path: Path) -> None:
    columns = {"bucket": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    frame = pd.DataFrame({"bucket": ["a", "b", "c"], "disease": ["x", "y", "z"]})
    release, _ = made("anatomy", Table.from_frame(frame, Schema.from_dict({"columns": columns})))
    with pytest.raises(ReleaseError, match="rename the column 'bucket'"):
        write_release(release, None, tmp_path / "release")


def test_a_provenance_that_tears_a_row_apart_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "release"
    target.mkdir()
    (target / "manifest.json").write_text(json.dumps({"format": "auditor-release/1", **TWO}))
    (target / "a.csv").write_text(FIRST)
    (target / "b.csv").write_text("bucket,disease\n2,flu\n1,cold\n")
    rng = np.random.default_rng(0)
    whose = read_release(target, schema(), rng, whose=lambda _: Lines(np.array([[0, 1], [1, 0]]))).provenance
    assert whose is not None
    assert sorted(whose.bucket.tolist()) == [0, 1]
    with pytest.raises(ReleaseError, match=r"puts a row into different classes\. It seems to be of another release\."):
        read_release(target, schema(), rng, whose=lambda _: Lines(np.array([[0, 0], [1, 1]])))
