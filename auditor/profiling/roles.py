"""The role of each column, and the type of its values, with reasons.

The questions in order: does it identify somebody (identifier; where its values repeat, person or household), is it a weight,
is it something nobody should learn (sensitive), is it something others could know (quasi)? The first that applies decides.
If a column may well have another role, that is kept as its *candidate*: ethnicity can be seen, and must not be learned.

A column about which nothing is known gets the role in which a mistake costs least. Few values: quasi, as an outsider may know
them. Numbers of many values: sensitive, as an outsider would hardly know them. Names, codes or whole numbers that differ in
nearly every row: identifier, whatever the column is called, unless it holds money. Never neutral, which no attack looks at:
only constants are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.measure.distinct import is_distinct
from auditor.model.labels import interval_texts
from auditor.model.schema import WHOSE, Role, Type
from auditor.model.values import parse_number
from auditor.profiling.facts import Facts
from auditor.profiling.signs import IDENTIFYING, Looks, percent
from auditor.profiling.words import HOUSEHOLDS, MEASUREMENTS, PERSONS, Concept, listed

_SENSITIVE = (
    Concept.HEALTH, Concept.MONEY, Concept.RELIGION, Concept.POLITICS, Concept.SEX_LIFE, Concept.CRIME, Concept.JUDGEMENT,
)  # fmt: skip
_ALSO_SENSITIVE = {
    Concept.ETHNICITY: "others can see it, and Article 9 of the GDPR protects it",
    Concept.OCCUPATION: "many studies protect it",
    Concept.COUNTRY: "if it reveals migration",
}
_ALSO_QUASI = {
    Concept.RELIGION: "neighbours may know it",
    Concept.POLITICS: "members of the same party or union know it",
}
_LISTED = (
    Concept.PLACE, Concept.COUNTRY, Concept.ETHNICITY, Concept.OCCUPATION, Concept.SEX, Concept.MARITAL, Concept.LANGUAGE,
    Concept.RELIGION, Concept.POLITICS,
)  # fmt: skip
"""Concepts whose whole numbers are codes from a list."""
_NUMBERED = (Concept.IDENTIFIER, Concept.PATIENT_NUMBER, Concept.INSURANCE_NUMBER, Concept.PERSON_NUMBER)
"""Identifiers that say whose a row is where they repeat."""
_COUNTS = listed("size number num count n years rooms children kids hours anzahl")
_MOST_CODES = 10
_MANY_NUMBERS = 50
_SHARED_ADDRESS = 0.5
_LARGE = 100  # amounts of money reach it
_OLDEST = 130
_LARGEST_HOUSEHOLD = 20


@dataclass(frozen=True, slots=True)
class Judgement:
    """A column's role and why; `candidate` is another role that it may have, with the reason in `doubt`."""

    role: Role
    reason: str
    candidate: Role | None = None
    doubt: str = ""


def holds_ranges(looks: Looks, decimal: str) -> bool:
    """Whether all values are numbers or ranges of numbers (`20-39`, `[20, 40[`, `<20`), some of them ranges."""
    facts = looks.facts
    if facts.numbers is not None or looks.date is not None or looks.codes is not None:
        return False
    texts = [facts.values[place] for place in facts.tried]
    others = [text for text in texts if parse_number(text, decimal) is None]
    return bool(others) and all(interval_texts.is_range(text, decimal) for text in others)


def column_type(looks: Looks) -> tuple[Type, str]:
    """The type of a column that is not an identifier, and why."""
    facts = looks.facts
    if looks.order is not None:
        return Type.ORDINAL, f"{len(looks.order)} levels in a known order"
    if facts.numbers is None:
        return Type.NOMINAL, "codes with leading zeros" if facts.padded else "texts"
    listed = facts.whole and any(looks.has(concept) for concept in _LISTED)
    if looks.codes is not None or looks.date is not None or listed:
        return Type.NOMINAL, "numbers that are codes"
    if looks.ages or looks.years or looks.has(Concept.WEIGHT) or looks.has(Concept.MONEY):
        return Type.NUMERIC, "numbers"
    counts = looks.said.words & _COUNTS
    few = facts.whole and facts.least >= 0 and facts.greatest <= 99 and facts.distinct <= _MOST_CODES
    if few and not counts and facts.present >= 10 * facts.distinct:
        return Type.NOMINAL, f"{facts.distinct} small whole numbers, which look like codes"
    return Type.NUMERIC, "numbers"


