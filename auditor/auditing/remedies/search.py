"""The search for remedies: what would make a failing release pass, found by trying it.

The candidates are: each quasi-identifier one level coarser; the classes that drive the failing checks suppressed (`drivers`
finds them); quasi-identifiers made coarser one after another, each time the one that clears most people for the detail it
costs, until nobody drives a check; and the same stopped earlier, with the remaining classes suppressed. Each candidate is
carried out on the release, and the attacks that the policy needs are run again on the result. So a prediction is what an
audit of the mended release says. Remedies that pass come first, and among them those that keep most detail.

The work is limited by counts, not by the clock, so that one seed gives one answer: where the policy's attacks take long,
fewer candidates are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attacks import ATTACKS
from auditor.auditing.remedies.drivers import criterion_of
from auditor.auditing.remedies.mending import Criterion, Mended, Mending, meeting, mended_subject, not_mendable
from auditor.auditing.subjects import Subject
from auditor.measure.class_figures import class_figures
from auditor.measure.distinct import distinct_columns
from auditor.measure.utility.case import Case
from auditor.measure.utility.widths import granularity
from auditor.model.arrays import Bools
from auditor.model.errors import AuditorError, internal
from auditor.model.record.record import PolicyCheck, PolicyVerdict
from auditor.model.record.remedy import Coarsening, Driver, DriverColumn, Prediction, Remedy
from auditor.model.release import Release
from auditor.model.schema import Role
from auditor.posterior.links import Link
from scenarios.options import Options

Judge = Callable[[Subject, Options, Collection[str]], PolicyVerdict]
"""Runs some attacks on a subject and judges it by the policy of the options."""

_TOO_LONG = "Not all remedies were tried: the attacks that the policy needs take too long."
MOST_REMEDIES = 20
MOST_ROWS = 20  # the most row numbers that are listed
MOST_STEPS = 16
MOST_TRIALS, TRIAL_ROWS = 200, 20_000_000
"""The most candidates that are tried on the classes alone, and the most rows that they may have in all."""
MOST_RUNS, RUN_ROWS = 40, 8_000_000
"""The most candidates on which the policy's attacks are run, and the most rows that they may have in all, times the effort of
the attacks."""
HELD_ROWS = 2_000_000  # mended releases are kept for reuse up to this number of rows in all; others are made again
MOST_SUPPRESSED = 0.5  # a mending that suppresses more than this share of the people is no remedy


@dataclass(frozen=True, slots=True)
class Advice:
    """What drives the failing checks, what would help, and notes on the search."""

    drivers: tuple[Driver, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A candidate that was carried out: the levels of coarser columns, how many rows were suppressed and the numbers of the
    first, the detail that was kept, and how many people are still in classes that drive a check. The mended release itself is
    large and is kept elsewhere (see `_Search._mended`)."""

    mending: Mending
    levels: Mapping[str, str]
    rows: int
    row_numbers: tuple[int, ...]
    kept: float | None
    bad: int


_Judged = tuple[_Trial, PolicyVerdict]


