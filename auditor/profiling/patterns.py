"""What values of identifiers look like: e-mail, telephone, network addresses, account and card numbers, licence plates.

A pattern tells what a value is, not whose. Check digits are verified (IBAN: ISO 13616, mod 97; cards and device numbers:
Luhn), so at most one in ten of other long numbers passes by chance, never most of a column. National identification numbers
are in `person_numbers`.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]{2,}")
_URL = re.compile(r"(https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
_MAC = re.compile(r"([0-9A-F]{2}([:-]))([0-9A-F]{2}\2){4}[0-9A-F]{2}", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_HASH = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
_PHONE = re.compile(r"\+?[\d\s().\-/]{8,24}", re.ASCII)
_RANGE = re.compile(r"\d+\s*-\s*\d+", re.ASCII)
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
_PLATE = re.compile(
    r"[A-Z]{1,3}[- ][A-Z]{1,2}[- ]?\d{1,4}[EH]?"  # Germany
    r"|[A-Z]{2}-\d{3}-[A-Z]{2}"  # France, Italy
    r"|[A-Z]{2}\d{2} ?[A-Z]{3}"  # United Kingdom
    r"|\d{4} ?[BCDFGHJKLMNPRSTVWXYZ]{3}",  # Spain
    re.ASCII,
)
_NAME = re.compile(r"[^\W\d_]['’.\w-]*(,? [^\W\d_]['’.\w-]*){1,3}")
_ICD = re.compile(r"[A-TV-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?", re.ASCII)
_ICD_DOTTED = re.compile(r"[A-TV-Z]\d[0-9AB]\.[0-9A-Z]{1,4}", re.ASCII)
_ATC = re.compile(r"[ABCDGHJLMNPRSV]\d{2}[A-Z]{2}\d{2}", re.ASCII)
_MONEY = re.compile(
    r"[<>]?=?\s*(?:[$€£¥]|USD|EUR|GBP|CHF)\s*[+-]?\d[\d.,' ]*[kKmM]?"
    r"|[<>]?=?\s*[+-]?\d[\d.,' ]*[kKmM]?\s*(?:[$€£¥]|USD|EUR|GBP|CHF)"
    r"|[<>]=?\s*\d+\s*[kK]|\d+\s*-\s*\d+\s*[kK]",
    re.ASCII,
)
_UK_POSTCODE = re.compile(r"[A-Z]{1,2}\d[A-Z0-9]? ?\d[A-Z]{2}", re.ASCII)
_CANADIAN_POSTCODE = re.compile(r"[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d", re.ASCII)
_ZIP4 = re.compile(r"\d{5}-\d{4}", re.ASCII)
_DUTCH_POSTCODE = re.compile(r"[1-9]\d{3} ?[A-Z]{2}", re.ASCII)
_GROUPING = str.maketrans("", "", " \u00a0\t.-/")


def luhn(digits: str) -> bool:
    """Whether digits pass the Luhn check: every second digit from the right doubled, all digits summed, divisible by 10."""
    total = sum(int(d) for d in digits[::-2]) + sum(sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return total % 10 == 0


def compact(text: str) -> str:
    """A number in capitals, without the spaces, points and dashes that group it."""
    return text.translate(_GROUPING).upper()


def is_email(text: str) -> bool:
    """An e-mail address."""
    return _EMAIL.fullmatch(text) is not None


def is_url(text: str) -> bool:
    """A web address."""
    return _URL.fullmatch(text) is not None


def is_ip(text: str) -> bool:
    """An IPv4 or IPv6 address."""
    if "." not in text and ":" not in text:
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_mac(text: str) -> bool:
    """The hardware address of a network card."""
    return _MAC.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    """A UUID, or a hash of the usual lengths."""
    return _UUID.fullmatch(text) is not None or _HASH.fullmatch(text) is not None


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


def is_plate(text: str) -> bool:
    """A vehicle's licence plate, in some European formats."""
    return _PLATE.fullmatch(text) is not None


def is_vin(text: str) -> bool:
    """A vehicle identification number: 17 letters and digits without I, O and Q, with both among them."""
    return _VIN.fullmatch(text) is not None and not text.isdigit() and not text.isalpha()


def is_full_name(text: str) -> bool:
    """Two to four capitalised words of letters, as people's names are written."""
    return _NAME.fullmatch(text) is not None and all(word[0].isupper() for word in re.split(r",? ", text))


def is_icd(text: str) -> bool:
    """A diagnosis in the notation of ICD-10."""
    return _ICD.fullmatch(text) is not None


def is_dotted_icd(text: str) -> bool:
    """An ICD-10 diagnosis with its point, a form that hardly anything else has."""
    return _ICD_DOTTED.fullmatch(text) is not None


def is_atc(text: str) -> bool:
    """A medicine in the notation of the ATC classification."""
    return _ATC.fullmatch(text) is not None


def is_money(text: str) -> bool:
    """An amount with a currency, or a class of amounts in thousands."""
    return _MONEY.fullmatch(text) is not None


def is_postcode(text: str) -> bool:
    """A postcode recognisable by its form alone: British, Canadian, Dutch, or ZIP+4."""
    forms = (_UK_POSTCODE, _CANADIAN_POSTCODE, _DUTCH_POSTCODE, _ZIP4)
    return any(form.fullmatch(text) for form in forms)
