"""The values that labels name, for a domain where only the release is there."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.model.domain import Domain
from auditor.model.labels.label_values import named_domain, named_values
from auditor.model.schema import Schema
from tests.support.notation_cases import values


@pytest.mark.parametrize(
    ("column", "texts", "named"),
    [
        (
            {"type": "numeric"},
            ["20", "[30, 40[", "<17", "{50, 60}", "*", "70-80", ">= 90", ""],
            # Of each interval its ends, and two values inside: 30 and 39, 15 and 16, 90 and 91.
            "20 30 39 40 15 16 17 50 60 70 80 90 91 ",
        ),
        ({"type": "numeric", "domain": [20, 90]}, ["[0, 30[", "25"], "20 29 30 25"),
        ({"type": "numeric", "domain": [20, 90]}, ["<25"], "20 24 25"),
        ({"type": "numeric"}, ["[-Inf, 20)", "(80, Inf]", "20+"], "18 19 20 80 81 82 21"),
        ({"type": "numeric"}, ["(1, 2)", "[3, 3]"], "1 1.25 1.75 2 3"),  # no whole number lies inside
        ({"type": "numeric"}, ["1*5", "0.*"], "105 195 0 0.9"),
        ({}, ["a,b", "b,a", "c", "c,d", "d,e"], "a b c d d,e"),  # e stands nowhere else
        ({}, ["a,b", "b,a", "c,a"], "a b c,a"),
        ({"notation": "set"}, ["a,b"], "a b"),
        ({"notation": "value"}, ["a,b", "b,a", "{a}", "x|y"], "a,b b,a {a} x|y"),
        ({"suppressed": ["a"], "missing": ["b"]}, ["a", "b", "c", "*x"], "b c *x"),
        ({"type": "numeric", "taxonomy": ["20", "21"]}, ["[20, 22[", "21"], None),
        ({"type": "numeric"}, ["13**", "young"], "1300 1399"),
        ({}, ["a", "{b, c}", "d|e", "f*", "*", '{"g, h", i}'], "a b c d e f* g,_h i"),
        ({}, ["a", ""], "a "),
        ({}, ["a", "**", "****"], "a"),
        ({"type": "numeric"}, ["1", "**"], "1"),
        ({"domain": ["a", "b"]}, ["a", "c"], None),
        ({"taxonomy": ["a", "b"]}, ["a", "c"], None),
        ({"order": ["a", "b"]}, ["[a, b]"], None),
    ],
)
def test_the_values_that_labels_name(column: dict[str, Any], texts: list[str], named: str | None) -> None:
    schema = Schema.from_dict({"columns": {"c": {"role": "quasi", **column}}})
    found = named_values(schema.columns["c"], schema.format, texts)
    assert found == ([] if named is None else sorted(name.replace("_", " ") for name in named.split(" ")))


def test_the_numbers_that_labels_name_with_a_decimal_comma() -> None:
    schema = Schema.from_dict({"table": {"decimal": ","}, "columns": {"c": {"role": "quasi", "type": "numeric"}}})
    found = named_values(schema.columns["c"], schema.format, ["[1,5; 2[", "{3,5, 4}", "<5,5"])
    # 1,625 and 1,875 lie inside [1,5; 2[, as 3,5 and 4,5 do below 5,5.
    assert found == ["1,5", "1,625", "1,875", "2", "3,5", "4", "4,5", "5,5"]


def alone(*texts: str, **column: Any) -> Domain:
    schema = Schema.from_dict({"columns": {"c": {"role": "quasi", **column}}})
    return named_domain(schema.columns["c"], schema.format, "release", texts)


def test_masks_of_a_release_alone_stand_in_for_values_that_nobody_names() -> None:
    dom = alone("U****", "United-States", "Un***", "M****", "Peru")
    assert dom.stand_ins == {"U****", "Un***", "M****"}
    assert values(dom, "U****") == ["U****", "Un***", "United-States"]
    assert values(dom, "Un***") == ["Un***", "United-States"]
    assert values(dom, "M****") == ["M****"]
    assert values(dom, "Peru") == ["Peru"]
    assert not alone("U****", "Un", notation="value").stand_ins
    assert not alone("a*", "b", domain=["a", "b"]).stand_ins


def test_periods_of_a_release_alone() -> None:
    dom = alone("2020", "2020-01", "2020-01-31", "2021-05-01")
    assert dom.stand_ins == {"2020", "2020-01"}
    assert values(dom, "2020") == ["2020", "2020-01", "2020-01-31"]
    assert values(dom, "2020-01") == ["2020-01", "2020-01-31"]
    assert not alone("2020", "2021").stand_ins  # years are values where nothing is finer


def test_intervals_of_a_release_alone_denote_several_values() -> None:
    texts = ["[20, 30[", "[30, 40[", "<20", ">=80", "35", "(1.5, 1.75)", "1*"]
    dom = alone(*texts, type="numeric")
    for text in texts:
        assert (len(values(dom, text)) == 1) is (text == "35"), text


@pytest.mark.parametrize(
    ("labels", "covered"),
    [
        # a month covers its days, a year its months; a cell without a value is no reason to read them otherwise
        (["2020-01", "2020-01-02", "2021-12-31"], {"2020-01": ["2020-01", "2020-01-02"]}),
        (["", "2020-01", "2020-01-02"], {"2020-01": ["2020-01", "2020-01-02"]}),
        (["2020", "2020-01", "2021-01"], {"2020": ["2020", "2020-01"], "2021-01": ["2021-01"]}),
        (["", "2020", "2020-01", "2020-01-02"], {"2020": ["2020", "2020-01", "2020-01-02"]}),
        (["2020", "2021"], {"2020": ["2020"]}),  # years alone are values
        (["2020", "2020-01", "x"], {"2020": ["2020"]}),  # and so are all of them where another value is no date
    ],
)
def test_periods_cover_what_other_labels_name(labels: list[str], covered: dict[str, list[str]]) -> None:
    dom = alone(*labels)
    for text, expected in covered.items():
        assert values(dom, text) == expected
