"""The barrier between attacks and the truth: nothing can be read off positions, and nothing private can be imported."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tomllib

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attacks import ATTACKS
from attacks.base import Attack, NotApplicable, View
from attacks.claims import (
    Claims,
    Fact,
    FactClaims,
    IntervalClaims,
    MemberClaims,
    PredicateClaims,
    RangeClaims,
    RecordClaims,
    SampleClaims,
    SeveralClaims,
    UnrelatedClaims,
    ValueClaims,
    WindowClaims,
)
from auditor.posterior.beliefs import ValueBeliefs
from auditor.posterior.links import Link
from tests.support.house import ROOT, graph
from tests.support.tables import COVERING, SENSITIVE, World, beliefs_of, by_hand, worlds

HIDDEN = "auditor.model.provenance"

Guesses = dict[str, list[object]]


# ----- row order -----------------------------------------------------------------------------------------------------


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.9g}") + 0.0 for value in values.tolist()]


def _values(beliefs: ValueBeliefs) -> list[object]:
    return [_rounded(row) for row in beliefs.rows.toarray()[beliefs.row_of]]


def _fact(fact: Fact) -> list[object]:
    each = [] if fact.each is None else _rounded(fact.each)
    return [
        fact.value if fact.value is None else round(fact.value, 9),
        fact.n,
        each if fact.block is None else sorted(each),
    ]


def guesses(claims: Claims | NotApplicable) -> Guesses:
    """What an attack says of each target, without the engine's own numbering."""
    if isinstance(claims, NotApplicable):
        return {"reason": [claims.reason]}
    if isinstance(claims, RecordClaims):
        records = claims.beliefs.records()
        return {"best": [*_rounded(records.best)], "tied": [*_rounded(records.tied)], "per_class": [claims.per_class]}
    if isinstance(claims, ValueClaims):
        return {"values": _values(claims.values)}
    if isinstance(claims, WindowClaims):
        starts = [sorted(claims.start[claims.row == row].tolist()) for row in claims.values.row_of.tolist()]
        mass = _rounded(claims.mass[claims.values.row_of])
        m = None if claims.m is None else round(claims.m, 9)
        return {"values": _values(claims.values), "windows": [*starts], "mass": [*mass], "m": [m]}
    if isinstance(claims, SeveralClaims):
        parts = [guesses(part) for part in claims.parts]
        return {f"{i} {name}": said for i, part in enumerate(parts) for name, said in part.items()}
    if isinstance(claims, UnrelatedClaims):
        return {claims.reading: _values(claims.values)}
    if isinstance(claims, RangeClaims):
        rows = [claims.row == row for row in claims.values.row_of.tolist()]
        ranges = [sorted(zip(claims.first[r].tolist(), claims.last[r].tolist(), strict=True)) for r in rows]
        return {"values": _values(claims.values), "ranges": [*ranges]}
    if isinstance(claims, FactClaims):
        return {fact.measure: _fact(fact) for fact in claims.facts}
    if isinstance(claims, PredicateClaims):
        made = [{c: allowed.tolist() for c, allowed in sorted(p.items())} for p in claims.predicates]
        return {"predicates": sorted(map(str, zip(made, _rounded(claims.weight), strict=True)))}
    if isinstance(claims, IntervalClaims):
        assert claims.ends is not None
        sides = [side for ends in claims.ends for side in ends]
        return {claims.measure: sorted(np.column_stack(sides).round(9).tolist(), key=str)}
    if isinstance(claims, SampleClaims):
        found = claims.alike.frequency()
        assert found is not None
        return {"agreeing": sorted(found.tolist())}
    assert isinstance(claims, MemberClaims)
    return {name: [*_rounded(scores)] for name, scores in claims.scores.items()}


def said(attack: Attack, world: World, link: Link) -> list[Guesses]:
    beliefs = beliefs_of(world, link)
    columns = SENSITIVE if attack.goal == "attribute" else (None,)
    views = [View(world.release, world.knowledge, beliefs, link, column) for column in columns]
    return [guesses(attack.run(view, np.random.default_rng(0))) for view in views]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.builtin, ids=lambda attack: attack.name)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds(doubt=True), seed=st.integers(0, 999))
def test_an_attack_says_the_same_of_a_release_in_another_order(attack: type[Attack], world: World, seed: int) -> None:
    release, renumber = world.release.shuffled(np.random.default_rng(seed))
    granted = np.where(world.bucket >= 0, renumber[world.bucket], -1).astype(np.int32)
    knowledge = dataclasses.replace(world.knowledge, granted=granted)
    other = dataclasses.replace(world, release=release, knowledge=knowledge)
    for link in COVERING:
        assert said(attack(), world, link) == said(attack(), other, link)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds())
def test_a_release_holds_no_original_order(world: World) -> None:
    for block in world.release.blocks:
        assert block.cells.shape[0] == len(block.bucket) == world.release.rows
    assert not {f.name for f in dataclasses.fields(world.release)} & {"provenance", "rows", "ids", "index"}


@pytest.mark.parametrize("link", COVERING)
def test_a_granted_class_is_known_under_its_own_link_only(link: Link) -> None:
    columns = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    world = by_hand(columns, {"zip": ["a", "b"], "ill": ["flu", "flu"]})
    assert world.knowledge.granted is not None
    assert (beliefs_of(world, link).matching.knowledge.granted is None) == (link is not Link.CLASS)


# ----- imports -------------------------------------------------------------------------------------------------------


def reached(imports: nx.DiGraph[str], *packages: str) -> set[str]:
    """Every module that some packages import, directly or not."""
    start = [name for name in imports if any(name == p or name.startswith(f"{p}.") for p in packages)]
    return set(start).union(*(nx.descendants(imports, name) for name in start))


def test_no_attack_can_reach_the_provenance() -> None:
    imports = graph()
    found = reached(imports, "attacks", "auditor.posterior")
    assert len(found) > 20  # the walk did walk
    assert HIDDEN not in found
    assert not [name for name in found if name.split(".")[0] in ("anonymizers", "scenarios", "reports")]
    assert HIDDEN in reached(imports, "anonymizers")  # the walk would find a breach


def test_importing_the_attacks_does_not_load_the_provenance() -> None:
    code = f"import attacks, auditor.posterior.leave_one_out, sys; sys.exit({HIDDEN!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_the_contract_is_declared() -> None:
    """`make check` holds it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = [c for c in contracts if HIDDEN in c.get("forbidden_modules", []) and "attacks" in c["source_modules"]]
    assert found["type"] == "forbidden"
    assert {"attacks", "auditor.posterior"} <= set(found["source_modules"])
    assert {HIDDEN, "anonymizers"} <= set(found["forbidden_modules"])
    assert not found.get("ignore_imports")
