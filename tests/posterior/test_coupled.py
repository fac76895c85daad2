"""The coupled posterior against brute force: every way to give the known people fragments of their own, one by one."""

from __future__ import annotations

import dataclasses
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from auditor.model.arrays import Floats, Ints
from auditor.model.knowledge import Acquaintances, Knowledge
from auditor.posterior import assignments
from auditor.posterior.assignments import assign
from auditor.posterior.beliefs import Prior, Some, ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.coupled import Coupled, link_of_others
from auditor.posterior.distance import Nearest
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import BY_RECORDS, Link
from auditor.posterior.posterior import Posterior
from tests.support.oracle import Oracle, believed, without
from tests.support.tables import SENSITIVE, World, beliefs_of, by_hand, worlds

many = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
every_link = pytest.mark.parametrize("link", [link for link in Link if link not in BY_RECORDS])
Person = tuple[dict[int, float], set[int]]
"""Somebody in the enumeration: the probability of each fragment, and the codes that are possible."""


def dense(values: ValueBeliefs) -> Floats:
    return values.rows.toarray()[values.row_of]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# ----- the enumeration -----------------------------------------------------------------------------------------------


def fragments(oracle: Oracle, target: int, column: str) -> dict[int, float]:
    """The probability of each fragment of the sensitive block, by the marginal posterior."""
    block, out = oracle.release.block_of(column), {}
    for bucket, share in oracle.buckets(target).items():
        fits = oracle.compatible(target, bucket, block)
        total = sum(w for _, w in fits)
        out.update({fragment: share * w / total for fragment, w in fits})
    return out


def by_brute_force(oracle: Oracle, column: str, people: list[Person]) -> tuple[float, list[list[float]]]:
    """The weight of all ways, and for each person the weight of each value."""
    labels, block = oracle.release.labels[column], oracle.release.block_of(column)
    values = [[0.0] * labels.domain.size for _ in people]
    total = 0.0
    for way in product(*(person[0] for person in people)):
        if len(set(way)) < len(way):
            continue
        weight = prod(person[0][fragment] for person, fragment in zip(people, way, strict=True))
        inside = [believed(labels, oracle.label(block, fragment, column)) for fragment in way]
        likely = [len(codes & person[1]) / max(len(codes), 1) for codes, person in zip(inside, people, strict=True)]
        weight *= prod(likely)
        total += weight
        for i, (codes, person) in enumerate(zip(inside, people, strict=True)):
            for code in codes & person[1] if weight > 0 else ():
                values[i][code] += weight / len(codes & person[1])
    return total, values


def masked(belief: list[float], allowed: set[int]) -> list[float] | None:
    kept = [p if code in allowed else 0.0 for code, p in enumerate(belief)]
    return [p / sum(kept) for p in kept] if sum(kept) > 1e-12 else None


@dataclasses.dataclass
class Case:
    """A world with some rows as acquaintances and the others as targets, some of whose values are ruled out."""

    world: World
    column: str
    knowledge: Knowledge
    friends: Oracle
    targets: Ints
    fragment: Ints

    def posterior(self, link: Link) -> Posterior:
        return Posterior(Matching(self.world.release, self.knowledge, self.suppression), link)

    @property
    def suppression(self) -> Any:
        return self.friends.suppression

    def allowed(self, target: int) -> set[int]:
        return set(np.flatnonzero(~self.knowledge.not_values[self.column][target]).tolist())

    def known(self) -> list[Person]:
        friends = self.knowledge.acquaintances
        assert friends is not None
        values = friends.values[self.column].tolist()
        return [(fragments(self.friends, i, self.column), {values[i]}) for i in range(friends.people)]


