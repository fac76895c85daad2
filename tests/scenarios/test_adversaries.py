"""Adversaries: what they know, drawn as they say; each in one sentence; and faults in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.model.errors import ScenarioError, UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.record.meaning import Goal
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.links import Link
from auditor.runs.redteaming import prepare, redteam, subjects
from scenarios import town
from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR, Adversary, MechanismKnown, Stance
from scenarios.options import Options
from scenarios.scenario import read_scenario

SCHEMA = Schema.read(Path(str(town.schema_path())))
QUASI = SCHEMA.quasi
PEOPLE, MEMBERS = 3_000, 1_000


@pytest.fixture(scope="module")
def subject() -> Subject:
    """A town of whom the first third is released."""
    population = Table.from_frame(town.population(people=PEOPLE, seed=2), SCHEMA, "town")
    people = population.take(np.arange(MEMBERS))
    release, provenance = anonymize(people, "mondrian", 2, k=5)
    return Subject(release, people, provenance, True, population, np.arange(MEMBERS, PEOPLE))


def faced(subject: Subject, adversary: Adversary, seed: int = 1, targets: tuple[int, ...] | None = None) -> Sides:
    return Sides(subject, Options(seed=seed, targets=targets)).facing(adversary)


def known(subject: Subject, adversary: Adversary, seed: int = 1) -> Knowledge:
    return faced(subject, adversary, seed).knowledge()


def true_codes(subject: Subject, column: str) -> np.ndarray:
    assert subject.people is not None
    return subject.people.codes[column]


# ----- what is drawn -------------------------------------------------------------------------------------------------


def test_without_errors_what_is_known_is_true(subject: Subject) -> None:
    knowledge = known(subject, PROSECUTOR)
    assert subject.people is not None
    assert knowledge.columns == QUASI
    np.testing.assert_array_equal(knowledge.codes, subject.people.matrix(QUASI))
    assert (knowledge.errors, knowledge.not_values, knowledge.membership) == ({}, {}, None)
    assert (knowledge.acquaintances, knowledge.auxiliary, knowledge.mechanism, knowledge.earlier) == (None,) * 3 + ((),)


def test_noise_is_even_over_the_values_within_reach(subject: Subject) -> None:
    knowledge = known(subject, Adversary(noise={"birth_year": 2}))
    place = knowledge.columns.index("birth_year")
    off = knowledge.codes[:, place] - true_codes(subject, "birth_year")
    assert set(off.tolist()) == {-2, -1, 0, 1, 2}
    assert np.bincount(off + 2).min() > 0.13 * MEMBERS  # a fifth each, but for the ends
    others = [i for i in range(len(QUASI)) if i != place]
    assert subject.people is not None
    np.testing.assert_array_equal(knowledge.codes[:, others], subject.people.matrix(QUASI)[:, others])
    assert knowledge.errors["birth_year"].spread == 2


def test_a_stale_value_is_somebodys(subject: Subject) -> None:
    knowledge = known(subject, Adversary(stale={"postcode": 0.3}))
    codes, true = knowledge.codes[:, knowledge.columns.index("postcode")], true_codes(subject, "postcode")
    assert subject.population is not None
    shares = np.bincount(subject.population.codes["postcode"]) / PEOPLE
    expected = 0.3 * (1 - (shares**2).sum())  # an old postcode may be the new one
    assert (codes != true).mean() == pytest.approx(expected, abs=3.5 * np.sqrt(expected / MEMBERS))
    assert knowledge.errors["postcode"].stale == 0.3


def test_missing_values_of_all_columns_or_of_some(subject: Subject) -> None:
    everything = known(subject, Adversary(missing=0.25)).codes < 0
    assert everything.mean() == pytest.approx(0.25, abs=0.03)
    assert (everything.mean(axis=0) > 0.18).all()
    some = known(subject, Adversary(missing={"sex": 0.5})).codes < 0
    assert some.any(axis=0).tolist() == [c == "sex" for c in QUASI]


def test_one_seed_one_answer_whatever_else_is_known(subject: Subject) -> None:
    adversary = Adversary(noise={"birth_year": 1}, stale={"postcode": 0.2}, missing=0.1)
    np.testing.assert_array_equal(known(subject, adversary).codes, known(subject, adversary).codes)
    assert (known(subject, adversary).codes != known(subject, adversary, seed=2).codes).any()
    fewer = known(subject, replace(adversary, knows=("postcode", "sex")))
    place = QUASI.index("postcode")
    np.testing.assert_array_equal(fewer.codes[:, 0], known(subject, adversary).codes[:, place])
    one = faced(subject, adversary, targets=(5, 7)).knowledge()  # and whoever else is attacked
    np.testing.assert_array_equal(one.codes, known(subject, adversary).codes[[5, 7]])


def test_not_values_are_wrong_and_as_many_as_said(subject: Subject) -> None:
    knowledge = known(subject, Adversary(not_values=3))
    assert set(knowledge.not_values) == {"disease"}  # nobody says of an income what it is not
    excluded = knowledge.not_values["disease"]
    assert (excluded.sum(axis=1) == 3).all()
    assert not excluded[np.arange(MEMBERS), true_codes(subject, "disease")].any()
    assert len(np.unique(excluded, axis=0)) > 100
    most = known(subject, Adversary(not_values=99)).not_values["disease"]
    assert (most.sum(axis=1) == most.shape[1] - 2).all()  # the value itself and one more are left
    outside = faced(subject, Adversary(not_values=3)).outsiders()
    assert outside is not None
    assert outside.not_values["disease"].shape[0] == outside.targets


@pytest.mark.parametrize(("wanted", "count"), [(25, 25), (0.1, 100)])
def test_acquaintances_are_in_the_release_and_no_targets(subject: Subject, wanted: float, count: int) -> None:
    sides = faced(subject, Adversary(acquaintances=wanted))
    knowledge = sides.knowledge()
    friends = knowledge.acquaintances
    assert friends is not None
    assert friends.people == count
    assert knowledge.targets == len(sides.targets) == MEMBERS - count
    assert subject.people is not None
    rows = np.setdiff1d(np.arange(MEMBERS), sides.targets)
    np.testing.assert_array_equal(friends.codes, subject.people.matrix(QUASI)[rows])
    np.testing.assert_array_equal(friends.values["disease"], true_codes(subject, "disease")[rows])
    named = faced(subject, Adversary(acquaintances=990), targets=(3, 4))
    assert named.targets.tolist() == [3, 4]
    assert named.knowledge().acquaintances is not None


def test_acquaintances_must_leave_somebody(subject: Subject) -> None:
    with pytest.raises(UsageError, match=r"'prosecutor': acquaintances must leave somebody to attack\. Got 1000"):
        faced(subject, Adversary(acquaintances=MEMBERS))


def test_a_sample_of_outsiders_serves_to_learn_and_not_as_control(subject: Subject) -> None:
    sides = faced(subject, Adversary(sample=0.25))
    knowledge, outside = sides.knowledge(), sides.outsiders()
    assert knowledge.auxiliary is not None
    assert outside is not None
    assert knowledge.auxiliary.rows == (PEOPLE - MEMBERS) // 4
    assert set(knowledge.auxiliary.codes) == set(subject.people.codes if subject.people else ())
    assert outside.targets == (PEOPLE - MEMBERS) * 3 // 4
    names = {*knowledge.auxiliary.codes["name"].tolist()}
    assert subject.population is not None
    assert not names & {*subject.population.codes["name"][:MEMBERS].tolist()}
    assert faced(subject, Adversary(sample=1.0)).outsiders() is None


def test_a_register_that_misses_people(subject: Subject) -> None:
    knowledge = known(subject, replace(JOURNALIST, coverage=0.4))
    assert knowledge.register is not None
    assert (knowledge.register.people, knowledge.register.coverage) == (1_200, 0.4)
    assert knowledge.membership == pytest.approx(1 / 3)  # they know what share of the people it holds
    everybody = known(subject, JOURNALIST).register
    assert everybody is not None
    assert everybody.people == PEOPLE


def test_who_knows_the_value_seeks_the_record_and_membership(subject: Subject) -> None:
    adversary = Adversary(own_value=True, knows=("sex",))
    assert adversary.aims == (Goal.IDENTITY, Goal.MEMBERSHIP)
    knowledge = known(subject, adversary)
    assert knowledge.columns == ("sex", "disease", "income")
    np.testing.assert_array_equal(knowledge.codes[:, 1], true_codes(subject, "disease"))
    options = Options(adversaries=(adversary,), links=(Link.CONTAINMENT,), utility=())
    with_value = run_audit(subject, replace(options, attacks=("linking", "membership", "homogeneity")))
    without = run_audit(subject, replace(options, adversaries=(Adversary(knows=("sex",)),), attacks=("linking",)))
    assert {r.attack for r in with_value.risks} == {"linking", "membership"}
    own, plain = (r.find("linking", "success").value or 0 for r in (with_value, without))
    assert own > 5 * plain


def test_the_mechanism_by_name_and_to_run(subject: Subject) -> None:
    assert known(subject, PROSECUTOR).mechanism is None
    named = known(subject, Adversary(mechanism=MechanismKnown.NAME)).mechanism
    assert named is not None
    assert (named.name, dict(named.params), named.run) == ("mondrian", {}, None)
    full = known(subject, Adversary(mechanism=MechanismKnown.PARAMETERS)).mechanism
    assert full is not None
    assert full.run is not None
    assert full.params["k"] == 5
    assert subject.population is not None
    made = full.run(subject.population.take(np.arange(50)), np.random.default_rng(0))
    assert made.sizes.min() >= 5
    release = replace(subject.release, method="somebody's", params={"strength": 3})
    other = known(replace(subject, release=release), Adversary(mechanism=MechanismKnown.PARAMETERS)).mechanism
    assert other is not None
    assert (other.name, dict(other.params), other.run) == ("somebody's", {"strength": 3}, None)
    foreign = replace(subject.release, params={"strength": 3})  # a mondrian, but not ours
    same = known(replace(subject, release=foreign), Adversary(mechanism=MechanismKnown.PARAMETERS)).mechanism
    assert same is not None
    assert same.run is None


def test_fakes_are_known_with_the_same_errors(subject: Subject) -> None:
    sides = faced(subject, Adversary(missing=0.5))
    invented = sides.invented(sides.knowledge(), 400)
    assert invented is not None
    assert (invented.codes < 0).mean() == pytest.approx(0.5, abs=0.05)


# ----- which columns -------------------------------------------------------------------------------------------------


def test_a_number_of_columns_is_drawn_and_subsets_are_all_made() -> None:
    (one,) = Adversary(knows=3).settled(SCHEMA, 1)
    assert isinstance(one.knows, tuple)
    assert len(one.knows) == 3
    assert [c for c in QUASI if c in one.knows] == list(one.knows)
    assert Adversary(knows=3).settled(SCHEMA, 1) == (one,)
    assert len({Adversary(knows=3).settled(SCHEMA, seed)[0].knows for seed in range(9)}) > 3
    pairs = Adversary(subsets=2).settled(SCHEMA, 1)
    assert len(pairs) == len({p.knows for p in pairs}) == len({p.name for p in pairs}) == 21
    assert pairs[0].name == "prosecutor (birth_year, sex)"
    assert PROSECUTOR.settled(SCHEMA, 1) == (PROSECUTOR,)


def test_all_faults_against_the_schema_at_once() -> None:
    adversary = Adversary(
        knows=("age",), noise={"sex": 1, "education": 0.5, "income": 1}, stale={"street": 0.1}, missing={"x": 0.1}
    )
    with pytest.raises(UsageError) as caught:
        adversary.settled(SCHEMA, 1)
    for part in (
        "knows must name quasi-identifiers. Got 'age'",
        "noise must name quasi-identifiers. Got 'income'",
        "stale must name quasi-identifiers. Got 'street'",
        "missing must name quasi-identifiers. Got 'x'",
        "noise: sex must be numeric or ordinal",
        "noise: education is ordinal, and must be off by whole steps. Got 0.5.",
    ):
        assert part in str(caught.value)
    with pytest.raises(UsageError, match=r"knows must be at most the number of quasi-identifiers\. Got 9"):
        Adversary(knows=9).settled(SCHEMA, 1)


def test_too_many_subsets() -> None:
    columns = {f"c{i}": {"role": "quasi"} for i in range(14)}
    with pytest.raises(UsageError, match=r"subsets = 7 of 14 quasi-identifiers makes 3432 adversaries"):
        Adversary(subsets=7).settled(Schema.from_dict({"columns": columns}), 1)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"knows": ("a",), "subsets": 2}, "give either knows or subsets."),
        ({"stale": {"a": 2}}, "stale must be a probability for each column"),
        ({"noise": {"a": -1}}, "noise must be how far each column may be off"),
        ({"missing": 1.5}, "missing must be a probability, or one for each column"),
        ({"coverage": 0}, "coverage must be above 0 and at most 1. Got 0."),
        ({"not_values": 0.5}, "not_values must be a whole number of values."),
        ({"acquaintances": 1.5}, "acquaintances must be a number of people, or a share of them below 1."),
        ({"acquaintances": -3}, "acquaintances must be a number of people, or a share of them below 1. Got -3."),
        ({"own_value": 1}, "own_value must be true or false."),
        ({"mechanism": "all"}, "mechanism must be one of none, name, parameters."),
        ({"sample": -1}, "sample must be a share from 0 to 1."),
        ({"earlier": "a"}, "earlier must be a list of releases of the run, or files."),
    ],
)
def test_faults_of_settings(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError, match=r"^adversary 'prosecutor': ") as caught:
        Adversary(**settings)
    assert fault in str(caught.value)


# ----- in one sentence -----------------------------------------------------------------------------------------------


def test_sentences() -> None:
    neighbour = Adversary(
        Stance.PROSECUTOR,
        "neighbour",
        ("birth_year", "sex", "postcode"),
        noise={"birth_year": 1},
        stale={"postcode": 0.1},
        missing={"sex": 0.05},
    )
    assert neighbour.sentence(QUASI, None) == (
        "The neighbour knows that a person is in the release, and that person's birth year (give or take 1), sex (not known "
        "in 5 % of cases) and postcode (out of date in 10 % of cases)."
    )
    insider = Adversary(
        name="insider",
        knows=("sex",),
        not_values=2,
        acquaintances=0.05,
        own_value=True,
        mechanism=MechanismKnown.PARAMETERS,
        earlier=("last year",),
        sample=0.5,
        coverage=0.8,
    )
    assert insider.sentence(QUASI, 20_000) == (
        "The insider knows that a person is in the release, and that person's sex, and their sensitive values, knows 2 "
        "values of every sensitive column that each person does not have, knows 5 % of the people in the release with their "
        "sensitive values, knows by which method and with which settings the release was made, has another release about the "
        "same people (last year), has all values of 50 % of the people who are not in the release, and has a list "
        "of 80 % of the population (20 000 people)."
    )
    assert MARKETER.sentence(("age", "sex"), 100) == (
        "The marketer wants to identify as many people as possible and knows their age and sex, but not who is in the "
        "release, and has a list of the population (100 people)."
    )
    assert Adversary(acquaintances=3, knows=()).sentence(QUASI, None) == (
        "The prosecutor knows that a person is in the release, and that person's nothing, and knows 3 people in the release "
        "with their sensitive values."
    ).replace("that person's nothing", "nothing about that person")


# ----- from a scenario file ------------------------------------------------------------------------------------------

SCENARIO = """
[data]
source = "town"
sample = 0.05
[[release]]
name = "fine"
method = "mondrian"
k = 2
[[release]]
name = "coarse"
method = "mondrian"
k = 20
[[adversary]]
name = "insider"
kind = "prosecutor"
knows = 3
noise = { birth_year = 1 }
stale = { postcode = 0.1 }
missing = 0.1
coverage = 0.9
not_values = 1
acquaintances = 10
mechanism = "parameters"
sample = 0.5
earlier = ["fine"]
[attacks]
run = ["linking"]
link = ["likelihood"]
"""


@pytest.mark.slow
def test_a_scenario_with_everything(tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text(SCENARIO)
    scenario = read_scenario(str(file))
    options, world = prepare(scenario)
    found = [subject for subject, _ in subjects(scenario, world, options.seed)]
    assert [list(subject.others) for subject in found] == [[], ["fine"]]  # a release is no news about itself
    (insider,) = (scenario.options.adversaries or ())[0].settled(world.people.schema, 1)
    knowledge = Sides(found[1], options).facing(insider).knowledge()
    assert [release.name for release in knowledge.earlier] == ["fine"]
    assert knowledge.earlier[0].rows == found[1].release.rows
    run = redteam(scenario)
    assert "has another release about the same people (fine)" in run.records[1].adversaries[0].sentence
    assert (run.records[0].find("linking", "success").value or 0) > 0
    assert redteam(scenario).to_json() == run.to_json()


def test_an_earlier_release_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(
        "age,town,ill\n" + "\n".join(f"{20 + i},T{i % 2},{'ab'[i % 2]}" for i in range(8))
    )
    (tmp_path / "old.csv").write_text("age,town,ill\n" + "20-27,T0,a\n" * 4 + "20-27,T1,b\n" * 4)
    (tmp_path / "schema.toml").write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.town]\nrole = "quasi"\n[columns.ill]\nrole = "sensitive"\n'
    )
    text = '[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "identity"\n'
    text += '[[adversary]]\nname = "prosecutor"\nearlier = ["old.csv"]\n[attacks]\nrun = ["linking"]\n'
    (tmp_path / "s.toml").write_text(text)
    scenario = read_scenario(str(tmp_path / "s.toml"))
    options, world = prepare(scenario)
    ((subject, _),) = subjects(scenario, world, options.seed)
    assert subject.others["old.csv"].rows == 8
    assert subject.others["old.csv"].labels["town"].domain.texts == subject.release.labels["town"].domain.texts
    assert redteam(scenario).records[0].find("linking", "success", link="containment").value == 1
    (tmp_path / "s.toml").write_text(text.replace("old.csv", "older.csv"))
    with pytest.raises(ScenarioError, match=r"earlier: 'older.csv' is no release of the run, nor a file"):
        read_scenario(str(tmp_path / "s.toml"))


def test_all_faults_of_an_adversary_at_once(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    bad = SCENARIO.replace('kind = "prosecutor"', 'kind = "boss"').replace("missing = 0.1", "missing = 3")
    file.write_text(bad.replace("not_values = 1", "not_values = -1\nnoize = 1"))
    with pytest.raises(ScenarioError) as caught:
        read_scenario(str(file))
    assert len(caught.value.faults) == 4
    assert all("[[adversary]] 1 (insider)" in fault for fault in caught.value.faults)
    file.write_text(SCENARIO + '[[adversary]]\nname = "insider"\nkind = "marketer"\n')
    with pytest.raises(ScenarioError, match="'insider' stands more than once"):
        read_scenario(str(file))
