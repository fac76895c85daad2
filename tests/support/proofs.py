"""What the proofs share: the built-in town under every kind of release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from auditor.model.arrays import Ints
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import Table
from scenarios import town

SCHEMA = Schema.read(Path(str(town.schema_path())))
BLOCKS = (
    ("birth_year", "sex", "marital_status", "education"),
    ("postcode", "ethnicity"),
    ("occupation", "income", "disease"),
)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is (identity)": ("identity", {}),
    "generalised (mondrian)": ("mondrian", {"k": 5, "l": 2}),
    "overlapping (relaxed mondrian)": ("mondrian", {"k": 5, "strict": False}),
    "clustered (kmember)": ("kmember", {"k": 5}),
    "bucketized (anatomy)": ("anatomy", {"l": 3, "sensitive": "disease"}),
    "sliced (slicing)": ("slicing", {"columns": BLOCKS, "bucket_size": 10}),
    "averaged (mdav)": ("mdav", {"k": 5}),
    "aliased (grading)": ("grading", {}),
}
"""A method of every kind of release."""


def townsfolk(people: int, seed: int) -> Table:
    return Table.from_frame(town.population(people=people, seed=seed), SCHEMA, "town")


def parts(people: int, count: int, seed: int) -> list[Ints]:
    """People in parts of equal size, at random."""
    return [np.sort(part) for part in np.split(np.random.default_rng(seed).permutation(people), count)]


def released(people: Table, kind: str, seed: int) -> tuple[Release, Provenance]:
    method, settings = KINDS[kind]
    return anonymize(people, method, seed, **settings)