def case(world: World, link: Link, column: str, friends: int, seed: int, facts: float) -> Case:
    drawn = np.random.default_rng(seed)
    inside = np.flatnonzero(world.provenance.bucket >= 0)
    chosen = np.sort(drawn.permutation(inside)[:friends])
    everybody = np.arange(len(world.bucket))
    targets = np.setdiff1d(everybody, chosen)
    size = world.release.labels[column].domain.size
    ruled = drawn.random((len(everybody), size)) < facts
    rows = np.arange(world.table.rows)
    ruled[rows, world.table.codes[column]] = False
    codes = world.knowledge.codes[chosen]
    friendly = Acquaintances(world.knowledge.columns, codes, {column: world.table.codes[column][chosen]})
    about = dataclasses.replace(
        world.knowledge.take(targets), not_values={column: ruled[targets]}, acquaintances=friendly
    )
    theirs = Knowledge(world.knowledge.columns, codes, register=world.knowledge.register, priors=world.knowledge.priors)
    return Case(
        world, column, about, Oracle(world.release, theirs, link_of_others(link)), targets, world.fragment[targets]
    )


@every_link
@many
@given(
    world=worlds(),
    column=st.sampled_from(SENSITIVE),
    friends=st.integers(0, 2),
    facts=st.sampled_from([0.0, 0.3, 0.7]),
    seed=st.integers(0, 99),
)
def test_a_target_given_its_facts_and_acquaintances(
    link: Link, world: World, column: str, friends: int, facts: float, seed: int
) -> None:
    one = case(world, link, column, friends, seed, facts)
    oracle = Oracle(world.release, one.knowledge, link)
    known = one.known()
    assume(by_brute_force(oracle, column, known)[0] > 0)
    coupled = Coupled(one.posterior(link), one.knowledge, rng())
    found = dense(coupled.values(column))
    for target in range(len(one.targets)):
        allowed, before = one.allowed(target), oracle.values(target, column)
        total, values = by_brute_force(oracle, column, [*known, (fragments(oracle, target, column), allowed)])
        prior = one.knowledge.priors[column].tolist()
        expected = [p / total for p in values[-1]] if total > 1e-12 else None
        expected = expected or masked(before, allowed) or masked(prior, allowed) or before
        np.testing.assert_allclose(found[target], expected, atol=1e-9)
    assert coupled.detail(column)["joint"] == ("exact" if friends and len(known) else "none")


@every_link
@many
@given(world=worlds(), column=st.sampled_from(SENSITIVE), friends=st.integers(0, 1), seed=st.integers(0, 99))
def test_the_facts_about_all_targets_together(link: Link, world: World, column: str, friends: int, seed: int) -> None:
    one = case(world, link, column, friends, seed, 0.5)
    few = dataclasses.replace(one, knowledge=one.knowledge.take(np.arange(min(3, len(one.targets)))))
    oracle = Oracle(world.release, few.knowledge, link)
    people = few.known()
    count = few.knowledge.targets
    people += [(fragments(oracle, target, column), few.allowed(target)) for target in range(count)]
    facts = few.knowledge.not_values[column].any(axis=1)
    told = [*range(len(people) - count), *(len(people) - count + np.flatnonzero(facts)).tolist()]
    total, values = by_brute_force(oracle, column, [people[i] for i in told])
    assume(total > 1e-12)
    found = dense(Coupled(few.posterior(link), few.knowledge, rng(), together=True).values(column))
    for target in range(count):
        place = len(people) - count + target
        if facts[target]:
            expected = [p / total for p in values[told.index(place)]]
        else:  # nothing is known of them, but the others leave them less
            alone, beside = by_brute_force(oracle, column, [people[i] for i in told] + [people[place]])
            expected = [p / alone for p in beside[-1]] if alone > 1e-12 else oracle.values(target, column)
        np.testing.assert_allclose(found[target], expected, atol=1e-9)


# ----- assignments ---------------------------------------------------------------------------------------------------


def ways(weights: Floats, counts: Ints) -> tuple[float, Any, Any, Any]:
    """All ways to seat people, by permutations of the seats."""
    kind = np.repeat(np.arange(len(counts)), counts)
    total, free, pairs, chance = 0.0, np.zeros(len(counts)), np.zeros(len(counts)), np.zeros(weights.shape)
    for way in permutations(range(len(kind)), len(weights)):
        seats = kind[list(way)]
        weight = weights[np.arange(len(weights)), seats].prod()
        left = counts - np.bincount(seats, minlength=len(counts))
        total += weight
        free += weight * left
        pairs += weight * left * (left - 1)
        chance[np.arange(len(weights)), seats] += weight
    return total, free, pairs, chance


