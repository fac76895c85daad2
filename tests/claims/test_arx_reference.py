"""Releases made by ARX 3.9.2, audited from the command line: the figures of the design's reference-values.md.

The class counts, suppressed rows and linking figures are ARX's own (`risk_*.txt` beside the releases); the others were
computed independently for the design.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditor.model.record.record import AuditRecord, Risk
from tests.support.adult import unpack_release, write_adult

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.fixture(scope="module")
def records(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, AuditRecord]:
    from typer.testing import CliRunner

    from auditor.commands.app import app

    folder = tmp_path_factory.mktemp("arx")
    table, schema = write_adult(data_folder, folder)
    found = {}
    for name in ("k5_s5_8qi", "local_k5_8qi"):
        release = unpack_release(data_folder, name, folder)
        out = folder / f"{name}.json"
        arguments = [
            "audit",
            release,
            "--schema",
            schema,
            "--original",
            table,
            "--match",
            "rows",
            "--attacks",
            "linking,homogeneity",
            "--json",
            out,
            "--quiet",
        ]
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 0, result.output
        found[name] = AuditRecord.from_json(out.read_text())
    return found


def risk(record: AuditRecord, attack: str, measure: str, link: str) -> Risk:
    return record.find(attack, measure, link=link)


def test_global_recoding_with_suppression(records: dict[str, AuditRecord]) -> None:
    record = records["k5_s5_8qi"]
    assert (record.release.classes, record.release.suppressed_rows, record.release.k) == (397, 1346, 5)
    assert record.release.class_sizes["5"] == 48
    assert record.release.class_sizes["6"] == 36
    for link in ("containment", "likelihood", "class", "tightest"):
        assert risk(record, "linking", "mean", link).value == pytest.approx(0.013777068295391449, abs=1e-12)
        assert risk(record, "linking", "max", link).value == pytest.approx(0.2)
        assert risk(record, "linking", "at_risk", link).value == 0
        assert risk(record, "homogeneity", "success", link).value == pytest.approx(0.3050, abs=5e-5)
        assert risk(record, "homogeneity", "above", link).value == 1030
        assert risk(record, "homogeneity", "certain", link).value == 0
        assert risk(record, "linking", "mean", link).n == 28816


def test_local_recoding_by_containment(records: dict[str, AuditRecord]) -> None:
    record = records["local_k5_8qi"]
    assert (record.release.classes, record.release.suppressed_rows) == (3394, 0)
    assert risk(record, "linking", "mean", "containment").value == pytest.approx(0.017359, abs=5e-7)
    assert risk(record, "linking", "max", "containment").value == pytest.approx(1 / 7)
    assert risk(record, "homogeneity", "success", "containment").value == pytest.approx(0.3132, abs=5e-5)
    assert risk(record, "homogeneity", "above", "containment").value == 53


def test_local_recoding_with_the_class_granted(records: dict[str, AuditRecord]) -> None:
    record = records["local_k5_8qi"]
    assert risk(record, "linking", "mean", "class").value == pytest.approx(0.112526, abs=5e-7)
    assert risk(record, "homogeneity", "success", "class").value == pytest.approx(0.4123, abs=5e-5)
    assert risk(record, "homogeneity", "certain", "class").value == 364
    assert risk(record, "homogeneity", "above", "class").value == 5564


def test_local_recoding_tightest_and_likelihood(records: dict[str, AuditRecord]) -> None:
    record = records["local_k5_8qi"]
    found = risk(record, "linking", "class_found", "tightest")
    assert (found.value, found.n) == (30117, 30162)
    guessed = risk(record, "homogeneity", "success", "likelihood")
    assert guessed.value == pytest.approx(0.412, abs=5e-4)
    assert guessed.expected is None  # told only where the class is known, or no labels overlap


def test_baseline_is_the_priors_modal_guess(records: dict[str, AuditRecord]) -> None:
    guessed = risk(records["local_k5_8qi"], "homogeneity", "success", "class")
    assert guessed.baseline == pytest.approx(0.1339, abs=5e-5)
    assert guessed.control_kind == "leave_one_out"
    assert guessed.control is not None
    assert guessed.baseline < guessed.control < guessed.value


@pytest.mark.parametrize(
    ("name", "plain", "arx"), [("k5_s5_8qi", 0.82166, 0.79914), ("local_k5_8qi", 0.96710, 0.96173)]
)
def test_granularity(records: dict[str, AuditRecord], name: str, plain: float, arx: float) -> None:
    values: dict[str, Any] = {u.measure: u.value for u in records[name].utility}
    assert values["granularity"] == pytest.approx(plain, abs=5e-6)
    assert values["granularity_arx"] == pytest.approx(arx, abs=5e-6)


def test_record_is_plain_json(records: dict[str, AuditRecord]) -> None:
    text = records["k5_s5_8qi"].to_json()
    assert json.loads(text)["format"] == "auditor-record/2"
    assert "NaN" not in text
