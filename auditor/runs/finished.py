"""Finished adversaries of a sweep as files: each is a run record with the rows of one adversary against one release.

A sweep has an adversary for each set of known columns, and may take long. A file is written as soon as its adversary has
finished, whole or not at all, so that an interruption loses only the one that was at work. `auditor render` renders it by
itself. It is named for a hash of all that it depends on: the data, what is published here and earlier and what it denotes,
whose it is, what is asked, the adversary and the attacks. So nothing stale is ever used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attacks.base import Attack
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Release
from auditor.runs.plan import asked_of, data_of, fingerprint, hashed, slug
from auditor.runs.store import SWEPT, TOOL, opened, seal
from auditor.runs.worlds import World
from auditor.version import VERSION
from scenarios.adversaries import Adversary
from scenarios.options import Options

_Numbers = Bools | Codes | Floats | Ints


@dataclass(frozen=True, slots=True)
class Finished:
    """The folder in which the finished adversaries against one release are kept; `mark` stands for all else that their
    figures depend on."""

    folder: Path
    mark: str
    seed: int

    @classmethod
    def of(cls, folder: Path, world: World, options: Options, subject: Subject) -> Finished:
        """Where the adversaries against a release of a world are kept."""
        asked = asked_of(replace(options, adversaries=None))
        mark = hashed([repr([VERSION, data_of(world), asked, options.seed]).encode(), *_scored(subject)])
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
        return self.folder / SWEPT / f"{slug(adversary.name)}-{number[:16]}.json"


def _scored(subject: Subject) -> list[bytes]:
    """All that is published, here and in the other releases that adversaries have, and the truth about it."""
    tables = [None if table is None else fingerprint(table) for table in (subject.people, subject.population)]
    parts = [repr([tables, subject.has_original, subject.joined]).encode(), *_published(subject.release)]
    for name, other in sorted(subject.others.items()):
        parts += [name.encode(), *_published(other)]
    provenance = subject.provenance
    whose = () if provenance is None else (provenance.bucket, provenance.fragment)
    made_from = None if provenance is None else provenance.made_from
    for numbers in (*whose, made_from, subject.outsiders, subject.person, subject.household):
        parts.append(b"none" if numbers is None else _bytes(numbers))
    return parts


def _published(release: Release) -> list[bytes]:
    """All that is published."""
    said = [release.name, release.method, dict(release.params), release.left_out, release.quasi, release.sensitive]
    said.append(release.synthetic)
    parts = [repr(said).encode(), _bytes(release.sizes), _bytes(release.suppressed)]
    for block in release.blocks:
        parts += [repr(block.columns).encode(), _bytes(block.bucket), _bytes(block.cells)]
        for column in block.columns:
            parts += _denoted(release.labels[column])
    return parts


def _denoted(labels: Labels) -> list[bytes]:
    """The labels of a column with what they denote."""
    domain, gaps = labels.domain, sorted(labels.gaps.items())
    said = [labels.texts, labels.declared(), domain.texts, domain.span, domain.missing, domain.column.notation]
    numbers: list[_Numbers] = [labels.lo, labels.hi, labels.low, labels.high, labels.suppressed]
    numbers += [codes for _, codes in gaps]
    return [repr([*said, [label for label, _ in gaps]]).encode(), *map(_bytes, numbers)]


def _bytes(numbers: _Numbers) -> bytes:
    """Numbers as bytes, the same on every machine."""
    kind = "<f8" if numbers.dtype.kind == "f" else "<i8"
    return repr(numbers.shape).encode() + numbers.astype(kind).tobytes()
