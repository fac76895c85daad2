"""The search for the strongest adversary: equal to an audit of every set, honest about what it saw, and told in words."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.auditing.audit import run_audit
from auditor.auditing.exposure.exposure import Exposure
from auditor.auditing.exposure.halves import CHOOSING, REPORTING
from auditor.auditing.exposure.tried import Tried
from auditor.auditing.people import by_people
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import Interval, trials_behind, wilson
from auditor.model.errors import ScenarioError, UsageError
from auditor.model.record.meaning import Goal
from auditor.model.record.policy import parse_policy
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.record.search import SearchFacts
from auditor.runs import searching
from auditor.runs.redteaming import redteam
from auditor.runs.searching import search_release
from reports import render_html, render_markdown, render_terminal
from reports.tables.search import searches
from scenarios.adversaries import PROSECUTOR, Adversary, Stance
from scenarios.options import Options, Search
from scenarios.scenario import read_scenario
from tests.conftest import Ended
from tests.model.test_record import faults
from tests.support.search_cases import KINDS, QUASI, people, released

SETS = [columns for size in range(5) for columns in itertools.combinations(QUASI, size)]
FEW = Options(("linking", "homogeneity"), seed=3)


# ----- against an audit of every set ---------------------------------------------------------------------------------


def audited(subject: Subject, exposure: Exposure, half: int) -> AuditRecord:
    """The obvious way: an ordinary audit of the people of one half, with an adversary for every set."""
    rows = exposure.sides.targets[exposure.halves.of_person[exposure.halves.person] == half]
    crew = tuple(Adversary(Stance.PROSECUTOR, " ".join(columns) or "nothing", columns) for columns in SETS)
    options = Options(("linking", "homogeneity"), exposure.links, crew, targets=tuple(rows.tolist()), utility=())
    return run_audit(subject, options)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "visits"])
def test_every_set_has_the_figures_of_an_ordinary_audit(kind: str) -> None:
    table = people(7, 60, visits=16 if kind == "visits" else 0)
    subject = by_people(released(table, "mondrian" if kind == "visits" else kind))
    sought = {
        "linking": Exposure(subject, FEW, PROSECUTOR, Goal.IDENTITY),
        "homogeneity": Exposure(subject, FEW, PROSECUTOR, Goal.ATTRIBUTE, "disease"),
    }
    compared = 0
    for half in (CHOOSING, REPORTING):
        record = audited(subject, sought["linking"], half)
        for columns, (attack, exposure) in itertools.product(SETS, sought.items()):
            for one in exposure.tried(columns, half):
                who = " ".join(columns) or "nothing"
                row = record.find(attack, one.measure, adversary=who, link=one.link)
                assert_same(one, row)
                compared += 1
    assert compared > 100


def assert_same(one: Tried, row: Any) -> None:
    assert one.value == pytest.approx(row.value, abs=1e-9)
    assert one.n == row.n
    if one.beside:
        companions = {each.name: each.value for each in one.beside}
        assert companions.pop("baseline") == pytest.approx(row.baseline, abs=1e-9)
        for name, value in companions.items():
            assert name == row.control_kind
            assert value == pytest.approx(row.control, abs=1e-9)
        low, high = one.interval()
        assert (low, high) == (pytest.approx(row.low, abs=1e-9), pytest.approx(row.high, abs=1e-9))
        excess = one.excess()
        assert excess is not None
        told = row.detail["excess"]
        assert tuple(excess) == pytest.approx((told["value"], told["low"], told["high"]), abs=1e-9)


def test_halves_depend_neither_on_the_order_of_rows_nor_on_names() -> None:
    table = people(5, 60)
    order = np.random.default_rng(0).permutation(60)
    found = []
    for rows in (np.arange(60), order):
        subject = released(table.take(rows), "mondrian")
        exposure = Exposure(subject, FEW, PROSECUTOR, Goal.IDENTITY)
        chosen = rows[exposure.sides.targets[exposure.halves.of_person[exposure.halves.person] == CHOOSING]]
        found.append(np.sort(chosen))
    assert (found[0] == found[1]).all()
    assert len(found[0]) == 30


def test_the_rows_of_a_person_are_in_one_half() -> None:
    subject = by_people(released(people(5, 60, visits=20), "mondrian"))
    exposure = Exposure(subject, FEW, PROSECUTOR, Goal.IDENTITY)
    assert subject.person is not None
    person, half = subject.person[exposure.sides.targets], exposure.halves.of_person[exposure.halves.person]
    assert all(len(set(half[person == one])) == 1 for one in set(person.tolist()))
    assert abs(exposure.people(CHOOSING) - exposure.people(REPORTING)) <= 1


@pytest.mark.parametrize(("right", "n"), [(30.0, 100), (1.5, 40), (0.0, 50), (50.0, 50)])
def test_the_trials_behind_an_interval(right: float, n: int) -> None:
    found = trials_behind(right / n, wilson(right, n), n)
    assert found == pytest.approx(n)
    assert trials_behind(0.5, Interval(0.0, 1.0), 7) == 7


# ----- what is found -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> SearchFacts:
    (facts,) = search_release(released(people(2, 300), "mondrian"), FEW, Search(("identity",), threshold=0.05))
    return facts


def test_smallest_sets_are_smallest(found: SearchFacts) -> None:
    """Whatever is smallest is beyond the limit on the choosing half, and no part of it is."""
    assert (found.tried, found.of) == (16, 16)
    assert found.minimal
    exposure = Exposure(released(people(2, 300), "mondrian"), FEW, PROSECUTOR, Goal.IDENTITY)

    def breaks(columns: tuple[str, ...], level: float) -> bool:
        tried = [one.excess(level) for one in exposure.tried(columns, CHOOSING) if one.measure == "success"]
        return any(beyond is not None and beyond.low > 0.05 for beyond in tried)

    broken = {
        level: [frozenset(columns) for columns in SETS if breaks(columns, level)] for level in searching.CHOSEN_AT
    }
    expected = {one for some in broken.values() for one in some if not any(other < one for other in some)}
    assert {frozenset(one.columns) for one in found.minimal} == expected


def test_best_typical_and_worst_grow_with_what_is_known(found: SearchFacts) -> None:
    assert [one.known for one in found.numbers] == [0, 1, 2, 3, 4]
    assert [one.of for one in found.numbers] == [1, 4, 6, 4, 1]
    for one in found.numbers[1:-1]:
        assert one.best.value > one.worst.value
    assert [one.best.value for one in found.numbers] == sorted(one.best.value for one in found.numbers)
    assert (found.choosing, found.reporting) == (150, 150)
    assert all(one.best.n == 150 for one in found.numbers)
    assert found.unseen == ()


def test_intervals_are_simultaneous(found: SearchFacts) -> None:
    exposure = Exposure(released(people(2, 300), "mondrian"), FEW, PROSECUTOR, Goal.IDENTITY)
    best = found.numbers[-1].best
    (one,) = [
        each for each in exposure.tried(QUASI, REPORTING) if (each.link, each.measure) == (best.link, best.measure)
    ]
    assert (best.low, best.high) == pytest.approx(tuple(one.interval(1 - 0.05 / found.intervals)))
    assert best.low < one.interval().low
    assert found.intervals >= 2 * len(
        {(o.columns, o.link) for number in found.numbers for o in (number.best, number.worst)}
    )


def test_the_limit_may_be_a_policys() -> None:
    policy = parse_policy(
        "mine", {"check": [{"figure": "linking.max", "at_most": 0.09}, {"figure": "release.k", "at_least": 2}]}
    )
    options = Options(("linking",), policy=policy, seed=3)
    (facts,) = search_release(released(people(2, 300), "mondrian"), options, Search())
    assert (facts.policy, facts.figure, facts.limit) == ("mine", "linking.max", 0.09)
    for one in facts.minimal:
        assert one.reached is not None
        assert one.breaks == (one.reached > 0.09)
    least = len(facts.minimal[0].columns)
    assert all(number.none_breaks for number in facts.numbers if number.known < least)


@pytest.mark.slow
def test_the_budget_ends_the_search_and_the_record_says_so() -> None:
    ticks = itertools.count()
    (facts,) = search_release(
        released(people(2, 100), "mondrian"), FEW, Search(budget=6), clock=lambda: float(next(ticks))
    )
    assert facts.tried < facts.of
    assert facts.unseen[0].startswith(
        f"{facts.of - facts.tried} of 16 sets of known attributes: its share of the budget"
    )
    assert any("attacks on the" in one for one in facts.unseen)


@pytest.mark.slow
def test_of_many_attributes_the_best_are_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Best-first finds the sets that all sets would show to be best, and says how many it left out."""
    subject = released(people(2, 300), "mondrian")
    (every,) = search_release(subject, FEW, Search())
    monkeypatch.setattr(searching, "ALL_SETS", 3)
    monkeypatch.setattr(searching, "MOST_SETS", 10)
    (some,) = search_release(subject, FEW, Search())
    assert some.tried == 10
    assert some.unseen == (
        "6 of 16 sets of known attributes: of more than 3 attributes only the best sets are extended",
    )
    assert some.numbers[-1].best.columns == every.numbers[-1].best.columns
    assert some.numbers[1].best.columns == every.numbers[1].best.columns


