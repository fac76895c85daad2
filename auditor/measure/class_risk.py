"""Class risk: what the sizes of the classes alone say about finding a person's record.

Somebody who knows that a person is in the release, and the person's class, names the right record with a probability of one
over the size of the class (the prosecutor). Its mean over all records is the number of classes over the number of records.
That is also what a marketer achieves whose population is exactly the people in the release. With more people in the
population, a journalist and a marketer achieve less: their risk needs the population (the attack `linking`).

If single cells are suppressed and may be any value, people hide among more than their class: the same figures under that
convention are given as well (`wildcards`). A record that is alone in its class is a *sample unique*. If the records carry
sampling weights, a class of f records stands for as many people of the population as their weights add up to
(`individual_risk`).

Paper: K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013. ARX prints the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auditor.measure import words
from auditor.measure.counts import class_of_bucket, class_sizes
from auditor.measure.individual_risk import individual_risk
from auditor.measure.wildcards import agreeing
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Better
from auditor.model.record.release_facts import ClassRisk, WeightedRisk
from auditor.model.release import Release, Suppression
from auditor.model.schema import Role

THRESHOLD = 0.2
"""By default a record is at risk if the probability of a right link exceeds this."""
NOISE = 1e-12


RISKS = (
    words.extreme(
        "prosecutor_max",
        "The highest chance of naming a person's record, the class known: one over the size of the smallest class.",
        "the most exposed record is named with probability {one_in}",
        label="highest chance of naming somebody's record, class known",
    ),
    words.rate(
        "prosecutor_mean",
        "The mean over records of one over the size of the class: the number of classes over the number of records.",
        "on average a record is named with probability {one_in}",
        label="mean chance of naming a record, class known",
    ),
    words.extreme(
        "prosecutor_min",
        "The lowest chance of naming a person's record: one over the size of the largest class.",
        "the safest record is named with probability {one_in}",
        label="lowest chance of naming a record, class known",
    ),
    words.extreme(
        "wildcard_max",
        "The highest chance of naming a record where a suppressed cell may be any value: people hide among more classes.",
        "with suppressed cells as any value, the most exposed record is named with probability {one_in}",
        label="highest chance, a suppressed cell being any value",
    ),
    words.rate(
        "wildcard_mean",
        "The mean chance of naming a record where a suppressed cell may be any value.",
        "with suppressed cells as any value, a record is named with probability {one_in} on average",
        label="mean chance, a suppressed cell being any value",
    ),
    words.extreme(
        "wildcard_min",
        "The lowest chance of naming a record where a suppressed cell may be any value.",
        "with suppressed cells as any value, the safest record is named with probability {one_in}",
        label="lowest chance, a suppressed cell being any value",
    ),
    words.count(
        "at_risk",
        "How many records have a chance of being named above the threshold.",
        "{people} have a chance of being named above the threshold",
        label="records with a higher chance than the threshold",
    ),
    words.rate(
        "at_risk_share",
        "The share of records whose chance of being named exceeds the threshold.",
        "{rate} of the records have a chance of being named above the threshold",
        label="share of records above the threshold",
    ),
    words.rate(
        "marketer",
        "The share of right links of somebody who links everybody, from a list of exactly the people in the release; with "
        "outsiders on the list it is lower, and so is a journalist's chance.",
        "{rate} of all links are right at most",
        label="share of right links; lower where the list has outsiders",
    ),
    words.count(
        "sample_uniques",
        "How many records are alone in their class.",
        "{people} have a class of their own",
        label="records that are alone in their class",
    ),
    words.rate(
        "sample_unique_share",
        "The share of records that are alone in their class.",
        "{rate} of the records are alone in their class",
        label="share of records alone in their class",
    ),
)
"""What class sizes say about finding a person's record, in words."""

