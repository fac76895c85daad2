"""The record as JSON: a contract, checked against its published JSON Schema."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from auditor.auditing.audit import audit
from auditor.model.errors import RecordError
from auditor.model.record.bound import Bound, Contender
from auditor.model.record.meaning import Better, Criterion, LinkFacts, Measure, Note, NoteKind
from auditor.model.record.meaning import Kind as FigureKind
from auditor.model.record.policy import parse_policy
from auditor.model.record.record import (
    NOT_APPLICABLE,
    OK,
    AdversaryFacts,
    AttackFacts,
    AuditRecord,
    Input,
    Lack,
    PolicyCheck,
    PolicyVerdict,
    Risk,
    RunRecord,
    Utility,
    read_run,
)
from auditor.model.record.release_facts import ChoiceFacts, ClassRisk, ReleaseFacts, SensitiveFacts, WeightedRisk
from auditor.model.release import Kind, Suppression
from auditor.model.schema import Schema
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.support.record_samples import empty_run, sample_run

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "numeric"},
            "town": {"role": "quasi", "taxonomy": {"North": ["A", "B"], "South": ["C", "D"]}},
            "disease": {"role": "sensitive"},
            "income": {"role": "sensitive", "type": "numeric"},
        }
    }
)
ORIGINAL = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cas", "Dee", "Eve", "Fay"],
        "age": [20, 25, 30, 40, 45, 50],
        "town": ["A", "B", "A", "C", "D", "D"],
        "disease": ["flu", "flu", "flu", "HIV", "flu", "cold"],
        "income": [10, 20, 30, 40, 50, 60],
    }
)
RELEASE = pd.DataFrame(
    {
        "age": ["[20, 30]"] * 3 + ["[40, 50]"] * 3,
        "town": ["North"] * 3 + ["South"] * 3,
        "disease": ORIGINAL["disease"],
        "income": ORIGINAL["income"],
    }
)
POLICY = parse_policy(
    "mine",
    {
        "check": [
            {"figure": "release.k", "at_least": 3},
            {"figure": "linking.max", "at_most": 0.2},
            {"figure": "release.t_hierarchical", "at_most": 0.5},
        ]
    },
)


def schema_named(name: str) -> Any:
    return json.loads(
        (resources.files("auditor.model.record") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    )


def validator(name: str) -> Draft202012Validator:
    known = [schema_named(n) for n in ("record-2", "run-2")]
    registry: Registry[Any] = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in known])
    Draft202012Validator.check_schema(schema_named(name))
    return Draft202012Validator(schema_named(name), registry=registry)


def faults(name: str, data: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(data)]


@pytest.fixture(scope="module")
def made() -> AuditRecord:
    return audit(RELEASE, SCHEMA, original=ORIGINAL, match="rows", options=Options(policy=POLICY))


def empty() -> AuditRecord:
    facts = ReleaseFacts("nothing", "generalised", 0, 0, "excluded", 0, None, {})
    return AuditRecord(seed=1, release=facts, risks=())


def test_an_audit_meets_the_schema(made: AuditRecord) -> None:
    assert faults("record-2", json.loads(made.to_json())) == []
    # Two classes of three; in the first all have flu; linking.max is 1/3 under the granted class.
    assert made.release.k == 3
    assert made.release.class_sizes == {"3": 2}
    assert made.find("linking", "max", link="class").value == pytest.approx(1 / 3)
    assert made.find("homogeneity", "certain", link="class", sensitive="disease").value == 3
    assert made.policy is not None
    assert [check.passed for check in made.policy.checks] == [True, False, None]
    assert {risk.status for risk in made.risks} == {"ok", NOT_APPLICABLE}


def test_an_audit_of_the_release_alone_meets_the_schema() -> None:
    record = audit(RELEASE, SCHEMA)
    assert faults("record-2", json.loads(record.to_json())) == []
    assert "There is no original" in record.notes[0].text


def test_an_empty_record_meets_the_schema() -> None:
    assert faults("record-2", json.loads(empty().to_json())) == []


def test_runs_meet_the_schema_which_refers_to_that_of_records(made: AuditRecord) -> None:
    run = RunRecord("two", 1, (made, empty()), {"name": "auditor"})
    assert faults("run-2", json.loads(run.to_json())) == []
    assert faults("run-2", json.loads(sample_run().to_json())) == []
    assert faults("run-2", json.loads(empty_run().to_json())) == []
    broken = json.loads(run.to_json())
    broken["records"][1]["seed"] = "one"
    assert faults("run-2", broken) == ["$.records[1].seed: 'one' is not of type 'integer'"]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("format",), "auditor-record/3", "'auditor-record/2' was expected"),
        (("extra",), 1, "'extra' was unexpected"),
        (("release", "kind"), "sanded", "'sanded' is not one of"),
        (("release", "suppression"), "hidden", "'hidden' is not one of"),
        (("release", "k"), 0, "0 is less than the minimum"),
        (("release", "class_sizes"), {"three": 1}, "'three' does not match"),
        (("risks", 0, "link"), "guess", "'guess' is not one of"),
        (("risks", 0, "status"), "fine", "'fine' is not one of"),
        (("risks", 0, "control_kind"), "nobody", "'nobody' is not one of"),
        (("risks", 0, "value"), "high", "'high' is not of type 'number', 'null'"),
        (("risks", 0, "worst_rows"), [0], "0 is less than the minimum"),
        (("risks", 0, "colour"), "red", "'colour' was unexpected"),
        (("risks", 0, "status"), NOT_APPLICABLE, "None is not of type 'string'"),
        (("utility", 0, "better"), "bigger", "'bigger' is not one of"),
        (("policy", "checks", 0, "relation"), "<", "is not valid under any of the given schemas"),
        (("inputs", 0, "sha256"), "abc", "'abc' does not match"),
        (("inputs", 0, "role"), "spy", "'spy' is not one of"),
    ],
)
def test_a_broken_record_does_not_meet_the_schema(
    made: AuditRecord, path: tuple[str | int, ...], value: Any, fault: str
) -> None:
    data = json.loads(made.to_json())
    data["risks"].sort(key=lambda risk: risk["status"] != OK)  # the first is one that has a figure
    data |= {name: data[name][:2] for name in ("risks", "measures", "utility", "attacks")}  # checking all takes long
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert any(fault in found for found in faults("record-2", data)), faults("record-2", data)


def test_a_record_without_a_field_does_not_meet_the_schema(made: AuditRecord) -> None:
    data = json.loads(made.to_json())
    del data["risks"][0]["n"]
    assert faults("record-2", data) == ["$.risks[0]: 'n' is a required property"]


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (Input, "input"),
        (SensitiveFacts, "sensitive"),
        (ReleaseFacts, "release"),
        (ChoiceFacts, "choice"),
        (ClassRisk, "class_risk"),
        (WeightedRisk, "weighted_risk"),
        (Lack, "lack"),
        (AdversaryFacts, "adversary"),
        (AttackFacts, "attack"),
        (Measure, "measure"),
        (LinkFacts, "link"),
        (Note, "note"),
        (Risk, "risk"),
        (Utility, "utility"),
        (PolicyCheck, "check"),
        (PolicyVerdict, "policy"),
        (Bound, "bound"),
        (Contender, "contender"),
        (AuditRecord, None),
        (RunRecord, "run-2"),
    ],
)
def test_the_schema_names_the_fields_of_the_record(kind: type[Any], part: str | None) -> None:
    whole = schema_named("run-2" if part == "run-2" else "record-2")
    described = whole if part in (None, "run-2") else whole["$defs"][part]
    names = {field.name for field in dataclasses.fields(kind)}
    assert set(described["properties"]) == names
    assert set(described["required"]) == names
    assert described["additionalProperties"] is False


def test_the_schema_names_the_choices_of_the_code() -> None:
    parts = schema_named("record-2")["$defs"]
    assert set(parts["release"]["properties"]["kind"]["enum"]) == set(Kind)
    assert set(parts["release"]["properties"]["suppression"]["enum"]) == set(Suppression)
    assert set(parts["risk"]["properties"]["link"]["enum"]) >= {*Link, None}
    for part in (parts["risk"], parts["measure"]):
        assert set(part["properties"]["kind"]["enum"]) == set(FigureKind)
        assert set(part["properties"]["better"]["enum"]) == set(Better)
    assert set(parts["attack"]["properties"]["criterion"]["enum"]) == set(Criterion)
    assert set(parts["note"]["properties"]["kind"]["enum"]) == set(NoteKind)


def test_a_record_reads_back_as_it_was(made: AuditRecord) -> None:
    text = made.to_json()
    again = AuditRecord.from_json(text)
    assert again.to_json() == text
    assert again.release.k == made.release.k
    assert (
        again.find("linking", "max", link="class")
        == again.risks[made.risks.index(made.find("linking", "max", link="class"))]
    )
    assert again.policy is not None
    assert again.policy.checks[0].measure == "release.k"
    run = RunRecord("one", 1, (made,))
    assert RunRecord.from_json(run.to_json()).to_json() == run.to_json()


def test_a_single_record_reads_as_a_run(made: AuditRecord) -> None:
    run = read_run(made.to_json(), "here.json")
    assert (run.title, run.seed, len(run.records)) == (made.release.name, made.seed, 1)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.float64("nan")])
def test_numbers_that_are_not_finite_are_refused(number: float) -> None:
    for risk in (
        Risk("linking", "prosecutor", "class", "max", value=number),
        Risk("linking", "prosecutor", "class", "max", detail={"curve": [0.5, number]}),
    ):
        with pytest.raises(ValueError, match="must hold finite numbers"):
            dataclasses.replace(empty(), risks=(risk,)).to_json()


def test_numpy_values_become_plain_ones() -> None:
    risk = Risk(
        "linking", "prosecutor", "class", "max", value=np.float64(0.5), n=int(np.int64(3)), detail={"a": np.arange(2)}
    )
    data = json.loads(dataclasses.replace(empty(), risks=(risk,)).to_json())
    assert data["risks"][0]["value"] == 0.5
    assert data["risks"][0]["detail"] == {"a": [0, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "auditor-record/9"}, "old.json must have the format 'auditor-record/2'. Got 'auditor-record/9'."),
        ({"format": None}, "old.json must have the format 'auditor-record/2'."),
        ({"verdict": 1}, "old.json has fields this version does not know: verdict."),
        ({"risks": {}}, "old.json.risks must be a list. Got an object."),
        ({"risks": [{"attack": "linking"}]}, r"old.json.risks[0] lacks: adversary, link, measure."),
        ({"release": []}, "old.json.release must be an object. Got a list."),
        ({"seed": True}, "old.json.seed must be a whole number. Got true or false."),
        ({"seed": 10**400}, "old.json.seed must be a whole number. Got a number."),
        ({"notes": [{"text": 3}]}, "old.json.notes[0].text must be a text. Got a number."),
        ({"tool": {"name": None}}, "old.json.tool must be a text. Got nothing."),
    ],
)
def test_what_is_no_record_is_refused(change: dict[str, Any], message: str) -> None:
    data = {**json.loads(empty().to_json()), **change}
    with pytest.raises(RecordError) as caught:
        AuditRecord.from_json(json.dumps(data), "old.json")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"), [("{\n,}", "old.json must be JSON. Line 2:"), ("[]", "old.json must hold a JSON object")]
)
def test_what_is_no_json_object_is_refused(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        AuditRecord.from_json(text, "old.json")


def test_the_same_record_gives_the_same_bytes(made: AuditRecord) -> None:
    again = audit(RELEASE, SCHEMA, original=ORIGINAL, match="rows", options=Options(policy=POLICY))
    assert again.to_json() == made.to_json()
