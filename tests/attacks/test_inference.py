"""Inference: the table worked by hand of `test_definetti.py`, before any round of learning.

There P(m|a) = 3/4, P(m|b) = 2/3, P(m|c) = 5/6, and a has two people, b and c one each. So m has a, b, c by
2 · 3/4 : 2/3 : 5/6 = 9/18 : 4/18 : 5/18, and f by 2 · 1/4 : 1/3 : 1/6 = 3/6 : 2/6 : 1/6.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from anonymizers import ANONYMIZERS
from attacks.base import Lacks, NotApplicable, View
from attacks.claims import ValueClaims, WindowClaims
from attacks.inference import Inference
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Truth
from auditor.auditing.sides import Side
from auditor.model.arrays import Bools, Codes, Floats
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.beliefs import Prior
from auditor.posterior.links import Link
from scenarios import town
from tests.support.tables import World, beliefs_of, by_hand, worlds

COLUMNS = {"sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
ROWS = {"sex": ["m", "f", "m", "m"], "ill": ["a", "b", "a", "c"]}
TOWN = Schema.read(Path(str(town.schema_path())))


def claims_of(world: World, column: str, link: Link | None = None) -> ValueClaims | WindowClaims:
    """The claims about people who are looked for under a link model, or without any about anybody."""
    nobody = Prior(world.knowledge.targets, world.knowledge.priors, world.release.sizes)
    view = View(world.release, world.knowledge, nobody if link is None else beliefs_of(world, link), link, column)
    claims = Inference().run(view, np.random.default_rng(0))
    assert isinstance(claims, ValueClaims | WindowClaims)
    return claims


def dense(claims: ValueClaims | WindowClaims) -> Floats:
    return claims.values.rows.toarray()[claims.values.row_of]


def test_naive_bayes_by_hand() -> None:
    world = by_hand(COLUMNS, ROWS, None, [["sex"], ["ill"]], [0, 0, 1, 1])
    m, f = [9 / 18, 4 / 18, 5 / 18], [3 / 6, 2 / 6, 1 / 6]
    np.testing.assert_allclose(dense(claims_of(world, "ill")), [m, f, m, m])


def test_naive_bayes_on_whole_rows_by_hand() -> None:
    # a goes with m twice: P(m|a) = (2 + 3/2)/4 = 7/8; b with f once: P(m|b) = (0 + 3/2)/3 = 1/2; P(m|c) = 5/6.
    # m: 2 · 7/8 : 1/2 : 5/6 = 21/37 : 6/37 : 10/37; f: 2 · 1/8 : 1/2 : 1/6 = 3/11 : 6/11 : 2/11
    m, f = [21 / 37, 6 / 37, 10 / 37], [3 / 11, 6 / 11, 2 / 11]
    np.testing.assert_allclose(dense(claims_of(by_hand(COLUMNS, ROWS), "ill")), [m, f, m, m])


def test_what_a_link_finds_is_refined() -> None:
    # in class 1 are m and f with a and b, alike without a model; m : f is 9/18 : 3/6 for a and 4/18 : 2/6 for b, so that a
    # counts 3/4 for m, and b 2/3, of what it counts at large (1/2, 1/4): 9/18 · 2 : 4/18 · 4 = 9 : 8
    world = by_hand(COLUMNS, ROWS, None, [["sex"], ["ill"]], [0, 0, 1, 1])
    np.testing.assert_allclose(dense(claims_of(world, "ill", Link.CLASS))[0], [9 / 17, 8 / 17, 0])


def test_numbers_are_claimed_as_windows() -> None:
    columns = {"sex": {"role": "quasi"}, "pay": {"role": "sensitive", "type": "numeric"}}
    rows = {"sex": ["m", "f"] * 20, "pay": [str(1000 + 4 * i if i % 2 else 100 + 2 * i) for i in range(40)]}
    claims = claims_of(by_hand(columns, rows), "pay")
    assert isinstance(claims, WindowClaims)
    start = claims.start[np.searchsorted(claims.row, claims.values.row_of)]
    assert (start[::2] < 200).all()
    assert (start[1::2] >= 1000).all()


def test_people_whom_nothing_fits_are_told_as_well() -> None:
    world = by_hand(COLUMNS, ROWS)
    knowledge = Knowledge(("sex",), np.array([[0], [-1]], dtype=np.int32), priors=world.knowledge.priors)
    claims = claims_of(dataclasses.replace(world, knowledge=knowledge), "ill")
    np.testing.assert_allclose(
        dense(claims)[1], [2 / 4, 1 / 4, 1 / 4]
    )  # of whom nothing is known: the shares of everybody
    side = Side("targets", knowledge, _Nobody(2, world.knowledge.priors, world.release.sizes), lambda _: None)
    assert side.attempted(Inference()).all()


class _Nobody(Prior):
    """Beliefs of people whom nothing fits."""

    @property
    def matched(self) -> Bools:
        return np.zeros(self.targets, dtype=np.bool_)


@given(worlds())
def test_it_runs_on_every_kind_and_does_not_read_positions(world: World) -> None:
    moved, _ = world.release.shuffled(np.random.default_rng(3))
    knowledge = dataclasses.replace(world.knowledge, granted=None)
    for column in world.release.sensitive:
        if not any(c in world.release.quasi for c in knowledge.columns):
            continue
        for link in (None, Link.CONTAINMENT, Link.LIKELIHOOD):
            found = [
                dense(claims_of(dataclasses.replace(world, release=release, knowledge=knowledge), column, link))
                for release in (world.release, moved)
            ]
            np.testing.assert_allclose(found[0], found[1], atol=1e-9)
            np.testing.assert_allclose(found[0].sum(axis=1), 1, atol=1e-9)


def test_not_applicable() -> None:
    world = by_hand(COLUMNS, ROWS, known=())
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), None, "ill")
    assert Inference().run(view, np.random.default_rng(0)) == NotApplicable(
        "The adversary knows nothing of the people that is published.", Lacks.PEOPLE
    )


def test_without_the_release_there_is_the_prior() -> None:
    world = by_hand(COLUMNS, ROWS)
    prior = Prior(4, world.knowledge.priors, world.release.sizes)
    claims = Inference().run(View(world.release, world.knowledge, prior, None, "ill", True), np.random.default_rng(0))
    assert isinstance(claims, ValueClaims)
    np.testing.assert_allclose(dense(claims), np.tile([0.5, 0.25, 0.25], (4, 1)))


@pytest.mark.parametrize("wrong", [{"bins": 1}, {"width": -1.0}, {"tau": 1.0}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Inference.configure(wrong)


# ----- members and others --------------------------------------------------------------------------------------------

METHODS: dict[str, dict[str, object]] = {
    "identity": {},
    "mondrian": {"k": 20},
    "anatomy": {"l": 3, "sensitive": "disease"},
}


def right(release: Release, people: Table, column: str, truth: Codes) -> float:
    quasi = people.schema.quasi
    prior = {column: np.bincount(people.codes[column], minlength=people.domains[column].size) / people.rows}
    knowledge = Knowledge(quasi, people.matrix(quasi), priors=prior)
    view = View(release, knowledge, Prior(people.rows, prior, release.sizes), None, column)
    claims = Inference().run(view, np.random.default_rng(0))
    nowhere = np.full(people.rows, -1)
    figures = score(claims, Truth(np.arange(people.rows), nowhere, nowhere[:, None], truth.astype(np.int64)))
    return next(f.value for f in figures if f.measure == "success" and f.value is not None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "column"),
    [("identity", "disease"), ("mondrian", "disease"), ("anatomy", "disease"), ("identity", "income")],
)
def test_what_holds_for_outsiders_too_is_no_excess(method: str, column: str) -> None:
    posing, permuted, above = [], [], []
    for seed in range(3):
        everybody = Table.from_frame(town.population(people=3000, seed=seed), TOWN, "town")
        members, strangers, others = (everybody.take(np.arange(i, i + 1000)) for i in (0, 1000, 2000))
        release, _ = ANONYMIZERS.get(method).configure(METHODS[method]).anonymize(members, np.random.default_rng(seed))
        control = right(release, others, column, others.codes[column])
        posing.append(right(release, strangers, column, strangers.codes[column]) - control)
        rng = np.random.default_rng(seed)
        chance = right(release, others, column, rng.permutation(others.codes[column]))
        permuted.append(right(release, members, column, rng.permutation(members.codes[column])) - chance)
        above.append(control - chance)
    error = (2 * 0.25 / 1000 / 3) ** 0.5
    assert abs(np.mean(posing)) < 3 * error
    assert abs(np.mean(permuted)) < 3 * error
    assert np.mean(above) > 0.02  # there is something to be learned about the world
