"""The verdict of the policy in words, and the warnings that belong beside it.

The verdict is one sentence without the words of the trade. A check is a sentence too, in tables with its key in brackets:
`The smallest class has 5 people; at least 10 are required (release.k).` Warnings are news: what a reader would not expect of
a release that is said to be anonymous.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.model.record.meaning import NoteKind
from auditor.model.record.record import OK, AuditRecord, PolicyCheck, PolicyVerdict, Risk, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from reports.reading import Meanings, label_of, size
from reports.text import capital, clean, number, percent, short, spoken, words
from reports.words.best import best_release
from reports.words.sentences import filled, template

WORST_CASE = "In the worst case"
"""How a check begins that judges what would be if everybody's class were known."""
_FEW, _HALF = 12, 0.5
_PROMISED = re.compile(r"k = (\d+)|(\d+)-anonymity")
NEARLY_ALL = 0.9
"""A class that holds more than this share of the people holds nearly everybody."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for a reader in a hurry: `kind` is `pass`, `fail`, `mixed` or `none`, and `title` says it in one sentence;
    `lines` are what else did not hold, `warnings` qualify it. Of several releases `reasons` say why some fail."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def verdict(run: RunRecord) -> Verdict:
    """What the policy said, over all releases of the run, with the warnings of all."""
    judged = [r for r in run.records if r.policy is not None]
    told = warnings(run)
    if not run.records:
        return Verdict("none", "Nothing was audited", ("The run holds no release.",))
    if not judged:
        notes = [note for record in run.records for note in record.notes if note.kind == NoteKind.NOT_JUDGED]
        reasons = dict.fromkeys(clean(note.text, 600).partition(": ")[2] for note in notes)
        why, *more = (next(iter(reasons), "") or "no policy was given").rstrip(".").split(". ")
        return Verdict("none", f"NOT JUDGED – {why}", tuple(f"{line}." for line in more), told)
    names = words(list(dict.fromkeys(policy_name(r.policy) for r in judged if r.policy)))
    passed = [r for r in judged if r.passes]
    kind = "pass" if len(passed) == len(run.records) else "mixed" if passed else "fail"
    if len(run.records) == 1:
        searched = [f"a search found an adversary who breaks {names}."]
        failed = failed_checks(judged[0]) or ([names] if judged[0].policy and not judged[0].policy.passed else searched)
        first, *others = [f"the release keeps to {names}."] if passed else failed
        return Verdict(kind, f"{'PASS' if passed else 'FAIL'} – {first}", (*others, *_people(judged[0])), told)
    all_of, by = (
        f"{number(len(run.records) if passed else len(judged))} releases",
        words(list(dict.fromkeys(short_name(r.policy) for r in judged if r.policy))),
    )
    title = {
        "pass": f"PASS – all {all_of} pass {by}",
        "mixed": f"{number(len(passed))} of {all_of} pass {by}",
        "fail": f"FAIL – none of {all_of} passes {by}",
    }[kind]
    best, rest = best_release(run), len(run.records) - len(judged)
    if best is not None:
        title += f"; the best of them is {best.name}" + (f" ({best.utility})" if best.utility else "")
    lines = (
        [f"{number(rest)} {'release was' if rest == 1 else 'releases were'} not judged by a policy."] if rest else []
    )
    return Verdict(kind, f"{title}.", tuple(lines), told, _reasons(judged))


def policy_name(policy: PolicyVerdict) -> str:
    """`policy ema (risk of re-identification at most 0.09)`."""
    title = clean(policy.title)
    if len(title) > 1 and title[1].islower():
        title = title[0].lower() + title[1:]
    return short_name(policy) + (f" ({title})" if title else "")


def short_name(policy: PolicyVerdict) -> str:
    """`policy ema`."""
    return f"policy {clean(policy.name, 60)}"


def warnings(run: RunRecord) -> tuple[str, ...]:
    """What must be read before anything else: published identifiers, by that role or in disguise, promises that do not hold,
    people who fit one record, classes that hold nearly everybody or one person, and doubts about the correspondence of
    rows."""
    several = len(run.records) > 1
    made = []
    for record in run.records:
        name = f"{clean(record.release.name, 60)}: " if several else ""
        if record.release.identifiers:
            made.append(name + published(record))
        made += [name + text for text in distinct(record)]
        made += [name + text for text in broken_promises(record.release)]
        if record.release.fit_one:
            made.append(name + fit_one(record))
        made += [name + text for text in uneven(record.release)]
        made += [name + clean(note.text, 600) for note in record.notes if note.kind == NoteKind.DOUBT]
    return tuple(made)


def distinct(record: AuditRecord) -> list[str]:
    """The sentences on columns that tell nearly all rows apart: those that may be identifiers, and the others."""
    made = []
    for disguised in (True, False):
        found = [one for one in record.release.distinct if one.identifying is disguised]
        if not found:
            continue
        named = [f"'{clean(one.column, 60)}' ({clean(one.role, 40)}, {percent(one.share)})" for one in found]
        column, it, names = ("column", "it", "an identifier") if len(found) == 1 else ("columns", "they", "identifiers")
        them = "it" if len(found) == 1 else "them"
        why = f"{it} may name people, whatever the role. Drop {them}, or declare {them} as {names}"
        said = why if disguised else "whoever knows somebody's value finds the row"
        made.append(f"In the {column} {words(named)} nearly every row has a value of its own: {said}.")
    return made


def broken_promises(release: ReleaseFacts) -> list[str]:
    """The sentence on a promised k that the classes do not have."""
    found = [match for one in release.promises if (match := _PROMISED.fullmatch(one)) is not None]
    promised = max((int(match[1] or match[2]) for match in found), default=0)
    least = min((k for k in (release.k, release.k_joined) if k is not None), default=promised)
    if least >= promised:
        return []
    are = "1 is" if least == 1 else f"{number(least)} are"
    return [f"The release promises that at least {number(promised)} people are alike; in one class only {are}."]


def fit_one(record: AuditRecord) -> str:
    """The sentence on people who fit exactly one record, although suppressed cells fit any value."""
    one, risk = record.release.fit_one or 0, record.release.risk
    who = f"{number(one)} {'person fits' if one == 1 else 'people fit'} exactly one record"
    least = 0 if risk is None or not risk.wildcard_max else round(1 / risk.wildcard_max)
    told = f"{capital(who)}: whoever knows their quasi-identifiers finds the right one."
    if least < 2:
        return told
    return (
        f"sdcMicro, which lets a suppressed cell stand for any value, calls this {number(least)}-anonymous; {who}, and "
        "whoever knows their quasi-identifiers finds the right one."
    )


def uneven(release: ReleaseFacts) -> list[str]:
    """The sentences on classes of a release of several blocks that are too large to be of use, or too small to hide in."""
    if len(release.blocks) < 2:
        return []
    made = []
    largest, alone = release.largest_class or 0, release.alone
    people = sum(int(size) * classes for size, classes in release.class_sizes.items() if size.isdigit())
    if largest > NEARLY_ALL * people and people > 1:
        made.append(
            f"One class holds {number(largest)} of {number(people)} people: within it nothing says which values of one block "
            "go with which of another, so that little can be learned from the release. Ask for less (a lower l or size), or "
            "generalise."
        )
    if alone:
        who = f"{number(alone)} {'person is alone in a class' if alone == 1 else 'people are alone in their class'}"
        made.append(
            f"{who}: there is nobody to exchange values with, so that {'this row' if alone == 1 else 'these rows'} can be "
            "read across all blocks. Ask for larger classes (bucket_size)."
        )
    return made


def published(record: AuditRecord) -> str:
    """The sentence on identifiers that stand in the release."""
    names = [f"'{clean(column, 60)}'" for column in record.release.identifiers]
    column, it = ("column", "it") if len(names) == 1 else ("columns", "them")
    return f"The release publishes the identifier {column} {words(names)}: everybody can be named. Remove {it}."


def _people(record: AuditRecord) -> list[str]:
    """How many people there are, where they are fewer than the rows."""
    release = record.release
    several = release.people is not None and release.people < release.rows
    return [f"The release has {size(release)}; people are counted."] if several else []


def _reasons(judged: Sequence[AuditRecord]) -> tuple[str, ...]:
    """Why releases fail, one line each: of a few all checks, of many the first."""
    failing = [r for r in judged if r.policy is not None and not r.policy.passed]
    most = 4 if len(failing) <= _FEW else 1
    return tuple(f"{clean(r.release.name, 60)} fails. {' '.join(failed_checks(r)[:most])}" for r in failing)


def failed_checks(record: AuditRecord) -> list[str]:
    """A sentence for each check of the policy that does not hold; those without a figure last."""
    checks = [c for c in (record.policy.checks if record.policy is not None else ()) if not c.passed]
    return [plain_check(record, check) for check in sorted(checks, key=lambda c: c.value is None)]


def check_text(record: AuditRecord, check: PolicyCheck) -> str:
    """A check with its key, by which policies name it: `The smallest class has 5 people; at least 10 are required
    (release.k).`"""
    return f"{plain_check(record, check).removesuffix('.')} ({clean(check.measure, 80)})."


def plain_check(record: AuditRecord, check: PolicyCheck) -> str:
    """`In the worst case, the most exposed person is linked to their own record with probability 0.2 (one in 5); at most 9 %
    is allowed.`"""
    key = clean(check.measure, 80)
    of, _, name = key.partition(".")
    meanings = Meanings(record)
    measure = meanings.measure(of, name)
    label = label_of(measure) if measure.label else f"figure {spoken(key.replace('.', ' '))}"
    if check.value is None:
        return f"{capital(label)}: cannot be judged, {clean(check.reason or 'there is no figure')}."
    if check.of == "excess":
        bound = "at least" if check.relation == ">=" else "at most"
        said = f"{meanings.title(of)}, {label}: {percent(check.value)} beyond control and baseline"
        return (
            f"{capital(said)}; {bound} {percent(check.limit)} is {'required' if check.relation == '>=' else 'allowed'}."
        )
    measured = check.value if check.estimate is None else check.estimate
    same = [r for r in record.risks if (r.attack, r.measure, r.value) == (of, name, measured) and r.status == OK]
    whose = (check.adversary, check.link)
    judged = [r for r in same if (r.adversary, r.link) == whose] or sorted(same, key=lambda r: not meanings.supposed(r))
    risk = next(iter(judged), Risk(of, "", None, name, value=check.value, kind=measure.kind))
    risk = replace(risk, value=check.value)
    text = template(measure, risk).partition(";")[0] if measure.sentence else f"the {label} is {number(check.value)}"
    limit = percent(check.limit) if "{rate}" in text or "{share}" in text else short(check.limit)
    if "{one_in}" in text and 0 < check.limit <= _HALF:
        limit = f"{short(float(f'{check.limit:.3g}'))} (one in {short(round(1 / check.limit))})"
    verb = "are" if check.limit > 1 and float(check.limit).is_integer() else "is"
    bound = f"at least {limit} {verb} required" if check.relation == ">=" else f"at most {limit} {verb} allowed"
    if check.relation != ">=" and check.limit == 0:
        bound = "none is allowed"
    said = clean(filled(text, risk, _attacker(record, check)), 600).rstrip(".")
    if check.estimate is not None:
        found = percent(check.estimate) if "{rate}" in text or "{share}" in text else short(check.estimate)
        bound += f" (measured: {found}; as an estimate it is judged by the worse end of its interval)"
    return f"{f'{WORST_CASE}, {said}' if meanings.supposed(risk) else capital(said)}; {bound}."


def _attacker(record: AuditRecord, check: PolicyCheck) -> str:
    """Whose figure a check judged, where it is what an adversary gets by a link of their own."""
    return (
        "" if check.adversary is None or Meanings(record).granted(check.link) else f"the {clean(check.adversary, 60)}"
    )
