"""Paths as engines read them: signs that would stand for other files, and folders that give their files a column.

Engines take `*`, `?` and brackets in a path for a pattern, which the named file need not even fit: they are escaped. Folders
called `name=value`, as Spark and others write them, publish a column that no file holds: those inside of a release, not those
above it.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_SPARK_SIGNS = re.compile(r"([\\*?\[\]{}])")


def literal_paths(files: Sequence[Path], spark: bool) -> list[str]:
    """The paths of files, no sign of which stands for others."""
    return [_SPARK_SIGNS.sub(r"\\\1", str(file)) if spark else glob.escape(str(file)) for file in files]


def home_of(where: Path) -> Path:
    """The folder of a release: itself, or that of its file."""
    return where if where.is_dir() else where.parent


def folder_columns(where: Path, files: Sequence[Path]) -> tuple[set[str], set[str]]:
    """The names of the columns that folders give: those inside of the release, and those above it."""
    home = home_of(where)
    return _named({part for file in files for part in file.relative_to(home).parts[:-1]}), _named(home.parts)


def _named(folders: Iterable[str]) -> set[str]:
    return {folder.partition("=")[0] for folder in folders if "=" in folder}
