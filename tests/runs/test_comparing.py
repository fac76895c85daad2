"""Comparing: the plan, the points of a hand-made record set, what becomes of cells that give no release."""

from __future__ import annotations

import dataclasses
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import auditor
from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from attacks import ATTACKS
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.engines.worker import carry_out
from auditor.model.errors import UsageError
from auditor.model.record.comparison import Axis, Comparison, LeftOut, Point, RunCell
from auditor.model.record.record import OK, AuditRecord, PolicyVerdict, Risk, RunRecord, Utility
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.links import LINKS, Link
from auditor.runs.comparing import Limits, compare, held_out, read_world
from auditor.runs.mechanisms import ProgramMechanism
from auditor.runs.placing import Placed, RiskChoice, comparison
from auditor.runs.plan import Cell, Grid, grid, mapped, plan
from auditor.runs.store import to_do
from auditor.runs.worker import CellJob, CellWork
from auditor.runs.worlds import World
from reports import render_html, render_markdown, render_terminal
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options

CANARY = "canary-8417"
SCHEMA: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi", "taxonomy": {"North": ["A", "B"], "South": ["C", "D"]}},
        "disease": {"role": "sensitive"},
    }
}
FEW = Options(attacks=("linking", "homogeneity"))


def frame(rows: int = 60) -> pd.DataFrame:
    draw = random.Random(5)
    return pd.DataFrame(
        {
            "age": [draw.randrange(20, 60) for _ in range(rows)],
            "town": [draw.choice("ABCD") for _ in range(rows)],
            "disease": [draw.choice(["flu", "cold", "HIV", CANARY]) for _ in range(rows)],
        }
    )


def world(schema: dict[str, Any] = SCHEMA, rows: int = 60) -> World:
    return read_world(frame(rows), Schema.from_dict(schema), None, 1)


def cells(asked: Grid, of: World | None = None, options: Options = FEW) -> list[Cell]:
    return plan(asked, of or world(), options)


# ----- the plan ------------------------------------------------------------------------------------------------------


def test_k_and_l_set_what_a_method_calls_them() -> None:
    assert mapped("mondrian") == {"k": "k", "l": "l"}
    assert mapped("rgather") == {"k": "r"}
    assert mapped("slicing") == {"k": "bucket_size", "l": "l"}
    assert mapped("anatomy") == {"l": "l"}
    assert mapped("identity") == mapped("grading") == {}


def test_methods_by_settings_by_seeds() -> None:
    found = cells(grid(["mondrian", "rgather", "anatomy", "identity"], [3, 5], [None, 2], seeds=[7, 8]))
    # mondrian 2 k × 2 l, rgather 2, anatomy 1 (it has no releases without l), identity 1; each with two seeds
    assert [(c.method, dict(c.params)) for c in found if c.seed == 7] == [
        ("mondrian", {"k": 3}),
        ("mondrian", {"k": 3, "l": 2}),
        ("mondrian", {"k": 5}),
        ("mondrian", {"k": 5, "l": 2}),
        ("rgather", {"r": 3}),
        ("rgather", {"r": 5}),
        ("anatomy", {"l": 2}),
        ("identity", {}),
    ]
    assert found[0].point == "mondrian k=3"
    assert [c.name for c in found[:2]] == ["mondrian k=3 seed=7", "mondrian k=3 seed=8"]
    assert len({c.id for c in found}) == len(found) == 16


def test_settings_of_a_method_come_before_k_and_l() -> None:
    asked = grid(["mondrian", "kmember"], [5], settings={"mondrian": {"k": ["2", "4"], "strict": ["true", "false"]}})
    names = [c.name for c in cells(asked)]
    assert names == [
        "mondrian k=2", "mondrian k=2 strict=false", "mondrian k=4", "mondrian k=4 strict=false", "kmember k=5",
    ]  # fmt: skip


def test_the_same_cell_is_planned_once_and_equal_titles_are_told_apart() -> None:
    blocks = ['[["age"], ["town", "disease"]]', '[["town"], ["age", "disease"]]']
    asked = grid(["slicing", "slicing"], [5, 5], settings={"slicing": {"columns": blocks}})
    assert [c.point for c in cells(asked)] == ["slicing bucket_size=5", "slicing bucket_size=5 (2)"]


