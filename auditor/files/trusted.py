"""The trusted server's desk: who may ask, what may be decoded, and what is written down.

The paper's server checks who a researcher is and translates the results that they found in a release by `grading`: "if age
<= 1.366 then disease = A07" becomes "if age <= 21 then disease = Flu". Here a result is a set of conditions on columns of
the release, with figures (counts, shares) that are passed on as they are.

**Who may ask.** Whoever has a token. The file of tokens holds their SHA-256 only, and all are compared, each in constant
time. Tokens are 256 random bits, so that a plain hash is enough.

**What may be decoded.** A result is about the people of the release who meet all of its conditions. It is refused where these
are fewer than `least`, or where so few have a value that it names: `disease != A07` tells what `A07` stands for, though
nearly everybody meets it. So it is where, together with another result, it is about so few: with the people who meet the
conditions of a rule but not its conclusion, with everybody, or with any result that was decoded before, for whomever, one
of the two being a part of the other.

**What is written down.** Every decoding and every refusal, one line of JSON in a file that is only ever added to, before the
answer is given: who, when, which columns, how many values, and the conditions as published (no original value, no token).
What was decoded before is read from there, so that it is remembered when the server starts anew.

Not covered: sums and differences of more than two results; what people outside know of single people; several rows of one
person, which count as several people; and above all that a decoded name means the same in every row of the release. Who was
told what `A07` stands for can read it wherever it is published: the log says who was.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import operator
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.files.decoding import check_key, decode_value
from auditor.files.tables import read_raw
from auditor.files.writing import write_files
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import KeyFileError, TokenFileError, UsageError
from auditor.model.faults import parse_json, read_text
from auditor.model.key import Key
from auditor.model.schema import TableFormat
from auditor.model.values import parse_number

TOKENS = "auditor-tokens/1"
LEAST = 5
MOST_RESULTS, MOST_CONDITIONS, MOST_REMEMBERED = 1_000, 20, 20_000
_COMPARE: dict[str, Callable[[Floats, float], Bools]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
SIGNS = ("=", "!=", *_COMPARE)


class AskingError(Exception):
    """A request that cannot be read; the message says what would be right."""


class SinglesOutError(Exception):
    """Results that are about too few people: their places, from 1, and why."""

    def __init__(self, why: Mapping[int, str]) -> None:
        super().__init__(", ".join(f"result {place}: {reason}" for place, reason in why.items()))
        self.why = dict(why)


# ----- who ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tokens:
    """Who may ask: names, each with the SHA-256 of their token."""

    hashes: Mapping[str, str]

    @classmethod
    def read(cls, file: Path) -> Tokens:
        """The tokens in a file."""
        advice = " `auditor decode-server --new-token NAME --tokens FILE` makes one."
        content = parse_json(
            read_text(file, "file of tokens", TokenFileError), str(file), TOKENS, TokenFileError, advice
        )
        hashes = content.get("tokens")
        good = isinstance(hashes, dict) and all(
            isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")
            for text in hashes.values()
        )
        if not good or not hashes:
            raise TokenFileError(f'{file}: "tokens" must be an object of names and SHA-256 sums, at least one.{advice}')
        return cls(hashes)

    def who(self, token: str) -> str | None:
        """Whose a token is; None where it is nobody's. Takes as long for all."""
        asked, found = _hash(token), None
        for name, own in self.hashes.items():
            if hmac.compare_digest(own, asked):
                found = name
        return found


def new_token(file: Path, name: str) -> str:
    """Adds a token for somebody to a file and returns it: it is kept nowhere else."""
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise UsageError("--new-token must be a name of at most 100 characters.")
    known = dict(Tokens.read(file).hashes) if file.exists() else {}
    if name in known:
        raise UsageError(f"{file} has a token for {name!r} already. Choose another name, or take the old one out.")
    token = secrets.token_urlsafe(32)
    content = {"format": TOKENS, "tokens": {**known, name: _hash(token)}}
    write_files({file: json.dumps(content, indent=1) + "\n"}, force=True, private=[file])
    return token


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


# ----- what -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a published column, such as `age <= 1.366`."""

    column: str
    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class Result:
    """What was found of the people who meet some conditions: `then` is what a rule concludes."""

    given: tuple[Condition, ...]
    then: tuple[Condition, ...] = ()

    @property
    def all(self) -> tuple[Condition, ...]:
        """All of its conditions."""
        return (*self.given, *self.then)


