"""The published mechanism of a perturbed release: how each column was changed, so that the likelihood of what is published
follows from a true value.

What is told are the settings of the method, never a draw: the deviation of noise, the window of swapped ranks, the matrix
of transitions, the threshold of a code, the base of rounding. Statistical offices publish these so that analysts can
correct for them; whoever attacks the release reads them as well (`auditor/posterior/informed.py`). A mechanism is written
beside its release as TOML (`auditor/files/mechanisms.py`), and can be written by hand for releases of other tools.

A missing value is published as missing whatever the change, and nothing else is. Columns without an entry are as they
were, or generalised: their labels cover the true value.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.errors import ReleaseError
from auditor.model.faults import Faults, are_texts, is_number
from auditor.model.values import LEAST, MOST

FORMAT = "auditor-mechanism/1"


class Distribution(StrEnum):
    """How noise is distributed."""

    NORMAL = "normal"
    LAPLACE = "laplace"


@dataclass(frozen=True, slots=True)
class Change(ABC):
    """How one column was changed. `kind` is its name in files."""

    kind: ClassVar[str]

    def plain(self) -> dict[str, Any]:
        """What a file says of it."""
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"kind": self.kind} | {name: value for name, value in said.items() if value not in ((), None)}

    @classmethod
    @abstractmethod
    def read(cls, place: Faults) -> Self | None:
        """The change that a table of a file describes; None where it is at fault."""


@dataclass(frozen=True, slots=True)
class Noise(Change):
    """A draw of standard deviation `sd` was added to a number, and the sum rounded to a multiple of `unit` (0: not so)."""

    kind: ClassVar[str] = "noise"
    sd: float
    distribution: Distribution = Distribution.NORMAL
    unit: float = 0.0

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "sd", "distribution", "unit")
        sd = place.value("sd", _positive, "a number above 0", required=True)
        distribution = place.choice("distribution", Distribution) or Distribution.NORMAL
        unit = place.value("unit", _not_negative, "a number of at least 0")
        return None if place.found else cls(float(sd), distribution, float(unit or 0.0))


@dataclass(frozen=True, slots=True)
class RankSwap(Change):
    """Values were exchanged between rows whose ranks differ by at most `window` percent of the rows."""

    kind: ClassVar[str] = "rank-swapping"
    window: float

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "window")
        window = place.value("window", lambda v: _positive(v) and v <= 100, "a percentage above 0", required=True)
        return None if place.found else cls(float(window))


@dataclass(frozen=True, slots=True)
class RecordSwap(Change):
    """Of a share `rate` of the rows the value was exchanged with that of another row, `together` with those of these columns,
    among rows that agree in the columns `strata`."""

    kind: ClassVar[str] = "record-swapping"
    rate: float
    together: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "rate", "together", "strata")
        rate = place.value("rate", lambda v: _positive(v) and v <= 1, "a share above 0", required=True)
        together, strata = place.texts("together") or (), place.texts("strata") or ()
        return None if place.found else cls(float(rate), together, strata)


@dataclass(frozen=True, slots=True)
class Transition(Change):
    """The value i of `values` was published as the value j with probability `matrix[i][j]`."""

    kind: ClassVar[str] = "pram"
    values: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "values", "matrix")
        values = place.value("values", lambda v: are_texts(v) and len(set(v)) == len(v) > 0, "texts", required=True)
        wanted = "a row of probabilities with the sum 1 for each of the values"
        matrix = place.value("matrix", lambda m: _is_transition(m, len(values or ())), wanted, required=True)
        if place.found:
            return None
        return cls(tuple(values), tuple(tuple(map(float, row)) for row in matrix))


@dataclass(frozen=True, slots=True)
class Coding(Change):
    """Numbers above the `threshold` (below it, where `above` is false) were published as `published`."""

    kind: ClassVar[str] = "coding"
    threshold: float
    published: float
    above: bool = True

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "threshold", "published", "above")
        threshold = place.value("threshold", is_number, "a number", required=True)
        published = place.value("published", is_number, "a number")
        above = place.value("above", lambda v: isinstance(v, bool), "true or false")
        if place.found:
            return None
        return cls(float(threshold), float(threshold if published is None else published), above is not False)


@dataclass(frozen=True, slots=True)
class Rounding(Change):
    """Numbers were rounded to a multiple of `base`: the nearest, or with `random` one of the two around it, so that the
    number is expected."""

    kind: ClassVar[str] = "rounding"
    base: float
    random: bool = False

    @classmethod
    def read(cls, place: Faults) -> Self | None:
        place.known("kind", "base", "random")
        base = place.value("base", _positive, "a number above 0", required=True)
        random = place.value("random", lambda v: isinstance(v, bool), "true or false")
        return None if place.found else cls(float(base), bool(random))


CHANGES: tuple[type[Change], ...] = (Noise, RankSwap, RecordSwap, Transition, Coding, Rounding)


@dataclass(frozen=True, slots=True)
class Correlated:
    """Normal noise that goes together in several columns, with this covariance before rounding."""

    columns: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class PublishedMechanism:
    """How a release was perturbed, column by column."""

    columns: Mapping[str, Change]
    correlated: Correlated | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    """Anything else that a file says of the mechanism, such as the method's title."""

    def to_toml(self) -> str:
        """The mechanism as the text of a file."""
        lines = [f"{name} = {_toml(value)}" for name, value in ({"format": FORMAT} | dict(self.notes)).items()]
        if self.correlated is not None:
            lines += ["", "[correlated]", f"columns = {_toml(self.correlated.columns)}"]
            lines += [f"covariance = {_toml(self.correlated.covariance)}"]
        for column, change in self.columns.items():
            lines += ["", f"[columns.{_toml(column)}]"]
            lines += [f"{name} = {_toml(value)}" for name, value in change.plain().items()]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str) -> PublishedMechanism:
        """The mechanism that a file describes; errors call it `name` and name all faults."""
        faults = Faults(ReleaseError, name, data)
        faults.known("format", "method", "sha256", "correlated", "columns")
        if data.get("format", FORMAT) != FORMAT:
            faults.add(f'format must be "{FORMAT}".')
        notes = {key: text for key in ("method", "sha256") if (text := faults.text(key)) is not None}
        kinds = {change.kind: change for change in CHANGES}
        columns: dict[str, Change] = {}
        table = faults.value("columns", lambda v: isinstance(v, dict) and bool(v), "a table of columns", required=True)
        for column, part in (table or {}).items():
            place = faults.at(f"[columns.{column}]", part)
            kind = place.value("kind", kinds.__contains__, f"one of {', '.join(kinds)}", required=True, near=kinds)
            change = None if kind is None else kinds[kind].read(place)
            if change is not None:
                columns[column] = change
        correlated = _correlated(faults, columns)
        faults.check()
        return cls(columns, correlated, notes)


