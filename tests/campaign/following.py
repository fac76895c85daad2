"""What must be possible after a result: its record keeps to the published schema and can be rendered again; a release can be
read again; a comparison goes on from damaged cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import jsonschema

from tests.campaign.changing import BYTES, change
from tests.campaign.generating import Case, Surroundings
from tests.campaign.judging import RESULTS, judge
from tests.campaign.parts import Blob, Tree
from tests.campaign.running import Ended, run


@cache
def _validator() -> Any:
    text = (resources.files("auditor.model.record") / "schemas" / "record-2.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def follow(case: Case, ended: Ended, folder: Path) -> Iterator[str]:
    """The failures of what follows a result."""
    if ended.code not in RESULTS or case.surroundings is not Surroundings.PLAIN:
        return
    for name, form in case.outputs.items():
        file = folder / name
        if form == "record" and file.is_file() and case.index % 5 == 0:
            fault = next(iter(_validator().iter_errors(json.loads(file.read_bytes()))), None)
            if fault is not None:
                yield f"{name} does not keep to its schema ({fault.json_path})"
            yield from _next(case, folder, "render", name, "--html", "again.html", "--markdown", "again.md")
        elif form == "release" and case.command == "anonymize" and case.index % 5 == 0:
            asked = ("--attacks", "linking", "--link", "class", "--utility", "none")
            yield from _next(case, folder, "audit", name, "--schema", "schema.toml", *asked)
        elif form == "comparison" and file.is_dir():
            yield from _resumed(case, folder)


def _next(case: Case, folder: Path, *arguments: str) -> Iterator[str]:
    """A further command in the same folder, which must give a result."""
    further = replace(case, command=arguments[0], arguments=arguments, outputs={}, free=True)
    ended = run(further, folder)
    if ended.code not in (*RESULTS, 3) or (ended.code == 3 and "not judged" not in ended.err.decode()):
        yield f"{arguments[0]} afterwards ended with {ended.code}"
    yield from judge(further, ended, folder)


def _resumed(case: Case, folder: Path) -> Iterator[str]:
    """The same comparison once more, with a cell that was damaged."""
    rng = Random(case.index)
    cells = sorted((folder / "out" / "cells").glob("*.json"))
    if not cells:
        return
    cell = rng.choice(cells)
    if rng.random() < 0.5:
        part: Tree | Blob = Tree("record", json.loads(cell.read_bytes()), "json")
        change(part, rng)
    else:
        part = Blob("record", cell.read_bytes())
        rng.choice(BYTES)(part, rng)
    cell.write_bytes(part.content())
    again = run(case, folder)
    yield from (f"on going on: {fault}" for fault in judge(replace(case, free=True, outputs={}), again, folder))
