"""The search for the most useful release that passes a policy.

Candidates (`candidates.py`) are made one after the other. What fails by its classes alone, or on a few people for sure, is
dropped at once. The others are judged by the policy's attacks on one half of the people, from the one that keeps most
downwards: the first that passes keeps more than all others that could. Then the search moves around it, and around those that
failed and keep more, as long as there is time and something better may be left.

**No choice on the same people as the report.** Among hundreds of candidates one looks safe by chance. So the choice is made
on one half of the people (and of the outsiders), and the figures of the other half are reported beside it. And the chosen
release must pass an audit of everybody with all attacks, or the next one is taken.

Everything that is drawn comes from a secret in the folder of the search, which an interrupted search needs to go on. Finished
candidates are kept there as cells, like those of a comparison.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from anonymizers.anonymizing import drawn_members, of_everybody
from auditor.auditing.people import by_people
from auditor.auditing.subjects import Subject
from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Reply, carry_out
from auditor.measure.classes import class_facts
from auditor.model.arrays import Bools
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.record.comparison import RunCell
from auditor.model.record.frontier import LOWER
from auditor.model.record.policy import undecided
from auditor.model.record.record import OK, AuditRecord, RunRecord
from auditor.model.record.selection import (
    CHOSEN,
    EARLY,
    FAILS,
    NO_FIGURE,
    NO_RELEASE,
    NOT_JUDGED,
    PASSES,
    OtherHalf,
    Selection,
    TriedRelease,
)
from auditor.model.seeding import stage
from auditor.runs.candidates import Candidate, beginning, moves
from auditor.runs.comparing import read_world
from auditor.runs.placing import Placed, RiskChoice, comparison
from auditor.runs.plan import asked_of, data_of, fingerprint, hashed, slug
from auditor.runs.store import CELLS, TOOL, make_folder, opened, seal
from auditor.runs.trying import (
    CandidateJob,
    CandidateWork,
    Step,
    Wanted,
    beyond,
    in_words,
    judged,
    missed,
    surely_fails,
)
from auditor.runs.worlds import World
from auditor.version import VERSION

_MOST_NEW = 24
AGAINST, OUTSIDERS = "against", "outsiders"
_TOLD = (AGAINST, "score")
_MORE = 1e-9
Clock = Callable[[], float]


@dataclass
class _Seen:
    """A candidate as far as it has come; `kept` is greater where more is kept, whichever way the measure goes."""

    candidate: Candidate
    status: str
    reason: str | None = None
    record: AuditRecord | None = None
    kept: float | None = None
    value: float | None = None
    cell: RunCell | None = None
    miss: float = 0.0
    """By how much it fails, as a share of the limit."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: its run, and, where something passes, the candidate and its audit by everybody."""

    run: RunRecord
    chosen: Candidate | None = None
    audit: AuditRecord | None = None

    def whole(self, subject: Subject, members: Bools | None) -> Provenance:
        """The provenance of the chosen release, made once more, about everybody in the table."""
        assert subject.provenance is not None
        assert self.audit is not None
        facts, told = class_facts(by_people(subject).release), self.audit.release
        if (facts.classes, facts.k) != (told.classes, told.k):
            raise AssertionError("The release that was made again is not the one that was audited.")
        return subject.provenance if members is None else of_everybody(subject.provenance, members)


def member_world(data: Path, schema: Path, holdout: float | None, secret: int) -> tuple[World, Bools | None, int]:
    """The data of a search; who is in, where some people are held out; and the secret that all is drawn from, which is
    another for other data: the same noise on two tables would show how they differ."""
    world = read_world(data, schema, None, 0)
    table = world.people
    drawing = int(hashed([secret.to_bytes(32, "big"), fingerprint(table).encode()]), 16)
    if holdout is None:
        return world, None, drawing
    members = drawn_members(table, holdout, stage(drawing, "holdout"))
    some = World(table.take(np.flatnonzero(members)), table, np.flatnonzero(~members), world.inputs)
    return some, members, drawing