def runs_allowed(rows: int, attacks: Sequence[str]) -> int:
    """The number of candidates on which these attacks may be run."""
    weight = 1 + sum(ATTACKS.get(name).effort for name in attacks)
    return min(MOST_RUNS, RUN_ROWS // max(rows * weight, 1))


def advise(subject: Subject, verdict: PolicyVerdict, options: Options, attacks: Sequence[str], judge: Judge) -> Advice:
    """What would help a release that fails its policy; `attacks` are those that the audit ran. Whatever goes wrong, the audit
    has its verdict, and goes on."""
    try:
        return _advise(subject, verdict, options, attacks, judge)
    except Exception as error:
        return Advice(notes=(f"No remedies were found, because of an {internal(error)}. Please report it.",))


def _advise(subject: Subject, verdict: PolicyVerdict, options: Options, attacks: Sequence[str], judge: Judge) -> Advice:
    reason = not_mendable(subject.release)
    if subject.whole is not None or subject.release.schema.tables:
        reason = "they change single rows, and several rows, or tables, are about one person; make the release again"
    if reason is not None:
        return Advice(notes=(f"No remedies were tried: {reason}.",))
    needed = [name for name in attacks if any(c.measure.startswith(f"{name}.") for c in verdict.checks)]
    runs = runs_allowed(subject.release.rows, needed)
    narrow = replace(options, links=_links(options, needed), utility=(), remedies=False)
    search = _Search(subject, verdict, options, runs, lambda mended: judge(mended, narrow, needed))
    drivers = search.drivers()
    if runs == 0:
        asked = ", ".join(needed)
        note = f"No remedies were tried: on {subject.release.rows} rows the policy's attacks ({asked}) take too long."
        return Advice(drivers, notes=(note,))
    return Advice(drivers, search.remedies(), tuple(search.notes))


def _links(options: Options, attacks: Collection[str]) -> tuple[Link, ...] | None:
    """The link model `class` where the policy needs no other. Otherwise the links of the options, since which of them apply
    depends on whether they were asked for by name."""
    checks = options.policy.checks if options.policy is not None else ()
    granted = all(check.link == Link.CLASS for check in checks if check.figure.split(".")[0] in attacks)
    return (Link.CLASS,) if granted and Link.CLASS in (options.links or tuple(Link)) else options.links


class _Search:
    """One search, with what it has tried so far."""

    def __init__(
        self,
        subject: Subject,
        verdict: PolicyVerdict,
        options: Options,
        runs: int,
        judge: Callable[[Subject], PolicyVerdict],
    ) -> None:
        self.subject, self.verdict, self.runs, self.judge = subject, verdict, runs, judge
        self.failing = [c for c in verdict.checks if not c.passed]
        drop = (*subject.identifiers, *_disguised(subject, self.failing))
        self.base = base = Mending(drop=drop, suppression=options.suppression, recursive_l=options.recursive_l)
        found = {c.measure: criterion_of(c, subject.release, base, options.settings) for c in self.failing}
        self.of_figure = {figure: one for figure, one in found.items() if one is not None}
        self.criteria = _strictest(self.of_figure.values())
        self.undriven = [c for c in self.failing if c.measure not in self.of_figure and c.measure not in _DROPPED]
        self.columns = [c for c in subject.release.quasi if not _averaged(subject.release, c)]
        self.notes: list[str] = []
        self.before = _kept(subject.release)
        self._trials: dict[str, _Trial | None] = {}
        self._held: dict[str, tuple[Subject, Mended]] = {}
        self._most_held = max(HELD_ROWS // max(subject.release.rows, 1), 1)
        self._judged: dict[str, _Judged] = {}
        self._left = min(MOST_TRIALS, max(TRIAL_ROWS // max(subject.release.rows, 1), 1))

    # ----- drivers ---------------------------------------------------------------------------------------------------

    def drivers(self) -> tuple[Driver, ...]:
        """For each failing check, the classes that drive it, and how many people each quasi-identifier would clear."""
        return tuple(self._driver(figure, criterion) for figure, criterion in self.of_figure.items())

    def _driver(self, figure: str, criterion: Criterion) -> Driver:
        release, provenance = self.subject.release, self.subject.provenance
        alone = replace(self.base, suppress=(criterion,))
        bad = meeting(release, alone)
        inside = bad[release.blocks[0].bucket]
        numbers: tuple[int, ...] = ()
        values = class_figures(release, criterion.figure, self.base.suppression, self.base.recursive_l)
        if provenance is not None and values is not None:
            rows = np.flatnonzero((provenance.bucket >= 0) & bad[provenance.bucket])
            rank = values[provenance.bucket[rows]] * (1 if criterion.relation == "<" else -1)
            numbers = tuple(int(row) + 1 for row in rows[np.lexsort((rows, rank))][:MOST_ROWS])
        columns = [self._driver_column(column, alone, inside) for column in release.quasi]
        columns.sort(key=lambda one: (-(one.cleared or 0), -one.granularity))
        return Driver(figure, str(criterion), int(bad.sum()), int(inside.sum()), numbers, tuple(columns))

    def _driver_column(self, column: str, driving: Mending, inside: Bools) -> DriverColumn:
        """How fine a column is in the rows that drive a check, and how many of them one level coarser would clear."""
        release = self.subject.release
        loss = release.labels[column].losses[release.blocks[0].cell(column)[inside]]
        trial = self._trial(self._with(column)) if column in self.columns else None
        cleared = level = None
        if trial is not None:
            mended = self._mended(trial.mending)[1]
            still = meeting(mended.release, driving)[mended.moved.bucket]
            cleared, level = int((inside & ~still).sum()), trial.levels[column]
        return DriverColumn(column, float(1 - loss.mean()) if len(loss) else 1.0, level, cleared)

    # ----- candidates ------------------------------------------------------------------------------------------------

    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies that were tried, the best first."""
        if not self.base.drop and all(check.measure in _DROPPED for check in self.failing):
            self.notes.append("No remedies were tried: a sensitive column tells nearly all rows apart, and has to go.")
            return ()
        found = [one for mending in self._candidates() if (one := self._judge(mending)) is not None]
        if self.undriven and found and not any(verdict.passed for _, verdict in found):
            found += self._descent(min(found, key=lambda one: self._rank(*one)))
        chosen = {_key(trial.mending): (trial, verdict) for trial, verdict in found}
        ranked = sorted(chosen.items(), key=lambda item: (*self._rank(*item[1]), item[0]))
        return tuple(self._remedy(*one) for _, one in ranked[:MOST_REMEDIES])

    def _candidates(self) -> list[Mending]:
        """What to judge, the most promising first, since there may not be enough runs for all."""
        base, found = self.base, []
        if base.drop:
            found.append(base)
        rest = replace(base, suppress=self.criteria)
        path = self._path() if self.criteria else []
        if self.criteria:
            found.append(rest)
            found += [step.mending for step in path[-1:] if step.bad == 0]
            tried = [self._trial(replace(step.mending, suppress=self.criteria)) for step in path if step.bad]
            mixed = sorted((t for t in tried if t is not None), key=lambda t: -(t.kept or 0.0))
            found += [trial.mending for trial in mixed[:4]]
        found += [self._with(column) for column in self.columns]
        if len(self.criteria) > 1:
            found += [replace(base, suppress=(one,)) for one in self.criteria]
        return found

    def _path(self) -> list[_Trial]:
        """Steps that make the release coarser, each by the column that clears most people for the detail it costs."""
        steps: list[_Trial] = []
        here = self._trial(self.base)
        while here is not None and here.bad and len(steps) < MOST_STEPS:
            options = [t for c in self.columns if (t := self._trial(self._with(c, here.mending))) is not None]
            if not options:
                break
            bad, kept = here.bad, here.kept or 0.0
            here = max(options, key=lambda t: ((bad - t.bad) / max(kept - (t.kept or 0.0), 1e-6), t.kept or 0.0))
            steps.append(here)
        return steps

    def _descent(self, here: _Judged) -> list[_Judged]:
        """The same from the best candidate on, but by judging each step: not all checks depend on figures of classes."""
        steps: list[_Judged] = []
        for _ in range(MOST_STEPS):
            options = [self._judge(self._with(column, here[0].mending)) for column in self.columns]
            known = [one for one in options if one is not None]
            if not known:
                break
            here = min(known, key=lambda one: self._rank(*one))
            steps.append(here)
            if here[1].passed:
                break
        return steps

    def _with(self, column: str, mending: Mending | None = None) -> Mending:
        """A mending with one column one level coarser."""
        mending = mending or self.base
        return replace(mending, coarsen={**mending.coarsen, column: mending.coarsen.get(column, 0) + 1})

    # ----- trying ----------------------------------------------------------------------------------------------------

    def _trial(self, mending: Mending) -> _Trial | None:
        """A candidate carried out; None where that is not possible, or would suppress too many people."""
        key = _key(mending)
        if key not in self._trials:
            if self._left <= 0:
                return None
            self._left -= 1
            self._trials[key] = self._carried_out(mending)
        return self._trials[key]

    def _carried_out(self, mending: Mending) -> _Trial | None:
        bad, former = 0, self.subject.release
        try:
            mended = self._mended(mending)[1]
            if self.criteria:
                still = meeting(mended.release, replace(mending, suppress=self.criteria))
                bad = int(mended.release.sizes[still].sum())
        except AuditorError:  # the column is general already, nobody would be left, or a figure does not apply
            return None
        except Exception as error:
            self._failed(error)
            return None
        rows = int(mended.suppressed.sum())
        if rows > MOST_SUPPRESSED * (former.rows - former.suppressed_rows):
            return None
        return _Trial(mending, mended.levels, rows, self._numbers(mended), _kept(mended.release), bad)

    def _mended(self, mending: Mending) -> tuple[Subject, Mended]:
        """The subject with its release mended, and the mended release."""
        key = _key(mending)
        if key not in self._held:
            made = mended_subject(self.subject, mending)
            while len(self._held) >= self._most_held:
                del self._held[next(iter(self._held))]
            self._held[key] = made
        return self._held[key]

    def _numbers(self, mended: Mended) -> tuple[int, ...]:
        """The first rows of the steward's file that were suppressed, counted from 1."""
        provenance = self.subject.provenance
        if provenance is None:
            return ()
        inside = provenance.bucket >= 0
        rows = np.flatnonzero(inside & mended.suppressed[provenance.fragment[:, 0]])
        return tuple(int(row) + 1 for row in rows[:MOST_ROWS])

    def _judge(self, mending: Mending) -> _Judged | None:
        """A candidate judged by the policy; None where it cannot be carried out, or no runs are left."""
        key = _key(mending)
        if key in self._judged:
            return self._judged[key]
        trial = self._trial(mending)
        if trial is None or self.runs <= 0:
            if trial is not None and _TOO_LONG not in self.notes:
                self.notes.append(_TOO_LONG)
            return None
        try:
            subject = self._mended(mending)[0]
            self.runs -= 1
            self._judged[key] = (trial, self.judge(subject))
        except AuditorError:  # an audit of the mended release would end with this error too
            return None
        except Exception as error:
            self._failed(error)
            return None
        return self._judged[key]

    def _failed(self, error: Exception) -> None:
        """A candidate that a bug keeps from being tried is left out, and a note says so."""
        note = f"A remedy could not be tried, because of an {internal(error)}. Please report it."
        if note not in self.notes:
            self.notes.append(note)

    def _rank(self, trial: _Trial, verdict: PolicyVerdict) -> tuple[float, ...]:
        """The best is least: passing, then how many checks fail and how far, the detail lost, the rows suppressed."""
        checks = _aligned(self.verdict, verdict)
        lost = 1.0 - (trial.kept if trial.kept is not None else 0.0)
        if verdict.passed:
            return (0.0, 0.0, 0.0, lost, trial.rows)
        failing = sum(not after.passed for _, after in checks)
        return (1.0, failing, sum(_beyond(after) for _, after in checks), lost, trial.rows)

    def _remedy(self, trial: _Trial, verdict: PolicyVerdict) -> Remedy:
        mending = trial.mending
        return Remedy(
            coarsen=tuple(Coarsening(c, n, trial.levels[c]) for c, n in mending.coarsen.items()),
            suppress=tuple(map(str, mending.suppress)),
            drop=mending.drop,
            rows=trial.rows,
            row_numbers=trial.row_numbers,
            predicted=tuple(
                Prediction(before.measure, before.value, after.value, after.relation, after.limit, after.passed is True)
                for before, after in _aligned(self.verdict, verdict)
                if not (before.passed and after.passed)
            ),
            passes=verdict.passed,
            granularity_before=self.before,
            granularity=trial.kept,
        )


_DROPPED = ("release.identifiers", "release.distinct")
"""Checks on columns that name people: these are dropped. Where a verdict has such checks, they come first."""


def _disguised(subject: Subject, failing: Sequence[PolicyCheck]) -> tuple[str, ...]:
    """The columns to drop because the values of each tell nearly all rows apart, where the policy fails for it. Sensitive
    columns go only where another one stays: without any a release says nothing."""
    if not any(check.measure == "release.distinct" for check in failing):
        return ()
    found = (one for one in (*distinct_columns(subject.release), *subject.ignored) if one.identifying)
    named = [(one.column, one.role) for one in found]
    stays = set(subject.release.sensitive) - {column for column, _ in named}
    return tuple(column for column, role in named if role != Role.SENSITIVE or stays)


def _key(mending: Mending) -> str:
    return repr((sorted(mending.coarsen.items()), mending.suppress, mending.drop))


def _strictest(criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Of each figure, the criterion that most classes meet."""
    found: dict[str, Criterion] = {}
    for one in criteria:
        other = found.get(one.figure)
        wider = other is None or (one.limit > other.limit) == (one.relation == "<")
        found[one.figure] = one if wider else found[one.figure]
    return tuple(found.values())


def _averaged(release: Release, column: str) -> bool:
    """Whether a column holds numbers that are not values of the original (averages, noise). A band around such a number need
    not hold the person's own value, so a coarser label would not be true."""
    labels = release.labels[column]
    used = np.unique(release.block_of(column).cell(column))
    return bool(((labels.counts == 0) & (labels.low == labels.high))[used].any())


def _kept(release: Release) -> float | None:
    """The granularity; None where it does not apply."""
    value = granularity(Case(release))[0].value
    return None if value is None else float(value)


def _aligned(before: PolicyVerdict, after: PolicyVerdict) -> list[tuple[PolicyCheck, PolicyCheck]]:
    """The checks of two verdicts of one policy in pairs; a check on columns that were dropped holds in the second."""
    theirs = list(after.checks)
    for place, check in enumerate(before.checks):
        if check.measure in _DROPPED and not (place < len(theirs) and theirs[place].measure == check.measure):
            theirs.insert(place, replace(check, value=0, passed=True))
    return list(zip(before.checks, theirs, strict=True))


def _beyond(check: PolicyCheck) -> float:
    """How far a figure is beyond its limit, from 0 to 1; a missing figure counts as 1."""
    if check.passed:
        return 0.0
    if check.value is None:
        return 1.0
    return abs(check.value - check.limit) / max(abs(check.limit), abs(check.value), 1e-9)
