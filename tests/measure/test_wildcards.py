"""Suppressed cells that fit any value: counted as sdcMicro counts, in every figure that compares records.

sdcMicro's rule (`freqCalc`): the frequency f of a record is the number of records that agree with it in all key variables, a
missing one agreeing with anything; its F is the sum of their sampling weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.auditing.audit import audit
from auditor.measure.individual_risk import individual_risk
from auditor.measure.population_uniqueness import Sample, estimates
from auditor.measure.sample_uniqueness import special_uniques
from auditor.measure.wildcards import Alike
from auditor.model.arrays import Bools, Codes
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.release import Suppression, WithheldCells
from auditor.model.schema import Schema
from auditor.posterior.links import Link
from reports.tables.tables import release_facts
from reports.words.verdicts import verdict
from scenarios.options import Options
from tests.conftest import Ended

QUASI = {"role": "quasi", "type": "nominal"}
COLUMNS = {"a": QUASI, "b": QUASI, "c": QUASI, "d": {"role": "sensitive"}, "w": {"role": "weight", "type": "numeric"}}


def counted(values: Codes, hidden: Bools, weights: list[float]) -> list[tuple[int, float]]:
    """The f and F of each record by sdcMicro's rule, record by record."""
    found = []
    for mine, my in zip(values.tolist(), hidden.tolist(), strict=True):
        f, people = 0, 0.0
        for theirs, their, weight in zip(values.tolist(), hidden.tolist(), weights, strict=True):
            pairs = zip(mine, theirs, my, their, strict=True)
            if all(one == other or h or g for one, other, h, g in pairs):
                f, people = f + 1, people + weight
        found.append((f, people))
    return found


def drawn(seed: int) -> tuple[Codes, Bools, list[float]]:
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    hidden = rng.random(shape) < rng.choice([0.0, 0.1, 0.4])
    return rng.integers(0, 3, shape).astype(np.int32), hidden, rng.integers(1, 9, shape[0]).astype(float).tolist()


@given(st.integers(0, 10_000))
def test_records_agree_as_sdcmicro_counts(seed: int) -> None:
    values, hidden, weights = drawn(seed)
    alike = Alike.of(values, hidden)
    found = alike.agreeing(alike.sums(np.column_stack([np.ones(len(weights)), weights])))
    assert found is not None
    assert found[alike.kind].tolist() == [list(one) for one in counted(values, hidden, weights)]