class Search:
    """A search under way in a folder."""

    def __init__(
        self,
        world: World,
        wanted: Wanted,
        folder: Path,
        secret: int,
        progress: Progress = silent,
        clock: Clock = time.monotonic,
    ) -> None:
        wanted.check(world)
        self.world, self.wanted, self.folder, self.secret = world, wanted, folder, secret
        self.progress, self.clock, self.until = progress, clock, clock() + wanted.budget
        self.seen: dict[str, _Seen] = {}
        self.better = LOWER
        self.left, self.ended = 0, False
        mark = hashed([secret.to_bytes(32, "big")])[:16]
        self._common = [VERSION, data_of(world), asked_of(wanted.options), wanted.seed, wanted.keep.measure, mark]
        make_folder(folder)

    def run(self) -> Found:
        """The whole search."""
        self._make(beginning(self.wanted.methods, self.wanted.policy, self.world.people.rows))
        while True:
            best = self._best()
            new = self._further(best)
            self.ended = bool(new) and self._late
            if not new or self.ended:
                break
            self._make(new)
        chosen, audit = self._chosen()
        return Found(self._run(chosen), None if chosen is None else chosen.candidate, audit)

    @property
    def _late(self) -> bool:
        return self.clock() > self.until

    # ----- making and judging ----------------------------------------------------------------------------------------

    def _make(self, candidates: Sequence[Candidate]) -> None:
        """Makes candidates, and drops those that fail at once."""
        new = {one.key: one for one in candidates if one.key not in self.seen}
        done = set()
        for candidate, cell, record in self._done(list(new.values()), Step.MADE):
            done.add(candidate.key)
            self.seen[candidate.key] = self._first_look(candidate, cell, record)
        self.left += len(new) - len(done)

    def _first_look(self, candidate: Candidate, cell: RunCell, record: AuditRecord | None) -> _Seen:
        if record is None:
            return _Seen(candidate, NO_RELEASE, cell.reason, cell=cell)
        kept = self.wanted.keep.of(record)
        if isinstance(kept, str):
            return _Seen(candidate, NO_FIGURE, kept, record, cell=cell)
        value, self.better = kept
        seen = _Seen(candidate, NOT_JUDGED, None, record, -value if self.better == LOWER else value, value, cell)
        if record.policy is None:
            why = next((note.text for note in record.notes if note.text.startswith("The policy was not judged")), None)
            seen.status, seen.reason = FAILS, why or "the policy was not judged"
            return seen
        failing = surely_fails(record, self.wanted.policy)
        absent = [c for c in record.policy.checks if c.passed is None and not undecided(c)]
        if failing or absent:
            seen.status, seen.reason = EARLY, in_words(failing or absent, surely=True)
            seen.miss = missed(failing)
        return seen

    def _best(self) -> _Seen | None:
        """The best candidate that passes on the choosing half: judged from the one that keeps most downwards."""
        while True:
            order = sorted(
                (one for one in self.seen.values() if one.status in (NOT_JUDGED, PASSES)),
                key=lambda one: -(one.kept or 0),
            )
            top = next((place for place, one in enumerate(order) if one.status == PASSES), len(order))
            waiting = order[:top][: self.wanted.jobs or processors()]
            if not waiting:
                return order[top] if top < len(order) else None
            if self._late:
                return order[top] if top < len(order) else None
            for candidate, _, record in self._done([one.candidate for one in waiting], Step.JUDGED):
                self._judge(self.seen[candidate.key], record)

    def _judge(self, one: _Seen, record: AuditRecord | None) -> None:
        if record is None:
            one.status, one.reason = NO_RELEASE, "the second run gave no release"
            return
        verdict = judged(record, self.wanted.policy)
        one.record = record
        failing = [check for check in verdict.checks if check.passed is not True]
        one.status, one.reason, one.miss = (
            (FAILS, in_words(failing), missed(failing)) if failing else (PASSES, None, 0.0)
        )

    def _further(self, best: _Seen | None) -> list[Candidate]:
        """What to try next: weaker settings of the best, and mending of what keeps more and fails."""
        tried = [one.candidate for one in self.seen.values()]
        columns = self.world.people.schema.quasi
        failed = [one for one in self.seen.values() if one.status in (FAILS, EARLY) and one.kept is not None]
        failed = [one for one in failed if best is None or (one.kept or 0) > (best.kept or 0) + _MORE]
        failed.sort(key=lambda one: (one.miss, -(one.kept or 0), one.candidate.key))
        around = [*([(best.candidate, True)] if best is not None else []), *((one.candidate, False) for one in failed)]
        fresh: dict[str, Candidate] = {}
        for candidate, passed in around:
            around_it = moves(candidate, tried, columns, passed)
            new = [one for one in around_it if one.key not in self.seen and one.possible]
            fresh |= {one.key: one for one in new}
            if len(fresh) >= _MOST_NEW:
                break
        return list(fresh.values())[:_MOST_NEW]

    def _chosen(self) -> tuple[_Seen | None, AuditRecord | None]:
        """The best candidate that passes for everybody, with its audit."""
        while (best := self._best()) is not None:
            ((_, _, audit),) = self._done([best.candidate], Step.WHOLE, final=True)
            if audit is not None and audit.policy is not None and audit.policy.passed:
                best.status = CHOSEN
                return best, audit
            checks = [] if audit is None or audit.policy is None else [c for c in audit.policy.checks if not c.passed]
            best.status, best.reason = FAILS, f"on all people: {in_words(checks)}" if checks else "it was not judged"
            best.record = audit or best.record
        return None, None

    def _done(
        self, candidates: Sequence[Candidate], step: Step, final: bool = False
    ) -> Iterator[tuple[Candidate, RunCell, AuditRecord | None]]:
        """Candidates with their cells and records: those that are kept first, then the others as they finish, until the time
        is over. What is `final` is done even then."""
        waiting = []
        for candidate in candidates:
            kept = self._read(candidate, step)
            if kept is None:
                waiting.append(candidate)
            else:
                yield candidate, *kept
        jobs = [CandidateJob(one.name, None, one, step) for one in waiting]
        if not jobs or (self._late and not final):
            return
        count = self.wanted.jobs or processors()

        def tick(running: list[str]) -> None:
            passed = sum(one.status == PASSES for one in self.seen.values())
            said = f"{step}: {', '.join(running) or 'starting'}; {len(self.seen)} tried, {passed} pass"
            spent = self.wanted.budget - (self.until - self.clock())
            self.progress(min(int(spent), int(self.wanted.budget)), max(int(self.wanted.budget), 1), said)

        for number, reply in _replies(CandidateWork(None, self.world, self.wanted, self.secret), jobs, count, tick):
            candidate = waiting[number]
            record = None if reply.result is None else AuditRecord.from_json(reply.result, candidate.name)
            cell = self._write(candidate, step, reply.status, reply.reason, record)
            yield candidate, cell, record
            if self._late and not final:
                return

    def _id(self, candidate: Candidate, step: Step) -> str:
        number = hashed([json.dumps([*self._common, candidate.key, step]).encode()])
        return f"{slug(candidate.name)}-{step}-{number[:16]}"

    def _read(self, candidate: Candidate, step: Step) -> tuple[RunCell, AuditRecord | None] | None:
        run = opened(self.folder / CELLS / f"{self._id(candidate, step)}.json")
        if run is None or len(run.cells) != 1:
            return None
        return run.cells[0], run.records[0] if run.records else None

    def _write(
        self, candidate: Candidate, step: Step, status: str, reason: str | None, record: AuditRecord | None
    ) -> RunCell:
        number = self._id(candidate, step)
        place = None if record is None else f"{CELLS}/{number}.json"
        mending = {"coarsen": list(candidate.coarsen)} if candidate.coarsen else {}
        params = {**candidate.params, **mending, **({"suppress": True} if candidate.suppress else {})}
        cell = RunCell(number, candidate.name, candidate.method, params, self.wanted.seed, status, reason, place)
        run = RunRecord(candidate.name, self.wanted.seed, () if record is None else (record,), TOOL, cells=(cell,))
        seal(run, self.folder / CELLS / f"{number}.json")
        return cell

    # ----- telling ---------------------------------------------------------------------------------------------------

    def _run(self, chosen: _Seen | None) -> RunRecord:
        """The run of the search: its candidates as a comparison, and the choice."""
        order = sorted(self.seen.values(), key=lambda one: (one.kept is None, -(one.kept or 0), one.candidate.key))
        cells = [one.cell for one in order if one.cell is not None]
        shown = [one for one in order if one.record is not None]
        keep, records = self.wanted.keep, {one.candidate.key: self._record(one) for one in shown}
        risky = any(risk.value is not None for record in records.values() for risk in record.risks)
        placed = [
            Placed(one.candidate.name, one.cell, records.get(one.candidate.key))
            for one in order
            if one.cell is not None
        ]
        compared = comparison(placed, RiskChoice.read("strongest"), keep.figure) if risky else None
        source = Path(self.world.inputs[0].name).stem if self.world.inputs else "table"
        return RunRecord(
            f"{source}: the most useful release that passes {self.wanted.policy.name}",
            self.wanted.seed,
            tuple(records.values()),
            TOOL,
            cells=tuple(cells),
            comparison=compared,
            selection=self._selection(order, chosen),
        )

    def _record(self, one: _Seen) -> AuditRecord:
        """The record of a candidate, with the verdict that the search came to: none where it was not judged."""
        assert one.record is not None
        if one.status in (PASSES, CHOSEN):
            return replace(one.record, policy=judged(one.record, self.wanted.policy))
        return replace(one.record, policy=None) if one.status == NOT_JUDGED else one.record

    def _selection(self, order: Sequence[_Seen], chosen: _Seen | None) -> Selection:
        unjudged = [one for one in order if one.status == NOT_JUDGED]
        ahead = [one for one in unjudged if chosen is None or (one.kept or 0) > (chosen.kept or 0) + _MORE]
        tried = tuple(TriedRelease(one.candidate.name, one.value, one.status, one.reason) for one in order)
        nearest, stands = (None, ()) if chosen is not None else self._nearest(order)
        weights = tuple(f"{column}={weight:g}" for column, weight in self.wanted.keep.weights.items())
        return Selection(
            self.wanted.policy.name,
            self.wanted.keep.figure,
            self.better,
            tried,
            None if chosen is None else chosen.candidate.name,
            None if chosen is None else chosen.value,
            self.left + len(ahead),
            max(ahead, key=lambda one: one.kept or 0).value if ahead else None,
            nearest,
            stands,
            () if chosen is None else self._others(chosen),
            weights,
            self.ended,
        )

    def _nearest(self, order: Sequence[_Seen]) -> tuple[str | None, tuple[str, ...]]:
        """The candidate that fails by least, and what it fails by."""
        near: list[tuple[float, str, tuple[str, ...]]] = []
        for one in order:
            if one.record is None or one.record.policy is None or one.status not in (FAILS, EARLY):
                continue
            verdict = judged(one.record, self.wanted.policy)
            failing = [check for check in verdict.checks if check.passed is False]
            if failing:
                near.append((max(map(beyond, failing)), one.candidate.name, tuple(in_words([c]) for c in failing)))
        if not near:
            return None, ()
        _, name, checks = min(near, key=lambda each: (len(each[2]), each[0], each[1]))
        return name, checks

    def _others(self, chosen: _Seen) -> tuple[OtherHalf, ...]:
        """The policy's figures of the half that had no say."""
        ((_, _, record),) = self._done([chosen.candidate], Step.OTHERS, final=True)
        if record is None:
            return ()
        asked = {check.figure for check in self.wanted.policy.checks}
        main = {f"{attack}.{measure}" for attack in self.wanted.options.attacks or () for measure in ("success", "auc")}
        found = []
        for risk in record.risks:
            if risk.status != OK or risk.value is None or f"{risk.attack}.{risk.measure}" not in asked | main:
                continue
            excess = risk.detail.get("excess") or {}
            value, low, high, over = (excess.get(part) for part in ("value", "low", "high", "over"))
            whose = risk.attack, risk.measure, risk.adversary, risk.link, risk.sensitive, risk.n
            told = {name: risk.params[name] for name in _TOLD if name in risk.params}
            found.append(OtherHalf(*whose, float(risk.value), risk.low, risk.high, value, low, high, over, told))
        real = any(one.params.get(AGAINST) == OUTSIDERS for one in found)
        return tuple(one for one in found if not real or one.params.get(AGAINST) in (None, OUTSIDERS))


def _replies(
    work: CandidateWork, jobs: Sequence[CandidateJob], count: int, tick: Callable[[list[str]], None]
) -> Iterator[tuple[int, Reply]]:
    """The replies to jobs; one at a time needs no process of its own."""
    if count > 1:
        yield from run_jobs(work, jobs, count, tick)
        return
    for number, job in enumerate(jobs):
        tick([job.name])
        yield number, carry_out(job, work)
