"""Sampling: the people who are attacked where a release is too large to attack everybody, or to be held in memory.

Everybody is in the sample with the same chance p, independently of all others, so what is found among the sampled estimates
the whole, and intervals of proportions hold. The sample is drawn class by class, so that whoever scans a release needs to
know no more of a class than its labels and its size to say whether it must be fetched:

1. A class of f people is *touched* with chance 1 - (1-p)^f: a hash of its label numbers and the seed says so.
2. Of a touched class at least one person is in the sample; how many is drawn from the binomial distribution given that.
3. Which of its people is drawn without replacement.

So the number of people drawn from a class is binomial (f, p), and any of them are as likely as any others: the same as
drawing everybody alone. Draws go through the touched classes in the order of their label numbers, and within one through its
people in the order of their sensitive label numbers. Label numbers are ranks of texts, so that neither the order of rows nor
the engine that scans them matters.

The hash uses + · mod on whole numbers below 2^62 and nothing else: the same function takes arrays and the columns of a query.
With the prime P = 2^31 - 1, the label numbers are the coefficients of a polynomial at a point that the seed gives, so that
two classes agree with a chance of columns/P at most; then x → a·x^5 + c mod P parts neighbours. That is one-to-one, since 5
does not divide P - 1, and no lower power but the first is; fifth powers of numbers in a row are spread as if at random,
alone and in pairs, up to a share of some 4/√P (A. Weil's bound for sums over polynomials of degree 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.facts import release_facts
from auditor.model.beyond import Beyond
from auditor.model.errors import UsageError
from auditor.model.labels import Labels
from auditor.model.publishing import publish
from auditor.model.record import Input, ReleaseFacts
from auditor.model.release import Suppression
from auditor.model.sample import Sample
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.options import Options
from auditor.subjects import Subject, release_alone

Ints = NDArray[np.int64]

PRIME = 2**31 - 1


def share(sample: int, people: int) -> float:
    """The chance of each of some people to be in a sample of about this size."""
    return min(1.0, sample / max(people, 1))


def touched(codes: Sequence[Any], size: Any, p: float, seed: int) -> Any:
    """Whether each class has anybody in the sample. `codes` are the label numbers of its quasi-identifiers (in the order of
    the schema), `size` the number of its people: arrays of 64-bit integers, or such columns of an Ibis table, and the answer
    is the same kind of thing. In a query the expression holds each of them five times."""
    mixed, point, factor, added = stage(seed, "sample", "classes").integers(2**20, PRIME, size=4).tolist()
    for code in codes:
        mixed = (mixed * point + code + 1) % PRIME
    square = (mixed * mixed) % PRIME
    fifth = ((square * square) % PRIME * mixed) % PRIME
    lot = (fifth * factor + added) % PRIME
    return (lot + 0.5) / PRIME < 1 - (1 - p) ** size


def held_part(
    schema: Schema,
    labels: Mapping[str, Labels],
    columns: Sequence[str],
    cells: Mapping[str, NDArray[np.integer]],
    beyond: Beyond,
    *,
    people: int,
    sample: int,
    seed: int,
    name: str,
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    facts: ReleaseFacts | None = None,
    inputs: tuple[Input, ...] = (),
    notes: tuple[str, ...] = (),
    identifiers: tuple[str, ...] = (),
) -> Subject:
    """A release of one block held in part, with the people of a sample as targets.

    `cells[column]` are the label numbers of all rows of the touched classes, in any order, for each of the published
    `columns`; `beyond` sums up all other rows. `people` is the number of people that count: of all rows, or of those whose
    quasi-identifiers were not all withheld where these are excluded. About `sample` of them are drawn by the seed.
    """
    rows = len(cells[columns[0]])
    quasi = [c for c in schema.quasi if c in columns]
    sensitive = [c for c in schema.sensitive if c in columns]
    others = [c for c in columns if c not in quasi and c not in sensitive]
    order = np.lexsort([cells[c] for c in reversed([*quasi, *sensitive, *others])]) if rows else np.arange(0)
    ordered = {c: np.asarray(cells[c])[order].astype(np.int32) for c in columns}
    chosen = drawn(_starts([ordered[c] for c in quasi], rows), rows, share(sample, people), seed)
    if not len(chosen):
        raise UsageError(
            f"--sample {sample}: nobody was drawn of the {people} people of {name}. Ask for more, or take another --seed."
        )
    rng = stage(seed, "release")
    release, provenance = publish(
        schema, labels, ordered, [list(columns)], None, rng, name, method, params, beyond=beyond
    )
    alone = release_alone(release, provenance, inputs)
    return replace(
        alone,
        notes=(*notes, *alone.notes),
        identifiers=identifiers,
        sample=Sample(chosen, people),
        facts=facts,
    )


def _starts(keys: Sequence[NDArray[np.int32]], rows: int) -> Ints:
    """Where each class begins, rows being ordered by the labels that make the classes."""
    first = np.zeros(rows, dtype=np.bool_)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(first)


def drawn(starts: Ints, rows: int, p: float, seed: int) -> Ints:
    """The rows in the sample, ascending: those of touched classes, one after the other, the first of each given."""
    sizes = np.diff(np.append(starts, rows))
    count = _at_least_one(sizes, p, stage(seed, "sample", "counts"))
    lot = stage(seed, "sample", "people").random(rows)
    class_of = np.repeat(np.arange(len(starts)), sizes)
    order = np.lexsort((lot, class_of))
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows) - np.repeat(starts, sizes)
    return np.flatnonzero(place < count[class_of])


def _at_least_one(sizes: Ints, p: float, rng: np.random.Generator) -> Ints:
    """Binomial numbers (size, p), each given that it is not zero: the least number that is exceeded with a chance below one
    that is drawn evenly up to that of any."""
    if p >= 1:
        return sizes
    from scipy.stats import binom

    some = -np.expm1(sizes * np.log1p(-p))
    count = binom.isf((1 - rng.random(len(sizes))) * some, sizes, p)
    return np.clip(count, 1, sizes).astype(np.int64)


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
    if subject.has_original:
        return people_of(subject, options.sample, options.seed, options.suppression)
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
    part = held_part(
        release.schema,
        release.labels,
        block.columns,
        {c: block.cell(c)[held] for c in block.columns},
        beyond,
        people=people,
        sample=sample,
        seed=seed,
        name=release.name,
        method=release.method,
        params=release.params,
        facts=facts,
        inputs=subject.inputs,
        identifiers=subject.identifiers,
    )
    return replace(part, notes=subject.notes, register=subject.register)


def people_of(subject: Subject, sample: int, seed: int, suppression: Suppression) -> Subject:
    """A subject with an original, a sample of the people in the release being the targets. Everybody is drawn alone."""
    assert subject.provenance is not None
    bucket = subject.provenance.bucket
    rows = np.flatnonzero(bucket >= 0)
    if suppression is Suppression.EXCLUDED:
        rows = rows[~subject.release.suppressed[bucket[rows]]]
    chosen = rows[stage(seed, "sample").random(len(rows)) < share(sample, len(rows))]
    if len(rows) and not len(chosen):
        raise UsageError(f"--sample {sample}: nobody was drawn of {len(rows)} people. Ask for more, or another --seed.")
    return replace(subject, sample=Sample(chosen, len(rows)))


def _histogram(sizes: Ints) -> dict[int, int]:
    size, times = np.unique(sizes, return_counts=True)
    return dict(zip(size.tolist(), times.tolist(), strict=True))
