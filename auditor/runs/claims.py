"""Claims of differential privacy, put to the test: a mechanism is run many times, and a bound on its epsilon comes out.

*Two worlds*: runs of neighbouring tables, one with a canary and one without. What each release shows of the canary is noted
(`canaries`), a score is learned from some of the runs, and the others are judged (`auditor/measure/epsilon_score.py`). A run
that gives no release is an outcome like any other: a mechanism must not tell by refusing.

*One run*: many canaries, each in or out by a coin, and one release. A run before it, with other coins, says which of four
scores to use; it is not judged.

The runs are shared out to processes in batches. Each draws from a generator of its own, so that their number and order do not
matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from anonymizers.base import Anonymizer
from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Job, Reply, Work
from auditor.measure.epsilon import Rule, gaussian_bound, guessed_at_most, one_run, run_bound, two_worlds
from auditor.measure.epsilon_score import LEAST_RUNS, learned_bound, parts
from auditor.measure.intervals import CONFIDENCE, auc
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import AuditorError, UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.record.claim import ClaimTest, ClaimVerdict
from auditor.model.record.record import OK, Input
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
    published,
    published_text,
    rows_in,
    surprise,
)
from auditor.runs.mechanisms import ProgramMechanism
from auditor.runs.store import TOOL

_SEEDS = 2**31
_BATCHES = 12
"""The batches that a process does of one world: few enough to cost nothing, many enough to show progress."""
_PILOT = 10
"""One in so many runs goes to each canary that is tried, where the worst is sought."""
_ALIKE = 3
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


@dataclass(frozen=True)
class BatchJob(Job):
    """Some runs of one world."""

    world: int
    first: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What runs showed (runs × figures; a run without a release has -1 throughout), the rows of each release (-1: none), and
    how often each reason was given for none."""

    figures: Floats
    rows: list[int]
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class WorldsWork(Work):
    """What all runs share: the tables of the worlds, the mechanism, what is noted, and what is drawn from."""

    tables: tuple[Table, ...]
    mechanism: Anonymizer
    watch: Watch
    seed: int
    purpose: str

    def do(self, job: BatchJob) -> Batch:
        """Some runs of one world."""
        width = len(self.watch.names)
        figures, rows, reasons = np.full((job.count, width), -1.0), [-1] * job.count, Counter[str]()
        for place in range(job.count):
            rng = stage(self.seed, "claim", self.purpose, job.world, job.first + place)
            try:
                release = released(self.mechanism, self.tables[job.world], rng)
            except AuditorError as error:
                reasons[str(error)] += 1
                continue
            figures[place], rows[place] = self.watch.figures(release)[0], rows_in(release)
        return Batch(figures, rows, reasons)


def released(mechanism: Anonymizer, table: Table, rng: np.random.Generator) -> Published:
    """What a mechanism publishes of a table."""
    if isinstance(mechanism, ProgramMechanism):
        return published_text(mechanism.program.run(table, int(rng.integers(_SEEDS))).columns)
    release, _ = mechanism.anonymize(table, rng)
    return published(release)


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
    if pilot:
        apart = []
        for place, (canary, _) in enumerate(canaries):
            work = _worlds_of(table, canary, mechanism, trial, seed, f"pilot {tried[place]}")
            inside, outside = _runs(work, pilot, trial, progress, done, total)
            done += 2 * pilot
            apart.append(_apart(inside, outside))
        chosen = int(np.argmax(apart))
    canary, words = canaries[chosen]
    work = _worlds_of(table, canary, mechanism, trial, seed, "worlds")
    inside, outside = _runs(work, trial.runs, trial, progress, done, total)
    reasons = inside.reasons + outside.reasons
    failed, runs = sum(reasons.values()), len(inside.rows) + len(outside.rows)
    begun = replace(
        begun, canary=words, runs=trial.runs, failed=failed, score="a score learned from a quarter of the runs"
    )
    if failed == runs or min(len(inside.rows), len(outside.rows)) < LEAST_RUNS:
        why = reasons.most_common(1)[0][0] if reasons else "there were too few runs"
        return replace(begun, reason=f"No run gave a release: {why}" if failed == runs else why)
    first, second, notes = _told(inside, outside, work)
    found = learned_bound(first, second, claim.delta, trial.confidence)
    judged = len(range(*parts(trial.runs)[2].indices(trial.runs)))
    perfect = Rule(0.5, above=True, swapped=False)
    most = two_worlds(np.ones(judged), np.zeros(judged), perfect, claim.delta, trial.confidence)
    bound, largest = found.epsilon, most.epsilon
    if claim.gaussian:
        bound, largest = (gaussian_bound(one, claim.delta) for one in (found, most))
    if failed:
        why = reasons.most_common(1)[0][0]
        notes.append(f"{failed} of {runs} runs gave no release, which counts as an outcome. Most often: {why}")
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


