"""Records of version 1, brought up to date when they are read.

Version 1 did not say what its figures mean: reports guessed it from the names of attacks and measures. Here a record of that
version gets the words that version 2 would have written: `version-1.json` holds the attacks, measures and links as they were
when version 2 began. What that file does not know (a figure of somebody's own attack) becomes a rate, or a count where it
could be no share. Early records of version 2 lack the plain titles of attacks, and get these.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

from auditor.model.record.meaning import Better, Kind, NoteKind

RECORD_1, RUN_1, RUN_2 = "auditor-record/1", "auditor-run/1", "auditor-run/2"
_NOTES = {"do not cover the original value": NoteKind.DOUBT, "policy was not judged": NoteKind.NOT_JUDGED}
"""How the notes of version 1 show what they are about."""


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a record or run as one of version 2; any other as it is."""
    if data.get("format") == RUN_1 and isinstance(data.get("records"), list):
        records = [_record(one) if isinstance(one, dict) else one for one in data["records"]]
        return {**data, "format": RUN_2, "records": records}
    if data.get("format") == RUN_2 and isinstance(data.get("records"), list):
        return {**data, "records": [_titled(one) if isinstance(one, dict) else one for one in data["records"]]}
    return _record(data)


def _titled(data: dict[str, Any]) -> dict[str, Any]:
    """A record of version 2 whose attacks have their titles."""
    if not isinstance(data.get("attacks"), list):
        return data
    titles = {attack["name"]: attack["title"] for attack in _words()["attacks"]}
    named = [
        {**one, "title": titles[one["name"]]} if _lacks_title(one) and one["name"] in titles else one
        for one in data["attacks"]
    ]
    return {**data, "attacks": named}


def _lacks_title(attack: Any) -> bool:
    return isinstance(attack, dict) and "title" not in attack and isinstance(attack.get("name"), str)


def _record(data: dict[str, Any]) -> dict[str, Any]:
    if data.get("format") != RECORD_1:
        return _titled(data)
    words = _words()
    made = {**data, "format": "auditor-record/2", "measures": words["measures"], "links": words["links"]}
    known = {(measure["of"], measure["name"]): measure for measure in words["measures"]}
    attacks = {attack["name"]: attack for attack in words["attacks"]}
    if isinstance(data.get("risks"), list):
        made["risks"] = [{**one, **_kind(one, known)} if isinstance(one, dict) else one for one in data["risks"]]
    if isinstance(data.get("attacks"), list):
        made["attacks"] = [_attack(one, attacks) if isinstance(one, dict) else one for one in data["attacks"]]
    if isinstance(data.get("notes"), list):
        made["notes"] = [_note(one) if isinstance(one, str) else one for one in data["notes"]]
    return made


@functools.cache
def _words() -> dict[str, Any]:
    file = resources.files("auditor.model.record") / "schemas" / "version-1.json"
    words: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return words


def _kind(risk: dict[str, Any], known: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    measure = known.get((str(risk.get("attack")), str(risk.get("measure"))))
    if measure is not None:
        return {"kind": measure["kind"], "better": measure["better"]}
    value = risk.get("value")
    counted = isinstance(value, int | float) and not 0 <= value <= 1
    return {"kind": Kind.COUNT if counted else Kind.RATE, "better": Better.LOWER}


def _attack(attack: dict[str, Any], known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {**known.get(str(attack.get("name")), {}), **attack}


def _note(text: str) -> dict[str, Any]:
    return {"text": text, "kind": next((kind for sign, kind in _NOTES.items() if sign in text), NoteKind.REMARK)}
