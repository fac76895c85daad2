"""Claims of differential privacy, put to the test: a mechanism is run many times, and a bound on its epsilon comes out.

*Two worlds*: runs of neighbouring tables, one with a canary and one without. What each release shows of the canary is noted
(`canaries`), a score is learned from some of the runs, and the others are judged (`auditor/measure/epsilon_score.py`). A run
that gives no release by the mechanism's own doing is an outcome like any other; one that is lost is none (`repeating`). Where
more than one in twenty of a world are lost, nothing is judged: they may not be lost by chance.

*One run*: many canaries, each in or out by a coin, and one release. A run before it, with other coins, says which of four
scores to use; it is not judged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from anonymizers.base import Anonymizer
from anonymizers.shared.public_bins import TAKEN
from auditor.measure.epsilon import Rule, gaussian_bound, guessed_at_most, one_run, run_bound, two_worlds
from auditor.measure.epsilon_score import LEAST_RUNS, learned_bound, parts
from auditor.measure.intervals import CONFIDENCE, auc
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import AuditorError, EndedError, UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.record.claim import ClaimTest, ClaimVerdict
from auditor.model.record.record import Input
from auditor.model.schema import Column
from auditor.model.seeding import DEFAULT_SEED, stage
from auditor.model.table import Table
from auditor.runs.canaries import (
    Cast,
    Cells,
    Choice,
    Published,
    Row,
    Watch,
    by_rarity,
    cast,
    made_up,
    named_canary,
    rows_in,
    surprise,
)
from auditor.runs.mechanisms import ProgramMechanism
from auditor.runs.repeating import Batch, WorldsWork, released, repeated
from auditor.runs.store import TOOL

_PILOT = 10
"""One in so many runs goes to each canary that is tried, where the worst is sought."""
_LOST = 0.05
"""Where more than this share of the runs of a world are lost, nothing is judged."""
_ALIKE = 3
_ROWS_PUBLIC = (
    "Each release has as many rows as its table, or a fixed multiple of them. That alone tells the worlds apart where one "
    "person is added, so the number of rows was taken as public: from the longer releases rows were left out by chance until "
    "both worlds had as many. With --neighbours replace both tables have as many rows, and nothing is left out."
)
_SCORES = ("all its values", "its pairs of values", "its values one by one", "the closest row")


class Worlds(StrEnum):
    """The two kinds of test."""

    TWO = "two"
    ONE = "one"


class Neighbours(StrEnum):
    """How neighbouring tables differ."""

    ADD = "add"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed; `gaussian` says that it is claimed as Gaussian differential privacy."""

    epsilon: float
    delta: float = 0.0
    gaussian: bool = False

    def check(self) -> None:
        """An error for a claim that cannot be."""
        if not 0 <= self.epsilon < math.inf:
            raise UsageError(f"The claimed epsilon must be a number from 0. Got {self.epsilon:g}.")
        if not 0 <= self.delta < 1:
            raise UsageError(f"The claimed delta must be from 0 to below 1. Got {self.delta:g}.")
        if self.gaussian and not self.delta:
            raise UsageError("Gaussian differential privacy has an epsilon only beside a delta. Claim one above 0.")


@dataclass(frozen=True, slots=True)
class Trial:
    """How a claim is tested: `runs` of either world; or one run with at most so many `canaries`, and so many `guesses` (None:
    one for every second canary)."""

    worlds: Worlds = Worlds.TWO
    runs: int = 1_000
    canary: str = Choice.WORST
    neighbours: Neighbours = Neighbours.ADD
    canaries: int = 200
    guesses: int | None = None
    confidence: float = CONFIDENCE
    jobs: int | None = None
    memory: int | None = None

    def check(self) -> None:
        """An error for a test that cannot be made."""
        if self.runs < LEAST_RUNS:
            raise UsageError(f"There must be at least {LEAST_RUNS} runs of either world. Got {self.runs}.")
        if self.canaries < 2:
            raise UsageError(f"There must be at least 2 canaries. Got {self.canaries}.")
        if self.guesses is not None and not 0 < self.guesses <= self.canaries:
            raise UsageError(f"There must be 1 to {self.canaries} guesses. Got {self.guesses}.")
        if not 0.5 <= self.confidence < 1:
            raise UsageError(f"The confidence must be from 0.5 to below 1. Got {self.confidence:g}.")