WEIGHTED = (
    words.fact(
        "weighted_people",
        "How many people of the population the records stand for: the sum of their sampling weights.",
        "the records stand for {value} people",
        label="people of the population whom the records stand for",
        better=Better.HIGHER,
    ),
    words.extreme(
        "weighted_max",
        "The highest chance of finding a record's person in the population, where a class stands for as many people as its "
        "sampling weights add up to (Benedetti and Franconi 1998).",
        "by the sampling weights, the most exposed record is linked to its person with probability {one_in}",
        label="highest chance of finding a record's person among them",
    ),
    words.rate(
        "weighted_mean",
        "The mean chance of finding a record's person in the population, by the sampling weights.",
        "by the sampling weights, a record is linked to its person with probability {one_in} on average",
        label="mean chance of finding a record's person among them",
    ),
    words.fact(
        "weighted_reidentified",
        "How many right links are expected when all records are tried: the sum of their chances by the sampling weights.",
        "by the sampling weights, {value} right links are expected if all records are tried",
        label="expected number of right links, all records tried",
    ),
    words.count(
        "weighted_at_risk",
        "How many records have a chance above the threshold, by the sampling weights.",
        "by the sampling weights, {people} have a chance above the threshold",
        label="records with a higher chance than the threshold",
    ),
)
"""The same by sampling weights."""


def release_risk(
    release: Release, suppression: Suppression = Suppression.EXCLUDED, threshold: float = THRESHOLD
) -> ClassRisk | None:
    """The risk of the records of a release; None for several blocks, and if there is no class."""
    if len(release.blocks) > 1:
        return None
    risk, people = class_risk(class_sizes(release, suppression), threshold), agreeing(release)
    if risk is None or people is None or not len(people):
        return risk
    return with_wildcards(risk, class_sizes(release), people)


def with_wildcards(risk: ClassRisk, sizes: Ints, people: Ints) -> ClassRisk:
    """The risk, with the figures for suppressed cells that may be any value; `people` is how many agree with each class."""
    mean = float((sizes / people).sum() / sizes.sum())
    return replace(risk, wildcard_max=float(1 / people.min()), wildcard_mean=mean, wildcard_min=float(1 / people.max()))


def class_risk(sizes: Ints, threshold: float = THRESHOLD, times: Ints | None = None) -> ClassRisk | None:
    """The risk of the records of classes with these sizes, each occurring `times` times (once by default); None if there is
    no class."""
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
    """The individual risk by the published sampling weights; None if none are published."""
    column = next((c for c in release.schema.names(Role.WEIGHT) if c in release.columns), None)
    if column is None:
        return None
    if len(release.blocks) > 1:
        return WeightedRisk(column, threshold, reason="a release of several blocks does not tell whose weight is whose")
    block, labels = release.blocks[0], release.labels[column]
    number = class_of_bucket(release, suppression)[block.bucket]
    inside = number >= 0
    known = (labels.low == labels.high) & ~labels.suppressed & ~labels.is_alias
    exact = np.where(known, labels.low, np.nan)
    weight = exact[block.cell(column)[inside]]
    if not len(weight):
        return WeightedRisk(column, threshold, reason="no class is left")
    if not (weight > 0).all():
        return WeightedRisk(column, threshold, reason="some weights are missing, suppressed, coarsened or not above 0")
    sizes = np.bincount(number[inside]).astype(np.int64)
    people = np.bincount(number[inside], weights=weight).astype(np.float64)
    tally = WeightTally(column, threshold)
    tally.add(sizes, people)
    return tally.risk()


@dataclass(slots=True)
class WeightTally:
    """The individual risk of classes that arrive in batches."""

    column: str
    threshold: float
    records: int = 0
    people: float = 0.0
    greatest: float = 0.0
    total: float = 0.0
    at_risk: int = 0

    def add(self, sizes: Ints, people: Floats) -> None:
        """Adds classes, given the number of records of each and of the people they stand for."""
        risk = individual_risk(sizes, people)
        self.records += int(sizes.sum())
        self.people += float(people.sum())
        self.greatest = max(self.greatest, float(risk.max(initial=0.0)))
        self.total += float(sizes @ risk)
        self.at_risk += int(sizes[risk > self.threshold + NOISE].sum())

    def risk(self) -> WeightedRisk:
        """The risk over all classes that were added."""
        return WeightedRisk(
            self.column,
            self.threshold,
            people=self.people,
            max=self.greatest,
            mean=self.total / self.records,
            reidentified=self.total,
            at_risk=self.at_risk,
        )
