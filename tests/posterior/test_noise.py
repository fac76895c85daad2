"""Knowledge that may be wrong: the engine against brute force, the laws of noise, and calibration on a town."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import wilson
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.knowledge import Error, Knowledge
from auditor.model.release import Block, Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior import matching
from auditor.posterior.beliefs import TIE
from auditor.posterior.candidates import Matching
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from auditor.posterior.noise import reach
from auditor.posterior.posterior import Posterior
from scenarios import town
from scenarios.adversaries import Adversary
from scenarios.options import Options
from tests.support.oracle import Compatible, Oracle, codes, without
from tests.support.tables import SENSITIVE, World, beliefs_of, by_hand, figures, worlds

many = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_link = pytest.mark.parametrize("link", [Link.CONTAINMENT, Link.LIKELIHOOD, Link.CLASS, Link.TIGHTEST])

SPREADS = {"age": 2.0, "grade": 1.0, "zip": 0.0, "city": 0.0}


def dense(beliefs: Posterior | LeaveOneOut, column: str) -> Floats:
    values = beliefs.values(column)
    return values.rows.toarray()[values.row_of]


# ----- the slow and obvious way --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoisyOracle(Oracle):
    """The oracle for values that may be wrong. `whole` is the release that shares are counted in."""

    whole: Release | None = None

    @cached_property
    def plain(self) -> Oracle:
        return Oracle(self.whole or self.release, self.knowledge, Link.CONTAINMENT)

    def near(self, column: str, value: int) -> list[int]:
        """The codes that are within the spread of one."""
        domain, error = self.release.labels[column].domain, self.knowledge.errors.get(column, Error())
        if value == domain.missing:
            return [value]
        known = range(domain.known)
        if domain.numbers is not None:
            return [c for c in known if abs(domain.numbers[c] - domain.numbers[value]) <= error.spread + 1e-9]
        return [c for c in known if abs(c - value) <= error.spread] if column == "grade" else [value]

    def share(self, column: str, label: int) -> float:
        """q of one label: of the register, else of the release's marginals."""
        register, covered = self.knowledge.register, codes(self.release.labels[column], label)
        if register is not None and column in register.codes:
            return max(sum(int(c) in covered for c in register.codes[column]), 1) / register.people
        marginal = self.plain.marginal(column)
        return sum(marginal[c] for c in covered) or 1e-300

    def plain_fit(self, column: str, value: int, label: int) -> float:
        """How well the label fits, for all link models but `likelihood`."""
        if value < 0:
            return 1.0
        covered, near = codes(self.release.labels[column], label), self.near(column, value)
        current = sum(c in covered for c in near) / len(near)
        stale = self.knowledge.errors.get(column, Error()).stale
        if self.link is Link.TIGHTEST or not stale:
            return current
        return (1 - stale) * current + stale * self.share(column, label) * bool(covered)

    def known_as(self, column: str, true: int, value: int, share: list[float]) -> float:
        """P(known as value | truly true)."""
        if value < 0:
            return 1.0
        near, stale = self.near(column, true), self.knowledge.errors.get(column, Error()).stale
        return (1 - stale) * (value in near) / len(near) + stale * share[value]

    def shares(self, column: str) -> list[float]:
        """The shares of the values at large: the register's, else all alike."""
        register, size = self.knowledge.register, self.release.labels[column].domain.size
        if register is None or column not in register.codes:
            return [1 / size] * size
        return [float(n) / register.people for n in np.bincount(register.codes[column], minlength=size)]

    def bayes(self, known: Mapping[str, int], labels: Mapping[str, int]) -> float:
        """P(true values in the labels | known values), by Bayes' rule, columns being independent."""
        out = 1.0
        for column, value in known.items():
            share, covered = self.shares(column), codes(self.release.labels[column], labels[column])
            each = [q * self.known_as(column, x, value, share) for x, q in enumerate(share)]
            if sum(each) > 0:
                out *= sum(each[x] for x in covered) / sum(each)
            else:
                near, stale = self.near(column, value), self.knowledge.errors.get(column, Error()).stale
                out *= (1 - stale) * sum(x in covered for x in near) / len(near) + stale * sum(
                    share[x] for x in covered
                )
        return out

    def joint(self, known: Mapping[str, int], labels: Mapping[str, int]) -> float:
        """The same with a register: each of its people, or with probability 1/N somebody else."""
        register = self.knowledge.register
        inside = {c: v for c, v in known.items() if register is not None and c in register.codes}
        rest = self.bayes({c: v for c, v in known.items() if c not in inside}, labels)
        if register is None or not inside:
            return rest
        share = {c: self.shares(c) for c in inside}
        people = [{c: int(register.codes[c][i]) for c in inside} for i in range(register.people)]
        chance = [prod(self.known_as(c, p[c], v, share[c]) for c, v in inside.items()) for p in people]
        fits = [all(p[c] in codes(self.release.labels[c], labels[c]) for c in inside) for p in people]
        n = register.people
        seen = prod(
            sum(q * self.known_as(c, x, v, share[c]) for x, q in enumerate(share[c])) for c, v in inside.items()
        )
        whole = (1 - 1 / n) * sum(chance) / n + seen / n
        here = (1 - 1 / n) * sum(p for p, fit in zip(chance, fits, strict=True) if fit) / n
        apart = self.bayes(inside, labels)
        return rest * ((here + seen / n * apart) / whole if whole > 0 else apart)

    def compatible(self, target: int, bucket: int, block: Block) -> Compatible:
        inside = [i for i in range(len(block.bucket)) if block.bucket[i] == bucket]
        known = {c: self.value(target, c) for c in self.known(block)}
        if not known:
            return [(i, 1.0) for i in inside]
        found = []
        for i in inside:
            labels = {c: self.label(block, i, c) for c in known}
            if self.link is Link.LIKELIHOOD:
                likelihood = self.joint(known, labels) / self.mass(block, i)
            else:
                likelihood = prod(self.plain_fit(c, v, labels[c]) for c, v in known.items())
            if self.counted(bucket) and likelihood > 1e-12:
                found.append((i, likelihood))
        return found if found or self.link is not Link.CLASS else [(i, 1.0) for i in inside]


