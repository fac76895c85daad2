"""Sampling: the people who are attacked where a release is too large to attack everybody, or to be held in memory.

How people are drawn, and why no order of rows or engine matters: `auditor/measure/draws.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.facts import release_facts
from auditor.auditing.subjects import Sample, Subject, release_alone
from auditor.measure.draws import drawn, share, touched
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.beyond import Beyond
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.publishing import publish
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import Table
from scenarios.options import Options


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What is held of a release of one block: all rows of the classes that have anybody in the sample."""

    name: str
    schema: Schema
    labels: Mapping[str, Labels]
    cells: Mapping[str, NDArray[np.integer]]  # by published column, the label numbers of these rows, in any order
    beyond: Beyond  # sums of all other rows
    people: int  # how many people count: those of all rows, without the suppressed ones where these are excluded
    method: str | None = None
    params: Mapping[str, Any] | None = None


def held_part(part: Part, sample: int, seed: int) -> Subject:
    """A release held in part. About `sample` of its people, drawn by the seed, are the targets."""
    schema, cells, columns, people = part.schema, part.cells, list(part.cells), part.people
    rows = len(cells[columns[0]])
    quasi = [c for c in schema.quasi if c in columns]
    sensitive = [c for c in schema.sensitive if c in columns]
    others = [c for c in columns if c not in quasi and c not in sensitive]
    order = np.lexsort([cells[c] for c in reversed([*quasi, *sensitive, *others])]) if rows else np.arange(0)
    ordered = {c: np.asarray(cells[c])[order].astype(np.int32) for c in columns}
    chosen = drawn(_starts([ordered[c] for c in quasi], rows), rows, share(sample, people), seed)
    if not len(chosen):
        raise UsageError(
            f"--sample {sample}: nobody was drawn of the {people} people of {part.name}. Ask for more, or give another "
            "--seed."
        )
    rng = stage(seed, "release")
    release, provenance = publish(
        schema, part.labels, ordered, [columns], None, rng, part.name, part.method, part.params, beyond=part.beyond
    )
    return replace(release_alone(release, provenance), sample=Sample(chosen, people))


def _starts(keys: Sequence[Codes], rows: int) -> Ints:
    """Where each class begins, rows being ordered by the labels that make the classes."""
    first = np.zeros(rows, dtype=np.bool_)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(first)


def sampled(subject: Subject, options: Options) -> Subject:
    """A subject with a sample of its people as targets. Without an original it is then held in part, as if it had been too
    large: what can be said of it does not depend on whether it was. Where nobody can be attacked it stays as it is."""
    assert options.sample is not None
    if options.targets is not None:
        raise UsageError(
            "A sample of people and certain people cannot both be attacked: leave out --sample or --targets."
        )
    if options.sample < 1:
        raise UsageError(f"--sample must be at least 1. Got {options.sample}.")
    if subject.people is None or subject.provenance is None:
        return subject
    if subject.has_original or subject.whole is not None or subject.household is not None:
        return people_of(subject, options.sample, options.seed, options.suppression, options.half)
    return part_of(subject, options.sample, options.seed, options.suppression, release_facts(subject, options))


def part_of(subject: Subject, sample: int, seed: int, suppression: Suppression, facts: ReleaseFacts) -> Subject:
    """The part of a release without original, held in memory as a whole, that an engine would fetch for a sample: the same
    as if it had been scanned. `facts` are those of the whole."""
    release, block = subject.release, subject.release.blocks[0]
    first = np.zeros(len(release.sizes), dtype=np.int64)
    first[block.bucket] = np.arange(len(block.bucket))
    counted = np.ones(len(first), np.bool_) if suppression is not Suppression.EXCLUDED else ~release.suppressed
    people = int(release.sizes[counted].sum())
    codes = [block.cell(c)[first].astype(np.int64) for c in release.quasi]
    hit = counted & touched(codes, release.sizes, share(sample, people), seed)
    held = hit[block.bucket]
    beyond = Beyond(
        _histogram(release.sizes[~hit & ~release.suppressed]),
        _histogram(release.sizes[~hit & release.suppressed]),
        {c: np.bincount(block.cell(c)[~held], minlength=len(release.labels[c].texts)) for c in block.columns},
        {one.column: one.proximity_m for one in facts.sensitive},
    )
    cells = {c: block.cell(c)[held] for c in block.columns}
    part = Part(release.name, release.schema, release.labels, cells, beyond, people, release.method, release.params)
    kept = {name: getattr(subject, name) for name in ("inputs", "notes", "identifiers", "population", "unjudged")}
    return replace(held_part(part, sample, seed), facts=facts, **kept)


def people_of(subject: Subject, sample: int, seed: int, suppression: Suppression, half: int | None = None) -> Subject:
    """A subject held as a whole, a sample of the people in the release, or of one half of them, being the targets. Everybody
    is drawn alone. Whoever is in one half is never in the other, in any release of these people."""
    assert subject.provenance is not None
    assert subject.people is not None
    bucket = subject.provenance.bucket
    rows = np.flatnonzero(bucket >= 0)
    if suppression is Suppression.EXCLUDED:
        rows = rows[~subject.release.suppressed[bucket[rows]]]
    owner = np.arange(subject.people.rows) if subject.person is None else subject.person
    everybody, number = np.unique(owner[rows], return_inverse=True)
    people = len(everybody)
    some = share(sample, people)
    if half is None:
        taken = _drawn_people(subject.people, rows, owner, stage(seed, "sample").random)[1] < some
    else:
        rng = stage(seed, "halves")
        every = np.arange(subject.people.rows)
        who, place = _drawn_people(subject.people, every, owner, lambda count: rng.permutation(count) / max(count, 1))
        place = place[np.searchsorted(who, everybody)]
        taken = place < min(some, 0.5) if half == 0 else place >= 1 - min(some, 0.5)
    if people and not taken.any() and half is not None:
        raise UsageError("Choosing on one half of the people takes at least two of them in the release.")
    if people and not taken.any():
        raise UsageError(f"--sample {sample}: nobody was drawn of {people} people. Ask for more, or another --seed.")
    return replace(subject, sample=Sample(rows[taken[number]], people, int(taken.sum())))


def _drawn_people(people: Table, rows: Ints, owner: Ints, drawn: Callable[[int], Floats]) -> tuple[Ints, Floats]:
    """Those whose rows these are, and for each a number from 0 to 1, drawn in the order of contents, so that the order of
    rows does not matter."""
    who, number = np.unique(owner[rows], return_inverse=True)
    content = np.zeros(len(who), dtype=np.uint64)
    np.add.at(content, number, people.contents()[rows])
    place = np.empty(len(who))
    place[np.argsort(content, kind="stable")] = drawn(len(who))
    return who, place


def _histogram(sizes: Ints) -> dict[int, int]:
    size, times = np.unique(sizes, return_counts=True)
    return dict(zip(size.tolist(), times.tolist(), strict=True))
