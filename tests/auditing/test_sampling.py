"""Attacks on a sample of people against the whole release: a part of the release says the same of them as all of it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attacks import ATTACKS
from auditor import audit
from auditor.auditing.audit import run_audit
from auditor.auditing.sampling import part_of
from auditor.auditing.subjects import Subject
from auditor.measure.classes import class_facts
from auditor.model.errors import UsageError
from auditor.model.record.policy import OF_ALL, parse_policy
from auditor.model.record.record import NOT_APPLICABLE, OK, AuditRecord, Risk, RunRecord, SampleFacts
from auditor.model.release import Suppression
from auditor.posterior.links import Link
from reports.terminal import render_terminal
from scenarios.options import Options
from tests.conftest import Ended
from tests.model.test_record import faults
from tests.support.lengths import at_length
from tests.support.sampling_cases import SCHEMA, alone, found, lines, table

Cli = Callable[..., Ended]

NUMBERS = ("value", "expected", "baseline", "control", "low", "high")
OF_EVERYBODY = {("linking", "max"), ("proximity", "m")}


def part(subject: Subject, sample: int, seed: int, suppression: Suppression = Suppression.EXCLUDED) -> Subject:
    return part_of(subject, sample, seed, suppression, class_facts(subject.release, suppression))


def same_number(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(abs(one - other) <= 1e-12 * max(abs(one), abs(other), 1.0))
    return bool(one == other)


def same_detail(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_detail(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_detail, one, other))
    return same_number(one, other)


def assert_same_row(one: Risk, other: Risk) -> None:
    """The row of the part, and that of the whole release."""
    whole = {key: value for key, value in other.detail.items() if key != "worst_classes"}
    mine = {key: value for key, value in one.detail.items() if key != OF_ALL}
    for name in NUMBERS:
        assert same_number(getattr(one, name), getattr(other, name)), (one.attack, one.measure, one.sensitive, name)
    assert (one.n, one.control_kind, one.worst_rows) == (other.n, other.control_kind, ())
    assert same_detail(mine, whole), (one.attack, one.measure, mine, whole)


@pytest.mark.parametrize("suppression", list(Suppression))
@pytest.mark.parametrize("case", at_length(range(5), range(5, 12)))
def test_a_part_says_of_its_people_what_the_whole_release_says(case: int, suppression: Suppression) -> None:
    """The attacks see the classes of the sampled and sums over the rest, and no figure differs from those of the same people
    attacked with all of the release at hand."""
    release = table(case, rows=[25, 60, 200][case % 3], withheld=[0.0, 0.15, 0.9][case % 4 % 3], wide=case % 5 == 4)
    whole = alone(release)
    some = part(whole, sample=[6, 15, 40][case % 3], seed=case, suppression=suppression)
    assert some.sample is not None
    assert some.release.beyond is not None
    order = lines(release, some)
    targets = tuple(order[i] for i in some.sample.targets.tolist())
    options = Options(seed=3, suppression=suppression)
    ours, theirs = run_audit(some, options), run_audit(whole, replace(options, targets=targets))
    assert asdict(ours.release) == asdict(theirs.release)
    assert [asdict(u) for u in ours.utility] == [asdict(u) for u in theirs.utility]
    rows, others = found(ours), found(theirs)
    assert {key[0] for key in rows} >= {"linking", "homogeneity", "proximity", "skewness", "similarity"}
    for key, row in rows.items():
        if (row.attack, row.measure) not in OF_EVERYBODY:
            assert_same_row(row, others[key])
    left_out = {key[0] for key in others.keys() - rows.keys()}
    assert all(ATTACKS.get(name).needs_whole for name in left_out)


@pytest.mark.parametrize("suppression", list(Suppression))
@pytest.mark.parametrize("wide", [False, True])
def test_a_sample_of_everybody_is_the_whole_audit(suppression: Suppression, wide: bool) -> None:
    whole = alone(table(5, 80, wide=wide))
    options = Options(seed=3, suppression=suppression)
    ours, theirs = run_audit(whole, replace(options, sample=80)), run_audit(whole, options)
    rows, others = found(ours), found(theirs)
    assert rows
    for key, row in rows.items():
        assert_same_row(row, others[key])
    assert {key[0] for key in others.keys() - rows.keys()} <= {"special-uniques"}


@pytest.mark.slow
def test_figures_of_all_people_stay_those_of_all() -> None:
    whole = alone(table(2, 300))
    every = run_audit(whole, Options(seed=3))
    for seed in range(8):
        some = run_audit(whole, Options(seed=seed, sample=10))
        assert asdict(some.release) == asdict(every.release)
        assert some.find("linking", "max", link="class").value == every.find("linking", "max", link="class").value
        assert some.find("proximity", "m", link="class").value == every.find("proximity", "m", link="class").value
        assert {r.measure for r in some.risks if r.detail.get(OF_ALL)} == {"max", "m"}


def test_withheld_rows_that_are_the_whole_release_are_a_class() -> None:
    release = table(1, 30, withheld=1.0)
    record = run_audit(alone(release), Options(seed=1, sample=10))
    assert record.release.suppressed_rows == 0
    assert record.find("linking", "max", link="class").value == pytest.approx(1 / 30)


def test_withheld_rows_count_as_such_where_only_they_are_held() -> None:
    """Suppressed rows that are sampled alone are still suppressed: there are others, which are not held."""
    release = pd.concat([table(1, 40, withheld=1.0), table(2, 3, withheld=0.0)], ignore_index=True)
    parts = [part(alone(release), 5, seed, Suppression.OWN) for seed in range(30)]
    only = [p for p in parts if len(p.release.sizes) == 1 and p.release.sizes[0] == 40]
    assert only
    assert all(p.release.suppressed.all() and p.release.suppressed_rows == 40 for p in only)


def test_attacks_that_need_the_whole_release_say_so() -> None:
    record = run_audit(alone(table(4, 60)), Options(sample=20, settings={"uniqueness": {"population": 1000}}))
    said = {r.attack: (r.status, r.reason) for r in record.risks}
    assert said["uniqueness"][0] == said["special-uniques"][0] == NOT_APPLICABLE
    assert "run without --sample" in str(said["uniqueness"][1])
    done = {r.attack for r in record.risks if r.status == OK}
    assert not [name for name in done if ATTACKS.get(name).needs_whole]


def test_one_seed_one_answer_whatever_the_order_of_rows() -> None:
    release = table(6, 150)
    first = run_audit(alone(release), Options(seed=4, sample=30)).to_json()
    for seed in (1, 2):
        shuffled = release.sample(frac=1, random_state=seed, ignore_index=True)
        assert run_audit(alone(shuffled, seed), Options(seed=4, sample=30)).to_json() == first
    assert run_audit(alone(release), Options(seed=5, sample=30)).to_json() != first


def _shown(record: AuditRecord) -> str:
    return " ".join(render_terminal(RunRecord(record.release.name, record.seed, (record,), record.tool)).split())


def test_nobody_is_named_and_the_sample_is_told() -> None:
    record = run_audit(alone(table(6, 150)), Options(seed=4, sample=30))
    assert not any(risk.worst_rows or "worst_classes" in risk.detail for risk in record.risks)
    people = 150 - record.release.suppressed_rows
    attacked = record.find("linking", "mean", link="class").n
    assert record.sample == SampleFacts(attacked or 0, people)
    assert f"a sample of {attacked} of the {people} people that count" in _shown(record)
    everybody = run_audit(alone(table(6, 150)), Options(seed=4, sample=1000))
    assert "The attacks are on a sample of" in _shown(record)
    assert "The attacks are on a sample of" not in _shown(everybody)
    assert faults("record-2", json.loads(record.to_json())) == []


@pytest.mark.slow
def test_intervals_cover_the_rate_of_everybody() -> None:
    """Over many seeds the 95 % interval of a rate holds the rate of the whole release about as often as it says: a rate of
    yes and no in at least 92 %; chances between 0 and 1 vary less, so their intervals are wider than they need be."""
    whole = alone(table(8, 1500, withheld=0.05))
    attacks = ("linking", "homogeneity")
    every = run_audit(whole, Options(attacks=attacks, utility=()))
    wanted = [("linking", "mean", None), ("homogeneity", "success", "disease"), ("homogeneity", "success", "job")]
    held = dict.fromkeys(wanted, 0)
    for seed in range(120):
        record = run_audit(whole, Options(attacks=attacks, utility=(), sample=150, seed=seed))
        for attack, measure, column in wanted:
            row = record.find(attack, measure, link="class", sensitive=column)
            true = every.find(attack, measure, link="class", sensitive=column).value
            assert row.low is not None
            assert row.high is not None
            assert true is not None
            held[attack, measure, column] += row.low <= true <= row.high
    assert all(times >= 110 for times in held.values()), held


# ----- with an original ------------------------------------------------------------------------------------------------


def original(release: pd.DataFrame) -> pd.DataFrame:
    """An original that a release could have been made from, row by row."""
    value = {"[1, 5]": "3", "[6, 9]": "8", "*": "7", "{p, q}": "q", "North": "b", "South": "d"}
    out = release.copy()
    for column, missing in (("age", "7"), ("zip", "p"), ("city", "a")):
        out[column] = [missing if text == "*" else value.get(text, text) for text in release[column]]
    return out


@pytest.mark.slow
def test_with_an_original_a_sample_of_its_people_is_attacked_in_all_ways() -> None:
    release = table(9, 120)
    record = audit(release, SCHEMA, original=original(release), match="rows", options=Options(sample=40))
    links = {r.link for r in record.risks if r.attack == "linking" and r.status == OK}
    assert links >= {Link.CONTAINMENT, Link.LIKELIHOOD, Link.CLASS}
    people = 120 - record.release.suppressed_rows
    attacked = record.find("linking", "mean", link="containment").n
    assert attacked is not None
    assert 15 < attacked < 70
    assert record.sample == SampleFacts(attacked, people)
    assert not any(risk.worst_rows for risk in record.risks)
    assert not [r for r in record.risks if r.reason and "--sample" in r.reason]
    whole = audit(release, SCHEMA, original=original(release), match="rows")
    assert asdict(record.release) == asdict(whole.release)
    assert [asdict(u) for u in record.utility] == [asdict(u) for u in whole.utility]
    most = whole.find("linking", "max", link="class")
    assert (record.find("linking", "max", link="class").value, most.n) == (most.value, people)


@pytest.mark.slow
def test_a_class_in_which_nobody_is_known_leaves_the_greatest_chance_open() -> None:
    """A record that has no person in the original is nobody's risk: its class does not say the greatest chance."""
    release = table(9, 60, withheld=0.0).assign(id=[str(i) for i in range(60)])
    schema = replace(SCHEMA, columns={**SCHEMA.columns, **named("id")})
    people = original(release)[1:]
    record = audit(release, schema, original=people, match="id", options=Options(sample=30))
    known = record.find("linking", "max", link="class")
    lonely = release.groupby(["age", "zip", "city"]).size()[tuple(release.loc[0, ["age", "zip", "city"]])]
    assert (OF_ALL in known.detail) == (lonely > 1)


