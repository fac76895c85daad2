"""Signatures: classes of people with different sensitive values, kept from one release to the next (for m-invariance).

A signature is the set of sensitive values in a class, as codes in ascending order. People with one signature are piled up by
their value; where the piles are as high as each other, they can be split into classes with one person from each pile. Where
they are not, counterfeits make up the difference: as many as the highest pile has people more. So every class has a person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizers.shared.dealing import deal_out
from anonymizers.shared.diverse_buckets import places_of
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An earlier release, its provenance and the table it was made of."""

    table: Table
    release: Release
    provenance: Provenance


def kept_signatures(earlier: Earlier, table: Table, about: str, person: str, m: int) -> dict[int, Signature]:
    """The signature in the earlier release of each row whose person was in it; an error where it cannot be kept."""
    before, release = earlier.table, earlier.release
    for column, held in ((person, before.codes), (about, release.columns)):
        if column not in held:
            raise PromiseError(f"m-invariance: the earlier release and its table must have the column {column!r}.")
    was = _rows_by_person(before, person)
    now = _rows_by_person(table, person)
    domain, texts = table.domains[about], release.labels[about].texts
    block = release.block_of(about)
    order = np.argsort(block.bucket, kind="stable")
    cells = np.split(block.cell(about)[order], np.cumsum(np.bincount(block.bucket, minlength=len(release.sizes)))[:-1])
    kept: dict[int, Signature] = {}
    changed, weak, unknown = 0, 0, 0
    for text, row in now.items():
        place = was.get(text)
        bucket = -1 if place is None else int(earlier.provenance.bucket[place])
        if bucket < 0:
            continue
        codes = [domain.code(texts[cell]) for cell in cells[bucket]]
        signature = tuple(sorted(code for code in codes if code is not None))
        if len(signature) < len(codes):
            unknown += 1
        elif len(set(codes)) < max(m, len(codes)):
            weak += 1
        elif int(table.codes[about][row]) not in signature:
            changed += 1
        kept[row] = signature
    if unknown:
        raise PromiseError(
            f"m-invariance: {unknown} people who stayed had a class with a value of {about!r} that nobody has now. A "
            "counterfeit must take its place, so the schema must name all values of the column (domain = [...])."
        )
    if weak:
        raise PromiseError(
            f"m-invariance: {weak} people who stayed had a class with fewer than {m} different values, or a value twice, in "
            "the earlier release. It must be one of m-invariance or anatomy, with at least this m."
        )
    if changed:
        raise PromiseError(
            f"m-invariance: {changed} people who stayed have another {about!r} than their class in the earlier release "
            "allows. Values must not change from release to release: give such people a new identity, or leave them out."
        )
    return kept


def _rows_by_person(table: Table, person: str) -> dict[str, int]:
    """The row of each person, by the text that says who it is."""
    texts = table.texts(person)
    found = {text: row for row, text in enumerate(texts)}
    if len(found) < table.rows:
        raise PromiseError(
            f"{table.name}, column {person!r}: must tell people apart, and {table.rows - len(found)} rows repeat another's."
        )
    return found