@pytest.mark.slow
def test_learned_attacks_are_tried_on_the_best_sets() -> None:
    options = Options(("homogeneity", "inference"), seed=3)
    (facts,) = search_release(released(people(2, 120), "anatomy"), options, Search(("value",)))
    assert {one.attack for one in facts.strongest} == {"homogeneity", "inference"}
    assert facts.sensitive == "disease"


@pytest.mark.slow
def test_membership_is_searched() -> None:
    table = people(4, 200)
    inside, outside = np.arange(100), np.arange(100, 200)
    subject = released(table.take(inside), "mondrian")
    whole = Subject(subject.release, subject.people, subject.provenance, True, table, outside)
    (facts,) = search_release(whole, Options(("membership",), seed=3), Search(("membership",)))
    assert (facts.tried, facts.of) == (15, 15)
    assert {one.best.measure for one in facts.numbers} == {"auc"}
    assert {one.best.params["against"] for one in facts.numbers} == {"outsiders"}


@pytest.mark.parametrize(
    ("goal", "adversary", "said"),
    [("value", Adversary(Stance.JOURNALIST, "journalist"), "the journalist is not after this goal")],
)
def test_what_cannot_be_searched_says_why(goal: str, adversary: Adversary, said: str) -> None:
    options = Options(adversaries=(adversary,))
    (facts,) = search_release(released(people(2, 40), "mondrian"), options, Search((goal,)))
    assert (facts.status, facts.reason) == ("not_applicable", said)


