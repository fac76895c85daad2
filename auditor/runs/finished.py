"""Finished adversaries of a sweep as files: each is a run record with the rows of one adversary against one release.

A sweep has an adversary for each set of known columns, and may take long. A file is written as soon as its adversary has
finished, whole or not at all, so that an interruption loses only the one that was at work. `auditor render` renders it by
itself. It is named for a hash of all that it depends on: the data, what is published, what is asked, the adversary and the
attacks. So nothing stale is ever used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attacks.base import Attack
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Release
from auditor.runs.plan import asked_of, data_of, hashed, slug
from auditor.runs.store import CELLS, TOOL, opened, seal
from auditor.runs.worlds import World
from auditor.version import VERSION
from scenarios.adversaries import Adversary
from scenarios.options import Options


@dataclass(frozen=True, slots=True)
class Finished:
    """The folder in which the finished adversaries against one release are kept; `mark` stands for all else that their
    figures depend on."""

    folder: Path
    mark: str
    seed: int

    @classmethod
    def of(cls, folder: Path, world: World, options: Options, release: Release) -> Finished:
        """Where the adversaries against a release of a world are kept."""
        asked = asked_of(replace(options, adversaries=None))
        mark = hashed([repr([VERSION, data_of(world), asked, options.seed]).encode(), *_published(release)])
        return cls(folder, mark, options.seed)

    def read(self, adversary: Adversary, attacks: Sequence[Attack]) -> Sequence[Risk] | None:
        """The rows of an adversary; None where there is no sound file of them."""
        run = opened(self._file(adversary, attacks))
        return None if run is None or len(run.records) != 1 else run.records[0].risks

    def write(
        self, adversary: Adversary, attacks: Sequence[Attack], risks: Sequence[Risk], facts: ReleaseFacts
    ) -> None:
        """Keeps the rows of an adversary."""
        told = tuple(attack.facts() for attack in attacks)
        meanings = tuple(measure for attack in attacks for measure in attack.meanings())
        record = AuditRecord(self.seed, facts, tuple(risks), attacks=told, measures=meanings, tool=TOOL)
        run = RunRecord(f"{facts.name}: {adversary.name}", self.seed, (record,), TOOL)
        seal(run, self._file(adversary, attacks))

    def _file(self, adversary: Adversary, attacks: Sequence[Attack]) -> Path:
        number = hashed([self.mark.encode(), repr([adversary, attacks]).encode()])
        return self.folder / CELLS / f"{slug(adversary.name)}-{number[:16]}.json"


def _published(release: Release) -> list[bytes]:
    """All that is published."""
    parts = [repr([release.name, release.method, dict(release.params), release.left_out]).encode()]
    for block in release.blocks:
        parts += [
            repr(block.columns).encode(),
            block.bucket.astype("<i4").tobytes(),
            block.cells.astype("<i4").tobytes(),
        ]
        parts += [repr([release.labels[c].texts, release.labels[c].declared()]).encode() for c in block.columns]
    return parts
