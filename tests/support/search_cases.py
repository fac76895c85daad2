"""Small tables for the search over known attributes: four quasi-identifiers, one sensitive column, every kind of release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anonymizers.anonymizing import anonymize
from auditor.auditing.subjects import Subject
from auditor.model.schema import Schema
from auditor.model.table import Table

QUASI = ("age", "sex", "town", "job")
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "town": {"role": "quasi"},
    "job": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
KINDS: dict[str, dict[str, Any]] = {
    "mondrian": {"k": 3},
    "relaxed": {"method": "mondrian", "k": 3, "strict": False},
    "kmember": {"k": 3},
    "anatomy": {"l": 2},
    "slicing": {"columns": (("age", "disease"), ("sex", "town"), ("job",)), "bucket_size": 4},
    "mdav": {"k": 3},
}
"""A method of every kind of release, with its settings."""


def people(seed: int, count: int = 120, visits: int = 0) -> Table:
    """People whose disease goes with their age and town; with `visits`, so many of them have two rows."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(20, 60, count), rng.integers(0, 4, count)
    sick = np.where(rng.random(count) < 0.6, (age // 10 + town) % 4, rng.integers(0, 4, count))
    cells = {
        "age": age,
        "sex": rng.choice(["f", "m"], count),
        "town": np.array(list("abcd"))[town],
        "job": rng.choice(["cook", "judge", "nurse", "clerk", "smith"], count),
        "disease": np.array(["flu", "asthma", "ulcer", "none"])[sick],
    }
    frame, columns = pd.DataFrame(cells), COLUMNS
    if visits:
        columns = {"patient": {"role": "person"}, **COLUMNS}
        frame.insert(0, "patient", [f"p{i if i >= visits else i % max(visits // 2, 1)}" for i in range(count)])
    return Table.from_frame(frame, Schema.from_dict({"columns": columns}), "people")


def released(table: Table, kind: str, seed: int = 1) -> Subject:
    """A release of a table, with its truth."""
    settings = dict(KINDS[kind])
    method = settings.pop("method", kind)
    release, provenance = anonymize(table, method, seed, **settings)
    return Subject(release, table, provenance)
