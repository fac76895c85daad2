"""The posterior of every set of eight attributes on the 30 162 rows of Adult takes less than a minute of CPU time.

Under two links, with the records that are named, the values, and the values with each person's own record left out.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Sources, read_subject
from auditor.posterior.subsets import Subsets
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options
from tests.support.adult import unpack_release, write_adult
from tests.support.telling import Tell


@pytest.mark.data
@pytest.mark.proof
@pytest.mark.slow
def test_all_sets_of_eight_attributes_within_a_minute(
    data_folder: Path, tmp_path: Path, full: bool, tell: Tell
) -> None:
    table, schema = write_adult(data_folder, tmp_path)
    sources = Sources(unpack_release(data_folder, "local_k5_8qi", tmp_path), schema, table, "rows")
    subject, options = read_subject(sources, 1), Options()
    sides = Sides(subject, options).facing(PROSECUTOR)
    known, own = sides.knowledge(), sides.records(sides.targets)
    subsets = Subsets(subject.release, known, options.suppression, ("occupation",), own)
    assert (known.targets, len(known.columns)) == (30162, 8)
    truth = sides.truth("occupation")
    assert truth is not None
    assert truth.codes is not None
    subsets.fit(known.columns[:1])  # compiles
    sets = [columns for size in range(9) for columns in itertools.combinations(known.columns, size)]
    some = sets if full else sets[::16]
    begin = time.process_time()
    for columns in some:
        for fit in subsets.fit(columns).values():
            named = fit.records().named(fit.record_probability())
            values, (rest, matched) = fit.values("occupation").named(truth.codes), fit.without("occupation")
            assert np.isfinite([named.mean(), values.mean(), rest.named(truth.codes)[matched].mean()]).all()
    seconds = time.process_time() - begin
    tell("CPU seconds for the posterior of sets of 8 attributes, 30162 rows", sets=len(some), seconds=f"{seconds:.1f}")
    assert seconds < 60 * len(some) / 256 + 1
