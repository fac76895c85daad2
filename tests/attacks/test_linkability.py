"""Linkability: Anonymeter's table, ties by their chance, and what is joined of a copy."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from attacks.linkability import Linkability, shared
from auditor.auditing.audit import run_audit
from auditor.measure.points import Points
from auditor.model.errors import UsageError
from scenarios.options import Options
from tests.support.synthesizers import blurring, by_margins, copying, subject


def numbers(values: list[float]) -> Points:
    return Points(np.array(values, dtype=np.float64)[:, None], np.empty((len(values), 0), dtype=np.int32))


def test_anonymeters_table(data_folder: Path) -> None:
    table = json.loads((data_folder / "reference" / "synthetic" / "anonymeter.json").read_text())["linkability"]
    first, second = ((numbers(table["ori"][c]), numbers(table["syn"][c])) for c in ("col0", "col1"))
    for neighbours, risk in table["risk_by_neighbours"].items():
        assert shared(first, second, int(neighbours)).mean() == pytest.approx(risk)


def test_ties_count_by_their_chance() -> None:
    rng = np.random.default_rng(2)
    for neighbours in (1, 2, 3):
        people = [rng.integers(0, 3, 4).astype(float).tolist() for _ in range(2)]
        records = [rng.integers(0, 3, 6).astype(float).tolist() for _ in range(2)]
        sources = [(numbers(p), numbers(r)) for p, r in zip(people, records, strict=True)]
        found = shared(sources[0], sources[1], neighbours)
        for person in range(4):
            draws = [draw(np.abs(np.array(r) - p[person]), neighbours) for p, r in zip(people, records, strict=True)]
            hits = [bool(set(one) & set(other)) for one in draws[0] for other in draws[1]]
            assert found[person] == pytest.approx(np.mean(hits))


def draw(apart: np.ndarray, neighbours: int) -> list[tuple[int, ...]]:
    """All sets of nearest records, ties drawn in every way."""
    least = min(sum(sorted(apart[list(some)])) for some in combinations(range(len(apart)), neighbours))
    every = combinations(range(len(apart)), neighbours)
    return [some for some in every if abs(sum(apart[list(some)]) - least) < 1e-9]


@pytest.mark.slow
@pytest.mark.parametrize(("how", "above"), [(copying, True), (blurring, True), (by_margins, False)])
def test_what_is_joined_beyond_outsiders(how: object, above: bool) -> None:
    (risk,) = run_audit(subject(how, 250, 3), Options(attacks=("linkability",), utility=())).risks
    assert risk.control_kind == "outsiders"
    assert risk.baseline == pytest.approx(1 / 250)
    assert (risk.detail["excess"]["low"] > 0) is above
    assert risk.params["neighbours"] == 1
    assert sorted(f"{risk.params['first']}, {risk.params['second']}".split(", ")) == ["age", "height", "job", "town"]
    if how is copying:
        assert risk.value is not None
        assert risk.value > 0.35


def test_sources_are_named() -> None:
    asked = {"linkability": {"first": "age,town", "second": "height"}}
    (risk,) = run_audit(subject(copying, 60, 3), Options(attacks=("linkability",), utility=(), settings=asked)).risks
    assert (risk.params["first"], risk.params["second"]) == ("age, town", "height")
    for wrong, said in (({"first": "age"}, "of neither"), ({"first": "age", "second": "age"}, "share no column")):
        with pytest.raises(UsageError, match=said):
            run_audit(
                subject(copying, 60, 3),
                Options(attacks=("linkability",), utility=(), settings={"linkability": wrong}),
            )
    assert Linkability.configure({"neighbours": 3}).neighbours == 3
