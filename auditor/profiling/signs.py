"""What a column looks like: signs, each a concept with the evidence for it, from its values and from its name.

Values come first: a column of e-mail addresses is one whatever its name. A name alone must fit the content: a column `phone`
that holds yes and no is not a telephone number, and `weight` beside `height` is not a sampling weight. Evidence is given in
shares and counts, never in values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from auditor.profiling import patterns, vocabulary
from auditor.profiling.dates import DateFormat, date_format
from auditor.profiling.facts import Facts
from auditor.profiling.person_numbers import PERSON_NUMBERS, is_nhs
from auditor.profiling.words import Concept, Meaning, is_plain_weight, meaning

MOST = 0.8  # the share of cells that must look like something for the column to count as it
NEARLY_ALL = 0.95
_ENOUGH = 5
"""The number of distinct values from which a check digit, which one number in ten passes by chance, means something."""
_ENOUGH_ROWS = 20  # the number of rows from which it means something that all values differ

IDENTIFYING = frozenset(
    {
        Concept.NAME, Concept.EMAIL, Concept.FAX, Concept.PHONE, Concept.STREET, Concept.PERSON_NUMBER,
        Concept.PATIENT_NUMBER, Concept.INSURANCE_NUMBER, Concept.ACCOUNT, Concept.LICENCE, Concept.VEHICLE,
        Concept.DEVICE, Concept.URL, Concept.IP, Concept.BIOMETRIC, Concept.PHOTO, Concept.IDENTIFIER, Concept.FREE_TEXT,
    }
)  # fmt: skip
"""Concepts whose values identify one person."""

Check = tuple[Concept, Callable[[str], bool], str]

_PLAIN: tuple[Check, ...] = (
    (Concept.EMAIL, patterns.is_email, "e-mail addresses"),
    (Concept.URL, patterns.is_url, "web addresses"),
    (Concept.IP, patterns.is_ip, "IP addresses"),
    (Concept.DEVICE, patterns.is_mac, "MAC addresses"),
    (Concept.IDENTIFIER, patterns.is_uuid, "UUIDs or hashes"),
)
"""What a single value shows."""
_NUMBERED: tuple[Check, ...] = (
    (Concept.ACCOUNT, patterns.is_iban, "IBANs with a correct check number"),
    (Concept.DEVICE, patterns.is_device, "numbers of mobile telephones with a correct check digit"),
    (Concept.ACCOUNT, patterns.is_card, "card numbers with a correct check digit"),
    *((Concept.PERSON_NUMBER, check, what) for what, check in PERSON_NUMBERS),
    (Concept.PATIENT_NUMBER, is_nhs, "NHS numbers with a correct check digit"),
    (Concept.POSTCODE, patterns.is_postcode, "postcodes"),
    (Concept.VEHICLE, patterns.is_plate, "licence plates"),
    (Concept.VEHICLE, patterns.is_vin, "chassis numbers"),
)
"""What several values show together."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A concept that a column seems to hold, and why."""

    concept: Concept
    because: str


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What a column looks like."""

    facts: Facts
    said: Meaning  # what its name says
    signs: tuple[Sign, ...]  # the strongest first
    date: DateFormat | None = None  # the format of its dates
    years: bool = False  # whether its numbers are years
    ages: bool = False  # whether its numbers are ages
    codes: Concept | None = None  # the concept of its codes, if prefixes group them (postcode, diagnosis, IP address)
    order: tuple[str, ...] | None = None

    def has(self, concept: Concept) -> bool:
        """Whether there is a sign of a concept."""
        return any(sign.concept is concept for sign in self.signs)

    def because(self, concept: Concept) -> str:
        """The evidence for a concept."""
        return next(sign.because for sign in self.signs if sign.concept is concept)


def percent(share: float) -> str:
    """A share as text, never rounded up to all or down to none."""
    if share >= 1:
        return "all"
    return f"{min(max(round(100 * share), 1), 99)} %"


def look(facts: Facts, height_beside: bool = False) -> Looks:
    """What a column looks like. `height_beside` says that another column holds people's heights."""
    said = meaning(facts.name)
    date = date_format(facts.values)
    if date is not None and facts.numbers is not None and not said.concepts & {Concept.BIRTH, Concept.DATE}:
        date = date if facts.distinct >= _ENOUGH and facts.diversity < NEARLY_ALL else None
    years = _years(facts, said)
    ages = _ages(facts, said) and not years
    found = _by_values(facts, said, date)
    by_name = _by_name(facts, said, height_beside, bool(found))
    if years:
        kind = Concept.BIRTH if Concept.BIRTH in said.concepts else Concept.DATE
        found.append(Sign(kind, f"{facts.distinct} years"))
    if ages:
        found.append(Sign(Concept.AGE, "whole numbers in the range of ages"))
    strong = [sign for sign in found if sign.concept in IDENTIFYING]
    strong += [sign for sign in by_name if sign.concept in IDENTIFYING]
    others = [sign for sign in by_name if sign.concept not in IDENTIFYING]
    others += [sign for sign in found if sign.concept not in IDENTIFYING]
    if not (strong or years or ages) and (unique := _near_unique(facts, said, bool(others))):
        strong.append(unique)
    signs = {sign.concept: sign for sign in reversed([*strong, *others])}
    ordered = tuple(dict.fromkeys(sign.concept for sign in [*strong, *others]))
    order = vocabulary.ladder(facts.values) if facts.numbers is None else None
    chosen = tuple(signs[concept] for concept in ordered)
    return Looks(facts, said, chosen, date, years, ages, _codes(facts, ordered), order)


