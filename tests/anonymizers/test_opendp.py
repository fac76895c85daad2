"""The synthesizer of the OpenDP library: what it is given and gives, and that it is asked for by name where it is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from anonymizers.opendp_synthesis import OpenDP, _coded, _places
from auditor.model.errors import UsageError
from tests.anonymizers.test_synthesis import TABLE, numbers, published


def test_without_the_library_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", none)
    with pytest.raises(UsageError, match=r"opendp needs OpenDP with Private-PGM: pip install 'auditor\[dp\]'"):
        anonymize(TABLE, "opendp", 1)


def test_promises_and_settings() -> None:
    assert OpenDP().promises() == ("epsilon = 1, delta = 1e-6", "for one person more or less")
    assert OpenDP(epsilon=2.0, delta=0.0).promises()[0] == "epsilon = 2"
    with pytest.raises(UsageError, match="epsilon must be above 0"):
        OpenDP(epsilon=-1.0)
    with pytest.raises(UsageError, match="algorithm must be one of mst, aim"):
        OpenDP.configure({"algorithm": "pgm"})


def test_what_is_missing_is_null_to_the_library() -> None:
    rng = np.random.default_rng(0)
    assert _coded(np.array([0, 3, 2]), 3) == [0, None, 2]
    assert _places([0, None, 2], 3, 4, rng).tolist() == [0, 3, 2]
    assert set(_places([1, None, 1], 3, 3, rng).tolist()) == {1}  # nothing can be missing: the value of another row
    assert _places([None], 3, 3, rng).tolist() == [0]


@pytest.mark.slow
def test_single_columns_are_kept() -> None:
    pytest.importorskip("mbi", reason="OpenDP with Private-PGM is not installed: pip install 'auditor[dp]'")
    release, _ = anonymize(TABLE, "opendp", 1, epsilon=10.0)
    assert release.synthetic
    assert abs(release.rows - TABLE.rows) < 100
    assert np.isnan(numbers(release, "age")).mean() == pytest.approx(0.1, abs=0.04)
    share = np.bincount(published(release, "town"), minlength=4) / release.rows
    assert share == pytest.approx(np.bincount(TABLE.codes["town"], minlength=4) / TABLE.rows, abs=0.05)
