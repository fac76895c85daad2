"""Presence: how likely each person of a population is to be in the release.

With a list of the population (a `Register`) the number of people is finite, and the release tells how many of them each cell
holds: `count` of those whose values fit. Everybody is absent or in one class. Of all models that meet these counts we take
the one nearest to indifference (present or absent equally likely, classes by the share of fitting people they hold). It gives
person j odds of being in class B against being absent that are proportional to Π_b λ(b, cell of j). The factors λ are fitted
by iterative scaling, one cell after the other in odds. If classes do not overlap, this is exact at once: if F people of the
population fit a class of f people, each of them is present with f/F.

Somebody about whom less is known than the list holds is present with the mean over those who share what is known. If the
list is incomplete, each cell's count is expected to hold only the share of people that it covers.

Departs from the design's formula, odds = π/(1-π) · m(t)/(n·q(t)), which assumes that the other people are drawn from an
unbounded population. Given a list, that is overconfident for several blocks and for partial knowledge (measured on `town`:
expected 0.93, realised 0.51 right guesses under slicing). It is still used if there is no list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.knowledge import Knowledge, Register
from auditor.model.packing import distinct_rows
from auditor.model.release import Release, Suppression
from auditor.posterior.candidates import Matching
from auditor.posterior.matching import distinct_people, expand
from auditor.posterior.noise import Noise, doubts
from auditor.posterior.population import IndependentPopulation, RegisterPopulation

_ROUNDS = 600
_CLOSE = 1e-4
_MOST = 1e9

CONVERGED = 0.02
"""The fit counts as converged if at most this share of people is misplaced."""


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """The probability of being in the release for each person of a population, and how well the counts are met: `gap` is the
    share of people who would have to be moved between cells."""

    chance: Floats
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """How the rows of a matching fit the cells of one block: an entry fits one or more cells."""

    entry: Ints
    cell: Ints
    count: Floats
    people: Floats


@lru_cache(maxsize=2)  # for the steps of one audit: releases and registers are compared by identity
def register_presence(release: Release, register: Register, suppression: Suppression) -> Presence:
    """For each person of the population the probability of being in a class that is a candidate, at the prior n/N.
    Suppressed rows are candidates only under `wildcard`."""
    columns = tuple(c for c in release.columns if c in register.codes)
    if not columns:
        withheld = 0 if suppression is Suppression.WILDCARD else release.suppressed_rows
        expected = (release.rows - withheld) * register.coverage
        return Presence(np.full(register.people, min(expected / register.people, 1.0)), 0.0)
    codes = np.column_stack([register.codes[c] for c in columns])
    matching = Matching(release, Knowledge(columns, codes), suppression)
    row_of, ways, _ = matching.rows(None)
    rows = int(row_of.max(initial=-1)) + 1
    entries = matching.entries(ways, rows, None)
    times = np.bincount(row_of, minlength=rows).astype(np.float64)
    blocks = []
    for match, group in zip(matching.matches, entries.group, strict=True):
        first, length = match.hits(group)
        entry, cell = np.repeat(np.arange(len(group)), length), match.hit_cell[expand(first, length)]
        people = np.bincount(cell, weights=times[entries.row[entry]], minlength=len(match.cells.count)).astype(
            np.float64
        )
        blocks.append(_Fits(entry, cell, match.cells.count.astype(np.float64) * register.coverage, people))
    # for each entry the share of the fitting people that its cells hold
    spread = [_summed(b, b.count / np.maximum(b.people, 1.0), len(entries.row)) for b in blocks]
    first_guess = np.prod(spread, axis=0)
    per_row = np.bincount(entries.row, weights=first_guess, minlength=rows)[entries.row]
    chance, gap = _fit(blocks, entries.row, times, first_guess / per_row)
    return Presence(chance[row_of], gap)


def _fit(blocks: list[_Fits], row: Ints, times: Floats, base: Floats) -> tuple[Floats, float]:
    """The presence of each row, and the gap. `times` is the number of people a row stands for, `base` the prior probability
    of each entry, given that the person is present."""
    factors = [np.ones(len(block.count)) for block in blocks]
    parts = [_summed(block, factor, len(row)) for block, factor in zip(blocks, factors, strict=True)]

    def odds_and_totals() -> tuple[Floats, Floats]:
        odds = base * np.prod(parts, axis=0)
        return odds, np.bincount(row, weights=odds, minlength=len(times)).astype(np.float64)

    gap = 0.0
    for _ in range(_ROUNDS):
        gap = 0.0
        for i, block in enumerate(blocks):
            odds, total = odds_and_totals()
            people = times[row] * odds / ((1 + total[row]) * np.maximum(parts[i], 1e-300))
            each = people[block.entry] * factors[i][block.cell]
            now = np.bincount(block.cell, weights=each, minlength=len(block.count)).astype(np.float64)
            fitted = now > 0
            room = np.maximum(block.people - now, 1e-9 * block.people)
            wanted = np.maximum(block.people - block.count, 1e-9 * block.people)
            step = np.divide(block.count * room, now * wanted, out=np.ones(len(now)), where=fitted)
            factors[i] = np.clip(factors[i] * step, 1 / _MOST, _MOST)
            parts[i] = _summed(block, factors[i], len(row))
            moved = np.abs(now[fitted] - block.count[fitted]).sum() / 2
            gap = max(gap, float(moved / max(block.count[fitted].sum(), 1.0)))
        if gap < _CLOSE:
            break
    _, total = odds_and_totals()
    chance = total / (1 + total)
    for block in blocks:  # whoever fits a cell that holds all who fit is in it: odds of 10^9 come only near to that
        certain = (block.count >= block.people)[block.cell]
        chance[row[block.entry[certain]]] = 1.0
    return chance, gap


def _summed(block: _Fits, factor: Floats, entries: int) -> Floats:
    """For each entry the sum of the factors of the cells it fits."""
    return np.bincount(block.entry, weights=factor[block.cell], minlength=entries).astype(np.float64)


def presence_of(matching: Matching, register: Register) -> tuple[Floats, Bools]:
    """For the people of a matching: the mean presence of the population's people with the same known values, and whether
    there are any. If known values may be wrong, people count by the probability that they would be known as these."""
    knowledge = matching.knowledge
    columns, codes = knowledge.columns, knowledge.codes
    present = register_presence(matching.release, register, matching.suppression).chance
    places = [i for i, c in enumerate(columns) if c in register.codes]
    if not places:
        return np.full(len(codes), present.mean()), np.ones(len(codes), dtype=np.bool_)
    theirs = np.column_stack([register.codes[columns[i]] for i in places])
    if matching.inexact:
        return _presence_of_doubtful(matching, [columns[i] for i in places], theirs, codes[:, places], present)
    both = distinct_rows(np.concatenate([theirs, codes[:, places]]).astype(np.int32))
    mine, wanted = both[: register.people], both[register.people :]
    size = int(both.max(initial=0)) + 1
    count = np.bincount(mine, minlength=size)
    mean = np.bincount(mine, weights=present, minlength=size) / np.maximum(count, 1)
    return mean[wanted], count[wanted] > 0


def _presence_of_doubtful(
    matching: Matching, columns: list[str], theirs: Codes, codes: Codes, present: Floats
) -> tuple[Floats, Bools]:
    release, register = matching.release, matching.knowledge.register
    assert register is not None
    labels = tuple(release.labels[c] for c in columns)
    wrong = doubts({c: one.domain for c, one in zip(columns, labels, strict=True)}, matching.knowledge.errors)
    person, person_of = distinct_people(codes)
    other, other_of = distinct_people(theirs)
    population = RegisterPopulation(register, IndependentPopulation.volume(release))
    noise = Noise(tuple(columns), labels, tuple(wrong.get(c) for c in columns), person)
    owner, found, weight = population.alike(noise, other)
    times = np.bincount(other_of, minlength=len(other))
    chance = np.bincount(other_of, weights=present, minlength=len(other))
    total = np.bincount(owner, weights=weight * times[found], minlength=len(person))
    inside = np.bincount(owner, weights=weight * chance[found], minlength=len(person))
    mean = np.divide(inside, total, out=np.zeros(len(person)), where=total > 0)
    return mean[person_of], (total > 0)[person_of]
