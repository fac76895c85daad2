"""Finished cells as files: what was kept is read back, and what is damaged is not taken for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.model.record.comparison import RunCell
from auditor.model.record.record import AuditRecord
from auditor.runs.plan import Cell
from auditor.runs.store import Store, make_folder
from tests.support.record_samples import single_run

CELL = Cell("mondrian-k5-1-abc", "mondrian k=5", "mondrian k=5", "mondrian", {"k": 5}, 1)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Store, Path, AuditRecord]:
    store, record = Store(tmp_path / "out"), single_run().records[0]
    make_folder(store.folder)
    place = store.place(CELL)
    store.write(RunCell(CELL.id, CELL.name, CELL.method, CELL.params, CELL.seed, record=place, cpu_seconds=1.5), record)
    return store, tmp_path / "out" / place, record


def test_a_cell_reads_back(kept: tuple[Store, Path, AuditRecord]) -> None:
    store, _, record = kept
    found = store.read(CELL)
    assert found is not None
    assert found[0].id == CELL.id
    assert found[1] is not None
    assert found[1].to_json() == record.to_json()
    assert store.read(replace(CELL, id="mondrian-k5-1-abd")) is None


def test_a_damaged_cell_counts_as_missing(kept: tuple[Store, Path, AuditRecord]) -> None:
    store, file, _ = kept
    text = file.read_text()
    data = json.loads(text)
    risk = next(number for number, one in enumerate(data["records"][0]["risks"]) if "excess" in one["detail"])

    def changed(*place: str | int, value: object) -> str:
        copy = json.loads(text)
        at = copy
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value
        return json.dumps(copy)

    row = ("records", 0, "risks", risk)
    for damaged in (
        "",
        "{",
        "[" * 10_000,
        "null",
        text[: len(text) // 2],
        text.replace("0.", "0.1", 1),
        changed("records", value=[]),
        changed("records", value=None),
        changed("cells", value=[]),
        changed("cells", 0, "status", value="timeout"),
        changed(*row, "value", value="high"),
        changed(*row, "value", value=0.0),
        changed(*row, "detail", value={"excess": {}}),
        changed(*row, "detail", "excess", value=None),
        changed("tool", value={}),
        changed("seed", value=10**400),
    ):
        assert damaged != text
        file.write_text(damaged)
        assert store.read(CELL) is None, damaged[:60]
    file.write_bytes(b"\xff\x00")
    assert store.read(CELL) is None
    file.write_text(text)
    assert store.read(CELL) is not None
