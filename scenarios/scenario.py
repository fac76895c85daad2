"""Scenario files: data, releases, adversaries, attacks and policy of a red-team run, in TOML.

    [data]
    source = "town"          # a built-in name; or file = "data.csv" with schema = "schema.toml" (and population = "…")
    sample = 0.5             # the share that is released; the rest are outsiders
    seed = 7

    [[release]]
    method = "mondrian"      # with its settings; lists are swept. Or file = "release.csv" with provenance or match
                             # Or program = "COMMAND {in} {out} {seed}", where the user allows programs
    k = [3, 5, 10]           # three releases. A synthetic file has no_match = true, and holdout (and reference) if wanted

    [[adversary]]
    name = "prosecutor"      # prosecutor, journalist, marketer; or any name with kind = one of these
    knows = ["birth_year", "sex", "postcode"]
    noise = { birth_year = 1 }         # docs/scenario.md lists what else can be known or wrong
    stale = { postcode = 0.1 }

    [attacks]
    run = ["linking", "homogeneity"]
    link = ["class", "likelihood"]
    proximity = { epsilon = 1000 }

    [utility]
    run = ["queries", "classification"]      # default: all measures that apply; [] is none
    columns = ["age", "salary"]              # where measures of values look; default: all published columns

    [bounds]
    facts = [0, 1, 2, 3]     # for how many facts about people bounds are told; [] is none

    [policy]
    use = "ema"

    [search]                 # the strongest adversary: which attributes are enough (docs/search.md)
    goal = "identity"        # identity, value or membership; or a list of them
    budget = 600             # seconds of CPU time

Files are looked up beside the scenario. All faults of a file are reported at once.
"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from anonymizers import ANONYMIZERS, Anonymizer
from attacks import ATTACKS
from auditor.engines.programs import TIMEOUT, Program
from auditor.measure.utility import find_measures
from auditor.model.errors import AuditorError, ScenarioError, UsageError
from auditor.model.faults import Faults, hint, is_count, is_number, is_there, read_toml
from auditor.model.record.policy import Policy, read_policy
from auditor.model.seeding import DEFAULT_SEED
from auditor.posterior.links import Link
from scenarios.adversaries import SETTINGS, Adversary, MechanismKnown, Stance, check_knowledge
from scenarios.options import MOST_FACTS, Options, Search

DATA_SOURCES = ("town",)


@dataclass(frozen=True, slots=True)
class Data:
    """Where the data come from: a built-in source, or files."""

    source: str | None = None
    file: Path | None = None
    schema: Path | None = None
    population: Path | None = None
    sample: float | None = None  # the share of the people who are released; the others are outsiders


@dataclass(frozen=True, slots=True)
class Plan:
    """One release: made by an anonymizer or a program, or read from a file."""

    name: str
    method: Anonymizer | None = None
    file: Path | None = None
    provenance: Path | None = None
    match: str | None = None
    no_match: bool = False  # whether it is synthetic: no row of it belongs to anybody
    holdout: Path | None = None  # people who are not in it
    reference: Path | None = None  # further ones, for adversaries to learn from
    program: Program | None = None

    @property
    def is_file(self) -> bool:
        """Whether it is the same whatever the seed."""
        return self.file is not None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A red-team run."""

    name: str
    data: Data
    releases: tuple[Plan, ...]
    options: Options = field(default_factory=Options)  # what each audit does
    search: Search | None = None  # what a search for the strongest adversary is asked
    folder: Path = Path()  # where its files are

    @property
    def earlier(self) -> dict[str, Path]:
        """The files of other releases that some adversary has, by the names they are given."""
        names = {plan.name for plan in self.releases}
        crew = self.options.adversaries or ()
        return {name: self.folder / name for adversary in crew for name in adversary.earlier if name not in names}


def builtin_scenarios() -> dict[str, Path]:
    """The built-in scenarios by name, and their files."""
    folder = Path(str(resources.files("scenarios") / "data"))
    return {f.parent.name: f for f in sorted(folder.glob("*/scenario.toml"))}


def read_scenario(name: str, programs: bool = False) -> Scenario:
    """A built-in scenario by its name, or one in a TOML file. One that runs `programs` is refused unless they are allowed:
    whoever sent the file would otherwise choose what runs here."""
    known = builtin_scenarios()
    file = known.get(name, Path(name))
    if not file.is_file():
        if file.suffix == ".toml" or len(file.parts) > 1:
            raise ScenarioError(f"{file}: {'a folder, not a TOML file' if file.is_dir() else 'there is no such file'}.")
        raise ScenarioError(
            f"There is no scenario {name!r}.{hint(name, known)} The built-in ones are {', '.join(known)}; "
            "or give a TOML file."
        )
    title = name if name in known else file.stem
    faults = Faults(ScenarioError, str(file), read_toml(file, "scenario", ScenarioError))
    return _Reader(title, faults, file.parent, programs).scenario()


