"""Anonymizing: one call for every method, whole or in blocks."""

from __future__ import annotations

from anonymizers import ANONYMIZERS, Anonymizer
from anonymizers.blocks.running import DEFAULT_SIZE, Engine, anonymize_in_blocks
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.seeding import DEFAULT_SEED, stage
from auditor.model.table import Table


def anonymize(
    table: Table,
    method: str | Anonymizer,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
    *,
    blocks: bool | int = False,
    jobs: int | None = None,
    engine: str | None = None,
    **settings: object,
) -> tuple[Release, Provenance]:
    """A release of a table by a method (its name, with its settings), and apart from it its provenance.

    For large tables `blocks` cuts first: True, or the rows of a block at most. The method then works in each block, `jobs`
    of them at a time (None: one for each processor where it pays), in processes or, with `engine = "spark"`, on Spark.
    """
    if isinstance(method, str):
        method = ANONYMIZERS.get(method).configure(settings)
    elif settings:
        raise UsageError("Settings go with a method's name; a method object has its own.")
    if blocks is not False:
        size = DEFAULT_SIZE if blocks is True else blocks
        return anonymize_in_blocks(table, method, seed, size, jobs, Engine.named(engine), progress)
    if jobs is not None or engine is not None:
        raise UsageError("jobs and engine are about blocks: give blocks as well.")
    return method.anonymize(table, stage(seed, "anonymize", method.title), progress)
