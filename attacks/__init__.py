"""Attacks: one file per technique. To add one, write its file and a line here.

`ATTACKS` is the registry; third parties add theirs through the entry-point group `auditor.plugins`.
"""

from __future__ import annotations

from attacks.base import Attack, Goal, NotApplicable, View
from attacks.divergence import Divergence
from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from attacks.membership import Membership
from attacks.proximity import Proximity
from auditor.model.plugin import Registry

ATTACKS: Registry[Attack] = Registry(Attack, "attack", (Linking, Homogeneity, Proximity, Divergence, Membership))

__all__ = ["ATTACKS", "Attack", "Goal", "NotApplicable", "View"]