@st.composite
def noisy_worlds(draw: st.DrawFn) -> World:
    """Worlds in which known values are wrong here and there, some are missing, and the adversary knows that."""
    world = draw(worlds())
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    stale, missing = draw(st.sampled_from([0.0, 0.3])), draw(st.sampled_from([0.0, 0.3]))
    errors, known = {}, world.knowledge.codes.copy()
    for place, column in enumerate(world.knowledge.columns):
        if rng.random() < 0.7:
            errors[column] = Error(SPREADS[column], stale)
        size = world.release.labels[column].domain.size
        drawn = rng.random((2, len(known)))
        known[:, place] = np.where(drawn[0] < 0.2, rng.integers(size, size=len(known)), known[:, place])
        known[:, place] = np.where(drawn[1] < missing, -1, known[:, place])
    return replace(world, knowledge=replace(world.knowledge, codes=known, errors=errors))


def usable(world: World) -> bool:
    """Whether no label covers nothing: the oracle has no volume for one."""
    return all((world.release.labels[c].counts > 0).all() for c in world.knowledge.columns)


@every_link
@many
@given(world=noisy_worlds(), suppression=st.sampled_from(Suppression))
def test_beliefs_are_brute_forces(link: Link, world: World, suppression: Suppression) -> None:
    if not usable(world):
        return
    fast = beliefs_of(world, link, suppression=suppression)
    slow = NoisyOracle(world.release, world.knowledge, link, suppression=suppression)
    own = fast.record_probability(world.bucket, world.fragment)
    records = fast.records()
    for column in SENSITIVE:
        expected = [slow.values(target, column) for target in range(fast.targets)]
        np.testing.assert_allclose(dense(fast, column), expected, atol=1e-10)
    for target in range(fast.targets):
        each = slow.records(target)
        bucket, fragment = int(world.bucket[target]), world.fragment[target].tolist()
        best = max(each.values(), default=0.0)
        assert own[target] == pytest.approx(slow.record_probability(target, bucket, fragment), abs=1e-10)
        assert records.best[target] == pytest.approx(best, abs=1e-10)
        assert records.tied[target] == max(sum(p >= best * (1 - TIE) for p in each.values()), 1)
        assert fast.matched[target] == bool(slow.buckets(target))


