"""Worlds: the data of a run, with the people who are released and those who are outside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from auditor.auditing.correspondence import find_outsiders
from auditor.files.tables import read_raw
from auditor.model.arrays import Ints
from auditor.model.errors import ScenarioError, UsageError
from auditor.model.knowledge import drawn_people
from auditor.model.record.record import Input
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode
from scenarios import town
from scenarios.scenario import Data


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The data of a run: the table to release, the population, and which of its people are not in the table. `notes` are for
    the records of all its releases, `remarks` for the run as a whole."""

    people: Table
    population: Table | None
    outsiders: Ints
    inputs: tuple[Input, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def run_seeds(count: int, first: int) -> tuple[int, ...]:
    """The seeds of repeated runs: the first one and those after it."""
    if count < 1:
        raise UsageError(f"seeds must be at least 1. Got {count}.")
    return tuple(range(first, first + count))


def sampled(everybody: Table, sample: float | None, seed: int, inputs: tuple[Input, ...]) -> World:
    """A table of which the rows of a random share of people are released, the others being outsiders; without a share all of
    it is released."""
    if sample is None or sample == 1:
        return World(everybody, None, np.empty(0, dtype=np.int64), inputs)
    person = _whose(everybody)
    people = int(person.max()) + 1
    count = max(round(sample * people), 1)
    chosen = drawn_people(everybody.contents(), person, count, stage(seed, "sample"))  # whatever the order of rows
    outsiders = np.setdiff1d(np.arange(everybody.rows), chosen)
    return World(everybody.take(chosen), everybody, outsiders, inputs)


def counted(world: World) -> tuple[int, int]:
    """How many people are outside, and how many there are."""
    whole = world.people if world.population is None else world.population
    person = _whose(whole)
    return len(np.unique(person[world.outsiders])), len(np.unique(person))


def _whose(table: Table) -> Ints:
    """The number of the person of each row."""
    column = table.schema.person
    if column is None or column not in table.codes:
        return np.arange(table.rows)
    return np.unique(table.codes[column], return_inverse=True)[1]


def build_world(data: Data, seed: int) -> World:
    """The data of a scenario: a built-in source or a file, with a population, or sampled."""
    if data.source == "town":
        frame = town.population(seed=seed)
        schema = Schema.read(Path(str(town.schema_path())))
        raw = RawTable.from_frame(frame, "town")
        inputs: tuple[Input, ...] = (Input("population", "town (built in)", None, raw.rows),)
    else:
        if data.file is None or data.schema is None:
            raise ScenarioError("[data]: a built-in source, or a file with its schema, must be given.")
        schema = Schema.read(data.schema)
        raw = read_raw(data.file, schema.format, tuple(schema.columns))
        inputs = (Input("original", data.file.name, raw.sha256, raw.rows),)
    if data.population is not None:
        at_large = read_raw(data.population, schema.format, tuple(schema.columns))
        people, population = encode(schema, [raw, at_large])
        inputs = (*inputs, Input("population", data.population.name, at_large.sha256, at_large.rows))
        return World(people, population, find_outsiders(people, population), inputs)
    (everybody,) = encode(schema, [raw])
    return sampled(everybody, data.sample, seed, inputs)
