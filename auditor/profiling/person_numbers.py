"""National identification numbers, recognised by their form and check digit.

Most have a check digit, which one in ten or eleven other numbers passes by chance. The insurance numbers of the United States
and the United Kingdom have none, and must be written as on the card.

Sources: 20 CFR 422 and the SSA's rules for numbers never issued; HMRC's NIM39110 (national insurance number); NHS data
dictionary (mod 11); German tax id (§ 139b AO; ISO 7064 mod 11,10); French NIR (97 - n mod 97); Spanish DNI and NIE (letter
of n mod 23); Italian codice fiscale (form only); Dutch BSN (the test by eleven); Swedish personnummer (Luhn);
Polish PESEL (weights 1 3 7 9, mod 10); Brazilian CPF (two digits mod 11).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from auditor.profiling.patterns import compact, form, luhn

_NINO = re.compile(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", re.ASCII)
_NIR = re.compile(r"([1-478]\d{2}(?:0[1-9]|1[0-2]|[2-9]\d)(?:\d{2}|2A|2B)\d{6})(\d{2})", re.ASCII)
_DNI = re.compile(r"([XYZ]?)(\d{7,8})([A-Z])", re.ASCII)
_CODICE = re.compile(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", re.ASCII)
_PERSONNUMMER = re.compile(r"(?:\d{2})?(\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))[-+](\d{4})", re.ASCII)
_CPF = re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}", re.ASCII)


def _digits(text: str, length: int) -> list[int] | None:
    text = compact(text)
    return [int(sign) for sign in text] if text.isascii() and text.isdigit() and len(text) == length else None


is_us_ssn = form(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")  # with its dashes


def is_uk_nino(text: str) -> bool:
    """A national insurance number of the United Kingdom."""
    return _NINO.fullmatch(compact(text)) is not None


def is_nhs(text: str) -> bool:
    """A patient's number of the British health service: weights 10 to 2, then eleven minus the remainder."""
    digits = _digits(text, 10)
    if digits is None:
        return False
    check = -sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False)) % 11
    return check == digits[-1]


def is_german_tax_id(text: str) -> bool:
    """A German tax identification number: 11 digits, of the first ten one occurs two or three times, ISO 7064 mod 11,10."""
    digits = _digits(text, 11)
    if digits is None or digits[0] == 0 or max(digits[:10].count(digit) for digit in digits[:10]) not in (2, 3):
        return False
    product = 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == digits[10]


def is_french_nir(text: str) -> bool:
    """A French social security number with its key; Corsica's 2A and 2B count as 19 and 18."""
    found = _NIR.fullmatch(compact(text))
    if found is None:
        return False
    number = found[1].replace("2A", "19").replace("2B", "18")
    return 97 - int(number) % 97 == int(found[2])


def is_spanish_dni(text: str) -> bool:
    """A Spanish identity number of a citizen (eight digits) or a foreigner (X, Y or Z and seven digits), with its letter."""
    found = _DNI.fullmatch(compact(text))
    if found is None or len(found[1]) + len(found[2]) != 8:
        return False
    number = int(f"{'XYZ'.index(found[1]) if found[1] else ''}{found[2]}")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == found[3]


def is_codice_fiscale(text: str) -> bool:
    """An Italian tax code, by its form."""
    return _CODICE.fullmatch(compact(text)) is not None


def is_dutch_bsn(text: str) -> bool:
    """A Dutch citizen service number: nine digits, weights 9 to 2 and -1, divisible by eleven."""
    digits = _digits(text, 9)
    if digits is None or not any(digits):
        return False
    return sum(weight * digit for weight, digit in zip((9, 8, 7, 6, 5, 4, 3, 2, -1), digits, strict=True)) % 11 == 0


def is_personnummer(text: str) -> bool:
    """A Swedish personal number, with its separator."""
    found = _PERSONNUMMER.fullmatch(text)
    return found is not None and luhn(found[1] + found[2])


def is_pesel(text: str) -> bool:
    """A Polish personal number."""
    digits = _digits(text, 11)
    if digits is None or not any(digits):
        return False
    return (
        sum(weight * digit for weight, digit in zip((1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), digits, strict=True)) % 10 == 0
    )


def is_cpf(text: str) -> bool:
    """A Brazilian taxpayer's number, with its separators."""
    digits = _digits(text, 11)
    if digits is None or _CPF.fullmatch(text) is None:
        return False
    for length in (9, 10):
        rest = sum(weight * digit for weight, digit in zip(range(length + 1, 1, -1), digits, strict=False)) * 10 % 11
        if rest % 10 != digits[length]:
            return False
    return True


PERSON_NUMBERS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("social security numbers of the United States", is_us_ssn),
    ("national insurance numbers of the United Kingdom", is_uk_nino),
    ("French social security numbers", is_french_nir),
    ("Spanish identity numbers", is_spanish_dni),
    ("Italian tax codes", is_codice_fiscale),
    ("Swedish personal numbers", is_personnummer),
    ("Brazilian taxpayers' numbers", is_cpf),
    ("German tax identification numbers", is_german_tax_id),
    ("Polish personal numbers", is_pesel),
    ("Dutch citizen service numbers", is_dutch_bsn),
)
"""Each kind with its check; the first that most cells of a column pass is taken."""
