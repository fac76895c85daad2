"""The verdict of the policy in words, and the warnings that belong beside it.

A check is a sentence with its key in brackets: `The smallest class has 5 people; at least 10 are required (release.k).`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import NoteKind
from auditor.model.record.record import OK, AuditRecord, PolicyCheck, PolicyVerdict, Risk, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from reports.reading import Meanings, label_of, size
from reports.text import capital, clean, number, percent, short, spoken, words
from reports.words.sentences import filled, if_known, template

NEARLY_ALL = 0.9
"""A class that holds more than this share of the people holds nearly everybody."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for a reader in a hurry: `kind` is `pass`, `fail`, `mixed` or `none`; `warnings` qualify it."""

    kind: str
    title: str
    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def verdict(run: RunRecord) -> Verdict:
    """What the policy said, over all releases of the run, with the warnings of all."""
    judged = [r for r in run.records if r.policy is not None]
    told = warnings(run)
    if not run.records:
        return Verdict("none", "Nothing was audited", ("The run holds no release.",))
    if not judged:
        notes = [note for record in run.records for note in record.notes if note.kind == NoteKind.NOT_JUDGED]
        reasons = dict.fromkeys(clean(note.text, 600).partition(": ")[2] for note in notes)
        why, *more = (next(iter(reasons), "") or "no policy was asked for").rstrip(".").split(". ")
        return Verdict("none", f"NOT JUDGED – {why}", tuple(f"{line}." for line in more), told)
    names = words(list(dict.fromkeys(policy_name(r.policy) for r in judged if r.policy)))
    passed = [r for r in judged if r.policy is not None and r.policy.passed]
    kind = "pass" if len(passed) == len(judged) else "mixed" if passed else "fail"
    if len(run.records) == 1:
        title = f"{'PASS' if passed else 'FAIL'} – {names}"
        return Verdict(kind, title, (*_outcome(judged[0]), *_people(judged[0])), told)
    all_of = f"{number(len(judged))} releases"
    said = {
        "pass": f"PASS – all {all_of} pass {names}",
        "mixed": f"FAIL – {number(len(passed))} of {all_of} pass {names}",
        "fail": f"FAIL – none of {all_of} passes {names}",
    }
    lines = [_release_line(r) for r in judged] if len(judged) <= 12 else [_passing(passed)]
    if len(judged) < len(run.records):
        rest = len(run.records) - len(judged)
        lines.append(f"{number(rest)} {'release was' if rest == 1 else 'releases were'} not judged by a policy.")
    return Verdict(kind, said[kind], tuple(lines), told)


def policy_name(policy: PolicyVerdict) -> str:
    """`policy ema (risk of re-identification at most 0.09)`."""
    title = clean(policy.title)
    if len(title) > 1 and title[1].islower():
        title = title[0].lower() + title[1:]
    return f"policy {clean(policy.name, 60)}" + (f" ({title})" if title else "")


def warnings(run: RunRecord) -> tuple[str, ...]:
    """What must be read before anything else: published identifiers, by that role or in disguise, people who fit one record,
    classes that hold nearly everybody or one person, and doubts about the correspondence of rows."""
    several = len(run.records) > 1
    made = []
    for record in run.records:
        name = f"{clean(record.release.name, 60)}: " if several else ""
        if record.release.identifiers:
            made.append(name + published(record))
        made += [name + text for text in distinct(record)]
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


def fit_one(record: AuditRecord) -> str:
    """The sentence on people who fit exactly one record, although suppressed cells fit any value."""
    one, risk = record.release.fit_one or 0, record.release.risk
    who = f"{number(one)} {'person fits' if one == 1 else 'people fit'} exactly one record"
    least = 0 if risk is None or not risk.wildcard_max else round(1 / risk.wildcard_max)
    counted = f"every record agrees with at least {number(least)} if a suppressed cell counts as any value"
    although = f", although {counted}" if least > 1 else ""
    return f"{who}{although}: whoever knows their quasi-identifiers finds the right one."


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


def _outcome(record: AuditRecord) -> list[str]:
    checks = record.policy.checks if record.policy is not None else ()
    if record.policy is not None and record.policy.passed:
        held = {1: "the one check holds", 2: "both checks hold"}.get(
            len(checks), f"all {number(len(checks))} checks hold"
        )
        return [f"Under this policy {held}."]
    return failed_checks(record)


def _people(record: AuditRecord) -> list[str]:
    """How many people there are, where they are fewer than the rows."""
    release = record.release
    several = release.people is not None and release.people < release.rows
    return [f"The release has {size(release)}; people are counted."] if several else []


def _passing(passed: Sequence[AuditRecord]) -> str:
    return f"Passing: {words([clean(r.release.name, 60) for r in passed], 12)}." if passed else "None passes."


def _release_line(record: AuditRecord) -> str:
    name = clean(record.release.name, 60)
    if record.policy is None or record.policy.passed:
        return f"{name} passes."
    return f"{name} fails. " + " ".join(failed_checks(record)[:4])


def failed_checks(record: AuditRecord) -> list[str]:
    """A sentence for each check of the policy that does not hold."""
    checks = record.policy.checks if record.policy is not None else ()
    return [check_text(record, check) for check in checks if not check.passed]


def check_text(record: AuditRecord, check: PolicyCheck) -> str:
    """`The smallest class has 5 people; at least 10 are required (release.k).`"""
    key = clean(check.measure, 80)
    of, _, name = key.partition(".")
    measure = Meanings(record).measure(of, name)
    label = label_of(measure) if measure.label else f"figure {spoken(key.replace('.', ' '))}"
    if check.value is None:
        return f"{capital(label)}: cannot be judged, {clean(check.reason or 'there is no figure')} ({key})."
    same = [r for r in record.risks if (r.attack, r.measure, r.value) == (of, name, check.value) and r.status == OK]
    meanings, whose = Meanings(record), (check.adversary, check.link)
    judged = [r for r in same if (r.adversary, r.link) == whose] or sorted(same, key=lambda r: not meanings.supposed(r))
    risk = next(iter(judged), Risk(of, "", None, name, value=check.value, kind=measure.kind))
    text = template(measure, risk).partition(";")[0] if measure.sentence else f"the {label} is {number(check.value)}"
    limit = percent(check.limit) if "{rate}" in text or "{share}" in text else short(check.limit)
    verb = "are" if check.limit > 1 and float(check.limit).is_integer() else "is"
    bound = f"at least {limit} {verb} required" if check.relation == ">=" else f"at most {limit} {verb} allowed"
    if check.relation != ">=" and check.limit == 0:
        bound = "none is allowed"
    said = clean(filled(text, risk, _attacker(record, check)), 600).rstrip(".")
    return f"{if_known(said) if meanings.supposed(risk) else capital(said)}; {bound} ({key})."


def _attacker(record: AuditRecord, check: PolicyCheck) -> str:
    """Whose figure a check judged, where it is what an adversary gets by a link of their own."""
    if check.adversary is None or Meanings(record).granted(check.link):
        return ""
    return f"the {clean(check.adversary, 60)}" + (f" (link {clean(check.link, 40)})" if check.link else "")
