"""Labels: a published cell denotes a set of values.

An exact value, an interval (closed or half-open), a taxonomy node, an explicit set, a prefix mask, everything (`**`), a
suppressed value (`*`): each is read into codes of the column's domain (`notation.py` knows how they are written). Nearly all
are intervals of codes (`lo` to `hi`, both inclusive); for explicit sets with gaps the codes are listed as well. A number that
is no value of the domain (a centroid) denotes none: `lo > hi`.

A published text may also be an *alias*: a name that stands for one value and does not say which. What it denotes cannot be
seen from it, so it is declared beside the release, as the ordinary label that says as much (`Respiratory` for
`Respiratory-1`, `**` for `A07`). An alias never stands for the missing value, which is published as it is.

Writing goes the other way: the narrowest label that covers some codes. A written label reads back to a set that covers
them, and no other code unless the notation cannot avoid it. It is never the mark of a suppressed value: rows whose
quasi-identifiers are all suppressed are left out of the classes, and a generalised row must not be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.discretion import quote, shown
from auditor.model.domain import Domain
from auditor.model.errors import LabelError
from auditor.model.keeping import Memory, kept
from auditor.model.labels.notation import Found, Reader, everything, is_everything, is_plain, is_reversed, quoted
from auditor.model.notation_kinds import Notation
from auditor.model.schema import TableFormat, Type
from auditor.model.values import LEAST, MOST, is_number

_MOST_TOLD = 3  # of more labels of a column that cannot be read the number is told
_MOST_LISTED = 12  # a set that is the whole domain is written out up to this many values

Declared = str | Mapping[str, str]
"""What the aliases of a column denote: the label of each; or one label, where every text is an alias for the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The distinct labels of one published column, numbered; cells hold these numbers."""

    domain: Domain
    texts: tuple[str, ...]
    lo: Codes  # by label, the first code that it covers
    hi: Codes  # by label, the last code that it covers
    gaps: dict[int, Codes]  # the codes of a label that does not cover all from `lo` to `hi`
    low: Floats  # the lower published bound of a numeric label; NaN for others
    high: Floats  # the upper published bound of a numeric label; NaN for others
    suppressed: Bools
    aliases: dict[int, str] = field(default_factory=dict)  # what a label is declared to denote, where it is an alias
    memory: Memory = field(default_factory=Memory, init=False, repr=False)

    @property
    @kept(1)
    def is_alias(self) -> Bools:
        """Which labels are aliases."""
        mask = np.zeros(len(self.texts), dtype=np.bool_)
        mask[list(self.aliases)] = True
        return mask

    @property
    @kept(1)
    def counts(self) -> Ints:
        """How many values of the domain each label covers."""
        counts: Ints = np.maximum(self.hi.astype(np.int64) - self.lo + 1, 0)
        for label, codes in self.gaps.items():
            counts[label] = len(codes)
        return counts

    @property
    @kept(1)
    def losses(self) -> Floats:
        """What each label hides, from 0 (exact) to 1 (everything): (values - 1)/(domain - 1), or width over range for
        numbers without a taxonomy. It is 0 also for labels that cover no value (a centroid): what those hide is not known,
        and `counts` tells them apart."""
        domain = self.domain
        if domain.numbers is None or domain.taxonomy is not None:
            return self.value_losses
        width = np.clip(np.nan_to_num(self.high - self.low), 0.0, None)
        share = width / domain.width if domain.width > 0 else (self.counts > 1).astype(np.float64)
        return np.where(self._covers_everything, 1.0, np.minimum(share, 1.0))

    @property
    @kept(1)
    def value_losses(self) -> Floats:
        """The same by values, for numbers too: (values - 1)/(domain - 1)."""
        if self.domain.known < 2:
            return self._covers_everything.astype(np.float64)
        return np.clip((self.counts - 1) / (self.domain.known - 1), 0.0, 1.0)

    @property
    def _covers_everything(self) -> Bools:
        whole = [is_everything(self.domain, text.strip()) for text in self.texts]
        everything: Bools = self.suppressed | np.array(whole, dtype=np.bool_)
        return everything

    def mass(self, weights: Floats) -> Floats:
        """The total weight of the values that each label covers; `weights` has one entry per code."""
        running = np.concatenate([[0.0], np.cumsum(weights)])
        total: Floats = running[self.hi + 1] - running[np.minimum(self.lo, self.hi + 1)]
        for label, codes in self.gaps.items():
            total[label] = weights[codes].sum()
        return total

    def codes(self, label: int) -> Codes:
        """The codes that one label covers."""
        if label in self.gaps:
            return self.gaps[label]
        return np.arange(self.lo[label], self.hi[label] + 1, dtype=np.int32)

    def covers(self, label: Codes, code: Codes) -> Bools:
        """Whether each label covers the code beside it."""
        inside: Bools = (self.lo[label] <= code) & (code <= self.hi[label])
        here = np.flatnonzero(np.isin(label, list(self.gaps))) if self.gaps else np.empty(0, dtype=np.int64)
        if len(here):  # one key for a label and a code: those of all labels that occur are found at once
            size = self.domain.size
            used = np.unique(label[here]).tolist()
            held = np.concatenate([gapped * size + self.gaps[gapped].astype(np.int64) for gapped in used])
            inside[here] = np.isin(label[here].astype(np.int64) * size + code[here], held)
        return inside

    @classmethod
    def exact(cls, domain: Domain) -> Labels:
        """One label for each value of the domain: label number = code."""
        size = domain.size
        codes = np.arange(size, dtype=np.int32)
        numbers = np.full(size, np.nan)
        if domain.numbers is not None:
            numbers[: len(domain.numbers)] = domain.numbers
        return cls(domain, domain.texts, codes, codes, {}, numbers, numbers, np.zeros(size, dtype=np.bool_))

    @classmethod
    def read(
        cls,
        domain: Domain,
        texts: Sequence[str],
        place: Callable[[int], str],
        declared: Declared | None = None,
        asked: Sequence[Notation] = (),
    ) -> Labels:
        """The sets that label texts denote. `place(i)` says in errors where text i is; `declared` is what the aliases among
        them denote; `asked` are the notations that the schema asks for (empty: any)."""
        size = len(texts)
        lo, hi = np.zeros(size, dtype=np.int32), np.full(size, -1, dtype=np.int32)
        low, high = np.full(size, np.nan), np.full(size, np.nan)
        gaps: dict[int, Codes] = {}
        aliases: dict[int, str] = {}
        suppressed = np.array([is_suppressed(domain, text, asked) for text in texts], dtype=np.bool_)
        reader = any_notation = Reader(domain)
        if asked:
            reader = Reader(domain, asked)
        unread: dict[str, str] = {}
        read = np.zeros(size, dtype=np.bool_)
        if declared is None and not asked:
            plain, numbers = _plain_numbers(domain, texts)
            read[plain] = True
            lo[plain], hi[plain], low[plain] = _values_or_none(domain, numbers)
            high[plain] = low[plain]
        for i in np.flatnonzero(~read).tolist():
            text = texts[i]
            meaning = alias_meaning(declared, text, domain.format)
            found = reader.read(text) if meaning is None else any_notation.read(meaning)
            if meaning is not None:
                if found is None:
                    said = f"{shown(text, 'label')} is declared to denote {shown(meaning, 'label')}"
                    unread[text] = f"{place(i)}: {said}; {_no_label(domain, meaning)}"
                    continue
                number = domain.number(text) if domain.numbers is not None else None
                bound = np.nan if number is None else number
                found = found._replace(hi=min(found.hi, domain.known - 1), low=bound, high=bound)
                aliases[i] = meaning
            if found is None:
                if text.strip() in domain.format.missing:
                    unread[text] = (
                        f"{place(i)}: {quote(text)} means a missing value, and the original has none in this column. If it "
                        f"means a suppressed one, list it under [columns.{domain.column.name}] suppressed, not missing."
                    )
                else:
                    other = any_notation.read(text) if asked else None
                    unread[text] = f"{place(i)}: {_not_asked(domain, text, other, asked)}"
                continue
            lo[i], hi[i], low[i], high[i], codes = found[:5]
            if codes is not None:
                gaps[i] = codes
        if unread:
            faults = list(unread.values())
            if len(faults) > _MOST_TOLD + 1:
                more = len(faults) - _MOST_TOLD
                faults = [
                    *faults[:_MOST_TOLD],
                    f"column {domain.column.name!r}: {more} more labels cannot be read either.",
                ]
            raise LabelError("\n".join(faults), faults, tuple(unread))
        return cls(domain, tuple(texts), lo, hi, gaps, low, high, suppressed, aliases)

    def declared(self) -> Declared | None:
        """What the aliases denote, in the shortest form; None where there are none."""
        meanings = set(self.aliases.values())
        ordinary = (i for i in range(len(self.texts)) if i not in self.aliases)
        form = self.domain.format
        if len(meanings) == 1 and all(self.texts[i] in form.missing for i in ordinary):
            return meanings.pop()
        return {self.texts[i]: meaning for i, meaning in self.aliases.items()} or None


def _plain_numbers(domain: Domain, texts: Sequence[str]) -> tuple[Ints, Floats]:
    """Which texts can only be read as a number (most labels are, where averages are published), and these numbers."""
    form, taxonomy = domain.format, domain.taxonomy
    others = {*form.missing, *form.suppressed, *domain.stand_ins, *(taxonomy.labels if taxonomy else ())}
    numeric = domain.numbers is not None and form.decimal == "."
    places = [i for i, text in enumerate(texts) if numeric and is_number(text) and text not in others]
    number = np.array([float(texts[i]) for i in places])
    far = np.abs(number)
    usable = (number == 0) | ((far >= LEAST) & (far <= MOST))
    return np.array(places, dtype=np.int64)[usable], number[usable]


def _values_or_none(domain: Domain, number: Floats) -> tuple[Codes, Codes, Floats]:
    """The first and the last code that a number denotes (none where it is a centroid), and the number as published."""
    known = domain.numbers
    if known is None or not len(known):
        return np.zeros(len(number), dtype=np.int32), np.full(len(number), -1, dtype=np.int32), number
    place = np.minimum(np.searchsorted(known, number), len(known) - 1).astype(np.int32)
    found = known[place] == number
    return np.where(found, place, 0), np.where(found, place, -1), np.where(found, known[place], number)


def alias_meaning(declared: Declared | None, text: str, form: TableFormat) -> str | None:
    """The label that says what a text denotes, where it is an alias; None where it is an ordinary label."""
    if isinstance(declared, str):
        return None if text.strip() in form.missing else declared
    return None if declared is None else declared.get(text.strip())


def is_suppressed(domain: Domain, text: str, asked: Sequence[Notation] = ()) -> bool:
    """Whether a text means a suppressed value: it is listed as such, and no value is written like it."""
    value = not asked or asked[0] is Notation.VALUE
    return text.strip() in domain.format.suppressed and not (value and domain.code(text) is not None)


def write_label(domain: Domain, codes: Codes) -> str:
    """The narrowest label that covers some codes: the value itself; `[min, max]` for numbers and ordinals; the lowest
    common ancestor in a taxonomy; otherwise the set. It is the label for everything where the missing value is mixed with
    others, where no notation can tell the values apart from another value, and where the text means a suppressed value."""
    lo, hi = int(codes.min()), int(codes.max())
    if lo == hi:
        return domain.texts[lo]
    text = _narrowest(domain, lo, hi, codes)
    return everything(domain) if text is None or text in domain.format.suppressed else text


def _narrowest(domain: Domain, lo: int, hi: int, codes: Codes) -> str | None:
    """The narrowest label that covers several codes; None where that is the label for everything."""
    if domain.numbers is not None or domain.column.type is Type.ORDINAL:
        return None if hi == domain.missing else _interval(domain, lo, hi)
    if domain.taxonomy is not None:
        if hi == domain.missing:  # the root of a tree of one leaf is a value, and does not cover the missing one
            return domain.taxonomy.labels[0] if domain.taxonomy.height else None
        node = int(domain.taxonomy.common_ancestor(np.array([lo]), np.array([hi]))[0])
        return domain.taxonomy.labels[node]
    distinct = np.unique(codes)
    if distinct[-1] == domain.missing or len(distinct) == domain.size > _MOST_LISTED:
        return None
    text = "{" + ", ".join(quoted(domain.texts[code]) for code in distinct) + "}"
    return None if text in domain.codes else text


def _not_asked(domain: Domain, text: str, other: Found | None, asked: Sequence[Notation]) -> str:
    """Why a text denotes nothing in the notations that the schema asks for."""
    if other is None:
        return _no_label(domain, text)
    allowed = ", ".join(f'"{kind}"' for kind in asked)
    return (
        f"{shown(text.strip(), 'label')} denotes no value in the notations that [columns.{domain.column.name}] allows, "
        f'notation = [{allowed}]. Add "{other.kind}" there to read it.'
    )


def _no_label(domain: Domain, text: str) -> str:
    """Why a text denotes nothing, and what would."""
    column, text = domain.column, text.strip()
    if is_reversed(domain, text):
        return f"{shown(text, 'label')} denotes no value: its bounds are reversed."
    if text and domain.numbers is None and is_plain(text):
        groups = " nor a group of its taxonomy" if domain.taxonomy else ""
        said = f"{shown(text, 'label')} is no value of [columns.{column.name}]{groups}"
        return f"{said}.{domain.nearest(text, groups=True)}"
    part = Reader(domain).unknown_part(text)
    why = "" if part is None else f" In it, {shown(part, 'part')} is none.{domain.nearest(part, groups=True)}"
    marks = " or ".join([everything(domain), *domain.format.suppressed])
    return (
        f"{shown(text, 'label')} denotes no value of the column.{why} A label may be a value, a taxonomy group, [a, b], "
        f"[a, b[, a-b, <a, >=a, {{a, b}}, a prefix*, {marks}."
    )


def _interval(domain: Domain, lo: int, hi: int) -> str | None:
    """The interval between two values; None where their texts hold signs that make it read otherwise."""
    low, high = domain.texts[lo], domain.texts[hi]
    sign = ";" if "," in low + high else ","
    text = f"[{low}{sign} {high}]"
    if domain.numbers is None and (text in domain.codes or set(low + high) & set(",;")):
        found = Reader(domain).read(text)
        return text if found is not None and (found.lo, found.hi) == (lo, hi) else None
    return text
