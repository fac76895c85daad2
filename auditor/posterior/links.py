"""The choices an adversary's reasoning depends on, each by name: link models and weighting.

A *link model* says how the adversary finds the class of a person. `LINKS` says what each does, in the order in which reports
show them: the one that policies judge first. The first four match labels (`posterior.py`), the fifth measures distances
(`distance.py`), and the last goes by the mechanism that is published with a perturbed release (`informed.py`).
"""

from __future__ import annotations

from enum import StrEnum

from auditor.model.record.meaning import LinkFacts


class Link(StrEnum):
    """How the adversary finds a person's class."""

    CONTAINMENT = "containment"
    LIKELIHOOD = "likelihood"
    CLASS = "class"
    TIGHTEST = "tightest"
    DISTANCE = "distance"
    MECHANISM = "mechanism"


BY_RECORDS = (Link.DISTANCE, Link.MECHANISM)
"""The links that go by single records, whether their labels cover a person or not."""

LINKS = (
    LinkFacts(
        Link.CLASS,
        "The bound if the person's class were known: the worst case that k-anonymity accounts for. No adversary gets it by "
        "what they know; policies judge it unless they name an adversary.",
        "if the person's class were known",
        granted=True,
    ),
    LinkFacts(
        Link.LIKELIHOOD,
        "Classes are weighed by how likely each holds the person (Bayes' rule): one over the share of the population that "
        "their labels cover. Where labels do not overlap, its probabilities are calibrated.",
        "classes are weighed by how likely each holds the person",
    ),
    LinkFacts(
        Link.TIGHTEST,
        "The adversary takes the class with the narrowest labels that cover the person: a tool that loses as little detail "
        "as possible put them there.",
        "the tightest class that covers the person is taken",
    ),
    LinkFacts(
        Link.CONTAINMENT,
        "Every record whose labels cover the person counts alike: the convention of the literature.",
        "every class that could hold the person counts alike",
    ),
    LinkFacts(
        Link.DISTANCE,
        "The adversary takes the nearest published record: for averages, centres of clusters and noise, which cover nobody "
        "or somebody else.",
        "the nearest published record is taken",
    ),
    LinkFacts(
        Link.MECHANISM,
        "Records are weighed by how likely the published mechanism (noise, swapping, transitions, codes, rounding) makes "
        "them of the person's values, and how likely of other people's (Bayes' rule): for perturbed releases, and those "
        "who read how they were made.",
        "records are weighed by how likely the published mechanism makes them of the person",
    ),
)


class Weighting(StrEnum):
    """How buckets weigh: by the expected number of matching people, or as the slicing paper has it.

    The paper normalises the matching degree f without the bucket's size. With buckets of unequal size that is wrong: a
    target compatible with nine flu in one bucket and one HIV in another has HIV with 1/10, not 1/2.
    """

    SIZE = "size"
    PAPER = "paper"
