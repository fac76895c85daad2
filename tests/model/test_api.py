"""The Python side: what `import auditor` hands out, results that show well, and plug-ins from other packages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import auditor
from attacks import ATTACKS, Attack, Goal, NotApplicable, View
from attacks.claims import Claims, ValueClaims
from auditor.model import plugin
from auditor.model.errors import UsageError
from auditor.posterior.beliefs import Prior

SCHEMA = auditor.Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "town": {"role": "quasi"},
            "disease": {"role": "sensitive"},
        }
    }
)
FRAME = pd.DataFrame(
    {
        "age": [20, 21, 22, 40, 41, 42],
        "town": ["a", "a", "a", "b", "b", "b"],
        "disease": ["flu", "flu", "flu", "flu", "cold", "cold"],
    },
    index=[9, 9, 7, 3, 1, 0],  # an awkward index must not matter
)
EVEN = FRAME.assign(disease=["flu", "cold"] * 3)
"""The same people with diseases that classes of two can mix."""


@pytest.fixture(scope="module")
def record() -> auditor.AuditRecord:
    table = auditor.Table.from_frame(FRAME, SCHEMA)
    release, provenance = auditor.anonymize(table, "mondrian", k=3)
    return auditor.audit(release, original=table, provenance=provenance)


def test_from_frame_to_record(record: auditor.AuditRecord) -> None:
    assert record.find("linking", "mean", link="class").value == pytest.approx(1 / 3)
    # the class of the young has flu only: 3 certain; the others 2 of 3 colds: (3 + 2)/6 guessed right
    assert record.find("homogeneity", "certain", link="class").value == 3
    assert record.find("homogeneity", "success", link="class").value == pytest.approx(5 / 6)
    with pytest.raises(LookupError, match="4 rows"):
        record.find("linking", "mean")


def test_results_show_well(record: auditor.AuditRecord) -> None:
    frame = record.to_frame()
    assert frame["about"].tolist() == ["risk"] * len(record.risks) + ["utility"] * len(record.utility)
    assert len(record.utility) > 5
    assert {"attack", "measure", "value", "control", "baseline", "excess", "excess_low"} <= set(frame.columns)
    for _, part in frame.groupby("about"):  # what does not apply comes last
        there = (part["status"] == "ok").tolist()
        assert there == sorted(there, reverse=True)
    assert repr(record).startswith("<AuditRecord mondrian k=3: 6 rows")
    assert "k = 3" in record._repr_html_()
    table = auditor.Table.from_frame(FRAME, SCHEMA)
    assert repr(table) == "<Table table: 6 rows, 3 columns>"
    assert table.to_frame()["town"].tolist() == FRAME["town"].tolist()


def test_a_run_in_a_frame(record: auditor.AuditRecord) -> None:
    run = auditor.RunRecord("both", 1, (record, record))
    frame = run.to_frame()
    assert len(frame) == 2 * len(record.to_frame())
    assert frame["method"].unique().tolist() == ["mondrian"]
    assert frame["settings"][0]["k"] == 3
    assert auditor.RunRecord("none", 1, ()).to_frame().empty


@pytest.mark.parametrize(
    ("method", "settings", "target"),
    [
        ("mondrian", {"k": 3}, "release.csv"),
        ("anatomy", {"l": 2}, "release"),
    ],
)
def test_a_release_is_written_and_read_again(
    tmp_path: Path, method: str, settings: dict[str, int], target: str
) -> None:
    table = auditor.Table.from_frame(EVEN, SCHEMA)
    release, provenance = auditor.anonymize(table, method, **settings)
    files = release.write(tmp_path / target)
    private = provenance.write(tmp_path / "private.csv", release)
    assert all(file.is_file() for file in (*files, private))
    assert private.stat().st_mode & 0o077 == 0
    options = auditor.Options(attacks=("linking", "homogeneity"), utility=(), facts=())
    here = auditor.audit(release, original=table, provenance=provenance, options=options)
    there = auditor.audit(tmp_path / target, SCHEMA, original=EVEN, provenance=private, options=options)
    for attack, measure in (("homogeneity", "success"), ("linking", "mean")):
        values = [one.find(attack, measure, link="class").value for one in (here, there)]
        assert values[0] == values[1]
    for again in (lambda: release.write(tmp_path / target), lambda: provenance.write(private, release)):
        with pytest.raises(UsageError, match="exists already"):
            again()
    assert release.write(str(tmp_path / target), force=True) == files
    assert provenance.write(private, release, force=True) == private


def test_a_release_as_a_frame() -> None:
    table = auditor.Table.from_frame(FRAME, SCHEMA)
    release, _ = auditor.anonymize(table, "mondrian", k=3)
    frame = release.to_frame()
    assert sorted(frame["disease"]) == sorted(FRAME["disease"])
    assert frame.groupby(["age", "town"]).size().tolist() == [3, 3]
    assert "<table" in release._repr_html_()
    sliced, _ = auditor.anonymize(auditor.Table.from_frame(EVEN, SCHEMA), "anatomy", l=2)
    both = sliced.to_frame()
    assert set(both.columns) == {"bucket", "age", "town", "disease"}
    for block in sliced.blocks:  # each class has the fragments of its own
        for bucket, part in both.groupby("bucket"):
            mine = block.bucket == int(bucket) - 1
            for column in block.columns:
                texts = [sliced.labels[column].texts[i] for i in block.cell(column)[mine]]
                assert sorted(part[column]) == sorted(texts)


def test_a_release_in_a_frame(record: auditor.AuditRecord) -> None:
    release = pd.DataFrame(
        {
            "age": ["20-22"] * 3 + ["40-42"] * 3,
            "town": ["a"] * 3 + ["b"] * 3,
            "disease": FRAME["disease"].tolist(),
        }
    )
    again = auditor.audit(release, SCHEMA, original=FRAME, match="rows")
    for attack, measure in (("linking", "mean"), ("homogeneity", "success")):
        assert again.find(attack, measure, link="class").value == record.find(attack, measure, link="class").value


def test_importing_the_package_is_light() -> None:
    code = "import sys, auditor; auditor.__version__; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = auditor.nonsense
    assert set(dir(auditor)) >= {"audit", "anonymize", "read_table", "Schema"}
    for name in auditor.__all__:
        assert getattr(auditor, name) is not None


@dataclass(frozen=True)
class Loudest(Attack):
    """The example of CONTRIBUTING.md: claims the most common value, whoever it is about."""

    name: ClassVar[str] = "loudest"
    summary: ClassVar[str] = "Guesses the most common value, whoever it is about."
    paper: ClassVar[str] = "none: an example"
    goal: ClassVar[Goal] = Goal.ATTRIBUTE
    claim: ClassVar[str] = "This person has the most common value."
    needs: ClassVar[str] = "A published sensitive column."
    success: ClassVar[str] = "The most common value is the true one."
    lowered_by: ClassVar[str] = "Nothing: it is knowledge about the world."

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        del rng
        assert view.sensitive is not None
        everybody = Prior(view.beliefs.targets, view.knowledge.priors, view.release.sizes)
        return ValueClaims(everybody.values(view.sensitive), tau=0.5)


def test_an_attack_from_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [EntryPoint("loudest", "tests.model.test_api:Loudest", plugin.GROUP)]
    monkeypatch.setattr(plugin, "entry_points", lambda group: found if group == plugin.GROUP else [])
    assert list(ATTACKS.all())[-1] == "loudest"
    table = auditor.Table.from_frame(FRAME, SCHEMA)
    release, provenance = auditor.anonymize(table, "mondrian", k=3)
    options = auditor.Options(attacks=("loudest",))
    record = auditor.audit(release, original=table, provenance=provenance, options=options)
    row = record.find("loudest", "success", link="class")
    assert row.value == pytest.approx(4 / 6)  # four of six have flu
    assert row.value == row.baseline == row.control  # nothing is owed to the release


def test_settings_are_checked() -> None:
    table = auditor.Table.from_frame(FRAME, SCHEMA)
    with pytest.raises(UsageError, match="mondrian has no setting 'kk'"):
        auditor.anonymize(table, "mondrian", kk=3)
    with pytest.raises(UsageError, match="k must be a whole number"):
        auditor.anonymize(table, "mondrian", k=2.5)
    with pytest.raises(UsageError, match="strict must be true or false"):
        auditor.anonymize(table, "mondrian", strict="maybe")
    with pytest.raises(UsageError, match="partition must be one of mondrian, random"):
        auditor.anonymize(table, "slicing", columns=[["age", "town"], ["disease"]], partition="other")
    with pytest.raises(UsageError, match="needs its schema"):
        auditor.audit(FRAME)