def test_all_methods() -> None:
    assert grid(["all"]).methods == tuple(ANONYMIZERS.all())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"methods": ["mondrain"]}, "Did you mean 'mondrian'"),
        ({"methods": []}, "at least one method"),
        ({"methods": ["mondrian"], "k": [0]}, "k must be at least 1"),
        ({"methods": ["mondrian"], "settings": {"mondrian": {"kk": ["1"]}}}, "no setting 'kk'"),
        ({"methods": ["mondrian"], "settings": {"oka": {"k": ["1"]}}}, "not among the methods"),
    ],
)
def test_wrong_grids(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        grid(**given)


def test_a_setting_of_the_wrong_kind_stops_before_any_work() -> None:
    with pytest.raises(UsageError, match="t must be a number"):
        cells(grid(["mondrian"], [3], settings={"mondrian": {"t": ["abc"]}}))


def test_ids_change_with_all_that_the_result_depends_on() -> None:
    asked = grid(["mondrian"], [3])
    base = cells(asked)[0].id
    assert cells(asked)[0].id == base
    other_tree = json.loads(json.dumps(SCHEMA))
    other_tree["columns"]["town"]["taxonomy"] = {"East": ["A", "C"], "West": ["B", "D"]}
    other_role = json.loads(json.dumps(SCHEMA))
    other_role["columns"]["town"]["role"] = "neutral"
    changed = [
        cells(asked, world(other_tree))[0].id,
        cells(asked, world(other_role))[0].id,
        cells(asked, world(rows=59))[0].id,
        cells(asked, read_world(frame(), Schema.from_dict(SCHEMA), 0.5, 1))[0].id,
        cells(asked, read_world(frame(), Schema.from_dict(SCHEMA), 0.5, 2))[0].id,
        cells(asked, options=replace(FEW, attacks=("linking",)))[0].id,
        cells(asked, options=replace(FEW, settings={"linking": {"threshold": "0.1"}}))[0].id,
        cells(asked, options=replace(FEW, policy=auditor.read_policy("k5")))[0].id,
        cells(asked, options=replace(FEW, utility=("queries",)))[0].id,
        cells(grid(["mondrian"], [3], seeds=[4]))[0].id,
        cells(grid(["mondrian"], [4]))[0].id,
    ]
    assert len({base, *changed}) == 1 + len(changed)


def test_what_is_run_again() -> None:
    slow = RunCell("x", "x", "m", {}, 1, "timeout", "more than 60 s", limits={"timeout": 60.0})
    crashed = replace(slow, status="failed", limits={"timeout": 60.0, "memory": 500})
    refused = RunCell("x", "x", "m", {}, 1, "not_applicable", "no")
    done = RunCell("x", "x", "m", {}, 1)
    assert to_do(None, None, None, False)
    assert [to_do(c, 60, 500, False) for c in (slow, crashed, refused, done)] == [False] * 4
    assert [to_do(c, 60, 500, True) for c in (slow, crashed, refused, done)] == [True, True, True, False]
    assert to_do(slow, 61, None, False)
    assert to_do(slow, None, None, False)
    assert not to_do(crashed, 600, 500, False)
    assert to_do(crashed, 60, 501, False)


# ----- points --------------------------------------------------------------------------------------------------------


def record(name: str, excess: dict[str, float], queries: float | None, passed: bool | None = None) -> AuditRecord:
    risks = [
        Risk(
            attack,
            "prosecutor",
            "class",
            "success",
            value=value,
            n=100,
            detail={"excess": {"value": value, "over": "control"}},
            sensitive="disease",
        )
        for attack, value in excess.items()
    ]
    verdict = None if passed is None else PolicyVerdict("p", "p", "s", (), passed)
    utility = (
        [] if queries is None else [Utility("queries", value=queries, better="lower", params={"statistic": "median"})]
    )
    facts = ReleaseFacts(name, "generalised", 100, 0, "excluded", 20, 5, {"5": 20})
    known = [ATTACKS.get(name).facts() for name in ("homogeneity", "proximity", "divergence")]
    return AuditRecord(1, facts, risks, utility, verdict, attacks=known, links=LINKS)


def placed(point: str, seed: int, one: AuditRecord | None, status: str = "ok", reason: str | None = None) -> Placed:
    return Placed(point, RunCell(f"{point}-{seed}", f"{point} seed={seed}", "m", {}, seed, status, reason), one)


def hand_made() -> list[Placed]:
    # Strongest excess (divergence is a harm and does not count) and query error, over the seeds:
    #   a: 0.1 and 0.3 → 0.2; 0.4 and 0.4 → 0.4
    #   b: 0.2; 0.4: equal to a, so both are on the frontier
    #   c: 0.5 (proximity, more than homogeneity's 0.3); 0.1: on the frontier, the least error
    #   d: 0.5; 0.3: beaten by c, which has the same risk and less error
    #   e: 0.3; 0.4: beaten by a (first of the equal ones), the best error with at most its risk
    #   f: no query error; g: no attack succeeded at all; h: too slow
    return [
        placed("a", 1, record("a", {"homogeneity": 0.1, "divergence": 0.9}, 0.4, True)),
        placed("a", 2, record("a", {"homogeneity": 0.3}, 0.4, False)),
        placed("b", 1, record("b", {"homogeneity": 0.2}, 0.4, True)),
        placed("c", 1, record("c", {"homogeneity": 0.3, "proximity": 0.5}, 0.1)),
        placed("d", 1, record("d", {"homogeneity": 0.5}, 0.3)),
        placed("e", 1, record("e", {"homogeneity": 0.3}, 0.4)),
        placed("f", 1, record("f", {"homogeneity": 0.0}, None)),
        placed("g", 1, record("g", {}, 0.2)),
        placed("h", 1, None, "timeout", "more than 60 s"),
    ]


def test_a_hand_made_record_set() -> None:
    found = comparison(hand_made(), RiskChoice.read("strongest"), "queries")
    assert [(p.name, p.beaten_by) for p in found.points] == [
        ("a", None),
        ("b", None),
        ("c", None),
        ("e", "a"),
        ("d", "c"),
    ]
    assert [(p.risk, p.utility) for p in found.points] == [
        (pytest.approx(0.2), 0.4), (0.2, 0.4), (0.5, 0.1), (0.3, 0.4), (0.5, 0.3),
    ]  # fmt: skip
    a, _, c = found.points[:3]
    # t(0.975, 1 degree) = 12.7062; deviation of 0.1 and 0.3 is 0.141421; 12.7062 · 0.141421/√2 = 1.27062
    assert (a.seeds, a.passed, a.risk_low, a.risk_high) == (2, 1, pytest.approx(0.2 - 1.27062, abs=1e-4), 1)
    assert c.attack == "proximity of disease, class"
    assert (found.risk.adversary, found.risk.goal, found.risk.granted) == ("prosecutor", "attribute", True)
    assert (found.risk.figure, found.risk.excess, found.utility.figure) == ("strongest", True, "queries.median")
    assert found.left_out == (
        LeftOut("f seed=1", "no_figure", "it has no queries.median"),
        LeftOut("g seed=1", "no_figure", "it has no strongest"),
        LeftOut("h seed=1", "timeout", "more than 60 s"),
    )


def test_every_attack_counts_by_its_excess_over_the_baseline() -> None:
    # Of a release without a population deFinetti has no control of its own: it was dropped, however strong.
    draw, ills = random.Random(3), {"n": "flu", "s": "ulcer", "e": "cold", "w": "cough"}
    zips = [draw.choice("nsew") for _ in range(400)]
    data = {"zip": zips, "ill": [ills[z] if draw.random() < 0.7 else draw.choice(list(ills.values())) for z in zips]}
    schema = Schema.from_dict({"columns": {"zip": {"role": "quasi"}, "ill": {"role": "sensitive"}}})
    people = Table.from_frame(pd.DataFrame(data), schema, "t")
    release, provenance = anonymize(people, "anatomy", 1, l=2)
    options = Options(("homogeneity", "definetti"), (Link.CLASS,), (PROSECUTOR,), utility=())
    audited = run_audit(Subject(release, people, provenance), options)
    row = audited.find("definetti", "success", sensitive="ill")
    assert row.value is not None
    assert row.baseline is not None
    queries = record("a", {}, 0.4).utility
    found = comparison([placed("a", 1, replace(audited, utility=queries))], RiskChoice.read("strongest"), "queries")
    assert found.points[0].risk == pytest.approx((row.value - row.baseline) / (1 - row.baseline))
    assert found.points[0].risk > 0.1
    assert found.points[0].attack == "definetti of ill, class"
    assert found.risk.granted  # no other link ran


def test_a_granted_class_is_never_set_beside_one_that_was_found() -> None:
    a, b = record("a", {"homogeneity": 0.9}, 0.1), record("b", {"homogeneity": 0.6}, 0.2)
    found = [replace(r, link="tightest", value=v) for r, v in ((a.risks[0], 0.3), (b.risks[0], 0.4))]
    other = [replace(r, adversary="boss", value=0.35) for r in found]
    one, both = replace(a, risks=[*a.risks, found[0]]), replace(b, risks=[*b.risks, found[1], *other])

    def placed_by(risk: str, *records: AuditRecord) -> tuple[object, ...]:
        cells = [placed(r.release.name, 1, r) for r in records]
        made = comparison(cells, RiskChoice.read(risk), "queries")
        return made.risk.adversary, made.risk.granted, *(p.risk for p in made.points)

    assert placed_by("strongest", one, both) == ("prosecutor", False, 0.3, 0.4)  # the boss has no figure on a
    assert placed_by("homogeneity.success", one, both) == ("prosecutor", False, 0.3, 0.4)
    assert placed_by("strongest", a, both) == ("prosecutor", True, 0.6, 0.9)  # a has no other
    assert placed_by("homogeneity.success", a, both) == ("prosecutor", True, 0.6, 0.9)
    assert placed_by("boss:value", one, both) == ("boss", False, 0.35)
    with pytest.raises(UsageError, match="There is no adversary 'bos' to take the risk of"):
        placed_by("bos:value", one, both)


def test_axes_that_are_asked_for() -> None:
    found = comparison(hand_made(), RiskChoice.read("homogeneity.success@class"), "queries.median")
    # c now has homogeneity's 0.3 and beats e; nothing else changes
    assert [(p.name, p.beaten_by) for p in found.points][:4] == [("a", None), ("b", None), ("c", None), ("e", "c")]
    none = comparison(hand_made(), RiskChoice.read("homogeneity.success@tightest"), "queries")
    assert not none.points
    assert len(none.left_out) == 9


@pytest.mark.parametrize(
    "text",
    [
        "linking",
        "linking.",
        "linkink.success",
        "linking.success@klass",
        "linking.success@",
        "prosecutor:",
        "prosecutor:values",
    ],
)
def test_wrong_risks(text: str) -> None:
    with pytest.raises(UsageError):
        RiskChoice.read(text)


def test_the_table_in_every_report() -> None:
    run = RunRecord(
        "compared",
        1,
        tuple(p.record for p in hand_made() if p.record is not None),
        {"name": "auditor", "version": "0"},
        cells=tuple(p.cell for p in hand_made()),
        comparison=comparison(hand_made(), RiskChoice.read("strongest"), "queries"),
    )
    assert RunRecord.from_json(run.to_json()).to_json() == run.to_json()
    _valid(run)
    for text in (render_terminal(run), render_markdown(run), render_html(run)):
        assert "nobody" in text
        assert "more than 60 s" in text
        assert "too slow" in text


def _valid(run: RunRecord) -> None:
    folder = Path(auditor.__file__).parent / "model" / "record" / "schemas"
    schemas = {name: json.loads((folder / f"{name}-2.json").read_text()) for name in ("record", "run")}
    registry: Registry[Any] = Registry().with_resources(
        [(f"urn:auditor:{name}-2", Resource.from_contents(schema)) for name, schema in schemas.items()]
    )
    Draft202012Validator(schemas["run"], registry=registry).validate(json.loads(run.to_json()))


@pytest.mark.parametrize(
    ("kind", "part"),
    [(RunCell, "cell"), (Axis, "axis"), (Point, "point"), (LeftOut, "left_out"), (Comparison, "comparison")],
)
def test_the_schema_names_the_fields(kind: type[Any], part: str) -> None:
    file = Path(auditor.__file__).parent / "model" / "record" / "schemas" / "run-2.json"
    described = json.loads(file.read_text())["$defs"][part]
    assert set(described["properties"]) == set(described["required"]) == {f.name for f in dataclasses.fields(kind)}
    assert described["additionalProperties"] is False


# ----- a holdout -----------------------------------------------------------------------------------------------------


def test_a_synthesizer_among_the_methods_asks_for_a_holdout() -> None:
    plain, mixed, alone = (
        grid(methods, [2], [2]) for methods in (["mondrian", "mdav"], ["mondrian", "cart"], ["cart"])
    )
    program = grid([], [2], [2], programs={"mine": ProgramMechanism.of("cp {in} {out}")})
    assert held_out(plain, None, None) is None
    assert held_out(mixed, None, None) == held_out(program, None, None) == 0.5
    assert held_out(mixed, 1.0, None) is None  # asked for: everybody is released
    assert held_out(plain, None, 0.2) == 0.2
    with pytest.raises(UsageError, match="either holdout or sample"):
        held_out(alone, 0.5, 0.5)
    for share in (0.0, 1.0):
        with pytest.raises(UsageError, match="holdout must be above 0 and below 1"):
            held_out(alone, None, share)


def test_all_methods_have_the_same_members_and_outsiders(monkeypatch: pytest.MonkeyPatch) -> None:
    here = read_world(frame(60), Schema.from_dict(SCHEMA), None, 1, holdout=0.4)
    assert (here.people.rows, len(here.outsiders)) == (36, 24)
    assert here.population is not None
    members = np.setdiff1d(np.arange(60), here.outsiders)
    for column, codes in here.people.codes.items():
        assert (codes == here.population.codes[column][members]).all()
    seen: list[Subject] = []

    def audited(subject: Subject, options: Options) -> AuditRecord:
        seen.append(subject)
        return run_audit(subject, options)

    monkeypatch.setattr("auditor.runs.worker.run_audit", audited)
    for method, params in (("mondrian", {"k": 3}), ("cart", {}), ("marginals", {"epsilon": 1.0})):
        reply = carry_out(CellJob("x", None, method, params, 1), CellWork(None, here, FEW))
        assert reply.status == OK, reply.reason
        subject = seen[-1]
        assert subject.release.synthetic is (method != "mondrian")
        assert subject.people is here.people
        assert subject.outsiders is here.outsiders
        assert subject.provenance is not None
        made_from = subject.provenance.made_from
        assert made_from is None if method == "mondrian" else made_from is not None and made_from.all()
        record = AuditRecord.from_json(reply.result or "", "x")
        assert any("made from 36 of 60 rows" in note.text for note in record.notes)


@pytest.mark.parametrize(
    ("method", "settings"), [("mondrian", {"k": 3}), ("cart", {}), ("marginals", {"epsilon": 2.0})]
)
def test_utility_is_that_of_the_people_of_whom_the_release_was_made(method: str, settings: dict[str, Any]) -> None:
    table = Table.from_frame(frame(60), Schema.from_dict(SCHEMA))
    release, provenance = anonymize(table, method, 1, holdout=0.3, **settings)
    members = provenance.made_from
    assert members is not None
    options = Options(attacks=(), utility=("queries", "marginals", "classification", "discernibility"))
    found = run_audit(Subject(release, table, provenance), options).utility
    inside = members[members] if release.synthetic else None
    alone = replace(
        provenance, bucket=provenance.bucket[members], fragment=provenance.fragment[members], made_from=inside
    )
    holdout = Subject(release, table.take(np.flatnonzero(members)), alone, True, table, np.flatnonzero(~members))
    assert found == run_audit(holdout, options).utility
    by_name = {row.measure: row for row in found}
    assert by_name["queries"].params["rows_original"] == 42
    assert by_name["classification"].params["tested"] == (42 if method == "mondrian" else 18)
    assert by_name["discernibility"].status == (OK if method == "mondrian" else "not_applicable")


# ----- cells ---------------------------------------------------------------------------------------------------------


def test_a_cell_that_cannot_be_made_says_why_without_values() -> None:
    few = frame(8)
    few["disease"] = [CANARY] * 5 + ["flu"] * 3  # 5 of 8 have one value: more than n/l = 4
    here = read_world(few, Schema.from_dict(SCHEMA), None, 1)
    reply = carry_out(CellJob("x", None, "anatomy", {"l": 2}, 1), CellWork(None, here, FEW))
    assert (reply.status, reply.result) == ("not_applicable", None)
    assert reply.reason is not None
    assert "no value of 'disease' may have more than n/l = 4.0 rows" in reply.reason
    assert CANARY not in reply.reason
    reply = carry_out(CellJob("x", None, "mondrian", {"k": 9}, 1), CellWork(None, here, FEW))
    assert reply.reason == "mondrian: k must be at most the number of rows. Got k = 9 and 8 rows."


def test_an_error_of_ours_is_said_of_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("auditor.runs.worker.anonymize", broken)
    reply = carry_out(CellJob("x", None, "identity", {}, 1), CellWork(None, world(), FEW))
    assert reply.status == "failed"
    assert reply.reason is not None
    assert reply.reason.startswith("internal error: ValueError in test_comparing.py, line ")
    monkeypatch.setattr("auditor.runs.worker.anonymize", lambda *_: [0] * 2**62)
    reply = carry_out(CellJob("x", None, "identity", {}, 1), CellWork(900, world(), FEW))
    assert (reply.status, reply.reason) == ("failed", "out of memory: more than 900 MB")


PLUGIN = """
import os, signal
from dataclasses import dataclass
from typing import ClassVar
from anonymizers.base import Anonymizer

@dataclass(frozen=True)
class _Bad(Anonymizer):
    summary: ClassVar[str] = "for a test"
    paper: ClassVar[str] = "none"
    def promises(self, sensitive=None):
        return ()

@dataclass(frozen=True)
class Endless(_Bad):
    name: ClassVar[str] = "endless"
    def anonymize(self, table, rng, progress=None):
        print("what a plug-in prints does no harm", flush=True)
        while True:
            pass

@dataclass(frozen=True)
class Crashing(_Bad):
    name: ClassVar[str] = "crashing"
    def anonymize(self, table, rng, progress=None):
        os.kill(os.getpid(), signal.SIGSEGV)

@dataclass(frozen=True)
class Killed(_Bad):
    name: ClassVar[str] = "killed"
    def anonymize(self, table, rng, progress=None):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_slow_and_crashing_methods_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad_methods.py").write_text(PLUGIN)
    facts = tmp_path / "bad_methods-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-methods\nVersion: 1\n")
    names = {"endless": "Endless", "crashing": "Crashing", "killed": "Killed"}
    listed = "".join(f"{name} = bad_methods:{kind}\n" for name, kind in names.items())
    (facts / "entry_points.txt").write_text(f"[auditor.plugins]\n{listed}")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "out"
    run = compare(
        frame(),
        Schema.from_dict(SCHEMA),
        methods=[*names],
        seeds=1,
        options=FEW,
        limits=Limits(timeout=1, jobs=1),
        folder=folder,
    )
    assert [(c.name, c.status, c.reason) for c in run.cells] == [
        ("endless", "timeout", "more than 1 s"),
        ("crashing", "failed", "the process crashed (SIGSEGV)"),
        ("killed", "failed", "the process was ended from outside, perhaps because memory ran out"),
    ]
    assert run.records == ()
    assert run.comparison is not None
    assert [(one.name, one.status) for one in run.comparison.left_out] == [
        ("endless", "timeout"), ("crashing", "failed"), ("killed", "failed"),
    ]  # fmt: skip
    _valid(run)
    assert "Left out of the picture" in render_terminal(run)
    kept = {file: file.stat().st_mtime_ns for file in (folder / "cells").iterdir()}
    again = compare(
        frame(), Schema.from_dict(SCHEMA), methods=[*names], options=FEW, limits=Limits(timeout=1), folder=folder
    )
    assert again.to_json() == run.to_json()
    assert {file: file.stat().st_mtime_ns for file in (folder / "cells").iterdir()} == kept
