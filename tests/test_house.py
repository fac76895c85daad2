"""The house: no circle of imports, no import to a higher floor, few doors; and reports see the record only."""

from __future__ import annotations

import networkx as nx
import pytest

from tests.support.house import ROOT, circles, climbing, graph

ROOMS = {"model", "files", "posterior", "measure", "engines", "profiling", "auditing", "runs", "commands"}
DOORS = {"__init__.py", "__main__.py", "cli.py", "version.py"}


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph[str]:
    return graph()


def test_no_circle_and_no_import_to_a_higher_floor(imports: nx.DiGraph[str]) -> None:
    assert imports.number_of_edges() > 1000
    assert circles(imports) == []
    assert climbing(imports) == []


def test_a_circle_and_a_climbing_import_are_found(imports: nx.DiGraph[str]) -> None:
    wrong = imports.copy()
    wrong.add_edge("auditor.model.errors", "auditor.auditing.audit")
    assert ("auditor.model.errors", "auditor.auditing.audit") in climbing(wrong)
    assert any("auditor.model.errors" in loop for loop in circles(wrong))
    inside = imports.copy()
    inside.add_edge("anonymizers.kernels.search", "anonymizers.shared.choices")
    assert ("anonymizers.kernels.search", "anonymizers.shared.choices") in climbing(inside)


def test_nine_rooms_and_four_doors() -> None:
    home = ROOT / "auditor"
    assert {p.name for p in home.iterdir() if p.is_dir() and p.name != "__pycache__"} == ROOMS
    assert {p.name for p in home.iterdir() if p.is_file()} == DOORS | {"py.typed"}


def test_reports_see_the_record_only(imports: nx.DiGraph[str]) -> None:
    used = {there for here, there in imports.edges if here.partition(".")[0] == "reports"}
    allowed = (
        "reports",
        "auditor.model.record",
        "auditor.model.errors",
        "auditor.model.discretion",
        "auditor.model.local_server",
    )
    assert [u for u in sorted(used) if not any(u == a or u.startswith(f"{a}.") for a in allowed)] == []
