"""Where nothing can be learned, the search for the strongest adversary finds somebody no more often than its level says.

The truth is permuted after the release: nobody's record is their own, and values belong to others. The search tries all sets
of four attributes under every link, and further attacks on the best sets; one that chose and reported on the same people
would find something far more often. A search *finds* something if the interval of any reported excess lies above nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.exposure.exposure import Exposure
from auditor.auditing.exposure.halves import CHOOSING
from auditor.auditing.subjects import Subject
from auditor.model.provenance import Provenance
from auditor.model.record.meaning import Goal
from auditor.model.record.search import SearchFacts, SetFigure
from auditor.posterior.links import Link
from auditor.runs.searching import search_release
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options, Search
from tests.support.search_cases import people
from tests.support.telling import Tell

LINKS = (Link.CONTAINMENT, Link.LIKELIHOOD)


def permuted(seed: int, goal: str) -> Subject:
    """A release after which the records of its people were permuted, or their values."""
    table, order = people(seed), np.random.default_rng(seed + 1).permutation(120)
    release, provenance = anonymize(table, "mondrian", seed, k=4)
    if goal == "identity":
        return Subject(release, table, Provenance(provenance.bucket[order], provenance.fragment[order]))
    codes = {**table.codes, "disease": table.codes["disease"][order]}
    return Subject(release, replace(table, codes=codes), provenance)


def told(found: SearchFacts) -> Iterator[SetFigure]:
    """All figures that a search reports."""
    for number in found.numbers:
        yield from (number.best, number.typical, number.worst)
    yield from (*found.minimal, *found.strongest)


def finds(found: SearchFacts) -> bool:
    return any(one.excess_low is not None and one.excess_low > 1e-9 for one in told(found))


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("goal", ["identity", "value"])
def test_a_search_finds_nothing_in_permuted_truth(goal: str, full: bool, tell: Tell) -> None:
    runs, found = 200 if full else 8, 0
    for seed in range(runs):
        options = Options(("linking", "record-linkage", "homogeneity", "inference"), LINKS, seed=seed)
        (facts,) = search_release(permuted(seed, goal), options, Search((goal,)))
        assert facts.status == "ok"
        assert facts.tried == 16
        found += finds(facts)
    tell("Searches that find something in permuted truth, at level 5 %", goal=goal, runs=runs, found=found)
    assert found <= (20 if full else 3)


def test_what_is_there_is_found() -> None:
    """Power, so that finding nothing above means something: with the true records and values both goals are reached."""
    table = people(1, 400)
    release, provenance = anonymize(table, "mondrian", 1, k=2)
    subject = Subject(release, table, provenance)
    for goal in ("identity", "value"):
        (facts,) = search_release(subject, Options(("linking", "homogeneity"), seed=1), Search((goal,)))
        assert finds(facts)


def test_the_same_people_would_find_too_much() -> None:
    """Why there are two halves: the best of the sets looks better on the people who chose it, on the average over tables."""
    gaps = []
    for seed in range(5):
        exposure = Exposure(permuted(seed, "value"), Options(seed=seed), PROSECUTOR, Goal.ATTRIBUTE, "disease")
        sets = [
            ("age",),
            ("sex",),
            ("town",),
            ("job",),
            ("age", "town"),
            ("age", "job"),
            ("town", "job"),
            ("sex", "job"),
        ]
        both = [(exposure.tried(c, CHOOSING)[0].value, exposure.tried(c, 1 - CHOOSING)[0].value) for c in sets]
        chosen = max(both)
        gaps.append(chosen[0] - chosen[1])
    assert np.mean(gaps) > 0
