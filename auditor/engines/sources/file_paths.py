"""Paths as engines read them: special characters, and folders that give their files a column.

Engines take `*`, `?` and brackets in a path for a pattern, which may not even match the file of that name, so they are
escaped. A folder called `name=value`, as Spark and others write it, adds a column that no file holds. Only folders inside a
release do so, not those above it.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_SPARK_SIGNS = re.compile(r"([\\*?\[\]{}])")


def literal_paths(files: Sequence[Path], spark: bool) -> list[str]:
    """The paths of files, with special characters escaped."""
    return [_SPARK_SIGNS.sub(r"\\\1", str(file)) if spark else glob.escape(str(file)) for file in files]


def home_of(where: Path) -> Path:
    """The folder of a release: itself, or the one its file is in."""
    return where if where.is_dir() else where.parent


def folder_columns(where: Path, files: Sequence[Path]) -> tuple[set[str], set[str]]:
    """The names of the columns that folders add: those inside the release, and those above it."""
    home = home_of(where)
    return _named({part for file in files for part in file.relative_to(home).parts[:-1]}), _named(home.parts)


def _named(folders: Iterable[str]) -> set[str]:
    return {folder.partition("=")[0] for folder in folders if "=" in folder}
