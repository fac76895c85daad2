"""The input of a seed and a number: a valid draft, changed in up to three places, in ordinary or odd surroundings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from tests.campaign import commands
from tests.campaign.changing import change
from tests.campaign.drafts import Draft, change_options
from tests.campaign.parts import Grid, Tree


class Surroundings(StrEnum):
    """Where a command runs."""

    PLAIN = "plain"
    FULL = "stdout full"
    CLOSED = "stdout closed"
    GONE = "reader gone"
    NARROW = "stdout in ASCII"
    SMALL = "small files only"
    LOCKED = "locked folder"
    HOMELESS = "no home"


CANARY = "canary20261117q"
_WEIGHTS = {"secret": 0.15, "taxonomy": 0.5, "provenance": 0.6, "scenario": 3.0, "manifest": 2.0, "key": 2.0}
"""How often a part of this kind is changed, where others are at 1."""
_ODD = (
    *(Surroundings.FULL, Surroundings.CLOSED, Surroundings.GONE, Surroundings.NARROW, Surroundings.SMALL),
    *(Surroundings.SMALL, Surroundings.LOCKED, Surroundings.LOCKED),
)


@dataclass(frozen=True)
class Case:
    """One input, ready to be run in a folder of its own."""

    index: int
    command: str
    kind: str
    files: dict[str, bytes]
    arguments: tuple[str, ...]
    outputs: dict[str, str]
    canaries: tuple[str, ...]
    surroundings: Surroundings
    real: bool
    """Whether it runs in a Python of its own, not in a fork of ours."""
    free: bool
    old: bool
    """Whether the outputs exist already."""


def generate(seed: int, index: int) -> Case:
    """The input with this number."""
    rng = Random(f"{seed}:{index}")
    draft = commands.draw(rng)
    kinds = _change(draft, rng)
    surroundings, real = Surroundings.PLAIN, False
    roll = rng.random()
    if draft.command != "serve" and roll < 0.04:
        surroundings, real = rng.choice(_ODD), roll < 0.004
    elif draft.command != "serve" and roll < 0.045:
        surroundings, real = Surroundings.HOMELESS, True
    arguments = [argument.replace("\0", "") for argument in draft.arguments()]
    if rng.random() < 0.02:
        arguments.insert(0, "--debug")
    files = {name: part.content() for name, part in draft.files.items()}
    known = "\n".join(arguments).encode(errors="replace") + b"".join(files[n] for n in files if _says(n, draft))
    canaries = tuple(canary for canary in draft.canaries if canary.encode() not in known)
    odd = surroundings is not Surroundings.PLAIN
    kind = str(surroundings) if odd else kinds[0] if kinds else "unchanged"
    return Case(
        index, draft.command, kind, files, tuple(arguments), dict(draft.outputs), canaries, surroundings, real,
        draft.free, rng.random() < 0.05,
    )  # fmt: skip


def _says(name: str, draft: Draft) -> bool:
    """Whether a file may be quoted: it is no table of people."""
    return draft.files[name].kind in ("schema", "policy", "scenario", "taxonomy")


def _change(draft: Draft, rng: Random) -> list[str]:
    """Changes a draft in up to three places; the kinds of what was changed."""
    kinds = []
    for _ in range(rng.choices((0, 1, 2, 3), (10, 50, 25, 15))[0]):
        if not draft.files or rng.random() < 0.2:
            change_options(draft, rng)
            kinds.append("options")
        else:
            names = sorted(draft.files)
            weights = [_WEIGHTS.get(draft.files[name].kind, 1.0) for name in names]
            kinds.append(change(draft.files[rng.choices(names, weights)[0]], rng))
    if rng.random() < 0.15:
        _plant(draft, rng)
    for name, part in draft.files.items():  # labels and mechanisms name the bytes of their release
        told = isinstance(part, Tree) and part.kind in ("labels", "mechanism")
        if isinstance(part, Tree) and told and isinstance(part.data, dict) and rng.random() < 0.8:
            beside = draft.files.get(name.removesuffix(".labels.json").removesuffix(".mechanism.toml"))
            if beside is not None:
                part.data["sha256"] = hashlib.sha256(beside.content()).hexdigest()
    return kinds


def _plant(draft: Draft, rng: Random) -> None:
    """Puts a canary into any cell of any table: most columns cannot have it, and must not quote it."""
    tables = [part for _, part in sorted(draft.files.items()) if isinstance(part, Grid) and any(part.rows)]
    if tables:
        row = rng.choice([row for row in rng.choice(tables).rows if row])
        row[rng.randrange(len(row))] = CANARY
        draft.canaries.append(CANARY)


def told(case: Case) -> str:
    """A case in a line."""
    words = [json.dumps(argument) if len(argument) < 80 else "…" for argument in case.arguments]
    return f"{case.kind}, {case.surroundings}: auditor {' '.join(words)}"
