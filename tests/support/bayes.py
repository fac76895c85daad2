"""The best guess there is: every table that may be behind a release, by enumeration.

The adversary knows everybody's quasi-identifiers and how the release was made, and takes every way to deal sensitive values
out to the people for equally likely. Then P(t has s | release) is the share of the tables in which t has s among those that
give this very release, whatever order its rows are in. Nobody who knows no more can do better than name the likeliest value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizers import ANONYMIZERS
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import PromiseError
from auditor.model.knowledge import Mechanism
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.beliefs import ValueBeliefs

ILL = "ill"
Quasi = dict[str, list[str]]


@dataclass(frozen=True, eq=False)
class Worlds:
    """The releases of all tables, and what can be known from each of them."""

    subjects: list[Subject]
    mechanism: Mechanism
    posterior: list[Floats]
    """By table, the probability of each value for each person (people × values) after its release."""

    @property
    def success(self) -> float:
        """How often the likeliest value is the true one, over all tables and people."""
        return float(np.mean([chance.max(axis=1) for chance in self.posterior]))

    def success_of(self, guess: Callable[[Subject], ValueBeliefs]) -> float:
        """How often the likeliest value by other beliefs is the true one, ties being split."""
        right = []
        for subject in self.subjects:
            assert subject.people is not None
            chosen = guesses(guess(subject))
            right.append(chosen[np.arange(len(chosen)), subject.people.codes[ILL]])
        return float(np.mean(right))


def guesses(values: ValueBeliefs) -> Floats:
    """What is claimed of each person (people × codes): the likeliest value, or a share of each that ties."""
    chosen = np.zeros(values.rows.shape)
    top = values.top_entries() & (values.rows.data > 0)
    chosen[values.row_number[top], values.rows.indices[top]] = 1.0
    return np.asarray((chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1))[values.row_of])


def all_worlds(quasi: Quasi, values: str, dealings: Iterable[tuple[int, ...]], method: str, **settings: Any) -> Worlds:
    """The tables of some people in which values are dealt out in these ways, those apart of which no release is possible."""
    made = ANONYMIZERS.get(method).configure(settings)
    subjects, seen = [], defaultdict[Any, list[int]](list)
    for table in _tables(quasi, values, dealings):
        try:
            release, provenance = made.anonymize(table, np.random.default_rng(0))
        except PromiseError:
            continue
        seen[_published(release)].append(len(subjects))
        subjects.append(Subject(release, table, provenance))
    posterior = [np.empty(0)] * len(subjects)
    for alike in seen.values():
        codes = np.array([_codes(subjects[i]) for i in alike])
        chance = np.stack([(codes == code).mean(axis=0) for code in range(len(values))], axis=1)
        for i in alike:
            posterior[i] = chance

    def run(table: Table, rng: np.random.Generator) -> Release:
        found: tuple[Release, Provenance] = made.anonymize(table, rng)
        return found[0]

    return Worlds(subjects, Mechanism(method, made.settings(), run), posterior)


def _codes(subject: Subject) -> Ints:
    assert subject.people is not None
    return subject.people.codes[ILL].astype(np.int64)


def _tables(quasi: Quasi, values: str, dealings: Iterable[tuple[int, ...]]) -> Iterator[Table]:
    people = len(next(iter(quasi.values())))
    columns = {name: {"role": "quasi", "type": "numeric"} for name in quasi}
    schema = Schema.from_dict({"columns": {**columns, ILL: {"role": "sensitive", "order": list(values)}}})
    rows = {**quasi, ILL: [values[i % len(values)] for i in range(people)]}
    (table,) = encode(schema, [RawTable("people", rows)])
    for dealt in dealings:
        yield replace(table, codes={**table.codes, ILL: np.array(dealt, dtype=np.int32)})


def _published(release: Release) -> tuple[tuple[str, ...], ...]:
    """What a release of one block says, whatever order its rows are in."""
    (block,) = release.blocks
    texts = [release.labels[column].texts for column in block.columns]
    return tuple(sorted(tuple(text[i] for text, i in zip(texts, row, strict=True)) for row in block.cells.tolist()))
