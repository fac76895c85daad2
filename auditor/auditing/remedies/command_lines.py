"""The command that carries out a remedy on the file of a release, ready to be pasted into a shell."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from auditor.model.record.record import AuditRecord
from auditor.model.release import Suppression


def with_commands(
    record: AuditRecord,
    release: str | Path,
    schema: str | Path,
    suppression: Suppression = Suppression.EXCLUDED,
    recursive_l: int = 2,
) -> AuditRecord:
    """The audit record with the command that carries out each remedy on the file of the release."""
    made = []
    for number, remedy in enumerate(record.remedies, 1):
        words = ["auditor", "mend", _path(release), "--schema", _path(schema)]
        for column in remedy.drop:
            words += ["--drop", column]
        for one in remedy.coarsen:
            plain = (
                one.levels > 1 and "=" not in one.column and f"{one.column}={one.levels}" not in record.release.quasi
            )
            words += ["--coarsen", f"{one.column}={one.levels}"] if plain else ["--coarsen", one.column] * one.levels
        for criterion in remedy.suppress:
            words += ["--suppress", criterion]
        if remedy.suppress and suppression is not Suppression.EXCLUDED:
            words += ["--suppression", str(suppression)]
        if remedy.suppress and recursive_l != 2:
            words += ["--recursive-l", str(recursive_l)]
        words += ["--output", _path(_mended_name(Path(release), number))]
        made.append(replace(remedy, command=shlex.join(words)))
    return replace(record, remedies=tuple(made))


def _path(file: str | Path) -> str:
    """A path that cannot be mistaken for an option."""
    text = str(file)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def _mended_name(release: Path, number: int) -> Path:
    """The file of the mended release, in the current folder, since the folder of the release may be an archive."""
    stem = release.name.split(".")[0] or release.name
    return Path(f"{stem}.mended-{number}.csv")
