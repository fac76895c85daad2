"""The notations of labels: each read into the values that it denotes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError
from auditor.model.label_values import named_domain, named_values
from auditor.model.labels import Labels, write_label
from auditor.model.masks import is_mask
from auditor.model.notation import Reader
from auditor.model.notation_kinds import Notation
from auditor.model.schema import Schema

TREE = {"North": ["Ayton", "Beeham"], "South": ["Cray", {"Coast": ["Dover", "Eling"]}]}
ORDER = ["low", "middle", "high", "very high"]
DISEASES = ["<=50K", "AIDS, late", "flu", "flu, mild", "asthma"]
POSTCODES = ["13053", "13068", "14850", "1305"]


def domain(values: list[str], table: dict[str, Any] | None = None, **column: Any) -> Domain:
    schema = Schema.from_dict({"table": table or {}, "columns": {"c": {"role": "quasi", **column}}})
    return Domain.of(schema.columns["c"], schema.format, [("table", values)])


def numbers(*values: str, **table: Any) -> Domain:
    return domain(list(values), table, type="numeric")


def read(dom: Domain, *texts: str) -> Labels:
    return Labels.read(dom, texts, lambda i: f"release.csv, row {i + 1}, column 'c'")


def values(dom: Domain, text: str) -> list[str]:
    """The values that one label denotes."""
    labels = read(dom, text)
    found = [dom.texts[code] for code in labels.codes(0)]
    # The same by each of the other ways to ask.
    every = np.arange(dom.size, dtype=np.int32)
    assert [dom.texts[c] for c in every[labels.covers(np.zeros_like(every), every)]] == found
    assert labels.counts.tolist() == [len(found)]
    assert labels.mass(np.ones(dom.size)).tolist() == [len(found)]
    return found


AGES = numbers("17", "20", "25", "39", "40", "80", "90")


@pytest.mark.parametrize(
    ("text", "denoted"),
    [
        ("20", "20"),
        ("20.0", "20"),
        (" 20 ", "20"),
        ("[20, 40]", "20 25 39 40"),
        ("[20,40]", "20 25 39 40"),
        ("[20; 40]", "20 25 39 40"),
        ("[ 20 , 40 [", "20 25 39"),
        ("[20, 40)", "20 25 39"),
        ("(20, 40]", "25 39 40"),
        ("]20, 40]", "25 39 40"),
        ("]20, 40[", "25 39"),
        ("(20, 40)", "25 39"),
        ("[17, 90]", "17 20 25 39 40 80 90"),
        ("[17, 17]", "17"),
        ("[-5, 1e2]", "17 20 25 39 40 80 90"),
        ("20-39", "20 25 39"),
        ("20 – 39", "20 25 39"),
        ("-1-20", "17 20"),
        ("20–39", "20 25 39"),
        ("20 - 39", "20 25 39"),
        ("20 to 39", "20 25 39"),
        ("20..39", "20 25 39"),
        ("20...39", "20 25 39"),
        ("20.0-39.5", "20 25 39"),  # AnonyPy writes decimal numbers so
        ("[20-40)", "20 25 39"),
        ("(20 to 40]", "25 39 40"),
        ("(19.999, 40.0]", "20 25 39 40"),  # pandas
        ("(1.7e+01,2e+01]", "20"),  # R's cut
        ("[-Inf, 20)", "17"),
        ("(-inf, 20.0]", "17 20"),
        ("(80, Inf]", "90"),
        ("[80, +∞)", "80 90"),
        ("[80,)", "80 90"),  # PostgreSQL
        ("(,20)", "17"),
        ("[-20,-10]", ""),
        ("20+", "20 25 39 40 80 90"),
        ("80 +", "80 90"),
        ("80 and over", "80 90"),
        ("80 or more", "80 90"),
        ("20 and under", "17 20"),
        ("under 20", "17"),
        ("Less than 20", "17"),
        ("more than 80", "90"),
        ("at least 80", "80 90"),
        ("at most 20", "17 20"),
        ("<20", "17"),
        ("<= 20", "17 20"),
        ("≤20", "17 20"),
        (">=80", "80 90"),
        ("≥80", "80 90"),
        ("> 80", "90"),
        (">90", ""),
        ("[41, 79]", ""),
        ("{20, 25}", "20 25"),
        ("{20, 40}", "20 40"),
        ("20|40", "20 40"),
        ("{[17, 20], 90}", "17 20 90"),
        ("{<20, >=80}", "17 80 90"),
        ("17,20", "17 20"),
        ("4*", "40"),
        ("*0", "20 40 80 90"),
        ("*", "17 20 25 39 40 80 90"),
        ("**", "17 20 25 39 40 80 90"),
        ("33.25", ""),  # a centroid: no value of the domain
    ],
)
def test_numbers(text: str, denoted: str) -> None:
    assert values(AGES, text) == denoted.split()


@pytest.mark.parametrize(
    "text",
    [
        "[20, x]",
        "young",
        "{young, old}",
        "{}",
        "5*",
        "[20",
        "<",
        "|",
        "nan",
        "over 80",
        "up to 20",
        "[-5]",
        "[,]",
        "Inf",
        "[Inf, 90]",
        "17,18",
        "1,017",
        "++",
        "+",
    ],
)
def test_what_is_no_label_of_a_number(text: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        read(AGES, "20", text)
    assert f"release.csv, row 2, column 'c': the label {text!r} denotes no value of the column." in str(caught.value)
    assert "[a, b[, a-b, <a, >=a, {a, b}, a prefix*, ** or *." in str(caught.value)


@pytest.mark.parametrize("text", ["[40, 20]", "40-20", "(40; 20)", "[high, low]", "high-low"])
def test_reversed_bounds(text: str) -> None:
    dom = domain([], order=ORDER) if "low" in text else AGES
    with pytest.raises(ReleaseError) as caught:
        read(dom, text)
    assert str(caught.value).endswith(f"column 'c': the label {text!r} denotes no value: its bounds are reversed.")


def test_the_decimal_comma() -> None:
    dom = numbers("1,5", "2", "2,5", "10", decimal=",")
    assert dom.texts == ("1,5", "2", "2,5", "10")
    assert values(dom, "1,50") == ["1,5"]
    for text in ("[1,5; 2,5]", "[1,5, 2,5]", "1,5-2,5"):
        assert values(dom, text) == ["1,5", "2", "2,5"]
    assert values(dom, "{1,5; 10}") == ["1,5", "10"]
    assert values(dom, "{1,5, 10}") == ["1,5", "10"]
    assert values(dom, "[2,10]") == ["2", "2,5", "10"]
    assert write_label(dom, np.array([0, 2], dtype=np.int32)) == "[1,5; 2,5]"
    with pytest.raises(ReleaseError, match=r"the label '2\.500' denotes no value"):
        read(dom, "2.500")  # it may mean two and a half thousand


@pytest.mark.parametrize(
    ("text", "denoted"),
    [
        ("Ayton", "Ayton"),
        ("North", "Ayton|Beeham"),
        ("Coast", "Dover|Eling"),
        ("South", "Cray|Dover|Eling"),
        ("{Ayton, Coast}", "Ayton|Dover|Eling"),
        ("North|Cray", "Ayton|Beeham|Cray"),
        ("D****", "Dover"),
        ("*", "Ayton|Beeham|Cray|Dover|Eling"),
    ],
)
def test_taxonomy_groups_at_any_level(text: str, denoted: str) -> None:
    assert values(domain([], taxonomy=TREE), text) == denoted.split("|")


def test_the_root_covers_the_missing_value_too_and_other_groups_do_not() -> None:
    dom = domain(["", "Ayton"], taxonomy={"Any": TREE})
    assert dom.missing == 5
    assert values(dom, "Any")[-1] == ""
    assert values(dom, "South") == ["Cray", "Dover", "Eling"]
    assert values(dom, "*")[-1] == ""
    labels = read(dom, "Any", "*", "South", "Ayton", "")
    assert labels.suppressed.tolist() == [False, True, False, False, False]
    assert labels.losses.tolist() == [1, 1, 0.5, 0, 0]  # (3 - 1)/(5 - 1) for South


def test_a_numeric_column_with_a_taxonomy_understands_both() -> None:
    dom = domain(["20"], type="numeric", taxonomy={"20-29": ["21", "30"], "10-19": ["11", "20"]})
    assert values(dom, "20-29") == ["21", "30"]  # the group of this name, not the interval
    assert values(dom, "20-30") == ["20", "21", "30"]
    assert values(dom, "<21") == ["11", "20"]
    assert read(dom, "20-29", "20-30").losses == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("text", "denoted"),
    [
        ("<=50K", ["<=50K"]),  # an exact value comes before the notation it looks like
        ("{<=50K, flu}", ["<=50K", "flu"]),
        ("{flu, AIDS, late}", ["AIDS, late", "flu"]),
        ('{flu, "AIDS, late"}', ["AIDS, late", "flu"]),
        ('{"flu, mild", asthma}', ["asthma", "flu, mild"]),
        ("{ asthma ,flu }", ["asthma", "flu"]),
        ("asthma|flu, mild", ["asthma", "flu, mild"]),
        ("flu*", ["flu", "flu, mild"]),
        ("A***", ["AIDS, late"]),
        ("*", sorted(DISEASES)),
    ],
)
def test_nominal_values(text: str, denoted: list[str]) -> None:
    assert values(domain(DISEASES), text) == denoted


@pytest.mark.parametrize("text", ["{flu, fever}", "{flu,}", "z*", "[flu, asthma]", "<flu", "{", '{"flu}'])
def test_what_is_no_label_of_a_nominal_column(text: str) -> None:
    with pytest.raises(ReleaseError, match="denotes no value"):
        read(domain(DISEASES), text)


def test_a_text_without_a_notation_is_no_value() -> None:
    for dom, more in ((domain(DISEASES), ""), (domain([], taxonomy=TREE), " nor a group of its taxonomy")):
        with pytest.raises(ReleaseError) as caught:
            read(dom, "measles")
        assert str(caught.value) == f"release.csv, row 1, column 'c': 'measles' is no value of [columns.c]{more}."


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
    assert f"the label {text!r} denotes no value of the column. {part!r} in it is none." in str(caught.value)
    assert f"The nearest known value is {near!r}." in str(caught.value)


def test_the_unknown_end_of_an_interval_is_named() -> None:
    with pytest.raises(ReleaseError, match=r"'middel' in it is none\. The nearest known value is 'middle'"):
        read(domain([], order=ORDER), "[low, middel]")
    with pytest.raises(ReleaseError, match=r"'4O' in it is none\."):
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


@pytest.mark.parametrize(
    ("text", "denoted"),
    [
        ("middle", "middle"),
        ("[low, high]", "low|middle|high"),
        ("[low, high[", "low|middle"),
        ("(low, high)", "middle"),
        ("]low, very high]", "middle|high|very high"),
        ("low-high", "low|middle|high"),
        ("<high", "low|middle"),
        ("<=high", "low|middle|high"),
        (">high", "very high"),
        (">= high", "high|very high"),
        ("{low, high}", "low|high"),
        ("{low, middle}", "low|middle"),
        ("v*", "very high"),
        ("(low, middle)", ""),
    ],
)
def test_ordinals(text: str, denoted: str) -> None:
    assert values(domain([], order=ORDER), text) == ([] if not denoted else denoted.split("|"))


def test_ordinals_whose_values_look_like_intervals() -> None:
    dom = domain([], order=["0-9", "10-19", "20+"])
    assert values(dom, "10-19") == ["10-19"]
    assert values(dom, "[0-9, 10-19]") == ["0-9", "10-19"]
    with pytest.raises(ReleaseError, match="denotes no value"):
        read(dom, "[20+, 0-9]")


def test_missing_and_withheld_are_two_things() -> None:
    dom = domain(["a", "b", "?"], {"missing": ["?", "NA"], "suppressed": ["*", "#"]})
    assert values(dom, "?") == ["?"]
    assert values(dom, "NA") == ["?"]
    assert values(dom, "#") == ["a", "b", "?"]
    labels = read(dom, "?", "NA", "#", "*", "a")
    assert labels.suppressed.tolist() == [False, False, True, True, False]
    assert labels.losses.tolist() == [0, 0, 1, 1, 0]
    with pytest.raises(ReleaseError, match="the label '' denotes no value"):
        read(dom, "")  # an empty cell means something only if it is listed


def test_a_missing_value_that_the_original_has_not() -> None:
    with pytest.raises(ReleaseError) as caught:
        read(domain(["a", "b"]), "")
    assert "row 1, column 'c': '' means a missing value, and the original has none in this column." in str(caught.value)
    assert "[table] suppressed" in str(caught.value)


def test_a_mask_does_not_cover_the_text_for_a_missing_value() -> None:
    dom = domain(["Norway", "NA"], {"missing": ["NA"]})
    assert values(dom, "N*") == ["Norway"]


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


@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, "{" + "a," * 2_000_000 + "z}", "a|" * 500_000 + "z", "[" + "," * 1_000_000 + "]"]
)
def test_long_labels_are_refused_early_and_cut_in_the_message(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = count_members(monkeypatch)
    for dom in (domain(["aa", "b"]), AGES, domain([], order=ORDER)):
        with pytest.raises(ReleaseError) as caught:
            read(dom, text)
        assert len(str(caught.value)) < 500
    assert len(tried) < 50  # of up to two million parts


def count_members(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are looked up as members of sets from now on."""
    tried: list[str] = []
    one = Reader._one

    def counted(self: Reader, text: str) -> Any:
        tried.append(text)
        return one(self, text)

    monkeypatch.setattr(Reader, "_one", counted)
    return tried


