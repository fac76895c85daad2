"""What single values look like: published examples of each kind, and what must not be taken for it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from auditor.profiling import patterns, person_numbers, vocabulary
from auditor.profiling.dates import date_format
from auditor.profiling.words import Concept, meaning

Check = Callable[[str], bool]

# Each with examples of the body that issues the numbers, or of the standard.
EXAMPLES: list[tuple[Check, list[str], list[str]]] = [
    (patterns.is_email, ["a.b+c@mail.example.org"], ["a@b", "a b@c.org", "@c.org"]),
    (patterns.is_url, ["https://example.org/x?y=1", "www.example.org"], ["example", "http:/x"]),
    (patterns.is_ip, ["192.0.2.17", "2001:db8::1"], ["1.2.3", "300.1.1.1", "17", "12:30"]),
    (patterns.is_mac, ["00:1B:44:11:3A:B7", "00-1b-44-11-3a-b7"], ["00:1B-44:11:3A:B7", "00:1B:44:11:3A"]),
    (patterns.is_uuid, ["123e4567-e89b-12d3-a456-426614174000", "d41d8cd98f00b204e9800998ecf8427e"], ["123e4567"]),
    # ISO 13616's example and one of each of its last digits changed
    (patterns.is_iban, ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"], ["GB82 WEST 1234 5698 7654 33"]),
    (patterns.is_card, ["4111 1111 1111 1111", "378282246310005"], ["4111 1111 1111 1112", "1111 1111 1111 1117"]),
    (patterns.is_device, ["490154203237518"], ["490154203237517", "378282246310005"]),
    (patterns.is_phone, ["+49 30 1234567", "(212) 555-0123", "0301234567"], ["12345678", "1000-2000", "12.5", "1234567890"]),
    (patterns.is_plate, ["B-AB 1234", "AA-229-AA", "AB12 CDE", "1234 BCD"], ["Berlin", "12345"]),
    (patterns.is_vin, ["1M8GDM9AXKP042788"], ["12345678901234567", "1M8GDM9AXKP04278"]),
    (patterns.is_full_name, ["Ada Lovelace", "Jean-Luc O'Neill", "Müller, Änne"], ["Ada", "back pain", "Flat 12 B"]),
    (patterns.is_icd, ["J45", "J45.9", "C50911"], ["U07.1", "45.9", "J4"]),
    (patterns.is_atc, ["A10BA02"], ["A10BA2"]),
    (patterns.is_money, ["$1,200", "12 000 €", "<=50K", ">50K"], ["50", "1984-1985"]),
    (patterns.is_postcode, ["SW1A 1AA", "K1A 0B1", "1234 AB", "12345-6789"], ["12345", "A1"]),
    (person_numbers.is_us_ssn, ["219-09-9999"], ["000-12-3456", "666-12-3456", "912-12-3456", "219099999"]),
    (person_numbers.is_uk_nino, ["AB 12 34 56 C"], ["GB123456A", "DA123456A", "AB123456E"]),
    (person_numbers.is_nhs, ["943 476 5919", "401 023 2137"], ["943 476 5918"]),
    (person_numbers.is_german_tax_id, ["86 095 742 719", "36574261809"], ["86 095 742 718", "11111111111", "06095742719"]),
    (person_numbers.is_french_nir, ["2 95 10 99 126 111 93", "2 55 08 14 168 025 38"], ["2 95 10 99 126 111 92"]),
    (person_numbers.is_spanish_dni, ["12345678Z", "54362315-K", "X-2482300-W"], ["12345678A", "1234567Z"]),
    (person_numbers.is_codice_fiscale, ["RCCMNL83S18D969H"], ["RCCMNL83S18D969"]),
    (person_numbers.is_dutch_bsn, ["111222333"], ["111222334", "000000000"]),
    (person_numbers.is_personnummer, ["880320-0016", "19811228-9874"], ["880320-0018", "881320-0016"]),
    (person_numbers.is_pesel, ["44051401359"], ["44051401358", "00000000000"]),
    (person_numbers.is_cpf, ["390.533.447-05"], ["390.533.447-06", "39053344705"]),
]  # fmt: skip


@pytest.mark.parametrize(("check", "right", "wrong"), EXAMPLES, ids=lambda value: getattr(value, "__name__", ""))
def test_examples(check: Check, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not check(text)] == []
    assert [text for text in wrong if check(text)] == []
    assert not check("")


def test_check_digits_let_few_other_numbers_pass() -> None:
    draw = random.Random(5)
    for check, digits in (
        (patterns.is_card, 16),
        (patterns.is_device, 15),
        (person_numbers.is_nhs, 10),
        (person_numbers.is_german_tax_id, 11),
        (person_numbers.is_dutch_bsn, 9),
        (person_numbers.is_pesel, 11),
    ):
        passed = sum(check("".join(draw.choices("0123456789", k=digits))) for _ in range(2000)) / 2000
        assert 0 < passed < 0.13  # one in ten or eleven, and never the four in five that a column needs


def test_luhn_by_hand() -> None:
    # 79927398713: from the right 3 + (1·2=2) + 7 + (8·2=16→7) + 9 + (3·2=6) + 7 + (2·2=4) + 9 + (9·2=18→9) + 7 = 70
    assert patterns.luhn("79927398713")
    assert not patterns.luhn("79927398710")


def test_dates() -> None:
    for texts, words, unsure in (
        (["1984-03-01", "1985-12-31T10:00:00"], "year-month-day", False),
        (["31.12.1999"], "day, month, year", False),
        (["03/04/1999", "31/04/1999"], None, False),  # April has thirty days, and no month is the thirty-first
        (["03/04/1999", "30/04/1999"], "day, month, year", False),
        (["03/04/1999", "04/30/1999"], "month, day, year", False),
        (["03/04/1999"], "day, month, year", True),
        (["1984-03"], "year-month", False),
        (["19840301"], "year, month and day without separators", False),
        (["1984-03-01", "soon"], None, False),
        ([], None, False),
    ):
        found = date_format(texts)
        assert (found.words if found else None, bool(found and found.unsure)) == (words, unsure)


@pytest.mark.parametrize(
    ("name", "concepts"),
    [
        ("wage", {Concept.MONEY}),  # holds no age
        ("Age", {Concept.AGE}),
        ("dateOfBirth", {Concept.BIRTH, Concept.DATE}),
        ("Geburtsdatum", {Concept.BIRTH}),
        ("état civil", {Concept.MARITAL}),
        ("Einkommen 2020", {Concept.MONEY}),
        ("código_postal", {Concept.POSTCODE}),
        ("salaire", {Concept.MONEY}),
        ("enfermedad", {Concept.HEALTH}),
        ("Religion", {Concept.RELIGION}),
        ("city name", {Concept.PLACE}),
        ("first_name", {Concept.NAME}),
        ("orientación sexual", {Concept.SEX_LIFE}),
        ("fnlwgt", {Concept.WEIGHT}),
        ("column_7", set()),
    ],
)
def test_names_of_columns(name: str, concepts: set[Concept]) -> None:
    assert meaning(name).concepts == concepts


def test_ladders_are_only_the_obvious_ones() -> None:
    assert vocabulary.ladder(["high", "low", "medium"]) == ("low", "medium", "high")
    assert vocabulary.ladder(["Mittel", "Hoch", "Niedrig"]) == ("Niedrig", "Mittel", "Hoch")
    assert vocabulary.ladder(["30-39", "<20", "40+", "20-29"]) == ("<20", "20-29", "30-39", "40+")
    assert vocabulary.ladder(["20-29", "25-34", "35-44"]) is None  # they overlap
    assert vocabulary.ladder(["Bachelor", "Master", "Doctorate"]) is None
    assert vocabulary.ladder(["high", "low"]) is None  # two steps have no order that matters
    assert vocabulary.ladder(["Low", "low", "high", "medium"]) is None