def _years(facts: Facts, said: Meaning) -> bool:
    if not facts.whole or not facts.least >= 1850 or not facts.greatest <= 2100:
        return False
    named = said.concepts & {Concept.BIRTH, Concept.DATE}
    return bool(named) or (not said.concepts and facts.distinct >= _ENOUGH)


def _ages(facts: Facts, said: Meaning) -> bool:
    """Numbers that are called ages. If the name says nothing: whole numbers in the range of ages, without gaps and without a
    favourite (hours worked per week have one)."""
    if facts.numbers is None or facts.least < 0 or facts.greatest > 130:
        return False
    if Concept.AGE in said.concepts:
        return True
    spread = facts.greatest - facts.least + 1
    return (
        not said.concepts
        and facts.whole
        and 55 <= facts.greatest <= 120
        and facts.distinct >= 30
        and facts.distinct >= 0.6 * spread
        and facts.commonest <= 0.15
        and facts.diversity <= 0.5  # serial numbers are not ages
    )


def _by_values(facts: Facts, said: Meaning, date: DateFormat | None) -> list[Sign]:
    """What the values look like."""
    found: list[Sign] = []
    if date is not None:
        kind = Concept.BIRTH if Concept.BIRTH in said.concepts else Concept.DATE
        unsure = ", day and month could be the other way round" if date.unsure else ""
        return [Sign(kind, f"dates, written {date.words}{unsure}")]

    def tried(concept: Concept, check: Callable[[str], bool], what: str, most: float = MOST, enough: int = 1) -> bool:
        share = facts.share(check) if facts.distinct >= enough or concept in said.concepts else 0.0
        if share >= most:
            found.append(Sign(concept, f"{percent(share)} of the cells look like {what}"))
        return share >= most

    for concept, check, what in _PLAIN:
        if tried(concept, check, what):
            return found
    for concept, check, what in _NUMBERED:
        if tried(concept, check, what, enough=_ENOUGH):
            return found
    if facts.numbers is not None:
        return found
    line = Concept.FAX if Concept.FAX in said.concepts else Concept.PHONE
    if tried(line, patterns.is_phone, "telephone numbers", enough=_ENOUGH):
        return found
    if _free_text(facts):
        return [Sign(Concept.FREE_TEXT, "long texts, which may name people")]
    dotted = facts.share(patterns.is_dotted_icd)
    if dotted >= 0.1 or Concept.HEALTH in said.concepts:
        tried(Concept.HEALTH, patterns.is_icd, "ICD-10 codes", 0.9)
    tried(Concept.HEALTH, patterns.is_atc, "ATC codes of medicines", 0.9, 3)
    tried(Concept.MONEY, patterns.is_money, "amounts of money", 0.9)
    if 2 <= facts.distinct <= 4:
        tried(Concept.SEX, vocabulary.is_sex, "words for a sex", NEARLY_ALL)
    if not found:
        _by_words(facts, found)
    plain = not said.concepts or Concept.NAME in said.concepts
    if not found and plain and facts.diversity >= 0.5:
        tried(Concept.NAME, patterns.is_full_name, "full names of people", 0.9, 10)
    return found


