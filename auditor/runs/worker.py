"""What a process of a comparison does: it makes and audits one cell after the other (see `auditor.engines`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anonymizers import ANONYMIZERS, Anonymizer
from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.engines.worker import Job, Work
from auditor.runs.worlds import World
from scenarios.options import Options


@dataclass(frozen=True)
class CellJob(Job):
    """One cell to run."""

    method: str
    params: Mapping[str, Any]
    seed: int
    program: Anonymizer | None = None
    """A program of the user's, in place of a method."""


@dataclass(frozen=True)
class CellWork(Work):
    """What all cells share: the data, and what each audit does."""

    world: World
    options: Options

    def do(self, job: CellJob) -> str:
        """The audit record of a cell's release, as JSON."""
        world, method = self.world, job.program or ANONYMIZERS.get(job.method).configure(job.params)
        release, provenance = anonymize(world.people, method, job.seed)
        named = replace(release, name=job.name)
        given = world.population, world.outsiders, world.inputs, world.notes
        subject = Subject(named, world.people, provenance, True, *given)
        subject = replace(subject, maker=job.program)
        return run_audit(subject, replace(self.options, seed=job.seed)).to_json()
