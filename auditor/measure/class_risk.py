"""Class risk: what the sizes of the classes alone say about finding a person's record.

Somebody who knows that a person is in the release, and the person's class, names the right record with a chance of one over
the size of the class (the prosecutor). Over all records the mean of that is the number of classes over the number of
records; it is also what a marketer reaches whose register holds nobody but the people in the release. With more people in the
register a journalist and a marketer reach less: their risk needs the register (the attack `linking`).

Where single cells are withheld people hide among more than their class, if a withheld cell may be any value: the same
figures by that convention stand beside them (`wildcards`). A record that is alone in its class is a *sample unique*. Where
the records carry sampling weights, a class of f records stands for as many people of the population as their weights add up
to (`individual_risk`).

Paper: K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013. ARX prints the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auditor.measure.counts import class_of_bucket, class_sizes
from auditor.measure.individual_risk import individual_risk
from auditor.measure.wildcards import agreeing
from auditor.model.arrays import Floats, Ints
from auditor.model.record.record import ClassRisk, WeightedRisk
from auditor.model.release import Release, Suppression
from auditor.model.schema import Role

THRESHOLD = 0.2
"""The chance of a right link above which a record counts as at risk, where no other is asked for."""
NOISE = 1e-12


def release_risk(
    release: Release, suppression: Suppression = Suppression.EXCLUDED, threshold: float = THRESHOLD
) -> ClassRisk | None:
    """The risk of the records of a release; None for several blocks, and where there is no class."""
    if len(release.blocks) > 1:
        return None
    risk, sizes, people = (
        class_risk(class_sizes(release, suppression), threshold),
        class_sizes(release),
        agreeing(release),
    )
    if risk is None or people is None or not len(people):
        return risk
    return with_wildcards(risk, sizes, people)


def with_wildcards(risk: ClassRisk, sizes: Ints, people: Ints) -> ClassRisk:
    """The risk with the figures for withheld cells that may be any value: so many people agree with each class."""
    mean = float((sizes / people).sum() / sizes.sum())
    return replace(risk, wildcard_max=float(1 / people.min()), wildcard_mean=mean, wildcard_min=float(1 / people.max()))


def class_risk(sizes: Ints, threshold: float = THRESHOLD, times: Ints | None = None) -> ClassRisk | None:
    """The risk of the records of classes with these sizes, each there so many times (once where nothing is said); None where
    there is no class."""
    if not len(sizes):
        return None
    times = np.ones_like(sizes) if times is None else times
    records, chance = int(sizes @ times), 1 / sizes
    at_risk = chance > threshold + NOISE
    risky = int(sizes[at_risk] @ times[at_risk])
    alone = int(times[sizes == 1].sum())
    mean = int(times.sum()) / records
    return ClassRisk(
        records=records,
        prosecutor_max=float(chance.max()),
        prosecutor_mean=mean,
        prosecutor_min=float(chance.min()),
        at_risk=risky,
        at_risk_share=risky / records,
        threshold=threshold,
        marketer=mean,
        sample_uniques=alone,
        sample_unique_share=alone / records,
    )


def weighted_risk(
    release: Release, suppression: Suppression = Suppression.EXCLUDED, threshold: float = THRESHOLD
) -> WeightedRisk | None:
    """The individual risk by the published sampling weights; None where none are published."""
    column = next((c for c in release.schema.names(Role.WEIGHT) if c in release.columns), None)
    if column is None:
        return None
    if len(release.blocks) > 1:
        return WeightedRisk(column, threshold, reason="a release of several blocks does not say whose weight is whose")
    block, labels = release.blocks[0], release.labels[column]
    number = class_of_bucket(release, suppression)[block.bucket]
    inside = number >= 0
    known = (labels.low == labels.high) & ~labels.suppressed & ~labels.is_alias
    exact = np.where(known, labels.low, np.nan)
    weight = exact[block.cell(column)[inside]]
    if not len(weight):
        return WeightedRisk(column, threshold, reason="no class is left")
    if not (weight > 0).all():
        return WeightedRisk(column, threshold, reason="some weights are missing, withheld, coarsened or not above 0")
    sizes = np.bincount(number[inside]).astype(np.int64)
    people = np.bincount(number[inside], weights=weight).astype(np.float64)
    tally = WeightTally(column, threshold)
    tally.add(sizes, people)
    return tally.risk()


@dataclass(slots=True)
class WeightTally:
    """The individual risk of classes that come some at a time."""

    column: str
    threshold: float
    records: int = 0
    people: float = 0.0
    greatest: float = 0.0
    total: float = 0.0
    at_risk: int = 0

    def add(self, sizes: Ints, people: Floats) -> None:
        """Counts classes of so many records, which stand for so many people each."""
        risk = individual_risk(sizes, people)
        self.records += int(sizes.sum())
        self.people += float(people.sum())
        self.greatest = max(self.greatest, float(risk.max(initial=0.0)))
        self.total += float(sizes @ risk)
        self.at_risk += int(sizes[risk > self.threshold + NOISE].sum())

    def risk(self) -> WeightedRisk:
        """The risk over all classes that were counted."""
        return WeightedRisk(
            self.column,
            self.threshold,
            people=self.people,
            max=self.greatest,
            mean=self.total / self.records,
            reidentified=self.total,
            at_risk=self.at_risk,
        )
