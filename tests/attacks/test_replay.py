"""Replay: nearly everybody's value where the classes were drawn from a seed that is known, and no more than the promise
where they were drawn from a secret."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizers.anatomy import Anatomy
from anonymizers.anonymizing import anonymize, drawn_from
from anonymizers.mondrian import Mondrian
from anonymizers.shared.grouping import Grouping
from attacks.replay import dealing
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.model.provenance import Provenance
from auditor.model.record.record import NOT_APPLICABLE, Risk
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary, MechanismKnown
from scenarios.options import Options
from tests.support.seeded import seeded

SEED = 2026
KNOWING = Adversary(mechanism=MechanismKnown.PARAMETERS, seed=SEED)


def ward(count: int, seed: int, shares: tuple[float, ...] = (0.46, 0.33, 0.14, 0.04, 0.03)) -> Table:
    """People whose illness goes with nothing that is known of them; illnesses are not equally common."""
    rng = np.random.default_rng(seed)
    rows = {
        "zip": [f"z{v}" for v in rng.integers(40, size=count)],
        "age": [str(v) for v in rng.integers(20, 80, size=count)],
        "ill": [f"i{v}" for v in rng.choice(len(shares), p=shares, size=count)],
    }
    columns = {"zip": {"role": "quasi"}, "age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}
    return encode(Schema.from_dict({"columns": columns}), [RawTable("ward", rows)])[0]


def found(
    table: Table, made: tuple[Release, Provenance], adversary: Adversary = KNOWING, link: Link = Link.CLASS, **more: Any
) -> Risk:
    """The success of replay on a release."""
    options = Options(adversaries=(adversary,), attacks=("replay",), links=(link,), utility=(), facts=(), **more)
    record = run_audit(Subject(made[0], table, made[1], True), options)
    return next(risk for risk in record.risks if risk.measure == "success" or risk.value is None)


@pytest.mark.parametrize(
    ("l", "promise", "least", "shares"),
    [(2, 0.5, 0.9, (0.46, 0.33, 0.14, 0.04, 0.03)), (4, 0.25, 0.5, (0.23, 0.22, 0.2, 0.15, 0.1, 0.06, 0.04))],
)
def test_a_known_seed_gives_away_nearly_everybody(
    l: int, promise: float, least: float, shares: tuple[float, ...]
) -> None:
    table = ward(900, 0, shares)
    risk = found(table, seeded(table, Anatomy(l=l), SEED))
    assert risk.value is not None
    assert risk.value > least
    assert risk.detail["seed_holds"]
    assert risk.detail["success_of"]["another_seed"] < promise + 0.06
    assert risk.baseline is not None
    assert risk.control is not None
    assert risk.control < promise
    assert risk.low is not None
    assert risk.low > promise


def test_a_secret_keeps_the_promise() -> None:
    for secret in (2**200 + 1, 2**200 + 2):
        table = ward(901, 1)
        risk = found(table, anonymize(table, "anatomy", secret, l=2))
        assert not risk.detail["seed_holds"]
        assert risk.value == pytest.approx(0.5, abs=0.02)  # the shares of the class: ties, of which one is right


def test_people_are_told_apart_where_several_classes_fit() -> None:
    table = ward(900, 2)
    release, provenance = seeded(table, Anatomy(l=2), SEED)
    risk = found(table, (release, provenance), link=Link.CONTAINMENT)
    assert risk.value is not None
    assert risk.value > 0.8


def test_rows_left_over_do_not_hide_the_others() -> None:
    table = ward(901, 3)
    release, provenance = seeded(table, Anatomy(l=2), SEED)
    assert release.sizes.max() > 2
    risk = found(table, (release, provenance))
    assert risk.value is not None
    assert risk.value > 0.9


@pytest.mark.parametrize(
    ("adversary", "method", "more", "why"),
    [
        (Adversary(mechanism=MechanismKnown.PARAMETERS), Anatomy(), {}, "are not known"),
        (KNOWING, Mondrian(k=3), {}, "mondrian is not known to deal its classes"),
        (KNOWING, Anatomy(), {"targets": (0, 1)}, "Not everybody in the release"),
    ],
)
def test_what_is_lacking(adversary: Adversary, method: Grouping, more: dict[str, Any], why: str) -> None:
    table = ward(60, 0)
    risk = found(table, seeded(table, method, SEED), adversary, Link.CONTAINMENT, **more)
    assert risk.status == NOT_APPLICABLE
    assert why in (risk.reason or "")


def test_all_rows_of_a_class_are_dealt_at_one_time() -> None:
    table, l = ward(300, 4), 2
    method = Anatomy(l=l)
    group = method.groups(table, drawn_from(SEED, method)).member
    codes = table.codes["ill"]
    shuffled = drawn_from(SEED, method).permutation(table.rows)[::-1]
    times = dealing(np.bincount(codes), l)
    time = np.empty(table.rows)
    time[shuffled[np.argsort(codes[shuffled], kind="stable")]] = times
    for rows in (np.flatnonzero(group == g) for g in range(group.max() + 1)):
        assert len(set(time[rows])) == 1 + (len(rows) > l)


def test_a_seed_needs_the_settings() -> None:
    with pytest.raises(UsageError, match="seed needs mechanism"):
        Adversary(seed=1)
    assert "knows a seed from which it may have been drawn" in KNOWING.sentence(("age",), None)
