"""Anonymizers keep their promise in people, or refuse: whole tables, blocks, and every method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from anonymizers.shared.grouping import Grouping
from auditor.auditing.people import by_people
from auditor.auditing.subjects import Subject
from auditor.measure.classes import class_facts
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Role, Schema
from auditor.model.table import RawTable, Table, encode

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pid": {"role": "person"},
            "age": {"role": "quasi", "type": "numeric"},
            "city": {"role": "quasi"},
            "disease": {"role": "sensitive"},
        }
    }
)


def visits(people: int = 40, seed: int = 0, moving: bool = False) -> Table:
    """From one to five visits of each of some people; with `moving` their age and city change."""
    rng = np.random.default_rng(seed)
    lines = []
    for who in range(people):
        age, city = int(rng.integers(20, 60)), "ABCD"[rng.integers(4)]
        for visit in range(int(rng.integers(1, 6))):
            home = "ABCD"[rng.integers(4)] if moving else city
            lines.append((f"p{who}", str(age + visit if moving else age), home, "wxyz"[rng.integers(4)]))
    order = rng.permutation(len(lines))
    columns = {name: [lines[i][place] for i in order] for place, name in enumerate(SCHEMA.columns)}
    (table,) = encode(SCHEMA, [RawTable("visits", columns)])
    return table


def people_of(table: Table, method: str, **settings: object) -> int | None:
    """k in people, recomputed from the release, which must not have the person column."""
    release, provenance = anonymize(table, method, 7, **settings)
    assert "pid" not in release.columns
    assert release.rows + release.left_out == table.rows
    return class_facts(by_people(Subject(release, table, provenance)).release).k


OWN: dict[str, dict[str, int]] = {
    "rgather": {"r": 3},
    "rcellular": {"r": 3},
    "anatomy": {"l": 2},
    "slicing": {"l": 2},
    "l-clustering": {"l": 2},
}
GROUPING = sorted(name for name, kind in ANONYMIZERS.all().items() if issubclass(kind, Grouping))


@pytest.mark.parametrize("name", GROUPING)
def test_k_counts_people_or_the_method_refuses(name: str) -> None:
    table, settings = visits(), OWN.get(name, {"k": 3})
    method = ANONYMIZERS.get(name).configure(settings)
    promised = [promise for promise in method.promises() if promise.startswith("k = ")]
    if len(promised) == len(method.promises()):
        k = people_of(table, name, **settings)
        assert k is not None
        assert k >= int(promised[0].removeprefix("k = "))
    else:
        with pytest.raises(PromiseError, match="is about rows, and some people have several rows in one class"):
            anonymize(table, name, 7, **settings)


@pytest.mark.parametrize("blocks", [False, 15])
@pytest.mark.parametrize("moving", [False, True])
def test_mondrian_keeps_k_in_people_in_blocks_too(blocks: bool | int, moving: bool) -> None:
    table = visits(80, 1, moving)
    k = people_of(table, "mondrian", k=4, blocks=blocks)
    assert k is not None
    assert k >= 4


def test_centres_need_rows_of_one_person_alike() -> None:
    with pytest.raises(PromiseError, match="must be as far from a centre"):
        anonymize(visits(moving=True), "rgather", 7, r=3)


def test_too_few_people_are_told() -> None:
    table = visits(4)
    assert table.rows > 5
    with pytest.raises(PromiseError):
        anonymize(table, "mondrian", 7, k=5)


def test_a_row_without_a_person_is_refused() -> None:
    table = visits()
    texts = [text if row else "" for row, text in enumerate(table.texts("pid"))]
    columns = {name: texts if name == "pid" else table.texts(name) for name in table.codes}
    (holed,) = encode(SCHEMA, [RawTable("visits", columns)])
    with pytest.raises(PromiseError, match="each row must say whose it is"):
        anonymize(holed, "mondrian", 7, k=2)


def test_one_row_each_gives_the_release_of_rows() -> None:
    table = visits()
    alone = table.take(np.sort(np.unique(table.codes["pid"], return_index=True)[1]))
    other = Schema({**SCHEMA.columns, "pid": replace(SCHEMA.columns["pid"], role=Role.IDENTIFIER)})
    ours, _ = anonymize(alone, "mondrian", 7, k=3)
    theirs, _ = anonymize(replace(alone, schema=other), "mondrian", 7, k=3)
    assert ours.sizes.tolist() == theirs.sizes.tolist()


@pytest.mark.parametrize(("name", "settings"), [("mondrian", {"k": 3}), ("anatomy", {"l": 2}), ("cart", {})])
def test_people_are_held_out_with_all_their_rows(name: str, settings: dict[str, int]) -> None:
    table = visits(60, moving=name == "cart")
    if name == "anatomy":  # its promise is about rows
        table = table.take(np.sort(np.unique(table.codes["pid"], return_index=True)[1]))
    release, provenance = anonymize(table, name, 7, holdout=0.25, **settings)
    members = provenance.made_from
    assert members is not None
    inside, outside = (set(table.codes["pid"][rows].tolist()) for rows in (members, ~members))
    assert not inside & outside
    assert len(outside) == round(0.25 * len(inside | outside))
    assert (provenance.bucket[~members] == -1).all()
    assert (provenance.fragment[~members] == -1).all()
    assert release.left_out == 0
    if name == "cart":
        assert (provenance.bucket == -1).all()
        assert release.rows == int(members.sum())
    else:  # it is the release of the members, and nothing of the others
        alone, same = anonymize(table.take(np.flatnonzero(members)), name, 7, **settings)
        assert (same.bucket == provenance.bucket[members]).all()
        assert (alone.blocks[0].cells == release.blocks[0].cells).all()


def test_who_is_held_out_does_not_depend_on_the_order_of_rows() -> None:
    table = visits(30)
    order = np.random.default_rng(2).permutation(table.rows)
    members = anonymize(table, "cart", 7, holdout=0.5)[1].made_from
    moved = anonymize(table.take(order), "cart", 7, holdout=0.5)[1].made_from
    assert members is not None
    assert moved is not None
    assert (members[order] == moved).all()
    another = anonymize(table, "cart", 8, holdout=0.5)[1].made_from
    assert another is not None
    assert (members != another).any()


@pytest.mark.parametrize("holdout", [0.0, 1.0, -0.5])
def test_a_holdout_is_a_share(holdout: float) -> None:
    with pytest.raises(UsageError, match="holdout must be above 0 and below 1"):
        anonymize(visits(), "cart", 7, holdout=holdout)


def test_somebody_must_remain() -> None:
    table = visits(2)
    for holdout in (0.01, 0.99):
        members = anonymize(table, "cart", 7, holdout=holdout)[1].made_from
        assert members is not None
        assert len(np.unique(table.codes["pid"][members])) == 1
    with pytest.raises(UsageError, match="at least two people"):
        anonymize(visits(1), "cart", 7, holdout=0.5)
