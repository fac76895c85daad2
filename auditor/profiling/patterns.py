"""What values of identifiers look like: e-mail, telephone, network addresses, account and card numbers, licence plates.

A pattern tells what a value is, not whose. Check digits are verified (IBAN: ISO 13616, mod 97; cards and device numbers:
Luhn), so at most one in ten of other long numbers passes by chance, never most of a column. National identification numbers
are in `person_numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address

_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
_PHONE = re.compile(r"\+?[\d\s().\-/]{8,24}", re.ASCII)
_RANGE = re.compile(r"\d+\s*-\s*\d+", re.ASCII)
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
_NAME = re.compile(r"[^\W\d_]['’.\w-]*(,? [^\W\d_]['’.\w-]*){1,3}")
_GROUPING = str.maketrans("", "", " \u00a0\t.-/")


def form(*patterns: str, flags: re.RegexFlag = re.ASCII) -> Callable[[str], bool]:
    """The check that a whole text has one of these forms."""
    whole = re.compile("|".join(patterns), flags)
    return lambda text: whole.fullmatch(text) is not None


is_email = form(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]{2,}", flags=re.NOFLAG)
is_url = form(r"(https?|ftp)://\S+", r"www\.\S+\.\S+", flags=re.IGNORECASE)
is_mac = form(r"([0-9A-F]{2}([:-]))([0-9A-F]{2}\2){4}[0-9A-F]{2}", flags=re.IGNORECASE)
is_uuid = form(  # or a hash of the usual lengths
    r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?", "[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}", flags=re.IGNORECASE
)
is_plate = form(
    r"[A-Z]{1,3}[- ][A-Z]{1,2}[- ]?\d{1,4}[EH]?",  # Germany
    r"[A-Z]{2}-\d{3}-[A-Z]{2}",  # France, Italy
    r"[A-Z]{2}\d{2} ?[A-Z]{3}",  # United Kingdom
    r"\d{4} ?[BCDFGHJKLMNPRSTVWXYZ]{3}",  # Spain
)
is_icd = form(r"[A-TV-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?")  # a diagnosis in the notation of ICD-10
is_dotted_icd = form(r"[A-TV-Z]\d[0-9AB]\.[0-9A-Z]{1,4}")  # with its point, a form that hardly anything else has
is_atc = form(r"[ABCDGHJLMNPRSV]\d{2}[A-Z]{2}\d{2}")  # a medicine in the notation of the ATC classification
is_money = form(  # an amount with a currency, or a class of amounts in thousands
    r"[<>]?=?\s*(?:[$€£¥]|USD|EUR|GBP|CHF)\s*[+-]?\d[\d.,' ]*[kKmM]?",
    r"[<>]?=?\s*[+-]?\d[\d.,' ]*[kKmM]?\s*(?:[$€£¥]|USD|EUR|GBP|CHF)",
    r"[<>]=?\s*\d+\s*[kK]|\d+\s*-\s*\d+\s*[kK]",
)
is_postcode = form(  # recognisable by its form alone
    r"[A-Z]{1,2}\d[A-Z0-9]? ?\d[A-Z]{2}",  # British
    r"[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d",  # Canadian
    r"[1-9]\d{3} ?[A-Z]{2}",  # Dutch
    r"\d{5}-\d{4}",  # ZIP+4
)


def luhn(digits: str) -> bool:
    """Whether digits pass the Luhn check: every second digit from the right doubled, all digits summed, divisible by 10."""
    total = sum(int(d) for d in digits[::-2]) + sum(sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return total % 10 == 0


def compact(text: str) -> str:
    """A number in capitals, without the spaces, points and dashes that group it."""
    return text.translate(_GROUPING).upper()


def is_ip(text: str) -> bool:
    """An IPv4 or IPv6 address."""
    if "." not in text and ":" not in text:
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_iban(text: str) -> bool:
    """An international bank account number: move the first four characters to the end, letters from 10, mod 97 is 1."""
    text = compact(text)
    if _IBAN.fullmatch(text) is None:
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """A number like those of credit cards: 13 to 19 digits that begin with 2 to 6 and pass the Luhn check. With 15 digits
    only American Express (34, 37): others are telephone numbers."""
    text = compact(text)
    if not (text.isascii() and text.isdigit() and 13 <= len(text) <= 19 and text[0] in "23456"):
        return False
    return luhn(text) and (len(text) != 15 or text[:2] in ("34", "37"))


def is_device(text: str) -> bool:
    """The number of a mobile telephone (IMEI): 15 digits that pass the Luhn check."""
    text = compact(text)
    return text.isascii() and text.isdigit() and len(text) == 15 and text[:2] not in ("34", "37") and luhn(text)


def is_phone(text: str) -> bool:
    """A telephone or fax number: 9 to 15 digits with a plus, brackets or separators, or with a leading zero."""
    digits = sum(sign.isdigit() for sign in text)
    if _PHONE.fullmatch(text) is None or not 9 <= digits <= 15 or _RANGE.fullmatch(text):
        return False
    parted = any(sign in "()/-. " for sign in text[1:]) and text.count(".") != 1
    return text[0] == "+" or parted or (text[0] == "0" and digits >= 10)


def is_vin(text: str) -> bool:
    """A vehicle identification number: 17 letters and digits without I, O and Q, with both among them."""
    return _VIN.fullmatch(text) is not None and not text.isdigit() and not text.isalpha()


def is_full_name(text: str) -> bool:
    """Two to four capitalised words of letters, as people's names are written."""
    return _NAME.fullmatch(text) is not None and all(word[0].isupper() for word in re.split(r",? ", text))
