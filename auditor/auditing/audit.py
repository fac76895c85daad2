"""The audit: attacks on a release, scored against the truth, judged by a policy, and put together as one record.

What the attack has over its control is the risk that a person owes to being in the release. How one adversary attacks is
`auditor/auditing/attacking.py`; here the rows of all adversaries become a record with facts, utility, verdict and remedies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from attacks import ATTACKS, attacks_on
from attacks.base import Attack
from auditor.auditing.attacking import Attacker
from auditor.auditing.bounds import release_bounds
from auditor.auditing.estimates import JUDGED, estimated
from auditor.auditing.facts import release_facts
from auditor.auditing.lacking import lacking
from auditor.auditing.people import by_people
from auditor.auditing.remedies.command_lines import with_commands
from auditor.auditing.remedies.search import Advice, advise
from auditor.auditing.sampling import sampled
from auditor.auditing.scoring.claims import TRUE_CLAIMS
from auditor.auditing.sides import Sides
from auditor.auditing.stages import FACTS, LINK, REMEDIES, UTILITY, Stages
from auditor.auditing.subjects import Sources, Subject, read_subject, with_holdout
from auditor.measure.ambiguity import NOTE
from auditor.measure.statistics import STATISTICS
from auditor.measure.utility import check_columns, find_measures, utility_meanings, utility_rows
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import (
    NOT_APPLICABLE,
    ORIGINAL,
    AdversaryFacts,
    AuditRecord,
    Lack,
    PolicyVerdict,
    Risk,
    SampleFacts,
    Utility,
)
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Release
from auditor.model.table import Table
from auditor.posterior.informed import links_of
from auditor.posterior.links import LINKS
from auditor.version import VERSION
from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR, Adversary, Stance
from scenarios.options import Options

if TYPE_CHECKING:
    import pandas as pd

    from auditor.model.key import Key
    from auditor.model.provenance import Provenance
    from auditor.model.schema import Schema

NOT_JUDGED = "The policy was not judged: {}."
MADE_UP = (
    "The rows of this release are taken to be nobody's (synthetic). Its classes, and figures such as k and l, are "
    "facts about the file and promise nothing to anybody. Attacks that look for a person's row do not apply."
)
ONLY_SOME = "it is about the whole release, and only some people were attacked"


class Keeper(Protocol):
    """Keeps the rows of adversaries who have finished."""

    def read(self, adversary: Adversary, attacks: Sequence[Attack]) -> Sequence[Risk] | None:
        """The rows of an adversary; None where they are not kept."""

    def write(
        self, adversary: Adversary, attacks: Sequence[Attack], risks: Sequence[Risk], facts: ReleaseFacts
    ) -> None:
        """Keeps them."""


def run_audit(
    subject: Subject, options: Options, progress: Progress | None = None, keeper: Keeper | None = None
) -> AuditRecord:
    """Audits one release. Where `options.sample` asks for it a sample of its people is drawn, unless one was already. The
    rows of adversaries whom the `keeper` has are taken from there."""
    subject = by_people(with_holdout(subject))
    if options.sample is not None and subject.release.synthetic:
        raise UsageError(
            "--sample draws people of the release, and the rows of a synthetic one are nobody's: leave it out."
        )
    if options.sample is not None and subject.sample is None:
        subject = sampled(subject, options)
    return _Audit(subject, options, progress or silent, keeper).record()


@shown_in_notebooks
def audit(
    release: str | Path | pd.DataFrame | Release,
    schema: Schema | str | Path | None = None,
    *,
    original: str | Path | pd.DataFrame | Table | None = None,
    match: str | None = None,
    provenance: str | Path | Provenance | None = None,
    population: str | Path | pd.DataFrame | None = None,
    key: str | Path | Key | None = None,
    no_match: bool = False,
    holdout: str | Path | pd.DataFrame | None = None,
    reference: str | Path | pd.DataFrame | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> AuditRecord:
    """Audits a release made by any tool: a file, a folder, a frame, or what an anonymizer returned.

    `match` says how release rows and original rows correspond: "rows" (same order) or the name of a column with an id in
    both; for our own releases the provenance does. `no_match` says that no row belongs to anybody: the release is synthetic,
    made from all people of the original. `holdout` are people who are certainly not in it, in place of a population;
    `reference` further ones, for adversaries to learn from (default: one half of the outsiders). `key` is what coded values
    stand for: utility is measured with it. `options` holds what to run.
    """
    options = options or Options()
    given = Sources(release, schema, original, match, provenance, population, key, no_match, holdout, reference)
    subject = read_subject(given, options.seed)
    record = run_audit(subject, options, progress)
    if isinstance(release, str | Path) and isinstance(schema, str | Path):
        record = with_commands(record, release, schema, options.suppression, options.recursive_l)
    return record


def _unasked(verdict: PolicyVerdict) -> str:
    """Why a policy does not judge a synthetic release, none of whose figures fails it: conditions do not apply, or they could
    not be judged for a reason that is told."""
    count, silent = len(verdict.checks), [check for check in verdict.checks if check.passed is None]
    barred = [check for check in silent if _is_of_rows(check.measure)]
    told = []
    if barred:
        figures = ", ".join(dict.fromkeys(check.measure for check in barred))
        told.append(f"{len(barred)} of its {count} conditions do not apply to a synthetic release ({figures})")
    reasons: dict[str, list[str]] = {}
    for check in silent:
        if check not in barred:
            reasons.setdefault(check.reason or "there is no figure", []).append(check.measure)
    for reason, measures in reasons.items():
        told.append(f"{', '.join(dict.fromkeys(measures))} could not be judged, since {reason}")
    if len(silent) < count:
        told.append(f"the other {count - len(silent)} hold")
    return "; ".join(told)


def _is_of_rows(figure: str) -> bool:
    """Whether a figure is about rows that are somebody's: of classes, or of an attack that looks for a person's row."""
    of = figure.partition(".")[0]
    return of == "release" or (of in ATTACKS.all() and ATTACKS.get(of).barred(synthetic=True) is not None)


class _Audit:
    """One audit under way: holds what its steps share."""

    def __init__(self, subject: Subject, options: Options, progress: Progress, keeper: Keeper | None = None) -> None:
        self.subject, self.options, self.keeper = subject, options, keeper
        self.attacks = _attacks(options, subject.release.synthetic)
        self.adversaries = _adversaries(subject, options)
        self.measures = None if options.utility is None else find_measures(options.utility)
        check_columns(subject.release, subject.people if subject.has_original else None, options.columns)
        self._stages = Stages(progress, self._planned())

    def _planned(self) -> Iterator[tuple[str, str]]:
        """The stages of the audit, each with its owner."""
        options, whoever = self.options, {attack.name for attack in self.attacks if attack.anybody}
        yield FACTS, ""
        for number, adversary in enumerate(self.adversaries):
            if any(attack.linked for attack in self.attacks):
                yield from (
                    (f"{LINK} {link}", adversary.name) for link in options.links or links_of(self.subject.release)
                )
            alone = [attack.name for attack in self.attacks if not attack.linked and attack.goal in adversary.aims]
            yield from ((name, adversary.name) for name in alone if number == 0 or name not in whoever)
        if self.measures != () and not self.subject.utility:
            yield UTILITY, ""
        if options.policy is not None and options.remedies:
            yield REMEDIES, ""

    def record(self) -> AuditRecord:
        """The record of the audit."""
        subject, options = self.subject, self.options
        self._stages.begin(FACTS, "", "facts of the release")
        sides = Sides(subject, options)
        facts = release_facts(subject, options)
        risks = estimated(list(self._risks(sides, facts)), subject, facts, self.adversaries)
        self._stages.begin(UTILITY, "", "utility")
        utility = self._utility(risks)
        adversaries = self._adversary_facts()
        verdict, judged = self._verdict(facts, risks, adversaries)
        advice = self._advice(verdict)
        made_up = [MADE_UP] if subject.release.synthetic else []
        overlapping = [NOTE.format(one.column) for one in facts.sensitive if one.labels_overlap]
        remarks = [*made_up, *subject.notes, *sides.notes, *judged, *advice.notes, *overlapping]
        return AuditRecord(
            seed=options.seed,
            release=facts,
            risks=tuple(risks),
            utility=tuple(utility),
            policy=verdict,
            adversaries=adversaries,
            attacks=tuple(attack.facts() for attack in self.attacks),
            inputs=subject.inputs,
            notes=tuple(note if isinstance(note, Note) else Note(note) for note in remarks),
            tool={"name": "auditor", "version": VERSION},
            lacking=self._lacking(risks),
            drivers=advice.drivers,
            remedies=advice.remedies,
            sample=None if subject.sample is None else SampleFacts(subject.sample.size, subject.sample.people),
            measures=(
                *(m for attack in self.attacks for m in attack.meanings()),
                *utility_meanings(utility),
                *STATISTICS,
            ),
            links=LINKS,
            bounds=release_bounds(subject, options, self.attacks, risks, sides.targets),
        )

    def _risks(self, sides: Sides, facts: ReleaseFacts) -> Iterator[Risk]:
        """The rows of all adversaries. An attack for which it does not matter who attacks has those of the first."""
        whoever = {attack.name for attack in self.attacks if attack.anybody}
        done: set[str] = set()
        for adversary in self.adversaries:
            attacks = [attack for attack in self.attacks if attack.name not in done]
            for risk in self._rows(adversary, attacks, sides, facts):
                if risk.attack in whoever and risk.status != NOT_APPLICABLE:
                    done.add(risk.attack)
                # Where the original was given, an adversary who knows nothing of the people lacks nothing more.
                given = risk.lacks == ORIGINAL and self.subject.has_original
                if risk.measure in TRUE_CLAIMS and not self.subject.has_original:
                    continue  # what is published counts as the truth there: it cannot show that a claim is right
                yield replace(risk, lacks=None) if given else risk
            self._stages.over(adversary.name)

    def _rows(
        self, adversary: Adversary, attacks: Sequence[Attack], sides: Sides, facts: ReleaseFacts
    ) -> Iterable[Risk]:
        """The rows of one adversary; where they are kept, as they are read: it does not matter when they were made."""
        found = None if self.keeper is None else self.keeper.read(adversary, attacks)
        if found is not None:
            return found
        made = Attacker(adversary, sides, attacks).risks(partial(self._tell, adversary.name))
        if self.keeper is None:
            return made
        rows = list(made)
        self.keeper.write(adversary, attacks, rows, facts)
        found = self.keeper.read(adversary, attacks)
        return rows if found is None else found

    def _tell(self, adversary: str, kind: str, what: str) -> None:
        self._stages.begin(kind, adversary, f"{adversary}, {what}")

    def _utility(self, risks: Sequence[Risk]) -> Sequence[Utility]:
        subject = self.subject.whole or self.subject  # what the rows are good for, whosever they are
        release = subject.release
        if subject.utility:
            return subject.utility
        k = release.params.get("k", release.params.get("r"))  # r is what k is where clusters are gathered
        known = subject.has_original
        fragment = subject.provenance.fragment if known and subject.provenance is not None else None
        people, k = subject.people if known else None, k if isinstance(k, int) else None
        options, key = self.options, None if subject.provenance is None else subject.provenance.key
        holdout = None
        members = None if subject.provenance is None else subject.provenance.made_from
        if people is not None and fragment is not None and members is not None and not members.all():
            holdout = people.take(np.flatnonzero(~members))  # they are no part of what the release stands for
            people, fragment = people.take(np.flatnonzero(members)), fragment[members]
        elif people is not None and subject.population is not None and release.synthetic:
            holdout = subject.population.take(subject.outsiders)
        asked: dict[str, Any] = {"k": k, "seed": options.seed, "names": self.measures, "columns": options.columns}
        return utility_rows(release, people, fragment, **asked, key=key, risks=risks, holdout=holdout)

    def _adversary_facts(self) -> tuple[AdversaryFacts, ...]:
        quasi, population = self.subject.release.schema.quasi, self.subject.population
        listed = population is not None and self.subject.has_original and not self.subject.release.synthetic
        people, nobodys = population.rows if listed and population is not None else None, self.subject.release.synthetic
        return tuple(
            AdversaryFacts(a.name, a.sentence(quasi, people, None, nobodys), a.stance, a.columns(quasi))
            for a in self.adversaries
        )

    def _lacking(self, risks: Sequence[Risk]) -> tuple[Lack, ...]:
        """What was not given. Where the adversaries were chosen, nobody else is wanted."""
        chosen = self.options.adversaries is not None or self.subject.release.synthetic
        stances = set(Stance) if chosen else {a.stance for a in self.adversaries}
        looked_up = self.subject.has_original and self.subject.population is not None
        return lacking(risks, stances, self.subject.has_original, looked_up)

    def _verdict(
        self, facts: ReleaseFacts, risks: list[Risk], adversaries: tuple[AdversaryFacts, ...]
    ) -> tuple[PolicyVerdict | None, list[Note]]:
        """What the policy says, and remarks on it. A policy is about the people of the release, so there is no verdict where
        it is not known whose the rows are, or where only some people were attacked."""
        why = self.subject.unjudged
        if self.options.policy is None:
            return None, [] if why is None else [Note(f"{why[0].upper()}{why[1:]}.", NoteKind.DOUBT)]
        if why is not None or self.options.targets is not None:
            return None, [Note(NOT_JUDGED.format(why or ONLY_SOME), NoteKind.NOT_JUDGED)]
        partly = self.subject.sample is not None and self.subject.sample.partial
        verdict = self.options.policy.judge(facts, risks, adversaries, sampled=partly)
        if self.subject.release.synthetic and not verdict.passed and not any(c.passed is False for c in verdict.checks):
            return None, [Note(NOT_JUDGED.format(_unasked(verdict)), NoteKind.NOT_JUDGED)]
        return verdict, [Note(JUDGED)] if partly else []

    def _advice(self, verdict: PolicyVerdict | None) -> Advice:
        """What would help, where the policy fails and that is asked for."""
        if verdict is None or verdict.passed or not self.options.remedies or self.subject.sample is not None:
            return Advice()
        if self.subject.release.synthetic:  # remedies coarsen what belongs to people
            return Advice()
        self._stages.begin(REMEDIES, "", "remedies")
        return advise(self.subject, verdict, self.options, [attack.name for attack in self.attacks], _judged)


def _judged(subject: Subject, options: Options, attacks: Collection[str]) -> PolicyVerdict:
    """The verdict on a subject after some attacks."""
    found = run_audit(subject, replace(options, attacks=tuple(attacks), facts=())).policy
    assert found is not None
    return found


def _attacks(options: Options, synthetic: bool) -> list[Attack]:
    names = attacks_on(synthetic) if options.attacks is None else options.attacks
    for name in options.settings:
        ATTACKS.get(name)
    return [ATTACKS.get(name).configure(options.settings.get(name, {})) for name in names]


def _adversaries(subject: Subject, options: Options) -> tuple[Adversary, ...]:
    """Those asked for; else the prosecutor and, where people can be looked up in a population, the other two."""
    asked = options.adversaries
    if asked is None:
        looked_up = subject.has_original and subject.population is not None and not subject.release.synthetic
        asked = (PROSECUTOR, JOURNALIST, MARKETER) if looked_up else (PROSECUTOR,)
    return tuple(one for adversary in asked for one in adversary.settled(subject.release.schema, options.seed))
