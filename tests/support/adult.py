"""The Adult data as the ARX reference releases have it: nine columns, the 30162 rows without `?`, in file order."""

from __future__ import annotations

import gzip
from pathlib import Path

NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,salary-class"
)
USED = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


def write_adult(data: Path, folder: Path) -> tuple[Path, Path]:
    """Writes the table and its schema into a folder: occupation is sensitive, all else quasi-identifiers."""
    names = NAMES.split(",")
    lines = [";".join(USED)]
    for line in (data / "data" / "adult" / "adult.data").read_text().splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == len(names) and "?" not in cells:
            lines.append(";".join(cells[names.index(name)] for name in USED))
    table, schema = folder / "adult.csv", folder / "adult.toml"
    table.write_text("\n".join(lines) + "\n")
    parts = ['[table]\ndelimiter = ";"\n']
    for name in USED:
        role = "sensitive" if name == "occupation" else "quasi"
        kind = "numeric" if name == "age" else "nominal"
        hierarchy = data / "data" / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv"
        parts.append(f'[columns.{name}]\nrole = "{role}"\ntype = "{kind}"\ntaxonomy = "{hierarchy}"\n')
    schema.write_text("\n".join(parts))
    return table, schema


def unpack_release(data: Path, name: str, folder: Path) -> Path:
    """Unpacks one of the ARX reference releases."""
    target = folder / f"{name}.csv"
    target.write_bytes(gzip.decompress((data / "reference" / "arx" / f"{name}.csv.gz").read_bytes()))
    return target
