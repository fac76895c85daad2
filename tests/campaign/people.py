"""Valid tables of people, with their schemas: small, of several kinds, with a canary in some cells.

A *canary* is a value that one person has, and that no message and no report may show without `--reveal`."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.campaign.parts import Blob, Grid, Tree

TOWNS = {"North": ["Ayton", "Beeham"], "South": ["Cray", {"Coast": ["Dover", "Eling"]}]}
TOWN_NAMES = ("Ayton", "Beeham", "Cray", "Dover", "Eling")
DISEASES = {"Lung": ["flu", "asthma", "cough"], "Stomach": ["ulcer", "gastritis"]}
DISEASE_NAMES = ("flu", "asthma", "cough", "ulcer", "gastritis")
GRADES = ("primary", "secondary", "tertiary")


@dataclass
class People:
    """A table, what its schema says of each column and of the table, and the canaries in it."""

    columns: dict[str, dict[str, Any]]
    grid: Grid
    table: dict[str, Any] = field(default_factory=dict)
    canaries: list[str] = field(default_factory=list)
    taxonomies: dict[str, Blob] = field(default_factory=dict)
    """Taxonomy files by name."""
    linked: Grid | None = None
    """A second table about the same people."""

    def names(self, *roles: str) -> list[str]:
        """The columns of these roles."""
        return [name for name, column in self.columns.items() if column["role"] in roles]

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.names("quasi")

    @property
    def published(self) -> list[str]:
        """The columns that a release has."""
        return self.names("quasi", "sensitive", "neutral")

    def schema(self) -> Tree:
        """The schema file."""
        data: dict[str, Any] = {"table": self.table} if self.table else {}
        data["columns"] = self.columns
        if self.linked is not None:
            columns = {"ward": {"role": "quasi"}, "disease": {"role": "sensitive"}}
            data["tables"] = {"visits": {"file": "visits.csv", "key": "patient", "columns": columns}}
        return Tree("schema", deepcopy(data))


def _sizes(rng: Random) -> int:
    return rng.choice((5, 6, 8, 10, 12, 12, 15, 20, 25, 30, 60))


def _of(columns: dict[str, dict[str, Any]], cells: dict[str, Callable[[int], str]], rows: int) -> People:
    grid = Grid("table", list(columns), [[cells[name](number) for name in columns] for number in range(rows)])
    return People(columns, grid)


def _canary(people: People, rng: Random, *columns: str) -> People:
    """Plants a canary in each of these columns, of one person."""
    row = rng.choice(people.grid.rows)
    for name in columns:
        number = people.columns[name].get("type") == "numeric"
        made = str(rng.randrange(70_000_000, 79_999_999)) if number else f"canary{rng.randrange(10**6, 10**7)}q"
        row[people.grid.header.index(name)] = made
        people.canaries.append(made)
    return people


def patients(rng: Random) -> People:
    """A hospital's table: numbers, codes, a taxonomy, two sensitive columns."""
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi", "domain": ["F", "M"]},
        "zip": {"role": "quasi"},
        "town": {"role": "quasi", "taxonomy": TOWNS},
        "disease": {"role": "sensitive", "taxonomy": DISEASES},
        "income": {"role": "sensitive", "type": "numeric"},
        "note": {"role": "neutral"},
    }
    cells: dict[str, Callable[[int], str]] = {
        "name": lambda i: f"Person {i}",
        "age": lambda _: str(rng.randrange(20, 60)),
        "sex": lambda _: rng.choice("FM"),
        "zip": lambda _: str(rng.randrange(13_000, 13_030)),
        "town": lambda _: rng.choice(TOWN_NAMES),
        "disease": lambda _: rng.choice(DISEASE_NAMES),
        "income": lambda _: str(rng.randrange(10, 90) * 100),
        "note": lambda _: rng.choice(("a", "b")),
    }
    return _canary(_of(columns, cells, _sizes(rng)), rng, "name", "income", "note")


def survey(rng: Random) -> People:
    """A survey with weights, an order and missing values."""
    columns: dict[str, dict[str, Any]] = {
        "education": {"role": "quasi", "order": list(GRADES)},
        "region": {"role": "quasi", "missing": ["99"]},
        "children": {"role": "quasi", "type": "numeric", "domain": [0, 9]},
        "weight": {"role": "weight"},
        "smokes": {"role": "sensitive"},
    }
    cells: dict[str, Callable[[int], str]] = {
        "education": lambda _: rng.choice((*GRADES, "?")),
        "region": lambda _: rng.choice(("r1", "r2", "r3", "99")),
        "children": lambda _: rng.choice("01234?"),
        "weight": lambda _: f"{rng.uniform(1, 300):.2f}",
        "smokes": lambda _: rng.choice(("yes", "no", "former")),
    }
    made = _of(columns, cells, _sizes(rng))
    made.table = {"missing": ["?"], "suppressed": ["*", "XX"]}
    return _canary(made, rng, "smokes")


