"""What every attack must have and keep; and the tables of seed 002, whose findings the attacks must reproduce.

Poovammal and Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks" (2009): Tables I
to IV are the built-in `hospital` data (`scenarios/data/hospital/scenario.toml` says what was mended in them).
"""

from __future__ import annotations

import dataclasses
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attacks
from attacks import ATTACKS
from attacks.base import Attack, NotApplicable, View
from auditor.auditing.audit import audit
from auditor.model.record.meaning import Goal
from auditor.model.record.record import Risk
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.support.tables import COVERING, beliefs_of, by_hand

HOSPITAL = Path(attacks.__file__).parents[1] / "scenarios" / "data" / "hospital"
ROWS = {"Barbie": 1, "Girija": 6}

every_attack = pytest.mark.parametrize("attack", ATTACKS.builtin, ids=lambda attack: attack.name)


# ----- the contract --------------------------------------------------------------------------------------------------


def test_every_module_is_in_the_registry() -> None:
    modules = {m.name for m in pkgutil.iter_modules(attacks.__path__)} - {"base", "claims", "shared"}
    assert modules == {attack.name.replace("-", "_") for attack in ATTACKS.builtin}
    assert modules == {attack.__module__.removeprefix("attacks.") for attack in ATTACKS.builtin}


@every_attack
def test_an_attack_says_what_it_is(attack: type[Attack]) -> None:
    for text in (attack.summary, attack.claim, attack.success, attack.lowered_by, attack.needs):
        assert text.endswith(".")
        assert text[0].isupper()
    assert attack.paper
    assert attack.goal in list(Goal)
    assert "Paper" in attack.explanation()
    assert dataclasses.is_dataclass(attack)
    assert attack.configure(attack().settings()) == attack()
    assert ATTACKS.get(attack.name) is attack


@every_attack
def test_an_attack_does_not_depend_on_its_generator(attack: type[Attack]) -> None:
    columns = {
        "zip": {"role": "quasi"},
        "pay": {"role": "sensitive", "type": "numeric", "taxonomy": {"low": [1, 2], "high": [3, 4]}},
    }
    world = by_hand(columns, {"zip": ["a", "a", "b", "b"], "pay": ["1", "2", "3", "3"]})
    results = []
    for seed in range(2):
        view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "pay")
        results.append(flat(attack().run(view, np.random.default_rng(seed))))
    assert results[0] == results[1]


