"""Anonymizing: the public call for every method, over a whole table or in blocks of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonymizers import ANONYMIZERS, Anonymizer
from anonymizers.blocks.running import DEFAULT_SIZE, Engine, anonymize_in_blocks
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.seeding import new_secret, stage
from auditor.model.table import Table


@shown_in_notebooks
def anonymize(
    table: Table,
    method: str | Anonymizer,
    seed: int | None = None,
    progress: Progress = silent,
    *,
    blocks: bool | int = False,
    jobs: int | None = None,
    engine: str | None = None,
    **settings: object,
) -> tuple[Release, Provenance]:
    """A release of a table, and apart from it its provenance.

    `method` is the name of a method, with its settings as further arguments, or a method object. For large tables, `blocks`
    cuts the table first: True, or the greatest number of rows in a block. The method then works in each block by itself,
    `jobs` blocks at a time (None: as many as there are processors, where that pays), in processes or on Spark
    (`engine="spark"`).

    All that is drawn comes from a secret of the system's, which only the provenance keeps. Give a `seed` for experiments, or
    the secret of an earlier run to repeat it. Never publish a release drawn from a seed that others may guess: they could
    draw it again and see who is in which class.
    """
    seed = new_secret() if seed is None else seed
    if isinstance(method, str):
        method = ANONYMIZERS.get(method).configure(settings)
    elif settings:
        raise UsageError("Settings go with the name of a method. A method object already has its own.")
    if blocks is not False:
        size = DEFAULT_SIZE if blocks is True else blocks
        release, provenance = anonymize_in_blocks(table, method, seed, size, jobs, Engine.named(engine), progress)
        return release, replace(provenance, secret=seed)
    if jobs is not None or engine is not None:
        raise UsageError("jobs and engine are for work in blocks. Give blocks as well.")
    release, provenance = method.anonymize(table, drawn_from(seed, method), progress)
    return release, replace(provenance, secret=seed)


def drawn_from(seed: int, method: Anonymizer) -> np.random.Generator:
    """What a method draws from, whole tables at once."""
    return stage(seed, "anonymize", method.title)