@pytest.mark.slow
@every_link
@many
@given(world=noisy_worlds(), suppression=st.sampled_from(Suppression))
def test_leave_one_out_is_the_release_without_the_person(link: Link, world: World, suppression: Suppression) -> None:
    if not usable(world):
        return
    left_out = LeaveOneOut(beliefs_of(world, link, suppression=suppression), world.bucket, world.fragment)
    found = {column: dense(left_out, column) for column in SENSITIVE}
    for target in range(left_out.targets):
        release = world.release
        if world.bucket[target] >= 0:
            release = without(release, int(world.bucket[target]), world.fragment[target].tolist())
        slow = NoisyOracle(release, world.knowledge, link, suppression=suppression, whole=world.release)
        assert left_out.matched[target] == bool(slow.buckets(target))
        for column in SENSITIVE:
            np.testing.assert_allclose(found[column][target], slow.values(target, column), atol=1e-8)


@every_link
@many
@given(world=worlds(doubt=True))
def test_errors_of_nothing_change_nothing(link: Link, world: World) -> None:
    sure = replace(world.knowledge, errors={c: Error() for c in world.knowledge.columns})
    before, after = beliefs_of(world, link), beliefs_of(replace(world, knowledge=sure), link)
    for column in SENSITIVE:
        np.testing.assert_array_equal(dense(before, column), dense(after, column))
    np.testing.assert_array_equal(before.membership(0.5).posterior, after.membership(0.5).posterior)


@every_link
@many
@given(world=worlds(doubt=True))
def test_a_column_of_which_nothing_is_known_is_as_good_as_none(link: Link, world: World) -> None:
    """Without a register, that is: with one, the labels of that column still say who is likely behind them."""
    known = replace(world.knowledge, register=None)
    if not known.columns or not usable(world):
        return
    blank = known.codes.copy()
    blank[:, -1] = -1
    fewer = replace(known, columns=known.columns[:-1], codes=known.codes[:, :-1])
    before = beliefs_of(replace(world, knowledge=replace(known, codes=blank)), link)
    after = beliefs_of(replace(world, knowledge=fewer), link)
    for column in SENSITIVE:
        np.testing.assert_allclose(dense(before, column), dense(after, column), atol=1e-9)
    np.testing.assert_allclose(before.membership(0.5).posterior, after.membership(0.5).posterior, atol=1e-9)


# ----- by hand -------------------------------------------------------------------------------------------------------

COLUMNS = {"year": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}


def years(error: Error, known: int) -> World:
    """Four people born in 60, 61, 62 and 64, all published as they are; of the first, `known` is known."""
    rows = {"year": ["60", "61", "62", "64"], "ill": ["a", "b", "c", "d"]}
    world = by_hand(COLUMNS, rows)
    codes = np.full((4, 1), known, dtype=np.int32)
    return replace(world, knowledge=replace(world.knowledge, codes=codes, errors={"year": error}))