@st.composite
def seatings(draw: st.DrawFn) -> tuple[Floats, Ints]:
    people, kinds = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    counts = np.array(draw(st.lists(st.integers(1, 2), min_size=kinds, max_size=kinds)))
    cells = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 2.0])
    flat = draw(st.lists(cells, min_size=people * kinds, max_size=people * kinds))
    return np.array(flat).reshape(people, kinds), counts


@given(seating=seatings())
def test_the_table_is_every_way(seating: tuple[Floats, Ints]) -> None:
    weights, counts = seating
    found = assign(sparse.csr_array(weights), counts, rng())
    total, free, pairs, chance = ways(weights, counts)
    if total == 0:
        assert found.contradicted > 0
        return
    assert (found.contradicted, found.sampled, found.exact) == (0, 0, len(weights))
    np.testing.assert_allclose(found.free, free / total, atol=1e-12)
    np.testing.assert_allclose(found.pairs, pairs / total, atol=1e-12)
    np.testing.assert_allclose(found.chance.toarray(), chance / total, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_samples_come_near_every_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignments, "MOST_STATES", 0)
    monkeypatch.setattr(assignments, "ROUNDS", 20_000)
    drawn = np.random.default_rng(seed)
    weights = drawn.choice([0.0, 0.5, 1.0, 3.0], (4, 4)) + np.eye(4)
    counts = np.array([1, 1, 2, 1])
    found = assign(sparse.csr_array(weights), counts, drawn)
    total, free, pairs, chance = ways(weights, counts)
    assert found.sampled > 0
    np.testing.assert_allclose(found.free, free / total, atol=0.02)
    np.testing.assert_allclose(found.pairs, pairs / total, atol=0.05)
    np.testing.assert_allclose(found.chance.toarray(), chance / total, atol=0.02)


def test_samples_make_nothing_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    # four people on four seats, tight as can be: chances stay above 0 wherever somebody could sit, and below 1
    monkeypatch.setattr(assignments, "MOST_STATES", 0)
    weights = np.array([[1, 1e-7, 0, 0], [1e-7, 1, 1e-7, 0], [0, 1e-7, 1, 1e-7], [1e-7, 0, 1e-7, 1]])
    chance = assign(sparse.csr_array(weights), np.ones(4, dtype=np.int64), rng()).chance.toarray()
    assert (chance[weights > 0] > 1e-13).all()
    assert (chance < 1 - 1e-12).all()


def test_a_large_component_is_sampled_and_said_to_be() -> None:
    drawn = rng()
    weights = (drawn.random((200, 60)) < 0.2).astype(np.float64)
    found = assign(sparse.csr_array(weights), np.full(60, 4), drawn)
    assert found.sampled == 200
    # everybody has a seat: of 240 seats 40 are free
    assert found.free.sum() == pytest.approx(40, abs=0.5)
    np.testing.assert_allclose(found.chance.sum(axis=1), 1)
    np.testing.assert_allclose(found.chance.sum(axis=0), 4 - found.free, atol=0.35)


def test_people_without_a_record_of_their_own_are_left_out() -> None:
    # two people know one record of type 0 as theirs: one of them is wrong. A third fits nothing, a fourth is placed
    weights = np.array([[1.0, 0], [1.0, 0], [0, 0], [1.0, 1.0]])
    found = assign(sparse.csr_array(weights), np.array([1, 1]), rng())
    assert found.contradicted == 2
    assert found.free.tolist() == [0, 0]


# ----- by hand -------------------------------------------------------------------------------------------------------

COLUMNS = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive", "domain": ["cold", "flu", "hiv", "ulcer"]}}


def with_facts(
    world: World,
    targets: list[int],
    friends: tuple[int, ...] | list[int] = (),
    ruled: dict[int, list[str]] | None = None,
) -> Knowledge:
    """The knowledge about some rows; `friends` are acquaintances, `ruled` the values a row is known not to have."""
    domain = world.release.labels["ill"].domain
    out = np.zeros((world.table.rows, domain.size), dtype=np.bool_)
    for row, texts in (ruled or {}).items():
        out[row, [domain.codes[text] for text in texts]] = True
    known = Acquaintances(
        world.knowledge.columns,
        world.knowledge.codes[list(friends)],
        {"ill": world.table.codes["ill"][list(friends)]},
    )
    about = world.knowledge.take(np.array(targets))
    return dataclasses.replace(about, not_values={"ill": out[targets]}, acquaintances=known if friends else None)