def _entry(word: str, number: int, name: Any) -> str:
    """How faults call an entry: its number, and its name where it has one."""
    return f"[[{word}]] {number}" + (f" ({name})" if isinstance(name, str) and name else "")


def _are_facts(value: Any) -> bool:
    return isinstance(value, list) and all(is_count(one) and one <= MOST_FACTS for one in value)


class _Reader:
    """Reads one file, collecting its faults."""

    def __init__(self, title: str, faults: Faults, folder: Path, programs: bool) -> None:
        self.title, self.faults, self.folder, self.programs = title, faults, folder, programs
        self.own_files = False
        self.releases: list[Plan] = []

    def scenario(self) -> Scenario:
        self.faults.known("data", "release", "adversary", "attacks", "utility", "bounds", "policy", "search")
        data, seed = self._data(self._part("data"))
        for number, entry in enumerate(self.faults.tables("release"), 1):
            self.releases += self._plans(self.faults.at(_entry("release", number, entry.get("name")), entry))
        if not self.faults.data.get("release"):
            self.faults.add("there must be at least one [[release]].")
        attacks = self._part("attacks")
        options = Options(
            adversaries=self._adversaries(),
            attacks=attacks.choices("run", ATTACKS.all()),
            links=self._links(attacks),
            settings=self._settings(attacks),
            utility=self._utility(self._part("utility")),
            columns=self._part("utility").texts("columns", "a list of columns"),
            policy=self._policy(self._part("policy")),
            facts=self._facts(self._part("bounds")),
            seed=seed,
        )
        search = self._search(self._part("search")) if "search" in self.faults.data else None
        self.faults.check()
        return Scenario(self.title, data, tuple(self.releases), options, search, self.folder)

    def _part(self, key: str) -> Faults:
        return self.faults.at(f"[{key}]", self.faults.data.get(key, {}))

    def _data(self, part: Faults) -> tuple[Data, int]:
        part.known("source", "file", "schema", "population", "sample", "seed")
        given = part.data
        self.own_files = "file" in given and "sample" not in given
        source = part.value("source", DATA_SOURCES.__contains__, f"one of {', '.join(DATA_SOURCES)}", near=DATA_SOURCES)
        if "source" in given and ("schema" in given or "population" in given):
            part.add("a built-in source has its own schema and population.")
        if ("source" in given) == ("file" in given):
            part.add("give either source = (a built-in name) or file = (with schema =).")
        if "file" in given and "schema" not in given:
            part.add("a file needs its schema.")
        sample = part.value("sample", lambda share: is_number(share, 0, 1) and share > 0, "above 0 and at most 1")
        if "sample" in given and "population" in given:
            part.add("give either sample (the rest are outsiders) or population.")
        seed = part.value("seed", is_count, "a whole number of at least 0")
        files = [part.file(key, self.folder) for key in ("file", "schema", "population")]
        return Data(source, files[0], files[1], files[2], sample), DEFAULT_SEED if seed is None else seed

    def _plans(self, part: Faults) -> list[Plan]:
        entry = part.data
        name = entry.get("name")
        if "file" in entry:
            part.known("name", "file", "provenance", "match", "no_match", "holdout", "reference")
            file, provenance = part.file("file", self.folder), part.file("provenance", self.folder)
            match = part.text("match", '"rows" or the name of a column')
            none = bool(part.value("no_match", lambda value: isinstance(value, bool), "true or false"))
            holdout, reference = part.file("holdout", self.folder), part.file("reference", self.folder)
            if ("match" in entry) + ("provenance" in entry) + none != 1:
                part.add(
                    'give provenance (a file), match ("rows", or a column with an id) or, for a synthetic release, '
                    "no_match = true."
                )
            if not self.own_files:
                part.add("a release from a file needs [data] file and schema, and no sample.")
            return [Plan(str(name or entry["file"]), None, file, provenance, match, none, holdout, reference)]
        if "program" in entry:
            return self._program(part)
        if "method" not in entry:
            part.add("method (an anonymizer), program (a command) or file must be given.")
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
                part.add(f"{empty[0]} must have a value, or a list of them to sweep.")
            plans = []
            for values in itertools.product(*(settings[key] for key in swept)):
                chosen = dict(zip(swept, values, strict=True))
                method = kind.configure({**settings, **chosen})
                said = " ".join(f"{key}={value}" for key, value in chosen.items())
                title = method.title if name is None else " ".join([str(name), *([said] if said else [])])
                plans.append(Plan(title, method))
            return plans
        except UsageError as error:
            part.take(error)
            return []

    def _program(self, part: Faults) -> list[Plan]:
        """A release that a program makes. Files that its command names are beside the scenario."""
        part.known("name", "program", "shell", "timeout")
        command = part.text("program", "a command with {in} and {out}")
        shell = part.value("shell", lambda value: isinstance(value, bool), "true or false")
        timeout = part.value("timeout", lambda value: is_number(value, 0) and value > 0, "above 0")
        if not self.programs:
            part.add(
                "it runs a program. If you trust this file, allow it with --run-programs (in Python: "
                "read_scenario(file, programs=True))."
            )
        if command is None or part.found:
            return []
        program = Program(
            command, bool(shell), TIMEOUT if timeout is None else float(timeout), str(self.folder.resolve())
        )
        try:
            program.check()
        except UsageError as error:
            part.take(error)
        return [Plan(str(part.data.get("name", "program")), program=program)]

    def _adversaries(self) -> tuple[Adversary, ...] | None:
        """The adversaries; each has a name of its own, since figures are told apart by it."""
        found = []
        for number, entry in enumerate(self.faults.tables("adversary"), 1):
            given = {key: value for key, value in entry.items() if (key, value) != ("knows", "all")}
            found.append(self._adversary(self.faults.at(_entry("adversary", number, entry.get("name")), given)))
        crew = [adversary for adversary in found if adversary is not None]
        names = [adversary.name for adversary in crew]
        for name in dict.fromkeys(n for n in names if names.count(n) > 1):
            self.faults.at("[[adversary]]").add(
                f"{name!r} stands more than once. Give each a name of its own, and kind."
            )
        return tuple(crew) or None

    def _adversary(self, part: Faults) -> Adversary | None:
        entry = part.data
        part.known("name", "kind", *SETTINGS)
        check_knowledge(part)
        name = str(entry.get("name", entry.get("kind", "")))
        stances = ", ".join(Stance)
        kind = part.choice("kind", Stance) if "kind" in entry else next((s for s in Stance if s == name), None)
        if kind is None and "kind" not in entry:
            own = f"an adversary with a name of its own needs kind = one of {stances}.{hint(name, Stance)}"
            part.add(own if name else f"name must be one of {stances}; or give a name of your own and kind.")
        if kind is None or part.found:
            return None
        settings: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items() if key in SETTINGS
        }
        if "mechanism" in settings:
            settings["mechanism"] = MechanismKnown(settings["mechanism"])
        releases = [plan.name for plan in self.releases]
        for other in settings.get("earlier", ()):
            if other not in releases and not is_there(self.folder / other):
                part.at("earlier").add(
                    f"{other!r} is no release of the run, nor a file beside the scenario. "
                    f"The releases are: {', '.join(releases)}."
                )
        return Adversary(kind, name, **settings)

    def _links(self, part: Faults) -> tuple[Link, ...] | None:
        links = part.choices("link", list(Link))
        return None if links is None else tuple(map(Link, links))

    def _settings(self, part: Faults) -> dict[str, Mapping[str, Any]]:
        """The settings of each attack that is given some."""
        known = ATTACKS.all()
        part.known("run", "link", *known)
        settings: dict[str, Mapping[str, Any]] = {}
        for name in known:
            given = part.value(name, lambda value: isinstance(value, Mapping), "a table of settings")
            if given is not None:
                settings[name] = given
                try:
                    ATTACKS.get(name).configure(given)
                except UsageError as error:
                    part.take(error)
        return settings

    def _utility(self, part: Faults) -> tuple[str, ...] | None:
        part.known("run", "columns")
        names = part.texts("run", "a list of measures")
        try:
            return None if names is None else find_measures(names)
        except UsageError as error:
            part.take(error)
            return None

    def _facts(self, part: Faults) -> tuple[int, ...]:
        part.known("facts")
        found = part.value("facts", _are_facts, f"a list of whole numbers from 0 to {MOST_FACTS}")
        return Options().facts if found is None else tuple(dict.fromkeys(found))

    def _search(self, part: Faults) -> Search | None:
        part.known("goal", "budget", "threshold")
        given = {key: part.data[key] for key in ("budget", "threshold") if key in part.data}
        if "goal" in part.data:
            goal = part.data["goal"]
            given["goals"] = tuple(map(str, goal)) if isinstance(goal, list) else (str(goal),)
        try:
            return Search(**given)
        except UsageError as error:
            part.take(error)
            return None

    def _policy(self, part: Faults) -> Policy | None:
        part.known("use")
        use = part.text("use", "the name of a policy or a file")
        there = use is not None and is_there(self.folder / use) and (self.folder / use).is_file()
        beside = use is not None and (there or use.endswith(".toml"))
        file = part.file("use", self.folder) if beside else None
        if use is None or part.found:
            return None
        try:
            return read_policy(use if file is None else str(file))
        except AuditorError as error:
            part.take(error)
            return None
