"""References: where in the record's JSON a sentence comes from.

`[risk 12: ATTACK, MEASURE, ADVERSARY, LINK]` is the figure `risks[12]` of the record, counted from 0 as programs do; the
words after the colon repeat what it says of itself, so that a slip is seen. `[release: k]` is the key `k` of `release`.
`resolve` reads such a text back and finds its place in the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports.text import clean

LISTS = {
    "risk": "risks",
    "utility": "utility",
    "check": "policy.checks",
    "adversary": "adversaries",
    "attack": "attacks",
    "link": "links",
    "input": "inputs",
    "note": "notes",
    "lack": "lacking",
    "driver": "drivers",
    "remedy": "remedies",
}
"""The word for one entry of each list of a record, and where the list stands."""
WHOLES = ("release", "policy", "sample", "tool", "seed")
"""The other places of a record that sentences come from."""
_WRITTEN = re.compile(r"\[(?P<word>[a-z]+)(?: (?P<place>\d+))?(?:: (?P<rest>.*))?\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reference:
    """One place in a record: an entry of a list (`place` counts from 0), or a key of `release`, `policy` and the like."""

    word: str
    place: int | None = None
    said: tuple[str, ...] = ()
    """What the entry says of itself; of `release` and the like the keys that are meant."""

    def __str__(self) -> str:
        number = "" if self.place is None else f" {self.place}"
        words = ", ".join(clean(one, 80).replace("[", "(").replace("]", ")") for one in self.said)
        return f"[{self.word}{number}{f': {words}' if words else ''}]"

    @property
    def path(self) -> str:
        """Where it stands in the JSON."""
        return self.word if self.place is None else f"{LISTS[self.word]}[{self.place}]"

    @property
    def anchor(self) -> str:
        """The name of its line in the appendix of a page."""
        plain = re.sub(r"[^a-z0-9]+", "-", " ".join(self.said).lower()) if self.place is None else str(self.place)
        return f"{self.word}-{plain}".rstrip("-")


def resolve(record: Mapping[str, Any], text: str) -> Any:
    """What a reference means in the JSON of a record. Raises LookupError where there is no such place, or where the words
    after the colon are not what stands there."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise LookupError(text)
    word, rest = found["word"], found["rest"]
    if found["place"] is None:
        if word not in WHOLES:
            raise LookupError(text)
        whole = record[word]
        return {key: whole[key] for key in rest.split(", ")} if rest else whole
    entries: Any = record
    for key in LISTS[word].split("."):
        entries = entries[key]
    entry = entries[int(found["place"])]
    if rest is not None and str(reference_to(word, int(found["place"]), entry)) != text:
        raise LookupError(text)
    return entry


_NAMES = {
    "risk": ("attack", "measure", "adversary", "link", "sensitive"),
    "utility": ("measure",),
    "check": ("measure",),
    "adversary": ("name",),
    "attack": ("name",),
    "link": ("name",),
    "input": ("role",),
    "note": (),
    "lack": ("what",),
    "driver": ("figure",),
    "remedy": (),
}
"""The keys by which an entry of each list names itself."""


def reference_to(word: str, place: int, entry: Any) -> Reference:
    """The reference to an entry of a list: the one at `place`, as an object or as its JSON."""
    read = entry.get if isinstance(entry, Mapping) else lambda key: getattr(entry, key)
    said = [str(value) for key in _NAMES[word] if (value := read(key)) is not None]
    return Reference(word, place, tuple(said))