def dated(rng: Random) -> People:
    """Days of birth and codes."""
    columns = {
        "id": {"role": "identifier"},
        "born": {"role": "quasi"},
        "code": {"role": "quasi", "taxonomy": "codes.csv"},
        "cost": {"role": "sensitive", "type": "numeric"},
    }
    codes = [f"A{i}" for i in range(4)] + [f"B{i}" for i in range(4)]
    cells: dict[str, Callable[[int], str]] = {
        "id": lambda i: str(1000 + i),
        "born": lambda _: f"{rng.randrange(1950, 1953)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
        "code": lambda _: rng.choice(codes),
        "cost": lambda _: f"{rng.uniform(10, 500):.2f}",
    }
    made = _of(columns, cells, _sizes(rng))
    lines = "".join(f"{code};{code[0]}*;all\n" for code in codes)
    made.taxonomies["codes.csv"] = Blob("taxonomy", lines.encode())
    return _canary(made, rng, "id")


def chosen(rng: Random) -> People:
    """People with a choice of how their disease is published, as `grading` takes it."""
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "numeric"},
        "wish": {"role": "choice"},
        "disease": {"role": "sensitive", "taxonomy": DISEASES},
        "income": {"role": "sensitive", "type": "numeric"},
    }
    cells: dict[str, Callable[[int], str]] = {
        "name": lambda i: f"Person {i}",
        "age": lambda _: str(rng.randrange(20, 60)),
        "wish": lambda _: rng.choice("123"),
        "disease": lambda _: rng.choice(DISEASE_NAMES),
        "income": lambda _: str(rng.randrange(10, 90) * 100),
    }
    return _canary(_of(columns, cells, _sizes(rng)), rng, "name")


def european(rng: Random) -> People:
    """A decimal comma, semicolons, letters beyond ASCII."""
    columns = {
        "größe": {"role": "quasi", "type": "numeric"},
        "ort": {"role": "quasi"},
        "lohn": {"role": "sensitive", "type": "numeric"},
    }
    cells: dict[str, Callable[[int], str]] = {
        "größe": lambda _: f"1,{rng.randrange(50, 99)}",
        "ort": lambda _: rng.choice(("Köln", "Nürnberg", "Åhus")),
        "lohn": lambda _: f"{rng.randrange(1000, 5000)},5",
    }
    made = _of(columns, cells, _sizes(rng))
    made.table, made.grid.delimiter = {"decimal": ",", "delimiter": ";"}, ";"
    return made


def bare(rng: Random) -> People:
    """Quasi-identifiers only."""
    columns: dict[str, dict[str, Any]] = {"a": {"role": "quasi"}, "b": {"role": "quasi", "type": "numeric"}}
    cells = {"a": lambda _: rng.choice("xyz"), "b": lambda _: str(rng.randrange(5))}
    return _of(columns, cells, _sizes(rng))


def wide(rng: Random) -> People:
    """Many quasi-identifiers of few values."""
    columns: dict[str, dict[str, Any]] = {f"q{i}": {"role": "quasi"} for i in range(11)}
    columns["s"] = {"role": "sensitive"}
    cells: dict[str, Callable[[int], str]] = {name: lambda _: rng.choice("ab") for name in columns}
    return _canary(_of(columns, cells, _sizes(rng)), rng, "s")


def declared(rng: Random) -> People:
    """Every value that a column may have is in the schema, as differential privacy needs it."""
    columns: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi", "type": "numeric", "domain": [18, 80]},
        "sex": {"role": "quasi", "domain": ["F", "M"]},
        "grade": {"role": "quasi", "order": list(GRADES)},
        "disease": {"role": "sensitive", "domain": list(DISEASE_NAMES)},
    }
    cells: dict[str, Callable[[int], str]] = {
        "age": lambda _: str(rng.randrange(18, 81)),
        "sex": lambda _: rng.choice("FM"),
        "grade": lambda _: rng.choice(GRADES),
        "disease": lambda _: rng.choice(DISEASE_NAMES),
    }
    return _of(columns, cells, _sizes(rng))


def twins(rng: Random) -> People:
    """Everybody alike, or nearly."""
    columns: dict[str, dict[str, Any]] = {
        "x": {"role": "quasi", "type": "numeric"},
        "y": {"role": "quasi"},
        "s": {"role": "sensitive"},
        "t": {"role": "sensitive", "type": "numeric"},
    }
    cells: dict[str, Callable[[int], str]] = {
        "x": lambda _: "7",
        "y": lambda _: "same",
        "s": lambda i: "rare" if i == 0 else "common",
        "t": lambda _: "0",
    }
    return _of(columns, cells, _sizes(rng))


