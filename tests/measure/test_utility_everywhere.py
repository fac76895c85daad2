"""Every utility measure on a release of every anonymizer: a finite figure or a reason, the same under one seed and in any
order of rows; what changes nothing is best, and what says nothing is worst."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from auditor.measure.utility import MEASURES, Case, utility_rows
from auditor.measure.utility.widths import granularity
from auditor.model.arrays import Codes
from auditor.model.labels.labels import Labels
from auditor.model.labels.notation import everything
from auditor.model.publishing import publish
from auditor.model.record.record import NOT_APPLICABLE, OK, Utility
from auditor.model.release import Block, Release
from auditor.model.schema import Role
from auditor.model.table import Table
from tests.support.anonymizer_cases import SETTINGS, VALUES, impossible, kinds, table_of

ROOT = Path(__file__).parents[2]
LEARNED = ("classification", "classification_within")
"""What a tree learns has chance in it: a coarser table may happen to teach as much."""


@cache
def people() -> Table:
    """People whose columns go together, so that there is something to lose: income rises with age, disease follows the
    city. Some values are missing."""
    rng = np.random.default_rng(4)
    rows = {}
    hidden = rng.random(120)
    for column, pool in VALUES.items():
        place = hidden if column in ("age", "income", "city", "disease") else rng.random(120)
        mixed = np.where(rng.random(120) < 0.8, place, rng.random(120))
        rows[column] = [pool[int(i)] for i in mixed * len(pool)]
    return table_of(rows)


METHODS = [name for name, settings in SETTINGS.items() if settings and not impossible(name, settings[0], people())]


@cache
def released(name: str) -> tuple[Release, Codes]:
    release, provenance = anonymize(people(), name, 3, **SETTINGS[name][0])
    return release, provenance.fragment


@cache
def measured(name: str) -> tuple[Utility, ...]:
    release, fragment = released(name)
    return tuple(utility_rows(release, people(), fragment, k=3, seed=5))


def key(row: Utility) -> tuple[object, ...]:
    return row.measure, row.params.get("statistic"), row.params.get("class")


def in_another_order(
    release: Release, table: Table, fragment: Codes, rng: np.random.Generator
) -> tuple[Release, Table, Codes]:
    """The same release and original, the rows, fragments and buckets of both in another order."""
    renumber = rng.permutation(len(release.sizes))
    blocks, moved = [], fragment.copy()
    for number, block in enumerate(release.blocks):
        order = rng.permutation(len(block.bucket))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        inside = fragment[:, number] >= 0
        moved[inside, number] = place[fragment[inside, number]]
        blocks.append(Block(block.columns, renumber[block.bucket[order]].astype(np.int32), block.cells[order]))
    sizes, suppressed = np.empty_like(release.sizes), np.empty_like(release.suppressed)
    sizes[renumber], suppressed[renumber] = release.sizes, release.suppressed
    rows = rng.permutation(table.rows)
    again = replace(release, blocks=tuple(blocks), sizes=sizes, suppressed=suppressed)
    return again, table.take(rows), moved[rows]


@pytest.mark.parametrize("name", METHODS)
def test_every_measure_on_every_release(name: str) -> None:
    rows = measured(name)
    assert list(dict.fromkeys(row.measure for row in rows)) == [measure.name for measure in MEASURES]
    better = {measure.name: measure.words.better for measure in MEASURES}
    for row in rows:
        assert row.better == better[row.measure]
        if row.status == OK:
            assert row.value is not None
            assert isfinite(row.value)
            assert row.reason is None
            assert (row.low is None) == (row.high is None)
            if row.low is not None and row.high is not None:
                assert row.low - 1e-12 <= row.value <= row.high + 1e-12
        else:
            assert row.status == NOT_APPLICABLE
            assert row.value is None
            assert row.reason
    of_people = {"discernibility", "Dist", "EBIL", "IL1"}
    everywhere = {"queries", "classification", "correlation", "marginals", "pmse", "CTBIL'", "IL2", "PIL"}
    applied = {row.measure for row in rows if row.status == OK}
    assert everywhere <= applied
    assert applied & of_people == (set() if ANONYMIZERS.get(name).synthetic else of_people)
    if len(released(name)[0].blocks) > 1:  # what was drawn is said
        drawn = [row for row in rows if row.measure in ("correlation", "pmse", "classification", "IL6", "CTBIL'")]
        assert all(row.params["worlds"] > 1 and "blocks" in row.params and row.low is not None for row in drawn)


@pytest.mark.parametrize("name", [*kinds(), "cart"])
def test_one_seed_one_answer_in_any_order(name: str) -> None:
    release, fragment = released(name)
    again, table, moved = in_another_order(release, people(), fragment, np.random.default_rng(8))
    assert tuple(utility_rows(again, table, moved, k=3, seed=5)) == measured(name)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "identity"])
def test_what_changes_nothing_is_best(name: str) -> None:
    untouched = {key(row): row for row in measured("identity") if row.status == OK}
    by_name = {measure.name: measure for measure in MEASURES}
    for row in measured(name):
        exact = untouched.get(key(row))
        if row.value is None or exact is None or exact.value is None or row.measure in LEARNED:
            continue
        if row.measure in ("discernibility", "class_size"):
            continue  # the classes of an untouched table are below k, which costs
        if key(row) == ("square_error", "total", None):
            continue  # people with the same quasi-identifiers differ in other columns
        best = by_name[row.measure].words.best
        assert exact.value == pytest.approx(best, abs=1e-9)
        assert row.value >= best - 1e-9 if row.better == "lower" else row.value <= best + 1e-9
        worst = by_name[row.measure].worst
        assert worst is None or abs(row.value - best) <= abs(worst - best) + 1e-9
    for measure in LEARNED:
        for row in measured("identity"):
            assert row.measure != measure or row.value == row.detail["original"]


def everything_in_one_class() -> tuple[Release, Codes]:
    """Every quasi-identifier of everybody is published as everything."""
    table = people()
    labels, cells = {}, {}
    columns = (*table.schema.quasi, *table.schema.sensitive, *table.schema.names(Role.NEUTRAL))
    for column in columns:
        domain = table.domains[column]
        if column in table.schema.quasi:
            labels[column] = Labels.read(domain, [everything(domain)], str)
            cells[column] = np.zeros(table.rows, dtype=np.int32)
        else:
            labels[column], cells[column] = Labels.exact(domain), table.codes[column]
    release, provenance = publish(table.schema, labels, cells, [columns], None, np.random.default_rng(1))
    return release, provenance.fragment


def test_what_says_nothing_is_worst() -> None:
    release, fragment = everything_in_one_class()
    table = people()
    rows = {key(row): row for row in utility_rows(release, table, fragment, k=3, seed=5)}
    n = table.rows
    for name, statistic, worst in (
        ("granularity", None, 0),
        ("granularity_arx", None, 0),
        ("information_loss", "normalised", 1),
        ("information_loss", "total", n * len(table.schema.quasi)),
        ("discernibility", None, n * n),
        ("class_size", None, n / 3),
        ("square_error", "percent", 100),
    ):
        assert rows[name, statistic, None].value == pytest.approx(worst)
    quasi = [c for c in table.schema.quasi if c != "age"]
    alone = replace(release, blocks=(replace_columns(release.blocks[0], ["age", *quasi]),))
    (entropy,) = utility_rows(alone, table, fragment, seed=5, names=["EBIL"])
    assert entropy.detail["share"] == pytest.approx(1)  # without the sensitive columns, which are published as they are
    for name in METHODS:
        for row in measured(name):
            other = rows.get(key(row))
            if row.measure in (
                "discernibility",
                "class_size",
                "square_error",
                "information_loss",
                "granularity",
                "EBIL",
            ):
                if row.value is None or other is None or other.value is None:
                    continue
                assert row.value <= other.value + 1e-9 if row.better == "lower" else row.value >= other.value - 1e-9


def replace_columns(block: Block, columns: list[str]) -> Block:
    return Block(tuple(columns), block.bucket, np.column_stack([block.cell(c) for c in columns]))


@pytest.mark.parametrize("name", ["rgather", "rcellular"])
def test_centres_of_clusters_have_no_granularity(name: str) -> None:
    release, fragment = released(name)
    for case in (Case(release), Case(release, people(), fragment)):
        (row,) = granularity(case)
        assert row.status == NOT_APPLICABLE
        assert "cluster centres" in str(row.reason)


def test_every_measure_is_documented() -> None:
    document = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    table = document.split("## Utility")[1].split("\n## ")[0]
    for measure in MEASURES:
        assert f"`{measure.name}`" in table
        assert measure.words.meaning.endswith(".")
        assert measure.applies
        assert measure.paper
        assert (measure.compute.__doc__ or "").endswith(".")
        assert measure.words.better in ("higher", "lower")
        assert measure.name in measure.explanation()
        assert measure.applies in measure.explanation()
    assert len({measure.name for measure in MEASURES}) == len(MEASURES)


def test_a_holdout_is_what_trees_of_a_synthetic_release_are_tested_on() -> None:
    # A release that repeats its people: tested on them it does as well as it has learned them by heart; tested on others, as
    # the original does, since it is the original.
    table = people()
    members, others = table.take(np.arange(80)), table.take(np.arange(80, 120))
    copied, provenance = anonymize(members, "identity", 3)
    release = replace(copied, synthetic=True)
    for holdout, said in ((others, "people of whom the release was not made"), (None, "the people of whom")):
        rows = utility_rows(release, members, provenance.fragment, names=["classification"], holdout=holdout)
        assert rows
        for row in rows:
            assert str(row.params["tested_on"]).startswith(said)
            assert row.params["tested"] == (40 if holdout is not None else 80)
            assert holdout is None or row.value == row.detail["original"]
    flattered = [row for row in rows if (row.value or 0) > row.detail["original"]]
    assert len(flattered) > len(rows) / 2


def test_the_number_of_made_up_rows_is_no_error() -> None:
    # Everybody once, or everybody three times: the same distribution, and so the same figures, exact ones.
    table = people()
    once, provenance = anonymize(table, "identity", 3)
    block = once.blocks[0]
    thrice = Block(block.columns, np.tile(block.bucket, 3), np.tile(block.cells, (3, 1)))
    for blocks, sizes in ((once.blocks, once.sizes), ((thrice,), 3 * once.sizes)):
        release = replace(once, blocks=blocks, sizes=sizes, synthetic=True)
        found = {key(row): row for row in utility_rows(release, table, provenance.fragment, seed=5)}
        for name in ("correlation", "marginals", "CTBIL'", "IL2", "IL5"):
            assert found[name, None, None].value == pytest.approx(0, abs=1e-9)
        assert found["queries", "p90", None].value == pytest.approx(0, abs=1e-9)
        assert found["PIL", "all", None].value == pytest.approx(0, abs=1)  # quantiles lie between other ranks
