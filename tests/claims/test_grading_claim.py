"""Table V of the grading paper: does a decision tree learn as much from the graded Adult data as from the original?

The paper (C4.5, 45222 rows, cross-validated inside each table) prints the same accuracy for T and T': work class 74.87,
marital status 69.36, occupation 32.23; education itself falls from 41.67 to 39.64.

Verdict: it holds for the graded numbers and nearly for the aliases. Grading age alone changes nothing, since a tree sees the
order of numbers only. Aliases cost little but not nothing: each education goes by up to three names (its own and two
aliases), and a tree has to find them all. Measured here, five folds, seed 0: work class 74.72 → 74.71, marital status
67.62 → 67.57, occupation 33.33 → 32.87. As the class to be learned, education falls as far as in print: 42.08 → 39.93, with
choices by value and 5 % exceptions, as the paper filled them in. Where they are drawn by how rare a value is, its three
names are three classes that nothing tells apart, and it falls to 26.04.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.adult import NAMES
from tests.support.grading_cases import rows

USED = ("age", "sex", "race", "workclass", "education", "marital-status", "occupation")

Columns = dict[str, list[str]]


def adult(data: Path) -> Table:
    """Both parts of Adult without `?`, with the seven attributes and the sensitive ones of the paper."""
    names, found = NAMES.split(","), []
    for part in ("adult.data", "adult.test"):
        for line in (data / "data" / "adult" / part).read_text().splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == len(names) and "?" not in cells:
                found.append([cells[names.index(name)] for name in USED])
    columns: dict[str, dict[str, str]] = {name: {"role": "quasi"} for name in USED}
    columns["age"] = {"role": "sensitive", "type": "numeric"}
    hierarchy = data / "data" / "adult" / "hierarchies" / "adult_hierarchy_education.csv"
    columns["education"] = {"role": "sensitive", "taxonomy": str(hierarchy)}
    cells = {name: [row[place] for row in found] for place, name in enumerate(USED)}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("adult", cells)])
    return table


def published(release: Release, fragment: np.ndarray) -> Columns:
    return {name: rows(release, fragment, name) for name in USED}


def accuracy(columns: Columns, target: str) -> float:
    """The cross-validated share of right predictions by a tree: nominal columns one column a value, numbers as they are."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    parts = [np.array(columns["age"], dtype=np.float64)[:, None]]
    for name, texts in columns.items():
        if name not in ("age", target):
            values, code = np.unique(texts, return_inverse=True)
            parts.append(np.eye(len(values))[code])
    tree = DecisionTreeClassifier(min_samples_leaf=25, ccp_alpha=0.0001, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(tree, np.column_stack(parts), np.array(columns[target]), cv=folds).mean())


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.proof(only=True)
def test_a_tree_learns_nearly_as_much_from_the_graded_table(data_folder: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (the extra dev has it)")
    table = adult(data_folder)
    assert table.rows == 45222
    original: Columns = {name: table.texts(name) for name in USED}
    release, provenance = anonymize(table, "grading", seed=0)
    graded = published(release, provenance.fragment)
    printed = {"workclass": 0.7487, "marital-status": 0.6936, "occupation": 0.3223}
    lost = {}
    for target, paper in printed.items():
        before = accuracy(original, target)
        assert before == pytest.approx(paper, abs=0.03)  # another tree than Weka's, about as good
        assert accuracy({**original, "age": graded["age"]}, target) == pytest.approx(before, abs=0.0005)
        lost[target] = before - accuracy(graded, target)
    # "Unchanged" does not hold to the second digit that the paper prints, but within a percentage point.
    assert max(lost.values()) < 0.012, lost
    assert lost["occupation"] > 0.002
    before = accuracy(original, "education")
    assert before - accuracy(graded, "education") == pytest.approx(0.0203, abs=0.005)  # what the paper lost
    release, provenance = anonymize(table, "grading", seed=0, choices="drawn")
    assert before - accuracy(published(release, provenance.fragment), "education") > 0.1