def believed_ill(world: World, knowledge: Knowledge, link: Link = Link.CONTAINMENT, together: bool = False) -> Any:
    posterior = Posterior(Matching(world.release, knowledge, beliefs_of(world, link).matching.suppression), link)
    return dense(Coupled(posterior, knowledge, rng(), together).values("ill"))


def pair(blocks: list[list[str]] | None = None) -> World:
    """Alice (row 0) has hiv, Bob (row 1) flu; they share a bucket."""
    bucket = [0, 0] if blocks else None
    cells = None if blocks else {"zip": ["{a, b}"] * 2}
    return by_hand(COLUMNS, {"zip": ["a", "b"], "ill": ["hiv", "flu"]}, cells, blocks, bucket)


@pytest.mark.parametrize("blocks", [None, [["zip"], ["ill"]]], ids=["generalised", "bucketized"])
def test_bob_does_not_have_hiv_so_alice_does(blocks: list[list[str]] | None) -> None:
    world = pair(blocks)
    knowledge = with_facts(world, [0, 1], ruled={1: ["hiv"]})
    # together: Bob's record is the flu one, so Alice's is the other
    np.testing.assert_allclose(believed_ill(world, knowledge, together=True), [[0, 0, 1, 0], [0, 1, 0, 0]], atol=1e-12)
    # each a case by itself: what is known of Bob is nothing about Alice
    np.testing.assert_allclose(believed_ill(world, knowledge), [[0, 0.5, 0.5, 0], [0, 1, 0, 0]], atol=1e-12)
    # Bob an acquaintance whose value is known
    np.testing.assert_allclose(believed_ill(world, with_facts(world, [0], [1])), [[0, 0, 1, 0]], atol=1e-12)


