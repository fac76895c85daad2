"""Special uniques: the published labels, block by block; what is withheld does not make a record special."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from attacks.base import NotApplicable, View
from attacks.claims import FactClaims
from attacks.special_uniques import SpecialUniques
from auditor.auditing.audit import audit
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Figure, Truth
from auditor.model.errors import UsageError
from auditor.model.release import WithheldCells
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.support.tables import World, beliefs_of, by_hand, worlds

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "ill": {"role": "sensitive"},
}


def found(world: World, cells: WithheldCells = WithheldCells.WILDCARD, **settings: Any) -> list[Figure]:
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), cells=cells)
    claims = SpecialUniques(**settings).run(view, np.random.default_rng(0))
    assert isinstance(claims, FactClaims)
    return score(claims, Truth(np.arange(world.table.rows), world.bucket, world.fragment))


def test_by_hand() -> None:
    # Ages 20, 20, 30, 30, 40 and sexes f, f, f, m, m: the one aged 40 is unique by age, 1! = 1; 30 f and 30 m by both,
    # 0! = 1; the two of 20 are a pair. U = 3, P = 2, δ = 0.01: DIS of the file 0.03/(0.03 + 1.98); all scores are 1, so each
    # record has 1/(1 + 3·(1/DIS - 1)/3) = DIS.
    world = by_hand(COLUMNS, {"age": ["20", "20", "30", "30", "40"], "sex": list("fffmm"), "ill": list("abcde")})
    largest, mean, at_risk = found(world, threshold=0.01)
    dis = 0.03 / (0.03 + 1.98)
    assert largest.value == pytest.approx(dis)
    assert mean.value == pytest.approx(3 * dis / 5)
    assert (at_risk.value, at_risk.n) == (3, 5)
    assert largest.hit is not None
    assert largest.hit == pytest.approx([0, 0, dis, dis, dis])
    assert largest.detail == {
        "contribution": {"age": 1.0, "sex": pytest.approx(2 / 3)},
        "minimal_sample_uniques": {"1": 1, "2": 2},
        "sample_uniques": 3,
        "score_max": 1.0,
        "withheld_cells": "wildcard",
    }


def test_labels_that_denote_the_same_are_the_same_and_withheld_ones_say_nothing() -> None:
    rows = {"age": ["20", "20", "30", "30"], "sex": list("ffmm"), "ill": list("abcd")}
    alike = by_hand(COLUMNS, rows, {"age": ["[20, 30]", "20-30", "[20, 30]", "20-30"]})
    assert found(alike)[0].value == 0
    withheld = by_hand(COLUMNS, rows, {"age": ["20", "20", "30", "*"]})
    assert found(withheld)[0].detail["sample_uniques"] == 0  # the one aged * may be 30 as well
    figure = found(withheld, WithheldCells.OWN)[0]
    # the rows aged 30 and * are alone by age, but only the first of them is so for a reason
    assert figure.detail["minimal_sample_uniques"] == {"1": 1}
    assert figure.hit is not None
    assert (figure.hit > 0).tolist() == [False, False, True, False]


def test_blocks_are_files_of_their_own() -> None:
    rows = {"age": ["20", "20", "30", "40"], "sex": list("fffm"), "ill": list("abcd")}
    world = by_hand(COLUMNS, rows, blocks=[["age", "ill"], ["sex"]], bucket=[0, 0, 1, 1])
    figures = found(world)
    assert [f.params["columns"] for f in figures] == ["age"] * 3 + ["sex"] * 3
    assert [f.detail["sample_uniques"] for f in (figures[0], figures[3])] == [2, 1]
    assert figures[3].hit is not None
    assert (figures[3].hit > 0).tolist() == [False, False, False, True]


def test_most_bounds_the_sets() -> None:
    world = by_hand(COLUMNS, {"age": ["20", "20", "30", "30"], "sex": list("fmfm"), "ill": list("abcd")})
    assert found(world, most=1)[0].value == 0
    assert found(world)[0].value == 1  # nobody is in a pair, so every match is right


@settings(max_examples=30)
@given(worlds())
def test_the_order_of_rows_does_not_matter(world: World) -> None:
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT))
    shuffled, _ = world.release.shuffled(np.random.default_rng(3))
    claims = [
        SpecialUniques().run(v, np.random.default_rng(0)) for v in (view, View(shuffled, view.knowledge, view.beliefs))
    ]
    for first, second in zip(*(c.facts for c in claims if isinstance(c, FactClaims)), strict=True):
        assert (first.measure, first.n, first.detail) == (second.measure, second.n, second.detail)
        assert first.value == pytest.approx(second.value)
        assert first.each is not None
        assert second.each is not None
        assert np.sort(first.each) == pytest.approx(np.sort(second.each))


def test_reasons_and_settings() -> None:
    world = by_hand({"zip": {"role": "neutral"}, "ill": {"role": "sensitive"}}, {"zip": ["a", "b"], "ill": ["x", "y"]})
    for blind in (False, True):
        view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), blind=blind)
        claims = SpecialUniques().run(view, np.random.default_rng(0))
        assert isinstance(claims, NotApplicable)
        assert claims.reason.endswith(".")
    for bad in ({"most": 0}, {"fraction": 1.0}, {"threshold": 1.0}):
        with pytest.raises(UsageError):
            SpecialUniques(**bad)


@pytest.mark.data
def test_francdat_is_audited_with_its_scores_and_weights(data_folder: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    keys = "".join(f'[columns.Key{i}]\nrole = "quasi"\n' for i in range(1, 5))
    schema.write_text(keys + '[columns.w]\nrole = "weight"\n[table]\nothers = "neutral"\n')
    original = data_folder / "data" / "casc" / "francdat.csv"
    lines = [line.rsplit(",", 1)[0] for line in original.read_text().splitlines()]  # the weight is not published
    release = tmp_path / "release.csv"
    release.write_text("\n".join(lines) + "\n")
    options = Options(attacks=("special-uniques", "uniqueness"), utility=())
    record = audit(release, schema, original=original, match="rows", options=options)
    largest = record.find("special-uniques", "max")
    assert largest.value == pytest.approx(0.0142135, abs=5e-8)
    assert list(largest.worst_rows) == [4, 7, 5, 6]
    risk = [0.0171443, 0.0220423, 0.0220423, 0.1770758, 0.0116545, 0.2970631, 0.4023595, 0.0171443]
    assert record.find("uniqueness", "weighted_max").value == pytest.approx(0.4023595, abs=5e-8)
    assert record.find("uniqueness", "weighted_mean").value == pytest.approx(np.mean(risk), abs=5e-8)
    assert record.find("uniqueness", "reidentified").value == pytest.approx(sum(risk), abs=5e-7)
    assert list(record.find("uniqueness", "weighted_max").worst_rows)[:3] == [7, 6, 4]
