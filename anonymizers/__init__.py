"""Anonymizers: one file per technique. To add one, write its file and a line here.

`ANONYMIZERS` is the registry; third parties add theirs through the entry-point group `auditor.plugins`.
"""

from __future__ import annotations

from anonymizers.anatomy import Anatomy
from anonymizers.base import Anonymizer
from anonymizers.identity import Identity
from anonymizers.mondrian import Mondrian
from anonymizers.slicing import Slicing
from auditor.model.plugin import Registry

ANONYMIZERS: Registry[Anonymizer] = Registry(Anonymizer, "anonymizer", (Identity, Mondrian, Anatomy, Slicing))

__all__ = ["ANONYMIZERS", "Anonymizer"]