def test_an_acquaintance_who_could_be_in_two_classes() -> None:
    # zips {a, b}: flu, hiv; {b, c}: flu, ulcer. Bob (b) has flu: either flu record is his with 1/2.
    # Alice (a) then has the flu record only if it is not Bob's, with 1/2: P(flu) = (1/2)/(1/2 + 1) = 1/3
    world = by_hand(
        COLUMNS,
        {"zip": ["a", "b", "b", "c"], "ill": ["hiv", "flu", "flu", "ulcer"]},
        {"zip": ["{a, b}"] * 2 + ["{b, c}"] * 2},
    )
    found = believed_ill(world, with_facts(world, [0, 3], [1]))
    np.testing.assert_allclose(found, [[0, 1 / 3, 2 / 3, 0], [0, 1 / 3, 0, 2 / 3]], atol=1e-12)
    # Carla (b) has flu too: both flu records are taken, and both classes are known
    found = believed_ill(world, with_facts(world, [0, 3], [1, 2]))
    np.testing.assert_allclose(found, [[0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)


def test_facts_that_leave_nothing_are_dropped() -> None:
    world = pair()
    # Alice has neither flu nor hiv: not in the class, so the prior without them, which leaves nothing either
    found = believed_ill(world, with_facts(world, [0], ruled={0: ["flu", "hiv"]}))
    np.testing.assert_allclose(found, [[0, 0.5, 0.5, 0]], atol=1e-12)
    # an acquaintance whose value the class does not have is left out, and counted
    knowledge = with_facts(world, [0], [1])
    stranger = dataclasses.replace(knowledge.acquaintances, values={"ill": np.array([3], dtype=np.int32)})
    knowledge = dataclasses.replace(knowledge, acquaintances=stranger)
    coupled = Coupled(Posterior(Matching(world.release, knowledge, CONVENTION), Link.CONTAINMENT), knowledge, rng())
    np.testing.assert_allclose(dense(coupled.values("ill")), [[0, 0.5, 0.5, 0]], atol=1e-12)
    assert coupled.detail("ill") == {"joint": "exact", "known_people": 1, "contradicting": 1}


CONVENTION = beliefs_of(pair(), Link.CONTAINMENT).matching.suppression


def test_all_else_is_as_it_was() -> None:
    world = pair()
    knowledge = with_facts(world, [0, 1], ruled={0: ["flu"]})
    posterior = Posterior(Matching(world.release, knowledge, CONVENTION), Link.CONTAINMENT)
    coupled = Coupled(posterior, knowledge, rng())
    assert coupled.targets == 2
    assert coupled.matched.tolist() == posterior.matched.tolist()
    assert coupled.records().best.tolist() == posterior.records().best.tolist()
    assert coupled.classes(world.bucket)[1].tolist() == posterior.classes(world.bucket)[1].tolist()
    assert coupled.membership(0.5).posterior.tolist() == posterior.membership(0.5).posterior.tolist()
    both = [b.record_probability(world.bucket, world.fragment).tolist() for b in (coupled, posterior)]
    assert both[0] == both[1]


def test_the_prior_and_some_of_the_targets() -> None:
    world = pair()
    knowledge = with_facts(world, [0, 1], ruled={0: ["flu"]})
    prior = Prior(2, knowledge.priors, world.release.sizes)
    np.testing.assert_allclose(
        dense(Coupled(prior, knowledge, rng()).values("ill")), [[0, 0, 1, 0], [0, 0.5, 0.5, 0]], atol=1e-12
    )
    posterior = Posterior(Matching(world.release, knowledge, CONVENTION), Link.CONTAINMENT)
    some = Some(posterior, np.array([False, True]))
    about = dataclasses.replace(with_facts(world, [1]), acquaintances=with_facts(world, [1], [0]).acquaintances)
    np.testing.assert_allclose(dense(Coupled(some, about, rng()).values("ill")), [[0, 1, 0, 0]], atol=1e-12)


def test_membership_in_doubt_is_kept() -> None:
    world = dataclasses.replace(pair())
    knowledge = dataclasses.replace(with_facts(world, [0, 1], ruled={0: ["flu"]}), membership=0.5)
    posterior = Posterior(Matching(world.release, knowledge, CONVENTION), Link.CONTAINMENT)
    before, after = posterior.values("ill"), Coupled(posterior, knowledge, rng()).values("ill")
    np.testing.assert_allclose(dense(after).sum(axis=1), dense(before).sum(axis=1))
    assert dense(after)[0, 1] == 0


# ----- by distance ---------------------------------------------------------------------------------------------------


def averages() -> tuple[World, Knowledge]:
    """Ages 1, 2, 6 (mean 3) and 20, 21, 25 (mean 22); 6 and 20 are published by their means, which cover nobody. Row 1, who
    has flu, is an acquaintance, and row 4 too; the others are targets."""
    columns = {"age": {"role": "quasi", "type": "numeric"}, "ill": COLUMNS["ill"]}
    rows = {"age": ["1", "2", "6", "20", "21", "25"], "ill": ["hiv", "flu", "flu", "cold", "ulcer", "ulcer"]}
    world = by_hand(columns, rows, {"age": ["3"] * 3 + ["22"] * 3})
    return world, with_facts(world, [0, 2, 3, 5], [1, 4], {3: ["hiv"]})


def test_acquaintances_by_distance() -> None:
    # the low class has hiv, flu, flu, one flu is Bob's: 1/2 each; the high one cold, ulcer, ulcer, one ulcer is known
    world, knowledge = averages()
    near = Nearest(world.release, knowledge, CONVENTION)
    coupled = Coupled(near, knowledge, rng())
    low, high = [0, 0.5, 0.5, 0], [0.5, 0, 0, 0.5]
    np.testing.assert_allclose(dense(coupled.values("ill")), [low, low, high, high], atol=1e-12)
    assert coupled.detail("ill") == {"joint": "exact", "known_people": 2, "contradicting": 0}


def test_acquaintances_by_distance_without_the_own_record() -> None:
    # rows 0, 2, 3, 5 left out one by one: flu; hiv; ulcer; cold
    world, knowledge = averages()
    targets = [0, 2, 3, 5]
    left = Nearest(world.release, knowledge, CONVENTION).without(world.bucket[targets], world.fragment[targets])
    found = dense(Coupled(left, knowledge, rng()).values("ill"))
    np.testing.assert_allclose(found, np.eye(4)[[1, 2, 3, 0]], atol=1e-12)
    found = dense(Coupled(left, knowledge, rng(), together=True).values("ill"))
    np.testing.assert_allclose(found[2], np.eye(4)[3], atol=1e-12)


# ----- leaving one out -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_leaving_a_record_out(seed: int, together: bool) -> None:
    """In classes apart from each other: the release without the record, and all ways on it."""
    drawn = np.random.default_rng(seed)
    count = 9
    zips = [str(z) for z in drawn.permutation(["a"] * 5 + ["b"] * 4)]
    ill = drawn.choice(["cold", "flu", "hiv"], count).tolist()
    world = by_hand(COLUMNS, {"zip": zips, "ill": ill})
    friends, targets = [0, 1], list(range(2, count))
    texts = ["cold", "flu", "hiv"]
    ruled = {row: [str(drawn.choice([t for t in texts if t != ill[row]]))] for row in targets[:4]}
    knowledge = with_facts(world, targets, friends, ruled)
    posterior = Posterior(Matching(world.release, knowledge, CONVENTION), Link.CONTAINMENT)
    left_out = LeaveOneOut(posterior, world.bucket[targets], world.fragment[targets])
    found = dense(Coupled(left_out, knowledge, rng(), together).values("ill"))
    for place, row in enumerate(targets):
        release = without(world.release, int(world.bucket[row]), world.fragment[row].tolist())
        oracle = Oracle(release, knowledge, Link.CONTAINMENT)
        theirs = Oracle(release, dataclasses.replace(knowledge, codes=world.knowledge.codes[friends]), Link.CONTAINMENT)
        people: list[Person] = [
            (fragments(theirs, i, "ill"), {int(world.table.codes["ill"][friend])}) for i, friend in enumerate(friends)
        ]
        facts = knowledge.not_values["ill"]
        others = [t for t in range(len(targets)) if together and t != place and facts[t].any()]
        for t in [*others, place]:
            people.append((fragments(oracle, t, "ill"), set(np.flatnonzero(~facts[t]).tolist())))
        total, values = by_brute_force(oracle, "ill", people)
        if total > 1e-12 and (not together or facts[place].any()):
            np.testing.assert_allclose(found[place], np.array(values[-1]) / total, atol=1e-9)


@many
@given(world=worlds(), column=st.sampled_from(SENSITIVE), seed=st.integers(0, 99))
def test_another_order_of_rows_tells_the_same(world: World, column: str, seed: int) -> None:
    one = case(world, Link.CONTAINMENT, column, 2, seed, 0.3)
    first = dense(Coupled(one.posterior(Link.CONTAINMENT), one.knowledge, rng()).values(column))
    other, _ = world.release.shuffled(np.random.default_rng(seed))
    again = Posterior(Matching(other, one.knowledge, one.suppression), Link.CONTAINMENT)
    np.testing.assert_allclose(dense(Coupled(again, one.knowledge, rng()).values(column)), first, atol=1e-12)
    np.testing.assert_allclose(first.sum(axis=1), 1)


def test_sampled_beliefs_do_not_depend_on_the_order_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignments, "MOST_STATES", 0)
    world = by_hand(
        COLUMNS,
        {"zip": list("abbcbc"), "ill": ["hiv", "flu", "flu", "ulcer", "flu", "cold"]},
        {"zip": ["{a, b}"] * 3 + ["{b, c}"] * 3},
    )
    knowledge = with_facts(world, [0, 3, 5], [1, 2])
    found = []
    for release in (world.release, world.release.shuffled(np.random.default_rng(4))[0]):
        coupled = Coupled(Posterior(Matching(release, knowledge, CONVENTION), Link.CONTAINMENT), knowledge, rng())
        found.append(dense(coupled.values("ill")))
        assert coupled.detail("ill")["joint"] == "sampled"
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
