"""Drawing: the classes of a sample of people, fetched from an engine, and the sums of all others.

`auditor.measure.draws` decides by a hash of a class's labels and its size whether the sample includes any of its people. The
engine evaluates that for every class and returns those that are included, as counts of their sensitive values. If these
classes have more rows than fit into memory (a few classes may hold nearly everybody), the sample is made smaller until they
fit, with a note.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.scanning.counting import Counting, fetch, small_table
from auditor.engines.sources.faults import asking
from auditor.measure.draws import share, touched
from auditor.model.arrays import Ints
from auditor.model.beyond import Beyond
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Suppression

LEAST_SAMPLE = 100  # a smaller sample says too little to be worth drawing
_CELL = 24  # what one cell of a fetched row costs during an attack, in bytes (measured: 14)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What was fetched."""

    cells: dict[str, Ints]  # the label numbers of all rows of the touched classes
    beyond: Beyond  # the sums of everything else
    sample: int  # the sample size that was asked for, or the smaller one that fits
    people: int  # how many people it was drawn from
    notes: tuple[str, ...] = ()


def draw(counting: Counting, facts: ReleaseFacts, sample: int, seed: int) -> Drawn | str:
    """The classes of about `sample` people, or why there are none."""
    excluded = counting.suppression is Suppression.EXCLUDED
    people = counting.rows - (counting.suppressed_rows if excluded else 0)
    fitting = sample
    while True:
        hit = _touched(counting, share(fitting, people), seed)
        rows = people if hit is None else int(hit["size"].sum())
        room = _room(counting)
        if rows <= room:
            break
        if fitting <= LEAST_SAMPLE:
            return (
                f"the classes of {fitting} people have {rows} rows, more than fit into the memory that was given. Give more "
                "(--memory)."
            )
        fitting = max(min(fitting, people) * room // rows, min(LEAST_SAMPLE, fitting // 2))
    cells = _cells(counting, hit)
    notes: tuple[str, ...] = ()
    if fitting < sample:
        notes = (
            f"The sample was reduced from {sample} to {fitting} people: classes are large, and those of more people would "
            "not fit into the memory that was given (--memory).",
        )
    return Drawn(cells, _beyond(counting, facts, cells), fitting, people, notes)


def _room(counting: Counting) -> int:
    """How many rows fit into memory."""
    memory = counting.engine.memory or 0
    return max(memory // 2, 50_000_000) // (_CELL * (len(counting.quasi) + len(counting.sensitive)))


def _people(counting: Counting, *others: str) -> Any:
    """The rows of the people who may be drawn. Suppressed rows are classes by their own labels."""
    people = counting.people(*others, everybody=True)
    if counting.suppressed_rows and counting.suppression is Suppression.EXCLUDED:
        people = people.filter(~counting.is_suppressed(people))
    return people


def _touched(counting: Counting, p: float, seed: int) -> dict[str, NDArray[Any]] | None:
    """The keys and sizes of the classes with anybody in the sample, at most as many as it has people; None if the sample is
    everybody."""
    if p >= 1:
        return None
    ibis, names = counting.engine.ibis, counting.keys.names
    people = _people(counting)
    found = people.group_by(names).agg(size=people.count())
    codes = counting.keys.unpacked(found)
    found = found.mutate(**{f"label{i}": codes[column] for i, column in enumerate(counting.quasi)})
    for i, column in enumerate(counting.quasi):
        label = counting.codings[column].label
        if not np.array_equal(label, np.arange(len(label))):
            listed = small_table(ibis, code=np.arange(len(label)), number=label)
            found = found.join(listed, found[f"label{i}"] == listed.code).drop("code", f"label{i}")
            found = found.rename({f"label{i}": "number"})
    labels = [found[f"label{i}"].cast("int64") for i in range(len(counting.quasi))]
    with asking(counting.engine, counting.source.name):
        return fetch(found.filter(touched(labels, found["size"].cast("int64"), p, seed)).select(*names, "size"))


def _cells(counting: Counting, hit: dict[str, NDArray[Any]] | None) -> dict[str, Ints]:
    """The label numbers of all rows of the touched classes."""
    names, held = counting.keys.names, _people(counting, *counting.sensitive)
    codes = [counting.code(column) for column in counting.sensitive]
    if hit is not None:
        listed = small_table(counting.engine.ibis, **{name: hit[name].astype(np.int64) for name in names})
        held = held.semi_join(listed, names)
    counted = held.group_by([*names, *codes]).agg(n=held.count())
    with asking(counting.engine, counting.source.name):
        rows = fetch(counted)
    times = rows["n"].astype(np.int64)
    quasi = counting.keys.unpacked({name: rows[name].astype(np.int64) for name in names})
    code = quasi | {c: rows[counting.code(c)].astype(np.int64) for c in counting.sensitive}
    return {column: np.repeat(counting.codings[column].label[code[column]], times) for column in code}


def _beyond(counting: Counting, facts: ReleaseFacts, cells: dict[str, Ints]) -> Beyond:
    """The sums of what was not fetched: the sums of everything minus those of what was."""
    held = len(next(iter(cells.values()), ()))
    quasi = np.column_stack([cells[c] for c in counting.quasi]) if counting.quasi else np.zeros((held, 1), np.int64)
    rows, size = np.unique(quasi, axis=0, return_counts=True)
    withheld = np.ones(len(rows), dtype=np.bool_)
    for i, column in enumerate(counting.quasi):
        withheld &= counting.labels[column].suppressed[rows[:, i]]
    if not counting.suppressed_rows:
        withheld[:] = False
    apart = suppressed_sizes(counting)
    return Beyond(
        dict(published_sizes(counting, facts) - Counter(size[~withheld].tolist())),
        dict(apart - Counter(size[withheld].tolist())),
        {
            column: counting.codings[column].rows - np.bincount(cell, minlength=len(counting.codings[column].texts))
            for column, cell in cells.items()
        },
        {one.column: one.proximity_m for one in facts.sensitive},
    )


def published_sizes(counting: Counting, facts: ReleaseFacts) -> Counter[int]:
    """How many classes there are of each size, without those of suppressed quasi-identifiers."""
    found = Counter({int(size): times for size, times in facts.class_sizes.items()})
    if counting.suppression is Suppression.OWN and counting.suppressed_rows:
        found -= Counter([counting.suppressed_rows])  # which are one class there
    return found


def suppressed_sizes(counting: Counting) -> Counter[int]:
    """How many classes of suppressed quasi-identifiers there are of each size, told apart by their labels."""
    if not counting.suppressed_rows:
        return Counter()
    people = counting.people(everybody=True)
    people = people.filter(counting.is_suppressed(people))
    with asking(counting.engine, counting.source.name):
        sizes = fetch(people.group_by(counting.keys.names).agg(size=people.count()))["size"]
    return Counter(sizes.astype(int).tolist())
