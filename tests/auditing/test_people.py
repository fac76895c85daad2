"""People behind rows: counted in classes, found where any of their rows is, households, and when nobody can judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizers.anatomy import Anatomy
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.correspondence import find_targets
from auditor.auditing.people import by_people, joined_k
from auditor.auditing.scanned import scan_audit
from auditor.auditing.subjects import Sources, Subject, read_subject
from auditor.engines.engine import EngineName
from auditor.model.errors import PromiseError, SchemaError, TableError, UsageError
from auditor.model.record.meaning import NoteKind
from auditor.model.record.policy import read_policy
from auditor.model.record.record import AuditRecord, Risk
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.conftest import Ended

Cli = Callable[..., Ended]
K5 = Options(policy=read_policy("k5"), remedies=False, attacks=("linking", "homogeneity"), utility=())
VISITS = [("A", "30-39", "f", "flu")] * 5 + [(who, "40-49", "m", d) for who in "BCDEF" for d in ("flu", "cold")]
"""Five visits of one patient, who is alone in their class: 15 rows, 6 people. By rows every class has 5."""


def schema(role: str = "person", **more: str) -> Schema:
    columns: dict[str, Any] = {
        "patient": {"role": role},
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        **{name: {"role": other} for name, other in more.items()},
    }
    return Schema.from_dict({"columns": columns})


def frame(rows: list[tuple[Any, ...]] = VISITS, *more: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["patient", "age", "sex", "disease", *more])


def found(record: AuditRecord, attack: str, measure: str, **wanted: Any) -> Risk:
    return record.find(attack, measure, link="class", **wanted)


# ----- five visits ---------------------------------------------------------------------------------------------------


def test_five_visits_of_one_patient_fail() -> None:
    record = audit(frame(), schema(), options=K5)
    facts = record.release
    assert (facts.rows, facts.people, facts.k, facts.class_sizes) == (15, 6, 1, {"1": 1, "5": 1})
    assert record.policy is not None
    assert not record.policy.passed
    assert found(record, "linking", "max").value == 1.0
    mean = found(record, "linking", "mean")
    assert (mean.value, mean.n) == (pytest.approx((1 + 5 / 5) / 6), 6)
    assert facts.risk is not None
    assert (facts.risk.records, facts.risk.sample_uniques) == (6, 1)


def test_the_original_alone_may_say_whose_rows_are_whose() -> None:
    original = frame([(who, low, sex, d) for who, (low, sex), d in _exact()])
    release = frame().drop(columns="patient")
    record = audit(release, schema(), original=original, match="rows", options=K5)
    assert (record.release.rows, record.release.people, record.release.k) == (15, 6, 1)
    assert record.policy is not None
    assert not record.policy.passed
    for link in ("containment", "class"):
        assert record.find("linking", "success", link=link).n == 6
    # the worst is the patient with five visits, by their first row
    assert record.find("linking", "mean", link="class").worst_rows[0] == 1


def _exact() -> list[tuple[str, tuple[str, str], str]]:
    ages = {"A": "33", "B": "41", "C": "42", "D": "43", "E": "44", "F": "45"}
    return [(who, (ages[who], sex), d) for who, _, sex, d in VISITS]


def test_without_the_role_nothing_is_judged(tmp_path: Path, auditor_cli: Cli) -> None:
    record = audit(frame(), schema("identifier"), options=K5)
    assert record.policy is None
    (note,) = (note for note in record.notes if note.kind == NoteKind.NOT_JUDGED)
    assert "the identifier 'patient' repeats in the release (15 rows, 6 values)" in note.text
    assert (record.release.rows, record.release.people, record.release.k) == (15, None, 5)
    for role, code in (("person", 1), ("identifier", 3)):
        text = "".join(f'[columns.{name}]\nrole = "{r}"\n' for name, r in _roles(role).items())
        (tmp_path / "schema.toml").write_text(text.replace("[columns.age]\n", '[columns.age]\ntype = "numeric"\n'))
        frame().to_csv(tmp_path / "release.csv", index=False)
        ended = auditor_cli("audit", tmp_path / "release.csv", "--schema", tmp_path / "schema.toml", "--policy", "k5")
        assert ended.code == code, ended.err
        assert ("15 rows of 6 people" if role == "person" else "NOT JUDGED – the identifier 'patient'") in ended.out


def texts(role: str) -> Schema:
    """The schema with texts only."""
    return Schema.from_dict({"columns": {name: {"role": r} for name, r in _roles(role).items()}})


def _roles(role: str) -> dict[str, str]:
    return {"patient": role, "age": "quasi", "sex": "quasi", "disease": "sensitive"}


def test_identifiers_that_repeat_in_the_original_only() -> None:
    original = frame([(who, low, sex, d) for who, (low, sex), d in _exact()])
    record = audit(frame().drop(columns="patient"), schema("identifier"), original=original, match="rows", options=K5)
    assert record.policy is None
    assert any("repeats in the original" in n.text for n in record.notes if n.kind == NoteKind.NOT_JUDGED)


def test_without_a_policy_it_is_a_doubt_beside_the_figures() -> None:
    record = audit(frame(), schema("identifier"), options=Options(attacks=("linking",)))
    (doubt,) = (note.text for note in record.notes if note.kind == NoteKind.DOUBT)
    assert doubt.startswith("The identifier 'patient' repeats")


def test_identifiers_that_do_not_repeat_are_judged() -> None:
    rows = [(str(i), "30-39", "f", d) for i, d in enumerate(["flu", "cold"] * 3)]
    original = frame([(str(i), str(30 + i), "f", d) for i, (_, _, _, d) in enumerate(rows)])
    release = frame(rows).drop(columns="patient")
    record = audit(release, schema("identifier"), original=original, match="rows", options=K5)
    assert record.policy is not None
    assert record.policy.passed


def test_a_release_that_does_not_say_whose_its_rows_are() -> None:
    record = audit(frame().drop(columns="patient"), schema(), options=K5)
    assert record.policy is None
    assert any("does not say whose its rows are" in n.text for n in record.notes if n.kind == NoteKind.NOT_JUDGED)


def test_rows_of_nobody_in_the_original_are_not_judged() -> None:
    text = schema(number="identifier")
    release = frame([(*row, str(i)) for i, row in enumerate(VISITS)], "number").drop(columns="patient")
    original = frame([(w, low, sex, d, str(i)) for i, (w, (low, sex), d) in enumerate(_exact())], "number").iloc[1:]
    record = audit(release, text, original=original, match="number", options=K5)
    assert record.policy is None
    assert any("1 rows of the release match no row" in n.text for n in record.notes if n.kind == NoteKind.NOT_JUDGED)


@pytest.mark.parametrize("nobody", ["", "*"])
def test_each_row_must_say_whose_it_is(nobody: str) -> None:
    rows = [*VISITS[:-1], (nobody, "40-49", "m", "flu")]
    with pytest.raises(TableError, match="column 'patient': row 15 below the header has no value"):
        audit(frame(rows), schema())


def test_a_person_column_that_tells_all_rows_apart_is_an_identifier_in_disguise() -> None:
    rows = [(f"p{i}", "30-39", "f", ("flu", "cold")[i % 2]) for i in range(24)]
    record = audit(frame(rows), schema(), options=K5)
    assert [(one.column, one.role, one.identifying) for one in record.release.distinct] == [("patient", "person", True)]
    assert record.policy is not None
    assert not record.policy.passed


# ----- which value stands for a person -------------------------------------------------------------------------------


def counted(rows: list[tuple[Any, ...]], seed: int = 0) -> list[str]:
    """The sensitive values that stand for the people of a release of one class, sorted."""
    order = np.random.default_rng(seed).permutation(len(rows))
    subject = by_people(read_subject(Sources(frame([rows[i] for i in order]), schema()), 0))
    release = subject.release
    return sorted(release.labels["disease"].texts[i] for i in release.blocks[0].cell("disease"))


@pytest.mark.parametrize("seed", range(3))
def test_the_value_that_most_people_of_the_class_have_stands_for_a_person(seed: int) -> None:
    one = [("A", "30", "f", "HIV"), ("A", "30", "f", "HIV"), ("A", "30", "f", "flu")]
    others = [(who, "30", "f", "flu") for who in "BCD"]
    # HIV is A's most frequent value; but whoever says flu is right about everybody, so the class counts as uniform
    assert counted([*one, *others], seed) == ["flu"] * 4


@pytest.mark.parametrize("seed", range(3))
def test_then_the_most_frequent_one_then_the_rarest(seed: int) -> None:
    assert counted([("A", "30", "f", d) for d in ("flu", "cold", "cold")], seed) == ["cold"]
    away = [("Z", "50", "m", "cold")]
    assert counted([("A", "30", "f", d) for d in ("flu", "cold")] + away, seed) == ["cold", "flu"]


def test_sensitive_columns_are_chosen_one_by_one() -> None:
    rows = [("A", "30", "f", "flu", "x"), ("A", "30", "f", "HIV", "y"), ("B", "30", "f", "flu", "y")]
    record = audit(frame(rows, "job"), schema(job="sensitive"), options=Options(attacks=("homogeneity",)))
    assert {one.column: one.alpha for one in record.release.sensitive} == {"disease": 1.0, "job": 1.0}
    assert found(record, "homogeneity", "certain", sensitive="job").value == 2


# ----- a person in several classes -----------------------------------------------------------------------------------

SEVERAL = [
    *[("A", "30", "f", "flu"), ("A", "40", "m", "cold")],  # alone in no class, but alone with both
    *[("B", "30", "f", "flu"), ("C", "30", "f", "cold"), ("D", "40", "m", "flu"), ("E", "40", "m", "cold")],
]


def test_a_person_counts_as_found_where_any_of_their_records_is() -> None:
    rows = [*SEVERAL, ("B", "90", "f", "flu")]  # B is alone there
    record = audit(frame(rows), schema(), options=Options(attacks=("linking", "homogeneity")))
    mean = found(record, "linking", "mean")
    assert (mean.n, mean.value) == (5, pytest.approx((1 + 4 / 3) / 5))
    assert mean.low is not None
    assert mean.high is not None
    assert mean.expected is None  # nobody knows what to expect of several tries
    assert sum(mean.detail["histogram"]["counts"]) == 5
    assert found(record, "linking", "at_risk").n == 5
    assert record.release.people == 5
    assert record.release.class_sizes == {"1": 1, "3": 2}
    assert record.release.risk is not None
    assert record.release.risk.prosecutor_mean == pytest.approx((1 + 4 / 3) / 5)
    classes = mean.detail["worst_classes"]
    assert sorted(one["people"] for one in classes) == [1, 3, 3]


def test_rows_that_a_release_joins_are_judged_joined() -> None:
    """Every class has three people; but the release tells that two rows are A's, and only A has both."""
    policy = replace(read_policy("k3"), checks=read_policy("k3").checks[:1])
    options = Options(attacks=("linking",), policy=policy, remedies=False)
    record = audit(frame(SEVERAL), schema(), options=options)
    assert (record.release.k, record.release.k_joined) == (3, 1)
    assert record.policy is not None
    assert not record.policy.passed
    assert [(c.measure, c.passed) for c in record.policy.checks] == [("release.k", True), ("release.k_joined", False)]
    # the same without the column: nobody can join the rows
    release = frame(SEVERAL).drop(columns="patient")
    apart = audit(release, schema(), original=frame(SEVERAL), match="rows", options=options)
    assert (apart.release.k, apart.release.k_joined) == (3, None)
    assert apart.policy is not None
    assert apart.policy.passed


