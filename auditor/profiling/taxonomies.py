"""Taxonomies from known shapes of values.

    dates       day → month → year → decade            postcodes   one character less at a time, from the right
    ages        bands of 5, 10, 20 years; 90 and over  ICD-10      code → category → chapter
    years       bands of 5, 10, 20 years               IPv4        prefixes of 24, 16, 8 bits
    numbers     bands of three widths, each a part of the next

Ages over 89 are one group, as the safe harbour of HIPAA requires (45 CFR 164.514(b)(2)(i)(C)). A shape is proposed only if
it covers every value of the column and reads back as a tree. Bands of ages and years also hold all years in between, so that
other tables of the same people can be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from auditor.model.errors import TaxonomyError
from auditor.model.schema import TableFormat, Type
from auditor.model.taxonomy import ROOT, Taxonomy
from auditor.model.values import format_number, parse_number
from auditor.profiling.dates import DateFormat
from auditor.profiling.signs import Looks
from auditor.profiling.words import Concept

MOST_LEAVES = 20_000
_TOP_AGE = 90
_TOP_BAND = 80  # the twenty-year band that holds the top age
_OUTWARD = re.compile(r"(?P<area>[A-Z]{1,2})(?P<district>\d[A-Z0-9]?) ?\d[A-Z]{2}", re.ASCII)

_CHAPTERS = (
    ("A00", "B99"), ("C00", "D49"), ("D50", "D89"), ("E00", "E90"), ("F00", "F99"), ("G00", "G99"), ("H00", "H59"),
    ("H60", "H95"), ("I00", "I99"), ("J00", "J99"), ("K00", "K95"), ("L00", "L99"), ("M00", "M99"), ("N00", "N99"),
    ("O00", "O9A"), ("P00", "P96"), ("Q00", "Q99"), ("R00", "R99"), ("S00", "T98"), ("V00", "Y99"), ("Z00", "Z99"),
)  # fmt: skip
"""The chapters of ICD-10, by their first and last category (of WHO and of the clinical modification)."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A proposed taxonomy: the names of its levels, and for each leaf the labels from it to the root."""

    words: str
    paths: tuple[Path, ...]


def shape(looks: Looks, kind: Type, form: TableFormat) -> Shape | None:
    """The taxonomy of a column of a known shape; None if it has none, or if not every value fits."""
    facts = looks.facts
    if kind is Type.ORDINAL or not 2 <= facts.distinct <= MOST_LEAVES:
        return None
    if kind is Type.NUMERIC:
        found = _numeric(looks, form)
    elif looks.date is not None:
        found = _dates(facts.values, looks.date)
    elif looks.codes is Concept.POSTCODE:
        found = _postcodes(facts.values)
    elif looks.codes is Concept.IP:
        found = _addresses(facts.values)
    elif looks.codes is Concept.HEALTH:
        found = _diagnoses(facts.values)
    else:
        found = None
    return found if found is not None and reads_back(found, kind, form) else None


def reads_back(found: Shape, kind: Type, form: TableFormat) -> bool:
    """Whether the paths form one tree whose labels mean nothing else in the files."""
    try:
        tree = Taxonomy.from_paths("proposed", ((f"line {place}", path) for place, path in enumerate(found.paths, 1)))
        if kind is Type.NUMERIC:
            tree = tree.sorted_by(lambda leaf: parse_number(leaf, form.decimal) or 0.0)
    except TaxonomyError:
        return False
    return tree.height > 1 and not set(tree.labels[1:]) & {*form.missing, *form.suppressed}


def _dates(values: Sequence[str], form: DateFormat) -> Shape | None:
    paths = []
    for value in values:
        day = form.read(value)
        if day is None:
            return None
        month = f"{day.year}-{day.month:02d}"
        decade = f"{day.year // 10 * 10}s"
        labels = [f"{day.year}", decade, ROOT] if form.months else [month, f"{day.year}", decade, ROOT]
        paths.append((value, *labels))
    return Shape("month, year, decade" if not form.months else "year, decade", tuple(paths))