def test_a_value_with_many_commas_is_not_searched_for_in_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # the longest value has as many commas as the text, so that joining parts until they are known would never give up
    long = "x," * 5_000 + "y"
    tried = count_members(monkeypatch)
    assert [found.kind for found in Reader(domain([long, "b"])).readings(long)] == [Notation.VALUE]
    assert len(tried) < 100


def test_a_member_may_hold_many_commas() -> None:
    some, many = "a" + ", a" * 60, "b" + ", b" * 80
    dom = domain([some, many, "c"])
    assert values(dom, "{" + some + ", c}") == sorted([some, "c"])
    assert values(dom, '{"' + many + '", c}') == sorted([many, "c"])
    assert values(dom, write_label(dom, np.array([0, 1], dtype=np.int32))) == [some, many]


@given(st.lists(st.integers(0, 60), min_size=2, max_size=12), st.integers(0, 60), st.integers(0, 60), st.data())
def test_intervals_hold_what_lies_between_their_ends(some: list[int], a: int, b: int, data: st.DataObject) -> None:
    low, high = sorted((a, b))
    left, right = data.draw(st.sampled_from("[](")), data.draw(st.sampled_from("[])"))
    inside = [
        str(x)
        for x in sorted(set(some))
        if (low <= x if left == "[" else low < x) and (x <= high if right == "]" else x < high)
    ]
    assert values(numbers(*map(str, some)), f"{left}{low}, {high}{right}") == inside


# ----- a release alone ------------------------------------------------------------------------------------------------


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
