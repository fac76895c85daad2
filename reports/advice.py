"""What to do: one sentence, what it costs, and the command that does it.

Of one release that fails it is the best remedy that was tried; of one that passes, to publish it; of several, which to
publish. Where nothing was tried it is what lowers the figure that fails, in the words of its attack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from auditor.model.record.meaning import RELEASE, Criterion, NoteKind
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.record.release_facts import SensitiveFacts
from auditor.model.record.remedy import Remedy
from reports.reading import Meanings, is_synthetic, label_of, one_person
from reports.tables.remedies import one_line
from reports.tables.sweeps import is_sweep
from reports.tables.tables import left_out_people
from reports.text import capital, clean, number, percent, words
from reports.words.best import best_release, is_judged, protecting
from reports.words.findings import Finding, findings, key_findings
from reports.words.verdicts import warnings

_CRITERION = re.compile(r"(\w+)\s*(<=|>=|<|>)\s*(\S+)")
_SIDES = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_GIVE_POLICY = "Give --policy, such as --policy k5 or --policy ema (`auditor list policies` has all)"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do: `title` in one sentence, `lines` with what it costs, and the `command` where there is one."""

    title: str
    lines: tuple[str, ...] = ()
    command: str = ""


_OWN_POLICY = "Give --policy with a file whose conditions are about attacks, since those about classes do not apply"


def what_to_do(run: RunRecord) -> Advice | None:
    """The advice for a run; None where there is nothing to decide, as about one person, or by a sweep, which compares what
    adversaries know and judges nothing."""
    if all(one_person(record) for record in run.records) or is_sweep(run):
        return None
    hindered = [note for record in run.records for note in record.notes if note.kind == NoteKind.NOT_JUDGED]
    if hindered and not is_judged(run):
        return Advice("Have it judged before it is published.", (clean(hindered[0].text, 600),))
    return _one(run.records[0]) if len(run.records) == 1 else _several(run)


def _one(record: AuditRecord) -> Advice:
    if record.policy is None:
        given = _OWN_POLICY if is_synthetic(record.release) else _GIVE_POLICY
        judge = f"{given}: the release is then judged."
        return Advice("Say what risk you accept.", (judge, *_lowered(record)))
    if record.passes:
        doubts, unasked = warnings(RunRecord("", 0, (record,))), _unasked(record)
        if doubts:
            return Advice("Publish it once the warnings above are dealt with.", unasked or tuple(_left(record)))
        if unasked:
            return Advice("Publish it only if you accept what the policy does not ask about.", unasked)
        return Advice("Publish it.", ("It costs nothing more: no change is needed.", *_left(record)))
    best = next((one for one in record.remedies if one.passes), None)
    if best is not None:
        stay = record.release.fit_one or any(note.kind == NoteKind.DOUBT for note in record.notes)
        lines = (_cost(record, best), *(["Deal with the warnings above as well."] if stay else []))
        return Advice(f"{capital(in_words(record, best))}: then it passes.", lines, _command(best))
    if record.remedies:
        nearest = record.remedies[0]
        said = f"The nearest is to {in_words(record, nearest)}. {_cost(record, nearest)}"
        title = f"Do not publish it: none of {number(len(record.remedies))} changes that were tried makes it pass."
        return Advice(title, (said, *_lowered(record)), _command(nearest))
    return Advice("Do not publish it as it is.", tuple(_lowered(record)))


def _unasked(record: AuditRecord) -> tuple[str, ...]:
    """The strong findings of kinds that the policy has no condition on, the strongest of each. Conditions on classes ask how
    people are found, those on the values in classes what is inferred."""
    meanings, asked = Meanings(record), set[str]()
    for check in record.policy.checks if record.policy is not None else ():
        of, _, name = check.measure.partition(".")
        if of != RELEASE:
            asked.add(meanings.attack(of).criterion)
        else:
            about_values = name in {field.name for field in fields(SensitiveFacts)}
            asked |= {Criterion.INFERENCE} if about_values else {Criterion.SINGLING_OUT, Criterion.LINKABILITY}
    found: dict[str, Finding] = {}
    for one in findings(record):
        if one.strong and one.criterion not in asked:
            found.setdefault(one.criterion, one)
    return tuple(f"The policy does not ask about {kind}: {one.headline}" for kind, one in found.items())


def _left(record: AuditRecord) -> Iterator[str]:
    """What a release that passes still gives away."""
    found = key_findings(findings(record))
    if found:
        yield f"What it still gives away: {found[0].headline}"