def judge(looks: Looks) -> Judgement:
    """The role of one column on its own."""
    facts = looks.facts
    identifying = [sign for sign in looks.signs if sign.concept in IDENTIFYING]
    if facts.distinct == 0:
        return Judgement(Role.NEUTRAL, "no cell has a value")
    if identifying:
        return _identifier(looks)
    if looks.has(Concept.WEIGHT):
        return Judgement(Role.WEIGHT, f"{looks.because(Concept.WEIGHT)}, and it holds numbers above 1")
    if facts.distinct == 1 and facts.rows > 1 and not facts.missing:
        return Judgement(Role.NEUTRAL, "the same in all rows")
    sensitive = next((concept for concept in _SENSITIVE if looks.has(concept)), None)
    if sensitive is not None:
        if tells_apart(facts):
            because, differ = looks.because(sensitive), _differ(facts)
            measured = facts.numbers is not None and bool(looks.said.words & MEASUREMENTS)
            if sensitive is Concept.MONEY or measured:
                what = "measurements" if measured else "amounts"
                return Judgement(Role.SENSITIVE, because, Role.IDENTIFIER, f"{differ}; if these are {what}, round them")
            return Judgement(Role.IDENTIFIER, differ, Role.SENSITIVE, because)
        also = _ALSO_QUASI.get(sensitive)
        return Judgement(Role.SENSITIVE, looks.because(sensitive), Role.QUASI if also else None, also or "")
    if looks.signs:
        concept = looks.signs[0].concept
        doubtful = next((sign.concept for sign in looks.signs if sign.concept in _ALSO_SENSITIVE), None)
        doubt = _ALSO_SENSITIVE.get(doubtful, "") if doubtful else ""
        return Judgement(Role.QUASI, looks.because(concept), Role.SENSITIVE if doubt else None, doubt)
    return _what_is_left(facts)


def _identifier(looks: Looks) -> Judgement:
    facts, sign = looks.facts, looks.signs[0]
    if sign.concept is Concept.IP and facts.diversity < _SHARED_ADDRESS and facts.rows >= 20:
        doubt = "it identifies a household or a machine"
        return Judgement(Role.QUASI, f"{sign.because}, and they repeat", Role.IDENTIFIER, doubt)
    if sign.concept in _NUMBERED and facts.diversity < 0.95 and facts.rows >= 20 and not facts.missing:
        rows = facts.present / facts.distinct
        reason = f"{sign.because}; about {rows:.1f} rows share a value"
        if looks.said.words & HOUSEHOLDS or Concept.HOUSEHOLD in looks.said.concepts:
            return Judgement(
                Role.HOUSEHOLD, f"{reason}, as people of one household do", Role.PERSON, "if it is a person's"
            )
        return Judgement(Role.PERSON, f"{reason}, as visits of one person do", Role.HOUSEHOLD, "if it is a household's")
    return Judgement(Role.IDENTIFIER, sign.because)


def tells_apart(facts: Facts) -> bool:
    """Whether a column of names, codes or whole numbers has a value of its own in nearly every row."""
    return is_distinct(facts.distinct, facts.present) and (facts.numbers is None or facts.whole)


def _differ(facts: Facts) -> str:
    return f"{percent(facts.diversity)} of the cells differ: such values single people out"


def _what_is_left(facts: Facts) -> Judgement:
    """The role of a column about which neither name nor values tell anything."""
    if tells_apart(facts):
        other, doubt = (
            (Role.QUASI, "if they can be grouped") if facts.numbers is None else (Role.SENSITIVE, "if they are amounts")
        )
        return Judgement(Role.IDENTIFIER, _differ(facts), other, doubt)
    if _mostly_none(facts):
        reason = "amounts that most people do not have, and others would hardly know"
        return Judgement(Role.SENSITIVE, reason, Role.QUASI, "if somebody may know them")
    if facts.numbers is not None and (facts.distinct >= _MANY_NUMBERS or (not facts.whole and facts.distinct >= 20)):
        reason = f"numbers of many values ({facts.distinct}), which an outsider would hardly know"
        return Judgement(Role.SENSITIVE, reason, Role.QUASI, "if somebody may know them")
    if facts.numbers is None and facts.diversity > 0.5 and facts.distinct >= _MANY_NUMBERS:
        return Judgement(Role.IDENTIFIER, _differ(facts), Role.QUASI, "if they can be grouped")
    values = "1 value" if facts.distinct == 1 else f"{facts.distinct} values"
    return Judgement(
        Role.QUASI, f"{values}; nothing says that an outsider cannot know it", Role.SENSITIVE, "by its meaning"
    )


