"""The posterior of sets of known columns: the same as the ordinary one, figure by figure."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.model.arrays import Floats
from auditor.model.release import Suppression
from auditor.posterior.beliefs import Beliefs, ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.posterior import Posterior
from auditor.posterior.subsets import Subsets, restricted
from tests.support.tables import QUASI, SENSITIVE, Plan, World, plans

SETS = [columns for size in range(len(QUASI) + 1) for columns in itertools.combinations(QUASI, size)]


def dense(values: ValueBeliefs) -> Floats:
    return values.rows.toarray()[values.row_of]


def check(world: World, suppression: Suppression) -> int:
    """Compares every set of columns that can be computed here; tells how many there were."""
    knowledge, own = world.knowledge, (world.bucket, world.fragment)
    subsets = Subsets(world.release, knowledge, suppression, SENSITIVE, own)
    compared = 0
    for columns in SETS:
        known = restricted(knowledge, columns)
        if not subsets.can(columns):
            continue
        compared += 1
        for link, fit in subsets.fit(columns).items():
            posterior = Posterior(Matching(world.release, known, suppression), link)
            assert (fit.matched == posterior.matched).all()
            there = posterior.matched
            records, expected = fit.records(), posterior.records()
            np.testing.assert_allclose(records.best[there], expected.best[there], rtol=1e-9)
            np.testing.assert_allclose(records.tied[there], expected.tied[there])
            right = posterior.record_probability(*own)
            np.testing.assert_allclose(fit.record_probability(), right, rtol=1e-9, atol=1e-300)
            np.testing.assert_allclose(records.named(fit.record_probability()), expected.named(right))
            rest = LeaveOneOut(posterior, *own)
            for column in SENSITIVE:
                assert_alike(world, column, fit.values(column), posterior)
                values, matched = fit.without(column)
                assert (matched == rest.matched).all()
                assert_alike(world, column, values, rest)
    return compared


def assert_alike(world: World, column: str, values: ValueBeliefs, beliefs: Beliefs) -> None:
    """The same shares, and the same chance that the true value is named, of everybody whom something fits."""
    there, expected = beliefs.matched, beliefs.values(column)
    np.testing.assert_allclose(dense(values)[there], dense(expected)[there], atol=1e-9)
    codes = np.resize(world.table.codes[column].astype(np.int64), len(there))
    np.testing.assert_allclose(values.named(codes)[there], expected.named(codes)[there], atol=1e-9)
    np.testing.assert_allclose(values.top()[values.row_of][there], expected.top()[expected.row_of][there], atol=1e-9)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans(), suppression=st.sampled_from(Suppression))
def test_every_set_of_columns_gives_the_ordinary_posterior(plan: Plan, suppression: Suppression) -> None:
    world = dataclasses.replace(plan, known=QUASI).build()
    compared = check(world, suppression)
    assert compared == (len(SETS) if plan.kind != "sliced" else 1 + 4 + 1)