class Published:
    """The rows of the release, to count who meets conditions."""

    def __init__(self, columns: Mapping[str, Sequence[str]], decimal: str) -> None:
        self.rows, self._decimal = len(next(iter(columns.values()), ())), decimal
        self._columns = {name: self._parsed([cell.strip() for cell in cells]) for name, cells in columns.items()}

    def _parsed(self, cells: Sequence[str]) -> tuple[NDArray[np.object_], Floats, Ints]:
        """The distinct texts of a column, the numbers that they are (else NaN), and which of them each cell is."""
        texts, code = np.unique(np.array(cells, dtype=object), return_inverse=True)
        return texts, np.array([self._number(text) for text in texts.tolist()]), code

    def _number(self, text: str) -> float:
        number = parse_number(text, self._decimal)
        return np.nan if number is None else number

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self._columns)

    def meeting(self, conditions: Sequence[Condition]) -> Bools:
        """Which rows meet all conditions."""
        found = np.ones(self.rows, dtype=np.bool_)
        for condition in conditions:
            texts, numbers, code = self._columns[condition.column]
            limit, compare = self._number(condition.value), _COMPARE.get(condition.sign)
            if compare is not None:
                met = compare(numbers, limit)  # NaN is neither below nor above
            else:
                met = ((texts == condition.value) | (numbers == limit)) == (condition.sign == "=")
            found &= met[code]
        return found

    def having(self, condition: Condition) -> int:
        """How many rows have the value that a condition names."""
        return int(self.meeting([Condition(condition.column, "=", condition.value)]).sum())


