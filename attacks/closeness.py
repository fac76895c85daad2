"""Closeness: how near the synthetic records come to the people they were made from. Facts that others print, and no attack.

Tools for synthetic data print distances to the closest record and figures made from them
(`auditor/measure/closeness.py`). They are told here, because people ask for them, each beside the same figure for as
many outsiders, and each with what it does not show. Identical rows are looked for among all; those among the outsiders
are counted as if there were as many of them as of members. None of these figures says that a release is safe: a table
can keep every record far from everybody and still tell who was in the data, as the scores of `synthetic-membership`
show.

Distances are those of `synthetic-membership`. At most `records` rows are looked at, and of either group as many people as
the smaller one has, both drawn at random. Where there are more members, most records of a copy are the image of somebody
who was not drawn, and are as far from those who were as from outsiders. So the DCR share is of the records to whom nobody in
the data is nearer than all who were drawn. Both groups of people drawn are alike in that, so that one half is no difference
still, and a copy shows however few the outsiders are.

Papers: M. Platzer, T. Reutterer, "Holdout-Based Empirical Assessment of Mixed-Type Synthetic Data", 2021; J. Yoon, L.
Drumright, M. van der Schaar, "ADS-GAN", IEEE JBHI 2020; Y. Yao et al., "The DCR Delusion", 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import OF_PEOPLE, Lacks, NotApplicable, Rows, View, WholeAttack
from attacks.claims import Claims, CloseClaims
from attacks.shared.measures import fact_measure
from auditor.measure.points import Encoding, known_points, published_points
from auditor.model.packing import contents
from auditor.model.record.meaning import Criterion, Goal, Measure

_MOST_PAIRS, _LEAST = 200_000_000, 200
"""How many distances are measured at most; and the fewest records that are looked at, however many people there are."""


@dataclass(frozen=True)
class Closeness(WholeAttack):
    """Measures how near synthetic records come to people. At most `records` of them, and so many people of either group, are
    looked at."""

    name = "closeness"
    title = "distances to the closest record"
    summary = "Measures how near made-up rows come to the people they were made from: figures that other tools print."
    paper = "Platzer & Reutterer 2021; Yoon, Drumright & van der Schaar 2020; Yao et al. 2025"
    goal = Goal.MEMBERSHIP
    claim = "The made-up rows lie nearer to the people they were made from than to others."
    needs = "All values of the people, and of as many who are not in the data."
    success = "A made-up row is nearer to somebody in the data than to anybody of as many others."
    lowered_by = "Noise in the model (differential privacy), or a coarser model."
    criterion = Criterion.MEMBERSHIP
    rows = Rows.NOBODY
    effort = 10
    measures = (
        Measure(
            "dcr_share",
            "DCR share: of the synthetic records, how many are nearer to somebody in the data than to anybody of as "
            "many outsiders; one half is no difference. Where outsiders are fewer, as many people of the data are drawn, "
            "and the records count whose closest person is one of them or an outsider. One half does not show that "
            "nobody can be told to be in: membership may leak elsewhere.",
            "{rate} of the {n} made-up rows that were compared are nearer to somebody in the data than to anybody of as many "
            "others; half would be no difference",
            label="nearer to members (DCR share)",
        ),
        Measure(
            "identical",
            "Share of synthetic records that are the very image of somebody in the data. None does not show that nobody was "
            "copied: copies with small changes are not counted. Some may be chance: outsiders have theirs too.",
            "{rate} of {n} made-up rows are the very image of somebody in the data",
            label="identical rows",
        ),
        Measure(
            "identifiability",
            "ε-identifiability: share of people who are nearer to a synthetic record than to anybody else in the data. "
            "It does not show that they were in it: the same holds for many outsiders.",
            "{rate} of {n} people are nearer to a made-up row than to anybody else in the data",
            label="nearer to a record than to people (ε-identifiability)",
        ),
        fact_measure(
            "nndr",
            "NNDR: how far the closest person is from a synthetic record, as a share of the second closest; the mean. "
            "It does not show who is at risk: a low mean may be many harmless records, a high one may hide single copies.",
            "on average the closest person is {value} times as far from a made-up row as the second closest",
            label="closest over second closest (NNDR)",
            better="higher",
        ),
        fact_measure(
            "dcr",
            "DCR: the median distance from a synthetic record to the closest person in the data. A distance by itself shows "
            "nothing: it depends on columns, scales and the number of people. Hold it against that to outsiders.",
            "half of the made-up rows are at most {value} from the closest person in the data",
            label="distance to the closest person (DCR)",
            better="higher",
        ),
    )
    lead: ClassVar[tuple[str, ...]] = ("dcr_share",)
    compared = ("dcr_share",)
    support: ClassVar[tuple[str, ...]] = ("identical", "identifiability")
    least = (("records", 10),)

    records: int = 5_000

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, knowledge, reference = view.release, view.knowledge, view.knowledge.auxiliary
        if not release.synthetic:
            return OF_PEOPLE
        if reference is None:
            return NotApplicable("it takes people who are not in the release", Lacks.POPULATION)
        columns = [c for c in knowledge.columns if c in release.columns and c in reference.codes]
        if not columns:
            return NotApplicable("the adversary knows nothing of the people that is published", Lacks.PEOPLE)
        made = published_points(release, columns)
        encoding = Encoding.of(known_points(release, columns, reference.matrix(columns)), made)
        places = [knowledge.columns.index(c) for c in columns]
        people = encoding.axes(known_points(release, columns, knowledge.codes[:, places]))
        rows, block = encoding.axes(made), release.blocks[0]
        content = contents([block.cell(c) for c in columns], rows.rows)  # whatever the order of rows and columns
        most = min(self.records, max(_MOST_PAIRS // max(people.rows, 1), _LEAST), rows.rows)
        some = rng.choice(np.argsort(content, kind="stable"), most, replace=False)
        place = knowledge.some_people(self.records, rng)
        if knowledge.person is None:
            return CloseClaims(rows, people, rows.take(some), rng.permutation(place))
        person = np.unique(knowledge.person, return_inverse=True)[1]
        return CloseClaims(rows, people, rows.take(some), rng.permutation(np.unique(person[place])), person)
