"""Files are written whole or not at all: to a temporary file beside the target, which is then renamed. Existing files stay
unless `force` is given, and an interrupted run leaves nothing half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from auditor.model.errors import UsageError

Folders = Path | Sequence[Path] | None
"""The folders that will be made where they are missing. One inside another comes after it."""


def _folders(folder: Folders) -> list[Path]:
    return [] if folder is None else [folder] if isinstance(folder, Path) else list(dict.fromkeys(folder))


def refuse_existing(files: Iterable[Path], force: bool, folder: Folders = None) -> None:
    """An error, before any work is done, where a file to be written exists and may not be replaced, or its folder is missing.

    `folder` may be missing, since it will be made.
    """
    made = _folders(folder)
    for one in made:
        if one.exists() and not one.is_dir():
            raise UsageError(f"{one} is a file. Give the name of a folder.")
        if one.parent not in made and not one.parent.is_dir():
            raise UsageError(f"{one}: its folder {one.parent} must exist.")
    for file in files:
        if file.is_dir():
            raise UsageError(f"{file} is a folder. Give the name of a file.")
        if file.exists() and not force:
            raise UsageError(f"{file} exists already. Use --force to replace it.")
        if file.parent not in made and not file.parent.is_dir():
            raise UsageError(f"{file}: its folder {file.parent} must exist.")


def write_files(
    contents: Mapping[Path, str | bytes],
    force: bool = False,
    folder: Folders = None,
    private: Collection[Path | None] = (),
) -> None:
    """Writes texts (as UTF-8) and bytes whole or not at all: all to temporary files first, which are then renamed.

    `folder` is made where it is missing, and removed again if writing fails. Only their owner may read `private` files.
    """
    refuse_existing(contents, force, folder)
    waiting: list[tuple[str, Path]] = []
    made = [one for one in _folders(folder) if not one.exists()]
    file = None
    try:
        for one in _folders(folder):
            one.mkdir(exist_ok=True)
        for file, content in contents.items():
            handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
            waiting.append((temporary, file))
            with os.fdopen(handle, "wb") as stream:
                stream.write(content if isinstance(content, bytes) else content.encode("utf-8"))
            os.chmod(temporary, 0o600 if file in private else 0o644)
        while waiting:
            temporary, file = waiting[0]
            os.replace(temporary, file)
            waiting.pop(0)
    except OSError as error:
        raise UsageError(f"{error.filename or file}: cannot be written ({error.strerror}).") from error
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)
        for one in reversed(made):
            if one.is_dir() and not any(one.iterdir()):
                one.rmdir()