class Remembered:
    """The groups of people that results were about, as bits."""

    def __init__(self, rows: int) -> None:
        self._rows, self._size = rows, np.empty(64, dtype=np.int64)
        self._bits = np.empty((64, (rows + 7) // 8), dtype=np.uint8)
        self._count = 0
        self.add(np.ones(rows, dtype=np.bool_))  # everybody

    def __len__(self) -> int:
        return self._count

    def add(self, people: Bools) -> None:
        """Remembers a group, unless it is known."""
        bits, size = np.packbits(people), int(people.sum())
        if (self._bits[: self._count][self._size[: self._count] == size] == bits).all(axis=1).any():
            return
        if self._count == len(self._size):
            self._bits, self._size = (np.concatenate([one, np.empty_like(one)]) for one in (self._bits, self._size))
        self._bits[self._count], self._size[self._count] = bits, size
        self._count += 1

    def forget(self, count: int) -> None:
        """Forgets all but the first so many groups."""
        self._count = count

    def nearly(self, people: Bools, least: int) -> bool:
        """Whether a group differs from one that is known by fewer than `least` people, one being a part of the other."""
        bits, size = np.packbits(people), int(people.sum())
        apart = np.abs(self._size[: self._count] - size)
        known = self._bits[: self._count][(apart > 0) & (apart < least)]
        both = known & bits
        return bool(((both == bits).all(axis=1) | (both == known).all(axis=1)).any())


class Desk:
    """Decodes results and writes down what was decoded."""

    def __init__(self, release: Path, key: Path, log: Path, least: int = LEAST) -> None:
        if least < 1:
            raise UsageError(f"--least must be at least 1. Got {least}.")
        self.key, self.least, self.log = Key.read(key), least, log
        table = read_raw(release, TableFormat(decimal=self.key.decimal), tuple(self.key.columns))
        absent = [column for column in self.key.columns if column not in table.columns]
        if absent or (self.key.rows is not None and self.key.rows != table.rows):
            raise KeyFileError(f"{key} is not the key of {release}: it is of other columns, or another number of rows.")
        check_key(table, self.key)
        self.published = Published(table.columns, self.key.decimal)
        self.remembered, self._lock = Remembered(table.rows), Lock()
        for results in self._before():
            for result in results:
                self.remembered.add(self.published.meeting(result.all))
                self.remembered.add(self.published.meeting(result.given))

    def decode(self, who: str, results: Sequence[Result]) -> list[Result]:
        """The results in terms of original values; raises SinglesOutError where they are about too few people."""
        with self._lock:
            before = len(self.remembered)
            try:
                self._judge(results)
                decoded = [Result(self._decoded(one.given), self._decoded(one.then)) for one in results]
            except (SinglesOutError, AskingError) as refused:
                self.remembered.forget(before)
                self._write(who, results, "refused", 0, why=str(refused))
                raise
            pairs = [pair for a, b in zip(results, decoded, strict=True) for pair in zip(a.all, b.all, strict=True)]
            try:
                self._write(who, results, "decoded", sum(a != b for a, b in pairs))
            except OSError:
                self.remembered.forget(before)
                raise
            return decoded

    def denied(self, why: str) -> None:
        """Writes down that somebody asked who may not."""
        with self._lock:
            self._write(None, (), "denied", 0, why=why)

    def _judge(self, results: Sequence[Result]) -> None:
        why: dict[int, str] = {}
        for place, result in enumerate(results, 1):
            whole, given = self.published.meeting(result.all), self.published.meeting(result.given)
            named = [c for c in result.all if c.sign in ("=", "!=") and c.column in self.key.columns]
            if any(self.published.having(condition) < self.least for condition in named):
                why[place] = f"fewer than {self.least} people of the release have a value that it names"
                continue
            if int(whole.sum()) < self.least:
                why[place] = f"fewer than {self.least} people of the release meet its conditions"
                continue
            for people in (given, whole) if result.then and result.given else (whole,):
                if self.remembered.nearly(people, self.least):
                    why[place] = f"with another result it would be about fewer than {self.least} people"
                    break
                self.remembered.add(people)
        if why:
            raise SinglesOutError(why)
        if len(self.remembered) > MOST_REMEMBERED:
            raise SinglesOutError({1: f"more than {MOST_REMEMBERED} results were decoded; publish the release anew"})

    def _decoded(self, conditions: Sequence[Condition]) -> tuple[Condition, ...]:
        made = []
        for one in conditions:
            value = decode_value(self.key, one.column, one.sign, one.value)
            if value is None:
                raise AskingError(f"a value of {one.column!r} is not one that the release publishes")
            made.append(Condition(one.column, one.sign, value))
        return tuple(made)

    # ----- the log ----------------------------------------------------------------------------------------------------

    def _write(self, who: str | None, results: Sequence[Result], what: str, cells: int, why: str | None = None) -> None:
        columns = dict.fromkeys(one.column for result in results for one in result.all)
        entry: dict[str, Any] = {
            "when": datetime.now(UTC).isoformat(timespec="seconds"), "who": who, "what": what, "cells": cells,
            "columns": [c for c in columns if c in self.key.columns], "results": [_plain(result) for result in results],
        }  # fmt: skip
        if why is not None:
            entry["why"] = why
        line = (json.dumps(entry) + "\n").encode("ascii")
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            before = os.fstat(handle).st_size
            if os.write(handle, line) < len(line):
                os.ftruncate(handle, before)  # no half line, which could not be read again
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            os.fsync(handle)
        finally:
            os.close(handle)

    def _before(self) -> Iterator[list[Result]]:
        """What was decoded, from the log."""
        if not self.log.exists():
            handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)  # its fault before anybody asks
            os.close(handle)
        lines = read_text(self.log, "log", TokenFileError).split("\n")
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            try:
                entry = json.loads(line)
                results = [read_result(one, self.published.columns) for one in entry["results"]]
                decoded = entry["what"] == "decoded"
            except (ValueError, KeyError, TypeError, AskingError) as error:
                raise TokenFileError(
                    f"{self.log}, line {number}: it is no line of a log of this release. Give each release a log of its own."
                ) from error
            if decoded:
                yield results


def _plain(result: Result) -> dict[str, Any]:
    return {
        name: [[one.column, one.sign, one.value] for one in some]
        for name, some in (("if", result.given), ("then", result.then))
    }


def read_result(content: object, columns: Sequence[str]) -> Result:
    """A result as JSON has it: `{"if": [[column, sign, value], …], "then": […]}`."""
    if not isinstance(content, dict):
        raise AskingError('each result must be an object with "if" and "then"')
    parts = []
    for name in ("if", "then"):
        rows = content.get(name, [])
        if not isinstance(rows, list) or len(rows) > MOST_CONDITIONS:
            raise AskingError(f'"{name}" must be a list of at most {MOST_CONDITIONS} conditions')
        parts.append(tuple(read_condition(row, columns) for row in rows))
    if not parts[0] and not parts[1]:
        raise AskingError("each result must have a condition")
    return Result(*parts)


def read_condition(row: object, columns: Sequence[str]) -> Condition:
    """A condition as JSON has it: `["age", "<=", "1.366"]`; the value may be a number."""
    if not isinstance(row, list) or len(row) != 3 or not all(isinstance(part, str) for part in row[:2]):
        raise AskingError('each condition must be a list of column, sign and value, such as ["age", "<=", 1.366]')
    column, sign, value = row
    if column not in columns:
        raise AskingError(f"conditions must be about columns of the release: {', '.join(columns)}")
    if sign not in SIGNS:
        raise AskingError(f"the sign of a condition must be one of {' '.join(SIGNS)}")
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > 1000:
        raise AskingError("the value of a condition must be a text or a number")
    return Condition(column, sign, str(value).strip())
