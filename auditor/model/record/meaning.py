"""What figures mean: the words that an audit record carries, so that reports need to know no attack, link or measure by name.

An attack, a link model, a utility measure and a class statistic each declare their words in their own file; the audit copies
those that it used into the record; `auditor list`, `auditor explain`, the reports and the tables of the documents read them.

A *sentence* is a text with words in braces, which the reports replace for one figure:

    {of}            none of 100 people, 34 of 100 people
    {share}         62 % of 100 people (95 % interval 52–71 %)
    {rate}          62 %               {bounds}     " (52–71 %)", or nothing
    {interval}      " (95 % interval 52–71 %)", or nothing
    {points}        62                 {n}          100
    {value}         a number           {people}     3 people, 1 person, nobody
    {probability}   0.2                {one_in}     0.2 (one in 5)
    {sure}          certainty, probability 0.2
    {column}        the sensitive column's name, in words
    {who}           this adversary     {by}         " by this adversary", or nothing
    {seen}          ", as seen by this adversary", or nothing
    {near}          "within ±5 of", or "exactly on" (settings epsilon and relative)
    {width}         an interval of width 5 (settings width or epsilon)
    {reading}       " (each distinct value counted once)" where the setting reading says so, or nothing
    {other}         "one who is not", or "one made-up person";  {others} people who are not in the data, made-up people
    {belief}        what is believed about one person, how strongly, and whether it is true
    {set_NAME}      the value of the setting NAME; {percent_NAME} the same in per cent

A sentence begins with a small letter and has no full stop: whoever says it makes it a whole sentence, or part of another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

UTILITY, RELEASE = "utility", "release"
"""What a measure is `of` where it is no attack's: of the use of a release, or a statistic of its classes."""

WORDS = {
    "of", "share", "rate", "bounds", "interval", "points", "n", "value", "people", "probability", "one_in",
    "sure", "column", "who", "by", "seen", "near", "width", "reading", "other", "others", "belief",
}  # fmt: skip
"""The words in braces that need no setting."""
_BRACES = re.compile(r"\{([^{}]*)\}")


class Goal(StrEnum):
    """What an attack is after."""

    IDENTITY = "identity"
    ATTRIBUTE = "attribute"
    MEMBERSHIP = "membership"


class Kind(StrEnum):
    """How a figure comes about: a mean over people, a number of people, the extreme one, or a fact of the release alone."""

    RATE = "rate"
    COUNT = "count"
    EXTREME = "extreme"
    FACT = "fact"


class Better(StrEnum):
    """Which way a figure is better: safer for the people or, of utility, more useful."""

    LOWER = "lower"
    HIGHER = "higher"


class Criterion(StrEnum):
    """What regulators call the risk (Article 29 Working Party, opinion 05/2014), and two kinds that they do not name."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"
    MEMBERSHIP = "membership"
    HARM = "harm by false belief"


class NoteKind(StrEnum):
    """What a note is about, so that a report knows where to put it."""

    REMARK = "remark"
    DOUBT = "doubt"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on the audit. A `doubt` stands beside the verdict: rows may be matched wrongly."""

    text: str
    kind: str = NoteKind.REMARK


@dataclass(frozen=True, slots=True)
class Measure:
    """What one measure means, and how a figure of it is said."""

    name: str
    meaning: str
    """One plain line, for the glossary."""
    sentence: str = ""
    """What a figure says about people; where it is empty, the label and the figure."""
    of: str = ""
    """The attack that it belongs to, or `utility` or `release`."""
    label: str = ""
    """A short name for tables, pictures and checks; where it is empty, the name."""
    kind: str = Kind.RATE
    better: str = Better.LOWER
    none: str = ""
    """The sentence where the figure is 0, if it is another."""
    everybody: str = ""
    """The sentence where the figure is 1 (a count: everybody), if it is another."""
    one: str = ""
    """The sentence about one person, where only one is attacked."""
    one_none: str = ""
    """The same where the figure is 0, if it is another."""
    best: float | None = None
    """The best value that a measure of utility can have."""
    statistic: str = ""
    """Which of its statistics stands for a measure of utility that has several."""
    headline: bool = False
    """Whether reports that have room for one or two measures of utility show this one."""
    right: str = ""
    """Of a count of claims: the measure that counts those of them that are true, which reports show where there is one."""
    wrong: str = ""
    """Of a count of claims: the sentence on those that are not true, {value} of the {n} that were made."""

    def faults(self, settings: frozenset[str] = frozenset()) -> list[str]:
        """The words in braces that no report could replace, given the settings that its figures bear."""
        texts = (self.sentence, self.none, self.everybody, self.one, self.one_none, self.wrong)
        found = {word for text in texts for word in _BRACES.findall(text)}
        known = WORDS | {f"{how}_{name}" for how in ("set", "percent") for name in settings}
        return sorted(found - known)


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """A way to find a person's class: `meaning` for the glossary, `how` to explain it in a few words. `granted` says that the
    class is taken for known: its figures are a bound, and never what an adversary gets."""

    name: str
    meaning: str
    how: str
    granted: bool = False


@dataclass(frozen=True, slots=True)
class AttackFacts:
    """What an attack claims, where it comes from and what lowers it, in plain words; and which of its measures say what."""

    name: str
    goal: str
    claim: str
    lowered_by: str
    paper: str
    summary: str = ""
    """One plain line, for the glossary."""
    criterion: str = Criterion.INFERENCE
    harm: bool = False
    """Whether the figures are high where people are believed to have what they have not."""
    lead: Sequence[str] = ("success",)
    """The measures that may make its headline, the first that says something being taken."""
    compared: Sequence[str] = ("success",)
    """The measures that are held against control and baseline, the first there is being taken."""
    support: Sequence[str] = ()
    """Measures to mention beside the headline."""
    axis: str = ""
    """What the spread over people shows, where its figures have one."""
    caption: str = ""
    """The caption of its figures in pictures, with {column} and {others}."""
    title: str = ""
    """A few plain words for it, where its name would not be understood."""