def _postcodes(values: Sequence[str]) -> Shape | None:
    british = [found for value in values if (found := _OUTWARD.fullmatch(value))]
    if len(british) == len(values):
        paths = tuple((f[0], f"{f['area']}{f['district']} *", f"{f['area']}*", ROOT) for f in british)
        return Shape("district, area", paths)
    length = len(values[0])
    if length < 3 or any(len(value) != length or "*" in value for value in values):
        return None
    steps = [kept for kept in range(length - 1, 0, -1) if values[0][kept - 1] not in " -"]
    shortened = tuple((v, *(v[:kept] + "*" * (length - kept) for kept in steps), ROOT) for v in values)
    return Shape("one character less at a time", shortened)


def _addresses(values: Sequence[str]) -> Shape | None:
    if any(ip_address(value).version != 4 for value in values):
        return None
    parts = [(value, value.split(".")) for value in values]
    paths = tuple((value, f"{a}.{b}.{c}.*", f"{a}.{b}.*.*", f"{a}.*.*.*", ROOT) for value, (a, b, c, _) in parts)
    return Shape("the first 24, 16 and 8 bits", paths)


def _diagnoses(values: Sequence[str]) -> Shape | None:
    paths = []
    for value in values:
        category = value[:3]
        chapter = next((f"{low}-{high}" for low, high in _CHAPTERS if low <= category <= high), None)
        if chapter is None:
            return None
        paths.append((value, f"{category}*", chapter, ROOT))
    return Shape("category, chapter", tuple(paths))


def _numeric(looks: Looks, form: TableFormat) -> Shape | None:
    facts = looks.facts
    if facts.whole and (looks.ages or looks.years):
        low, high = int(facts.least) // 20 * 20, int(facts.greatest)
        if looks.ages:
            return _bands(range(low, high + 1), _age_band, "bands of 5, 10 and 20 years, 90 and over together")
        return _bands(range(low, high + 1), _year_band, "bands of 5, 10 and 20 years")
    return _number_bands(looks, form)


def _bands(numbers: range, label: Callable[[int, int], str], words: str) -> Shape:
    return Shape(words, tuple((str(n), label(n, 5), label(n, 10), label(n, 20), ROOT) for n in numbers))


def _year_band(year: int, width: int) -> str:
    low = year // width * width
    return f"{low}-{low + width - 1}"


def _age_band(age: int, width: int) -> str:
    if width == 20 and age >= _TOP_BAND:
        return f"{_TOP_BAND}+"
    return f"{_TOP_AGE}+" if age >= _TOP_AGE else _year_band(age, width)


def _number_bands(looks: Looks, form: TableFormat) -> Shape | None:
    """About twenty bands of a round width, then two and ten of them together."""
    assert looks.facts.numbers is not None
    numbers = sorted(set((looks.facts.numbers + 0.0).tolist()))  # adding turns -0.0 into 0.0
    reach = numbers[-1] - numbers[0]
    if reach <= 0:
        return None
    exponent = math.floor(math.log10(reach / 20))
    width = next(step for step in (1, 2, 5, 10) if step * 10.0**exponent >= reach / 20) * 10.0**exponent
    digits = max(0, -exponent)

    def label(band: int, many: int) -> str:
        low = band // many * many
        ends = (format_number(round(edge * width, digits), form.decimal) for edge in (low, low + many))
        return f"[{'; '.join(ends) if form.decimal == ',' else ', '.join(ends)}["

    paths = []
    for number in numbers:
        band = math.floor(number / width)
        leaf = format_number(number, form.decimal)
        paths.append((leaf, label(band, 1), label(band, 2), label(band, 10), ROOT))
    return Shape(f"bands of {format_number(round(width, digits))}, twice and ten times that", tuple(paths))


def nested(found: Shape) -> object:
    """The taxonomy as nested groups, as in a schema; the reader adds the root."""
    tree: dict[str, object] = {}
    for path in found.paths:
        leaf, *groups = path
        groups = [label for place, label in enumerate(groups[:-1]) if place == 0 or label != groups[place - 1]]
        inner = tree
        for label in reversed(groups[1:]):
            deeper = inner.setdefault(label, {})
            assert isinstance(deeper, dict)
            inner = deeper
        leaves = inner.setdefault(groups[0], [])
        assert isinstance(leaves, list)
        leaves.append(leaf)
    return tree
