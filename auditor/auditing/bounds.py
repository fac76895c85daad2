"""Bounds: how much worse could it be, for adversaries of a stated kind, beside the best attack that was found.

- Whoever knows everybody's class and m facts of the kind "if A has this value, B has that one" (`measure/worst_case.py`).
  With m = 0 they guess the most frequent value of the class. Classes are what all quasi-identifiers tell: in a release of
  several blocks, the people of a class who also share the quasi-identifiers in the block of the sensitive column.
- Whoever knows all records but one. Where values are published as they are, that is the last one, with certainty; of an
  average its rounding may leave something open (`measure/informed.py`).

A bound is on the expected success, over everything that agrees with what this adversary knows. Attacks that go by more (what
other classes teach, how the release was made, other releases) say so (`Attack.beyond_class`), and may do better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

import numpy as np

from attacks.base import Attack
from auditor.auditing.subjects import Subject
from auditor.measure.ambiguity import ambiguous
from auditor.measure.counts import Entries, counted, values_of
from auditor.measure.informed import are_averages, rounding_leaves
from auditor.measure.worst_case import worst_case
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.record.bound import Bound, Contender
from auditor.model.record.record import NOT_APPLICABLE, OK, Risk
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import TIE
from scenarios.options import Options

ALL_BUT_ONE = "all records but one"
_CLASSES = "the classes"
_TRIVIAL = "values are published as they are, so that whoever knows all others reads off the last one"
_ROUNDED = "averages are published, so that whoever knows all others works out the last one, but for rounding"
_NO_SMALLER = "values were recoded or changed, and how is not known, so no smaller bound can be told"
_ALIKE = (
    "in some class everybody has the same value, so that a fact “if A has this value, B has that one” about somebody of that "
    "class says what B has"
)
_PART = "it needs the whole table, and only the classes of a sample of people were read"
_ROWS = "several rows are one person's, so that the classes of one person tell about each other"
_ALIASES = "values are published under aliases, so that the classes do not show which values they hold"
_UNTRUE = "published values are not the people's own, so that the classes do not show which values they hold"
_OPEN = "a published cell may hold the value of another, so that the classes do not show how often each value occurs"


def release_bounds(
    subject: Subject, options: Options, attacks: Sequence[Attack], risks: Sequence[Risk], targets: Ints
) -> tuple[Bound, ...]:
    """The bounds for each sensitive column, and for columns of numbers that are not the people's own. `targets` are those who
    were attacked; where whose the rows are is not known, the bounds are of everybody in a class. A synthetic release has
    none: nobody is in its classes."""
    if subject.release.synthetic:
        return ()
    goes_by = {attack.name: attack.beyond_class for attack in attacks}
    made: list[Bound] = []
    for column in subject.release.sensitive:
        rivals = _contenders(risks, column, goes_by)
        inside = next((one for one in rivals if not one.beyond), None)
        outside = tuple(one for one in rivals if one.beyond)
        made += [
            replace(bound, best=inside, outside=outside) for bound in _with_facts(subject, options, column, targets)
        ]
        last = _all_but_one(subject, column, targets)
        made.append(replace(last, best=replace(rivals[0], beyond="") if rivals else None))
    numeric = [column for column in subject.release.quasi if subject.release.labels[column].domain.numbers is not None]
    made += [_all_but_one(subject, column, targets) for column in numeric if not _true(subject, column).all()]
    return tuple(made)


def _contenders(risks: Sequence[Risk], column: str, goes_by: dict[str, str | None]) -> list[Contender]:
    """The attacks that name values of a column, each by its best row, the best first."""
    best: dict[str, Contender] = {}
    for risk in risks:
        beyond = goes_by.get(risk.attack)
        named = risk.measure == "success" and risk.sensitive == column and "width" not in risk.params
        if beyond is None or not named or risk.status != OK or risk.value is None:
            continue
        one = Contender(risk.attack, risk.adversary, risk.link, float(risk.value), beyond)
        if risk.attack not in best or one.value > best[risk.attack].value + TIE:
            best[risk.attack] = one
    return sorted(best.values(), key=lambda one: -round(one.value / TIE))


# ----- whoever knows the classes and some facts ---------------------------------------------------------------------------


def _with_facts(subject: Subject, options: Options, column: str, targets: Ints) -> Iterator[Bound]:
    why = _unbounded(subject, column)
    if why is not None:
        if options.facts:
            yield Bound(column, _CLASSES, max(options.facts), NOT_APPLICABLE, why)
        return
    counts, place = _counts(subject.release, column)
    people = _people(subject, options.suppression, column, place, targets)
    for facts in options.facts if len(people) else ():
        found = worst_case(counts, facts)
        anybody, own = found.anybody[people], found.own[people]
        why = _ALIKE if facts and (counts.distinct == 1).any() else None
        bound = Bound(column, _who(facts), facts, OK, why, _mean(anybody), float(anybody.max()), people=len(people))
        yield replace(bound, own_mean=_mean(own), own_worst=float(own.max())) if facts else bound


def _who(facts: int) -> str:
    return f"{_CLASSES}, {facts or 'no'} fact{'' if facts == 1 else 's'}"


def _unbounded(subject: Subject, column: str) -> str | None:
    """Why the classes of a release do not bound what is known of a column, or None."""
    release = subject.release
    labels, used = release.labels[column], np.flatnonzero(release.label_counts(column))
    if release.beyond is not None:
        return _PART
    if subject.whole is not None:
        return _ROWS
    if labels.is_alias[used].any():
        return _ALIASES
    if not _true(subject, column).all():
        return _UNTRUE
    return _OPEN if labels.suppressed[used].any() or ambiguous(labels, used) else None


def _true(subject: Subject, column: str) -> Bools:
    """For each row in the release, whether what is published of a column covers the person's own value; as far as that is
    known."""
    release, people, provenance = subject.release, subject.people, subject.provenance
    if people is None or provenance is None or not subject.has_original or column not in people.codes:
        return np.ones(0, dtype=np.bool_)
    inside, number = np.flatnonzero(provenance.bucket >= 0), release.block_number(column)
    label = release.blocks[number].cell(column)[provenance.fragment[inside, number]]
    return release.labels[column].covers(label, people.codes[column][inside])


def _counts(release: Release, column: str) -> tuple[Entries, Ints]:
    """How often each value occurs in each class, and the class of each fragment of the column's block. People whose
    quasi-identifiers are all suppressed are a class too: facts can be about them."""
    block, labels = release.block_of(column), release.labels[column]
    shared = [block.cell(name) for name in block.columns if name in release.schema.quasi]
    hidden = release.suppressed[block.bucket]
    bucket = np.where(hidden, len(release.sizes), block.bucket)
    place = distinct_rows(np.column_stack([bucket, *(np.where(hidden, -1, cell) for cell in shared)]))
    cell = block.cell(column).astype(np.int64)
    value, label = values_of(labels, np.bincount(cell, minlength=len(labels.texts)))
    return counted(place, value[cell], int(place.max(initial=-1)) + 1, len(label)), place


def _people(subject: Subject, suppression: Suppression, column: str, place: Ints, targets: Ints) -> Ints:
    """The class of each person whom the bounds are about."""
    release, provenance = subject.release, subject.provenance
    number = release.block_number(column)
    if provenance is not None:
        return np.asarray(place[provenance.fragment[targets, number]])
    counts = suppression is Suppression.OWN or ~release.suppressed[release.blocks[number].bucket]
    return np.asarray(place[np.broadcast_to(counts, place.shape)])


# ----- whoever knows all records but one ----------------------------------------------------------------------------------


def _all_but_one(subject: Subject, column: str, targets: Ints) -> Bound:
    """The bound for whoever knows all records but the person's own."""
    labels, used = subject.release.labels[column], np.flatnonzero(subject.release.label_counts(column))
    if _true(subject, column).all() and (labels.counts[used] == 1).all() and not labels.aliases:
        return Bound(column, ALL_BUT_ONE, reason=_TRIVIAL, mean=1.0, worst=1.0)
    return _averaged(subject, column, targets) or Bound(column, ALL_BUT_ONE, reason=_NO_SMALLER, mean=1.0, worst=1.0)


