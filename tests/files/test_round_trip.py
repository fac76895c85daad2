"""A release of every anonymizer, written, read back and audited, gives the record of the one in memory.

A CSV file does not say how it was made, so the release in memory forgets its method first where the file has none; names,
hashes of files and notes on reading are of the files and not compared. Rows and classes come in another order, so sums of
floats may differ in their last digits, and nothing else may.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import audit
from auditor.files.releases import read_release, write_release
from auditor.files.tables import write_files
from auditor.model.record.record import AuditRecord
from auditor.model.table import Table
from scenarios.options import Options
from tests.support.anonymizer_cases import SCHEMA, SETTINGS, VALUES, kinds, table_of
from tests.support.lengths import at_length

ATTACKS = ("linking", "homogeneity", "proximity", "divergence", "membership", "skewness", "similarity")


def people() -> tuple[Table, dict[str, list[str]]]:
    rng = np.random.default_rng(11)
    rows = {column: [values[i] for i in rng.integers(len(values), size=90)] for column, values in VALUES.items()}
    return table_of(rows), rows


def write_original(rows: dict[str, list[str]], file: Path) -> None:
    lines = [",".join(["name", *rows])]
    lines += [",".join([f"p{i}", *cells]) for i, cells in enumerate(zip(*rows.values(), strict=True))]
    file.write_text("\n".join(lines) + "\n")


def comparable(record: AuditRecord) -> Any:
    """What a record says about the release, without what it says about the files."""
    plain = json.loads(record.to_json())
    for key in ("inputs", "notes", "tool"):
        plain.pop(key)
    plain["release"].pop("name")
    return plain


def assert_same(one: Any, other: Any, where: str = "record") -> None:
    assert type(one) is type(other) or {type(one), type(other)} <= {int, float}, where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{where}[{place}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), where
    else:
        assert one == other, where


@pytest.mark.slow
@pytest.mark.parametrize("suffix", at_length(["parquet"], ["csv"]))
@pytest.mark.parametrize("name", kinds())
def test_the_record_of_the_file_is_that_of_the_release(name: str, suffix: str, tmp_path: Path) -> None:
    table, rows = people()
    release, provenance = anonymize(table, name, 5, **SETTINGS[name][0])
    if len(release.blocks) > 1 and suffix == "parquet":
        pytest.skip("a release of several blocks is a folder of CSV files")
    place = tmp_path / f"release.{suffix}"
    files, private = write_release(release, provenance, place)
    assert private is not None
    write_files(files, folder=place if len(release.blocks) > 1 else None)
    (tmp_path / "private.csv").write_text(private)
    write_original(rows, tmp_path / "original.csv")
    read = read_release(place, SCHEMA, np.random.default_rng(0)).release
    bare = replace(release, method=read.method, params=read.params, promises=())
    options = Options(attacks=ATTACKS, seed=5)
    memory = audit(bare, original=table, provenance=provenance, options=options)
    given = {"original": tmp_path / "original.csv", "provenance": tmp_path / "private.csv", "key": provenance.key}
    disk = audit(place, SCHEMA, **given, options=options)
    assert memory.risks
    assert_same(comparable(memory), comparable(disk))
