"""The choices an adversary's reasoning depends on, each by name: link models and weighting.

A *link model* says how the adversary finds the class of a person:

- `containment`: every compatible fragment counts alike, the convention of the literature;
- `likelihood`: a fragment weighs 1/q(labels), q being the share of the population that its labels cover: Bayes' rule
  for labels of unequal width, and the one that must be calibrated;
- `class`: the true class is granted, the worst case that k-anonymity accounts for;
- `tightest`: the class of least loss that covers the person: an anonymizer that minimises loss put them there;
- `distance`: the nearest records, for averages, centres of clusters and noise, which cover nobody or somebody else.

The first four match labels (`posterior.py`), the fifth measures (`distance.py`).
"""

from __future__ import annotations

from enum import StrEnum


class Link(StrEnum):
    """How the adversary finds a person's class."""

    CONTAINMENT = "containment"
    LIKELIHOOD = "likelihood"
    CLASS = "class"
    TIGHTEST = "tightest"
    DISTANCE = "distance"


class Weighting(StrEnum):
    """How buckets weigh: by the expected number of matching people, or as the slicing paper has it.

    The paper normalises the matching degree f without the bucket's size. With buckets of unequal size that is wrong: a
    target compatible with nine flu in one bucket and one HIV in another has HIV with 1/10, not 1/2.
    """

    SIZE = "size"
    PAPER = "paper"