def flat(value: Any) -> Any:
    """Claims as nested lists, to compare them."""
    if dataclasses.is_dataclass(value):
        return {f.name: flat(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [flat(item) for item in value]
    return value.toarray().tolist() if hasattr(value, "toarray") else value if isinstance(value, float | str) else None


# ----- seed 002 ------------------------------------------------------------------------------------------------------


def risks(
    table: str, person: str, link: Link | None = Link.CONTAINMENT, **settings: dict[str, Any]
) -> dict[tuple[Any, ...], Risk]:
    """The figures for one person, by attack, sensitive column, measure and reading."""
    options = Options(targets=(ROWS[person],), reveal=True, utility=(), settings=settings)
    if table == "patients":
        how: dict[str, Any] = {"match": "rows"}
    else:
        how = {"provenance": HOSPITAL / f"{table}.provenance.csv"}
    record = audit(
        HOSPITAL / f"{table}.csv", HOSPITAL / "schema.toml", original=HOSPITAL / "patients.csv", options=options, **how
    )
    return {(r.attack, r.sensitive, r.measure, r.params.get("reading")): r for r in record.risks if r.link == link}


def test_table_1_barbie_is_linked_to_stomach_cancer() -> None:
    found = risks("patients", "Barbie")
    assert found["linking", None, "max", None].value == 1
    assert found["linking", None, "success", None].value == 1
    certain = found["homogeneity", "disease", "certain", None]
    assert certain.value == 1
    assert certain.detail["claim"] == ["Stomach Cancer"]


@pytest.mark.parametrize("link", COVERING)
def test_table_3_girija_has_bronchitis_for_sure(link: Link) -> None:
    found = risks("table3", "Girija", link)
    assert found["homogeneity", "disease", "certain", None].value == 1
    assert found["homogeneity", "disease", "success", None].value == 1
    assert found["homogeneity", "disease", "certain", None].detail["claim"] == ["Bronchitis"]
    assert found["linking", None, "max", None].value == pytest.approx(1 / 3)


def test_table_4_girijas_income_is_nearly_known() -> None:
    # [10000, 10030] holds three of the four incomes of her class; her own, 10030, one
    found = risks("table4", "Girija", proximity={"epsilon": 0, "width": 30})
    window = found["proximity", "income", "window", None]
    assert window.value == pytest.approx(0.75)
    assert window.detail["window"] == [10000, 10030]
    assert found["proximity", "income", "mean", None].value == pytest.approx(0.25)
    assert found["proximity", "income", "success", None].value == 1


def test_table_4_girija_is_believed_to_have_something_unrelated() -> None:
    # her class: bronchitis three times, stomach cancer once. Two distinct values: 1/2; by frequency 1/4
    found = risks("table4", "Girija")
    assert found["divergence", "disease", "mean", "distinct"].value == pytest.approx(0.5)
    assert found["divergence", "disease", "mean", "frequency"].value == pytest.approx(0.25)


def test_table_4_girijas_disease_by_both_readings() -> None:
    # bronchitis is one of two distinct values: believed by 1/2, and guessed right every other time; by frequency by 3/4
    found = risks("table4", "Girija", homogeneity={"reading": "distinct"})
    guessed = found["homogeneity", "disease", "success", "distinct"]
    assert guessed.value == pytest.approx(0.5)
    assert guessed.expected == pytest.approx(0.5)
    assert found["homogeneity", "disease", "above", "distinct"].value == 0
    by_frequency = risks("table4", "Girija")["homogeneity", "disease", "success", None]
    assert by_frequency.value == 1
    assert by_frequency.expected == pytest.approx(0.75)


# ----- not applicable ------------------------------------------------------------------------------------------------


def test_what_an_attack_needs_and_has_not_got_is_said() -> None:
    found = risks("table4", "Girija")
    for key, reason in {
        ("proximity", "disease", "success", None): "disease is not numeric, so no value is near another.",
        ("divergence", "income", "success", None): "income has no taxonomy that would say which values are unrelated.",
    }.items():
        assert found[key].value is None
        assert found[key].status == "not_applicable"
        assert found[key].reason == reason


def test_tightest_needs_labels_of_unequal_width() -> None:
    found = risks("patients", "Barbie", Link.TIGHTEST)
    assert {r.reason for r in found.values()} == {"every label is one value, so no class is tighter than another"}


def test_no_sensitive_column_published(tmp_path: Path) -> None:
    release = tmp_path / "release.csv"
    lines = (HOSPITAL / "table3.csv").read_text().splitlines()
    release.write_text("\n".join(",".join(line.split(",")[:3]) for line in lines) + "\n")
    record = audit(
        release,
        HOSPITAL / "schema.toml",
        original=HOSPITAL / "patients.csv",
        provenance=HOSPITAL / "table3.provenance.csv",
        options=Options(utility=(), attacks=("linking", "homogeneity", "proximity", "divergence")),
    )
    reasons = {r.attack: r.reason for r in record.risks if r.link == Link.CONTAINMENT}
    assert reasons.pop("linking") is None
    assert set(reasons.values()) == {"no sensitive column is published"}
    assert len(reasons) == 3


def test_a_view_without_what_is_needed_gives_a_reason() -> None:
    world = by_hand({"zip": {"role": "quasi"}, "ill": {"role": "sensitive"}}, {"zip": ["a", "b"], "ill": ["x", "y"]})
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "ill")
    for name in ("proximity", "divergence"):
        claims = ATTACKS.get(name)().run(view, np.random.default_rng(0))
        assert isinstance(claims, NotApplicable)
        assert claims.reason.endswith(".")
