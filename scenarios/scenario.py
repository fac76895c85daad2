"""Scenario files: data, releases, adversaries, attacks and policy of a red-team run, in TOML.

    [data]
    source = "town"          # a built-in name; or file = "data.csv" with schema = "schema.toml" (and population = "…")
    sample = 0.5             # the rest are outsiders
    seed = 7

    [[release]]
    method = "mondrian"      # with its settings; lists are swept. Or file = "release.csv" with provenance or match
    k = [3, 5, 10]

    [[adversary]]
    name = "prosecutor"      # prosecutor, journalist, marketer; or any name with kind = one of these
    knows = ["birth_year", "sex", "postcode"]
    noise = { birth_year = 1 }         # and more that is known or may be wrong: docs/scenario.md
    stale = { postcode = 0.1 }

    [attacks]
    run = ["linking", "homogeneity"]
    link = ["class", "likelihood"]
    proximity = { epsilon = 1000 }

    [utility]
    run = ["queries", "classification"]      # default: all measures that apply; [] is none

    [policy]
    use = "ema"

Files are looked up beside the scenario. All faults of a file are reported at once.
"""

from __future__ import annotations

import difflib
import itertools
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from anonymizers import ANONYMIZERS, Anonymizer
from attacks import ATTACKS
from auditor.measure.utility import find_measures
from auditor.model.errors import ScenarioError, UsageError
from auditor.posterior.links import Link
from scenarios.adversaries import SETTINGS, Adversary, MechanismKnown, Stance, knowledge_faults

DATA_SOURCES = ("town",)
_CLOSE = 0.75
"""How alike an unknown key and a known one must be for a hint at it."""


