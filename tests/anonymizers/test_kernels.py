"""The cache of compiled kernels: it must not outlive the files that it was made of."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from anonymizers.kernels import forget_others

CALL = "import numpy; from anonymizers.kernels.averages import median; print(median(numpy.array([1, 1, 3]), False))"
MOVED = b"\x80\x04canonymizers.moved_away\nTrees\n."
"""A pickle of a class whose module is no longer there."""


def call(cache: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_cache_of_older_files_is_emptied(tmp_path: Path) -> None:
    first = call(tmp_path)
    (index,) = tmp_path.rglob("averages.median*.nbi")
    (stamp,) = tmp_path.rglob("kernels.sha256")
    with index.open("rb") as stream:
        version = pickle.load(stream)
    index.write_bytes(pickle.dumps(version) + MOVED)
    stamp.write_text("older files")
    assert call(tmp_path) == first == "2\n"
    assert stamp.read_text() != "older files"


def test_a_cache_of_the_same_files_is_kept(tmp_path: Path) -> None:
    forget_others(tmp_path / "new", "a")
    index = tmp_path / "new" / "kernel.nbi"
    index.touch()
    forget_others(tmp_path / "new", "a")
    assert index.exists()
    forget_others(tmp_path / "new", "b")
    assert not index.exists()