@shown_in_notebooks
def check_claim(
    table: Table,
    mechanism: Anonymizer,
    claim: Claim,
    trial: Trial | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
    inputs: Sequence[Input] = (),
) -> ClaimTest:
    """Puts a claim of differential privacy to the test. The verdict is "refuted" or "not refuted", and never that the
    mechanism is private: another canary, another score or more runs may show more."""
    trial = trial or Trial()
    claim.check()
    trial.check()
    if claim.gaussian and trial.worlds is Worlds.ONE:
        raise UsageError("The bound through Gaussian differential privacy needs two worlds.")
    test = _in_one_run if trial.worlds is Worlds.ONE else _in_two_worlds
    found = test(table, mechanism, claim, trial, seed, progress)
    notes = list(found.notes)
    if found.most is not None and found.most <= claim.epsilon:
        notes.insert(0, "So few runs or guesses cannot refute this claim, whatever they show: more are needed.")
    verdict = ClaimVerdict.NOT_TESTED
    if found.bound is not None:
        verdict = ClaimVerdict.REFUTED if found.bound > claim.epsilon else ClaimVerdict.NOT_REFUTED
    return replace(
        found,
        verdict=verdict,
        notes=tuple(notes),
        guess_shown=None if found.bound is None else guessed_at_most(found.bound),
        inputs=tuple(inputs) or (Input("original", table.name, None, table.rows),),
    )


def _begun(table: Table, mechanism: Anonymizer, claim: Claim, trial: Trial, seed: int) -> ClaimTest:
    return ClaimTest(
        seed,
        mechanism.title,
        claim.epsilon,
        claim.delta,
        trial.worlds,
        trial.neighbours,
        trial.confidence,
        ClaimVerdict.NOT_TESTED,
        gaussian=claim.gaussian,
        rows=table.rows,
        guess_claimed=guessed_at_most(claim.epsilon),
        tool=TOOL,
    )


def _public(table: Table, mechanism: Anonymizer, promises: Sequence[str]) -> tuple[str, ...]:
    """What a test takes as public: what its canaries keep to, what a method declares beside its promise, and how many rows of
    a person count. A program is not known to take anything as public."""
    found = ["the values that occur in each column: canaries have no other"]
    if isinstance(mechanism, ProgramMechanism):
        return tuple(found)
    declared = [
        *(
            f"the range of {c.name}"
            for c in table.schema.columns.values()
            if c.bounds is not None and c.name in table.codes
        ),
        *(f"the values of {c.name}" for c in table.schema.columns.values() if _listed(c) and c.name in table.codes),
    ]
    if declared:
        found.append(f"what the schema declares: {', '.join(declared)}")
    found += [one.removeprefix(f"{TAKEN}, ") for one in promises if one not in mechanism.promises()]
    most = mechanism.settings().get("most_rows")
    if most is not None:
        found.append(f"that at most {most} rows of a person count; a canary has one")
    return tuple(found)


def _listed(column: Column) -> bool:
    return column.taxonomy is not None or column.values is not None


# ----- two worlds ----------------------------------------------------------------------------------------------------


