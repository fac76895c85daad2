"""Masks: which texts a text with stars in it may stand for.

A star stands for one character (`13*05`, `***05`); so does each of a run at the end of a number (`130**`). At the end of
other texts a run of stars stands for whatever follows, since tools pad it to the longest text (`U****`). A run at the
beginning stands for whatever precedes, where no text is as long as the mask.

Texts are looked up by the characters at the places that a mask shows. A column has few such patterns, so each is indexed
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

STAR = "*"
_MOST_PATTERNS = 64

_Pattern = tuple[tuple[int, ...], int, bool]
"""The places that are shown, the length that is needed, and whether a text must be exactly that long."""


def is_mask(text: str) -> bool:
    """Whether a text shows some of its characters and hides others."""
    return STAR in text and bool(text.strip(STAR))


class Masks:
    """The texts of a column, found by masks. `same_length` says that a mask is as long as what it hides."""

    def __init__(self, texts: Sequence[str], same_length: bool) -> None:
        self._texts, self._same_length = texts, same_length
        self._longest = max(map(len, texts), default=0)
        self._known: dict[_Pattern, dict[str, list[int]]] = {}

    def matching(self, mask: str) -> list[int]:
        """The numbers of the texts that a mask may stand for, in order."""
        if self._same_length:
            return self._find(mask, exact=True)
        shown = mask.rstrip(STAR)
        found = self._find(shown, exact=shown == mask)
        tail = mask.lstrip(STAR)
        if not found and tail != mask and STAR not in tail and tail:
            found = self._ending(tail)
        return found

    def beginning(self, prefix: str) -> list[int]:
        """The numbers of the texts that begin with this, in order."""
        return self._find(prefix, exact=False, literal=True)

    def _find(self, mask: str, exact: bool, literal: bool = False) -> list[int]:
        size = len(mask)
        if size > self._longest:
            return []
        places = tuple(place for place, sign in enumerate(mask) if literal or sign != STAR)
        return self._index((places, size, exact)).get("".join(mask[place] for place in places), [])

    def _ending(self, tail: str) -> list[int]:
        size = len(tail)
        return self._index((tuple(range(-size, 0)), size, False)).get(tail, [])

    def _index(self, pattern: _Pattern) -> dict[str, list[int]]:
        """The texts that are long enough, by what they show at the places of a pattern."""
        index = self._known.get(pattern)
        if index is None:
            if len(self._known) == _MOST_PATTERNS:
                self._known.clear()
            places, size, exact = pattern
            pick = itemgetter(*places or (slice(0, 0),))
            index = {}
            for number, text in enumerate(self._texts):
                if len(text) == size if exact else len(text) >= size:
                    index.setdefault("".join(pick(text)), []).append(number)
            self._known[pattern] = index
        return index
