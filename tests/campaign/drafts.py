"""An input in the making: the parts of its files, its command with the options, and what the command is to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from typer.main import get_command

from auditor.commands.app import app
from tests.campaign import odd
from tests.campaign.parts import Part


@dataclass
class Draft:
    """One command in its folder. `outputs` are the files and folders to be written, with their forms (see `judging`)."""

    command: str
    given: list[str] = field(default_factory=list)
    options: list[tuple[str, str | None]] = field(default_factory=list)
    files: dict[str, Part] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    canaries: list[str] = field(default_factory=list)
    free: bool = False
    """Whether an odd option may lead the outputs elsewhere."""

    def ask(self, option: str, value: object = None) -> None:
        """Adds an option."""
        self.options.append((option, None if value is None else str(value)))

    def write(self, option: str, name: str, form: str) -> None:
        """Adds an option that names an output."""
        self.ask(option, name)
        self.outputs[name] = form

    def arguments(self) -> list[str]:
        """The arguments of the command line."""
        texts = [part for option, value in self.options for part in ((option,) if value is None else (option, value))]
        return [self.command, *self.given, *texts]


@cache
def _parameters(command: str) -> tuple[Any, ...]:
    """The options of a command, as the command line declares them."""
    commands: Any = get_command(app)
    return tuple(one for one in commands.commands[command].params if one.param_type_name == "option")


_HARMLESS = ("--quiet", "--force", "--reveal", "--no-remedies", "--remedies")
_NEVER = (
    *("--help", "--host", "--allow-network", "--open", "--port", "--engine", "--spill", "--jobs"),
    *("--seeds", "--methods", "--runs", "--shell", "--mechanism", "--budget"),
)
"""Options that would leave the folder, start other machinery or never end."""
_WHOLE = ("--seed", "--recursive-l", "--suppress-below", "--block-rows", "--memory", "--canaries", "--guesses")
_READ = ("--schema", "--original", "--provenance", "--population", "--secret", "--reference")
_WRITTEN = (
    *("-o", "--output", "--html", "--json", "--markdown", "--junit", "--plots", "--tables", "--key"),
    "--new-provenance",
)
GOOD = {
    "--suppression": ("excluded", "own", "wildcard"),
    "--withheld-cells": ("wildcard", "own"),
    "--weighting": ("size", "paper"),
    "--link": ("class", "containment", "likelihood", "tightest", "distance", "class,distance"),
    "--attacks": ("linking", "membership", "uniqueness", "homogeneity,alias", "background", "inference", "definetti"),
    "--utility": ("none", "queries", "classification", "correlation", "pmse", "granularity"),
    "--columns": ("age", "age,sex", "income", "x"),
    "--policy": ("k3", "k5", "strict", "ema", "cms"),
    "--taxonomies": ("none", "texts", "all"),
    "--seed": ("0", "1", "7"),
    "--sample": ("1", "5", "0.5"),
    "--recursive-l": ("1", "2", "3"),
    "--suppress-below": ("2", "3"),
    "--knows": ("age", "sex", "age,sex", "region", "x"),
    "--method": ("mondrian", "mdav", "anatomy", "slicing", "kmember", "identity"),
    "--set": ("k=2", "k=3", "l=2", "linking.threshold=0.1", "homogeneity.tau=0.9", "proximity.epsilon=5"),
    "--targets": ("1", "1,2", "age=30", "sex=F"),
    "--drop": ("note", "age", "income"),
    "--coarsen": ("age", "town", "zip=2", "born"),
}
"""Values of options that make sense for some tables."""
_WORDS = ("excluded", "own", "wildcard", "size", "paper", "all", "none", "class", "texts", "rows", "linking", "queries")


def change_options(draft: Draft, rng: Random) -> None:
    """Changes the command line in one place: a value, an option more, less or twice."""
    move = rng.randrange(10)
    if draft.options and move < 4:
        place = rng.randrange(len(draft.options))
        option, value = draft.options[place]
        if value is not None:
            draft.options[place] = (option, _odd(option, rng))
            draft.outputs.pop(value, None)
            draft.free = True
    elif draft.options and move == 4:
        _, value = draft.options.pop(rng.randrange(len(draft.options)))
        draft.outputs.pop(value or "", None)
        draft.free = True
    elif draft.options and move == 5:
        draft.options.append(rng.choice(draft.options))
    elif draft.given and move == 6:
        draft.given[rng.randrange(len(draft.given))] = rng.choice((*_PATHS, *odd.NAMES))
        draft.free = True
    else:
        one = rng.choice(_parameters(draft.command))
        option = rng.choice([*one.opts, *one.secondary_opts])
        if option in _NEVER:
            option = rng.choice(("--nonsense", "--version", "-x", "--", "-"))
            draft.options.append((option, None))
        elif one.is_flag:
            draft.options.append((option, None))
            draft.free = draft.free or option not in _HARMLESS
        else:
            for name in [value for asked, value in draft.options if asked in one.opts]:
                draft.outputs.pop(name or "", None)  # the last one holds
            draft.options.append((option, _odd(option, rng)))
            draft.free = True


_PATHS = (
    *("", ".", "no/such/file.csv", "missing.csv", "schema.toml", "data.csv", "release.csv"),
    *("/dev/null", "-"),
)
_TARGETS = (
    *("no/such/folder/x.html", "schema.toml", "data.csv", ".", "out", "x.xlsx", "x.csv.gz"),
    *("x.PARQUET", "x", "-"),
    *("a\x01b.html", "x" * 300, "x/" * 2_000 + "y", "data.csv/x.json", "é🙂.json", "new.html", "new.parquet", " ", ""),
)


def _odd(option: str, rng: Random) -> str:
    """A value for an option: odd, or good elsewhere."""
    if option in GOOD and rng.random() < 0.6:
        return rng.choice(GOOD[option])
    if option in _WHOLE:
        return rng.choice(odd.WHOLE)
    if option in ("--timeout", "--sample", "--holdout", "--claim-epsilon", "--claim-delta", "--confidence"):
        return rng.choice(odd.REAL)
    if option in _WRITTEN:
        return rng.choice(_TARGETS)
    if option in _READ:
        return rng.choice(_PATHS)
    if option in ("--k", "--l"):
        return rng.choice((*odd.WHOLE, "2,3", "none", "none,2", "2,,3", ","))
    if option == "--set":
        return rng.choice(("", "=", "k=", "=5", "k=x", "k=-1", "k=10", "linking.threshold=2", "nothing.x=1", "a.b.c=1"))
    if option == "--sweep":
        return rng.choice(
            ("known=1..2", "known=0..1", "known=5", "known=2..1", "known=1..9", "known=", "x", "known=1,,2")
        )
    if option == "--targets":
        return rng.choice(
            ("1", "1,2", "0", "-1", "999", "1.5", "x", "@missing", "@schema.toml", "age=30", "=", ",", "sex=F")
        )
    return rng.choice((*_WORDS, *odd.NAMES, *odd.CELLS))