def _runs(work: WorldsWork, runs: int, trial: Trial, progress: Progress, done: int, total: int) -> tuple[Batch, Batch]:
    """So many runs of either world."""
    count = trial.jobs or processors()
    size = max(math.ceil(runs / (count * _BATCHES)), 1)
    jobs = [
        BatchJob(f"runs {first + 1} to {min(first + size, runs)}", None, world, first, min(size, runs - first))
        for first in range(0, runs, size)
        for world in (0, 1)
    ]
    made: dict[int, Batch] = {}

    def tick(_: list[str]) -> None:
        finished = done + sum(len(batch.rows) for batch in made.values())
        progress(finished, total, f"{finished} of {total} runs of {work.mechanism.title}")

    for number, reply in _replies(work, jobs, count, tick):
        job = jobs[number]
        lost = Batch(np.full((job.count, len(work.watch.names)), -1.0), [-1] * job.count)
        lost.reasons[reply.reason or "the process ended"] = job.count
        made[number] = reply.result if isinstance(reply.result, Batch) else lost
    worlds = [[made[number] for number, job in enumerate(jobs) if job.world == world] for world in (0, 1)]
    inside, outside = (
        Batch(
            np.concatenate([one.figures for one in batches]),
            [rows for one in batches for rows in one.rows],
            sum((one.reasons for one in batches), Counter[str]()),
        )
        for batches in worlds
    )
    return inside, outside


def _replies(
    work: WorldsWork, jobs: Sequence[BatchJob], count: int, tick: Callable[[list[str]], None]
) -> Iterator[tuple[int, Reply]]:
    """The replies to jobs. One job at a time without a limit of memory needs no process of its own."""
    if count > 1 or work.memory is not None:
        yield from run_jobs(work, jobs, count, tick)
        return
    for number, job in enumerate(jobs):
        tick([job.name])
        yield number, Reply(OK, None, work.do(job), 0.0)


def _apart(inside: Batch, outside: Batch) -> float:
    """How well the best figure tells the worlds apart: how far the area under its curve is from a half."""
    areas = [auc(one, other) for one, other in zip(inside.figures.T, outside.figures.T, strict=True)]
    return max(0.0 if area is None else abs(area.value - 0.5) for area in areas)


def _told(inside: Batch, outside: Batch, work: WorldsWork) -> tuple[Floats, Floats, list[str]]:
    """The figures of either world, and what is to be said of them. The number of rows is one of them, unless each release
    has as many rows as its table: then it is public."""
    notes = []
    sizes = [table.rows for table in work.tables]
    rows = [np.array(batch.rows) for batch in (inside, outside)]
    same = all((found[found >= 0] == size).all() for found, size in zip(rows, sizes, strict=True))
    figures = [inside.figures, outside.figures]
    if same and sizes[0] != sizes[1]:
        notes.append(
            "Each release has as many rows as its table. That alone tells the worlds apart where one person is added, so the "
            "number of rows was taken as public and not used."
        )
    if not same:
        figures = [np.column_stack([figure, found]) for figure, found in zip(figures, rows, strict=True)]
    if all(len(np.unique(figure, axis=0)) == 1 and len(figure) > LEAST_RUNS for figure in figures):
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
            release = released(mechanism, _one_world(made, included, trial), stage(seed, "claim", purpose))
        except AuditorError as error:
            return replace(begun, failed=1, reason=f"The run gave no release: {error}")
        scores.append(_scores(watch, release, made, trial))
        coins.append(included)
    progress(2, 2, "done")
    right = [one_run(score, coins[0], guesses, claim.delta, trial.confidence).right for score in scores[0]]
    chosen = int(np.argmax(right))
    found = one_run(scores[1][chosen], coins[1], guesses, claim.delta, trial.confidence)
    most = run_bound(guesses, guesses, count, claim.delta, trial.confidence).epsilon
    return replace(
        begun,
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
