"""Beliefs by distance: against a slow obvious version, and by hand; and when they are formed at all."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizers.mdav import Mdav
from auditor.auditing.audit import audit
from auditor.auditing.correspondence import check_truth
from auditor.model.knowledge import Register
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import NoteKind
from auditor.model.release import Suppression
from auditor.model.schema import Schema, Type
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.distance import Nearest, no_distance
from auditor.posterior.links import Link
from auditor.posterior.metric import Metric
from scenarios.options import Options
from tests.support.oracle import believed, codes
from tests.support.tables import SENSITIVE, World, by_hand, worlds

ILL = {"x": {"role": "quasi", "type": "numeric"}, "ill": {"role": "sensitive"}}


def nearest(world: World, metric: Metric = Metric.EUCLID) -> Nearest:
    return Nearest(world.release, world.knowledge, Suppression.EXCLUDED, metric=metric)


# ----- the slow obvious version --------------------------------------------------------------------------------------


class Slow:
    """People × fragments in plain loops, from the definitions of `metric.py`."""

    def __init__(self, world: World, metric: Metric) -> None:
        self.world, self.metric = world, metric
        release, knowledge = world.release, world.knowledge
        self.known = [c for c in knowledge.columns if c in release.columns]
        self.home = release.block_number(self.known[0])
        self.block = release.blocks[self.home]
        self.fragments = [i for i, b in enumerate(self.block.bucket.tolist()) if not release.suppressed[b]]
        self.scales = {c: self._scale(c) for c in self.known}

    def label(self, fragment: int, column: str) -> int:
        return int(self.block.cells[fragment, self.block.columns.index(column)])

    def ends(self, labels: Labels, label: int) -> list[float]:
        """The covered values as numbers or places, without the missing one; a centroid by itself."""
        domain = labels.domain
        inside = sorted(code for code in codes(labels, label) if code < domain.known)
        if not codes(labels, label):
            return [float(labels.low[label]), float(labels.high[label])]
        return [float(code) if domain.numbers is None else float(domain.numbers[code]) for code in inside]

    def gapped(self, column: str) -> bool:
        labels = self.world.release.labels[column]
        return any(self.label(f, column) in labels.gaps for f in self.fragments)

    def _scale(self, column: str) -> float:
        labels = self.world.release.labels[column]
        domain = labels.domain
        if domain.numbers is None and domain.column.type is not Type.ORDINAL:
            return 1.0
        span = (domain.known - 1.0) if domain.numbers is None else float(domain.numbers[-1] - domain.numbers[0])
        if self.gapped(column):
            return span or 1.0
        if domain.numbers is None:
            return float(max(domain.known - (self.metric is Metric.GOWER), 1))
        middles = []
        for fragment in self.fragments:
            label = self.label(fragment, column)
            ends = self.ends(labels, label)
            if ends and domain.missing not in codes(labels, label):
                middles.append((ends[0] + ends[-1]) / 2)
        deviation = float(np.std(middles)) if middles and self.metric is Metric.EUCLID else 0.0
        return deviation if deviation > 1e-9 else domain.width or 1.0

    def column_way(self, target: int, fragment: int, column: str) -> float:
        labels = self.world.release.labels[column]
        domain, label = labels.domain, self.label(fragment, column)
        code = int(self.world.knowledge.codes[target, self.world.knowledge.columns.index(column)])
        squared = self.metric is Metric.EUCLID
        if code < 0 or code in codes(labels, label):
            return 0.0
        line = domain.numbers is not None or domain.column.type is Type.ORDINAL
        apart = 2.0 if squared and domain.numbers is not None and not self.gapped(column) else 1.0
        ends = self.ends(labels, label)
        if code == domain.missing or not ends or any(isnan(end) for end in ends):
            return apart
        if line:
            place = float(code) if domain.numbers is None else float(domain.numbers[code])
            stretch = not self.gapped(column) and ends[0] <= place <= ends[-1]
            way = 0.0 if stretch else min(abs(place - end) for end in ends) / self.scales[column]
        elif domain.taxonomy is None or domain.missing in codes(labels, label):
            way = 1.0
        else:
            way = min(self.rise(domain.taxonomy.path, code, other) for other in codes(labels, label))
        return way**2 if squared else way

    def rise(self, path: np.ndarray, one: int, other: int) -> float:
        """The height of the lowest common ancestor over that of the tree."""
        above = [int(level[one]) for level in path]
        shared = [node for node, level in zip(above, path, strict=True) if node == int(level[other])]
        node = shared[-1]
        under = [leaf for leaf in range(path.shape[1]) if node in path[:, leaf].tolist()]
        depths = [len(dict.fromkeys(path[:, leaf].tolist())) - 1 for leaf in under]
        own = list(dict.fromkeys(above)).index(node)
        return (max(depths) - own) / (len(path) - 1)

    def near(self, target: int, without: int = -1) -> list[int]:
        """The nearest fragments, all of them where several are equally near."""
        away = {f: sum(self.column_way(target, f, c) for c in self.known) for f in self.fragments if f != without}
        least = min(away.values(), default=0.0)
        return [f for f, way in away.items() if way <= least * (1 + 1e-9) + 1e-12]

    def values(self, target: int, column: str, own: list[int] | None = None) -> list[float]:
        release = self.world.release
        number, labels = release.block_number(column), release.labels[column]
        block = release.blocks[number]
        belief = np.zeros(labels.domain.size)
        near = self.near(target, -1 if own is None else own[self.home])
        for fragment in near:
            inside = [fragment]
            if number != self.home:
                bucket = self.block.bucket[fragment]
                inside = [i for i in range(len(block.bucket)) if block.bucket[i] == bucket]
                inside = [i for i in inside if own is None or i != own[number]]
            for i in inside:
                meant = believed(labels, int(block.cell(column)[i]))
                for code in meant:
                    belief[code] += 1 / len(near) / len(inside) / len(meant)
        return belief.tolist() if near else world_prior(self.world, column)


def world_prior(world: World, column: str) -> list[float]:
    prior: list[float] = world.knowledge.priors[column].tolist()
    return prior


@given(world=worlds(("generalised", "bucketized")), metric=st.sampled_from([Metric.EUCLID, Metric.GOWER]))
def test_beliefs_are_those_of_the_slow_version(world: World, metric: Metric) -> None:
    assume(world.knowledge.columns)
    slow, fast = Slow(world, metric), nearest(world, metric)
    without = fast.without(world.bucket, world.fragment)
    records = fast.records()
    right = fast.record_probability(world.bucket, world.fragment)
    share, top = fast.classes(world.bucket)
    believed_values = {c: (fast.values(c), without.values(c)) for c in SENSITIVE}
    for target in range(world.knowledge.targets):
        near = slow.near(target)
        assert fast.matched[target] == bool(near)
        if near:
            assert records.best[target] == pytest.approx(1 / len(near))
            assert records.tied[target] == len(near)
        own = world.fragment[target].tolist()
        assert right[target] == pytest.approx(1 / len(near) if own[slow.home] in near and own[slow.home] >= 0 else 0.0)
        inside = np.array([int(slow.block.bucket[f]) for f in near], dtype=np.int64)
        if near:
            mass = np.bincount(inside) / len(near)
            best = np.flatnonzero(mass >= mass.max() - 1e-9).tolist()
            assert top[target] == pytest.approx(mass.max())
            assert share[target] == pytest.approx(1 / len(best) if world.bucket[target] in best else 0.0)
        for column, (whole, left) in believed_values.items():
            assert whole.rows.toarray()[whole.row_of[target]] == pytest.approx(slow.values(target, column))
            if own[0] >= 0:
                assert left.rows.toarray()[left.row_of[target]] == pytest.approx(slow.values(target, column, own))


@given(
    world=worlds(doubt=True),
    metric=st.sampled_from([Metric.EUCLID, Metric.GOWER, Metric.AGREEMENT]),
    second=st.booleans(),
)
def test_the_search_finds_what_comparing_everybody_does(world: World, metric: Metric, second: bool) -> None:
    assume(no_distance(world.release, world.knowledge.columns, 1) is None)
    found = nearest(world, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("auditor.posterior.distance._A_CHUNK", 1 << 40)
        slow = found.search.find(found.tuples, second)
        patch.setattr("auditor.posterior.distance._A_CHUNK", -1)
        patch.setattr("auditor.posterior.distance.compared", None)
        fast = found.search.find(found.tuples, second)
    for name in ("row", "cell", "distance"):
        assert getattr(fast, name).tolist() == getattr(slow, name).tolist()


@given(world=worlds(doubt=True), metric=st.sampled_from(list(Metric)))
def test_beliefs_sum_to_the_probability_of_membership(world: World, metric: Metric) -> None:
    reason = no_distance(world.release, world.knowledge.columns, world.knowledge.targets)
    known = {world.release.block_number(c) for c in world.knowledge.columns}
    assert (reason is None) == (len(known) == 1)
    assume(reason is None)
    beliefs = nearest(world, metric)
    assume(beliefs.matched.all())
    for column in SENSITIVE:
        values = beliefs.values(column)
        total = values.rows.sum(axis=1)[values.row_of]
        assert total == pytest.approx(beliefs.present)
        left = beliefs.without(world.bucket, world.fragment).values(column)
        assert (left.rows.data >= 0).all()


# ----- by hand -------------------------------------------------------------------------------------------------------


def averages() -> World:
    """1, 2, 3 | 8, 12, 16 published as 2.5 and 11.5."""
    rows = {"x": ["1", "2", "3", "8", "12", "16"], "ill": ["flu", "flu", "cold", "flu", "hiv", "hiv"]}
    return by_hand(ILL, rows, {"x": ["2.5", "2.5", "2.5", "11.5", "11.5", "11.5"]})


def test_the_nearest_average_is_taken() -> None:
    # to 2.5 and 11.5: 1.5 | 0.5 | 0.5 | 3.5 | 0.5 | 4.5 are the ways to the own one, which is the nearer for all
    world = averages()
    beliefs = nearest(world)
    share, top = beliefs.classes(world.bucket)
    assert share.tolist() == [1] * 6
    assert top.tolist() == [1] * 6
    assert beliefs.records().best == pytest.approx([1 / 3] * 6)
    assert beliefs.record_probability(world.bucket, world.fragment) == pytest.approx([1 / 3] * 6)
    values = beliefs.values("ill")
    flu = world.table.domains["ill"].codes["flu"]
    assert values.at(np.full(6, flu)) == pytest.approx([2 / 3] * 3 + [1 / 3] * 3)
    # without the own record: of flu, flu, cold the first has flu, cold left
    left = beliefs.without(world.bucket, world.fragment).values("ill")
    assert left.at(np.full(6, flu)) == pytest.approx([0.5, 0.5, 1.0, 0.0, 0.5, 0.5])


def test_two_averages_equally_near_share_the_belief() -> None:
    rows = {"x": ["0", "2", "4", "6", "3"], "ill": ["flu", "flu", "hiv", "hiv", "hiv"]}
    world = by_hand(ILL, rows, {"x": ["1", "1", "5", "5", "5"]})
    beliefs = nearest(world)
    hiv = world.table.domains["ill"].codes["hiv"]
    # 3 is two from 1 and two from 5: five records, three of them hiv
    assert beliefs.records().tied.tolist() == [2, 2, 3, 3, 5]
    assert beliefs.values("ill").at(np.full(5, hiv)) == pytest.approx([0, 0, 1, 1, 0.6])
    assert beliefs.classes(world.bucket)[0].tolist() == [1, 1, 1, 1, 1]  # 5's class has 3/5 of the belief


def test_where_the_own_record_was_the_only_one_the_next_nearest_counts() -> None:
    rows = {"x": ["1", "4", "9"], "ill": ["flu", "hiv", "cold"]}
    world = by_hand(ILL, rows, {"x": ["1.2", "4.2", "9.2"]})
    left = nearest(world).without(world.bucket, world.fragment)
    domain = world.table.domains["ill"]
    # after 1.2, 4.2 is next to 1; to 4, 1.2 is next (2.8 against 5.2); to 9, 4.2
    wanted = np.array([domain.codes[v] for v in ("hiv", "flu", "hiv")])
    assert left.values("ill").at(wanted).tolist() == [1, 1, 1]
    assert left.matched.all()
    only = by_hand(ILL, {"x": ["1"], "ill": ["flu"]}, {"x": ["1.5"]})
    gone = Nearest(only.release, only.knowledge, Suppression.EXCLUDED).without(only.bucket, only.fragment)
    assert not gone.matched.any()


def test_mahalanobis_is_scipys() -> None:
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(3)
    points = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) * [1, 10, 100]
    noisy = points + rng.normal(size=points.shape) * points.std(axis=0) / 3
    columns = {c: {"role": "quasi", "type": "numeric"} for c in "abc"}
    rows = {c: [f"{v:.6f}" for v in points[:, i]] for i, c in enumerate("abc")}
    cells = {c: [f"{v:.6f}" for v in noisy[:, i]] for i, c in enumerate("abc")}
    world = by_hand(columns, rows, cells)
    true, published = (np.array([[float(v) for v in part[c]] for c in "abc"]).T for part in (rows, cells))
    away = cdist(true, published, "mahalanobis", VI=np.linalg.inv(np.cov(published.T, bias=True)))
    own = away.argmin(axis=1) == np.arange(40)
    found = nearest(world, Metric.MAHALANOBIS).record_probability(world.bucket, world.fragment)
    assert found.tolist() == own.astype(float).tolist()
    assert 0 < own.sum() < 40


def test_columns_that_tell_the_same_count_once_under_mahalanobis() -> None:
    columns = {c: {"role": "quasi", "type": "numeric"} for c in "abcd"}
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 50, 30), rng.integers(0, 50, 30)
    rows = {"a": x, "b": 2 * x + 1, "c": 3 * x, "d": y}
    texts = {c: [str(v) for v in values] for c, values in rows.items()}
    noisy = {c: [f"{v + 0.25:.2f}" for v in values] for c, values in rows.items()}
    beliefs = nearest(by_hand(columns, texts, noisy), Metric.MAHALANOBIS)
    apart = nearest(by_hand({c: columns[c] for c in "ad"}, {c: texts[c] for c in "ad"}), Metric.MAHALANOBIS)
    assert beliefs.records().tied.tolist() == apart.records().tied.tolist()


def test_the_register_says_how_many_are_as_near() -> None:
    # to 2.5 (three records) six people of the register are nearest: P(in) = 1/2; to 11.5 three: 1
    rows = {"x": ["1", "2", "3", "8", "12", "16"], "ill": ["flu", "flu", "cold", "flu", "hiv", "hiv"]}
    cells = {"x": ["2.5", "2.5", "2.5", "11.5", "11.5", "11.5"]}
    population = {"x": [*rows["x"], "0", "1", "4"]}
    world = by_hand(ILL, rows, cells, population=population, membership=6 / 9)
    beliefs = nearest(world)
    assert beliefs.present == pytest.approx([0.5] * 3 + [1] * 3)
    assert beliefs.records().best == pytest.approx([1 / 6] * 3 + [1 / 3] * 3)
    scores = beliefs.membership(6 / 9)
    assert scores.judged
    assert scores.posterior == pytest.approx([0.5] * 3 + [1] * 3)
    assert scores.degree[1] > scores.degree[0]
    unknown = replace(world.knowledge, register=Register({}, 9))
    assert not Nearest(world.release, unknown, Suppression.EXCLUDED).membership(0.5).judged


def test_what_is_not_known_counts_for_nothing() -> None:
    columns = {"x": {"role": "quasi", "type": "numeric"}, "y": {"role": "quasi", "type": "numeric"}}
    rows = {"x": ["1", "2", "9"], "y": ["1", "2", "9"]}
    world = by_hand(columns, rows, {"x": ["1.5", "1.5", "9"], "y": ["1.5", "1.5", "9"]})
    blank = replace(world.knowledge, codes=np.array([[-1, -1, -1], [0, 1, 2]], dtype=np.int32).T.copy())
    assert nearest(replace(world, knowledge=blank)).records().tied.tolist() == [2, 2, 1]
    nothing = replace(world.knowledge, codes=np.full((3, 2), -1, dtype=np.int32))
    assert nearest(replace(world, knowledge=nothing)).records().tied.tolist() == [3, 3, 3]


# ----- when it applies -----------------------------------------------------------------------------------------------


def numbers(rows: int, columns: int = 3, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    schema = {f"x{i}": {"role": "quasi", "type": "numeric"} for i in range(columns)} | {"ill": {"role": "sensitive"}}
    values = {f"x{i}": [str(v) for v in rng.integers(0, 1000, rows)] for i in range(columns)}
    values["ill"] = rng.choice(["flu", "hiv", "cold"], rows).tolist()
    (table,) = encode(Schema.from_dict({"columns": schema}), [RawTable("table", values)])
    return table


def test_averages_are_searched_by_distance_and_not_by_containment() -> None:
    table = numbers(60)
    release, provenance = Mdav(k=3).anonymize(table, np.random.default_rng(0))
    record = audit(
        release,
        original=table,
        provenance=provenance,
        options=Options(attacks=("linking", "homogeneity"), utility=()),
    )
    for link in (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST):
        row = record.find("linking", "success", link=link)
        assert row.status == "not_applicable"
        assert row.reason is not None
        assert "see the link distance" in row.reason
    found = record.find("linking", "success", link=Link.DISTANCE)
    granted = record.find("linking", "success", link=Link.CLASS)
    assert 0.2 < (found.value or 0) <= (granted.value or 0) <= 1 / 3 + 1e-9
    guess = record.find("homogeneity", "success", link=Link.DISTANCE, sensitive="ill")
    assert guess.control_kind == "leave_one_out"
    named = Options(attacks=("linking",), links=(Link.CONTAINMENT,), utility=())
    asked = audit(release, original=table, provenance=provenance, options=named)
    assert asked.find("linking", "success", link=Link.CONTAINMENT).value == pytest.approx(0, abs=0.05)


def test_where_records_cover_people_distance_runs_only_when_named() -> None:
    from anonymizers.kmember import KMember

    table = numbers(40)
    release, provenance = KMember(k=4).anonymize(table, np.random.default_rng(0))
    alone = Options(attacks=("linking",), utility=())
    record = audit(release, original=table, provenance=provenance, options=alone)
    row = record.find("linking", "success", link=Link.DISTANCE)
    assert row.reason == "every record covers its person, so the nearest records are those that contain the person"
    named = replace(alone, links=(Link.DISTANCE, Link.CONTAINMENT))
    asked = audit(release, original=table, provenance=provenance, options=named)
    by_distance, by_cover = (asked.find("linking", "mean", link=link).value for link in named.links or ())
    assert by_distance == pytest.approx(by_cover)


def test_reasons_against_distance() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "zip": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    world = by_hand(
        columns, {"age": ["1", "2"], "zip": ["a", "b"], "ill": ["x", "y"]}, None, [["age"], ["zip", "ill"]], [0, 0]
    )
    assert no_distance(world.release, ("age",), 2) is None
    assert "several blocks" in (no_distance(world.release, ("age", "zip"), 2) or "")
    assert "nothing that is published" in (no_distance(world.release, (), 2) or "")
    assert "attack fewer people" in (no_distance(world.release, ("age",), 10**12) or "")


def test_averages_matched_with_the_wrong_rows_are_doubted() -> None:
    table = numbers(80)
    release, provenance = Mdav(k=4).anonymize(table, np.random.default_rng(0))
    (note,) = check_truth(release, provenance, table, False)
    assert note.text.startswith("Some published numbers are not values of the original")
    order = np.random.default_rng(1).permutation(80)
    wrong = replace(provenance, bucket=provenance.bucket[order], fragment=provenance.fragment[order])
    doubt = check_truth(release, wrong, table, False)[1]
    assert doubt.kind == NoteKind.DOUBT
    assert "as far from those of the original as if rows were matched at random" in doubt.text
    whole, everybody = Mdav(k=80).anonymize(table, np.random.default_rng(0))
    assert (
        len(check_truth(whole, everybody, table, False)) == 1
    )  # one average for all says nothing of how rows are matched