def test_without_the_original_nothing_is_searched() -> None:
    subject = released(people(2, 40), "mondrian")
    alone = Subject(subject.release, subject.people, subject.provenance, has_original=False)
    (facts,) = search_release(alone, FEW, Search())
    assert facts.reason == "without the original nothing is known of the people: give it, matched with the release"


# ----- record, reports and command line ------------------------------------------------------------------------------

TOWN = """
[data]
source = "town"
sample = 0.02
[[release]]
method = "mondrian"
k = 5
[attacks]
run = ["linking"]
link = ["containment", "likelihood"]
"""
"""Ten thousand people, of whom 200 are released."""


@pytest.fixture(scope="module")
def run(found: SearchFacts) -> RunRecord:
    subject = released(people(2, 300), "mondrian")
    record = run_audit(subject, Options((), utility=(), seed=3))
    return RunRecord("a search", 3, (replace(record, search=(found,)),))


def test_the_record_meets_its_schema_and_reads_back(run: RunRecord) -> None:
    (record,) = run.records
    assert faults("record-2", json.loads(record.to_json())) == []
    assert AuditRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_the_answer_in_words(run: RunRecord, found: SearchFacts) -> None:
    (said,) = searches(run)
    first = next(one for one in found.minimal if one.breaks)
    assert said.answer.startswith("Knowing ")
    assert "is enough to link" in said.answer
    assert all(column in said.answer for column in first.columns)
    fewer = {1: "knowing nothing is not", 2: "no single attribute", 3: "no pair"}[len(first.columns)]
    assert fewer in said.answer
    for text in (render_terminal(run, 110), render_markdown(run), render_html(run)):
        flat = " ".join(text.split())
        assert "is enough to link" in flat
        assert "The smallest sets" in flat
        assert "were chosen on 150 people" in flat
    assert "best set" in render_html(run)
    assert said.sweep is not None
    assert [curve.name for curve in said.sweep.curves] == ["best set", "typical set", "worst set"]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('goal = "who"', "goal must be one of identity, value, membership"),
        ("budget = 0", "budget must be a number of seconds above 0"),
        ("threshold = 1", "threshold must be at least 0 and below 1"),
        ("depth = 1", "depth"),
    ],
)
def test_faults_of_the_section(tmp_path: Path, section: str, said: str) -> None:
    file = tmp_path / "town.toml"
    file.write_text(f"{TOWN}[search]\n{section}\n")
    with pytest.raises(ScenarioError, match=said):
        read_scenario(str(file))


def test_the_section_is_read(tmp_path: Path) -> None:
    file = tmp_path / "town.toml"
    file.write_text(f'{TOWN}[search]\ngoal = ["value", "identity"]\nbudget = 9.5\nthreshold = 0.2\n')
    assert read_scenario(str(file)).search == Search(("value", "identity"), 9.5, 0.2)


