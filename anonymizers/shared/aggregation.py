"""Aggregation of finished classes: every value of a column becomes the average of its class.

Numbers become their mean, ordinals their median (or convex median, see `kernels.averages`), nominals their most frequent
value, the first in the domain's order of several. A class with more missing than present values in a column publishes
it as missing; otherwise the average is that of the present ones.

Means are written with twelve digits, counted from the first digit of the class's largest number; that removes the noise
of sums. Where all values of a class are the same, its mean is that value as it is.

`restore` gives a numeric column its mean and variance back (Domingo-Ferrer & Torra 2005): each published number x becomes
(x - m)·√(v/w) + o, with m and w the mean and variance of the published numbers, o and v those of the original ones. It
spreads all classes by the same factor and keeps them whole. Where all classes publish the same number there is no variance
to scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from anonymizers.base import read_labels
from anonymizers.shared.points import Middle
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.schema import Type
from auditor.model.table import Table
from auditor.model.values import format_number

DIGITS = 12
"""The digits of a published mean, counted from the first digit of the largest number in its class."""

_SMALLEST = float(np.finfo(np.float64).tiny)


def aggregate(
    table: Table, columns: Sequence[str], groups: Ints, ordinal: Middle = Middle.MEDIAN, restore: bool = False
) -> tuple[dict[str, Labels], dict[str, Codes]]:
    """The average of each group (numbered from 0, none empty) in each column, as labels and cells for `publish`."""
    labels: dict[str, Labels] = {}
    cells: dict[str, Codes] = {}
    count = int(groups.max()) + 1
    for column in columns:
        domain, codes = table.domains[column], table.codes[column]
        absent = np.zeros(count, dtype=np.bool_)
        if domain.missing is not None:
            missing = codes == domain.missing
            absent = 2 * np.bincount(groups[missing], minlength=count) > np.bincount(groups, minlength=count)
        if domain.numbers is not None:
            written = _means(domain, codes, groups, absent, restore)
        else:
            written = _middles(domain, codes, groups, absent, ordinal)
        labels[column], number = read_labels(domain, written)
        cells[column] = number[groups]
    return labels, cells


def _middles(domain: Domain, codes: Codes, groups: Ints, absent: Bools, ordinal: Middle) -> list[str]:
    """The median or mode of each group, as text."""
    from anonymizers.kernels.averages import class_averages

    ordered = domain.column.type is Type.ORDINAL
    found = class_averages(codes, groups, len(absent), domain.known, ordered, ordinal is Middle.CONVEX)
    if domain.missing is not None:
        found[absent] = domain.missing
    return [domain.texts[code] for code in found]


def _means(domain: Domain, codes: Codes, groups: Ints, absent: Bools, restore: bool) -> list[str]:
    """The mean of each group, as text."""
    numbers = domain.numbers
    assert numbers is not None
    present = codes < len(numbers)
    if not present.any():
        return [domain.texts[codes[0]]] * len(absent)
    values, group = numbers[codes[present]], groups[present]
    sizes = np.bincount(group, minlength=len(absent))
    mean = np.bincount(group, weights=values, minlength=len(absent)) / np.maximum(sizes, 1)
    low, high = np.full(len(absent), np.inf), np.full(len(absent), -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    mean = np.where(low == high, low, mean)
    if restore:
        mean = restored(values, mean, np.bincount(groups, minlength=len(absent)) * ~absent)
    largest = np.maximum(np.maximum(np.abs(low), np.abs(high)), _SMALLEST)
    as_it_is = (low == high) & (not restore)
    none = absent & (domain.missing is not None)
    written = []
    for number, size, exact, missing in zip(
        mean.tolist(), largest.tolist(), as_it_is.tolist(), none.tolist(), strict=True
    ):
        if missing:
            written.append(domain.texts[-1])  # the missing value is the last one
        else:
            written.append(number_text(domain, number if exact else in_digits(number, size)))
    return written


def in_digits(number: float, size: float) -> float:
    """A mean of numbers, the greatest of which has this size, without the noise of sums."""
    return round(number, DIGITS - 1 - math.floor(math.log10(size)))


def restored(original: Floats, mean: Floats, sizes: Ints) -> Floats:
    """Class means, shifted and scaled so that the published column (each mean as often as `sizes` says) has the mean and
    variance of the original numbers."""
    if not sizes.sum():
        return mean
    centre = float(np.average(mean, weights=sizes))
    variance = float(np.average((mean - centre) ** 2, weights=sizes))
    factor = math.sqrt(float(original.var()) / variance) if variance > 0 else 1.0
    return (mean - centre) * factor + float(original.mean())


def number_text(domain: Domain, number: float) -> str:
    """A number as text, with zeros added where it would otherwise read as a missing or suppressed value."""
    decimal, form = domain.format.decimal, domain.format
    text = format_number(number, decimal)
    while text in form.missing or text in form.suppressed:
        text += "0" if decimal in text else f"{decimal}0"
    return text
