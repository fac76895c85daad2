"""Odd values: texts, numbers, names and settings that nobody expects."""

from __future__ import annotations

import datetime
import math
from random import Random
from typing import Any

CELLS = (
    *("", " ", "*", "**", "***", "?", "-", "--", "0", "-0", "00", "007", "1.", ".5", "1e5", "1e308", "-1e308", "1e400"),
    *("5e-324", "NaN", "nan", "inf", "-inf", "Infinity", "null", "None", "NA", "true", "0x10", "1_000", "1,5", "1.500"),
    *("9" * 30, "9" * 400, "-" + "9" * 30, "0." + "3" * 60, "9007199254740993", "١٢٣", "½", "²", "1 000", "+3", "- 3"),
    *("=1+1", "@SUM(A1)", "'=x", "+cmd|x", "<b>x</b>", "a,b", "a;b", "a|b", "a\tb", 'a"b', '"', "'", "\\", "a\nb"),
    *("{a, b}", "{", "}", "{}", "{,}", "[", "[]", "[1, 2", "[2, 1]", "[5,5[", "(1,1)", "]1, 2]", "[1;2]", "1-", "1--2"),
    *("5-3", "20-39", "-5--3", "<20", ">=", "<", ">=80", "80+", "[-Inf, 20)", "[80,)", "(,)", "under 20", "20 to 39"),
    *("1*", "*1", "1*3*", "13**", "U****", "2020", "2020-01", "2020-13-45", "0000-00-00", "2020-02-30", "12:00"),
    *("é", "e\u0301", "İ", "ß", "🙂", "\u200b", "\u202eabc", "\u2066x\u2069", "\ufeff", "\x1b[31mx", "\x07", "a\x00b"),
    *("%s", "{0}", "{x!r}", "$HOME", "../../x", "/", "~", "a" * 5_000, "é" * 300, "x " * 200, "bucket", "row", "other"),
)
"""What a cell, a label or a text may be."""
DEEP = "=DEEP="
"""In a tree, this text becomes lists in lists, thousands of levels."""

NUMBERS = (0, 1, -1, 2, 3, 0.5, -0.5, 1.5, 99, 1e-9, 1e9, 1e308, -1e308, 5e-324, 10**30, -(10**30), 2**53 + 1, 2**63)
NOT_NUMBERS = (math.nan, math.inf, -math.inf)
NAMES = (
    *("", " ", "x", "bucket", "row", "release", "secret", "class", "age", "Age", " age", "a.b", "a=b", "a,b", "0", "1"),
    *("é", "🙂", "\u202eage", "\x1b[31mage", "a\x00b", "a\nb", "a/b", "__class__", "x" * 300),
    *("x" * 5_000, "None"),
)
WHOLE = (
    *("0", "1", "-1", "2", "3", "1000000", "999999999999999999999", "1.5", "1e3", "", "x", "nan", "٣"),
    *(" 3", "+3", "0x3"),
)
REAL = ("0", "1", "0.5", "-0.5", "2", "1e-300", "1e308", "1e400", "nan", "inf", "-inf", "", "x", "0,5")


def text(rng: Random) -> str:
    """A text that may stand in a cell."""
    if rng.random() < 0.1:
        return "".join(chr(rng.choice((rng.randrange(1, 0x250), rng.randrange(0x2000, 0x2070)))) for _ in range(5))
    return rng.choice(CELLS)


def number(rng: Random) -> float:
    """A number, now and then none that counts."""
    return rng.choice(NOT_NUMBERS) if rng.random() < 0.15 else rng.choice(NUMBERS)


def value(rng: Random) -> Any:
    """Anything that TOML or JSON can hold."""
    if rng.random() < 0.01:
        return DEEP
    kind = rng.randrange(12)
    if kind < 4:
        return number(rng)
    if kind < 8:
        return text(rng)
    if kind == 8:
        return rng.choice((True, False, None))
    if kind == 9:
        return rng.choice(([], {}, [[]], [{}], {"": {}}, [None], [1, "a", 2.5], {"a": [1]}, [""], ["a", "a"]))
    if kind == 10:
        return datetime.date(2020, 1, 31)
    return [number(rng), text(rng)]