@pytest.mark.slow
def test_the_command_searches(tmp_path: Path, auditor_cli: Callable[..., Ended]) -> None:
    file = tmp_path / "town.toml"
    file.write_text(TOWN)
    ended = auditor_cli("redteam", file, "--search", "--threshold", "0.05", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "sets were tried" in " ".join(ended.out.split())
    record = json.loads(next((tmp_path / "out").glob("*.json")).read_text())["records"][0]
    assert record["risks"] == []
    assert [one["goal"] for one in record["search"]] == ["identity"]


@pytest.mark.parametrize(
    ("figure", "most", "code"), [("linking.mean", 0.3, 1), ("linking.mean", 1, 0), ("homogeneity.certain", 0, 3)]
)
def test_the_exit_code_is_that_of_the_policy(
    tmp_path: Path, auditor_cli: Callable[..., Ended], figure: str, most: float, code: int
) -> None:
    """Forty people of different ages, published as they are: whoever knows the age finds them all. A check about values
    cannot be judged by a search for records."""
    rows = "".join(f"{20 + i},{'fm'[i % 2]},{'abc'[i % 3]}\n" for i in range(40))
    (tmp_path / "data.csv").write_text(f"age,sex,disease\n{rows}")
    roles = '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.sex]\nrole = "quasi"\n'
    (tmp_path / "schema.toml").write_text(f'{roles}[columns.disease]\nrole = "sensitive"\n')
    (tmp_path / "rules.toml").write_text(f'[[check]]\nfigure = "{figure}"\nat_most = {most}\n')
    plan = '[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "identity"\n'
    (tmp_path / "plan.toml").write_text(f'{plan}[attacks]\nrun = ["linking"]\n[policy]\nuse = "rules.toml"\n')
    ended = auditor_cli("redteam", tmp_path / "plan.toml", "--search", "--quiet")
    assert ended.code == code
    assert ("the policy was not judged" in ended.err) == (code == 3)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--search", "--goal", "who"), "goal must be one of identity, value, membership"),
        (("--goal", "value"), "give --search, or [search] in the scenario"),
        (("--search", "--sweep", "known=1..2"), "give it without --sweep and --seeds"),
        (("--search", "--budget", "-1"), "budget must be a number of seconds above 0"),
        (("--search", "--targets", "1"), "Leave out --targets"),
    ],
)
def test_wrong_usage_gives_one_message(
    tmp_path: Path, auditor_cli: Callable[..., Ended], asked: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "town.toml"
    file.write_text(TOWN)
    ended = auditor_cli("redteam", file, *asked)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_without_quasi_identifiers_there_is_nothing_to_know(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("job,disease\ncook,flu\njudge,flu\n")
    (tmp_path / "schema.toml").write_text('[columns.job]\nrole = "neutral"\n[columns.disease]\nrole = "sensitive"\n')
    file = tmp_path / "plan.toml"
    file.write_text('[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "identity"\n')
    with pytest.raises(UsageError, match="no quasi-identifier"):
        redteam(read_scenario(str(file)), only_search=True)


@pytest.mark.parametrize(
    ("goal", "sensitive", "params", "said"),
    [
        ("value", "disease", {}, "name the right disease of"),
        ("value", "income", {"width": 500.0}, "name an interval of width 500 that holds the income of"),
        ("membership", None, {"against": "fakes"}, "rank members above made-up people in"),
        ("membership", None, {"against": "outsiders"}, "rank members above people who are not in the data in"),
    ],
)
def test_words_of_other_goals(
    run: RunRecord, found: SearchFacts, goal: str, sensitive: str | None, params: dict[str, Any], said: str
) -> None:
    minimal = tuple(replace(one, params=params, control=0.1) for one in found.minimal)
    other = replace(found, goal=goal, sensitive=sensitive, minimal=minimal)
    (words,) = searches(replace(run, records=(replace(run.records[0], search=(other,)),)))
    assert f"is enough to {said}" in words.answer


def test_nothing_that_is_enough_is_said_with_care(run: RunRecord, found: SearchFacts) -> None:
    safe = [replace(one, none_breaks=True) for one in found.numbers]
    for numbers, lead in (
        (safe, "No set of known attributes is beyond"),
        (found.numbers, "No set was shown to be beyond"),
    ):
        facts = replace(found, minimal=(), numbers=numbers)
        (words,) = searches(replace(run, records=(replace(run.records[0], search=(facts,)),)))
        assert words.answer.startswith(lead)
    cut = replace(found, unseen=("3 of 16 sets: the budget ended",))
    (words,) = searches(replace(run, records=(replace(run.records[0], search=(cut,)),)))
    assert "Not looked at: 3 of 16 sets: the budget ended." in words.lines
