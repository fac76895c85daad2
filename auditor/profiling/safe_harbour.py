"""The safe harbour of HIPAA: which columns look like one of the eighteen identifiers that must be removed.

Guidance, not legal advice: whether a table is de-identified under 45 CFR 164.514(b)(2) also depends on what its holder
knows, and on columns whose meaning no program can see. Two of the eighteen have exceptions, mentioned where they apply. The
first three digits of a ZIP code may stay if more than 20 000 people live in all codes that begin with them (otherwise they
become 000). Of dates only the year may stay, and no age over 89, nor a date or year that reveals one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from auditor.model.schema import WHOSE, Role
from auditor.profiling.roles import Judgement
from auditor.profiling.signs import Looks
from auditor.profiling.words import Concept

_OLDEST = 89


@dataclass(frozen=True, slots=True)
class Finding:
    """One of the eighteen, with the columns that look like it and the reason for each."""

    letter: str
    item: str
    found: tuple[tuple[str, str], ...]


def _of(*concepts: Concept) -> Callable[[Looks, Judgement], str | None]:
    def check(looks: Looks, _: Judgement) -> str | None:
        return next((looks.because(concept) for concept in concepts if looks.has(concept)), None)

    return check


def _places(looks: Looks, _: Judgement) -> str | None:
    if looks.has(Concept.POSTCODE):
        because = looks.because(Concept.POSTCODE)
        return f"{because}; three digits may stay if more than 20 000 people share them, otherwise 000"
    if looks.has(Concept.PLACE) or looks.has(Concept.STREET):
        because = looks.because(Concept.PLACE if looks.has(Concept.PLACE) else Concept.STREET)
        return f"{because}; a state of the United States may stay, nothing smaller"
    return None


def _dates(looks: Looks, _: Judgement) -> str | None:
    facts = looks.facts
    if looks.date is not None:
        return f"{facts.distinct} dates; only the year may stay"
    if looks.years:
        if looks.has(Concept.BIRTH):
            return "years of birth may stay, except those that reveal an age over 89: group these"
        return None
    if looks.has(Concept.BIRTH):
        return f"{looks.because(Concept.BIRTH)}; only the year may stay"
    if looks.has(Concept.AGE) and facts.numbers is not None:
        old = facts.cells(facts.numbers > _OLDEST)
        return f"ages over 89 ({old} cells): group them as 90 and over" if old else None
    return None


def _unique_codes(looks: Looks, judgement: Judgement) -> str | None:
    if judgement.role not in (Role.IDENTIFIER, *WHOSE):
        return None
    named = {Concept.IDENTIFIER, Concept.FREE_TEXT}
    if looks.signs and looks.signs[0].concept not in named:
        return None
    return judgement.reason


_ITEMS: tuple[tuple[str, str, Callable[[Looks, Judgement], str | None]], ...] = (
    ("A", "names", _of(Concept.NAME)),
    ("B", "places smaller than a state, with their ZIP codes", _places),
    ("C", "dates but for the year, and ages over 89", _dates),
    ("D", "telephone numbers", _of(Concept.PHONE)),
    ("E", "fax numbers", _of(Concept.FAX)),
    ("F", "e-mail addresses", _of(Concept.EMAIL)),
    ("G", "social security numbers", _of(Concept.PERSON_NUMBER)),
    ("H", "medical record numbers", _of(Concept.PATIENT_NUMBER)),
    ("I", "health plan beneficiary numbers", _of(Concept.INSURANCE_NUMBER)),
    ("J", "account numbers", _of(Concept.ACCOUNT)),
    ("K", "certificate and licence numbers", _of(Concept.LICENCE)),
    ("L", "vehicle identifiers, serial numbers and plates", _of(Concept.VEHICLE)),
    ("M", "device identifiers and serial numbers", _of(Concept.DEVICE)),
    ("N", "web addresses (URLs)", _of(Concept.URL)),
    ("O", "IP addresses", _of(Concept.IP)),
    ("P", "biometric identifiers", _of(Concept.BIOMETRIC)),
    ("Q", "full-face photographs", _of(Concept.PHOTO)),
    ("R", "any other unique number, characteristic or code", _unique_codes),
)


def safe_harbour(looks: Sequence[Looks], judged: dict[str, Judgement]) -> tuple[Finding, ...]:
    """The eighteen identifiers of 45 CFR 164.514(b)(2)(i), each with the columns that look like it."""
    findings = []
    for letter, item, check in _ITEMS:
        reasons = ((one.facts.name, check(one, judged[one.facts.name])) for one in looks)
        findings.append(Finding(letter, item, tuple((name, reason) for name, reason in reasons if reason)))
    return tuple(findings)
