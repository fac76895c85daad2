"""Compiled code without a home, with a damaged cache, on a full disk: everything still starts."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from auditor.model import compiling
from auditor.model.compiling import kernel

ROOT = Path(__file__).parents[2]
NOWHERE = """
import sys
from numba.core import caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]  # as where no known folder can be written
sys.argv = ["auditor", *sys.argv[1:]]
from auditor.cli import main
main()
"""


def without_home(temporary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    command = [sys.executable, "-c", NOWHERE, *arguments]
    there = {**kept, "TMPDIR": str(temporary)}
    return subprocess.run(command, env=there, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="users and modes")
def test_without_a_home_everything_starts_with_one_warning(tmp_path: Path) -> None:
    given, temporary = tmp_path / "given", tmp_path / "temporary"
    given.mkdir()
    temporary.mkdir()
    own = temporary / f"auditor-kernels-{os.getuid()}"
    (given / "data.csv").write_text("age,ill\n1,a\n2,b\n3,a\n4,b\n")
    (given / "schema.toml").write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.ill]\nrole = "sensitive"\n'
    )
    listed = without_home(temporary, "list", "anonymizers")
    assert (listed.returncode, listed.stderr) == (0, "")  # compiles nothing, and so needs no folder
    asked = ["anonymize", f"{given / 'data.csv'}", "--schema", f"{given / 'schema.toml'}", "--method", "anatomy"]
    asked += ["--set", "l=2", "-o", f"{given / 'release'}", "--force"]
    done = without_home(temporary, *asked)
    assert done.returncode == 0, done.stderr
    assert "2 classes" in done.stdout
    assert done.stderr == (
        f"Warning: There is no cache folder that can be written. Compiled code is kept in {own}. Set NUMBA_CACHE_DIR to "
        "choose a folder.\n"
    )
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)  # what others can write will not be run
    again = without_home(temporary, *asked)
    assert again.returncode == 0, again.stderr
    assert re.search(r"kept in \S*auditor-kernels-\w+\. ", again.stderr)
    assert str(own) not in again.stderr
    assert os.listdir(temporary) == [own.name]  # what was for this run only is gone


def test_where_nothing_can_be_written_each_run_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    compiling._own_folder.cache_clear()
    with pytest.warns(UserWarning, match="every run compiles it anew"):
        assert compiling._own_folder() is None
    compiling._own_folder.cache_clear()


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), EOFError(), pickle.UnpicklingError()])
def test_a_cache_that_cannot_be_used_is_no_fault(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise fault

    for step in ("load", "save", "flush"):
        monkeypatch.setattr(IndexDataCacheFile, step, broken if step != "flush" else lambda _: None)

    @kernel
    def twice(number: int) -> int:
        return 2 * number

    assert twice(21) == 42


def test_a_kernel_is_compiled_once_for_those_that_call_it_and_for_python_where_it_does() -> None:
    @kernel
    def entry(values: Any, place: int) -> Any:
        return values[place]

    @kernel
    def total(values: Any) -> Any:
        found, place = 0, 0  # numba would compile `entry` for the constant 0, too
        while place < len(values):
            found += entry(values, place)
            place += 1
        return found

    made: Any = entry
    assert total(np.array([1, 2, 4])) == 7
    assert [len(made.part.overloads), len(made.overloads)] == [1, 0]
    assert entry(np.array([1, 2, 4]), 2) == 4
    assert [len(made.part.overloads), len(made.overloads)] == [1, 1]


def test_every_kernel_is_compiled_here() -> None:
    """Whoever imports numba's decorator has the cache that fails without a home."""
    rooms = ("auditor", "anonymizers", "attacks", "scenarios", "reports")
    sources = [file for room in rooms for file in (ROOT / room).rglob("*.py")]
    found = [file for file in sources if re.search(r"\bn?jit\b", file.read_text(encoding="utf-8"))]
    assert found == [ROOT / "auditor" / "model" / "compiling.py"]
