"""Beliefs by the mechanism: the likelihoods against slow, obvious ones and against simulation; the beliefs about everybody
against all assignments; calibration; and no less risk than by distance."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor import audit
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Floats, Ints
from auditor.model.knowledge import Error, Knowledge, Register
from auditor.model.labels.labels import Labels
from auditor.model.mechanism import (
    Change,
    Coding,
    Distribution,
    Noise,
    PublishedMechanism,
    RankSwap,
    RecordSwap,
    Rounding,
    Transition,
    swapped_ranks,
)
from auditor.model.provenance import Provenance
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior import informed, likelihoods
from auditor.posterior.distance import Nearest
from auditor.posterior.informed import Informed, no_mechanism, propagated
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.anonymizers.test_perturbing import COLUMNS, METHODS, people

QUASI = ("age", "pay", "grade", "city")
SETTINGS: dict[str, dict[str, Any]] = {
    "noise": {"sd": 0.4},
    "rank-swapping": {"window": 10.0},
    "record-swapping": {"rate": 0.2, "strata": ("grade",)},
    "pram": {"keep": 0.6},
    "top-coding": {"share": 0.3},
    "bottom-coding": {"share": 0.3, "by": "mean"},
    "rounding": {"base": 20.0, "random": True},
}


def knowing(table: Table, columns: tuple[str, ...] = QUASI, everybody: bool = True) -> Knowledge:
    codes = table.matrix(columns)
    shares = np.bincount(table.codes["ill"], minlength=table.domains["ill"].size) / table.rows
    return Knowledge(columns, codes, priors={"ill": shares}, everybody=codes if everybody else None)


def own(provenance: Provenance) -> tuple[Ints, Ints]:
    return provenance.bucket.astype(np.int64), provenance.fragment.astype(np.int64)


def chances(beliefs: Nearest, rows: int) -> Floats:
    """The probability of every record for every target (targets × records)."""
    bucket = beliefs.release.blocks[0].bucket.astype(np.int64)
    found = []
    for record in range(rows):
        here = np.full((beliefs.targets, 1), record)
        found.append(beliefs.record_probability(np.full(beliefs.targets, bucket[record]), here))
    return np.column_stack(found)


# ----- a slow, obvious version ----------------------------------------------------------------------------------------


def likelihood(change: Change | None, true: str, made: str) -> float:
    """P(made | true) of one cell, as the mechanism is defined."""
    if not true or not made:
        return float(true == made)
    if isinstance(change, Transition):
        return change.matrix[change.values.index(true)][change.values.index(made)]
    if isinstance(change, Noise):
        away, half = abs(float(made) - float(true)), change.unit / 2
        if change.distribution is Distribution.NORMAL:
            return (
                math.erfc((away - half) / change.sd / math.sqrt(2))
                - math.erfc((away + half) / change.sd / math.sqrt(2))
            ) / 2
        scale = change.sd / math.sqrt(2)
        if away < half:
            return 1 - (math.exp((away - half) / scale) + math.exp(-(away + half) / scale)) / 2
        return (math.exp((half - away) / scale) - math.exp(-(away + half) / scale)) / 2
    if isinstance(change, Rounding):
        if change.random:
            return max(1 - abs(float(made) - float(true)) / change.base, 0.0)
        return float(float(made) == np.floor(float(true) / change.base + 0.5) * change.base)
    if isinstance(change, Coding):
        beyond = float(true) > change.threshold if change.above else float(true) < change.threshold
        return float(abs(float(made) - (change.published if beyond else float(true))) < 1e-6)
    assert change is None
    return float(true == made)


def slow(release: Release, table: Table, columns: tuple[str, ...]) -> Floats:
    """P(record | person), people × records."""
    assert release.mechanism is not None
    out = np.ones((table.rows, release.rows))
    for column in columns:
        texts = [release.labels[column].texts[i] for i in release.blocks[0].cell(column).tolist()]
        change = release.mechanism.columns.get(column)
        for i, true in enumerate(table.texts(column)):
            out[i] *= [likelihood(change, true, made) for made in texts]
    return out


@pytest.mark.parametrize("tables", [True, False])
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("noise", {"sd": 0.4}),
        ("noise", {"sd": 0.4, "distribution": "laplace"}),
        ("noise", {"sd": 0.4, "decimals": 5}),
        ("pram", {"keep": 0.6}),
        ("pram", {"keep": 0.4, "invariant": True}),
        ("top-coding", {"share": 0.3}),
        ("bottom-coding", {"share": 0.3, "by": "mean"}),
        ("rounding", {"base": 20.0}),
        ("rounding", {"base": 20.0, "random": True}),
    ],
)
def test_beliefs_are_bayes_rule_over_a_list_of_the_population(
    method: str, settings: dict[str, Any], tables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not tables:  # columns of many values are lines
        if method in ("pram",) or settings.get("random"):
            return
        monkeypatch.setattr(likelihoods, "MOST_OF_A_TABLE", 0)
        settings = {"decimals": 5, **settings} if method == "noise" else settings
    table = people(40, 3, missing=0.1)
    release, _ = anonymize(table, method, 2, **settings)
    register = Register({c: table.codes[c] for c in QUASI}, table.rows)
    beliefs = Informed(release, replace(knowing(table, everybody=False), register=register), Suppression.EXCLUDED)
    wanted = slow(release, table, QUASI)
    wanted = wanted / np.maximum(wanted.sum(axis=0), 1e-300)
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(chances(beliefs, release.rows), wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_ranks_move_as_in_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    # 60 people, some of the same age. A window of 10 % is 6 ranks. Many runs show where the value of each age goes.
    rng = np.random.default_rng(1)
    columns = {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}
    ages = np.sort(rng.integers(20, 50, 60))
    distinct = np.unique(ages)
    cells = {"age": [str(v) for v in ages], "ill": ["x"] * 60}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", cells)])
    release, _ = anonymize(table, "rank-swapping", 1, window=10.0)
    counts = np.zeros((len(distinct), len(distinct)))
    place = np.searchsorted(distinct, ages)
    for _ in range(1500):
        moved = place[swapped_ranks(60, 6, rng)]
        np.add.at(counts, (place, moved), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)

    codes = np.arange(len(distinct), dtype=np.int32)
    found = np.exp(-likelihoods.table_of(release, "age", RankSwap(10.0), codes, codes))
    monkeypatch.setattr(likelihoods, "MOST_OF_A_TABLE", 0)  # in bins, each here of one rank at most
    (column,) = likelihoods.costs(release, ("age",), codes[:, None], codes[:, None], {})
    binned = (
        np.exp(-column.distances[column.value][:, column.label])
        if not isinstance(column.distances, tuple)
        else found * 0
    )
    assert ((binned > 0) == (found > 0)).mean() > 0.9
    middle = slice(5, -5)  # at the ends ranks have fewer to go to
    assert np.abs(found - shares)[middle].max() < 0.05
    assert found[middle].sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_swapped_columns_are_weighed_together() -> None:
    table = people(30, 5)
    change = RecordSwap(0.2, ("city", "grade"), ())
    release, _ = anonymize(table, "identity", 1)
    release = replace(release, mechanism=PublishedMechanism({"city": change, "grade": change}))
    codes = table.matrix(("city", "grade"))
    patterns, _ = np.unique(
        np.column_stack([release.blocks[0].cell(c) for c in ("city", "grade")]), axis=0, return_index=True
    )
    (column,) = likelihoods.costs(release, ("city", "grade"), patterns.astype(np.int32), codes, {})
    assert not isinstance(column.distances, tuple)
    chance = np.exp(-column.distances[column.value][:, column.label])
    pairs = list(zip(table.texts("city"), table.texts("grade"), strict=True))
    for i, mine in enumerate(pairs):
        for j, (city, grade) in enumerate(patterns.tolist()):
            other = release.labels["city"].texts[city], release.labels["grade"].texts[grade]
            assert chance[i, j] == pytest.approx(0.8 * (mine == other) + 0.2 * pairs.count(other) / 30)


def test_a_number_that_nobody_has_is_no_transition_of_another() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}
    schema = Schema.from_dict({"columns": columns})
    (table,) = encode(schema, [RawTable("t", {"age": ["1", "2", "3"], "ill": ["x"] * 3})])
    change = Transition(("1", "2", "3"), ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)))
    labels = Labels.read(table.domains["age"], ["1", "2", "3", "9"], str)
    released, _ = anonymize(table, "identity", 1)
    release = replace(released, labels={**released.labels, "age": labels})
    every = np.arange(4, dtype=np.int32)
    found = np.exp(-likelihoods.table_of(release, "age", change, every[:3], every))
    assert found[:, 3].max() < 1e-9
    np.testing.assert_allclose(found[:, :3], change.matrix)


def test_of_swapped_columns_what_is_not_known_fits_everything() -> None:
    table = people(60, 5)
    change, names = RecordSwap(0.3, ("city", "grade"), ("ill",)), ("city", "grade", "ill")
    release, _ = anonymize(table, "identity", 1)
    release = replace(release, mechanism=PublishedMechanism({"city": change, "grade": change}))
    codes = table.matrix(names)
    codes[:20, 1], codes[20:25, :2] = -1, -1
    cells = np.column_stack([release.blocks[0].cell(c) for c in names]).astype(np.int32)
    patterns = np.unique(cells, axis=0)
    column, _ = likelihoods.costs(release, names, patterns, codes, {})
    assert not isinstance(column.distances, tuple)
    chance = np.exp(-column.distances[column.value][:, column.label])
    rows = [tuple(release.labels[c].texts[k] for c, k in zip(names, row, strict=True)) for row in cells.tolist()]
    mine = list(zip(*(table.texts(c) for c in names), strict=True))
    for j, label in enumerate(patterns.tolist()):
        record = tuple(release.labels[c].texts[k] for c, k in zip(names, label, strict=True))
        stratum = [row for row in rows if row[2] == record[2]]
        for i in (0, 7, 22, 30, 44):
            seen = [place for place in (0, 1) if codes[i, place] >= 0]
            same = all(mine[i][place] == record[place] for place in seen)
            share = sum(all(row[place] == record[place] for place in seen) for row in stratum) / len(stratum)
            assert chance[i, j] == pytest.approx(0.7 * same + 0.3 * share)


def test_known_values_that_may_be_wrong_are_averaged_over() -> None:
    table = people(30, 5)
    release, _ = anonymize(table, "noise", 1, columns=("age",))
    knowledge = replace(knowing(table, ("age",), everybody=False), errors={"age": Error(2.0, 0.1)})
    beliefs = Informed(release, knowledge, Suppression.EXCLUDED)
    assert not beliefs.calibrated(None)
    narrow = Informed(release, replace(knowledge, errors={}), Suppression.EXCLUDED)
    assert (beliefs.records().best.mean()) < narrow.records().best.mean()


# ----- everybody at once ----------------------------------------------------------------------------------------------


def test_beliefs_about_everybody_are_near_those_over_all_assignments() -> None:
    rng, errors = np.random.default_rng(0), np.zeros(2)
    for _ in range(20):
        size = 6
        likely = np.exp(rng.normal(0, 1.5, (size, size)) + 2 * np.eye(size))
        likely /= likely.max()
        exact = np.zeros((size, size))
        for order in itertools.permutations(range(size)):
            weight = likely[np.arange(size), order].prod()
            exact[np.arange(size), order] += weight
        exact /= exact[0].sum()
        row, record = (part.ravel() for part in np.indices((size, size)))
        ones = np.ones(size)
        for way, sweeps in enumerate((informed._SWEEPS, 0)):
            chance = propagated(row, record, likely.ravel(), ones, ones, sweeps)[0].reshape(size, size)
            errors[way] += np.abs(chance / chance.sum(axis=1, keepdims=True) - exact).mean() / 20
    assert errors[0] < 0.02
    assert errors[1] > 3 * errors[0]  # one step of scaling is no match for it


def test_people_and_records_that_are_alike_count_as_often_as_they_occur() -> None:
    rng = np.random.default_rng(4)
    likely = rng.random((3, 4))
    times, records = np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0, 2.0, 1.0])
    row, record = (part.ravel() for part in np.indices(likely.shape))
    short, _ = propagated(row, record, likely.ravel(), times, records, 5)
    person, copies = np.repeat(np.arange(3), times.astype(int)), np.repeat(np.arange(4), records.astype(int))
    whole = likely[np.ix_(person, copies)]
    rows, columns = (part.ravel() for part in np.indices(whole.shape))
    full, _ = propagated(rows, columns, whole.ravel(), np.ones(6), np.ones(6), 5)
    np.testing.assert_allclose(
        full.reshape(whole.shape), short.reshape(likely.shape)[np.ix_(person, copies)], rtol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("noise", {"sd": 0.15}),
        ("noise", {"sd": 0.4, "correlated": True}),
        ("noise", {"sd": 0.2, "distribution": "laplace"}),
        ("pram", {"keep": 0.7}),
        ("pram", {"keep": 0.7, "invariant": True}),
        ("record-swapping", {"rate": 0.3}),
        ("rounding", {"base": 25.0, "random": True}),
    ],
)
def test_as_much_is_found_as_is_expected(method: str, settings: dict[str, Any]) -> None:
    expected, found = [], []
    columns = ("age", "grade", "city") if method == "pram" else QUASI if method != "noise" else ("age", "pay")
    for seed in range(4):
        table = people(400, seed)
        release, provenance = anonymize(table, method, seed, **settings)
        beliefs = Informed(release, knowing(table, columns), Suppression.EXCLUDED)
        assert beliefs.calibrated(None)
        assert beliefs.calibrated("ill")
        records, values = beliefs.records(), beliefs.values("ill")
        expected += [records.best.mean(), values.top()[values.row_of].mean()]
        found += [records.named(beliefs.record_probability(*own(provenance))).mean()]
        found += [values.named(table.codes["ill"].astype(np.int64)).mean()]
    for part in (slice(0, None, 2), slice(1, None, 2)):
        assert np.mean(expected[part]) == pytest.approx(np.mean(found[part]), abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_less_is_found_than_by_distance(method: str) -> None:
    informed_of, near = [], []
    for seed in range(5):
        table = people(250, seed, missing=0.05)
        release, provenance = anonymize(table, method, seed, **SETTINGS[method])
        for found, kind in ((informed_of, Informed), (near, Nearest)):
            beliefs = kind(release, knowing(table), Suppression.EXCLUDED)
            found.append(beliefs.records().named(beliefs.record_probability(*own(provenance))).mean())
    assert np.mean(informed_of) >= np.mean(near) - 1e-9


# ----- the own record left out, strangers, names and orders -----------------------------------------------------------


@pytest.mark.parametrize("everybody", [True, False])
def test_without_the_own_record_the_others_share_the_belief(everybody: bool) -> None:
    table = people(60, 2)
    release, provenance = anonymize(table, "noise", 2, sd=0.3)
    beliefs = Informed(release, knowing(table, ("age", "grade"), everybody), Suppression.EXCLUDED)
    left = beliefs.without(*own(provenance)).values("ill")
    whole = chances(beliefs, release.rows)
    mine = provenance.fragment[:, 0]
    whole[np.arange(60), mine] = 0.0
    alone = whole.sum(axis=1) <= 0
    ill = release.blocks[0].cell("ill")
    for code in range(3):
        share = whole[:, ill == code].sum(axis=1) / np.where(alone, 1.0, whole.sum(axis=1))
        np.testing.assert_allclose(left.at(np.full(60, code))[~alone], share[~alone], atol=1e-9)


def test_who_is_alone_with_their_record_gets_the_next_likely_without_it() -> None:
    table = people(50, 2)
    release, provenance = anonymize(table, "noise", 2, sd=0.001, columns=("pay",), decimals=6)
    beliefs = Informed(release, knowing(table, ("pay",)), Suppression.EXCLUDED)
    assert len(beliefs.p) < 60
    left = beliefs.without(*own(provenance))
    assert left.matched.mean() > 0.5


def test_a_changed_sensitive_value_is_read_by_bayes_rule() -> None:
    table = people(300, 2)
    release, _ = anonymize(table, "pram", 2, keep=0.5, columns=("ill",))
    beliefs = Informed(release, knowing(table), Suppression.EXCLUDED)
    meaning = beliefs.meaning("ill").toarray()
    prior = beliefs.knowledge.priors["ill"]
    matrix = np.full((3, 3), 0.25) + 0.25 * np.eye(3)
    wanted = (matrix * prior[:, None] / (prior @ matrix)).T
    np.testing.assert_allclose(meaning[:3], wanted)
    values = beliefs.values("ill")
    assert values.top()[values.row_of].mean() == pytest.approx(
        values.named(table.codes["ill"].astype(np.int64)).mean(), abs=0.07
    )


def test_the_order_of_records_does_not_matter() -> None:
    table = people(120, 2)
    for method in METHODS:
        release, provenance = anonymize(table, method, 2, **SETTINGS[method])
        turned, number = release.shuffled(np.random.default_rng(1))
        columns = QUASI[::-1]
        first = Informed(release, knowing(table), Suppression.EXCLUDED)
        second = Informed(turned, knowing(table, columns), Suppression.EXCLUDED)
        np.testing.assert_allclose(first.records().best, second.records().best, rtol=1e-9)
        bucket = provenance.bucket.astype(np.int64)
        np.testing.assert_allclose(first.classes(bucket), second.classes(number[bucket]), rtol=1e-9)


def test_where_too_many_records_fit_the_likeliest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(200, 2)
    release, provenance = anonymize(table, "noise", 2, sd=1.0)
    whole = Informed(release, knowing(table, ("age", "pay")), Suppression.EXCLUDED)
    monkeypatch.setattr(informed, "MOST_ENTRIES", 200 * 20)
    monkeypatch.setattr(informed, "_LEAST_KEPT", 20)
    some = Informed(release, knowing(table, ("age", "pay")), Suppression.EXCLUDED)
    assert whole.calibrated(None)
    assert not some.calibrated(None)
    assert some.search.lost > 0.1
    assert len(some.p) < 0.2 * len(whole.p)
    right = [one.records().named(one.record_probability(*own(provenance))).mean() for one in (whole, some)]
    assert right[1] == pytest.approx(right[0], abs=0.02)


# ----- in an audit ----------------------------------------------------------------------------------------------------


def test_audits_use_the_mechanism_where_it_is_published() -> None:
    table = people(150, 4, columns={**COLUMNS, "pay": {"role": "neutral", "type": "numeric"}})
    release, provenance = anonymize(table, "pram", 4, keep=0.6)
    options = Options(attacks=("linking", "homogeneity", "membership"), utility=(), facts=())
    record = audit(release, original=table, provenance=provenance, options=options)
    found = record.find("linking", "success", link=Link.MECHANISM)
    near = record.find("linking", "success", link=Link.DISTANCE)
    assert found.value is not None
    assert near.value is not None
    assert found.value > near.value
    assert found.expected == pytest.approx(found.value, abs=0.06)
    assert near.expected is None
    value = record.find("homogeneity", "success", link=Link.MECHANISM, sensitive="ill")
    assert value.control_kind == "leave_one_out"
    assert value.control is not None
    assert abs(value.control - 1 / 3) < 0.15
    hidden = replace(release, mechanism=None)
    plain = audit(hidden, original=table, provenance=provenance, options=options)
    assert Link.MECHANISM not in {risk.link for risk in plain.risks}
    named = replace(options, attacks=("linking",), links=(Link.MECHANISM,))
    asked = audit(hidden, original=table, provenance=provenance, options=named)
    assert asked.find("linking", "success", link=Link.MECHANISM).reason == "no mechanism is published with the release"


def test_what_is_found_of_somebody_does_not_depend_on_who_else_is_asked_for() -> None:
    table = people(120, 4)
    release, provenance = anonymize(table, "noise", 4, sd=0.3)
    options = Options(attacks=("linking",), links=(Link.MECHANISM,), utility=(), facts=())
    subject = Subject(release, table, provenance)
    beliefs = Informed(release, knowing(table), Suppression.EXCLUDED)
    each = beliefs.records().named(beliefs.record_probability(*own(provenance)))
    for row in (3, 77):
        record = run_audit(subject, replace(options, targets=(row,)))
        assert record.find("linking", "success", link=Link.MECHANISM).value == pytest.approx(each[row])


@pytest.mark.slow
def test_members_are_told_from_outsiders() -> None:
    table = people(400, 4)
    inside, outside = table.take(np.arange(200)), np.arange(200, 400)
    release, provenance = anonymize(inside, "noise", 4, sd=0.05)
    subject = Subject(release, inside, provenance, population=table, outsiders=outside)
    record = run_audit(subject, Options(attacks=("membership",), utility=(), facts=()))
    rows = [r for r in record.risks if r.measure == "auc" and r.params.get("against") == "outsiders"]
    by_score = {row.params["score"]: row.value or 0 for row in rows}
    assert by_score["posterior"] > 0.9
    assert by_score["posterior"] >= by_score["buckets"]


def test_reasons_against_the_mechanism() -> None:
    table = people(30)
    release, _ = anonymize(table, "noise", 1)
    assert no_mechanism(release, QUASI, 30) is None
    assert "nothing that is published" in (no_mechanism(release, ("shoe",), 30) or "")
    assert "attack fewer people" in (no_mechanism(release, QUASI, 10**9) or "")
    assert "no mechanism" in (no_mechanism(replace(release, mechanism=None), QUASI, 30) or "")
    sliced, _ = anonymize(table, "slicing", 1, columns=(("age", "pay"), ("grade", "city", "ill")), bucket_size=3)
    told = replace(sliced, mechanism=PublishedMechanism({"age": RankSwap(5.0)}))
    assert "several blocks" in (no_mechanism(told, QUASI, 30) or "")
