"""Damaged records: whatever stands in place of a value, a record is refused with a reason, or the reports can show it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reports
from auditor.model.errors import RecordError
from auditor.model.record.record import RunRecord, read_run
from reports.browsing import compare_page, summaries
from reports.pictures.plots import plots
from tests.conftest import Ended
from tests.support.record_samples import person_run, sample_run

Place = tuple[str | int, ...]
OTHERS: list[Any] = [
    *(None, True, "x", "", 0, -1, 1.5, 1e308, -1e300, 10**40, float("nan"), float("inf"), "9" * 400),
    *([], {}, [None], {"a": 1}, ["x"], [1, 2]),
]
"""What is put in the place of a value: of every kind, empty, huge, and what is no JSON."""


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Where the values of a record stand, one place of each shape: the first item of a list stands for all."""
    yield here
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*here, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*here, 0))


def damaged(whole: Any, place: Place) -> Iterator[str]:
    """A record with one value replaced by another, left out, or under other names."""
    for other in OTHERS:
        yield json.dumps(put(whole, place, other))
    if place:
        yield json.dumps(put(whole, place, None, leave_out=True))
    value = whole
    for step in place:
        value = value[step]
    if isinstance(value, dict):
        yield json.dumps(put(whole, place, {f"x{key}": one for key, one in value.items()}))


def put(whole: Any, place: Place, other: Any, leave_out: bool = False) -> Any:
    if not place:
        return other
    made = copy.deepcopy(whole)
    at = made
    for step in place[:-1]:
        at = at[step]
    if leave_out:
        del at[place[-1]]
    else:
        at[place[-1]] = other
    return made


def shown(run: RunRecord) -> None:
    """Makes every report of a run, and the pages of the local browser."""
    for one in reports.FORMATS:
        one.render(run).encode("utf-8")
    reports.render_terminal(run).encode("utf-8")
    for plot in plots(run).values():
        plot.svg.encode("utf-8")
    rows = summaries(run, "run.json", 0.0)
    if len(rows) > 1:
        compare_page((rows[0], run.records[0]), (rows[1], run.records[1]))


def small(run: RunRecord) -> Any:
    """The run as JSON with two records of a few figures, one of each shape."""
    whole = json.loads(run.to_json())
    for record in whole["records"]:
        for part in ("risks", "utility"):
            shapes = {
                json.dumps([sorted(one["detail"]), sorted(one["params"]), one["status"]]): one for one in record[part]
            }
            record[part] = list(shapes.values())[:6]
        record["measures"] = record["measures"][:12]
    whole["records"] = whole["records"][:2]
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("made", [sample_run, person_run])
def test_a_damaged_record_is_refused_or_shown(made: Callable[[], RunRecord], full: bool) -> None:
    whole, rng = small(made()), random.Random(1)
    found = list(places(whole))
    readable = []
    for place in found if full else rng.sample(found, 40):
        for text in damaged(whole, place):
            try:
                readable.append(read_run(text, "run.json"))
            except RecordError as error:
                refused = str(error)
                assert refused.startswith("run.json"), refused
    assert len(found) > 100
    assert len(readable) > 40
    for run in readable if full else rng.sample(readable, 8):
        shown(run)


def test_the_name_of_a_file_may_be_no_text() -> None:
    """A file system takes any bytes; Python hands those that are no UTF-8 over as halves of characters."""
    run = replace(sample_run(), title="r\udcff.csv")
    text = run.to_json()
    assert text.encode("utf-8")
    assert read_run(text, "run.json").title == "r\\udcff.csv"
    shown(run)


def test_render_refuses_damaged_records(auditor_cli: Callable[..., Ended], tmp_path: Path) -> None:
    whole, file = small(sample_run()), tmp_path / "run.json"
    for place, other, said in (
        (("records", 0, "risks", 0, "value"), "high", "risks[0].value must be a number. Got a text of 4 characters."),
        (("records", 0, "release", "class_sizes"), [], "release.class_sizes must be an object. Got a list."),
        (("records", 0, "release", "k"), 10**400, "release.k must be a whole number. Got a number."),
        (("records", 0, "risks", 0, "detail"), {"excess": {"value": 1e999}}, "detail must be a number. Got a number."),
        (("title",), "\ud800", "must be JSON. It holds half of a character."),
    ):
        file.write_text(json.dumps(put(whole, place, other)).replace("Infinity", "1e999"))
        ended = auditor_cli("render", file, "--html", tmp_path / "report.html")
        assert (ended.code, said in ended.err) == (3, True), ended.err
        assert not (tmp_path / "report.html").exists()