def _correlated(faults: Faults, columns: Mapping[str, Change]) -> Correlated | None:
    if "correlated" not in faults.data:
        return None
    place = faults.at("[correlated]", faults.data["correlated"])
    place.known("columns", "covariance")
    names = place.texts("columns") or ()
    if not names or not all(isinstance(columns.get(name), Noise) for name in names):
        place.add('columns must name columns of kind = "noise".')
    wanted = "a symmetric matrix of numbers, a row for each of the columns"
    rows = place.value("covariance", lambda m: _is_matrix(m, len(names)) and _is_covariance(m), wanted, required=True)
    return None if place.found else Correlated(names, tuple(tuple(map(float, row)) for row in rows))


def _positive(value: Any) -> bool:
    return is_number(value) and LEAST <= value <= MOST


def _not_negative(value: Any) -> bool:
    return is_number(value) and (value == 0 or _positive(value))


def _is_matrix(value: Any, size: int) -> bool:
    rows = value if isinstance(value, list) else []
    square = len(rows) == size and all(isinstance(row, list) and len(row) == size for row in rows)
    return square and all(map(is_number, (cell for row in rows for cell in row)))


def _is_transition(value: Any, size: int) -> bool:
    return _is_matrix(value, size) and all(min(row) >= 0 and abs(sum(row) - 1) < 1e-6 for row in value)


def _is_covariance(value: Any) -> bool:
    matrix = np.array(value, dtype=np.float64)
    usable = len(matrix) > 0 and np.diag(matrix).min() >= LEAST and np.abs(matrix).max() <= MOST
    return bool(
        usable and (matrix == matrix.T).all() and np.linalg.eigvalsh(matrix).min() >= -1e-9 * np.abs(matrix).max()
    )


def _toml(value: Any) -> str:
    """A value as TOML; JSON writes texts, numbers and lists alike."""
    return json.dumps(value, ensure_ascii=False)


def window_of(rows: int, percent: float) -> int:
    """How many ranks a window of so many percent is: at least one."""
    return max(int(rows * percent / 100 + 1e-9), 1)


def swapped_ranks(rows: int, window: int, rng: np.random.Generator) -> Ints:
    """Rank swapping: the rank that each rank is exchanged with, itself where no partner is left. From the least rank on, each
    that has no partner yet is given one at random among those without a partner at most `window` ranks above."""
    partner = np.arange(rows)
    free = np.ones(rows, dtype=np.bool_)
    for rank, draw in enumerate(rng.random(rows).tolist()):
        if free[rank]:
            near = np.flatnonzero(free[rank + 1 : rank + 1 + window])
            free[rank] = False
            if len(near):
                other = rank + 1 + int(near[int(draw * len(near))])
                partner[rank], partner[other], free[other] = other, rank, False
    return partner