@dataclass(frozen=True, slots=True)
class Data:
    """Where the data come from: a built-in source, or files."""

    source: str | None = None
    file: Path | None = None
    schema: Path | None = None
    population: Path | None = None
    sample: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """One release: made by an anonymizer, or read from a file."""

    name: str
    method: Anonymizer | None = None
    file: Path | None = None
    provenance: Path | None = None
    match: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A red-team run. `policy` is a name or a file; None in `attacks`, `links` and `utility` means all that apply; `folder`
    is where its files are."""

    name: str
    data: Data
    releases: tuple[Plan, ...]
    adversaries: tuple[Adversary, ...] | None = None
    attacks: tuple[str, ...] | None = None
    links: tuple[Link, ...] | None = None
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    policy: str | None = None
    seed: int | None = None
    folder: Path = Path()
    utility: tuple[str, ...] | None = None

    @property
    def earlier(self) -> dict[str, Path]:
        """The files of other releases that some adversary has, by the names they are given."""
        names = {plan.name for plan in self.releases}
        wanted = [name for adversary in self.adversaries or () for name in adversary.earlier if name not in names]
        return {name: self.folder / name for name in wanted}


def builtin_scenarios() -> dict[str, Path]:
    """The built-in scenarios by name, and their files."""
    folder = Path(str(resources.files("scenarios") / "data"))
    return {f.parent.name: f for f in sorted(folder.glob("*/scenario.toml"))}


def read_scenario(name: str) -> Scenario:
    """A built-in scenario by its name, or one in a TOML file."""
    known = builtin_scenarios()
    file = known.get(name, Path(name))
    if not file.is_file():
        if file.suffix == ".toml" or len(file.parts) > 1:
            raise ScenarioError(f"{file}: {'a folder, not a TOML file' if file.is_dir() else 'there is no such file'}.")
        raise ScenarioError(f"There is no scenario {name!r}. Built in are: {', '.join(known)}; or give a TOML file.")
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ScenarioError(f"{file}: the scenario cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: the scenario must be UTF-8 text ({error.reason}).") from error
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: the scenario must be TOML. {error}.") from error
    title = name if name in known else file.stem
    return _Reader(title, str(file), file.parent).scenario(data)


def _entry(word: str, number: int, name: Any) -> str:
    """How faults call an entry: its place among its kind, and its name where it has one."""
    return f"[[{word}]] {number}" + (f" ({name})" if isinstance(name, str) and name else "")


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


class _Reader:
    """Reads one file, collecting its faults."""

    def __init__(self, title: str, where: str, folder: Path) -> None:
        self.title, self.where, self.folder = title, where, folder
        self.faults: list[str] = []
        self.own_files = False
        self.releases: list[str] = []

    def scenario(self, data: Mapping[str, Any]) -> Scenario:
        self._known(data, ("data", "release", "adversary", "attacks", "utility", "policy"), "")
        source, seed = self._data(self._table(data.get("data", {}), "[data]"))
        releases = [
            plan for number, entry in enumerate(self._list(data, "release"), 1) for plan in self._plans(entry, number)
        ]
        if not data.get("release"):
            self.faults.append(f"{self.where}: [[release]] must be there at least once.")
        self.releases = [plan.name for plan in releases]
        adversaries = [self._adversary(entry, n) for n, entry in enumerate(self._list(data, "adversary"), 1)]
        self._own_names([a.name for a in adversaries if a is not None])
        run, links, settings = self._attacks(self._table(data.get("attacks", {}), "[attacks]"))
        utility = self._utility(self._table(data.get("utility", {}), "[utility]"))
        policy = self._table(data.get("policy", {}), "[policy]")
        self._known(policy, ("use",), "[policy]")
        use = policy.get("use")
        if use is not None and (not isinstance(use, str) or not use):
            self.faults.append(f"{self._place('[policy]')}: use must be the name of a policy or a file. Got {use!r}.")
        elif use is not None and (self.folder / use).is_file():
            use = str(self.folder / use)
        elif use is not None and use.endswith(".toml"):
            self.faults.append(f"{self._place('[policy]')}, use: {self.folder / use}: there is no such file.")
        if self.faults:
            raise ScenarioError.of(self.faults)
        people = tuple(a for a in adversaries if a is not None) or None
        return Scenario(
            self.title, source, tuple(releases), people, run, links, settings, use, seed, self.folder, utility
        )

    def _known(self, data: Mapping[str, Any], allowed: tuple[str, ...], part: str) -> None:
        for key in data:
            if key not in allowed:
                near = difflib.get_close_matches(key, allowed, n=1, cutoff=_CLOSE)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(allowed)}."
                self.faults.append(f"{self._place(part)}: unknown key {key!r}. {hint}")

    def _place(self, part: str) -> str:
        return f"{self.where}, {part}" if part else self.where

    def _table(self, value: Any, part: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self.faults.append(f"{self._place(part)} must be a table of settings. Got {value!r}.")
        return {}

    def _list(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = data.get(key, [])
        if isinstance(value, list) and all(isinstance(v, Mapping) for v in value):
            return value
        self.faults.append(f"{self.where}: write each {key} as [[{key}]].")
        return []

    def _file(self, data: Mapping[str, Any], key: str, part: str) -> Path | None:
        if key not in data:
            return None
        name = data[key]
        if not isinstance(name, str) or not name:
            self.faults.append(f"{self._place(part)}: {key} must be the name of a file. Got {name!r}.")
            return None
        file = self.folder / name
        if not file.exists():
            self.faults.append(f"{self._place(part)}, {key}: {file}: there is no such file.")
        return file

    def _data(self, data: Mapping[str, Any]) -> tuple[Data, int | None]:
        part = "[data]"
        self._known(data, ("source", "file", "schema", "population", "sample", "seed"), part)
        source, sample, seed = data.get("source"), data.get("sample"), data.get("seed")
        self.own_files = "file" in data and sample is None
        if source is not None and source not in DATA_SOURCES:
            self.faults.append(f"{self._place(part)}: source must be one of {', '.join(DATA_SOURCES)}. Got {source!r}.")
        if source is not None and ("schema" in data or "population" in data):
            self.faults.append(f"{self._place(part)}: a built-in source has its own schema and population.")
        if (source is None) == ("file" not in data):
            self.faults.append(
                f"{self._place(part)}: give either source = (a built-in name) or file = (with schema =)."
            )
        if "file" in data and "schema" not in data:
            self.faults.append(f"{self._place(part)}: a file needs its schema.")
        if sample is not None and not (
            isinstance(sample, int | float) and not isinstance(sample, bool) and 0 < sample <= 1
        ):
            self.faults.append(f"{self._place(part)}: sample must be above 0 and at most 1. Got {sample!r}.")
        if sample is not None and "population" in data:
            self.faults.append(f"{self._place(part)}: give either sample (the rest are outsiders) or population.")
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
            self.faults.append(f"{self._place(part)}: seed must be a whole number of at least 0. Got {seed!r}.")
        files = [self._file(data, key, part) for key in ("file", "schema", "population")]
        return Data(source, files[0], files[1], files[2], sample), seed

    def _plans(self, entry: Mapping[str, Any], number: int) -> list[Plan]:
        name = entry.get("name")
        part = _entry("release", number, name)
        if "file" in entry:
            self._known(entry, ("name", "file", "provenance", "match"), part)
            file = self._file(entry, "file", part)
            provenance = self._file(entry, "provenance", part)
            match = entry.get("match")
            if match is not None and not isinstance(match, str):
                self.faults.append(f'{self._place(part)}: match must be "rows" or the name of a column. Got {match!r}.')
            if (match is None) == ("provenance" not in entry):
                self.faults.append(
                    f'{self._place(part)}: give either provenance (a file) or match ("rows", or a column with an id).'
                )
            if not self.own_files:
                self.faults.append(
                    f"{self._place(part)}: a release from a file needs [data] file and schema, and no sample."
                )
            return [Plan(str(name or entry["file"]), None, file, provenance, match)]
        if "method" not in entry:
            self.faults.append(f"{self._place(part)}: method (an anonymizer) or file must be given.")
            return []
        settings = {key: value for key, value in entry.items() if key not in ("name", "method")}
        try:
            kind = ANONYMIZERS.get(str(entry["method"]))
            hints = typing.get_type_hints(kind)
            swept = [
                key
                for key, value in settings.items()
                if isinstance(value, list) and typing.get_origin(hints.get(key)) is not tuple
            ]
            empty = [key for key in swept if not settings[key]]
            if empty:
                self.faults.append(f"{self._place(part)}: {empty[0]} must have a value, or a list of them to sweep.")
            plans = []
            for values in itertools.product(*(settings[key] for key in swept)):
                chosen = dict(zip(swept, values, strict=True))
                method = kind.configure({**settings, **chosen})
                said = " ".join(f"{key}={value}" for key, value in chosen.items())
                title = method.title if name is None else " ".join([str(name), *([said] if said else [])])
                plans.append(Plan(title, method))
            return plans
        except UsageError as error:
            self.faults.append(f"{self._place(part)}: {error}")
            return []

    def _adversary(self, entry: Mapping[str, Any], number: int) -> Adversary | None:
        part = _entry("adversary", number, entry.get("name"))
        self._known(entry, ("name", "kind", *SETTINGS), part)
        name = str(entry.get("name", entry.get("kind", "")))
        kind = entry.get("kind", name)
        settings = {key: value for key, value in entry.items() if key in SETTINGS}
        if settings.get("knows") == "all":
            del settings["knows"]
        faults = [f"{self._place(part)}: {fault}" for fault in knowledge_faults(settings)]
        if kind not in list(Stance):
            stances = ", ".join(Stance)
            if "kind" in entry:
                fault = f"kind must be one of {stances}. Got {kind!r}."
            elif name:
                fault = f"an adversary with a name of its own needs kind = one of {stances}."
            else:
                fault = f"name must be one of {stances}; or give a name of your own and kind."
            faults.append(f"{self._place(part)}: {fault}")
        if faults:
            self.faults += faults
            return None
        settings.update({key: tuple(settings[key]) for key in ("knows", "earlier") if _is_list(settings.get(key))})
        if "mechanism" in settings:
            settings["mechanism"] = MechanismKnown(settings["mechanism"])
        for other in settings.get("earlier", ()):
            if other not in self.releases and not (self.folder / other).exists():
                self.faults.append(
                    f"{self._place(part)}, earlier: {other!r} is no release of the run, nor a file beside the scenario. "
                    f"Releases are: {', '.join(self.releases)}."
                )
        return Adversary(Stance(kind), name, **settings)

    def _own_names(self, names: list[str]) -> None:
        """Figures are told apart by the adversary's name."""
        for name in dict.fromkeys(n for n in names if names.count(n) > 1):
            self.faults.append(
                f"{self._place('[[adversary]]')}: {name!r} stands more than once. Give each a name of its own, and kind."
            )

    def _attacks(
        self, data: Mapping[str, Any]
    ) -> tuple[tuple[str, ...] | None, tuple[Link, ...] | None, dict[str, Mapping[str, Any]]]:
        known = tuple(ATTACKS.all())
        self._known(data, ("run", "link", *known), "[attacks]")
        run = self._names(data.get("run"), known, "[attacks]: run")
        link = self._names(data.get("link"), tuple(Link), "[attacks]: link")
        settings: dict[str, Mapping[str, Any]] = {}
        for name in known:
            if name in data:
                settings[name] = self._table(data[name], f"[attacks]: {name}")
                try:
                    ATTACKS.get(name).configure(settings[name])
                except UsageError as error:
                    self.faults.append(f"{self._place('[attacks]')}: {error}")
        return run, None if link is None else tuple(Link(x) for x in link), settings

    def _utility(self, data: Mapping[str, Any]) -> tuple[str, ...] | None:
        self._known(data, ("run",), "[utility]")
        value = data.get("run")
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.faults.append(f"{self._place('[utility]')}: run must be a list of measures. Got {value!r}.")
            return None
        try:
            return find_measures(value)
        except UsageError as error:
            self.faults.append(f"{self._place('[utility]')}: {error}")
            return None

    def _names(self, value: Any, allowed: tuple[str, ...], part: str) -> tuple[str, ...] | None:
        if value is None:
            return None
        if isinstance(value, list) and value and all(v in allowed for v in value):
            return tuple(value)
        self.faults.append(f"{self._place(part)} must be a list of: {', '.join(allowed)}. Got {value!r}.")
        return None
