"""Every class statistic against a slow version with dictionaries, on random releases of every kind."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.measure.classes import class_facts
from auditor.measure.counts import Entries, counted, entries
from auditor.model.labels.labels import Labels
from auditor.model.publishing import publish
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Release, Suppression, WithheldCells
from auditor.model.schema import Schema
from auditor.model.table import Table
from tests.measure.test_class_statistics import COLUMNS

# ----- counts --------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=40), st.integers(0, 50))
def test_counts_are_those_of_a_dictionary(people: list[tuple[int, int]], spare: int) -> None:
    # `spare` further values that do not occur: the counts are laid out in full, or sorted
    row, column = np.array(people).T
    found = counted(row.astype(np.int64), column.astype(np.int64), 7, 5 + spare)
    slow = Counter(people)
    assert list(zip(found.row.tolist(), found.column.tolist(), strict=True)) == sorted(slow)
    assert found.count.tolist() == [slow[key] for key in sorted(slow)]
    assert found.sizes.tolist() == [sum(r == c for r, _ in people) for c in range(7)]
    assert found.whole.tolist() == [sum(v == c for _, v in people) for c in range(5 + spare)]
    assert found.distinct.tolist() == [len({v for r, v in people if r == c}) for c in range(7)]
    again = entries(_dense(found))
    assert again.count.tolist() == found.count.tolist()
    order = np.array([4, 0, 2])
    assert (_dense(found.arranged(order)) == _dense(found)[:, order]).all()


def _dense(found: Entries) -> np.ndarray[Any, Any]:
    dense = np.zeros((len(found.sizes), found.values), dtype=np.int64)
    dense[found.row, found.column] = found.count
    return dense


# ----- against slow versions -----------------------------------------------------------------------------------------

GROUP = {"flu": "Lung", "asthma": "Lung", "ulcer": "Stomach", "gastritis": "Stomach"}
Class = list[dict[str, str]]


def slow_facts(classes: list[Class], rows: Class, column: str, l: int, epsilon: float) -> dict[str, float | None]:
    """Every statistic from its definition, class by class, with dictionaries; classes are compared with all rows, those in no
    class included."""
    everybody = [person[column] for person in rows]
    q = {v: n / len(everybody) for v, n in Counter(everybody).items()}
    out: dict[str, float | None] = dict.fromkeys(
        ("alpha", "l_recursive_c", "t_equal", "beta_basic", "delta_disclosure"), 0.0
    )
    out |= {
        "l_distinct": math.inf,
        "l_entropy": math.inf,
        "t_ordered": None,
        "t_hierarchical": None,
        "proximity_m": None,
    }
    beyond = False
    for members in classes:
        cell = [person[column] for person in members]
        count = Counter(cell)
        p = {v: count[v] / len(cell) for v in q}
        down = sorted(count.values(), reverse=True)
        tail = sum(down[l - 1 :])
        highest = {
            "alpha": max(p.values()),
            "l_recursive_c": down[0] / tail if tail else math.inf,
            "t_equal": sum(abs(p[v] - q[v]) for v in q) / 2,
            "beta_basic": max((p[v] - q[v]) / q[v] for v in q),
            "delta_disclosure": max(abs(math.log(p[v] / q[v])) if p[v] else math.inf for v in q),
        }
        if column in ("income", "grade"):
            values = sorted(q, key=float) if column == "income" else [g for g in ("low", "middle", "high") if g in q]
            steps = [sum(p[v] - q[v] for v in values[: i + 1]) for i in range(len(values))]
            highest["t_ordered"] = sum(map(abs, steps)) / max(len(values) - 1, 1)
        if column == "disease":
            # what stays within a group costs 1/2, what crosses the root 1; as much as can stays within
            moved = sum(max(p[v] - q[v], 0) for v in q)
            net = {g: sum(p[v] - q[v] for v in q if GROUP[v] == g) for g in GROUP.values()}
            across = sum(max(d, 0) for d in net.values())
            highest["t_hierarchical"] = across + (moved - across) / 2
        for name, value in highest.items():
            out[name] = max(out[name] or 0.0, value)
        entropy = -sum(x * math.log(x) for x in p.values() if x)
        out["l_entropy"] = min(out["l_entropy"] or 0.0, math.exp(entropy))
        out["l_distinct"] = min(out["l_distinct"] or 0.0, len(count))
        if column == "income":
            near = max(sum(abs(float(a) - float(b)) <= epsilon for b in cell) for a in cell)
            out["proximity_m"] = min(out["proximity_m"] or math.inf, len(cell) / near)
        beyond |= any((p[v] - q[v]) / q[v] > -math.log(q[v]) + 1e-9 for v in q)
    out["beta_enhanced"] = None if beyond else out["beta_basic"]
    return {name: None if value == math.inf else value for name, value in out.items()}


people = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["20", "30", "40", "", "*"]),
        "sex": st.sampled_from(["f", "m", "*"]),
        "disease": st.sampled_from(sorted(GROUP)),
        "income": st.sampled_from(["10", "20", "25", "60", "110"]),
        "grade": st.sampled_from(["low", "middle", "high"]),
        "w": st.sampled_from(["1", "2.5", "40"]),
    }
)
BLOCKS = {
    "generalised": [["age", "sex", "disease", "income", "grade", "w"]],
    "bucketized": [["age", "sex", "w"], ["disease", "income", "grade"]],
    "sliced": [["age", "disease"], ["sex", "grade"], ["income"], ["w"]],
}


def published(rows: list[dict[str, str]], blocks: list[list[str]], bucket: list[int]) -> Release:
    """These rows as a release of these blocks; its ages are those of a table in which none is withheld."""
    cells = {c: [row[c] for row in rows] for c in COLUMNS}
    spread = {"age": ["20", "30", "40", ""], "sex": ["f", "m"], "income": ["10", "110"]}
    size = max(map(len, spread.values()))
    whole = {c: [t for t in texts if t != "*"] + spread.get(c, []) for c, texts in cells.items()}
    longest = max(size, *map(len, whole.values()))
    table = Table.from_frame(
        pd.DataFrame({c: texts + [texts[0]] * (longest - len(texts)) for c, texts in whole.items()}),
        Schema.from_dict({"columns": COLUMNS}),
    )
    labels, numbers = {}, {}
    for column, texts in cells.items():
        distinct = sorted(set(texts))
        labels[column] = Labels.read(table.domains[column], distinct, str)
        numbers[column] = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    return publish(table.schema, labels, numbers, blocks, np.array(bucket), np.random.default_rng(0))[0]


def slow_classes(rows: list[dict[str, str]], kind: str, bucket: list[int], suppression: str) -> list[Class]:
    """The classes as lists of people, in any order."""
    if kind != "generalised":
        return [[row for row, b in zip(rows, bucket, strict=True) if b == number] for number in sorted(set(bucket))]
    groups: dict[tuple[str, str], Class] = {}
    for row in rows:
        groups.setdefault((row["age"], row["sex"]), []).append(row)
    withheld = groups.pop(("*", "*"), None) if len(groups) > 1 else None
    return [*groups.values(), *([withheld] if withheld and suppression == "own" else [])]


@given(
    st.lists(people, min_size=1, max_size=30),
    st.sampled_from(sorted(BLOCKS)),
    st.sampled_from(sorted(Suppression)),
    st.sampled_from(sorted(WithheldCells)),
    st.data(),
)
def test_every_statistic_is_its_definition(
    rows: list[dict[str, str]], kind: str, suppression: Suppression, cells: WithheldCells, data: st.DataObject
) -> None:
    bucket = [data.draw(st.integers(0, 3)) for _ in rows]
    l, epsilon = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.0, 5.0, 15.0, 50.0]))
    facts = class_facts(published(rows, BLOCKS[kind], bucket), suppression, l, epsilon, threshold=0.3, cells=cells)
    classes = slow_classes(rows, kind, bucket, suppression)
    sizes = [len(members) for members in classes]
    assert {int(s): n for s, n in facts.class_sizes.items()} == Counter(sizes)
    for column in ("disease", "income", "grade"):
        (found,) = [f for f in facts.sensitive if f.column == column]
        for name, expected in slow_facts(classes, rows, column, l, epsilon).items():
            close = expected if expected is None else pytest.approx(expected, abs=1e-9)
            assert getattr(found, name) == close, (column, name)
    _same_risk(facts, classes, sizes, kind)
    if kind == "generalised":
        assert facts.weighted is not None
        each = [_individual(members) for members in slow_alike(rows, suppression, cells)]
        assert facts.weighted.max == pytest.approx(max(each))
        assert facts.weighted.reidentified == pytest.approx(sum(each))
        assert facts.weighted.at_risk == sum(one > 0.3 + 1e-12 for one in each)


def slow_alike(rows: Class, suppression: str, cells: str) -> list[Class]:
    """For each record that counts, the records that agree with it."""
    nothing = [row["age"] == row["sex"] == "*" for row in rows]
    nothing = nothing if not all(nothing) else [False] * len(rows)
    counted = [(row, no) for row, no in zip(rows, nothing, strict=True) if not no or suppression != "excluded"]

    def fits_any(row: dict[str, str], no: bool, column: str) -> bool:
        return row[column] == "*" and (suppression if no else cells) == "wildcard"

    def agree(one: tuple[dict[str, str], bool], two: tuple[dict[str, str], bool]) -> bool:
        pairs = [(c, fits_any(*one, c) or fits_any(*two, c)) for c in ("age", "sex")]
        return all(fits or one[0][c] == two[0][c] for c, fits in pairs)

    return [[two[0] for two in counted if agree(one, two)] for one in counted]


def _same_risk(facts: ReleaseFacts, classes: list[Class], sizes: list[int], kind: str) -> None:
    if kind != "generalised":
        assert (facts.k, facts.risk) == (None, None)
        assert facts.weighted is not None
        assert "several blocks" in (facts.weighted.reason or "")
        return
    chances = [1 / size for size in sizes for _ in range(size)]
    risk = facts.risk
    assert risk is not None
    assert facts.k == min(sizes)
    assert (risk.records, risk.sample_uniques) == (len(chances), sizes.count(1))
    assert risk.at_risk == sum(chance > 0.3 for chance in chances)
    assert (risk.prosecutor_max, risk.prosecutor_min) == (max(chances), min(chances))
    assert risk.prosecutor_mean == pytest.approx(sum(chances) / len(chances))
    agreeing = _agreeing(classes)
    if agreeing:
        assert (risk.wildcard_max, risk.wildcard_min) == (1 / min(agreeing), 1 / max(agreeing))
        assert risk.wildcard_mean == pytest.approx(sum(1 / n for n in agreeing) / len(agreeing))


def _agreeing(classes: list[Class]) -> list[int]:
    """For each person, rows of which all is withheld left out where there are others, how many agree with them."""
    rows = [(person["age"], person["sex"]) for members in classes for person in members]
    said = [row for row in rows if row != ("*", "*")] or rows
    return [sum(all(a == b or "*" in (a, b) for a, b in zip(one, two, strict=True)) for two in said) for one in said]


def _individual(members: Class) -> float:
    f, people_meant = len(members), sum(float(person["w"]) for person in members)
    if people_meant <= f:
        return 1 / f
    p = f / people_meant
    odds, log = p / (1 - p), math.log(1 / p)
    return odds * log if f == 1 else odds - odds**2 * log if f == 2 else p / (f - (1 - p))
