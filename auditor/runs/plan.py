"""The plan of a comparison: its cells, which are methods × settings × seeds.

Methods call their strength by different names. `k` sets the first of `k`, `r` and `bucket_size` that a method has, and `l`
sets its `l`; a method with none of these runs once. Other settings are given under the method's name, and override `k` and
`l` where they are the same setting. Where a method refuses its settings, the cell says why; that is no error.

The id of a cell is a hash of everything that its result depends on: the coded data with their taxonomies and the SHA-256 of
the files, the method with all its settings, the seed, what is asked of the audit, and the version of the program. So a stale
result is never reused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizers import ANONYMIZERS, Anonymizer
from auditor.model.errors import UsageError
from auditor.model.table import Table
from auditor.runs.mechanisms import ProgramMechanism
from auditor.runs.worlds import World
from auditor.version import VERSION
from scenarios.options import Options

STRENGTHS = ("k", "r", "bucket_size")  # the names that methods have for the size of their classes
DIVERSITY = "l"
ALL, NONE = "all", "none"
Settings = Mapping[str, Mapping[str, Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Grid:
    """What is compared. None in `l` is a release without diversity, where the method allows it; `settings` holds the values
    of other settings, by method."""

    methods: tuple[str, ...]
    k: tuple[int, ...] = ()
    l: tuple[int | None, ...] = ()
    settings: Settings = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    programs: Mapping[str, ProgramMechanism] = field(default_factory=dict)
    """Programs of the user's, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that is compared."""
        return *self.methods, *self.programs


@dataclass(frozen=True, slots=True)
class Cell:
    """One release to make. `params` are the settings asked for; `point` names the method and its settings, `name` also
    the seed where there are several. Neither name is part of the id, since both depend on what else is compared. `fault` says
    why the method refuses its settings."""

    id: str
    name: str
    point: str
    method: str
    params: Mapping[str, Any]
    seed: int
    fault: str | None = None


def grid(
    methods: Sequence[str],
    k: Sequence[int] = (),
    l: Sequence[int | None] = (),
    settings: Settings | None = None,
    seeds: Sequence[int] = (0,),
    programs: Mapping[str, ProgramMechanism] | None = None,
) -> Grid:
    """A checked grid: `methods` are names, or `all` for every anonymizer, or `none`."""
    named = [name for given in methods if given != NONE for name in (ANONYMIZERS.all() if given == ALL else [given])]
    for name, values in (settings or {}).items():
        fields = {f.name for f in dataclasses.fields(ANONYMIZERS.get(name))}
        for key in values:
            if key not in fields:
                ANONYMIZERS.get(name).configure({key: None})  # raises an error that lists the settings
        if name not in named:
            raise UsageError(f"--set names {name!r}, which is not among the methods to compare.")
    if not named and not programs:
        raise UsageError("There must be at least one method to compare.")
    both = [name for name in programs or {} if name in named]
    if both:
        raise UsageError(f"A program and a method are both called {both[0]!r}. Give the program another name.")
    for name in named:
        ANONYMIZERS.get(name)
    for word, given in (("k", k), ("l", l)):
        low = [value for value in given if value is not None and value < 1]
        if low:
            raise UsageError(f"{word} must be at least 1. Got {low[0]}.")
    return Grid(tuple(dict.fromkeys(named)), tuple(k), tuple(l), settings or {}, tuple(seeds), programs or {})


