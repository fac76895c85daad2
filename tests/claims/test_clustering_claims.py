"""What El-Rashidy et al. 2011 claim about their clustering algorithms, on Adult (30162 rows), with the verdict.

Eight quasi-identifiers as in the paper (it says nine and names eight), fourteen attributes and the salary class. k-means and
one-pass k-means compare rows by all columns, k-member by the quasi-identifiers, as the paper says. Columns are scaled to
0..1 in the square error; the taxonomies are those of ARX, since the paper does not print its own. All is measured on what is
published, where classes with the same labels are one. Ten rounds of k-means; more change the errors by a few percent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from anonymizers.anonymizing import anonymize
from auditor.measure.clustering import information_loss, square_error
from auditor.measure.utility import Case
from auditor.measure.utility.sizes import discernibility
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.adult import NAMES
from tests.support.lengths import at_length

pytestmark = [pytest.mark.data, pytest.mark.slow]

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
COLUMNS = tuple(NAMES.split(","))
K = at_length([20], [5, 50])


@dataclass(frozen=True)
class Figures:
    """Square error over all columns, information loss and discernibility of one release."""

    error: float
    loss: float
    discernibility: float


def adult(data: Path) -> Table:
    folder = data / "data" / "adult"
    cells = [[c.strip() for c in line.split(",")] for line in (folder / "adult.data").read_text().splitlines()]
    rows = [row for row in cells if len(row) == len(COLUMNS) and "?" not in row]
    columns: dict[str, dict[str, str]] = {}
    for name in COLUMNS:
        role = "quasi" if name in QUASI else "sensitive" if name == "salary-class" else "neutral"
        columns[name] = {"role": role}
        if name in NUMERIC:
            columns[name]["type"] = "numeric"
        elif name in QUASI:
            columns[name]["taxonomy"] = str(folder / "hierarchies" / f"adult_hierarchy_{name}.csv")
    raw = RawTable("adult", {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)})
    (table,) = encode(Schema.from_dict({"columns": columns}), [raw])
    return table


Measured = Callable[[str, int], Figures]


@pytest.fixture(scope="module")
def figures(data_folder: Path) -> Measured:
    """The figures of a method at some k, each found once."""
    table = adult(data_folder)

    @cache
    def measured(method: str, k: int) -> Figures:
        everything = {} if method == "kmember" else {"attributes": "all"}
        rounds = {"iterations": 10} if method.startswith("kmeans") else {}
        release, provenance = anonymize(table, method, 1, k=k, **everything, **rounds)
        loss, lost = information_loss(release).value, discernibility(Case(release, k=k))[0].value
        assert loss is not None
        assert lost is not None
        error = square_error(table, COLUMNS, provenance.bucket.astype("int64"))
        return Figures(error, float(loss), float(lost))

    return measured


@pytest.mark.parametrize("k", K)
def test_algorithm_1_has_the_least_square_error_of_the_three(figures: Measured, k: int) -> None:
    """Figure 5. It holds: at k = 5 about 5400, 6200 and 7800 for algorithms 1, 2 and 3."""
    first = figures("kmeans1", k).error
    assert first < figures("kmeans2", k).error
    assert first < figures("kmeans3", k).error


@pytest.mark.parametrize("k", K)
def test_algorithm_1_has_a_smaller_square_error_than_its_rivals(figures: Measured, k: int) -> None:
    """Figure 6. It holds: at k = 5 about 5400 against 8200 (one-pass k-means) and 13400 (k-member, which looks at
    quasi-identifiers only)."""
    assert figures("kmeans1", k).error < figures("oka", k).error < figures("kmember", k).error


@pytest.mark.parametrize("k", K)
def test_k_member_has_the_least_information_loss(figures: Measured, k: int) -> None:
    """Figure 7. It holds: at k = 5 about 16400 against 28000 (algorithm 1) and 36000 (one-pass k-means)."""
    assert figures("kmember", k).loss < figures("kmeans1", k).loss < figures("oka", k).loss


@pytest.mark.parametrize("k", K)
def test_discernibility_is_close(figures: Measured, k: int) -> None:
    """Figure 8. It holds for clusters, which have k rows or one or two more; of published classes at k = 20 and
    50 (within 2 %), and less so at k = 5: k-member makes many classes with the same labels, and is 14 % above
    one-pass k-means."""
    found = [figures(method, k).discernibility for method in ("kmember", "oka", "kmeans1")]
    assert max(found) <= (1.2 if k == 5 else 1.03) * min(found)
    if k == 5:
        assert found[0] > 1.1 * found[1]