def _by_words(facts: Facts, found: list[Sign]) -> None:
    """The concept whose words occur in most of the values, if there is one."""
    if facts.distinct < 2 or (facts.diversity > 0.5 and facts.distinct > _ENOUGH_ROWS):
        return
    shares = {concept: facts.share(partial(vocabulary.speaks_of, concept)) for concept in vocabulary.WORDED}
    if facts.distinct >= 3:
        shares[Concept.COUNTRY] = facts.share(vocabulary.is_country)
    best = max(shares, key=lambda concept: shares[concept])
    if shares[best] >= 0.6:
        found.append(Sign(best, f"{percent(shares[best])} of the cells hold words of {best}"))


def _by_name(facts: Facts, said: Meaning, height_beside: bool, known: bool) -> list[Sign]:
    """What the name says, unless the content contradicts it."""
    found = []
    diverse = facts.distinct >= 10 or facts.diversity >= 0.5
    letters = (
        facts.share(lambda text: not any(sign.isdigit() for sign in text)) if Concept.NAME in said.concepts else 0.0
    )
    for concept in Concept:
        if concept not in said.concepts:
            continue
        if concept is Concept.WEIGHT:
            fits = facts.numbers is not None and facts.least >= 0 and facts.greatest > 1
            if fits and is_plain_weight(said) and height_beside:
                found.append(Sign(Concept.BODY, "a weight beside a height"))
                fits = False
        elif concept is Concept.NAME:
            fits = letters >= MOST and diverse and not known
        elif concept is Concept.IDENTIFIER:
            fits = (facts.distinct >= _ENOUGH_ROWS and (facts.whole or facts.numbers is None)) or facts.diversity == 1
        elif concept is Concept.FREE_TEXT:
            fits = facts.numbers is None and diverse
        elif concept is Concept.DATE:
            fits = False  # a column of dates is recognised by its values; `month` and `day` alone say little
        elif concept is Concept.AGE:
            fits = facts.numbers is None or facts.greatest <= 130
        elif concept in IDENTIFYING:
            fits = diverse and not (facts.numbers is not None and not facts.whole)
        else:
            fits = True
        if fits:
            found.append(Sign(concept, f"the name says {concept}"))
    return found


def _near_unique(facts: Facts, said: Meaning, known: bool) -> Sign | None:
    """The sign of an identifier if a column's values serve only to tell rows apart."""
    if facts.present < _ENOUGH_ROWS or facts.diversity < NEARLY_ALL:
        return None
    differ = "all cells differ" if facts.diversity == 1 else f"{percent(facts.diversity)} of the cells differ"
    if said.place_number and (facts.numbers is None or facts.whole):
        return Sign(Concept.IDENTIFIER, f"the name says the number of a place, but {differ}")
    if facts.numbers is None:
        return None if known else Sign(Concept.IDENTIFIER, differ)
    if not facts.whole or facts.least < 0:
        return None
    if facts.greatest - facts.least + 1 <= 1.05 * facts.distinct:
        return Sign(Concept.IDENTIFIER, f"running numbers, {differ}")
    lengths = {len(value) for value in facts.values}
    if not known and not said.concepts and len(lengths) == 1 and lengths.pop() >= 5:
        return Sign(Concept.IDENTIFIER, f"numbers of one length, {differ}")
    return None


def _free_text(facts: Facts) -> bool:
    """Whether these are texts of many words that hardly ever repeat."""
    if facts.distinct < 10 or facts.diversity < 0.3:
        return False
    words = np.array([len(facts.values[place].split()) for place in facts.tried])
    signs = np.array([len(facts.values[place]) for place in facts.tried])
    return bool(words.mean() >= 5 or (signs.mean() > 60 and words.mean() >= 3))


def _codes(facts: Facts, concepts: tuple[Concept, ...]) -> Concept | None:
    """The concept under which the values group by their prefixes."""
    if Concept.POSTCODE in concepts:
        return Concept.POSTCODE
    if Concept.IP in concepts and facts.share(patterns.is_ip) == 1:
        return Concept.IP
    if Concept.HEALTH in concepts and facts.distinct and facts.share(patterns.is_icd) == 1:
        return Concept.HEALTH
    return None