def named(identifier: str) -> dict[str, Any]:
    from auditor.model.schema import Schema

    return dict(Schema.from_dict({"columns": {identifier: {"role": "identifier"}}}).columns)


def test_several_blocks_without_an_original_are_as_ever(tmp_path: Path, auditor_cli: Cli) -> None:
    folder = tmp_path / "blocks"
    source, schema = hospital(tmp_path)
    made = auditor_cli("anonymize", source, "--schema", schema, "--method", "anatomy", "--set", "l=2", "-o", folder)
    assert made.code == 0, made.err
    ended = auditor_cli("audit", folder, "--schema", schema, "--sample", 5, "--json", "-")
    assert ended.code == 0, ended.err
    assert {r["status"] for r in json.loads(ended.out)["risks"]} == {NOT_APPLICABLE}


# ----- the policy ------------------------------------------------------------------------------------------------------


def judged(record: AuditRecord) -> dict[str, tuple[float | None, bool | None]]:
    assert record.policy is not None
    return {check.measure: (check.value, check.passed) for check in record.policy.checks}


def policy(*checks: dict[str, Any]) -> Any:
    return parse_policy("mine", {"check": list(checks)})


def test_a_policy_is_judged_by_the_worse_end_of_an_interval() -> None:
    whole = alone(table(8, 600, withheld=0.05))
    every = run_audit(whole, Options(attacks=("linking", "homogeneity"), utility=()))
    mean = every.find("linking", "mean", link="class").value
    assert mean is not None
    limits = (mean + 0.001, mean + 0.2)
    checks = [{"figure": "linking.mean", "at_most": limit} for limit in limits]
    for check, passes in zip(checks, (False, True), strict=True):
        record = run_audit(whole, Options(attacks=("linking",), utility=(), sample=200, policy=policy(check)))
        row = record.find("linking", "mean", link="class")
        assert judged(record) == {"linking.mean": (row.high, passes)}
        assert any("judged on a sample" in note.text for note in record.notes)
        assert not record.remedies


