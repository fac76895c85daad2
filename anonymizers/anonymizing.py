"""Anonymizing: the public call for every method, over a whole table or in blocks of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonymizers import ANONYMIZERS, Anonymizer
from anonymizers.blocks.running import DEFAULT_SIZE, Engine, anonymize_in_blocks
from anonymizers.shared.people import People
from auditor.model.arrays import Bools
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
    holdout: float | None = None,
    **settings: object,
) -> tuple[Release, Provenance]:
    """A release of a table, and apart from it its provenance.

    `method` is the name of a method, with its settings as further arguments, or a method object. For large tables, `blocks`
    cuts the table first: True, or the greatest number of rows in a block. The method then works in each block by itself,
    `jobs` blocks at a time (None: as many as there are processors, where that pays), in processes or on Spark
    (`engine="spark"`).

    `holdout` is the share of people, drawn by chance, of whom the release is not made. The provenance is about everybody all
    the same, and says who was in (`made_from`): an audit needs outsiders to tell what a release says of those in it.

    All that is drawn comes from a secret of the system's, which only the provenance keeps. Give a `seed` for experiments, or
    the secret of an earlier run to repeat it. Never publish a release drawn from a seed that others may guess: they could
    draw it again and see who is in which class.
    """
    seed = new_secret() if seed is None else seed
    if isinstance(method, str):
        method = ANONYMIZERS.get(method).configure(settings)
    elif settings:
        raise UsageError("Settings go with the name of a method. A method object already has its own.")
    if holdout is not None:
        members = drawn_members(table, holdout, stage(seed, "holdout"))
        made = anonymize(
            table.take(np.flatnonzero(members)), method, seed, progress, blocks=blocks, jobs=jobs, engine=engine
        )
        return made[0], of_everybody(made[1], members)
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


def drawn_members(table: Table, holdout: float, rng: np.random.Generator) -> Bools:
    """The rows of the people who are in, where a share of the people is held out. At least one person is in and one is out,
    with all their rows. Who is drawn does not depend on the order of rows."""
    if not 0 < holdout < 1:
        raise UsageError(f"holdout must be above 0 and below 1: it is a share of the people. Got {holdout:g}.")
    rows, people = table.in_order(), People(table).number
    _, first = np.unique(people[rows], return_index=True)
    if len(first) < 2:
        raise UsageError(f"holdout: {table.name} must have at least two people, one of whom is held out.")
    by_content = people[rows][np.sort(first)]
    count = min(max(round((1 - holdout) * len(first)), 1), len(first) - 1)
    return np.isin(people, by_content[rng.permutation(len(first))[:count]])


def of_everybody(provenance: Provenance, members: Bools) -> Provenance:
    """The provenance of all rows, where the release was made of some of them."""
    bucket = np.full(len(members), -1, dtype=np.int32)
    fragment = np.full((len(members), provenance.fragment.shape[1]), -1, dtype=np.int32)
    bucket[members], fragment[members] = provenance.bucket, provenance.fragment
    return replace(provenance, bucket=bucket, fragment=fragment, made_from=members)
