"""Membership in a synthetic release: published figures to the last digit, figures that do not depend on the order of rows and
columns, and the best score, chosen on other people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde

from attacks.base import NotApplicable, View
from attacks.claims import MemberClaims
from attacks.synthetic_membership import SCORES, SyntheticMembership, _World
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.scoring.members import best_of
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Sources, read_subject, with_holdout
from auditor.measure.densities import near, silverman
from auditor.measure.intervals import auc
from auditor.measure.points import Axes, known_points
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.record.record import AuditRecord
from auditor.model.release import Block
from auditor.model.schema import Schema
from auditor.posterior.beliefs import Prior
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options
from tests.support.synthesizers import alone, blurring, copying, subject

NAME = SyntheticMembership.name


@pytest.fixture(scope="module")
def housing(data_folder: Path) -> dict[str, pd.DataFrame]:
    folder = data_folder / "reference" / "synthetic"
    names = {"members": "mem", "others": "non_mem", "reference": "ref", "made": "synth"}
    return {name: pd.read_csv(folder / f"housing_{file}.csv", dtype=str) for name, file in names.items()}


def audited(frames: Mapping[str, pd.DataFrame], **settings: object) -> AuditRecord:
    columns = {c: {"role": "quasi", "type": "numeric"} for c in frames["members"].columns}
    return audit(
        frames["made"],
        Schema.from_dict({"columns": columns}),
        original=frames["members"],
        no_match=True,
        holdout=frames["others"],
        reference=frames["reference"],
        options=Options(attacks=(NAME,), utility=(), settings={NAME: settings}),
    )


def areas(record: AuditRecord) -> dict[str, float]:
    return {str(r.params["score"]): float(r.value or 0) for r in record.risks if r.measure == "auc"}


@pytest.mark.slow
def test_published_figures_by_raw_columns(housing: dict[str, pd.DataFrame]) -> None:
    found = areas(audited(housing, encoding="raw"))
    assert found["dcr"] == pytest.approx(0.527425, abs=1e-9)
    assert found["domias"] == pytest.approx(0.68385, abs=1e-9)
    assert found["density"] == pytest.approx(0.642975, abs=1e-9)
    assert found["dcr-calibrated"] == pytest.approx(0.562, abs=5e-4)


def test_columns_standardised_by_the_reference_tell_more(housing: dict[str, pd.DataFrame]) -> None:
    record = audited(housing)
    found = areas(record)
    assert found["dcr"] >= 0.74
    assert set(found) == {*SCORES, "best-of"}
    best = max(found[name] for name in SCORES)
    assert found["best-of"] >= best - 0.02
    assert {r.measure for r in record.risks} == {"auc", "advantage", "tpr_at_fpr_0.01", "tpr_at_fpr_0.001", "success"}
    for risk in record.risks:
        assert risk.low is not None
        assert risk.high is not None
        assert risk.low <= (risk.value or 0) <= risk.high
        assert risk.control_kind == "outsiders"


@pytest.mark.slow
def test_the_best_of_fifty_divisions(housing: dict[str, pd.DataFrame]) -> None:
    claims = scored(housing)
    inside, outside = (one.scores for one in claims)
    single = {name: auc(inside[name], outside[name]) for name in SCORES}
    found, picked = best_of(inside, outside, np.random.default_rng(1), 50)
    assert found["auc"].value >= max(one.value for one in single.values() if one is not None) - 0.02
    assert sum(picked.values()) == pytest.approx(1)


def scored(frames: Mapping[str, pd.DataFrame]) -> tuple[MemberClaims, MemberClaims]:
    columns = {c: {"role": "quasi", "type": "numeric"} for c in frames["members"].columns}
    sources = Sources(
        frames["made"],
        Schema.from_dict({"columns": columns}),
        frames["members"],
        no_match=True,
        holdout=frames["others"],
        reference=frames["reference"],
    )
    read = with_holdout(read_subject(sources, 1))
    sides = Sides(read, Options()).facing(PROSECUTOR).apart()
    assert not isinstance(sides, NotApplicable)
    made = []
    for knowledge in sides[:2]:
        view = View(read.release, knowledge, Prior(knowledge.targets, {}, read.release.sizes))
        claims = SyntheticMembership().run(view, np.random.default_rng(1))
        assert isinstance(claims, MemberClaims)
        made.append(claims)
    return made[0], made[1]


def test_of_records_that_are_as_near_the_same_count_whatever_their_order() -> None:
    made = subject(blurring, 60, 3)
    release, people = made.release, made.people
    assert people is not None
    columns, block = ("town", "job", "illness"), release.blocks[0]  # so that many are as near
    turned = replace(release, blocks=(replace(block, bucket=block.bucket[::-1], cells=block.cells[::-1]),))
    reference, asked = people.take(np.arange(80, 120), "reference"), people.matrix(columns)[:80]
    found = []
    for one in (release, turned):
        world = _World(one, reference, columns, raw=False)
        found.append(world.scores(world.encoding.axes(known_points(one, columns, asked))))
    for name, scores in found[0].items():
        np.testing.assert_allclose(scores, found[1][name], atol=1e-7, err_msg=name)


def test_kernels_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    sample, points = rng.normal(size=(70, 3)), rng.normal(size=(20, 3))
    theirs = gaussian_kde(sample.T, bw_method="silverman")
    assert silverman(70, 3) == pytest.approx(theirs.silverman_factor())
    root = np.linalg.cholesky(np.cov(sample.T))

    def flat(rows: Floats) -> Axes:
        return Axes(np.linalg.solve(root, rows.T).T, np.empty((len(rows), 0), dtype=np.int32))

    ours = near(flat(points), flat(sample), 5, (silverman(70, 3),))
    shift = ours.kernels[:, 0] - theirs.logpdf(points.T)
    assert shift == pytest.approx(shift[0])
    apart = np.sort(((flat(points).at[:, None] - flat(sample).at) ** 2).sum(axis=2), axis=1)
    assert ours.square == pytest.approx(apart[:, :5])


@pytest.mark.slow
def test_choosing_the_best_of_many_does_not_flatter() -> None:
    rng, areas_found = np.random.default_rng(5), []
    for _ in range(60):  # ten scores that say nothing
        inside, outside = ({str(i): rng.normal(size=40) for i in range(10)} for _ in range(2))
        areas_found.append(best_of(inside, outside, rng, 1)[0]["auc"].value)
    assert abs(np.mean(areas_found) - 0.5) < 0.02


@pytest.mark.slow
def test_a_copy_is_recognised() -> None:
    record = run_audit(subject(copying, 120, 1), Options(attacks=(NAME,), utility=()))
    found = areas(record)
    assert found["dcr"] > 0.97  # outsiders who are the image of somebody tie
    assert found["best-of"] > 0.97
    (named,) = {r.worst_rows for r in record.risks if r.worst_rows and r.measure == "tpr_at_fpr_0.01"}
    assert len(named) == 10
    assert max(named) <= 120  # members, by their rows in the original


@pytest.mark.slow
def test_neither_rows_nor_columns_matter() -> None:
    options = Options(attacks=(NAME, "linkability", "attribution", "closeness"), utility=())
    plain = subject(copying, 60, 4)
    before = {
        (r.attack, r.measure, str(r.params.get("score")), r.sensitive): r for r in run_audit(plain, options).risks
    }
    rng = np.random.default_rng(1)
    people, provenance = plain.people, plain.provenance
    assert people is not None
    assert provenance is not None
    assert provenance.made_from is not None
    order = rng.permutation(people.rows)
    columns = list(people.codes)[::-1]
    turned = replace(people.take(order), codes={c: people.codes[c][order] for c in columns})
    made_from = provenance.made_from[order]
    moved = replace(provenance, made_from=made_from)
    release, _ = plain.release.shuffled(rng)
    (block,) = release.blocks
    other_way = Block(block.columns[::-1], block.bucket, block.cells[:, ::-1])
    release = replace(release, blocks=(other_way,))
    after = run_audit(replace(plain, release=release, people=turned, provenance=moved), options)
    assert len(after.risks) == len(before)
    for risk in after.risks:
        same = before[risk.attack, risk.measure, str(risk.params.get("score")), risk.sensitive]
        assert (risk.value, risk.low, risk.control) == pytest.approx((same.value, same.low, same.control)), risk.measure


def test_what_it_needs_is_said() -> None:
    (risk,) = run_audit(alone(subject(copying, 30, 1)), Options(attacks=(NAME,), utility=())).risks
    assert risk.status == "not_applicable"
    assert "--holdout" in str(risk.reason)
    assert risk.lacks == "population"
    mixed = Options(attacks=(NAME,), utility=(), settings={NAME: {"encoding": "raw"}})
    (risk,) = run_audit(subject(copying, 30, 1), mixed).risks
    assert "columns of numbers" in str(risk.reason)
    with pytest.raises(UsageError, match="standard or raw"):
        SyntheticMembership(encoding="best")