def visits(rng: Random) -> People:
    """Several rows of one person, in households."""
    columns = {
        "patient": {"role": "person"},
        "house": {"role": "household"},
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    }
    rows = _sizes(rng)
    whose = sorted(rng.randrange(rows // 2 + 1) for _ in range(rows))
    ages, sexes = [str(rng.randrange(20, 60)) for _ in range(rows)], [rng.choice("FM") for _ in range(rows)]
    cells: dict[str, Callable[[int], str]] = {
        "patient": lambda i: f"P{whose[i]}",
        "house": lambda i: f"H{whose[i] // 3}",
        "age": lambda i: ages[whose[i]],
        "sex": lambda i: sexes[whose[i]],
        "disease": lambda _: rng.choice(DISEASE_NAMES),
    }
    return _canary(_of(columns, cells, rows), rng, "disease")


def linked(rng: Random) -> People:
    """People, and their visits in a second table."""
    columns: dict[str, dict[str, Any]] = {
        "patient": {"role": "person"},
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi"},
    }
    rows = _sizes(rng)
    cells: dict[str, Callable[[int], str]] = {
        "patient": lambda i: f"P{i}",
        "age": lambda _: str(rng.randrange(20, 26)),
        "sex": lambda _: rng.choice("FM"),
    }
    made = _of(columns, cells, rows)
    seen = [[f"P{rng.randrange(rows)}", rng.choice("ABC"), rng.choice(DISEASE_NAMES)] for _ in range(rows)]
    made.linked = Grid("linked table", ["patient", "ward", "disease"], seen)
    return made


def noise(rng: Random) -> People:
    """A table of odd columns, most of them neutral: what a schema that fits can still hold."""
    columns: dict[str, dict[str, Any]] = {}
    values: dict[str, tuple[str, ...]] = {}
    for number in range(rng.choice((2, 3, 5, 8))):
        name = f"c{number}"
        numeric = rng.random() < 0.4
        role = rng.choice(("quasi", "quasi", "sensitive", "neutral"))
        columns[name] = {"role": role} | ({"type": "numeric"} if numeric else {})
        values[name] = rng.choice(_NUMBERS if numeric else _TEXTS)
    cells: dict[str, Callable[[int], str]] = {
        name: lambda _, found=found: rng.choice(found) for name, found in values.items()
    }
    made = _of(columns, cells, _sizes(rng))
    made.table = {"suppressed": ["SUPPRESSED"]} if rng.random() < 0.5 else {}
    return made


_NUMBERS = (
    ("1e308", "-1e308", "0"), ("1e-308", "2e-308", "0"), ("0", "0.0", "-0", "00"), ("9007199254740992", "1"),
    ("1", "1.0000000000000002", "1.0000000000000004"), ("-1", "-2", "-3.5"), ("1e15", "1e-15"), ("5",), ("", "1", "2"),
)  # fmt: skip
_TEXTS = (
    ("a", "A", " a"), ("1", "1.0", "01"), ("20-39", "40-59", "<20"), ("a,b", "a", "b"), ("{a}", "{a, b}"), ("x*", "x**"),
    ("2020-01-01", "2020-02", "2020"), ("é", "e\u0301"), ("", "a"), ("yes", "no", "NaN"), ("[1, 2]", "1-2"), ("-", "+"),
    ("=1", "'=1", "+1"), ("12345678901234567890", "1"), ("\u202ea", "b"), ("x" * 3000, "y"), ('"', "''"), ("bucket", "*a"),
)  # fmt: skip


KINDS: tuple[tuple[Callable[[Random], People], int], ...] = (
    (patients, 8), (survey, 4), (dated, 3), (chosen, 3), (european, 2), (bare, 1), (wide, 1), (twins, 1),
    (visits, 3), (linked, 1), (noise, 4), (declared, 3),
)  # fmt: skip


def draw(rng: Random) -> People:
    """A table of people of some kind."""
    kinds, weights = zip(*KINDS, strict=True)
    made: People = rng.choices(kinds, weights)[0](rng)
    return made


def population(people: People, rng: Random) -> Grid:
    """The people and strangers like them: what the journalist has."""
    columns = [people.grid.header.index(name) for name in people.quasi]
    rows = [[row[i] for i in columns] for row in people.grid.rows]
    rows += [[rng.choice(rows)[place] for place in range(len(columns))] for _ in range(rng.choice((1, 5, 30)))]
    return Grid("population", list(people.quasi), rows, people.grid.delimiter)


def strangers(people: People, rng: Random) -> Grid:
    """People like these who are certainly not among them: in a holdout, or to learn from."""
    found = people.grid.copy()
    found.kind = "outsiders"
    for place in range(len(found.header)):
        cells = [row[place] for row in found.rows if not any(canary in row[place] for canary in people.canaries)]
        for row in found.rows:
            row[place] = rng.choice(cells or ["x"])
    found.rows = [list(row) for row in rng.choices(found.rows, k=rng.choice((3, 10, 40)))]
    return found