def test_a_year_off_by_one_by_hand() -> None:
    # 61 give or take 1 is 60, 61 or 62, each with 1/3; 64 give or take 1 is 64, there being no 63 and no 65.
    beliefs = beliefs_of(years(Error(1.0), 1), Link.CONTAINMENT)
    np.testing.assert_allclose(dense(beliefs, "ill")[0], [1 / 3, 1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(dense(beliefs_of(years(Error(1.0), 3), Link.CONTAINMENT), "ill")[0], [0, 0, 0, 1])
    exact = dense(beliefs_of(years(Error(), 1), Link.CONTAINMENT), "ill")[0]
    np.testing.assert_allclose(exact, [0, 1, 0, 0])  # the first person is thus excluded where no error is thought of


def test_a_stale_value_by_hand() -> None:
    # 61 is outdated with 0.2: then any of the four years, by their shares (1/4 each): 0.8 + 0.05 against 0.05 three times
    beliefs = beliefs_of(years(Error(0.0, 0.2), 1), Link.CONTAINMENT)
    np.testing.assert_allclose(dense(beliefs, "ill")[0], [0.05, 0.85, 0.05, 0.05])
    np.testing.assert_allclose(dense(beliefs_of(years(Error(0, 0.2), 1), Link.TIGHTEST), "ill")[0], [0, 1, 0, 0])


def test_reach_is_counted_in_numbers_and_in_steps() -> None:
    columns = {
        "x": {"role": "quasi", "type": "numeric"},
        "level": {"role": "quasi", "order": ["low", "middle", "high", "top"]},
        "place": {"role": "quasi"},
    }
    rows = {"x": ["0.1", "0.2", "0.3", "5"], "level": ["low", "", "high", "top"], "place": ["a", "b", "c", "d"]}
    domains = by_hand(columns, rows).table.domains
    assert [found.tolist() for found in reach(domains["x"], 0.1)] == [[0, 0, 1, 3], [1, 2, 2, 3]]
    assert [found.tolist() for found in reach(domains["level"], 1)] == [[0, 0, 1, 2, 4], [1, 2, 3, 3, 4]]
    assert [found.tolist() for found in reach(domains["place"], 3)] == [[0, 1, 2, 3]] * 2


def test_what_would_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MOST_PAIRS", 3)
    with pytest.raises(UsageError, match="fits more than 0 million pairs"):
        beliefs_of(years(Error(0.0, 0.2), 1), Link.CONTAINMENT)


# ----- calibration ---------------------------------------------------------------------------------------------------

VALUES = 16
PLACES = {
    "x": {"role": "quasi", "type": "numeric"},
    "y": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive"},
}


def recoded(rng: np.random.Generator, people: int = 300) -> World:
    """People whose labels are intervals at random, x known give or take 1, y outdated for one in ten."""
    x, y = rng.integers(VALUES, size=(2, people))
    cells = {}
    for column, values in (("x", x), ("y", y)):
        shift = rng.integers(4, size=people)
        low = (values >> shift) << shift
        cells[column] = [f"[{a}, {a + (1 << s) - 1}]" if s else str(a) for a, s in zip(low, shift, strict=True)]
    rows = {"x": [str(v) for v in x], "y": [str(v) for v in y], "ill": [str(v) for v in rng.integers(4, size=people)]}
    everything = {c: [str(v) for v in range(VALUES)] for c in ("x", "y")}
    world = by_hand(PLACES, rows, cells, population=everything)
    first, last = reach(world.table.domains["x"], 1)
    near = rng.integers(first[x], last[x] + 1)
    old = np.where(rng.random(people) < 0.1, rng.integers(VALUES, size=people), y)
    codes = np.column_stack([near, old]).astype(np.int32)
    errors = {"x": Error(1.0), "y": Error(0.0, 0.1)}
    return replace(world, knowledge=replace(world.knowledge, codes=codes, register=None, errors=errors))


@pytest.mark.slow
@pytest.mark.proof
def test_likelihood_with_noise_is_calibrated(full: bool) -> None:
    gaps: dict[str, list[float]] = {"linking": [], "homogeneity": [], "more": []}
    for seed in range(25 if full else 10):
        world = recoded(np.random.default_rng(seed))
        for attack, column in ((Linking(), None), (Homogeneity(), "ill")):
            success = figures(attack, world, Link.LIKELIHOOD, column)["success"]
            assert success.value is not None
            assert success.expected is not None
            gaps[attack.name].append(success.value - success.expected)
        naive = replace(world, knowledge=replace(world.knowledge, errors={}))
        noisy, sure = (figures(Linking(), w, Link.LIKELIHOOD)["success"].value or 0 for w in (world, naive))
        gaps["more"].append(noisy - sure)
        own = beliefs_of(naive, Link.LIKELIHOOD).record_probability(naive.bucket, naive.fragment)
        assert (own == 0).mean() > 0.2  # taken at its word, what is known excludes the person's own record
        own = beliefs_of(world, Link.LIKELIHOOD).record_probability(world.bucket, world.fragment)
        assert (own > 0).all()
    error = {name: float(np.std(each) / np.sqrt(len(each))) for name, each in gaps.items()}
    mean = {name: float(np.mean(each)) for name, each in gaps.items()}
    assert abs(mean["linking"]) < 3.5 * error["linking"] + 0.002  # values at the edge have fewer neighbours
    assert abs(mean["homogeneity"]) < 3.5 * error["homogeneity"] + 0.002
    assert mean["more"] > 3.5 * error["more"]


def test_presence_in_a_register_allows_for_errors() -> None:
    # Register: x = 0, 0, 1, 2, of whom one with x = 0 and the one with x = 2 are in the release: each with x = 0 is in with
    # 1/2, x = 1 is out, x = 2 is in. Known "1 give or take 1" is a 0 (which is known as 0 or 1: 1/2), a 1 (known as 0, 1 or
    # 2: 1/3) or a 2 (1 or 2: 1/2): P(in) = (2·1/2·1/2 + 1·1/3·0 + 1·1/2·1)/(2·1/2 + 1/3 + 1/2) = 1/(11/6) = 6/11.
    columns = {"x": {"role": "quasi", "type": "numeric"}}
    world = by_hand(columns, {"x": ["0", "2"]}, population={"x": ["0", "0", "1", "2"]}, membership=0.5)
    knowledge = Knowledge(("x",), np.array([[1], [0]]), None, world.knowledge.register, membership=0.5)
    for errors, expected in (({"x": Error(1.0)}, 6 / 11), ({}, 0.0)):
        beliefs = Posterior(
            Matching(world.release, replace(knowledge, errors=errors), Suppression.WILDCARD), Link.CONTAINMENT
        )
        assert beliefs.membership(0.5).posterior[0] == pytest.approx(expected, abs=1e-3)


SCHEMA = Schema.read(Path(str(town.schema_path())))
NOISY = Adversary(noise={"birth_year": 1}, stale={"postcode": 0.1})
"""Knows everything, more or less: the year of birth give or take 1, for one in ten an old postcode."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "adversary",
    [NOISY, replace(NOISY, knows=("birth_year", "sex", "postcode")), Adversary(missing=0.2)],
    ids=["everything", "three", "missing"],
)
def test_a_noisy_adversary_with_a_register_is_right_as_often_as_expected(
    adversary: Adversary, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The record does not say what is expected where what is known may be wrong: the posterior may be too cautious of values.
    monkeypatch.setattr(Posterior, "calibrated", lambda *_: True)
    population = Table.from_frame(town.population(people=6_000, seed=3), SCHEMA, "town")
    order = np.random.default_rng(3).permutation(population.rows)
    members, outsiders = np.sort(order[:3_000]), np.sort(order[3_000:])
    people = population.take(members)
    for method in ("identity", "mondrian"):
        release, provenance = anonymize(people, method, 3)
        subject = Subject(release, people, provenance, True, population, outsiders)
        options = Options(
            attacks=("linking", "homogeneity"),
            links=(Link.LIKELIHOOD,),
            adversaries=(adversary,),
            utility=(),
        )
        record = run_audit(subject, options)
        risks = [r for r in record.risks if r.expected is not None and r.measure == "success"]
        assert {r.attack for r in risks} == {"linking", "homogeneity"}
        for risk in risks:
            assert risk.value is not None
            assert risk.n is not None
            low, high = wilson(risk.value * risk.n, risk.n, 0.999)
            # with partial knowledge a posterior may be underconfident of values (docs/concepts.md), never overconfident
            least = 0.0 if risk.attack == "homogeneity" else low
            assert least <= (risk.expected or 0) <= high, (
                method,
                risk.attack,
                risk.sensitive,
                risk.value,
                risk.expected,
            )
