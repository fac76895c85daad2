"""Tables for the tests of `auditor profile`: one with a column of every kind that it knows, with the roles that a person
would choose; and the check that a proposed schema is accepted."""

from __future__ import annotations

import random
import tomllib
from datetime import date, timedelta
from pathlib import Path

import pandas as pd

from auditor.files.tables import read_table
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.profiling.patterns import luhn
from auditor.profiling.proposal import Profile
from auditor.profiling.writing import files

PEOPLE_ROLES = {
    "row": "identifier",
    "contact": "identifier",
    "mail": "identifier",
    "line": "identifier",
    "fax": "identifier",
    "home": "identifier",
    "bank": "identifier",
    "card": "identifier",
    "dni": "identifier",
    "mrn": "identifier",
    "insurance_no": "identifier",
    "licence": "identifier",
    "car": "identifier",
    "device": "identifier",
    "fingerprint": "identifier",
    "photo": "identifier",
    "token": "identifier",
    "remarks": "identifier",
    "born": "quasi",
    "admitted": "quasi",
    "age": "quasi",
    "gender": "quasi",
    "zip": "quasi",
    "town": "quasi",
    "seen_from": "quasi",
    "pain": "quasi",
    "finding": "sensitive",
    "pay": "sensitive",
    "konfession": "sensitive",
    "sampling weight": "weight",
    "wave": "neutral",
}

FIRST = (
    "Ada",
    "Bo",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gus",
    "Hal",
    "Ida",
    "Jo",
    "Kim",
    "Lea",
    "Max",
    "Nia",
    "Otto",
    "Pia",
)
LAST = (
    "Abel",
    "Brand",
    "Cole",
    "Dorn",
    "Ebert",
    "Falk",
    "Groot",
    "Hoff",
    "Ivers",
    "Jahn",
    "Kern",
    "Lund",
    "Moor",
    "Nash",
)
WORDS = (
    "patient",
    "came",
    "again",
    "with",
    "her",
    "brother",
    "and",
    "felt",
    "better",
    "after",
    "some",
    "rest",
    "today",
)


def people(rows: int, seed: int) -> pd.DataFrame:
    """A seeded table; nobody in it exists."""
    draw = random.Random(seed)

    def digits(count: int) -> str:
        return "".join(draw.choices("0123456789", k=count))

    def iban() -> str:
        account = digits(18)
        return f"DE{98 - int(account + '131400') % 97:02d}{account}"

    def card() -> str:
        number = f"4{digits(14)}"
        return next(f"{number}{last}" for last in range(10) if luhn(f"{number}{last}"))

    def dni() -> str:
        number = draw.randrange(10**8)
        return f"{number:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"

    def day(first: int, last: int) -> str:
        return (date(first, 1, 1) + timedelta(days=draw.randrange(365 * (last - first)))).isoformat()

    mac = [":".join(f"{draw.randrange(256):02x}" for _ in range(6)) for _ in range(rows)]
    data: dict[str, list[object]] = {
        "row": list(range(1, rows + 1)),
        "contact": [f"{draw.choice(FIRST)} {draw.choice(LAST)}-{draw.choice(LAST)}" for _ in range(rows)],
        "mail": [f"p{digits(6)}@example.org" for _ in range(rows)],
        "line": [f"+49 30 {digits(7)}" for _ in range(rows)],
        "fax": [f"030/{digits(7)}" for _ in range(rows)],
        "home": [f"https://example.org/~{digits(6)}" for _ in range(rows)],
        "bank": [iban() for _ in range(rows)],
        "card": [card() for _ in range(rows)],
        "dni": [dni() for _ in range(rows)],
        "mrn": [f"M{digits(7)}" for _ in range(rows)],
        "insurance_no": [f"K{digits(9)}" for _ in range(rows)],
        "licence": [f"L-{digits(8)}" for _ in range(rows)],
        "car": [f"B-{draw.choice('ABC')}{draw.choice('XYZ')} {draw.randrange(1, 9999)}" for _ in range(rows)],
        "device": list(mac),
        "fingerprint": [f"{draw.randrange(16**12):012x}q" for _ in range(rows)],
        "photo": [f"{digits(8)}.jpg" for _ in range(rows)],
        "token": [f"{draw.randrange(16**32):032x}" for _ in range(rows)],
        "remarks": [" ".join(draw.choices(WORDS, k=9)) for _ in range(rows)],
        "born": [day(1935, 2005) for _ in range(rows)],
        "admitted": [day(2019, 2021) for _ in range(rows)],
        "age": [91, *(draw.randrange(18, 90) for _ in range(rows - 1))],
        "gender": [draw.choice(("female", "male", "divers")) for _ in range(rows)],
        "zip": [f"{draw.choice(('01', '10', '80'))}{draw.randrange(20):03d}" for _ in range(rows)],
        "town": [draw.choice(("Aheim", "Bedorf", "Cestadt")) for _ in range(rows)],
        "seen_from": [
            "10.1.2.3",
            *(f"10.{draw.randrange(3)}.{draw.randrange(3)}.{draw.randrange(9)}" for _ in range(rows - 1)),
        ],
        "pain": [draw.choice(("low", "medium", "high")) for _ in range(rows)],
        "finding": [
            "J45.9",
            *(draw.choice(("J45.9", "J44", "I10", "E11.9", "C50.9", "F32.1")) for _ in range(rows - 1)),
        ],
        "pay": [draw.randrange(9_000, 90_000) for _ in range(rows)],
        "konfession": [draw.choice(("rk", "ev", "keine")) for _ in range(rows)],
        "sampling weight": [round(draw.uniform(20, 400), 3) for _ in range(rows)],
        "wave": [7] * rows,
    }
    return pd.DataFrame(data)[list(PEOPLE_ROLES)]


def roles(found: Profile) -> dict[str, str]:
    return {column.name: str(column.role) for column in found.columns}


def accepted(found: Profile, table: Path, folder: Path) -> Table:
    """The table, read with the schema as it is written, large taxonomies being in files beside it."""
    written = files(found, folder / "schema.toml")
    (folder / "schema-hierarchies").mkdir(exist_ok=True)
    for file, text in written.items():
        file.write_text(text, encoding="utf-8", newline="")
    read = read_table(table, folder / "schema.toml")
    assert read.rows == found.rows
    assert roles(found) == {name: str(column.role) for name, column in read.schema.columns.items()}
    # with all taxonomies inside it is the same schema
    inside = Schema.from_dict(tomllib.loads(found.to_toml()))
    for name, column in read.schema.columns.items():
        other = inside.columns[name]
        assert (column.role, column.type, column.values) == (other.role, other.type, other.values)
        trees = (column.taxonomy, other.taxonomy)
        assert len({None if tree is None else tree.leaves for tree in trees}) == 1
    return read