def test_a_maximum_or_count_of_a_sample_may_fail_and_cannot_pass() -> None:
    whole = alone(table(8, 400, withheld=0.05))
    limits = policy(
        {"figure": "linking.max", "at_most": 1.0},  # of all classes: exact
        {"figure": "release.k", "at_least": 1},
        {"figure": "homogeneity.certain", "at_most": 400},
        {"figure": "homogeneity.above", "at_most": 0},
    )
    record = run_audit(whole, Options(sample=100, policy=limits, utility=()))
    assert faults("record-2", json.loads(record.to_json())) == []
    found_here = judged(record)
    assert found_here["linking.max"][1] is True
    assert found_here["release.k"][1] is True
    assert found_here["homogeneity.certain"] == (None, None)
    assert record.policy is not None
    assert "for a sample of people" in str(record.policy.checks[2].reason)
    assert not record.policy.passed
    assert found_here["homogeneity.above"][1] is False
    everybody = judged(run_audit(whole, Options(sample=400, policy=limits, utility=())))
    assert everybody["homogeneity.certain"][1] is True  # a sample of all is no sample


# ----- what the user meets ---------------------------------------------------------------------------------------------


def hospital(folder: Path) -> tuple[Path, Path]:
    """A table and its schema as files."""
    source, schema = folder / "people.csv", folder / "schema.toml"
    rows = [f"{20 + i % 7},{'ab'[i % 2]},{['flu', 'ulcer', 'cough'][i % 3]}" for i in range(60)]
    source.write_text("age,town,disease\n" + "\n".join(rows) + "\n", encoding="utf-8")
    roles = {"age": 'role = "quasi"\ntype = "numeric"', "town": 'role = "quasi"', "disease": 'role = "sensitive"'}
    schema.write_text("\n".join(f"[columns.{c}]\n{said}" for c, said in roles.items()), encoding="utf-8")
    return source, schema


