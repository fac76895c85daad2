"""Provenance: which original row became which fragment. Private, and kept apart from the release.

Only the audit reads it, to score and to grant a class where the link model says so. No attack can import this module
(an import contract holds that).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from auditor.model.arrays import Bools, Codes
from auditor.model.key import Key
from auditor.model.release import Release
from auditor.model.upstairs import ask


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """For each original row its bucket, and its fragment in each block (rows × blocks); -1 where it was left out. `key` says
    what aliases and recoded numbers stand for, where the method publishes such. `secret` is what the release was drawn from:
    whoever has it and the original can make the release again. The rows of a synthetic release are nobody, so that every row
    is left out; `made_from` then says which original rows it was made from. The others are outsiders."""

    bucket: Codes
    fragment: Codes
    key: Key | None = None
    secret: int | None = None
    made_from: Bools | None = None

    @property
    def rows(self) -> int:
        """The number of original rows."""
        return len(self.bucket)

    def write(self, file: str | Path, release: Release, *, force: bool = False) -> Path:
        """Writes the provenance of a release as the private file that `auditor audit --provenance` reads. Never publish it:
        only its owner may read the file."""
        written: Path = ask("save provenance")(self, release, Path(file), force)
        return written