def plan(asked: Grid, world: World, options: Options) -> list[Cell]:
    """The cells of a grid on some data, in its order: by method, settings, seed."""
    common = [VERSION, data_of(world), asked_of(options)]
    cells: list[Cell] = []
    names: dict[str, int] = {}
    for method in asked.methods:
        seen = set()
        made = [(params, *_configured(method, params)) for params in _choices(method, asked)]
        if method in asked.settings and all(isinstance(found, str) for _, found, _ in made):
            raise UsageError(str(made[0][1]))
        for params, found, title in made:
            key = repr(found)
            if key in seen:
                continue
            seen.add(key)
            names[title] = names.get(title, 0) + 1
            point = title if names[title] == 1 else f"{title} ({names[title]})"
            for seed in asked.seeds:
                name = f"{point} seed={seed}" if len(asked.seeds) > 1 else point
                number = hashed([json.dumps([*common, method, key, seed]).encode()])
                fault = found if isinstance(found, str) else None
                cells.append(Cell(f"{slug(title)}-{seed}-{number[:16]}", name, point, method, params, seed, fault))
    for name, program in asked.programs.items():
        for seed in asked.seeds:
            number = hashed([json.dumps([*common, program.name, program.key, seed]).encode()])
            told = f"{name} seed={seed}" if len(asked.seeds) > 1 else name
            cells.append(Cell(f"{slug(name)}-{seed}-{number[:16]}", told, name, program.name, {"called": name}, seed))
    return cells


def mapped(method: str) -> dict[str, str]:
    """The settings of a method that `k` and `l` set."""
    fields = {f.name for f in dataclasses.fields(ANONYMIZERS.get(method))}
    strength = next((name for name in STRENGTHS if name in fields), None)
    return {**({"k": strength} if strength is not None else {}), **({"l": DIVERSITY} if DIVERSITY in fields else {})}


def _choices(method: str, asked: Grid) -> list[dict[str, Any]]:
    """The settings of a method's cells, without those that are None."""
    own, axes = asked.settings.get(method, {}), {}
    settings = mapped(method)
    if "k" in settings and asked.k:
        axes[settings["k"]] = list[Any](asked.k)
    if "l" in settings and asked.l:
        optional = type(None) in typing.get_args(typing.get_type_hints(ANONYMIZERS.get(method))[DIVERSITY])
        axes[DIVERSITY] = [value for value in asked.l if value is not None or optional] or [None]
    axes.update({name: list(values) for name, values in own.items()})
    return [
        {name: value for name, value in zip(axes, values, strict=True) if value is not None}
        for values in itertools.product(*axes.values())
    ]


def _configured(method: str, params: Mapping[str, Any]) -> tuple[Anonymizer | str, str]:
    """The method with these settings and its title; or why it refuses them, and a title of what was asked."""
    try:
        found = ANONYMIZERS.get(method).configure(params)
    except UsageError as error:
        return str(error), " ".join([method, *(f"{name}={value}" for name, value in params.items())])
    return found, found.title


def data_of(world: World) -> list[Any]:
    """Marks of the data of a run: its files, tables and outsiders."""
    tables = [world.people, *([world.population] if world.population is not None else [])]
    files = [[one.role, one.name, one.sha256, one.rows] for one in world.inputs]
    outsiders = hashed([world.outsiders.astype("<i8").tobytes()])
    return [files, [fingerprint(table) for table in tables], outsiders, list(world.notes)]


def fingerprint(table: Table) -> str:
    """A hash of a coded table and of all that its schema says, taxonomies included."""
    parts: list[bytes] = [repr(table.schema.format).encode()]
    for name, codes in table.codes.items():
        column, domain = table.schema.columns[name], table.domains[name]
        tree = column.taxonomy
        said: list[Any] = [name, column.role, column.type, column.bounds, column.values, list(column.notation)]
        said += [domain.texts, domain.span, domain.missing]
        said.append(None if tree is None else [tree.labels, tree.parent.tolist()])
        parts += [json.dumps(said).encode(), codes.astype("<i4").tobytes()]
    return hashed(parts)


def asked_of(options: Options) -> list[Any]:
    """All that is asked of an audit but its seed, as text."""
    settings = {attack: dict(sorted(given.items())) for attack, given in sorted(options.settings.items())}
    others = {f.name: getattr(options, f.name) for f in dataclasses.fields(options)}
    return [repr(settings), repr([(n, v) for n, v in sorted(others.items()) if n not in ("settings", "seed")])]


def hashed(parts: Iterable[bytes]) -> str:
    """A hash of several parts."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("=", "")).strip("-")[:60]