def _lowered(record: AuditRecord) -> Iterator[str]:
    """What lowers the risk: that of the checks that fail, else that of the strongest finding."""
    attacks = {facts.name: facts for facts in record.attacks}
    checks = record.policy.checks if record.policy is not None else ()
    failing = [check.measure.partition(".")[0] for check in checks if not check.passed]
    told = [clean(attacks[name].lowered_by, 400) for name in failing if name in attacks]
    told = told or [one.advice for one in key_findings(findings(record)) if one.advice]
    if told:
        yield f"What lowers the risk: {told[0][:1].lower()}{told[0][1:]}"


def in_words(record: AuditRecord, remedy: Remedy) -> str:
    """A remedy, to be made a sentence: `make age coarser (bands of 10) and suppress classes of fewer than 5 people`."""
    parts = [f"drop {words([clean(column, 60) for column in remedy.drop])}"] if remedy.drop else []
    if remedy.coarsen:
        parts.append(
            "make " + words([f"{clean(one.column, 60)} coarser ({clean(one.level, 60)})" for one in remedy.coarsen])
        )
    parts += [f"suppress classes {_criterion(record, one)}" for one in remedy.suppress]
    return words(parts)


def _criterion(record: AuditRecord, text: str) -> str:
    """`of fewer than 5 people`, or by the label of a statistic."""
    found = _CRITERION.fullmatch(text)
    if found is None:
        return f"with {clean(text, 60)}"
    if found[1] == "k" and found[2] == "<":
        return f"of fewer than {clean(found[3], 20)} people"
    label = label_of(Meanings(record).measure(RELEASE, found[1]))
    return f"whose {label} is {_SIDES[found[2]]} {clean(found[3], 20)}"


def _cost(record: AuditRecord, remedy: Remedy) -> str:
    if not remedy.rows and remedy.granularity is not None and remedy.granularity == remedy.granularity_before:
        return "It costs no row, and no detail of the quasi-identifiers."
    parts = []
    if remedy.rows:
        parts.append(f"{number(remedy.rows)} of {number(record.release.rows)} rows are suppressed")
    if remedy.granularity is not None and remedy.granularity_before is not None:
        parts.append(
            f"{percent(remedy.granularity)} of the detail is left, {percent(remedy.granularity_before)} before"
        )
    return f"It costs: {'; '.join(parts)}." if parts else ""


def _command(remedy: Remedy) -> str:
    return "" if remedy.command is None else one_line(remedy.command)


def _several(run: RunRecord) -> Advice:
    best = best_release(run)
    if best is None:
        lowered = tuple(dict.fromkeys(line for record in run.records for line in _lowered(record)))[:1]
        if not is_judged(run):
            none = f"None of the releases has {protecting(run).removeprefix('with ')} over a guess without the release."
            return Advice(
                "Say what risk you accept.", (none, f"{_GIVE_POLICY}: each release is then judged.", *lowered)
            )
        passing = [clean(record.release.name, 60) for record in run.records if record.passes]
        if passing:
            which = f"{passing[0]} passes" if len(passing) == 1 else f"{words(passing)} pass"
            return Advice(f"{which}; which is most useful cannot be told.", ())
        return Advice("Publish none of them as they are.", lowered)
    kept = run.records[best.place - 1] if best.place else None
    among = (
        f"the best of the {number(best.among)} {protecting(run)}"
        if best.among > 1
        else f"the only one {protecting(run)}"
    )
    lines = [
        f"It is {among.replace('one that pass', 'one that passes')}" + (f": {best.utility}." if best.utility else ".")
    ]
    if best.alike:
        lines.append(f"Not to be told from it by this figure: {words(list(best.alike))}.")
    if kept is not None and (lost := left_out_people(kept.release)):
        lines.append(f"Left out or suppressed in it: {lost} people.")
    if not is_judged(run):
        judge = f"{_GIVE_POLICY}: each release is then judged."
        lines[0] = lines[0].replace("It is", f"{best.name} is", 1)
        risk = "The risk is that of one kind of attack by one adversary; others may get more."
        return Advice("Say what risk you accept.", (judge, *lines, risk))
    if kept is not None and warnings(RunRecord("", 0, (kept,))):
        return Advice(f"Publish {best.name} once the warnings about it are dealt with.", tuple(lines))
    unasked = () if kept is None else _unasked(kept)
    if unasked:
        title = f"Publish {best.name} only if you accept what the policy does not ask about."
        return Advice(title, (*unasked, *lines))
    return Advice(f"Publish {best.name}.", tuple(lines))