def test_whoever_shares_all_classes_is_hidden() -> None:
    rows = [(who, *both) for who in "ABC" for both in (("30", "f", "flu"), ("40", "m", "cold"))]
    subject = by_people(read_subject(Sources(frame(rows), schema()), 0))
    assert joined_k(subject) == 3


def test_membership_counts_people() -> None:
    rng = np.random.default_rng(0)
    people = [(f"p{i:02}", str(int(rng.integers(30, 50))), "fm"[i % 2]) for i in range(60)]
    original = frame([(*one, d) for one in people[:30] for d in ("flu", "cold", "flu")])
    everybody = frame([(*one, "flu") for one in people for _ in range(2)])
    release = original.drop(columns="patient")
    options = Options(attacks=("membership",))
    record = audit(release, schema(), original=original, match="rows", population=everybody, options=options)
    auc = record.find("membership", "auc", adversary="prosecutor", score="posterior", against="outsiders")
    assert auc.n == 60  # 30 members of 90 rows, 30 outsiders of 60


@pytest.mark.slow
def test_every_attack_counts_people() -> None:
    """No figure over people is about more people than there are, whatever the attack, link and control."""
    rng = np.random.default_rng(1)
    people = [(f"p{i:02}", str(int(rng.integers(30, 40))), "fm"[i % 2]) for i in range(20)]
    original = frame(
        [(*one, "abcd"[rng.integers(4)], i % 6) for i, one in enumerate(people) for _ in range(1 + i % 4)], "home"
    )
    release = original.drop(columns=["patient", "home"]).assign(age="30-39")
    given: dict[str, Any] = {"original": original, "match": "rows"}
    record = audit(release, schema(home="household"), **given, options=Options())
    assert record.release.people == 20
    over = {r.attack for r in record.risks if r.kind in ("rate", "count") and r.value is not None and (r.n or 0) > 20}
    assert over <= {
        "membership",
        "singling-out",
        "shadow-membership",
    }  # those are about others, or about predicates, too
    for risk in record.risks:
        if (
            risk.kind == "rate"
            and risk.value is not None
            and "histogram" in risk.detail
            and "counts" in risk.detail["histogram"]
        ):
            assert sum(risk.detail["histogram"]["counts"]) == risk.n


