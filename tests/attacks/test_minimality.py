"""Minimality: the example of the paper's authors, one made with our own Mondrian, the rule against running the method, and
nothing where nothing can be learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizers import ANONYMIZERS
from attacks.base import NotApplicable, View
from attacks.claims import FactClaims, SeveralClaims, ValueClaims
from attacks.minimality import Minimality
from attacks.shared.worlds import ABSENT, Constraint, Cuts, worlds
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.errors import PromiseError, UsageError
from auditor.model.knowledge import Knowledge, Mechanism
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.record.record import Risk
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from scenarios.adversaries import Adversary, MechanismKnown
from scenarios.options import Options
from scenarios.simulators import register_of

COLUMNS = {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}


def made(columns: dict[str, Any], *rows: dict[str, list[str]]) -> list[Table]:
    return encode(Schema.from_dict({"columns": columns}), [RawTable(f"table {i}", r) for i, r in enumerate(rows)])


def mondrian(
    table: Table, seed: int = 0, name: str = "mondrian", **settings: Any
) -> tuple[Release, Provenance, Mechanism]:
    method = ANONYMIZERS.get(name).configure(settings)
    release, provenance = method.anonymize(table, np.random.default_rng(seed))

    def run(world: Table, rng: np.random.Generator) -> Release:
        return method.anonymize(world, rng)[0]

    return release, provenance, Mechanism(name, method.settings(), run)


def view_of(release: Release, table: Table, column: str, mechanism: Mechanism | None, **more: Any) -> View:
    quasi = table.schema.quasi
    counts = np.bincount(table.codes[column], minlength=table.domains[column].size)
    priors = {column: counts / counts.sum()}
    knowledge = Knowledge(quasi, table.matrix(quasi), priors=priors, mechanism=mechanism, **more)
    return View(
        release,
        knowledge,
        Posterior(Matching(release, knowledge, Suppression.EXCLUDED), Link.CONTAINMENT),
        None,
        column,
    )


def beliefs(view: View, seed: int = 0, **settings: Any) -> tuple[np.ndarray[Any, Any], ValueClaims, FactClaims]:
    claims = Minimality(**settings).run(view, np.random.default_rng(seed))
    assert isinstance(claims, SeveralClaims)
    values, facts = claims.parts
    assert isinstance(values, ValueClaims)
    assert isinstance(facts, FactClaims)
    return values.values.rows.toarray()[values.values.row_of], values, facts


# ----- by hand -------------------------------------------------------------------------------------------------------


def test_the_example_of_the_paper() -> None:
    # Wong et al. 2007 (and the authors' slides): "each individual is linked to cancer with probability at most 1/2". Two
    # people are q1, four are q2; both q1 have cancer. So q1 must not be published as it is: with two of the q2 it becomes Q.
    # Published: Q yes, Q yes, Q no, Q no, q2 no, q2 no, in which everybody seems safe: in Q it is 1/2.
    # Whoever knows the six people and the method reasons: of the 15 ways to give "yes" to two people,
    #   6 give both to the q2 people: then q1 (0 of 2) and q2 (2 of 4) keep to 1/2 and nothing is generalised;
    #   8 give one to each: 1 of 2 and 1 of 4 keep to it as well;
    #   1 gives both to the q1 people: 2 of 2 does not. So it is this one, and Peter, who is q1, has cancer for certain.
    columns = {"qi": {"role": "quasi", "taxonomy": {"Q": ["q1", "q2"]}}, "cancer": {"role": "sensitive"}}
    (table,) = made(columns, {"qi": ["q1", "q1", "q2", "q2", "q2", "q2"], "cancer": ["yes", "yes", *["no"] * 4]})

    def simplified(world: Table, rng: np.random.Generator) -> Release:
        """2-diversity of the paper for cancer alone: where one kind of people breaks it, all of them and as many others
        without cancer are generalised."""
        first = world.codes["qi"] == 0
        ill = world.codes["cancer"] == world.domains["cancer"].codes["yes"]
        wide = np.zeros(world.rows, dtype=np.bool_)
        for kind in (first, ~first):
            if 2 * (ill & kind).sum() > kind.sum():
                others = np.flatnonzero(~kind & ~ill)[: int(kind.sum())]
                wide |= kind
                wide[others] = True
        labels = {
            "qi": Labels.read(world.domains["qi"], ["q1", "q2", "Q"], str),
            "cancer": Labels.exact(world.domains["cancer"]),
        }
        cells = {"qi": np.where(wide, 2, world.codes["qi"]).astype(np.int32), "cancer": world.codes["cancer"]}
        return publish(world.schema, labels, cells, [["qi", "cancer"]], None, rng)[0]

    release = simplified(table, np.random.default_rng(0))
    assert sorted(release.sizes.tolist()) == [2, 4]
    mechanism = Mechanism("simplified", {"alpha": 0.5}, simplified)
    found, values, facts = beliefs(view_of(release, table, "cancer", mechanism))
    yes = table.domains["cancer"].codes["yes"]
    assert found[:2, yes].tolist() == [1, 1]
    assert found[2:, yes].tolist() == [0, 0, 0, 0]
    before = values.beside["before"]
    assert before.rows.toarray()[before.row_of][:2, yes].tolist() == [0.5, 0.5]
    assert values.detail["how"] == "simulation"
    assert values.detail["exact"] == 1
    assert facts.facts[0].value == 2  # of the others more than 1/2 was believed before: that they have no cancer


PLANTED = {"age": ["20", "20", "30", "30", "30"], "ill": ["a", "a", "b", "c", "d"]}


def test_levels_that_were_raised_for_the_values() -> None:
    # Two people are q1, three q2, and l = 2. They would be published as they are unless q1 or q2 had one value only. Of five
    # values two are flu, so that can only be both of q1: whoever knows the method knows what they have.
    columns = {"qi": {"role": "quasi", "taxonomy": {"Q": ["q1", "q2"]}}, "ill": {"role": "sensitive"}}
    rows = {"qi": ["q1", "q1", "q2", "q2", "q2"], "ill": ["flu", "flu", "cold", "burn", "cough"]}
    (table,) = made(columns, rows)
    release, _, mechanism = mondrian(table, name="full-domain", k=1, l=2, limit=0.0)
    assert len(release.sizes) == 1
    found, _, _ = beliefs(view_of(release, table, "ill", mechanism))
    flu = table.domains["ill"].codes["flu"]
    assert found[:, flu].tolist() == pytest.approx([1, 1, 0, 0, 0])


@pytest.mark.parametrize(("settings", "how"), [({}, "simulation"), ({"most_rows": 0}, "rule")])
def test_mondrian_gives_away_what_its_l_was_to_hide(settings: dict[str, int], how: str) -> None:
    # Mondrian, k = 2 and l = 2: one class [20, 30] with a, a, b, c, d: nobody's value has more than 2/5, below 1/2. By size
    # it could have been cut into ages (2 and 3 people), so a part has one value only. Three people cannot: no value occurs
    # three times. The two aged 20 can if both have a. So they have; the others have b, c, d with 1/3 each.
    (table,) = made(COLUMNS, PLANTED)
    release, _, mechanism = mondrian(table, k=2, l=2)
    assert release.sizes.tolist() == [5]
    found, values, facts = beliefs(view_of(release, table, "ill", mechanism), **settings)
    assert found[:2].tolist() == [[1, 0, 0, 0]] * 2
    assert found[2:] == pytest.approx(np.array([[0, 1 / 3, 1 / 3, 1 / 3]] * 3))
    assert values.detail["how"] == how
    assert facts.facts[0].measure == "breached"
    assert facts.facts[0].value == 2
    assert facts.facts[0].params == {"bound": 0.5}


def test_a_register_with_outsiders_says_less() -> None:
    # The class of five as before, but the register has one more person of 20, so it is not known who is in. Ways: choose who
    # is absent, then give a, a, b, c, d to the rest. Let x be how many of the three aged 20 are in (some of both ages are).
    #  x = 3, two of 30: by the median (20) cut into 3 and 2: a part has one value only: the two of 30 both have a.
    #     C(3,2) ways to choose those of 30, 3! ways for b, c, d: 18 ways.
    #  x = 2, three of 30: as above both of 20 have a. C(3,2) ways to choose them, 3! for the others: 18 ways.
    # Somebody of 20: in with 3 of 3 in the first, with 2 of 3 in the second: a has (18·0 + 18·2)/(18·3 + 18·2) = 2/5.
    # Somebody of 30: (18·2 + 0)/(18·2 + 18·3) = 2/5. Nothing is left of the attack: that is what the outsider is good for.
    table, people = made(COLUMNS, PLANTED, {"age": [*PLANTED["age"], "20"], "ill": [*PLANTED["ill"], "a"]})
    release, _, mechanism = mondrian(table, k=2, l=2)
    found, values, _ = beliefs(view_of(release, table, "ill", mechanism, register=register_of(people)))
    assert found == pytest.approx(np.array([[0.4, 0.2, 0.2, 0.2]] * 5))
    assert values.detail["ruled_out"] == 1


# ----- the rule is what the method does ------------------------------------------------------------------------------


CITIES = {"North": ["a", "b", "c"], "South": {"Coast": ["d", "e"], "Hills": ["f"]}}
WIDE = {
    "age": {"role": "quasi", "type": "numeric"},
    "city": {"role": "quasi", "taxonomy": CITIES},
    "job": {"role": "quasi"},
    "pay": {"role": "sensitive", "type": "numeric"},
}


def drawn(rows: int, rng: np.random.Generator, missing: bool = False) -> dict[str, list[str]]:
    cities = [*"abcdef", ""] if missing else list("abcdef")
    return {
        "age": [str(v) for v in rng.choice([20, 30, 40, 50], rows)],
        "city": [str(v) for v in rng.choice(cities, rows)],
        "job": [str(v) for v in rng.choice(["cook", "nurse", "smith"], rows)],
        "pay": [str(v) for v in rng.choice([10, 20, 30], rows)],
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"l": 2},
        {"l": 2, "diversity": "entropy"},
        {"l": 2, "diversity": "recursive", "c": 2.0},
        {"alpha": 0.5},
        {"t": 0.3},
        {"t": 0.2, "closeness": "ordered"},
        {"epsilon": 5.0, "m": 2.0},
    ],
    ids=str,
)
def test_a_class_that_could_be_cut_is_one_that_mondrian_cuts(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    cut = []
    for trial in range(60):
        (table,) = made(WIDE, drawn(int(rng.integers(4, 9)), rng, missing=trial % 3 == 0))
        try:
            release, _, mechanism = mondrian(table, k=2, **settings)
        except PromiseError:  # even the whole table does not hold it
            continue
        quasi = table.schema.quasi
        present, value = np.unique(table.codes["pay"].astype(np.int64), return_inverse=True)
        domains = [table.domains[c] for c in quasi]
        constraint = Constraint(mechanism.params, table.domains["pay"], present, np.bincount(value))
        allowed = Cuts(table.matrix(quasi), domains, 2).allowed(value[None], constraint, len(present))
        assert allowed.tolist() == [len(release.sizes) > 1]
        cut.append(bool(allowed[0]))
    assert any(cut)
    assert not all(cut)


def test_absent_people_are_as_if_they_were_not_there() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        (table,) = made(WIDE, drawn(9, rng, missing=True))
        codes, domains = table.matrix(table.schema.quasi), [table.domains[c] for c in table.schema.quasi]
        present, value = np.unique(table.codes["pay"].astype(np.int64), return_inverse=True)
        constraint = Constraint({"l": 2}, table.domains["pay"], present, np.bincount(value))
        gone = rng.random((20, 9)) < 0.3
        together = Cuts(codes, domains, 2).allowed(np.where(gone, ABSENT, value), constraint, len(present))
        for out, found in zip(gone, together, strict=True):
            alone = Cuts(codes[~out], domains, 2).allowed(value[~out][None], constraint, len(present))
            assert alone[0] == found


def test_worlds_are_all_ways_or_a_sample_of_them() -> None:
    # two groups of 2 and 3 people, values a a b: 5 people, so two are absent: 5!/(2! 1! 2!) = 30 ways
    listed = worlds([2, 3], [2, 1], 1000, np.random.default_rng(0))
    assert listed.exact
    assert listed.weight.sum() == 30
    sample = worlds([2, 3], [2, 1], 4, np.random.default_rng(0))
    assert not sample.exact
    assert (np.sort(sample.values, axis=1) == [ABSENT, ABSENT, 0, 0, 1]).all()


def test_a_sample_agrees_with_all_worlds() -> None:
    ages = [str(a) for a in (20, 21, 22, 30, 31, 32, 33)]  # everybody apart: 7!/(3! 2!) = 420 ways
    (table,) = made(COLUMNS, {"age": ages, "ill": list("aabbacd")})
    release, _, mechanism = mondrian(table, k=3, l=3)
    assert release.sizes.tolist() == [7]
    view = view_of(release, table, "ill", mechanism)
    exact, values, _ = beliefs(view, most_rows=0)
    assert values.detail["exact"] == values.detail["ruled_out"] == 1
    sampled, values, _ = beliefs(view, most_rows=0, most_worlds=400)
    assert values.detail["sampled"] == values.detail["ruled_out"] == 1
    assert np.abs(sampled - exact).max() < 0.12
    few, values, _ = beliefs(view, most_rows=0, most_worlds=40)  # too few of them are kept to say anything
    assert values.detail["skipped"] == 1
    assert few == pytest.approx(np.array([[3, 2, 1, 1]] * 7) / 7)


# ----- nothing where nothing can be learned --------------------------------------------------------------------------


def audited(subject: Subject, seed: int = 0, **settings: Any) -> dict[str, Risk]:
    adversary = Adversary(mechanism=MechanismKnown.PARAMETERS)
    options = Options(
        attacks=("minimality",),
        adversaries=(adversary,),
        utility=(),
        seed=seed,
        settings={"minimality": settings},
    )
    return {risk.measure: risk for risk in run_audit(subject, options).risks}


def test_no_excess_where_the_truth_is_permuted() -> None:
    right, expected = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        (table,) = made(WIDE, drawn(120, rng))
        release, provenance, _ = mondrian(table, seed, k=4, l=2)
        codes = {**table.codes, "pay": rng.permutation(table.codes["pay"])}
        risk = audited(Subject(release, replace(table, codes=codes), provenance), seed, most_worlds=200)["success"]
        assert risk.value is not None
        assert risk.baseline is not None
        right.append(risk.value)
        expected.append(risk.baseline)
    excess = np.array(right) - np.array(expected)
    assert excess.mean() < 2.5 * excess.std(ddof=1) / np.sqrt(len(excess)) + 0.01


@pytest.mark.slow
def test_what_is_expected_is_found_where_values_are_random() -> None:
    right, believed, sharpened = 0.0, 0.0, 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        (table,) = made(WIDE, drawn(150, rng))
        release, provenance, _ = mondrian(table, seed, k=4, l=3)
        risk = audited(Subject(release, table, provenance), seed, most_worlds=300)["success"]
        assert risk.value is not None
        assert risk.expected is not None
        right, believed = right + risk.value / 20, believed + risk.expected / 20
        sharpened += risk.detail.get("people_sharpened", 0)
    assert sharpened > 300
    assert right == pytest.approx(believed, abs=0.03)


def test_one_class_that_covers_all_and_cannot_be_cut() -> None:
    (table,) = made(COLUMNS, {"age": ["20", "30", "40", "50"], "ill": list("abcd")})
    release, _, mechanism = mondrian(table, k=3, l=2)
    found, values, facts = beliefs(view_of(release, table, "ill", mechanism), most_rows=0)
    assert found == pytest.approx(np.full((4, 4), 0.25))
    assert values.detail["no_cut"] == 1
    assert facts.facts[0].value == 0


def test_row_order_does_not_matter() -> None:
    rng = np.random.default_rng(8)
    (table,) = made(WIDE, drawn(80, rng))
    release, _, mechanism = mondrian(table, k=3, alpha=0.5)
    view = view_of(release, table, "pay", mechanism)
    first, values, _ = beliefs(view, most_worlds=300)
    assert values.detail["ruled_out"] > 0
    assert values.detail["sampled"] > 0
    other, _ = release.shuffled(np.random.default_rng(1))
    second, _, _ = beliefs(view_of(other, table, "pay", mechanism), most_worlds=300)
    assert second == pytest.approx(first)


# ----- not applicable ------------------------------------------------------------------------------------------------


def test_what_it_needs_and_has_not_got() -> None:
    (table,) = made({**COLUMNS, "pay": {"role": "sensitive"}}, {**PLANTED, "pay": list("12345")})
    release, _, mechanism = mondrian(table, k=2, l=2)

    def reason(known: Mechanism | None, column: str = "ill", targets: int = 5, made: Release = release) -> str:
        view = view_of(made, table, column, known)
        view = replace(view, knowledge=view.knowledge.take(np.arange(targets)))
        claims = Minimality().run(view, np.random.default_rng(0))
        assert isinstance(claims, NotApplicable)
        assert claims.reason.endswith(".")
        return claims.reason

    assert reason(None) == "how the release was made is not known."
    assert reason(Mechanism("mondrian")) == "the settings of mondrian are not known."
    assert "promises nothing about sensitive values" in reason(Mechanism("kmember", {"k": 2}))
    assert reason(mechanism, "pay") == "what mondrian promises is about ill."
    assert "must be known: give a population." in reason(mechanism, targets=4)
    assert "is not known" in reason(Mechanism("other", {"l": 2}))
    assert "for up to 0 people" in unable(release, table, mechanism)
    exact, _ = ANONYMIZERS.get("identity")().anonymize(table, np.random.default_rng(0))
    assert "nothing was generalised" in reason(Mechanism("identity", {"l": 2}), made=exact)
    parted, _ = ANONYMIZERS.get("anatomy").configure({"l": 2}).anonymize(table, np.random.default_rng(0))
    assert "several blocks" in reason(Mechanism("anatomy", {"l": 2}), made=parted)


def unable(release: Release, table: Table, mechanism: Mechanism) -> str:
    relaxed = replace(mechanism, params={**mechanism.params, "strict": False})
    claims = Minimality(most_rows=0).run(view_of(release, table, "ill", relaxed), np.random.default_rng(0))
    assert isinstance(claims, NotApplicable)
    return claims.reason


@pytest.mark.parametrize("wrong", [{"most_worlds": 0}, {"most_rows": -1}, {"largest": 1}, {"tau": 1.0}])
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="minimality"):
        Minimality(**wrong)
