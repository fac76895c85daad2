"""Releases whose rows are nobody's: how they are given, what applies to them, and what no policy grants them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from anonymizers.anonymizing import anonymize
from attacks.claims import MemberClaims
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.people import by_people
from auditor.auditing.scoring.people import members_of
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Sources, Subject, read_subject, with_holdout
from auditor.files.releases import write_release
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.record.meaning import NoteKind
from auditor.model.record.policy import parse_policy
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.record.strongest import GOALS, choose, strongest
from auditor.model.schema import Schema
from reports.html import render_html
from reports.markdown import render_markdown
from reports.terminal import render_terminal
from reports.words.verdicts import plain_check
from scenarios.adversaries import PROSECUTOR, Adversary, Stance
from scenarios.options import Options
from tests.conftest import Ended
from tests.support.synthesizers import COLUMNS, SCHEMA, alone, blurring, by_margins, copying, folk, subject

Cli = Callable[..., Ended]
QUICK = Options(attacks=("linkability",), utility=())


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    made = subject(blurring, 80, 6)
    assert made.people is not None
    people = made.people.to_frame()
    return {"made": made.release.to_frame(), "members": people[:80], "others": people[80:], "everybody": people}


@pytest.fixture
def folder(frames: dict[str, pd.DataFrame], tmp_path: Path) -> Path:
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    lines = [f'{name} = {{role = "{c["role"]}", type = "{c.get("type", "nominal")}"}}' for name, c in COLUMNS.items()]
    (tmp_path / "schema.toml").write_text("[columns]\n" + "\n".join(lines) + "\n")
    return tmp_path


def value(record: AuditRecord) -> tuple[float | None, float | None]:
    (risk,) = record.risks
    return risk.value, risk.control


def test_a_population_and_a_holdout_say_the_same(frames: dict[str, pd.DataFrame]) -> None:
    given = {"original": frames["members"], "no_match": True, "options": QUICK}
    held = audit(frames["made"], SCHEMA, holdout=frames["others"], **given)
    listed = audit(frames["made"], SCHEMA, population=frames["everybody"], **given)
    assert value(held) == value(listed)
    assert held.release.kind == "synthetic"
    assert [i.rows for i in held.inputs if i.role == "holdout"] == [80]


@pytest.mark.slow
def test_the_provenance_says_the_same(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    made = subject(blurring, 80, 6)
    file, private = folder / "release.csv", folder / "whose.csv"
    assert made.provenance is not None
    contents, whose = write_release(made.release, made.provenance, file)
    private.write_text(str(whose))
    assert "made_from" in str(whose).splitlines()[0]
    file.write_bytes(c if isinstance(c := contents[file], bytes) else c.encode())
    read = audit(file, SCHEMA, original=frames["everybody"], provenance=private, options=QUICK)
    own = run_audit(made, QUICK)
    assert value(read) == value(own)
    private.write_text(str(whose).replace(",1,", ",yes,", 1))
    with pytest.raises(ReleaseError, match="must be"):
        audit(file, SCHEMA, original=frames["everybody"], provenance=private, options=QUICK)


def test_what_does_not_go_together(frames: dict[str, pd.DataFrame]) -> None:
    made, members, others = frames["made"], frames["members"], frames["others"]
    for given, said in (
        ({"no_match": True}, "give it with --original"),
        ({"original": members, "no_match": True, "match": "rows"}, "without --match"),
        ({"original": members}, "--no-match"),
        ({"original": members, "match": "rows", "holdout": others}, "for synthetic releases"),
        ({"original": members, "no_match": True, "holdout": others, "population": others}, "either a holdout"),
    ):
        with pytest.raises(UsageError, match=said):
            audit(made, SCHEMA, options=QUICK, **given)
    visits = {"file": "visits.csv", "key": "patient", "columns": {"ward": {"role": "quasi"}}}
    linked = {"columns": {"patient": {"role": "person"}, "age": {"role": "quasi"}}, "tables": {"visits": visits}}
    with pytest.raises(UsageError, match="one by one"):
        audit(made, Schema.from_dict(linked), original=members, no_match=True, options=QUICK)
    with pytest.raises(ReleaseError, match="--no-match"):
        audit(made.iloc[:60], SCHEMA, original=members, match="rows", options=QUICK)
    doubted = audit(
        made.sample(frac=1, random_state=1),
        SCHEMA,
        original=members,
        match="rows",
        options=Options(attacks=(), utility=()),
    )
    assert any("--no-match" in note.text for note in doubted.notes if note.kind == NoteKind.DOUBT)


def test_attacks_that_look_for_a_row_do_not_apply() -> None:
    options = Options(attacks=("linking", "homogeneity", "membership", "inference"), utility=())
    record = run_audit(subject(by_margins, 60, 1), options)
    barred = {r.attack: r.reason for r in record.risks if r.status == "not_applicable"}
    assert barred == dict.fromkeys(
        ("linking", "homogeneity", "membership"), "no row of a synthetic release belongs to a person"
    )
    assert {r.link for r in record.risks if r.attack == "inference"} == {"containment", "distance"}
    assert {r.control_kind for r in record.risks if r.attack == "inference"} == {"outsiders"}
    assert record.release.k is not None  # a fact about the file
    assert record.release.risk is None
    assert record.bounds == ()
    assert any("promise nothing" in note.text for note in record.notes)


def test_without_outsiders_membership_says_how_to_get_them() -> None:
    record = run_audit(
        alone(subject(by_margins, 60, 1)), Options(attacks=("synthetic-membership", "linkability"), utility=())
    )
    reasons = {r.attack: r.reason for r in record.risks}
    assert "--holdout" in str(reasons["synthetic-membership"])
    assert "auditor anonymize --holdout" in str(reasons["synthetic-membership"])
    (linked,) = [r for r in record.risks if r.attack == "linkability"]
    assert linked.control is None
    assert "--holdout" in linked.detail["no_control"]


def test_too_few_outsiders_are_counted_and_are_no_reason_not_to_apply() -> None:
    checks = [{"figure": "synthetic-membership.auc", "at_most": 0.6}, {"figure": "release.k", "at_least": 2}]
    policy = parse_policy("own", {"check": checks})
    record = run_audit(
        subject(copying, 60, 2, others=7), Options(attacks=("synthetic-membership",), utility=(), policy=policy)
    )
    (told,) = [note.text for note in record.notes if note.kind == NoteKind.NOT_JUDGED]
    assert (
        "1 of its 2 conditions do not apply to a synthetic release (release.k); synthetic-membership.auc could" in told
    )
    assert "only 7 people are known to be outside of the data, and it takes at least 20: give --holdout" in told


@pytest.mark.parametrize(
    ("checks", "judged"),
    [
        ([("release.k", "at_least", 1)], None),  # one row is alone in its class, and that says nothing
        ([("linking.max", "at_most", 1)], None),
        ([("linkability.success", "at_most", 1)], True),
        ([("linkability.success", "at_most", 0.0)], False),
        ([("release.k", "at_least", 1), ("linkability.success", "at_most", 1)], None),
        ([("release.k", "at_least", 1), ("linkability.success", "at_most", 0.0)], False),
    ],
)
def test_a_policy_judges_attacks_and_no_classes(checks: list[tuple[str, str, float]], judged: bool | None) -> None:
    entries = [{"figure": figure, key: limit} for figure, key, limit in checks]
    policy = parse_policy("own", {"title": "own", "source": "own", "check": entries})
    record = run_audit(subject(copying, 60, 2), replace(QUICK, policy=policy))
    assert (None if record.policy is None else record.policy.passed) is judged
    told = [note.text for note in record.notes if note.kind == NoteKind.NOT_JUDGED]
    assert bool(told) is (judged is None)
    if told:
        assert "do not apply to a synthetic release" in told[0]


@pytest.mark.slow
def test_membership_is_judged_by_the_score_chosen_on_other_people() -> None:
    entry = {"figure": "synthetic-membership.auc", "at_most": 0.9}
    policy = parse_policy("own", {"title": "own", "source": "own", "check": [entry]})
    options = Options(attacks=("synthetic-membership",), utility=(), policy=policy)
    record = run_audit(subject(blurring, 60, 2), options)
    (best,) = [r for r in record.risks if r.measure == "auc" and r.params["score"] == "best-of"]
    assert record.policy is not None
    (check,) = record.policy.checks
    assert (check.estimate, check.value) == (best.value, best.high)  # an estimate is judged by the worse end
    assert "as an estimate it is judged by the worse end of its interval" in plain_check(record, check)


def test_outsiders_who_are_members_images_are_said() -> None:
    made = subject(by_margins, 60, 3)
    people = made.people
    assert people is not None
    doubled = people.take(np.concatenate([np.arange(60), np.arange(60)]))
    record = run_audit(replace(made, people=doubled), QUICK)
    doubts = [note.text for note in record.notes if note.kind == NoteKind.DOUBT]
    assert any(text.startswith("60 of 60 outsiders have the very values of somebody") for text in doubts)


@pytest.mark.slow
def test_one_persons_rows_are_one_person() -> None:
    columns = {**COLUMNS, "who": {"role": "person"}}
    frame = folk(200, 4).to_frame()
    frame["who"] = [f"p{i // 2}" for i in range(200)]
    made = frame.drop(columns="who").sample(frac=1, random_state=1)[:100]
    for asked, n in (({}, 50 + 25), ({"targets": 20}, 20 + 20)):  # half of the outsiders are the reference
        record = audit(
            made, Schema.from_dict({"columns": columns}), original=frame[:100], no_match=True, holdout=frame[100:],
            options=Options(attacks=("synthetic-membership",), utility=(), settings={"synthetic-membership": asked}),
        )  # fmt: skip
        assert {r.n for r in record.risks} == {n}


def several_rows(people: int) -> tuple[Schema, pd.DataFrame]:
    """People with three rows each, half of whom the release is made from; the first row of each person is copied."""
    columns = {**COLUMNS, "who": {"role": "person"}}
    frame = folk(3 * people, 4).to_frame()
    frame["who"] = [f"p{i % people:03}" for i in range(3 * people)]
    return Schema.from_dict({"columns": columns}), frame


def test_people_are_drawn_whole_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, frame = several_rows(60)
    inside = frame["who"] < "p030"
    made = frame[inside].drop_duplicates("who").drop(columns="who")
    given = {"original": frame[inside], "no_match": True, "holdout": frame[~inside]}
    asked = ("linkability", "inference", "attribution", "closeness")
    for drawn in (30, 12):
        monkeypatch.setattr("auditor.auditing.sides.MOST_CONTROLS", drawn)
        settings = {"linkability": {"targets": drawn}}
        record = audit(made, schema, **given, options=Options(attacks=asked, utility=(), settings=settings))
        found = {(r.attack, r.measure, r.link): r for r in record.risks}
        linked = found["linkability", "success", None]
        assert (linked.n, linked.detail["control_n"]) == (drawn, drawn)
        guessed = found["inference", "success", "containment"]
        assert (guessed.n, guessed.detail["control_n"]) == (30, drawn)
        returned = found["attribution", "replicated", None]
        assert (returned.n, returned.detail["control_n"]) == (30, drawn)
        if drawn == 30:
            assert found["closeness", "identifiability", None].n == 15  # as many as outsiders who are not the reference


def test_nobody_is_learned_from_and_a_control_at_once() -> None:
    schema, frame = several_rows(60)
    inside = frame["who"] < "p030"
    sources = Sources(frame[inside].drop(columns="who"), schema, frame[inside], no_match=True, holdout=frame[~inside])
    made = by_people(with_holdout(read_subject(sources, 1)))
    sides = Sides(made, Options()).facing(Adversary(Stance.PROSECUTOR, "learned", sample=0.5))
    known = sides.outsiders()
    assert known is not None
    assert known.auxiliary is not None
    assert (known.people, known.targets, known.auxiliary.rows) == (15, 45, 45)


def test_of_the_people_asked_about_each_has_the_highest_score_of_their_rows() -> None:
    claims = MemberClaims({"near": np.array([0.1, 0.9, 0.4])}, "sample", 0.5, asked=np.array([0, 2, 3]))
    assert members_of(claims, np.array([5, 6, 5, 7])).scores["near"].tolist() == [0.9, 0.4]


def test_who_is_drawn_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(1)
    codes, person = rng.integers(0, 99, (90, 3)).astype(np.int32), rng.integers(0, 30, 90)
    order = rng.permutation(90)
    drawn = []
    for rows in (np.arange(90), order):
        knowledge = Knowledge(("a", "b", "c"), codes[rows], person=person[rows])
        place = knowledge.some_people(7, np.random.default_rng(2))
        assert knowledge.take(place).people == 7
        assert set(rows[place].tolist()) == set(np.flatnonzero(np.isin(person, person[rows[place]])).tolist())
        drawn.append(np.sort(rows[place]).tolist())
    assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_singling_out_is_judged_in_the_original() -> None:
    options = Options(attacks=("singling-out",), utility=(), settings={"singling-out": {"predicates": 60}})
    copied, harmless = (
        {r.measure: r for r in run_audit(subject(how, 150, 2), options).risks} for how in (copying, by_margins)
    )
    assert copied["success"].value is not None
    assert copied["success"].value > 0.8
    assert copied["success"].detail["excess"]["low"] > 0.5
    assert harmless["success"].detail["excess"]["low"] <= 0.05


def test_the_command_line(folder: Path, auditor_cli: Cli) -> None:
    given = ("audit", folder / "made.csv", "--schema", folder / "schema.toml", "--original", folder / "members.csv")
    lost = auditor_cli(*given)
    assert lost.code == 2
    assert "--no-match" in lost.err
    held = ("--no-match", "--holdout", folder / "others.csv", "--attacks", "linkability,closeness", "--utility", "none")
    reports = ("--html", folder / "r.html", "--markdown", folder / "r.md", "--policy", "k5")
    ended = auditor_cli(*given, *held, *reports)
    assert ended.code == 3  # not judged
    screen = " ".join(ended.out.split())
    assert "80 made-up rows" in screen
    assert "can be joined through the release" in screen
    assert " k = " not in screen
    assert "do not apply to a synthetic release" in screen
    assert "made-up rows" in (folder / "r.html").read_text(encoding="utf-8")
    assert "made-up row" in (folder / "r.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_frontier_for_all_kinds() -> None:
    made = subject(copying, 80, 6, others=160)
    assert made.people is not None
    table, outside = made.people.take(np.arange(80)), np.arange(80, 240)
    release, whose = anonymize(table, "mondrian", 3, k=5)
    grouped = Subject(release, table, whose, True, made.people, outside)
    options = Options(attacks=("membership", "synthetic-membership", "homogeneity", "inference"), utility=())
    records = [run_audit(one, options) for one in (made, grouped)]
    both = choose(records)
    assert both is not None
    assert both.goal == GOALS["membership"]  # the rows of one of them are nobody's
    for goal in ("value", "membership"):
        chosen = choose(records, goal=GOALS[goal])
        assert chosen is not None
        assert chosen.goal == GOALS[goal]
        found = [strongest(record, chosen) for record in records]
        assert found[0] is not None
        assert found[1] is not None
        assert found[0].value > found[1].value  # a copy gives more away than classes of five


def test_the_record_is_valid_and_every_report_renders_it(frames: dict[str, pd.DataFrame]) -> None:
    options = Options(attacks=("linkability", "closeness", "linking"), utility=())
    record = run_audit(subject(by_margins, 60, 1), options)
    others = {"holdout": frames["others"][:60], "reference": frames["others"][60:]}
    read = audit(frames["made"], SCHEMA, original=frames["members"], no_match=True, options=options, **others)
    assert {"holdout", "reference"} <= {one.role for one in read.inputs}
    text = (resources.files("auditor.model.record") / "schemas" / "record-2.json").read_text(encoding="utf-8")
    for one in (record, read):
        assert list(Draft202012Validator(json.loads(text)).iter_errors(json.loads(one.to_json()))) == []
    assert len(record.to_frame()) == len(record.risks)
    run = RunRecord("made up", 1, (record,), record.tool)
    assert record.release.sensitive[0].l_distinct is not None  # a fact about the file, and of no use to a reader
    for render in (render_markdown, render_html, render_terminal):
        text = render(run)
        assert "made-up rows" in text
        assert not any(word in text for word in ("Class statistics", "smallest class", "Class sizes", "l_distinct"))


def test_nobody_is_known_better_than_others(frames: dict[str, pd.DataFrame]) -> None:
    # A column that the holdout lacks is not used of members either, though the reference has it.
    given = {"original": frames["members"], "no_match": True, "options": Options(attacks=("closeness",), utility=())}
    lacking = {"holdout": frames["others"][:60].drop(columns="income"), "reference": frames["others"][60:]}
    without = {name: frame.drop(columns="income", errors="ignore") for name, frame in lacking.items()}
    found, expected = (audit(frames["made"], SCHEMA, **some, **given) for some in (lacking, without))
    assert [r.value for r in found.risks] == pytest.approx([r.value for r in expected.risks])


@pytest.mark.slow
def test_a_scenario(folder: Path, auditor_cli: Cli) -> None:
    (folder / "s.toml").write_text(
        '[data]\nfile = "members.csv"\nschema = "schema.toml"\n\n[[release]]\nfile = "made.csv"\nno_match = true\n'
        'holdout = "others.csv"\n\n[attacks]\nrun = ["linkability"]\n\n[utility]\nrun = []\n'
    )
    ended = auditor_cli("redteam", folder / "s.toml", "-o", folder / "out")
    assert ended.code == 0, ended.err
    assert "can be joined through the release" in " ".join(ended.out.split())


def test_a_subject_needs_to_know_whom_it_was_made_from() -> None:
    made = subject(by_margins, 30, 1)
    assert made.provenance is not None
    with pytest.raises(UsageError, match="made_from"):
        run_audit(Subject(made.release, made.people, replace(made.provenance, made_from=None)), QUICK)
    with pytest.raises(UsageError, match="--sample"):
        run_audit(made, replace(QUICK, sample=10))


def test_nobody_is_said_to_be_in_a_synthetic_release() -> None:
    said = PROSECUTOR.sentence(("age", "sex"), None, synthetic=True)
    assert (
        said == "The prosecutor knows a person's age and sex; to tell who is in the data, all their published values."
    )
    assert "published" not in replace(PROSECUTOR, knows=("age",)).sentence(("age", "sex"), None, synthetic=True)


LINKED_LITTLE = parse_policy(
    "own", {"title": "own", "source": "own", "check": [{"figure": "linkability.success", "at_most": 1.0}]}
)


@pytest.mark.parametrize("role", ["ignore", "neutral"])
def test_a_column_of_real_telephone_numbers_never_passes(role: str) -> None:
    schema = Schema.from_dict({"columns": {"age": COLUMNS["age"], "town": COLUMNS["town"], "phone": {"role": role}}})
    rng = np.random.default_rng(1)
    both = pd.DataFrame(
        {"age": rng.integers(20, 60, 80), "town": rng.integers(0, 3, 80), "phone": np.arange(80) + 10**6}
    )
    both = both.astype(str)
    made = both.iloc[:40].assign(age="30")
    given = {"original": both.iloc[:40], "no_match": True, "holdout": both.iloc[40:]}
    record = audit(made, schema, **given, options=replace(QUICK, policy=LINKED_LITTLE))
    assert [one.column for one in record.release.distinct] == ["phone"]
    assert record.policy is not None
    assert not record.policy.passed
    without = audit(made[["age", "town"]], schema, **given, options=replace(QUICK, policy=LINKED_LITTLE))
    assert without.policy is not None
    assert without.policy.passed


def test_nothing_is_judged_where_outsiders_are_the_members() -> None:
    members = pd.DataFrame({"age": [str(20 + i) for i in range(40)], "town": ["a", "b"] * 20})
    schema = Schema.from_dict({"columns": {"age": COLUMNS["age"], "town": COLUMNS["town"]}})
    options = replace(QUICK, policy=LINKED_LITTLE)
    record = audit(members, schema, original=members, no_match=True, holdout=members, options=options)
    assert record.policy is None
    assert "most outsiders have the very values" in next(n.text for n in record.notes if n.kind == NoteKind.NOT_JUDGED)


@pytest.mark.parametrize("named", [False, True])
def test_a_reference_is_other_people_than_those_asked_about(named: bool, frames: dict[str, pd.DataFrame]) -> None:
    columns = {**COLUMNS, **({"who": {"role": "identifier"}} if named else {})}
    schema, everybody = Schema.from_dict({"columns": columns}), frames["everybody"].reset_index(drop=True)
    if named:
        everybody["who"] = [f"p{i}" for i in range(len(everybody))]
    given = {"original": everybody[:80], "no_match": True, "holdout": everybody[80:120]}
    options = Options(attacks=("closeness",), utility=())
    clean = audit(frames["made"], schema, reference=everybody[120:], **given, options=options)
    assert not any("reference" in note.text for note in clean.notes)
    mixed = audit(frames["made"], schema, reference=everybody[70:], **given, options=options)
    (told,) = [note for note in mixed.notes if "of the reference" in note.text]
    assert told.text.startswith("50 of 90 rows of the reference are those of people who are asked about")
    assert told.kind == NoteKind.DOUBT
    assert [r.value for r in mixed.risks] == [r.value for r in clean.risks]
    with pytest.raises(UsageError, match="90 of its 90 rows are those of people who are asked about"):
        audit(frames["made"], schema, reference=everybody[30:120], **given, options=options)


def test_a_target_who_was_held_out_is_said_to_be_an_outsider() -> None:
    made = subject(copying, 60, 2)
    (risk,) = run_audit(made, replace(QUICK, targets=(70,))).risks
    assert "the people named as targets are outsiders" in str(risk.reason)
    both = run_audit(made, replace(QUICK, targets=(3, 70)))
    assert [r.n for r in both.risks] == [1]
    assert any("1 of 2 targets are outsiders" in note.text for note in both.notes)


def test_people_alike_by_chance_are_a_reference() -> None:
    rng = np.random.default_rng(3)
    members, others, more = (
        pd.DataFrame({"town": rng.choice(list("abc"), 60), "job": rng.choice(list("xyz"), 60)}) for _ in range(3)
    )
    schema = Schema.from_dict({"columns": {c: {"role": "quasi"} for c in ("town", "job")}})
    options = Options(attacks=("closeness",), utility=())
    record = audit(members, schema, original=members, no_match=True, holdout=others, reference=more, options=options)
    assert not any("of the reference" in note.text for note in record.notes)


def test_a_holdout_must_say_whose_rows_are_where_the_original_does() -> None:
    schema = Schema.from_dict({"columns": {"pid": {"role": "person"}, "age": COLUMNS["age"], "town": COLUMNS["town"]}})
    people = pd.DataFrame({"pid": ["1", "1", "2"], "age": ["20", "21", "30"], "town": ["a", "b", "a"]})
    with pytest.raises(UsageError, match="must have the column 'pid' too"):
        audit(people[["age", "town"]], schema, original=people, no_match=True, holdout=people[["age", "town"]])
