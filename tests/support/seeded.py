"""Releases whose classes are drawn from a seed alone, as those of this project once were: only their publishing is secret."""

from __future__ import annotations

import numpy as np

from anonymizers.anonymizing import drawn_from
from anonymizers.shared.grouping import Grouping
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_SECRET = 0x5EC4E7


def seeded(table: Table, method: Grouping, seed: int) -> tuple[Release, Provenance]:
    """A release of a table whose classes whoever knows the seed can draw again."""
    groups = method.groups(table, drawn_from(seed, method))
    return method.publish_groups(table, groups, np.random.default_rng([_SECRET, seed]))
