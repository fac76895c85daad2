"""Class risk: what the sizes of the classes alone say about finding a person's record.

Somebody who knows that a person is in the release, and the person's class, names the right record with a probability of one
over the size of the class (the prosecutor). Its mean over all records is the number of classes over the number of records.
That is also what a marketer achieves whose population is exactly the people in the release. With more people in the
population, a journalist and a marketer achieve less: their risk needs the population (the attack `linking`).

A class is rows with the same labels, and a suppressed cell is a label of its own there. If it may be any value, people hide
among more than their class: the same figures under that convention are given as well (`wildcards`). A record that is alone in
its class is a *sample unique*. If the records carry sampling weights, the f records that agree with one stand for as many
people of the population as their weights add up to (`individual_risk`); whether a suppressed cell agrees with any other is
asked for (`WithheldCells`).

Paper: K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013. ARX prints the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auditor.measure import words
from auditor.measure.counts import class_sizes
from auditor.measure.individual_risk import can_be_weight, individual_risk, published_weights
from auditor.measure.wildcards import TOO_LONG, alike_classes
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Better
from auditor.model.record.release_facts import ClassRisk, WeightedRisk
from auditor.model.release import Release, Suppression, WithheldCells

THRESHOLD = 0.2
"""By default a record is at risk if the probability of a right link exceeds this."""
NOISE = 1e-12
UNSOUND = "some weights are missing, suppressed, coarsened, not above 0 or far too large"


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
        "wildcard_uniques",
        "How many records agree with no other where a suppressed cell may be any value.",
        "with suppressed cells as any value, {people} agree with no other record",
        label="records alone, a suppressed cell being any value",
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
        "The highest chance of finding a record's person in the population, where the records that agree with it stand for "
        "as many people as their sampling weights add up to (Benedetti and Franconi 1998).",
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
    risk, sizes = class_risk(class_sizes(release, suppression), threshold), class_sizes(release)
    alike = alike_classes(release, Suppression.EXCLUDED, WithheldCells.WILDCARD)
    people = alike.agreeing(sizes[:, None].astype(np.float64))
    if risk is None or people is None or not len(people):
        return risk
    return with_wildcards(risk, sizes, people[:, 0])


def with_wildcards(risk: ClassRisk, sizes: Ints, people: Floats, times: Ints | None = None) -> ClassRisk:
    """The risk, with the figures for suppressed cells that may be any value; `people` is how many agree with each class, of
    which there are `times` (one by default)."""
    records = sizes if times is None else sizes * times
    return replace(
        risk,
        wildcard_max=float(1 / people.min()),
        wildcard_mean=float((records / people).sum() / records.sum()),
        wildcard_min=float(1 / people.max()),
        wildcard_uniques=int(records[people == 1].sum()),
    )


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


def risk_of_people(risk: ClassRisk, chance: Floats) -> ClassRisk | None:
    """The risk of people who may be in several classes, given each one's highest chance; None if there is nobody."""
    if not len(chance):
        return None
    at_risk, alone = int((chance > risk.threshold + NOISE).sum()), int((chance == 1).sum())
    return replace(
        risk,
        records=len(chance),
        prosecutor_max=float(chance.max()),
        prosecutor_mean=float(chance.mean()),
        prosecutor_min=float(chance.min()),
        at_risk=at_risk,
        at_risk_share=at_risk / len(chance),
        marketer=float(chance.mean()),
        sample_uniques=alone,
        sample_unique_share=alone / len(chance),
    )


def weighted_risk(
    release: Release,
    suppression: Suppression = Suppression.EXCLUDED,
    threshold: float = THRESHOLD,
    cells: WithheldCells = WithheldCells.WILDCARD,
) -> WeightedRisk | None:
    """The individual risk by the published sampling weights; None if none are published."""
    found = published_weights(release)
    if found is None:
        return None
    column, weight = found
    if len(release.blocks) > 1:
        return WeightedRisk(column, threshold, reason="a release of several blocks does not tell whose weight is whose")
    alike = alike_classes(release, suppression, cells)
    if not alike.inside.any():
        return WeightedRisk(column, threshold, reason="no class is left")
    if not can_be_weight(weight[alike.inside]).all():
        return WeightedRisk(column, threshold, reason=UNSOUND)
    sums = alike.sums(np.column_stack([np.ones(len(weight)), weight]))
    agreeing = alike.agreeing(sums)
    if agreeing is None:
        return WeightedRisk(column, threshold, reason=TOO_LONG)
    tally = WeightTally(column, threshold)
    tally.add(sums[:, 0].astype(np.int64), sums[:, 1], agreeing)
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

    def add(self, sizes: Ints, people: Floats, agreeing: Floats | None = None) -> None:
        """Adds classes, given the number of records of each and of the people they stand for; `agreeing` are the same two
        figures of all records that agree with a class (classes × 2), by default those of the class itself."""
        alike = np.column_stack([sizes, people]) if agreeing is None else agreeing
        risk = individual_risk(alike[:, 0], alike[:, 1])
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
