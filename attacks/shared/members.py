"""What attacks on membership have in common, in words: they score people, and members should score higher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attacks.base import WholeAttack
from attacks.shared.measures import member_measures
from auditor.model.record.meaning import Criterion, Goal


@dataclass(frozen=True)
class MemberAttack(WholeAttack):
    """An attack that says who is in the data."""

    goal = Goal.MEMBERSHIP
    success = "Members score higher than outsiders (area under the ROC curve); a guess is right in or out."
    criterion = Criterion.MEMBERSHIP
    measures = member_measures()
    lead: ClassVar[tuple[str, ...]] = ("auc", "advantage")
    compared = ("auc", "advantage")
    support: ClassVar[tuple[str, ...]] = ("tpr_at_fpr_0.01", "success")
    inside = ("prior",)  # the share of people at large who are taken to be in: a setting of each