def _averaged(subject: Subject, column: str, targets: Ints) -> Bound | None:
    """The bound for a column of numbers that is published as averages of classes; None where it is not."""
    release, people, provenance = subject.release, subject.people, subject.provenance
    labels, true = release.labels[column], _true(subject, column)
    numbers = labels.domain.numbers
    if true.all() or numbers is None or people is None or provenance is None or subject.whole is not None:
        return None
    codes, place = people.codes[column], release.block_number(column)
    cell = release.blocks[place].cell(column)[np.maximum(provenance.fragment[:, place], 0)]
    known = np.flatnonzero((provenance.bucket >= 0) & (codes < len(numbers)) & (labels.low == labels.high)[cell])
    if not len(known):
        return None
    own, published = numbers[codes[known]], labels.low[cell[known]]
    group = np.unique(provenance.bucket[known], return_inverse=True)[1].reshape(-1)
    off = _rounding(labels.texts, np.unique(cell[known]), labels.domain.format.decimal)
    if off is None or not are_averages(own, group, published, off):
        return None
    share = np.bincount(codes[known], minlength=len(numbers)) / len(known)
    chance = rounding_leaves(own, group, published, off, numbers, share)[np.isin(known, targets)]
    if not len(chance):
        return None
    return Bound(
        column, ALL_BUT_ONE, reason=_ROUNDED, mean=_mean(chance), worst=float(chance.max()), people=len(chance)
    )


def _rounding(texts: Sequence[str], used: Ints, decimal: str) -> float | None:
    """How far a published number may be from what was rounded: half a unit of the last place that any of them has; None
    where they are not all plain numbers."""
    try:
        places = [Decimal(texts[label].replace(decimal, ".")).as_tuple().exponent for label in used.tolist()]
    except InvalidOperation:
        return None
    return 0.5 * 10.0 ** min(place for place in places if isinstance(place, int))


def _mean(figures: Floats) -> float:
    """The mean, whatever the order."""
    return math.fsum(figures.tolist()) / len(figures)
