"""The testbed on the built-in town: all planted breaches are found, and a sampled control is about the whole one.
Calibration, coverage and size are in `tests/proofs`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing import sides
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import wilson
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.support.proofs import townsfolk

pytestmark = pytest.mark.slow


def test_planted_homogeneous_classes_are_all_found() -> None:
    # In a release with classes of at least five, every tenth class is given one disease for everybody.
    people = townsfolk(4000, 1)
    release, provenance = anonymize(people, "mondrian", 1, k=5)
    planted = np.arange(0, len(release.sizes), 10)
    block = release.blocks[0]
    place = block.columns.index("disease")
    cells = block.cells.copy()
    inside = np.isin(block.bucket, planted)
    cells[inside, place] = block.bucket[inside] % 5
    doctored = replace(release, blocks=(replace(block, cells=cells),))
    codes = people.codes["disease"].copy()
    codes[:] = cells[provenance.fragment[:, 0], place]
    truth = replace(people, codes={**people.codes, "disease": codes})
    record = run_audit(Subject(doctored, truth, provenance), Options(attacks=("homogeneity",), links=(Link.CLASS,)))
    certain = record.find("homogeneity", "certain", sensitive="disease")
    mixed = [b for b in range(len(release.sizes)) if len(np.unique(cells[block.bucket == b, place])) == 1]
    assert set(planted) <= set(mixed)
    assert certain.value == int(release.sizes[mixed].sum())
    assert certain.value >= int(release.sizes[planted].sum())


def test_a_sampled_control_is_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where the posteriors of all targets would not fit into memory the leave-one-out control is of a sample, and says so.
    people = townsfolk(3000, 2)
    release, provenance = anonymize(people, "mondrian", 2, k=50)
    options = Options(attacks=("proximity",), links=(Link.CLASS,), utility=())
    whole = run_audit(Subject(release, people, provenance), options).find("proximity", "success", sensitive="income")
    monkeypatch.setattr(sides, "MOST_ENTRIES", 20_000)
    part = run_audit(Subject(release, people, provenance), options).find("proximity", "success", sensitive="income")
    assert whole.detail["control_n"] == 3000
    assert 200 <= part.detail["control_n"] < 1000
    assert part.value == whole.value
    low, high = wilson((part.control or 0) * part.detail["control_n"], part.detail["control_n"], 0.999)
    assert low <= (whole.control or 0) <= high
