"""Overlapping sensitive labels: a class may have fewer values than labels, and a value a larger share."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from auditor.files.releases import read_release
from auditor.measure.class_figures import class_figures
from auditor.measure.classes import class_facts
from auditor.model.release import Release
from auditor.model.schema import Schema

TAXONOMY = {"Lung": ["flu", "cough", "cold"], "Skin": ["rash", "acne"]}
HOLDS = {
    **{leaf: {leaf} for leaves in TAXONOMY.values() for leaf in leaves},
    **{group: set(leaves) for group, leaves in TAXONOMY.items()},
    "{flu, rash}": {"flu", "cough", "cold", "rash"},  # as from the least to the greatest in the order of the leaves
}


def release_of(cells: list[tuple[str, str]]) -> Release:
    schema = Schema.from_dict(
        {"columns": {"zip": {"role": "quasi"}, "disease": {"role": "sensitive", "taxonomy": TAXONOMY}}}
    )
    zips, diseases = zip(*cells, strict=True)
    return read_release(pd.DataFrame({"zip": zips, "disease": diseases}), schema, np.random.default_rng(0)).release


def test_six_people_who_may_all_have_flu() -> None:
    """Three `flu` and three `Lung`: every one may have flu, so there is one value at worst, of share 1."""
    (facts,) = class_facts(release_of([("a", "flu")] * 3 + [("a", "Lung")] * 3)).sensitive
    assert (facts.l_distinct, facts.alpha, facts.labels_overlap) == (1, 1.0, True)
    assert facts.l_entropy is None
    assert facts.l_recursive_c is None


def test_labels_that_are_apart_count_as_they_are() -> None:
    (facts,) = class_facts(release_of([("a", "flu"), ("a", "Skin"), ("a", "cough"), ("a", "cough")])).sensitive
    assert (facts.l_distinct, facts.alpha, facts.labels_overlap) == (3, 0.5, False)
    assert facts.l_entropy is not None


def test_withheld_values_are_a_value_of_their_own() -> None:
    (facts,) = class_facts(release_of([("a", "flu"), ("a", "*"), ("a", "Lung"), ("a", "*")])).sensitive
    assert (facts.l_distinct, facts.alpha) == (2, 0.5)


@pytest.mark.parametrize("seed", range(40))
def test_against_every_way_to_choose_values(seed: int) -> None:
    """The least number of values is that over all ways to give each label one of the values it may hold."""
    rng = np.random.default_rng(seed)
    texts = list(HOLDS)
    cells = [(str(rng.integers(2)), texts[rng.integers(len(texts))]) for _ in range(8)]
    release = release_of(cells)
    (facts,) = class_facts(release).sensitive
    least, most = [], []
    for zone in {zone for zone, _ in cells}:
        mine = [text for where, text in cells if where == zone]
        distinct = sorted(set(mine))
        least.append(min(len(set(choice)) for choice in product(*(HOLDS[text] for text in distinct))))
        leaves = {leaf for text in mine for leaf in HOLDS[text]}
        most.append(max(sum(leaf in HOLDS[text] for text in mine) for leaf in leaves) / len(mine))
    if facts.labels_overlap:
        assert facts.l_distinct == min(least)
        assert facts.alpha == pytest.approx(max(most))
    else:
        assert facts.l_distinct == min(len({t for z, t in cells if z == zone}) for zone in {z for z, _ in cells})
    found = class_figures(release, "l_distinct")
    assert found is not None
    assert facts.l_distinct == found.min()