def _in_two_worlds(
    table: Table, mechanism: Anonymizer, claim: Claim, trial: Trial, seed: int, progress: Progress
) -> ClaimTest:
    begun = _begun(table, mechanism, claim, trial, seed)
    tried = [str(one) for one in (Choice.OUTLIER, Choice.RARE)] if trial.canary == Choice.WORST else [trial.canary]
    canaries = [named_canary(table, choice) for choice in tried]
    pilot = max(trial.runs // _PILOT, LEAST_RUNS) if len(tried) > 1 else 0
    total = 2 * (trial.runs + pilot * len(tried))
    done, chosen = 0, 0

    def told(ended: int) -> None:
        progress(done + ended, total, f"{done + ended} of {total} runs of {mechanism.title}")

    if pilot:
        apart = []
        for place, (canary, _) in enumerate(canaries):
            work = _worlds_of(table, canary, mechanism, trial, seed, f"pilot {tried[place]}")
            apart.append(_apart(*repeated(work, pilot, trial.jobs, told)))
            done += 2 * pilot
        chosen = int(np.argmax(apart))
    canary, words = canaries[chosen]
    work = _worlds_of(table, canary, mechanism, trial, seed, "worlds")
    inside, outside = repeated(work, trial.runs, trial.jobs, told)
    refused, lost = inside.refused + outside.refused, inside.lost + outside.lost
    failed, runs = refused.total(), len(inside.rows) + len(outside.rows)
    begun = replace(
        begun,
        canary=words,
        runs=trial.runs,
        failed=failed,
        lost=lost.total(),
        public=_public(table, mechanism, inside.promises or outside.promises),
        score="a score learned from a quarter of the runs",
    )
    where = f"{inside.lost.total()} of {trial.runs} with the canary and {outside.lost.total()} without"
    if max(inside.lost.total(), outside.lost.total()) > _LOST * trial.runs:
        why = f"More than one in twenty runs of a world were lost ({where}), which is no outcome. Most often: {_most(lost)}"
        return replace(begun, reason=why)
    if failed == runs:
        return replace(begun, reason=f"No run gave a release: {_most(refused)}")
    if min(len(inside.rows), len(outside.rows)) < LEAST_RUNS:
        return replace(begun, reason="There were too few runs.")
    first, second, notes = _told(inside, outside, work)
    if _ROWS_PUBLIC in notes:
        begun = replace(begun, public=(*begun.public, "the number of rows"))
    found = learned_bound(first, second, claim.delta, trial.confidence)
    judged = [np.arange(len(one))[parts(len(one))[2]] for one in (first, second)]
    perfect = Rule(0.5, above=True, swapped=False)
    most = two_worlds(np.ones(len(judged[0])), np.zeros(len(judged[1])), perfect, claim.delta, trial.confidence)
    bound, largest = found.epsilon, most.epsilon
    if claim.gaussian:
        bound, largest = (gaussian_bound(one, claim.delta) for one in (found, most))
    if failed:
        notes.append(
            f"{failed} of {runs} runs gave no release, which counts as an outcome. Most often: {_most(refused)}"
        )
    if lost:
        notes.append(
            f"Runs that were lost: {where}. A limit, a signal from outside or a bug ended them, not the mechanism, so they "
            f"are not counted. Most often: {_most(lost)}"
        )
    counts = {"hits": found.hits, "runs": found.runs, "other_hits": found.other_hits, "other_runs": found.other_runs}
    estimate = found.estimate if math.isfinite(found.estimate) else None
    return replace(begun, bound=bound, estimate=estimate, most=largest, judged=counts, notes=tuple(notes))


def _worlds_of(table: Table, canary: Row, mechanism: Anonymizer, trial: Trial, seed: int, purpose: str) -> WorldsWork:
    """The worlds with a canary and without. Who is replaced has common values, which the canary has not."""
    made = cast(table, [canary])
    without = made.without()
    inside = made.joined(np.ones(1, dtype=np.bool_))
    if trial.neighbours is Neighbours.REPLACE:
        inside = made.replaced(int(by_rarity(without)[-1]), 0)
    return WorldsWork(
        trial.memory, (inside, without), mechanism, Watch.of(table.schema, made.table, [canary]), seed, purpose
    )


def _apart(inside: Batch, outside: Batch) -> float:
    """How well the best figure tells the worlds apart: how far the area under its curve is from a half."""
    areas = [auc(one, other) for one, other in zip(inside.figures.T, outside.figures.T, strict=True)]
    return max(0.0 if area is None else abs(area.value - 0.5) for area in areas)


def _most(reasons: Counter[str]) -> str:
    """The reason that was given most often; of several the first by the alphabet."""
    return min(reasons, key=lambda reason: (-reasons[reason], reason))


def _told(inside: Batch, outside: Batch, work: WorldsWork) -> tuple[Floats, Floats, list[str]]:
    """The figures of either world, and what is to be said of them. The number of rows is one of them, unless it follows from
    the size of the table: then it is public, and so is all that it adds to other figures."""
    notes = []
    batches, sizes = (inside, outside), [table.rows for table in work.tables]
    rows = [np.array(batch.rows) for batch in batches]
    shares = np.concatenate([found[found >= 0] / size for found, size in zip(rows, sizes, strict=True)])
    follows = sizes[0] != sizes[1] and bool((shares == shares[0]).all()) and float(shares[0]).is_integer()
    figures = [batch.shortened if follows else batch.figures for batch in batches]
    if follows:
        notes.append(_ROWS_PUBLIC)
    else:
        figures = [np.column_stack([figure, found]) for figure, found in zip(figures, rows, strict=True)]
    if all(len(np.unique(batch.figures, axis=0)) == 1 and len(batch.figures) > LEAST_RUNS for batch in batches):
        notes.append(
            "All runs of a world show the same of the canary. If the mechanism draws noise, it draws the same each time: "
            "does the command pass {seed} on?"
        )
    return figures[0], figures[1], notes


# ----- one run -------------------------------------------------------------------------------------------------------


def _in_one_run(
    table: Table, mechanism: Anonymizer, claim: Claim, trial: Trial, seed: int, progress: Progress
) -> ClaimTest:
    made = cast(table, made_up(table, trial.canaries, stage(seed, "claim", "canaries")))
    count = len(made.canaries)
    begun = replace(
        _begun(table, mechanism, claim, trial, seed),
        canary=f"{count} made-up people, each in or out by a coin",
        runs=1,
    )
    watch = Watch.of(table.schema, made.table, made.canaries)
    guesses = count // 2 if trial.guesses is None else min(trial.guesses, count)
    scores, coins = [], []
    for number, purpose in enumerate(("pilot", "run")):
        progress(number, 2, f"{purpose} of {mechanism.title}")
        included = stage(seed, "claim", purpose, "coins").random(count) < 0.5
        try:
            release, promises = released(mechanism, _one_world(made, included, trial), stage(seed, "claim", purpose))
        except AuditorError as error:
            lost = isinstance(error, EndedError)
            return replace(begun, lost=int(lost), failed=int(not lost), reason=f"The run gave no release: {error}")
        scores.append(_scores(watch, release, made, trial))
        coins.append(included)
    progress(2, 2, "done")
    right = [one_run(score, coins[0], guesses, claim.delta, trial.confidence).right for score in scores[0]]
    chosen = int(np.argmax(right))
    found = one_run(scores[1][chosen], coins[1], guesses, claim.delta, trial.confidence)
    most = run_bound(guesses, guesses, count, claim.delta, trial.confidence).epsilon
    return replace(
        begun,
        public=_public(table, mechanism, promises),
        score=f"how much oftener than expected the release has {_SCORES[chosen]}",
        bound=found.epsilon,
        estimate=found.estimate if math.isfinite(found.estimate) else None,
        most=most,
        judged={"right": found.right, "guesses": found.guesses, "canaries": found.canaries},
    )


def _one_world(made: Cast, included: Bools, trial: Trial) -> Table:
    """The table with the canaries that are in. To replace people, each canary has a row that it takes or leaves."""
    if trial.neighbours is Neighbours.ADD:
        return made.joined(included)
    rows = np.arange(made.rows)
    rows[_places(made, trial)[included]] = made.rows + np.flatnonzero(included)
    return made.table.take(rows)


def _places(made: Cast, trial: Trial) -> Ints:
    """The rows that canaries may take: those with common values, which few canaries have. None where people are added."""
    if trial.neighbours is Neighbours.ADD:
        return np.empty(0, dtype=np.int64)
    if len(made.canaries) > made.rows:
        raise UsageError(f"To replace people, there must be at most {made.rows} canaries, one for each row.")
    return by_rarity(made.without())[::-1][: len(made.canaries)]


def _scores(watch: Watch, release: Published, made: Cast, trial: Trial) -> list[Floats]:
    """Four scores of each canary: how far a release is above what the table without canaries lets expect. A release of very
    different size is expected to have as many more, or fewer, of everything."""
    base = _figures(watch, made.without())
    places = _places(made, trial)
    if len(places):
        base = base - _figures(watch, made.table.take(places)) / 2  # half of them have gone
    figures = watch.figures(release)
    scale = rows_in(release) / made.table.rows
    beyond = surprise(figures, base, 1.0 if 1 / _ALIKE < scale < _ALIKE else scale)
    single, near = len(watch.columns), len(watch.spans)
    pairs = beyond[:, single + near : -2].sum(axis=1)
    return [beyond[:, -2], pairs, beyond[:, :single].sum(axis=1), figures[:, -1]]


def _figures(watch: Watch, table: Table) -> Floats:
    return watch.figures([{c: Cells(table.domains[c].texts, table.codes[c]) for c in watch.columns}])