def classes_of(
    table: Table,
    quasi: Sequence[str],
    about: str,
    kept: Mapping[int, Signature],
    m: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Ints, Ints]:
    """The class of each row, and the counterfeits: a class and a value each."""
    value = table.codes[about].astype(np.int64)
    piles: dict[Signature, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, signature in kept.items():
        piles[signature][int(value[row])].append(row)
    fresh = rng.permutation(np.setdiff1d(np.arange(table.rows), np.fromiter(kept, dtype=np.int64, count=len(kept))))
    fresh = _balance(piles, fresh, value, m)
    group, made = deal_out(value, fresh, m, rng, progress)
    left = [int(row) for row in fresh[group < 0]]
    if len(left) >= m:
        raise PromiseError(
            f"m-invariance: too many new people have the same {about!r}: {len(left)} of {len(fresh)} find no class with "
            f"{m} different values of people. Lower m, or publish when there are more new people."
        )
    for number, rows in enumerate(_gathered(fresh[group >= 0], group[group >= 0], made)):
        signature = tuple(sorted(int(v) for v in value[rows]))
        for row in rows.tolist():
            piles[signature][int(value[row])].append(row)
        progress(number, made, "giving signatures")
    for rows_left in _one_of_each(left, value):
        held = [int(v) for v in value[rows_left]]
        others = np.setdiff1d(np.unique(value), held)
        more = rng.permutation(others)[: max(m - len(held), 0)].tolist()
        signature = tuple(sorted([*held, *more]))
        for row in rows_left:
            piles[signature][int(value[row])].append(row)
    return _split(table, quasi, piles, rng, progress)


def _balance(piles: Mapping[Signature, Mapping[int, list[int]]], fresh: Ints, value: Ints, m: int) -> Ints:
    """Fills what signatures lack with new people, where the rest can be put into classes no worse than before. Returns the
    rest: values of which more than 1/m of the new people have one need counterfeits."""
    waiting: dict[int, list[int]] = defaultdict(list)
    for row in fresh.tolist():
        waiting[int(value[row])].append(row)
    total, heights = len(fresh), Counter(map(len, waiting.values()))
    most = max(heights, default=0)
    for signature, pile in sorted(piles.items()):
        height = max(map(len, pile.values()))
        for code in signature:
            while len(pile[code]) < height and waiting[code]:
                here = len(waiting[code])
                top = most - 1 if here == most and heights[most] == 1 else most
                if m * top - (total - 1) > max(m * most - total, 0):
                    break  # the others could no longer be put into classes
                pile[code].append(waiting[code].pop())
                heights[here] -= 1
                heights[here - 1] += 1
                total, most = total - 1, top
    rest = {row for rows in waiting.values() for row in rows}
    return np.array([row for row in fresh.tolist() if row in rest], dtype=np.int64)


def _gathered(rows: Ints, group: Ints, count: int) -> list[Ints]:
    """The rows of each group."""
    order = np.argsort(group, kind="stable")
    return np.split(rows[order], np.cumsum(np.bincount(group, minlength=count))[:-1]) if count else []


def _one_of_each(rows: Sequence[int], value: Ints) -> list[list[int]]:
    """The rows in lists of different values, as few lists as can be."""
    made: list[list[int]] = []
    seen: dict[int, int] = defaultdict(int)
    for row in rows:
        place = seen[int(value[row])]
        seen[int(value[row])] += 1
        if place == len(made):
            made.append([])
        made[place].append(row)
    return made


def _split(
    table: Table,
    quasi: Sequence[str],
    piles: Mapping[Signature, Mapping[int, list[int]]],
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Ints, Ints]:
    """The piles of each signature split into classes, after counterfeits have made them equally high."""
    places = np.stack([places_of(table.domains[c])[table.codes[c]] for c in quasi])
    member = np.full(table.rows, -1, dtype=np.int64)
    made_up: list[tuple[int, int]] = []
    made, done = 0, 0
    for signature, pile in sorted(piles.items()):
        height = max(map(len, pile.values()))
        rows = np.array([[*pile[code], *([-1] * (height - len(pile[code])))] for code in signature])
        real = rows[rows >= 0]
        like = np.where(rows >= 0, rows, real[(rng.random(rows.shape) * len(real)).astype(np.int64)])
        for one in _halved(rows, like, places):
            member[one[one >= 0]] = made
            made_up += [(made, code) for code, row in zip(signature, one.tolist(), strict=True) if row < 0]
            made += 1
        done += len(real)
        progress(done, table.rows, "forming classes")
    return member, np.array(made_up, dtype=np.int64).reshape(-1, 2)


def _halved(rows: Ints, like: Ints, places: Floats) -> list[Ints]:
    """Classes with one row of each pile (piles × rows; -1 is a counterfeit, placed where the row in `like` is), halved along
    the column that spreads widest."""
    done: list[Ints] = []
    waiting = [(rows, like)]
    while waiting:
        rows, like = waiting.pop()
        height = rows.shape[1]
        here = places[:, like]
        spread = here.max(axis=(1, 2)) - here.min(axis=(1, 2))
        widest = int(spread.argmax())
        if height == 1 or spread[widest] <= 0:
            done += list(rows.T)
            continue
        order = np.argsort(here[widest], axis=1, kind="stable")
        rows, like = np.take_along_axis(rows, order, axis=1), np.take_along_axis(like, order, axis=1)
        half = height // 2
        waiting += [(rows[:, half:], like[:, half:]), (rows[:, :half], like[:, :half])]
    return done
