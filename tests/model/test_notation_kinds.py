"""Masks, dates, sets without braces, what a schema says of the notation, and what an error names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError
from auditor.model.labels.labels import Labels
from auditor.model.labels.masks import is_mask
from auditor.model.labels.notation import Reader
from auditor.model.notation_kinds import Notation
from auditor.model.schema import Schema
from tests.support.notation_cases import AGES, DISEASES, ORDER, POSTCODES, TREE, domain, numbers, read, values

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others


def test_the_nearest_value_is_named() -> None:
    with pytest.raises(ReleaseError, match="The nearest known value is 'asthma'"):
        read(domain(DISEASES), "astma")
    with pytest.raises(ReleaseError, match="The nearest known value is 'Coast'"):
        read(domain([], taxonomy=TREE), "Cost")


def test_masks_of_postcodes() -> None:
    nominal = domain(POSTCODES)
    assert values(nominal, "130**") == ["1305", "13053", "13068"]  # the mark does not say how long a text was
    assert values(nominal, "1305*") == ["1305", "13053"]
    assert values(nominal, "*****") == sorted(POSTCODES)
    numeric = numbers(*POSTCODES)
    assert values(numeric, "130**") == ["13053", "13068"]  # of a number it does
    assert values(numeric, "130*") == ["1305"]
    # Elsewhere than at the end of a text, a star is one character.
    assert values(nominal, "13*53") == values(numeric, "13*53") == ["13053"]
    assert values(nominal, "1**5*") == ["1305", "13053", "14850"]
    assert values(nominal, "***50") == ["14850"]
    assert values(nominal, "*305") == ["1305"]
    assert values(nominal, "*053") == ["13053"]  # nothing that ends so is as short as the mask
    with pytest.raises(ReleaseError, match="denotes no value"):
        read(nominal, "13*54")


def test_masks_against_a_slow_version() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        texts = sorted({"".join(rng.choice(list("ab"), size=rng.integers(1, 5))) for _ in range(8)})
        dom = domain(texts)
        for _ in range(20):
            mask = "".join(rng.choice(list("ab*"), size=rng.integers(2, 6)))
            if not is_mask(mask):
                continue
            body, tail = mask.rstrip("*"), ".*" if mask.endswith("*") else ""
            fits = [t for t in texts if re.fullmatch(body.replace("*", ".") + tail, t)]
            if not fits and mask.startswith("*") and "*" not in mask.lstrip("*"):
                fits = [t for t in texts if t.endswith(mask.lstrip("*"))]
            found = Reader(dom).read(mask)
            assert ([] if found is None else values(dom, mask)) == fits


DAYS = ["2019-12-31", "2020-01-01", "2020-01-31", "2020-02-01", "2021-01-01T08:30"]


def test_years_and_months_of_dates() -> None:
    for dom in (domain(DAYS), domain([], order=DAYS)):
        assert values(dom, "2020") == DAYS[1:4]
        assert values(dom, "2020-01") == DAYS[1:3]
        assert values(dom, "2021") == DAYS[4:]
        with pytest.raises(ReleaseError, match="is no value"):
            read(dom, "2022")
    assert values(domain(["2020-01", "2020-02", "2021-01"]), "2020") == ["2020-01", "2020-02"]
    with pytest.raises(ReleaseError, match="is no value"):
        read(domain(["2020-01-01", "2020-A"]), "2020")  # not all values are dates


def test_values_by_commas_without_braces() -> None:
    dom = domain(["test1", "test2", "a, b", "c"])
    assert values(dom, "test2,test1") == ["test1", "test2"]
    assert values(dom, "c,a, b") == ["a, b", "c"]
    assert values(dom, "a, b") == ["a, b"]
    for text in ("test1,test9", "test1,", ",", "test1,t*"):
        with pytest.raises(ReleaseError):
            read(dom, text)
    assert values(domain([], taxonomy=TREE), "North,Cray") == ["Ayton", "Beeham", "Cray"]


@pytest.mark.parametrize(
    ("text", "part", "near"),
    [
        ("{Ayton, Beehan}", "Beehan", "Beeham"),
        ("Ayton|Cost", "Cost", "Coast"),
        ("{north, Cray}", "north", "North"),
        ('{"SOUTH", Cray}', "SOUTH", "South"),
    ],
)
def test_the_unknown_member_of_a_set_is_named(text: str, part: str, near: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        read(domain([], taxonomy=TREE), text)
    assert f"the label {text!r} denotes no value of the column. In it, the part {part!r} is none." in str(caught.value)
    assert f"The nearest known value is {near!r}." in str(caught.value)


def test_the_unknown_end_of_an_interval_is_named() -> None:
    with pytest.raises(ReleaseError, match=r"the part 'middel' is none\. The nearest known value is 'middle'"):
        read(domain([], order=ORDER), "[low, middel]")
    with pytest.raises(ReleaseError, match=r"the part '4O' is none\."):
        read(AGES, "[20, 4O[")


def test_the_nearest_group_is_found_beside_many_leaves() -> None:
    dom = domain([], taxonomy={"North": [f"n{i}" for i in range(6000)], "South": ["s"]})
    with pytest.raises(ReleaseError, match="The nearest known value is 'South'"):
        read(dom, "Suoth")


# ----- what the schema asks for ---------------------------------------------------------------------------------------


def asked(dom: Domain, text: str, *kinds: str) -> list[str]:
    labels = Labels.read(dom, [text], str, None, [Notation(kind) for kind in kinds])
    return [dom.texts[code] for code in labels.codes(0)]


def test_a_schema_may_say_how_labels_are_written() -> None:
    bands = domain([], type="numeric", taxonomy={"20-39": ["21", "40"], "0-19": ["1", "20"]})
    assert asked(bands, "20-39") == asked(bands, "20-39", "group", "interval") == ["21", "40"]
    assert asked(bands, "20-39", "interval") == asked(bands, "20-39", "interval", "group") == ["20", "21"]
    assert asked(bands, "**", "interval") == asked(bands, "*", "interval") == ["1", "20", "21", "40"]
    sums = domain([], order=["a", "b", "c", "a-b"])
    assert asked(sums, "a-b") == ["a-b"]
    assert asked(sums, "a-b", "interval", "value") == ["a", "b"]
    pairs = domain(["a", "b", "a,b"])
    assert asked(pairs, "a,b", "set") == ["a", "b"]
    assert asked(numbers("1", "2"), "1", "centroid") == []  # an average that happens to be a value
    stars = domain(["*", "a", "b"], role="neutral")
    assert asked(stars, "*", "value", "set") == ["*"]
    assert asked(stars, "*", "set") == ["*", "a", "b"]
    assert Labels.read(stars, ["*"], str, None, [Notation.SET]).suppressed.all()


def test_a_label_in_another_notation_than_the_schema_asks_for() -> None:
    with pytest.raises(ReleaseError) as caught:
        asked(AGES, "20", "interval", "bound")
    assert "the label '20' denotes no value in the notations that [columns.c] allows" in str(caught.value)
    assert 'notation = ["interval", "bound"]. Add "value" there to read it.' in str(caught.value)
    with pytest.raises(ReleaseError, match="denotes no value of the column"):
        asked(AGES, "young", "interval")


def test_a_column_has_its_own_marks() -> None:
    schema = Schema.from_dict(
        {
            "table": {"missing": ["?"]},
            "columns": {
                "c": {"role": "quasi", "suppressed": ["XXX", "."], "missing": ["NA"]},
                "d": {"role": "quasi", "suppressed": []},
            },
        }
    )
    dom = Domain.of(schema.columns["c"], schema.format, [("t", ["a", "NA", "?"])])
    assert dom.texts == ("?", "a", "NA")  # ? is a value of this column, NA is none
    assert values(dom, ".") == values(dom, "XXX") == values(dom, "*") == ["?", "a", "NA"]
    assert read(dom, ".", "XXX", "*", "NA").suppressed.tolist() == [True, True, False, False]
    dom = Domain.of(schema.columns["d"], schema.format, [("t", ["a", "?"])])
    assert dom.missing == 1
    assert not read(dom, "*").suppressed.any()
    with pytest.raises(ReleaseError, match=r"a prefix\*, \*\*\."):
        read(dom, "<b")
