"""Labels: what they hide and cover, and what is written read back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels, write_label
from auditor.model.labels.notation import Reader
from auditor.model.publishing import publish
from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.model.values import can_be_counted_with
from tests.model.test_notation import AGES, DISEASES, ORDER, TREE, domain, numbers, read, values


def test_a_published_interval_keeps_its_own_bounds() -> None:
    labels = read(AGES, "[18, 42[", "20", "<20", ">=80", "33.25", "*", "{20, 40}", "[95, 99]")
    assert labels.low.tolist() == [18, 20, 17, 80, 33.25, 17, 20, 95]
    assert labels.high.tolist() == [41, 20, 19, 90, 33.25, 90, 40, 99]  # ages are whole numbers: up to 41 and 19
    # The loss is the width over the range of 73 years; a centroid covers nothing, and its loss is not known.
    assert labels.losses == pytest.approx([23 / 73, 0, 2 / 73, 10 / 73, 0, 1, 20 / 73, 4 / 73])
    assert labels.counts.tolist() == [4, 1, 1, 2, 0, 7, 2, 0]
    assert labels.suppressed.tolist() == [False] * 5 + [True] + [False] * 2


def test_open_ends_of_numbers_with_fractions_stay() -> None:
    labels = read(domain(["20.5", "30", "40"], type="numeric"), "[20.5, 40[", "]20.5, 30]")
    assert (labels.low.tolist(), labels.high.tolist()) == ([20.5, 20.5], [40, 30])
    whole = read(domain(["20", "30", "40"], type="numeric"), "]20, 30.5]", "]30, 31[")
    assert (whole.low.tolist(), whole.high.tolist()) == ([21, 30], [30, 31])  # nothing lies in the second


def test_the_loss_is_measured_against_the_declared_range() -> None:
    dom = domain(["20", "30", "40"], type="numeric", domain=[0, 100])
    # [20, 40] covers every value that occurs, and yet a fifth of the range only.
    assert read(dom, "[20, 40]", "*", "****", "20").losses == pytest.approx([0.2, 1, 1, 0])


def test_labels_may_overlap_in_one_column() -> None:
    labels = read(AGES, "[20, 40]", "[25, 80]", "{17, 25}")
    code = np.full(3, AGES.code("25"), dtype=np.int32)
    assert labels.covers(np.arange(3, dtype=np.int32), code).tolist() == [True, True, True]
    code = np.full(3, AGES.code("20"), dtype=np.int32)
    assert labels.covers(np.arange(3, dtype=np.int32), code).tolist() == [True, False, False]


@given(st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=6), st.data())
def test_labels_cover_the_codes_of_their_sets(sets: list[set[int]], data: st.DataObject) -> None:
    dom = domain([str(n) for n in range(8)])
    labels = read(dom, *("{" + ", ".join(map(str, sorted(one))) + "}" for one in sets))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, len(sets) - 1), st.integers(0, 7)), max_size=12))
    label, code = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    assert labels.covers(label, code).tolist() == [number in sets[one] for one, number in pairs]


def test_exact_labels_are_the_codes() -> None:
    dom = domain(["10", "?", "20"], {"missing": ["?"]}, type="numeric")
    labels = Labels.exact(dom)
    assert labels.texts == ("10", "20", "?")
    assert labels.lo.tolist() == labels.hi.tolist() == [0, 1, 2]
    assert labels.low.tolist()[:2] == [10, 20]
    assert np.isnan(labels.low[2])
    assert labels.losses.tolist() == [0, 0, 0]


def test_a_column_that_is_withheld_altogether() -> None:
    labels = read(domain([]), "*")
    assert (labels.counts.tolist(), labels.losses.tolist(), labels.suppressed.tolist()) == ([0], [1.0], [True])


# ----- writing --------------------------------------------------------------------------------------------------------


def write(dom: Domain, *codes: int) -> str:
    return write_label(dom, np.array(codes, dtype=np.int32))


def test_the_narrowest_label_is_written() -> None:
    assert write(AGES, 1, 1, 1) == "20"
    assert write(AGES, 3, 1) == "[20, 39]"
    places = domain([""], taxonomy=TREE)
    assert write(places, 3, 4) == "Coast"
    assert write(places, 2, 4) == "South"
    assert write(places, 0, 4) == "**"  # the root is called *, which means suppressed
    assert write(places, 0, 5) == "**"
    assert write(domain([""], taxonomy={"Any": TREE}), 0, 5) == "Any"
    assert write(places, 5) == ""
    assert write(domain([], order=ORDER), 0, 2) == "[low, high]"
    diseases = domain(DISEASES)  # sorted: <=50K; AIDS, late; asthma; flu; flu, mild
    assert write(diseases, 3, 2) == "{asthma, flu}"
    assert write(diseases, 1, 3) == '{"AIDS, late", flu}'
    assert write(diseases, *range(5)) == '{<=50K, "AIDS, late", asthma, flu, "flu, mild"}'
    assert write(domain(list("abcdefghijkl")), *range(12)) == "{a, b, c, d, e, f, g, h, i, j, k, l}"
    assert write(domain(list("abcdefghijklm")), *range(13)) == "**"
    assert write(domain(["a", "b", "c", ""]), 0, 3) == "**"
    assert write(numbers("1", "2", ""), 0, 2) == "**"


def test_a_tree_of_one_value_does_not_hide_a_missing_one() -> None:
    dom = domain(["", "a"], taxonomy=["a"])
    assert write(dom, 0, 1) == "**"
    assert values(dom, "**") == values(dom, "*") == ["a", ""]
    assert read(dom, "**", "*").losses.tolist() == [1, 1]


def test_a_set_that_reads_as_a_value_is_not_written() -> None:
    assert write(domain(["a", "b", "{a, b}"]), 0, 1) == "**"
    assert write(domain([], order=["a", "b", "[a, b]"]), 0, 1) == "**"


def test_everything_by_generalisation_is_not_withheld() -> None:
    for dom in (AGES, domain(["a", "b", ""]), domain([], order=ORDER), domain([""], taxonomy=TREE)):
        labels = read(dom, "**", "*", "****")
        assert labels.suppressed.tolist() == [False, True, False]
        assert labels.counts.tolist() == [dom.size] * 3
        assert labels.losses.tolist() == [1, 1, 1]
    assert read(domain([]), "**").losses.tolist() == [1]
    assert read(numbers(), "**").losses.tolist() == [1]


def test_two_stars_that_mean_something_else() -> None:
    assert values(domain(["**", "a", "b", ""]), "**") == ["**"]
    assert write(domain(["**", "a", ""]), 0, 2) == "***"
    assert write(domain(["a", "b", ""], {"suppressed": ["**", "***"]}), 0, 2) == "****"
    assert write(domain(["a", "b", "**"], {"missing": ["**"]}), 0, 2) == "***"
    assert write(domain(["?"], {"missing": ["?"]}, taxonomy={"*": {"**": ["a", "b"], "c": ["d"]}}), 0, 3) == "***"
    assert write(domain(["?"], {"missing": ["?"]}, taxonomy={"**": ["a", "b"]}), 0, 1) == "**"


def test_a_written_text_that_means_withheld_gives_way() -> None:
    assert write(domain(["a", "b", "c"], {"suppressed": ["{a, b}"]}), 0, 1) == "**"
    assert write(numbers("1", "2", suppressed=["[1, 2]"]), 0, 1) == "**"
    assert write(domain([], {"suppressed": ["Any"]}, taxonomy={"Any": ["a", "b"]}), 0, 1) == "**"
    assert not Labels.read(domain(["*", "a"], role="neutral"), ["*"], str).suppressed.any()  # a value like any other


def test_a_class_that_is_generalised_to_everything_counts() -> None:
    schema = Schema.from_dict({"columns": {"sex": {"role": "quasi"}, "town": {"role": "quasi", "taxonomy": TREE}}})
    (table,) = encode(schema, [RawTable("t", {"sex": ["F", "M", "", "F"], "town": ["Ayton", "Dover", "Cray", "Cray"]})])
    groups = np.array([0, 0, 0, 1])
    labels, cells = {}, {}
    for name in schema.quasi:
        texts = [write_label(table.domains[name], table.codes[name][groups == group]) for group in (0, 1)]
        labels[name] = Labels.read(table.domains[name], texts, str)
        cells[name] = groups.astype(np.int32)
    assert [labels[name].texts[0] for name in schema.quasi] == ["**", "**"]
    release, _ = publish(schema, labels, cells, [schema.quasi], None, np.random.default_rng(0))
    assert (release.suppressed_rows, sorted(release.sizes.tolist())) == (0, [1, 3])


TEXTS = (
    st.text("ab ,;|{}[]<*-\"'7.", min_size=1, max_size=5).map(str.strip).filter(lambda t: t not in ("", "*", "**", "?"))
)


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    """Random domains of all types, with and without a missing value, their texts full of signs that notations use."""
    decimal = draw(st.sampled_from([".", ","]))
    withheld = draw(st.sampled_from([["*"], ["*", "**"], ["(withheld)", "{a, b}", "One group"]]))
    table = {"missing": ["?"], "decimal": decimal, "suppressed": withheld}
    missing = ["?"] if draw(st.booleans()) else []
    kind = draw(st.sampled_from(["numeric", "nominal", "ordinal", "taxonomy", "numeric taxonomy"]))
    if kind == "numeric":
        floats = st.floats(-1e6, 1e6).filter(can_be_counted_with).map(lambda x: repr(x).replace(".", decimal))
        return domain(draw(st.lists(floats, min_size=1, max_size=8)) + missing, table, type="numeric")
    if kind == "numeric taxonomy":
        some = sorted(draw(st.sets(st.integers(-99, 99), min_size=2, max_size=9)))
        cut = draw(st.integers(1, len(some) - 1))
        return domain(missing, table, type="numeric", taxonomy={"small": some[:cut], "large": some[cut:]})
    texts = draw(st.lists(TEXTS, min_size=1, max_size=8, unique=True))
    if kind == "nominal":
        return domain(texts + missing, table)
    if kind == "ordinal":
        return domain(missing, table, order=texts)
    cut = draw(st.integers(1, len(texts)))
    return domain(missing, table, taxonomy=[{"A group": texts[:cut]}, *texts[cut:]])


@given(domains(), st.data())
def test_what_is_written_covers_what_it_was_written_for(dom: Domain, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, dom.size - 1), min_size=1, max_size=6))
    text = write(dom, *codes)
    read_back = read(dom, text).codes(0).tolist()
    assert set(codes) <= set(read_back)
    if len(set(codes)) == 1:
        assert read_back == sorted(set(codes))
    elif text.startswith("{") and dom.taxonomy is None:
        assert read_back == sorted(set(codes))  # a set is exact
    elif text.startswith("[") and dom.taxonomy is None:
        assert read_back == list(range(min(codes), max(codes) + 1))
    elif dom.taxonomy is not None and dom.numbers is None and dom.missing not in codes:
        node = 0 if text == "**" else dom.taxonomy.node(text)
        assert node is not None
        assert dom.taxonomy.common_ancestor(np.array([min(codes)]), np.array([max(codes)]))[0] == node
    assert text not in dom.format.suppressed
    assert not read(dom, text).suppressed.any()
    if dom.missing in codes and len(set(codes)) > 1:
        assert read_back == list(range(dom.size))


NUMBERS = st.sampled_from(
    ["7", "07", "7.0", "-0", ".5", "5.", "1e3", "1e-200", "1e200", " 7", "7 ", "?", "*", "7-9", "small"]
)


@given(domains(), st.lists(NUMBERS | st.floats(-99, 99).map(repr), min_size=1, max_size=8, unique=True))
def test_numbers_read_together_are_those_read_one_by_one(dom: Domain, texts: list[str]) -> None:
    reader = Reader(dom)
    found = {text: one for text in texts if (one := reader.read(text)) is not None}
    if not found:
        return
    labels = read(dom, *found)
    assert labels.lo.tolist() == [one.lo for one in found.values()]
    assert labels.hi.tolist() == [one.hi for one in found.values()]
    assert repr(labels.low.tolist()) == repr([float(one.low) for one in found.values()])
    assert repr(labels.high.tolist()) == repr([float(one.high) for one in found.values()])


@given(domains())
def test_every_value_reads_as_itself(dom: Domain) -> None:
    labels = read(dom, *dom.texts)
    assert labels.lo.tolist() == labels.hi.tolist() == list(range(dom.size))
    assert not labels.gaps
    assert not labels.suppressed.any()
