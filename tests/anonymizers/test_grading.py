"""Grading: the paper's figures by hand, aliases, choices, and what attacks and statistics make of such a release."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from anonymizers.grading import Grading
from anonymizers.shared.aliases import shared_groups
from anonymizers.shared.choices import choose_by_value, draw_choices, reluctance
from auditor.auditing.audit import audit
from auditor.files.releases import write_release
from auditor.measure.classes import sensitive_facts
from auditor.model.errors import PromiseError, TableError, UsageError
from auditor.model.key import Aliases, Categories, Key
from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.model.taxonomy import Taxonomy
from auditor.posterior.beliefs import meaning
from tests.support.grading_cases import PATIENTS, aliases_of, key_of, one, patients, rows

# ----- graded numbers ------------------------------------------------------------------------------------------------


def test_the_papers_ages() -> None:
    # One category from 10 to 40: (21 - 10)/30 = 0.3667, (22 - 10)/30 = 0.4; the ends are 0.0 and 0.999.
    ages = np.array([10.0, 21.0, 22.0, 40.0])
    graded = Categories((10.0,), (40.0,)).grade(ages)
    assert graded.tolist() == [1.0, pytest.approx(1.36667, abs=1e-5), 1.4, 1.999]
    # As printed: 1.366 is cut off (rounded it would be 1.367), and so is the 0.999 of the greatest.
    assert Categories((10.0,), (40.0,), digits=3).grade(ages).tolist() == [1.0, 1.366, 1.4, 1.999]
    assert Categories((10.0,), (40.0,), digits=2).grade(ages).tolist() == [1.0, 1.36, 1.4, 1.99]
    release, provenance = anonymize(one(["10", "21", "22", "40"], type="numeric"), "grading", categories=1)
    assert rows(release, provenance.fragment, "s") == ["1", "1.366", "1.4", "1.999"]


def test_every_category_is_tested_and_its_ends_are_graded() -> None:
    # The printed loop stops before the last category, and adds the category only between the ends: we follow the text.
    graded = Categories((17.0, 31.0, 61.0), (30.0, 60.0, 90.0)).grade(
        np.array([17.0, 30.0, 31.0, 60.0, 61.0, 75.5, 90.0])
    )
    assert graded.tolist() == [1.0, 1.999, 2.0, 2.999, 3.0, 3.5, 3.999]


def test_degrees_of_wide_categories_are_cut_off() -> None:
    # (4999 - 0)/5000 = 0.9998 would stand above the greatest number's 0.999.
    wide = Categories((0.0,), (5000.0,))
    assert wide.grade(np.array([4990.0, 4995.0, 4996.0, 4999.0, 5000.0])).tolist() == [
        1.998,
        1.999,
        1.999,
        1.999,
        1.999,
    ]
    assert wide.numbers(1.999) == (5000, 5000)  # those that were cut off come back as the greatest


def test_numbers_that_are_published_alike_decode_to_what_they_span() -> None:
    # In a category from 0 to 5000 three digits are steps of 5: 4990 and 4994 are 0.998, 4995 and more 0.999.
    numbers = np.array([0.0, 7.0, 4990.0, 4994.0, 4995.0, 5000.0])
    wide = Categories((0.0,), (5000.0,), digits=3).listing(numbers)
    assert wide.grade(numbers).tolist() == [1.0, 1.001, 1.998, 1.998, 1.999, 1.999]
    assert [wide.numbers(g) for g in (1.0, 1.001, 1.998, 1.999)] == [(0, 0), (7, 7), (4990, 4994), (4995, 5000)]
    # thresholds lie between the numbers of what is published below and above them, whatever the digits
    assert wide.numbers(1.0010001) == (pytest.approx(7.0, abs=0.01),) * 2
    assert wide.numbers(1.9985) == (4994.5, 4994.5)
    assert [wide.numbers(bad) for bad in (0.9, 1.9995, 2.0)] == [None] * 3
    # ends that nobody has are listed too, so that a threshold beyond all people means something
    ages = Categories((10.0,), (40.0,), digits=3).listing(np.array([21.0, 22.0]))
    assert [grade.published for grade in ages.grades] == [1.0, 1.366, 1.4, 1.999]
    assert ages.numbers(1.383) == (21.5, 21.5)


@given(
    st.sets(st.integers(-(10**6), 10**6), min_size=1, max_size=80), st.integers(1, 6), st.sampled_from([1, 10, 1000])
)
def test_order_is_kept_and_numbers_come_back(numbers: set[int], categories: int, parts: int) -> None:
    texts = [str(number / parts) for number in sorted(numbers)]
    table = one(texts, type="numeric")
    release, provenance = anonymize(table, "grading", categories=categories, digits=16)
    key = provenance.key
    assert key is not None
    known = key.columns["s"]
    assert isinstance(known, Categories)
    assert len(known.low) == min(categories, len(numbers))
    published = [float(text) for text in rows(release, provenance.fragment, "s")]
    assert published == sorted(published)
    for text, graded in zip(texts, published, strict=True):
        category = int(graded) - 1
        low, high = known.low[category], known.high[category]
        cut_off = low < float(text) < high and (float(text) - low) / (high - low) >= 0.999 - 1e-12
        assert known.numbers(graded) == (high if cut_off else float(text),) * 2
    release, provenance = anonymize(table, "grading", categories=categories)
    assert provenance.key is not None
    known = provenance.key.columns["s"]
    assert isinstance(known, Categories)
    assert Key.from_json(provenance.key.to_json()) == provenance.key
    published = [float(text) for text in rows(release, provenance.fragment, "s")]
    assert published == sorted(published)
    for text, graded in zip(texts, published, strict=True):
        found = known.numbers(graded)
        assert found is not None
        alike = [float(t) for t, g in zip(texts, published, strict=True) if g == graded]
        assert found == (alike[0], alike[-1])
        assert float(text) in alike


def test_categories_hold_about_as_many_people_and_are_drawn() -> None:
    table = one([str(i) for i in range(1000)], type="numeric")
    made = [key_of(table, seed).columns["s"] for seed in range(20)]
    assert len({str(categories) for categories in made}) == 20
    for categories in made:
        assert isinstance(categories, Categories)
        sizes = np.array(categories.high) - np.array(categories.low) + 1
        assert sizes.sum() == 1000  # every number is in one
        assert sizes.min() >= 1000 / 4 * (1 - 2 * 0.3) - 1


def test_numbers_between_published_ones_lie_between_their_originals() -> None:
    categories = Categories((10.0, 50.0), (40.0, 60.0))
    assert categories.numbers(1.38333) == (21.5, 21.5)  # a tree's threshold between 21 and 22
    assert categories.numbers(1.9995) == (45, 45)  # between the first category and the second
    assert [categories.numbers(bad) for bad in (0.5, 2.9995, 3.0, -1.2)] == [None] * 4


def test_given_bounds_are_used_and_stay_out_of_what_is_public() -> None:
    bounds = [["income", 9000, 16000, 17000, 30000]]
    release, provenance = anonymize(patients(), "grading", bounds=bounds)
    assert provenance.key is not None
    known = provenance.key.columns["income"]
    assert isinstance(known, Categories)
    assert (known.low, known.high) == ((9000.0, 17000.0), (16000.0, 30000.0))
    assert rows(release, provenance.fragment, "income")[1] == "1.857"  # 6000/7000
    record = audit(release, original=patients(), provenance=provenance)
    assert release.params == {"categories": 4, "grave": [], "digits": 3, "choices": "by_value", "exceptions": 0.05}
    for public in (record.to_json(), repr(release), str(write_release(release, provenance, Path("r")))):
        assert not re.search(r"\b(9000|17000)\b", public)


# ----- aliases -------------------------------------------------------------------------------------------------------


def test_choices_decide_what_is_published() -> None:
    release, provenance = anonymize(patients(), "grading")
    key = provenance.key
    assert key is not None
    names = key.columns["disease"]
    assert isinstance(names, Aliases)
    assert sorted(names.alias1) == ["Digestive-1", "Digestive-2", "Respiratory-1", "Respiratory-2"]
    assert sorted(names.alias2) == ["A01", "A02", "A03", "A04"]
    alias1, alias2 = (
        dict(zip(names.values, names.alias1, strict=True)),
        dict(zip(names.values, names.alias2, strict=True)),
    )
    expected = ["Flu", alias2["Stomach Cancer"], alias1["Bronchitis"], alias1["Gastritis"]]
    assert rows(release, provenance.fragment, "disease") == [
        *expected,
        alias2["Bronchitis"],
        "Flu",
        alias1["Bronchitis"],
    ]
    assert release.columns == ("age", "sex", "income", "disease")  # no choice
    for column in ("age", "sex"):
        assert rows(release, provenance.fragment, column) == PATIENTS[column]


def test_aliases_do_not_sort_like_the_values() -> None:
    values = [f"v{i:03}" for i in range(300)]
    names = aliases_of(one(values))
    for alias in (names.alias1, names.alias2):
        assert len(set(alias)) == 300
        number = [int(name.lstrip("As-")) for name in alias]
        assert abs(np.corrcoef(np.arange(300), number)[0, 1]) < 0.2


def test_labels_of_a_release_do_not_give_the_key_away_by_their_order() -> None:
    release, _ = anonymize(patients(), "grading")
    for column in ("disease", "income"):
        assert list(release.labels[column].texts) == sorted(release.labels[column].texts)
        block = release.block_of(column)
        assert set(block.cell(column).tolist()) == set(
            range(len(release.labels[column].texts))
        )  # none that does not occur


def test_another_secret_gives_other_names() -> None:
    values = [f"v{i}" for i in range(40)]
    first = aliases_of(one(values))
    assert first == aliases_of(one(values))
    assert first.alias2 != aliases_of(one(values), seed=2**255).alias2


@pytest.mark.parametrize(
    ("nested", "groups"),
    [
        ({"G": ["a", "b"], "H": ["c", "d"]}, {"G": "ab", "H": "cd"}),
        ({"G": ["a"], "H": ["b", "c"]}, {"*": "abc"}),  # a alone in G, then alone beside H: all are joined
        ({"G": ["a"], "H": ["b"], "I": ["c", "d"]}, {"*": "ab", "I": "cd"}),
        ({"G": ["a", {"H": ["b", "c"]}], "I": ["d", "e"]}, {"G": "abc", "I": "de"}),
        ({"G": ["a", "b", {"H": ["c", "d"]}], "I": ["e", "f"]}, {"G": "ab", "H": "cd", "I": "ef"}),
        ({"G": {"H": {"I": ["a", "b"]}}, "J": ["c", "d"]}, {"I": "ab", "J": "cd"}),
        (["a", "b"], {"*": "ab"}),
    ],
)
def test_nobody_is_alone_in_a_group(nested: Any, groups: dict[str, str]) -> None:
    tree = Taxonomy.from_nested("t", nested)
    found = {tree.labels[g]: "".join(tree.leaves[c] for c in codes) for g, codes in shared_groups(tree).items()}
    assert found == groups


def test_names_that_occur_in_the_data_are_not_given() -> None:
    schema = Schema.from_dict(
        {"columns": {"s": {"role": "sensitive"}, "note": {"role": "neutral"}, "u": {"role": "sensitive"}}}
    )
    table = {"s": ["x", "A01", "y"], "note": ["form B7", "s-2", ""], "u": ["x", "y", "z"]}
    (coded,) = encode(schema, [RawTable("t", table)])
    columns = key_of(coded).columns
    names = [name for c in columns.values() if isinstance(c, Aliases) for name in (*c.alias1, *c.alias2)]
    assert len(set(names)) == 12  # none twice, in different columns either
    assert {name.rstrip("0123456789") for name in names} == {"s-s-", "C", "u-", "D"}


@pytest.mark.parametrize("root", ["*", "Any"])
def test_a_column_without_groups_goes_by_everything(root: str) -> None:
    tree = {root: ["a", "b"]} if root != "*" else ["a", "b"]
    names = aliases_of(one(["a", "b"], taxonomy=tree))
    assert sorted(names.alias1) == (["Any-1", "Any-2"] if root == "Any" else ["s-1", "s-2"])


def test_missing_values_stay_missing() -> None:
    table = patients(disease=["Flu", "", "Flu", "", "Flu", "", "Flu"], income=["", "1", "", "2", "3", "4", "5"])
    release, provenance = anonymize(table, "grading")
    assert [text == "" for text in rows(release, provenance.fragment, "disease")] == [False, True] * 3 + [False]
    assert [text == "" for text in rows(release, provenance.fragment, "income")] == [True, False, True] + [False] * 4
    labels = release.labels["income"]
    assert labels.domain.missing not in [c for i in labels.aliases for c in labels.codes(i).tolist()]
    nothing, _ = anonymize(one(["", ""], type="numeric"), "grading")
    assert nothing.labels["s"].texts == ("",)


# ----- choices -------------------------------------------------------------------------------------------------------


def test_people_choose_by_their_value_with_few_exceptions() -> None:
    # 500 flu, 300 gout, 200 measles: u = 0.25, 0.65 and 0.9, so the tendencies are 1, 2 and 3.
    table = one(["flu"] * 5000 + ["gout"] * 3000 + ["measles"] * 2000)
    u = reluctance(table, ["s"], {})
    assert np.unique(u).tolist() == pytest.approx([0.25, 0.65, 0.9])
    assert choose_by_value(u, 0, np.random.default_rng(0)).tolist() == [1] * 5000 + [2] * 3000 + [3] * 2000
    choices = choose_by_value(u, 0.05, np.random.default_rng(0))
    for people, tendency in ((slice(5000), 1), (slice(5000, 8000), 2), (slice(8000, None), 3)):
        shares = [float((choices[people] == number).mean()) for number in (1, 2, 3)]
        assert shares[tendency - 1] == pytest.approx(0.95, abs=0.015)
        assert [share for i, share in enumerate(shares) if i != tendency - 1] == pytest.approx([0.025] * 2, abs=0.012)
    assert (choices == choose_by_value(u, 0.05, np.random.default_rng(0))).all()


def test_drawn_choices_go_by_how_common_a_value_is() -> None:
    # 900 flu, 100 measles: u = 0.45 and 0.95, kept below 0.9. P(1) = 0.55² = 0.30 and 0.01; P(3) = 0.20 and 0.81.
    table = one(["flu"] * 9000 + ["measles"] * 1000)
    choices = draw_choices(reluctance(table, ["s"], {}), np.random.default_rng(0))
    flu, measles = Counter(choices[:9000].tolist()), Counter(choices[9000:].tolist())
    assert flu[1] / 9000 == pytest.approx(0.3025, abs=0.02)
    assert flu[3] / 9000 == pytest.approx(0.2025, abs=0.02)
    assert measles[1] / 1000 == pytest.approx(0.01, abs=0.01)
    assert measles[3] / 1000 == pytest.approx(0.81, abs=0.04)
    assert measles[1] > 0  # an exception


def test_named_values_and_groups_are_grave() -> None:
    table = patients({"choice": {"role": "neutral"}}, **{c: texts * 300 for c, texts in PATIENTS.items()})
    flu = table.codes["disease"] == 0
    usual = reluctance(table, ["disease"], {})
    named = reluctance(table, ["disease"], {"disease": ["Flu"]})
    group = reluctance(table, ["disease"], {"disease": ["Respiratory"]})
    assert (named[flu] == 1).all()
    assert (usual[flu] < 2 / 3).all()
    assert (named[~flu] == usual[~flu]).all()
    assert (group[np.isin(table.codes["disease"], [0, 1])] == 1).all()
    assert (choose_by_value(named, 0.05, np.random.default_rng(1))[flu] == 3).mean() > 0.9
    assert (draw_choices(named, np.random.default_rng(1))[flu] == 3).mean() > 0.75


# ----- what attacks and statistics make of it ------------------------------------------------------------------------


def test_beliefs_are_exact_narrowed_or_what_is_not_shown() -> None:
    table = patients()
    release, provenance = anonymize(table, "grading")
    prior = np.array([0.4, 0.2, 0.3, 0.1])
    cells = release.block_of("disease").cell("disease")[provenance.fragment[:, 0]]
    beliefs = meaning(release, "disease", prior).toarray()[cells]
    assert beliefs[0].tolist() == [1, 0, 0, 0]  # choice 1: flu
    # Of seven people 2.8, 1.4, 2.1 and 0.7 are to be expected. Two show their flu: 0.8 are left.
    assert beliefs[2].tolist() == pytest.approx([0.8 / 2.2, 1.4 / 2.2, 0, 0])  # choice 2: something respiratory
    # Two say respiratory, one digestive: 0.07 (0.5 at least), 0.13 (0.5), 1.35 and 0.45 (0.5) are left for who chose 3.
    assert beliefs[1].tolist() == pytest.approx([0.5 / 2.85, 0.5 / 2.85, 1.35 / 2.85, 0.5 / 2.85])
    income = meaning(release, "income", np.full(7, 1 / 7)).toarray()
    assert income == pytest.approx(np.full((7, 7), 1 / 7))


def test_attacks_are_honest() -> None:
    table = patients()
    release, provenance = anonymize(table, "grading")
    found = audit(release, original=table, provenance=provenance).to_frame()
    found = found[(found.status == "ok") & (found.link == "class")].set_index(["attack", "sensitive", "measure"])
    # Everybody's quasi-identifiers are unique: the two who chose 1 are known for certain, and nobody's income.
    assert found.loc[("homogeneity", "disease", "certain"), "value"] == 2
    assert found.loc[("homogeneity", "income", "certain"), "value"] == 0
    for measure in ("mean", "window", "success"):  # a graded number tells nothing beyond the prior
        row = found.loc[("proximity", "income", measure)]
        assert row["value"] == pytest.approx(row["baseline"])
    # Flu, the prior's mode bronchitis for the two who hide (one right), bronchitis twice for the respiratory group (it is the
    # commoner one), and one of two equally common digestive diseases: (2 + 1 + 2 + 1/2)/7.
    assert found.loc[("homogeneity", "disease", "success"), "value"] == pytest.approx(5.5 / 7)


def test_class_statistics_count_aliases_apart_and_keep_the_order() -> None:
    table = patients(age=["30"] * 4 + ["50"] * 3, sex=["F"] * 7)
    release, provenance = anonymize(table, "grading")
    plain, _ = anonymize(table, "identity")
    assert sensitive_facts(release, "income").t_ordered == pytest.approx(sensitive_facts(plain, "income").t_ordered)
    assert sensitive_facts(release, "income").values == 7
    assert sensitive_facts(release, "disease").values == len(set(rows(release, provenance.fragment, "disease")))
    ordinal = one(["low", "high", "low"], type="ordinal", order=["low", "high"])
    hidden, _ = anonymize(ordinal, "grading", grave=[["s", "low", "high"]], exceptions=0.0)
    assert len(hidden.labels["s"].aliases) == len(hidden.labels["s"].texts)  # all of them
    assert sensitive_facts(hidden, "s").t_ordered is None


# ----- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"categories": 0}, "categories must be at least 1. Got 0"),
        ({"digits": 0}, "digits must be at least 1. Got 0"),
        ({"exceptions": 1.5}, "exceptions must be a share between 0 and 1. Got 1.5"),
        ({"choices": "by_mood"}, "choices must be one of by_value, drawn"),
        ({"bounds": [["income", 1, 2, 3]]}, "pairs of their least and greatest number. Got 3 numbers"),
        ({"bounds": [["income", 5, 2]]}, "Category 1 does"),
        ({"bounds": [["income", 1, 10, 10, 20]]}, "Those from 1 to 2 do not"),
        ({"bounds": [["income", "1", "2"]]}, "must be numbers"),
        ({"bounds": [[5, 1, 2]]}, "must begin with a column"),
        ({"grave": [["disease", "Flu"], ["disease", "Gout"]]}, "none twice"),
        (
            {"bounds": [["income", 10000, 20000, 22000, 30000], ["age", 1, 2]]},
            "bounds must name a numeric sensitive column",
        ),
        ({"bounds": [["income", 10000, 20000, 22500, 30000]]}, "1 of them is in none"),
        (
            {"grave": [["disease", "Flue"]]},
            "'Flue' is no value or group of 'disease'.",
        ),
        (
            {"grave": [["income", "1"]]},
            "grave must name a categorical sensitive column. Got 'income'; there are: disease",
        ),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        anonymize(patients({"choice": {"role": "neutral"}}), "grading", **settings)


def test_tables_that_cannot_be_graded_are_refused() -> None:
    with pytest.raises(
        TableError, match=r"patients, row 3, column 'choice': a choice must be 1, 2 or 3\. Got a value of 1 character"
    ):
        anonymize(patients(choice=["1", "2", "4", "1", "0", "1", "1"]), "grading")
    with pytest.raises(TableError, match="Got an empty value"):
        anonymize(patients(choice=["1", "2", "", "1", "1", "1", "1"]), "grading")
    with pytest.raises(PromiseError, match="at most one column"):
        anonymize(patients({"sex": {"role": "choice"}}), "grading")
    with pytest.raises(PromiseError, match="at least one column with role"):
        anonymize(patients({"income": {"role": "neutral"}, "disease": {"role": "neutral"}}), "grading")
    with pytest.raises(PromiseError, match="lie too close together"):
        anonymize(
            one(["0", "0.0000001", "0.0000002", "9007199254740000"], type="numeric"), "grading", categories=1, digits=16
        )


def test_settings_from_text() -> None:
    method = Grading.configure({"bounds": '[["age", 17, 30.5]]', "grave": '[["disease", "HIV"]]', "categories": "3"})
    assert method == Grading(3, (("age", 17.0, 30.5),), (("disease", "HIV"),))
    assert Grading.configure({"digits": "16", "choices": "drawn"}).title == "grading digits=16 choices=drawn"
    assert method.title == "grading categories=3"