def test_the_command_attacks_a_sample(tmp_path: Path, auditor_cli: Cli) -> None:
    release, schema = hospital(tmp_path)
    ended = auditor_cli("audit", release, "--schema", schema, "--sample", 20, "--json", "-", "--policy", "k5")
    assert ended.code == 1, ended.err  # classes of four or five
    record = json.loads(ended.out)
    assert faults("record-2", record) == []
    assert record["release"]["rows"] == 60
    assert record["sample"]["people"] == 60
    again = auditor_cli("audit", release, "--schema", schema, "--sample", 20, "--json", "-", "--policy", "k5")
    assert again.out == ended.out


@pytest.mark.parametrize("wrong", [("--sample", "0"), ("--sample", "5", "--targets", "1"), ("--sample", "many")])
def test_a_wrong_sample_is_refused(tmp_path: Path, auditor_cli: Cli, wrong: tuple[str, ...]) -> None:
    release, schema = hospital(tmp_path)
    ended = auditor_cli("audit", release, "--schema", schema, *wrong)
    assert ended.code == 2
    assert "sample" in ended.err


def test_a_sample_without_people_is_refused() -> None:
    release = table(1, 400, withheld=0.0)

    def with_any_seed() -> None:
        for seed in range(12):
            run_audit(alone(release), Options(sample=1, seed=seed, attacks=("linking",), utility=()))

    with pytest.raises(UsageError, match=r"--sample 1: nobody was drawn of the \d+ people of release"):
        with_any_seed()
    with pytest.raises(UsageError, match="at least 1"):
        run_audit(alone(release), Options(sample=0))
    with pytest.raises(UsageError, match="cannot both"):
        run_audit(alone(release), Options(sample=5, targets=(1,)))


def test_sums_over_what_is_not_held_are_added_up() -> None:
    whole = alone(table(3, 200)).release
    some = part(alone(table(3, 200)), 20, 1).release
    assert len(some.blocks[0].bucket) < 200
    assert (some.rows, some.suppressed_rows, some.exact) == (whole.rows, whole.suppressed_rows, whole.exact)
    for column in whole.columns:
        assert some.label_counts(column).tolist() == whole.label_counts(column).tolist()
    assert [x.tolist() for x in some.size_counts()] == [x.tolist() for x in whole.size_counts()]
    assert np.array_equal(np.repeat(*whole.size_counts()), np.sort(whole.sizes[~whole.suppressed]))