def _mostly_none(facts: Facts) -> bool:
    """Whether these are amounts of something that most people have none of: 0 in most cells, fractions in the others."""
    if facts.numbers is None or facts.whole or facts.least < 0 or facts.greatest < _LARGE:
        return False
    return facts.cells(facts.numbers == 0) >= 0.5 * facts.present


def twins(looks: Sequence[Looks], rows: int) -> Mapping[str, str]:
    """Columns that say the same as an earlier one, value by value, though written differently: name → the earlier name.

    Two columns do if they are equal once values are numbered by the first row in which they occur.
    """
    found: dict[str, str] = {}
    seen: dict[bytes, str] = {}
    for one in looks:
        facts = one.facts
        if not 3 <= facts.distinct <= rows // 10:
            continue
        _, first, number = np.unique(facts.codes, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int32)
        place[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        other = seen.setdefault(place[number].tobytes(), facts.name)
        if other != facts.name:
            found[facts.name] = other
    return found


def _plain_numbers(looks: Sequence[Looks], judged: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Numbers of people and households whose names say nothing. Household 17 has the people 1701, 1702, …; or the numbers of
    a column run from the first to the last, each in a few rows."""
    found: dict[str, Judgement] = {}
    unknown = [one for one in looks if not one.signs or one.signs[0].concept is Concept.IDENTIFIER]
    whole = [one.facts for one in unknown if one.facts.whole and one.facts.least >= 0 and not one.facts.missing]
    shared = [facts for facts in whole if _few_rows_each(facts)]
    alone = [facts for facts in whole if facts.diversity == 1 and facts.rows >= 20]
    for home in shared:
        inside = next((one for one in alone if _begins_with(one, home)), None)
        said = judged[home.name].role in WHOSE
        each = f"about {home.present / home.distinct:.1f} rows share a value"
        if inside is not None:
            reason = f"{each}, and the numbers in {inside.name!r} begin with it, as those of a household's people do"
            found[home.name] = Judgement(Role.HOUSEHOLD, reason)
            found[inside.name] = Judgement(Role.IDENTIFIER, f"all cells differ, and begin with {home.name!r}")
        elif not said and home.greatest - home.least + 1 <= 1.05 * home.distinct:
            reason = f"running numbers; {each}, as visits of one person do"
            found[home.name] = Judgement(Role.PERSON, reason, Role.HOUSEHOLD, "if it is a household's")
    return found


def _few_rows_each(facts: Facts) -> bool:
    """Whether values occur in a few rows each, as the numbers of households or patients do."""
    repeats = facts.greatest > _OLDEST and 0.1 <= facts.diversity < 0.95
    return repeats and facts.distinct >= 20 and int(facts.counts.max()) <= _LARGEST_HOUSEHOLD


def _begins_with(inner: Facts, outer: Facts) -> bool:
    """Whether the numbers of one column are those of another with one to three more digits."""
    assert inner.numbers is not None
    assert outer.numbers is not None
    inside, outside = inner.numbers[inner.codes], outer.numbers[outer.codes]
    return any(bool((inside // 10**digits == outside).all()) for digits in (1, 2, 3))


def judge_all(looks: Sequence[Looks], rows: int) -> dict[str, Judgement]:
    """The roles of all columns. A column that says the same as another takes its role. At most one says whose a row is, and
    one to which household it belongs."""
    judged = {one.facts.name: judge(one) for one in looks}
    judged |= _plain_numbers(looks, judged)
    same = twins(looks, rows)
    for role in WHOSE:
        named = [one for one in looks if judged[one.facts.name].role is role]
        named.sort(key=lambda one: not one.said.words & (PERSONS | HOUSEHOLDS))  # of several the one that says so
        for one in named[1:]:
            first = f"{named[0].facts.name!r} says whose a row is"
            judged[one.facts.name] = Judgement(Role.IDENTIFIER, f"{judged[one.facts.name].reason}; {first}")
    unknown = {one.facts.name for one in looks if not one.signs}
    for name, other in same.items():
        first, second = (other, name) if name in unknown or other not in unknown else (name, other)
        if second in unknown and judged[first].role in (Role.QUASI, Role.SENSITIVE):
            judged[second] = Judgement(judged[first].role, f"says the same as {first!r}, value by value")
    return judged
