"""Linkability: two records about the same person, from two sources, are linked through a synthetic release.

The second criterion of the European data protection authorities. One source knows some columns of a person, another source
other columns, and neither knows who the person is in the other. The adversary takes the synthetic records nearest to what the
one source knows and those nearest to what the other does; where both name the same record, the two are linked. A model that
learned its people by heart puts both halves of a person next to one another; for people it has not seen it happens by what
goes with what in the world. The excess over outsiders is what is owed to being in the data.

Distances are Gower's (`auditor/measure/points.py`), with the ranges of the release. Among records at the same distance those
that count are drawn at random: each figure is the chance over such draws, so that the order of rows does not matter. The
baseline is drawing records at random for both.

Paper: M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data"
(Anonymeter), PoPETs 2023.
Departures: Anonymeter takes ties in the order of rows, for both halves alike, which links people who share nothing but
a place in the file. Unless they are named (`first`, `second`), the halves are every other column by how much each tells
people apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from attacks.base import OF_PEOPLE, Attack, Lacks, NotApplicable, Rows, View
from attacks.claims import ChanceClaims, Claims
from auditor.measure.points import Points, blocks, gower, known_points, published_points, ranges
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Criterion, Goal, Measure
from auditor.model.release import Release

_TIE = 1e-9


@dataclass(frozen=True)
class Linkability(Attack):
    """Links what two sources know of a person by the `neighbours` nearest records of either. At most `targets` people are
    tried, drawn at random. `first` and `second` are the columns that each source knows, separated by commas; by default the
    known columns are shared out between them."""

    name = "linkability"
    title = "joining two sources"
    summary = "Joins what two sources know of the same person, where both are nearest to the same synthetic record."
    paper = "Giomi, Boenisch, Wehmeyer & Tasnádi 2023; Article 29 Working Party 2014"
    goal = Goal.IDENTITY
    claim = "These two records, from two sources, are about the same person."
    needs = "At least two published columns of the person, in two sources that share no column."
    success = "The nearest synthetic records of both sources have one in common; ties count by their chance."
    lowered_by = "Noise in the model (differential privacy), a coarser model, or fewer columns."
    criterion = Criterion.LINKABILITY
    rows = Rows.NOBODY
    linked = False
    effort = 10
    measures = (
        Measure(
            "success",
            "Share of people for whom the nearest synthetic records by either of two sets of columns have one in common.",
            "what two sources know of a person can be joined through the release for {share}",
            label="two sources joined",
        ),
    )
    caption = "Linkability: two sources are joined"
    least = (("neighbours", 1), ("targets", 1))

    neighbours: int = 1
    targets: int = 2_000
    first: str = ""
    second: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.first) != bool(self.second):
            raise UsageError("linkability: give the columns of both sources (first and second), or of neither.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, knowledge = view.release, view.knowledge
        if not release.synthetic:
            return OF_PEOPLE
        known = [c for c in knowledge.columns if c in release.columns]
        halves = self._halves(release, known)
        if not all(halves):
            why = "it takes two known columns of people at least, one for each source"
            return NotApplicable(why, Lacks.PEOPLE if len(known) < 2 else None)
        near = min(self.neighbours, release.rows)
        first, second = (", ".join(half) for half in halves)
        params = {"neighbours": self.neighbours, "first": first, "second": second}
        if view.blind:
            chance = 1 - float(np.exp(_log_choose(release.rows - near, near) - _log_choose(release.rows, near)))
            return ChanceClaims("success", np.full(knowledge.targets, chance), params)
        asked = knowledge.some_people(self.targets, rng)
        sources = []
        for half in halves:
            places = [knowledge.columns.index(c) for c in half]
            people = known_points(release, half, knowledge.codes[asked][:, places])
            sources.append((people, published_points(release, half)))
        return ChanceClaims("success", shared(sources[0], sources[1], near), params, asked=asked)

    def _halves(self, release: Release, known: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the two sources."""
        named = [tuple(c.strip() for c in text.split(",") if c.strip()) for text in (self.first, self.second)]
        if named[0]:
            for column in (*named[0], *named[1]):
                if column not in known:
                    raise UsageError(f"linkability: the sources know {column!r}, which is not among the known columns.")
            if set(named[0]) & set(named[1]):
                raise UsageError("linkability: first and second must share no column.")
            return named[0], named[1]
        order = sorted(known, key=lambda c: (-_spread(release, c), np.sort(release.label_counts(c)).tobytes(), c))
        return tuple(order[::2]), tuple(order[1::2])


def _spread(release: Release, column: str) -> float:
    """How much a column tells rows apart: the chance that two rows differ in it."""
    share = release.label_counts(column) / max(release.rows, 1)
    return round(1 - float((share**2).sum()), 12)


def shared(first: tuple[Points, Points], second: tuple[Points, Points], neighbours: int) -> Floats:
    """For each person the chance that the nearest records of both sources have one in common. Each source has the people and
    the records, as points of its columns."""
    chance = np.zeros(first[0].rows)
    scales = [ranges(records) for _, records in (first, second)]
    for part in blocks(first[0].rows, 4 * first[1].rows):
        found = [
            _nearest(gower(people.take(part), records, scale), neighbours)
            for (people, records), scale in zip((first, second), scales, strict=True)
        ]
        chance[part] = [_chance(*one, *other) for one, other in zip(*found, strict=True)]
    return chance


def _nearest(apart: Floats, neighbours: int) -> Iterator[tuple[Bools, Bools, int]]:
    """For each person the records that are among the nearest for certain, those that tie for the other places, and how many
    places these are."""
    last = np.partition(apart, neighbours - 1, axis=1)[:, neighbours - 1]
    sure = apart < (last - _TIE)[:, None]
    tied = (apart <= (last + _TIE)[:, None]) & ~sure
    yield from ((mine, ties, neighbours - int(mine.sum())) for mine, ties in zip(sure, tied, strict=True))


def _chance(sure: Bools, tied: Bools, places: int, other: Bools, ties: Bools, rest: int) -> float:
    """The chance that two sets have a record in common, each of which has some records for certain, and some places for which
    others are drawn."""
    if (sure & other).any():
        return 1.0
    both, mine, theirs = (int((one & another).sum()) for one, another in ((tied, ties), (tied, other), (sure, ties)))
    of_mine, of_theirs = int(tied.sum()), int(ties.sum())
    drawn = np.arange(min(places, both) + 1)  # how many of my draws could be theirs as well
    mine_so = (
        _log_choose(both, drawn) + _log_choose(of_mine - both - mine, places - drawn) - _log_choose(of_mine, places)
    )
    miss = _log_choose(of_theirs - theirs - drawn, rest) - _log_choose(of_theirs, rest)
    return float(np.clip(1 - np.exp(mine_so + miss).sum(), 0.0, 1.0))


def _log_choose(n: Ints | int, k: Ints | int) -> Floats:
    """The logarithm of n over k; minus infinity where there is none."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64))
    out = np.full(n.shape, -np.inf)
    fits = (k >= 0) & (k <= n)
    some = n[fits], k[fits]
    out[fits] = special.gammaln(some[0] + 1) - special.gammaln(some[1] + 1) - special.gammaln(some[0] - some[1] + 1)
    return out
