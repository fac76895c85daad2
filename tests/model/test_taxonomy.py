"""Taxonomies: trees worked by hand, and ancestors against networkx on random trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.errors import SchemaError, TaxonomyError
from auditor.model.schema import Schema
from auditor.model.taxonomy import Taxonomy


@pytest.fixture
def hierarchies(data_folder: Path) -> Path:
    """The ARX hierarchies of Adult; skipped where AUDITOR_DATA does not name the data."""
    return data_folder / "data" / "adult" / "hierarchies"


def nested(value: Any) -> Taxonomy:
    return Taxonomy.from_nested("tree", value)


def filed(folder: Path, text: str) -> Taxonomy:
    file = folder / "tree.csv"
    file.write_text(text, encoding="utf-8")
    return Taxonomy.from_file(file)


def ancestor(taxonomy: Taxonomy, one: str, other: str) -> str:
    low, high = sorted((taxonomy.leaves.index(one), taxonomy.leaves.index(other)))
    return taxonomy.labels[int(taxonomy.common_ancestor(np.array([low]), np.array([high]))[0])]


def span(taxonomy: Taxonomy, label: str) -> tuple[str, ...]:
    node = taxonomy.node(label)
    assert node is not None
    return taxonomy.leaves[taxonomy.lo[node] : taxonomy.hi[node] + 1]


# ----- ARX files ------------------------------------------------------------------------------------------------------


def test_a_file_has_one_line_a_leaf_and_the_root_last(tmp_path: Path) -> None:
    tree = filed(tmp_path, "Flu;Lung;*\nAsthma;Lung;*\n\nUlcer;Gut;*\n")
    assert tree.leaves == ("Flu", "Asthma", "Ulcer")
    assert tree.labels == ("*", "Lung", "Flu", "Asthma", "Gut", "Ulcer")  # preorder
    assert tree.height == 2
    assert tree.parent.tolist() == [-1, 0, 1, 1, 0, 4]
    assert tree.depth.tolist() == [0, 1, 2, 2, 1, 2]
    assert ancestor(tree, "Flu", "Asthma") == "Lung"
    assert ancestor(tree, "Flu", "Ulcer") == "*"
    assert ancestor(tree, "Flu", "Flu") == "Flu"


def test_leaves_of_a_group_need_not_stand_together_in_the_file(tmp_path: Path) -> None:
    tree = filed(tmp_path, "a;G;*\nb;H;*\nc;G;*\n")
    assert tree.leaves == ("a", "c", "b")
    assert span(tree, "G") == ("a", "c")


def test_several_top_groups_get_a_common_root(tmp_path: Path) -> None:
    tree = filed(tmp_path, "a;G\nb;H\n")
    assert tree.labels == ("*", "G", "a", "H", "b")


def test_a_label_repeated_along_a_path_is_one_node(tmp_path: Path) -> None:
    tree = filed(tmp_path, "Other;Other;*\na;G;*\n")
    assert tree.labels == ("*", "Other", "G", "a")
    assert tree.leaves == ("Other", "a")
    assert tree.depth.tolist() == [0, 1, 1, 2]


def test_quotes_a_byte_order_mark_and_spaces_are_read(tmp_path: Path) -> None:
    tree = filed(tmp_path, '\ufeff"a;b" ; G ;*\r\nc;G;*\r\n')
    assert tree.leaves == ("a;b", "c")
    assert span(tree, "G") == ("a;b", "c")


@pytest.mark.data
def test_the_arx_hierarchies_of_adult_are_read(hierarchies: Path) -> None:
    education = Taxonomy.from_file(hierarchies / "adult_hierarchy_education.csv")
    assert (len(education.leaves), education.height) == (16, 3)
    assert ancestor(education, "Bachelors", "Some-college") == "Undergraduate"
    assert ancestor(education, "Bachelors", "11th") == "*"
    files = sorted(hierarchies.glob("*.csv"))
    assert len(files) == 9
    for file in files:
        tree = Taxonomy.from_file(file)
        for line in file.read_text(encoding="utf-8").splitlines():
            leaf, *groups = line.split(";")
            assert all(leaf in span(tree, label) for label in (leaf, *groups))


@pytest.mark.data
def test_the_age_hierarchy_is_numeric_with_bands(hierarchies: Path) -> None:
    schema = Schema.from_dict(
        {"columns": {"age": {"role": "quasi", "type": "numeric", "taxonomy": "adult_hierarchy_age.csv"}}},
        folder=hierarchies,
    )
    tree = schema.columns["age"].taxonomy
    assert tree is not None
    assert tree.leaves == tuple(str(age) for age in range(1, 101))
    # The file puts 20 into "15-19" and 40 into "35-39": the tree says what a band holds, not its name.
    assert span(tree, "20-39") == tuple(str(age) for age in range(21, 41))
    assert ancestor(tree, "21", "25") == "20-24"
    assert ancestor(tree, "20", "21") == "*"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;G;*\nb;*\n", "line 2: must have 3 labels, as the first line has. Got 2."),
        ('"a\nb";G;*\nc;*\n', "line 3: must have 3 labels"),
        ("a;G;*\n\nb;*\nc;*\n", "2 faults"),
        ("a;G;*\nG;H;*\n", "line 1: 'G' must have one parent. Got '*', but 'H' before.|'G' must be a leaf or a group"),
        ("a;G;*\nb;G;T;*\n", "line 2: must have 3 labels, as the first line has. Got 4."),
        ("a;G;*\na;H;*\n", "line 2: 'a' is already listed (line 1)."),
        ("a;G;S\nb;G;T\n", "line 2: 'G' must have one parent. Got 'T', but 'S' before."),
        ("a;G;*\nG;G;*\n", "line 2: 'G' must be a leaf or a group, not both."),
        ("a;G;a\nb;G;a\n", "line 1: a label must not come back further up. Got a → G → a."),
        ("a;;*\nb;G;*\n", "line 1: every label must have a text."),
        ("a,G,*\nb,G,*\n", "labels must be separated by ';'"),
        ("\n \n", "the taxonomy is empty"),
    ],
)
def test_faults_of_a_file_name_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TaxonomyError) as caught:
        filed(tmp_path, text)
    assert str(tmp_path / "tree.csv") in str(caught.value)
    assert any(part in str(caught.value) for part in message.split("|"))


def test_all_faults_of_a_file_are_said(tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError) as caught:
        filed(tmp_path, "a;G;*\nb;*;*\nb;G;*\n;G;*\n")
    assert [fault.split(": ", 1)[1] for fault in caught.value.faults] == [
        "'b' is already listed (line 2).",
        "every label must have a text. Leave missing values out; repeat a label where a path is shorter.",
    ]


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError, match=r"there is no such file\."):
        Taxonomy.from_file(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("Zürich;*\n".encode("cp1252"))
    with pytest.raises(TaxonomyError, match="must be UTF-8 text"):
        Taxonomy.from_file(tmp_path / "latin.csv")


# ----- nesting --------------------------------------------------------------------------------------------------------


def test_nesting_may_be_ragged() -> None:
    tree = nested({"North": ["A", {"Hills": ["B", "C"]}], "South": ["D"]})
    assert tree.leaves == ("A", "B", "C", "D")
    assert tree.height == 3
    # A is at depth 2, B and C at depth 3: the path of A ends in its own node.
    assert [tree.labels[i] for i in tree.path[:, 0]] == ["*", "North", "A", "A"]
    assert [tree.labels[i] for i in tree.path[:, 1]] == ["*", "North", "Hills", "B"]
    assert ancestor(tree, "A", "B") == "North"
    assert ancestor(tree, "B", "C") == "Hills"
    assert ancestor(tree, "C", "D") == "*"


def test_one_top_group_is_the_root() -> None:
    assert nested({"Any": {"G": ["a"], "H": ["b"]}}).labels[0] == "Any"


def test_a_list_is_a_flat_tree_and_one_value_a_tree_of_one_node() -> None:
    assert nested(["b", "a"]).labels == ("*", "b", "a")
    single = nested(["a"])
    assert (single.labels, single.leaves, single.height) == (("a",), ("a",), 0)
    assert ancestor(single, "a", "a") == "a"
    assert single.groups_below(0).tolist() == [0]


def test_numbers_are_texts_in_a_tree() -> None:
    assert nested({"low": [1, 2.5], "high": [3]}).leaves == ("1", "2.5", "3")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"G": ["a"], "H": ["a"]}, "under 'H': 'a' is already listed (under 'G')."),
        ({"G": ["a"], "H": {"G": ["b"]}}, "'G' must have one parent. Got 'H', but '*' before."),
        ({"G": ["a", "H"], "H": ["b"]}, "'H' must "),
        ({"G": [True]}, "must hold tables, lists and values. Got True."),
        ({"G": []}, "the group 'G' must hold at least one value."),
        ({"G": [""]}, "every label must have a text."),
        ([], "must hold at least one value"),
        ({}, "must hold at least one value"),
    ],
)
def test_faults_of_nesting(value: Any, message: str) -> None:
    with pytest.raises(TaxonomyError) as caught:
        nested(value)
    assert message in str(caught.value)
    assert caught.value.faults[0].startswith("tree")


# ----- numbers --------------------------------------------------------------------------------------------------------


def numeric(taxonomy: Any) -> Taxonomy:
    column = {"role": "quasi", "type": "numeric", "taxonomy": taxonomy}
    found = Schema.from_dict({"columns": {"age": column}}).columns["age"].taxonomy
    assert found is not None
    return found


def test_numeric_leaves_are_sorted_by_size_within_their_groups() -> None:
    tree = numeric({"old": ["100", "70"], "young": ["9", "20"]})
    assert tree.leaves == ("9", "20", "70", "100")
    assert span(tree, "young") == ("9", "20")
    assert span(tree, "old") == ("70", "100")


@pytest.mark.parametrize(
    ("taxonomy", "message"),
    [
        ({"odd": ["1", "3"], "even": ["2"]}, "'2' is not above '3'"),
        ({"G": ["1", "1.0"], "H": ["2"]}, "'1.0' is not above '1'"),
        ({"G": ["1", "many"]}, "the leaves of a numeric column's taxonomy must be numbers"),
    ],
)
def test_numeric_groups_hold_neighbours(taxonomy: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        numeric(taxonomy)
    assert message in str(caught.value)
    assert str(caught.value).startswith("schema, [columns.age]")


# ----- properties -----------------------------------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """Random nested taxonomies with unique labels, ragged and of one child too."""
    count = iter(range(10_000))

    def part(depth: int) -> Any:
        if depth == 0 or draw(st.booleans()):
            return f"v{next(count)}"
        return {f"g{next(count)}": [part(depth - 1) for _ in range(draw(st.integers(1, 3)))]}

    return [part(4) for _ in range(draw(st.integers(1, 4)))]


@given(trees())
def test_every_node_is_an_interval_of_codes(value: Any) -> None:
    tree = nested(value)
    graph = nx.DiGraph((int(p), i) for i, p in enumerate(tree.parent) if p >= 0)
    graph.add_node(0)
    for node in range(len(tree.labels)):
        below = [i for i in {node, *nx.descendants(graph, node)} if graph.out_degree(i) == 0]
        codes = sorted(tree.leaf_node.tolist().index(i) for i in below)
        assert codes == list(range(tree.lo[node], tree.hi[node] + 1))
        assert tree.node(tree.labels[node]) == node
        assert tree.depth[node] == nx.shortest_path_length(graph, 0, node)


@given(trees(), st.data())
def test_the_common_ancestor_is_that_of_networkx(value: Any, data: st.DataObject) -> None:
    tree = nested(value)
    graph = nx.DiGraph((int(p), i) for i, p in enumerate(tree.parent) if p >= 0)
    graph.add_node(0)
    codes = st.integers(0, len(tree.leaves) - 1)
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(codes, codes), min_size=1, max_size=10))]
    low, high = np.array(pairs).T
    found = tree.common_ancestor(low, high)
    for node, a, b in zip(found.tolist(), low, high, strict=True):
        assert node == nx.lowest_common_ancestor(graph, int(tree.leaf_node[a]), int(tree.leaf_node[b]))


@given(trees(), st.data())
def test_groups_below_a_level_part_what_is_related_above_it(value: Any, data: st.DataObject) -> None:
    tree = nested(value)
    level = data.draw(st.integers(0, tree.height))
    groups = tree.groups_below(level)
    codes = np.arange(len(tree.leaves))
    for a in codes:
        related = tree.depth[tree.common_ancestor(np.minimum(a, codes), np.maximum(a, codes))] > level
        related[a] = True  # a value is related to itself, at whatever depth it is
        assert ((groups == groups[a]) == related).all()


def test_a_level_outside_the_tree_is_refused() -> None:
    with pytest.raises(TaxonomyError, match=r"a level must be from 0 .* to 1\. Got 2\."):
        nested(["a", "b"]).groups_below(2)
