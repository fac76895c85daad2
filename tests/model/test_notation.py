"""The notations of labels: each read into the values that it denotes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.errors import ReleaseError
from auditor.model.labels.labels import write_label
from auditor.model.labels.notation import Reader
from auditor.model.notation_kinds import Notation
from tests.support.notation_cases import AGES, DISEASES, ORDER, TREE, domain, numbers, read, values

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others


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
        ("[80, 1e300]", "80 90"),  # as good as infinite
        ("[-9007199254740992, 20]", "17 20"),
        ("[1e-300, 20]", "17 20"),
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
        "1e300",
        "-1e-300",
        "<1e300",
        "[1e300, 1e301]",
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
        assert (
            str(caught.value)
            == f"release.csv, row 1, column 'c': the label 'measles' is no value of [columns.c]{more}."
        )


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
    assert "[columns.c] suppressed" in str(caught.value)


def test_a_mask_does_not_cover_the_text_for_a_missing_value() -> None:
    dom = domain(["Norway", "NA"], {"missing": ["NA"]})
    assert values(dom, "N*") == ["Norway"]


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
