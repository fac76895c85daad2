"""A release of any number of rows, written piece by piece, and what is true of it.

Eight quasi-identifiers and a number. How many people each combination of labels has is decided first: in proportion to the
product of its labels' shares, and at least `K`; combinations that would have fewer are not published, so a larger release
has more classes, up to all combinations. Rows then come in random order, a million at a time, drawn without replacement
from those sizes. The number (an income) depends on the first label.

Three kinds of files, of the same rows: labels as text, what a release looks like (`[20, 30[`, `130**`, `F`); and their codes
as whole numbers of 64 bits, what pandas writes by default, and of 16 bits, the tightest coding. There are few enough
combinations that all counts fit into one array: the figures are computed from it by their definitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from auditor.model.arrays import Codes, Ints

KINDS = ("text", "int64", "int16")
NUMBER = "income"
LABELS: dict[str, list[str]] = {
    "age": [f"[{low}, {low + 10}[" for low in range(0, 100, 10)],
    "sex": ["F", "M"],
    "postcode": [f"13{digit}**" for digit in range(5)],
    "marital": ["Married", "Single", "Divorced", "Widowed"],
    "education": ["Primary", "Secondary", "College", "Bachelor", "Master", "Doctorate", "Vocational", "None"],
    "work": ["Employed", "Self-employed", "Retired", "Not working"],
    "household": ["Alone", "Two", "Three and more"],
    "origin": ["Europe", "Africa", "America", "Asia", "Oceania", "Unknown"],
}
QUASI = list(LABELS)
TOP = 100
"""Incomes are 1 to this."""
NEAR = 0.05 * (TOP - 1)
"""The reach of proximity: a twentieth of the range, as `auditor` takes it."""
K = 10
ROWS_OF_PIECE = 1_000_000
ROWS_OF_FILE = 10_000_000
_SKEW = 1.2
_CLASSES_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Figures:
    """The four statistics: classes by their size; the largest share of a value in a class, and the share of people who have
    the commonest value of theirs; the largest ordered earth mover's distance; the largest m of (ε,m)."""

    class_sizes: dict[str, int]
    alpha: float
    homogeneity: float
    t_ordered: float
    proximity_m: float

    def differs(self, other: Figures) -> str | None:
        """The first figure that differs, in words; None where all agree."""
        if self.class_sizes != other.class_sizes:
            return "class_sizes"
        for name in ("alpha", "homogeneity", "t_ordered", "proximity_m"):
            one, two = getattr(self, name), getattr(other, name)
            if not abs(one - two) <= 1e-9 * max(1.0, abs(two)):
                return f"{name}: {one!r} and {two!r}"
        return None


@dataclass(slots=True)
class Written:
    """What was written: bytes, classes, groups (class and number together), and the true figures."""

    size: int
    classes: int
    groups: int
    figures: Figures
    schema: str = field(repr=False)


def write_release(folder: Path, rows: int, kind: str, seed: int = 2026) -> Written:
    """Writes a release as a folder of Parquet files of at most ten million rows."""
    sizes = class_sizes(rows)
    key = np.flatnonzero(sizes)
    left, counts = sizes[key], np.zeros((len(key), TOP), dtype=np.int32)
    rng = np.random.default_rng([seed, rows])
    folder.mkdir()
    writer: pq.ParquetWriter | None = None
    for number, start in enumerate(range(0, rows, ROWS_OF_PIECE)):
        size = min(ROWS_OF_PIECE, rows - start)
        taken = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= taken
        which = rng.permutation(np.repeat(np.arange(len(key)), taken))
        code = dict(zip(QUASI, np.unravel_index(key[which], shape()), strict=True))
        income = np.clip(rng.lognormal(3 + 0.05 * code["age"], 0.8), 1, TOP).astype(np.int64)
        counts += np.bincount(which * TOP + income - 1, minlength=counts.size).reshape(counts.shape)
        table = _coded(code, income, kind)
        if start % ROWS_OF_FILE == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(folder / f"part-{number:05}.parquet", table.schema)
        assert writer is not None
        writer.write_table(table)
    assert writer is not None
    writer.close()
    written = sum(file.stat().st_size for file in folder.iterdir())
    return Written(written, len(key), int((counts > 0).sum()), true_figures(counts), schema_text(kind))


def shape() -> tuple[int, ...]:
    """How many labels each quasi-identifier has."""
    return tuple(map(len, LABELS.values()))


def class_sizes(rows: int) -> Ints:
    """How many people each combination of labels has."""
    share = np.ones(1)
    for number in shape():
        weight = 1 / np.arange(1, number + 1) ** _SKEW
        share = np.multiply.outer(share, weight / weight.sum()).reshape(-1)
    sizes = np.floor(share * rows).astype(np.int64)
    sizes[sizes < K] = 0
    missing = rows - int(sizes.sum())
    there = np.flatnonzero(sizes)
    if not len(there):
        raise SystemExit(f"A release of {rows} rows is too small: no class of {K} people.")
    more = np.floor(missing * sizes[there] / sizes[there].sum()).astype(np.int64)
    sizes[there] += more
    sizes[there[np.argmax(sizes[there])]] += missing - int(more.sum())
    return sizes


def _coded(code: dict[str, Ints], income: Ints, kind: str) -> pa.Table:
    if kind == "text":
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), LABELS[name]).cast(pa.string())
            for name, codes in code.items()
        }
        return pa.table({**columns, NUMBER: pa.array(income)})
    return pa.table({name: pa.array(codes.astype(kind)) for name, codes in {**code, NUMBER: income}.items()})


def schema_text(kind: str) -> str:
    """The schema of a release, as TOML."""
    quasi = {name: "numeric" if kind != "text" or name == "age" else "nominal" for name in QUASI}
    roles = [(name, "quasi", form) for name, form in quasi.items()] + [(NUMBER, "sensitive", "numeric")]
    return "".join(f'[columns.{name}]\nrole = "{role}"\ntype = "{form}"\n' for name, role, form in roles)


def true_figures(counts: Codes) -> Figures:
    """The figures by their definitions, from how often each income occurs in each class."""
    whole = counts.sum(axis=0)
    value = np.flatnonzero(whole)  # the distance goes over the values that occur
    reached = np.cumsum(whole[value] / whole.sum())
    number = value + 1
    near = np.abs(number[:, None] - number) <= NEAR
    alpha = distance = mass = 0.0
    commonest = 0
    for start in range(0, len(counts), _CLASSES_AT_ONCE):
        part = counts[start : start + _CLASSES_AT_ONCE, value]
        size = part.sum(axis=1, keepdims=True)
        commonest += int(part.max(axis=1).sum())
        alpha = max(alpha, float((part / size).max()))
        apart = np.abs(np.cumsum(part / size, axis=1) - reached).sum(axis=1) / (len(value) - 1)
        distance = max(distance, float(apart.max()))
        within = np.where(part > 0, part @ near.astype(np.int32), 0)
        mass = max(mass, float((within / size).max()))
    size, times = np.unique(counts.sum(axis=1), return_counts=True)
    histogram = dict(zip(map(str, size.tolist()), times.tolist(), strict=True))
    return Figures(histogram, alpha, commonest / int(whole.sum()), distance, 1 / mass)