def test_a_sample_is_of_people() -> None:
    record = audit(frame(), schema(), options=Options(attacks=("linking",), sample=4, seed=3))
    assert record.sample is not None
    assert record.sample.people == 6
    assert found(record, "linking", "mean").n == record.sample.attacked < 6


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    visits = [(f"p{i % 12:02}", str(30 + i % 5), "fm"[i % 2], "abc"[rng.integers(3)]) for i in range(40)]
    options = Options(attacks=("linking", "homogeneity", "membership"), utility=())

    def figures(order: Any) -> tuple[Any, ...]:
        original = frame([visits[i] for i in order])
        release = original.assign(age=["30-31" if int(a) < 32 else "32-34" for a in original.age]).drop(
            columns="patient"
        )
        record = audit(release, schema(), original=original, match="rows", options=options)
        told = [(r.attack, r.link, r.measure, str(r.params), r.n, r.value, r.baseline, r.control) for r in record.risks]
        return record.release, told

    assert figures(range(40)) == figures(rng.permutation(40))


def test_persons_are_found_by_name() -> None:
    table = Table.from_frame(frame(SEVERAL), schema())
    assert find_targets(["A"], table) == (0, 1)


def test_targets_are_people_with_all_their_rows() -> None:
    record = audit(frame(SEVERAL), schema(), options=Options(attacks=("linking",), targets=(1,)))
    assert found(record, "linking", "mean").n == 1


