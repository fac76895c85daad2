"""What is asked of an audit: attacks, links, measures, settings, people; and the files that ask: policies and scenarios."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from random import Random
from typing import Any

from attacks import ATTACKS
from auditor.measure.utility import MEASURES
from auditor.posterior.links import Link
from tests.campaign import making, odd
from tests.campaign.drafts import Draft
from tests.campaign.parts import Tree
from tests.campaign.people import People

LINKS = tuple(str(link) for link in Link)
ATTACK_NAMES = tuple(ATTACKS.all())
QUICK = ("linking", "homogeneity", "proximity", "divergence", "skewness", "similarity", "background", "uniqueness")
POLICIES = ("ema", "cms", "journalist", "k3", "k5", "k20", "strict")
REPORTS = {"--html": ("a.html", "html"), "--json": ("a.json", "record"), "--markdown": ("a.md", "text")}


def audit_options(draft: Draft, people: People, rng: Random) -> None:
    """Options of an audit, mostly of few attacks, so that many inputs can be run."""
    if rng.random() < 0.94:
        draft.ask("--attacks", ",".join(attacks(rng)))
    if rng.random() < 0.6:
        draft.ask("--link", ",".join(rng.sample(LINKS, rng.choice((1, 1, 2)))))
    if rng.random() < 0.85:
        measures = [measure.name for measure in rng.sample(MEASURES, 2)]
        draft.ask("--utility", rng.choice(("none", "none", measures[0], ",".join(measures))))
    if rng.random() < 0.15:
        draft.ask("--set", attack_setting(rng))
    if rng.random() < 0.06:
        draft.ask("--suppression", rng.choice(("own", "wildcard")))
    if rng.random() < 0.05:
        draft.ask("--weighting", "paper")
    if rng.random() < 0.06:
        draft.ask("--recursive-l", rng.choice(("1", "3", "50")))
    if rng.random() < 0.06:
        draft.ask("--sample", rng.choice(("1", "3", "5", "100000")))
    if people.quasi and rng.random() < 0.08:
        draft.ask("--knows", ",".join(rng.sample(people.quasi, rng.choice((1, 1, len(people.quasi))))))
    if rng.random() < 0.2:
        draft.ask("--seed", rng.choice(("0", "1", "4294967296", "9" * 25)))


def attacks(rng: Random) -> list[str]:
    """One to three attacks."""
    return rng.sample(QUICK if rng.random() < 0.7 else ATTACK_NAMES, rng.choice((1, 1, 2, 3)))


def attack_setting(rng: Random) -> str:
    """A setting of an attack, good or odd."""
    name = rng.choice(ATTACK_NAMES)
    known = [one.name for one in fields(ATTACKS.get(name))]
    value = rng.choice((*odd.REAL, "true", "3", "frequency", "distinct", "[]", '"x"'))
    return f"{name}.{rng.choice(known) if known else 'x'}={value}"


def reports(draft: Draft, rng: Random, chance: float = 0.5) -> None:
    """The files of some reports, or one on stdout."""
    if rng.random() < 0.08:
        option, (_, form) = rng.choice(list(REPORTS.items()))
        draft.ask(option, "-")
        draft.outputs["-"] = form
        return
    for option, (name, form) in REPORTS.items():
        if rng.random() < chance:
            draft.write(option, name, form)
    if rng.random() < 0.06:
        draft.write("--plots", "plots", "plots")
        draft.write("--tables", "tables", "plots")


def policy(rng: Random) -> Tree:
    """A policy file."""
    figures = ("release.k", "release.l_distinct", "release.alpha", "release.weighted_max", "release.suppressed_share")
    checks: list[dict[str, Any]] = []
    for _ in range(rng.choice((1, 2, 3))):
        if rng.random() < 0.6:
            checks.append({"figure": rng.choice(figures), rng.choice(("at_least", "at_most")): rng.choice((1, 2, 0.5))})
        else:
            figure = rng.choice(
                ("linking.max", "linking.success", "homogeneity.certain", "membership.auc", "proximity.m")
            )
            check = {"figure": figure, "at_most": rng.choice((0.09, 0.5, 1)), "link": rng.choice(LINKS)}
            checks.append(
                check if rng.random() < 0.5 else check | {"adversary": rng.choice(("prosecutor", "journalist"))}
            )
    return Tree("policy", {"title": "Rules", "source": "a board", "check": checks})


def scenario(people: People, rng: Random) -> Tree:
    """A scenario over `data.csv`, which may also use `population.csv` and `release.csv` with `whose.csv`."""
    data: dict[str, Any] = {"file": "data.csv", "schema": "schema.toml", "seed": rng.choice((0, 1, 7))}
    if rng.random() < 0.3:
        data["population"] = "population.csv"
    elif rng.random() < 0.2:
        data["sample"] = rng.choice((0.5, 0.8, 1))
    releases: list[dict[str, Any]] = []
    for _ in range(rng.choice((1, 1, 2))):
        if "sample" not in data and rng.random() < 0.3:
            releases.append({"name": f"theirs {len(releases)}", "file": "release.csv", "match": "rows"})
        else:
            method = rng.choice(making.METHODS)
            releases.append({"method": method, **{k: _plain(v) for k, v in making.settings(method, rng).items()}})
    made: dict[str, Any] = {"data": data, "release": releases}
    if rng.random() < 0.7:
        kinds = rng.sample(("prosecutor", "journalist", "marketer"), rng.choice((1, 2)))
        made["adversary"] = [{"name": kind, **_knowledge(people, rng)} for kind in kinds]
    run: dict[str, Any] = {"run": attacks(rng)}
    if rng.random() < 0.7:
        run["link"] = rng.sample(LINKS, rng.choice((1, 2)))
    made["attacks"] = run
    if rng.random() < 0.85:
        made["utility"] = {"run": [] if rng.random() < 0.6 else [rng.choice(MEASURES).name]}
    if rng.random() < 0.4:
        made["policy"] = {"use": rng.choice((*POLICIES, "rules.toml"))}
    return Tree("scenario", made)


def _plain(text: str) -> Any:
    """A setting as TOML has it."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _knowledge(people: People, rng: Random) -> dict[str, Any]:
    """What an adversary knows, in up to three respects."""
    columns = people.quasi or ["x"]
    numeric = [name for name in columns if "type" in people.columns.get(name, {})] or columns
    every: dict[str, Any] = {
        "knows": rng.choice((rng.sample(columns, 1), 1, "all")),
        "noise": {rng.choice(numeric): rng.choice((0, 1, 2.5))},
        "stale": {rng.choice(columns): rng.choice((0, 0.1, 1))},
        "missing": rng.choice((0.2, 1, {rng.choice(columns): 0.5})),
        "coverage": rng.choice((0.5, 1)),
        "not_values": rng.choice((0, 1, 3)),
        "acquaintances": rng.choice((0, 1, 2, 0.2)),
        "own_value": rng.choice((True, False)),
        "mechanism": rng.choice(("none", "name", "parameters")),
        "sample": rng.choice((0, 0.5, 1)),
        "earlier": ["release.csv"],
        "subsets": rng.choice((1, 2)),
    }
    names = rng.sample(sorted(set(every) - {"earlier"}), rng.choice((0, 1, 1, 2, 3)))
    return {name: every[name] for name in names if name != "subsets" or "knows" not in names}
