"""Attacks: one file per technique. To add one, write its file and a line here.

`ATTACKS` is the registry; third parties add theirs through the entry-point group `auditor.plugins`.
"""

from __future__ import annotations

from attacks.alias import Alias
from attacks.attribution import Attribution
from attacks.background import Background
from attacks.base import Attack, NotApplicable, View
from attacks.closeness import Closeness
from attacks.definetti import DeFinetti
from attacks.degrade import Degrade
from attacks.divergence import Divergence
from attacks.downcoding import Downcoding
from attacks.homogeneity import Homogeneity
from attacks.inference import Inference
from attacks.intersection import Intersection
from attacks.linkability import Linkability
from attacks.linking import Linking
from attacks.membership import Membership
from attacks.minimality import Minimality
from attacks.proximity import Proximity
from attacks.record_linkage import RecordLinkage
from attacks.replay import Replay
from attacks.shadow_membership import ShadowMembership
from attacks.similarity import Similarity
from attacks.singling_out import SinglingOut
from attacks.skewness import Skewness
from attacks.special_uniques import SpecialUniques
from attacks.subset_sum import SubsetSum
from attacks.synthetic_membership import SyntheticMembership
from attacks.uniqueness import Uniqueness
from auditor.model.plugin import Registry
from auditor.model.record.meaning import Goal

ATTACKS: Registry[Attack] = Registry(
    Attack,
    "attack",
    (
        Linking,
        Homogeneity,
        Proximity,
        Divergence,
        Membership,
        Background,
        Intersection,
        Skewness,
        Similarity,
        Alias,
        Degrade,
        RecordLinkage,
        DeFinetti,
        Inference,
        Replay,
        ShadowMembership,
        SubsetSum,
        Minimality,
        Downcoding,
        SinglingOut,
        SpecialUniques,
        Uniqueness,
        SyntheticMembership,
        Linkability,
        Attribution,
        Closeness,
    ),
)


def attacks_on(synthetic: bool) -> tuple[str, ...]:
    """The attacks that an audit runs unless some are chosen. On a synthetic release that is all, and those that look for a
    person's row say why they do not apply; on others those on synthetic releases are passed over."""
    return tuple(name for name, attack in ATTACKS.all().items() if synthetic or attack.barred(synthetic) is None)


__all__ = ["ATTACKS", "Attack", "Goal", "NotApplicable", "View", "attacks_on"]