def test_figures_of_one_row_each_are_those_of_rows() -> None:
    rows = [(f"p{i}", str(30 + 10 * (i % 3)), "f", ("flu", "cold", "HIV")[i % 2]) for i in range(24)]
    plain = Schema.from_dict({"columns": {n: {"role": r} for n, r in list(_roles("").items())[1:]}})
    options = Options(links=(Link.CLASS,))
    one = audit(
        frame(rows),
        Schema.from_dict({"columns": {n: {"role": r} for n, r in _roles("person").items()}}),
        options=options,
    )
    two = audit(frame(rows).drop(columns="patient"), plain, options=options)
    assert one.risks == two.risks
    assert (one.release.people, one.release.k) == (24, two.release.k)


# ----- households ----------------------------------------------------------------------------------------------------


def homes(rows: list[tuple[Any, ...]]) -> dict[str, Risk]:
    record = audit(frame(rows, "home"), schema(home="household"), options=Options(attacks=("linking",)))
    return {m: found(record, "linking", f"household_{m}") for m in ("mean", "max", "at_risk")}


def test_the_risk_of_a_household_is_that_anybody_is_found() -> None:
    """Classes of 2 (A, B), 4 (C to F) and 1 (G). Households: {A, C}, {B}, {D, E, F}, {G}."""
    rows = [
        ("A", "30", "f", "flu", "1"), ("B", "30", "f", "flu", "2"), ("C", "40", "f", "flu", "1"),
        ("D", "40", "f", "flu", "3"), ("E", "40", "f", "flu", "3"), ("F", "40", "f", "flu", "3"),
        ("G", "50", "m", "flu", "4"),
    ]  # fmt: skip
    risk = [1 - (1 - 1 / 2) * (1 - 1 / 4), 1 / 2, 1 - (1 - 1 / 4) ** 3, 1.0]
    figures = homes(rows)
    assert figures["mean"].value == pytest.approx(np.mean(risk))
    assert figures["max"].value == 1.0
    assert figures["at_risk"].value == 1.0  # all are above 0.2
    assert {figure.n for figure in figures.values()} == {4}
    assert figures["max"].worst_rows == (7, 1, 4, 2)