def frame(values: Codes, hidden: Bools, weights: list[float]) -> pd.DataFrame:
    texts = np.where(hidden, "*", values.astype(str))
    columns = {name: texts[:, place] for place, name in zip(range(texts.shape[1]), "abc", strict=False)}
    return pd.DataFrame({**columns, "d": ["x", "y"] * (len(texts) // 2) + ["x"] * (len(texts) % 2), "w": weights})


def audited(table: pd.DataFrame, **asked: Any) -> AuditRecord:
    schema = Schema.from_dict({"columns": {name: COLUMNS[name] for name in table.columns}})
    return audit(table, schema, options=Options(attacks=("uniqueness", "special-uniques"), utility=(), **asked))


@pytest.mark.parametrize("seed", range(12))
def test_the_audit_counts_as_sdcmicro(seed: int) -> None:
    values, hidden, weights = drawn(seed)
    both = [*counted(values, hidden, weights)]
    # rows with everything suppressed agree with everybody in sdcMicro, which is --suppression wildcard
    record = audited(frame(values, hidden, weights), suppression=Suppression.WILDCARD)
    f, people = np.array([one for one, _ in both]), np.array([one for _, one in both])
    risk = individual_risk(f, people)
    found = record.release.weighted
    assert found is not None
    assert (record.release.withheld_cells, found.people) == ("wildcard", sum(weights))
    assert found.reidentified == pytest.approx(risk.sum(), rel=1e-12)
    assert (found.max, found.at_risk) == (pytest.approx(risk.max()), int((risk > 0.2 + 1e-12).sum()))
    assert record.find("uniqueness", "reidentified").value == pytest.approx(risk.sum(), rel=1e-12)


def test_by_hand_all_figures() -> None:
    # Agreeing records of (1, x) 10, (1, *) 20, (2, x) 5, (*, y) 5, (2, *) 1: the 1st agrees with the 1st and 2nd (f = 2, F =
    # 30), the 2nd with 1, 2, 4 (3, 35), the 3rd with 3, 5 (2, 6), the 4th with 2, 4, 5 (3, 26), the 5th with 3, 4, 5 (3, 11).
    cells = pd.DataFrame({"a": list("112*2"), "b": list("x*xy*"), "d": list("fffgg"), "w": [10, 20, 5, 5, 1]})
    expected = individual_risk(np.array([2, 3, 2, 3, 3]), np.array([30.0, 35, 6, 26, 11]))
    record = audited(cells, settings={"uniqueness": {"population": 100}})
    assert record.release.weighted is not None
    assert record.release.weighted.reidentified == pytest.approx(expected.sum(), rel=1e-12)
    assert record.release.risk is not None
    assert (record.release.risk.sample_uniques, record.release.risk.wildcard_uniques) == (5, 0)
    assert record.find("uniqueness", "unique", model="zayatz").value == 0
    assert record.find("special-uniques", "max").detail["sample_uniques"] == 0
    assert record.find("special-uniques", "max").value == 0
    # as values of their own all five are alone: p = 1/w, (p/q)·ln(1/p), and 1 for the weight 1
    own = audited(cells, cells=WithheldCells.OWN, settings={"uniqueness": {"population": 100}})
    alone = sum(math.log(w) / (w - 1) for w in (10, 20, 5, 5)) + 1
    assert own.release.withheld_cells == "own"
    assert own.release.weighted is not None
    assert own.release.weighted.reidentified == pytest.approx(alone)
    assert own.find("special-uniques", "max").detail["sample_uniques"] == 5
    assert own.find("uniqueness", "unique", model="dankar").detail["sample_uniques"] == 5


@pytest.mark.parametrize("suppression", list(Suppression))
@pytest.mark.parametrize("cells", list(WithheldCells))
def test_rows_with_everything_suppressed(suppression: Suppression, cells: WithheldCells) -> None:
    # (1, x), (1, *), (*, *) ×2: whether the last two are records, and whether they agree with the others
    table = pd.DataFrame({"a": list("11**"), "b": list("x***"), "d": list("ffgg"), "w": [4, 4, 4, 4]})
    single = cells is WithheldCells.WILDCARD
    f = {
        Suppression.EXCLUDED: [2, 2] if single else [1, 1],
        Suppression.OWN: [2, 2, 2, 2] if single else [1, 1, 2, 2],
        Suppression.WILDCARD: [4, 4, 4, 4] if single else [3, 3, 4, 4],
    }[suppression]
    found = audited(table, suppression=suppression, cells=cells)
    expected = individual_risk(np.array(f), 4.0 * np.array(f)).sum()
    assert found.release.weighted is not None
    assert found.release.weighted.reidentified == pytest.approx(expected)
    assert found.find("uniqueness", "reidentified").value is not None
    alone = found.find("special-uniques", "max").detail["sample_uniques"]
    assert alone == sum(one == 1 for one in f)


# ----- special uniques -----------------------------------------------------------------------------------------------


def naive(values: Codes, hidden: Bools, most: int) -> list[float]:
    """Minimal sample uniques by their definition, a hidden cell agreeing with anything and in none of its record's sets."""
    rows, attributes = values.shape

    def unique(row: int, chosen: tuple[int, ...]) -> bool:
        place = list(chosen)
        agree = (values[:, place] == values[row, place]) | hidden[:, place] | hidden[row, place]
        return int(agree.all(axis=1).sum()) == 1 and not hidden[row, place].any()

    scores = []
    for row in range(rows):
        score = 0
        for size in range(1, most + 1):
            for chosen in combinations(range(attributes), size):
                smaller = [part for k in range(1, size) for part in combinations(chosen, k)]
                if unique(row, chosen) and not any(unique(row, part) for part in smaller):
                    score += factorial(attributes - size)
        scores.append(float(score))
    return scores


@given(st.integers(0, 10_000))
def test_special_uniques_agree_with_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, rng.integers(2, 5), (int(rng.integers(1, 12)), int(rng.integers(1, 5)))).astype(np.int32)
    hidden = rng.random(values.shape) < 0.15
    most = int(rng.integers(1, values.shape[1] + 1))
    found = special_uniques(values, most, hidden=hidden)
    assert found is not None
    assert found.score.tolist() == naive(values, hidden, most)
    f = np.array([one for one, _ in counted(values, hidden, [1.0] * len(values))])
    assert (found.unique, found.pairs) == (int((f == 1).sum()), int((f == 2).sum()))


# ----- the population ------------------------------------------------------------------------------------------------


def test_records_make_the_same_sample_as_their_classes() -> None:
    sizes = np.array([1, 1, 1, 2, 2, 5])
    by_class, by_record = Sample.of(sizes, 90), Sample.of_records(np.repeat(sizes, sizes), 90)
    assert by_record.records == by_class.records == 12
    assert by_record.times.tolist() == by_class.times.tolist() == [3, 2, 1]
    assert estimates(by_record) == estimates(by_class)


# ----- people who fit one record ---------------------------------------------------------------------------------------


def test_a_person_may_fit_one_record_although_every_record_agrees_with_two() -> None:
    # (1, *) agrees with both others and each of those with it: nobody is alone. Yet the person behind it, (1, c), fits no
    # other record, while (1, a) and (1, b) fit two.
    cells = {"a": ["1", "1", "1"], "b": ["*", "a", "b"], "d": ["x", "y", "x"]}
    original = pd.DataFrame({**cells, "b": ["c", "a", "b"]})
    schema = Schema.from_dict({"columns": {name: COLUMNS[name] for name in cells}})
    options = Options(attacks=("linking",), utility=())
    release = pd.DataFrame(cells)
    record = audit(release, schema, original=original, match="rows", options=options)
    assert record.release.risk is not None
    assert (record.release.k, record.release.risk.wildcard_max, record.release.fit_one) == (1, 0.5, 1)
    (told,) = verdict(RunRecord("run", 1, (record,))).warnings
    assert "calls this 2-anonymous; 1 person fits exactly one record" in told
    assert dict(release_facts(record))["suppressed cells"].startswith("a value of their own in the classes")
    assert audit(release, schema, options=options).release.fit_one is None  # nobody's values are known
    whole = audit(original, schema, original=original, match="rows", options=options).release
    assert (whole.fit_one, whole.withheld_cells) == (None, "wildcard")  # no cell is suppressed


@given(st.integers(0, 10_000))
def test_people_who_fit_one_record_are_counted(seed: int) -> None:
    values, hidden, _ = drawn(seed)
    hidden &= ~hidden.all(axis=1, keepdims=True)  # rows with everything suppressed are left out
    fits = ((values[:, None] == values[None]) | hidden[None]).all(axis=2).sum(axis=1)
    columns = {name: COLUMNS[name] for name in "abc"[: values.shape[1]]}
    named = [
        pd.DataFrame(cells.astype(str), columns=list(columns))
        for cells in (values, np.where(hidden, "*", values.astype(str)))
    ]
    options = Options(attacks=("linking",), utility=(), links=(Link.CLASS,))
    schema = Schema.from_dict({"columns": {**columns}})
    found = audit(named[1], schema, original=named[0], match="rows", options=options).release.fit_one
    assert found == (int((fits == 1).sum()) if hidden.any() else None)


# ----- the command line ----------------------------------------------------------------------------------------------


def test_the_option(tmp_path: Path, auditor_cli: Callable[..., Ended]) -> None:
    release, schema = tmp_path / "r.csv", tmp_path / "s.toml"
    release.write_text("a,b,d,w\n1,x,f,4\n1,*,f,4\n1,*,g,4\n")
    schema.write_text("".join(f'[columns.{c}]\nrole = "{COLUMNS[c]["role"]}"\n' for c in "abd"))
    schema.write_text(schema.read_text() + '[columns.w]\nrole = "weight"\ntype = "numeric"\n')
    asked = ["audit", release, "--schema", schema, "--attacks", "special-uniques", "--json", "-", "--quiet"]
    for option, said, most in ((None, "wildcard", 3), ("wildcard", "wildcard", 3), ("own", "own", 1)):
        ended = auditor_cli(*asked, *([] if option is None else ["--withheld-cells", option]))
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)["release"]
        assert found["withheld_cells"] == said
        assert found["weighted"]["max"] == pytest.approx(individual_risk(np.array([most]), np.array([4.0 * most]))[0])
    assert auditor_cli(*asked, "--withheld-cells", "any").code == 2