def test_a_household_counts_each_person_once_by_their_worst_record() -> None:
    rows = [
        ("A", "30", "f", "flu", "1"), ("A", "30", "f", "cold", "1"), ("A", "40", "f", "flu", "1"),
        ("B", "30", "f", "flu", "2"),
        *[(who, "40", "f", "flu", "3") for who in "CDE"],
    ]  # fmt: skip
    # A is one of two in one class, and one of four in another: 1/2. C, D and E: 1 - (3/4)^3.
    figures = homes(rows)
    assert figures["mean"].value == pytest.approx((1 / 2 + 1 / 2 + 1 - (3 / 4) ** 3) / 3)


def test_households_without_persons_and_outsiders() -> None:
    rows = [(str(i), "30", "f", "flu", "x" if i < 2 else "y") for i in range(4)]
    text = schema("neutral", home="household")
    record = audit(frame(rows, "home"), text, options=Options(attacks=("linking",)))
    assert found(record, "linking", "household_mean").value == pytest.approx(1 - (3 / 4) ** 2)
    population = frame([*rows, ("9", "40", "f", "flu", "z")], "home")
    options = Options(attacks=("linking",))
    full = audit(
        frame(rows, "home"), text, original=frame(rows, "home"), match="rows", population=population, options=options
    )
    containment = full.find("linking", "household_mean", adversary="prosecutor", link="containment")
    assert containment.control == 0.0


# ----- what does not go ----------------------------------------------------------------------------------------------


def test_one_column_of_each_kind() -> None:
    with pytest.raises(SchemaError, match=r'at most one column may have role = "person"\. Got patient, other'):
        schema(other="person")
    with pytest.raises(SchemaError, match='at most one column may have role = "household"'):
        schema(a="household", b="household")


@pytest.mark.slow
def test_an_engine_refuses(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "release.csv", index=False)
    with pytest.raises(UsageError, match="An engine counts rows"):
        scan_audit(tmp_path / "release.csv", schema(), engine=EngineName.DUCKDB)
    record = scan_audit(tmp_path / "release.csv", schema("identifier"), K5, engine=EngineName.DUCKDB)
    assert record.policy is None
    assert any("the identifier 'patient' repeats" in n.text for n in record.notes if n.kind == NoteKind.NOT_JUDGED)


def test_criteria_that_count_rows_are_refused(tmp_path: Path, auditor_cli: Cli) -> None:
    frame().to_csv(tmp_path / "release.csv", index=False)
    (tmp_path / "schema.toml").write_text(
        "".join(f'[columns.{n}]\nrole = "{r}"\n' for n, r in _roles("person").items())
    )
    given = (tmp_path / "release.csv", "--schema", tmp_path / "schema.toml", "-o", tmp_path / "mended.csv")
    ended = auditor_cli("mend", *given, "--suppress", "k < 6")
    assert ended.code == 3
    assert "classes count people" in ended.err
    assert auditor_cli("mend", *given, "--coarsen", "age").code == 0


def test_several_blocks_count_people() -> None:
    visits = [(who, str(30 + n), "f", "abcd"[(n + i) % 4]) for n, who in enumerate("ABCDEF") for i in range(4)]
    original = Table.from_frame(frame(visits), texts("identifier"))
    release, provenance = Anatomy(l=2).anonymize(original, stage(0, "anatomy"))
    people = replace(original, schema=texts("person"))
    subject = Subject(replace(release, schema=texts("person")), people, provenance)
    done = by_people(subject)
    pairs = {(int(b), int(p)) for b, p in zip(provenance.bucket, original.codes["patient"], strict=True) if b >= 0}
    assert int(done.release.sizes.sum()) == len(pairs) < original.rows
    for block in done.release.blocks:
        assert np.bincount(block.bucket, minlength=len(done.release.sizes)).tolist() == done.release.sizes.tolist()
    record = run_audit(subject, Options(attacks=("linking", "homogeneity")))
    assert record.release.people == found(record, "linking", "mean").n == len({p for _, p in pairs})
    with pytest.raises(PromiseError, match="is about rows, and some people have several rows in one class"):
        Anatomy(l=2).anonymize(people, stage(0, "anatomy"))
