"""The parts of evidence packs: what a record says of thresholds, adversaries, transformations, residual risk and utility.

Each part is a function from the `Evidence` (one record, with what its figures mean) to sentences with references. Where the
record has nothing to say, a part asks a person instead. The sentences on figures are those of the other reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Goal
from auditor.model.record.record import NOT_CONVERGED, OK, Input, PolicyCheck, Risk, Utility
from auditor.model.record.strongest import excess
from reports.evidence.cited import Evidence
from reports.evidence.pack import Blank, Item, Statement
from reports.evidence.references import Reference
from reports.reading import is_synthetic, kind_of, size, value_of
from reports.tables.tables import tool_text
from reports.text import capital, clean, finite, interval, number, percent, settings, short, spoken, words
from reports.words.sentences import comparison, sentence
from reports.words.verdicts import check_text

_MOST_NAMES = 30
_MOST_PLACES = 4  # of figures that are missing for the same reason the first are cited


# ----- the data ------------------------------------------------------------------------------------------------------


def data(e: Evidence) -> Iterator[Item]:
    """What is published, in numbers."""
    release = e.record.release
    people = ("people",) if release.people is not None else ()
    classes = f"in {number(release.classes)} class{'' if release.classes == 1 else 'es'}"
    text = f"The release {clean(release.name, 80)} has {size(release)} {classes}"
    if is_synthetic(release):
        text = f"The release {clean(release.name, 80)} has {size(release)}, which belong to nobody."
        yield Statement(text, (e.release("name", "kind", "rows"),))
    elif release.k is not None:
        yield Statement(
            f"{text}; the smallest class has {_many(release.k, 'person', 'people')}.",
            (e.release("name", "rows", *people, "classes", "k"),),
        )
    else:
        parts = f"{text}, in {_many(len(release.blocks), 'block', 'blocks')}."
        yield Statement(parts, (e.release("name", "rows", *people, "classes", "blocks"),))
    if release.quasi:
        named = f"The quasi-identifiers that it publishes are {_names(release.quasi)}."
        yield Statement(named, (e.release("quasi"),))
    if release.sensitive:
        columns = _names([facts.column for facts in release.sensitive])
        yield Statement(f"The sensitive columns are {columns}.", (e.release("sensitive"),))
    if release.identifiers:
        named = f"It publishes the identifiers {_names(release.identifiers)}: everybody can be named."
        yield Statement(named, (e.release("identifiers"),))
    else:
        yield Statement("It publishes no column that was declared an identifier.", (e.release("identifiers"),))
    if release.distinct:
        columns = _names([one.column for one in release.distinct])
        text = f"Nearly every row has a value of its own in {columns}."
        yield Statement(text, (e.release("distinct"),))


def inputs(e: Evidence) -> Iterator[Item]:
    """The files that were read, by name and fingerprint."""
    for reference, one in e.every("input", e.record.inputs):
        assert isinstance(one, Input)
        rows = f", {_many(one.rows, 'row', 'rows')}" if one.rows is not None else ""
        digest = f", SHA-256 {clean(one.sha256, 64)}" if one.sha256 is not None else ""
        yield Statement(f"{capital(spoken(one.role))}: {clean(one.name, 120)}{rows}{digest}.", (reference,))


# ----- thresholds ----------------------------------------------------------------------------------------------------


def thresholds(e: Evidence) -> Iterator[Item]:
    """The limits that the release is held against, and where each comes from."""
    policy = e.record.policy
    if policy is None:
        yield Blank("The thresholds that the release is held against, and their source: the audit judged no policy.")
        return
    source = clean(policy.source, 600).rstrip(".")
    text = f"The release is held against the policy {clean(policy.name, 60)} ({clean(policy.title, 200)}). Source: {source}."
    yield Statement(text, (Reference("policy", None, ("name", "title", "source")),))
    for reference, check in e.every("check", policy.checks):
        assert isinstance(check, PolicyCheck)
        bound = "at least" if check.relation == ">=" else "at most"
        given = f" Source: {clean(check.source, 300).rstrip('.')}." if check.source else ""
        yield Statement(f"{clean(check.measure, 80)} must be {bound} {short(check.limit)}.{given}", (reference,))


def verdict(e: Evidence) -> Iterator[Item]:
    """What the policy found, check by check."""
    policy = e.record.policy
    if policy is None:
        yield Blank("Whether the residual risk is acceptable: the audit judged no policy.")
        return
    outcome = "passes" if policy.passed else "does not pass"
    held = sum(check.passed is True for check in policy.checks)
    yield Statement(
        f"The release {outcome} the policy {clean(policy.name, 60)}: {held} of {number(len(policy.checks))} checks "
        f"{'holds' if held == 1 else 'hold'}.",
        (Reference("policy", None, ("name", "passed", "checks")),),
    )
    for reference, check in e.every("check", policy.checks):
        state = "Holds" if check.passed else "Cannot be judged" if check.passed is None else "Does not hold"
        yield Statement(f"{state}: {check_text(e.record, check)}", (reference, *_judged(e, check)))


def _judged(e: Evidence, check: PolicyCheck) -> list[Reference]:
    """The figure that a check was judged by, where it is an attack's."""
    of, _, measure = check.measure.partition(".")
    same = [r for r in e.rows if (r.attack, r.measure, r.value) == (of, measure, check.value)]
    whose = [r for r in same if (r.adversary, r.link) == (check.adversary, check.link)]
    return [e.risk(row) for row in (whose or same)[:1]]


# ----- adversaries ---------------------------------------------------------------------------------------------------


def adversaries(e: Evidence) -> Iterator[Item]:
    """Who is supposed to attack, with what knowledge, and how they find people."""
    for reference, one in e.every("adversary", e.record.adversaries):
        text = clean(one.sentence, 600).rstrip(".") or f"The adversary is the {clean(one.name, 60)}"
        knows = f" Known quasi-identifiers: {_names(one.knows)}." if one.knows and not one.sentence else ""
        yield Statement(f"{capital(text)}.{knows} Stance: {clean(one.stance, 40)}.", (reference,))
    for reference, link in e.every("link", e.record.links):
        if link.how or link.meaning:
            granted = " The class is taken for known, so its figures are a bound." if link.granted else ""
            text = clean(link.how or link.meaning, 400).rstrip(".")
            yield Statement(f"A way to a person's class ({clean(link.name, 40)}): {text}.{granted}", (reference,))


def attacks(e: Evidence) -> Iterator[Item]:
    """What was tried, and the papers that it comes from."""
    for reference, one in e.every("attack", e.record.attacks):
        paper = f" Source: {clean(one.paper, 300).rstrip('.')}." if one.paper else ""
        claim = clean(one.claim, 400).rstrip(".")
        name, goal = capital(clean(one.name, 60)), clean(one.goal, 40)
        yield Statement(f"{name} seeks {goal} and claims: “{claim}”.{paper}", (reference,))


# ----- transformations -----------------------------------------------------------------------------------------------


def transformations(e: Evidence) -> Iterator[Item]:
    """What was done to the data, as far as the release shows it."""
    release = e.record.release
    if release.method:
        given = settings(release.params)
        text = f"The release was made by {clean(release.method, 60)}{f' with {given}' if given else ''}."
        yield Statement(text, (e.release("method", "params"),))
    else:
        yield Blank(
            "The tool and the method that made the release, with their settings: the record does not name them."
        )
    if release.promises:
        text = f"The method promises {words([clean(one, 120) for one in release.promises])}."
        yield Statement(text, (e.release("promises"),))
    kind = f"Kind of release, by what is published: {kind_of(release, 40)}."
    yield Statement(kind, (e.release("kind"),))
    hidden = f"All quasi-identifiers are suppressed in {_many(release.suppressed_rows, 'row', 'rows')}."
    yield Statement(hidden, (e.release("suppressed_rows", "suppression"),))
    left = f"{capital(_many(release.left_out_rows, 'person', 'people'))} of the original were left out."
    if release.left_out_rows:
        yield Statement(left, (e.release("left_out_rows"),))


def suggestions(e: Evidence) -> Iterator[Item]:
    """What would lower the risk, where the audit found something."""
    for reference, one in e.every("remedy", e.record.remedies[:3]):
        coarse = [f"make {spoken(c.column)} coarser ({clean(c.level, 60)})" for c in one.coarsen]
        hide = [f"suppress classes with {clean(criterion, 40)}" for criterion in one.suppress]
        drop = [f"leave out {spoken(column)}" for column in one.drop]
        done = words([*coarse, *hide, *drop], 12) or "no change"
        then = "the policy would pass" if one.passes else "the policy would still not pass"
        rows = f"; {_many(one.rows, 'row is', 'rows are')} suppressed" if one.rows else ""
        yield Statement(f"A change that was tried: {done}; {then}{rows}.", (reference,))


# ----- residual risk -------------------------------------------------------------------------------------------------


def _risks(e: Evidence, wanted: Callable[[str], bool], lacking: str) -> Iterator[Item]:
    """For each attack that is wanted and each adversary: its headline, and the rate beside control and baseline; on the
    sensitive column where it gets furthest, and in a sentence how far it gets on the others."""
    rows = [row for row in e.rows if wanted(row.attack)]
    by_attack: dict[str, list[Risk]] = {}
    for attack, _ in e.meanings.groups(rows):
        by_attack.setdefault(attack, [row for row in rows if row.attack == attack])
    for attack, same in by_attack.items():
        columns = dict.fromkeys(row.sensitive for row in same)
        found = [
            _Told(names, own, e.meanings.compared(own))
            for column in columns
            for names, own in e.meanings.by_adversary(row for row in same if row.sensitive == column)
        ]
        for names in dict.fromkeys(one.names for one in found):
            theirs = sorted((one for one in found if one.names == names), key=_Told.reach, reverse=True)
            yield from _headline(e, attack, theirs[0])
            others = [one.rate for one in theirs[1:] if one.rate is not None]
            if others:
                least, most = min(others, key=value_of), max(others, key=value_of)
                low, high = percent(value_of(least)), percent(value_of(most))
                rates = f"its rate is {high}" if low == high else f"its rates are from {low} to {high}"
                text = f"On {_many(len(others), 'other column', 'other columns')} it gets less far beyond a guess; {rates}."
                yield Statement(text, tuple(dict.fromkeys((e.risk(least), e.risk(most)))))
    if not rows:
        yield Blank(f"{lacking} The audit has no figure on it: say why that is acceptable, or audit again.")


@dataclass(frozen=True, slots=True)
class _Told:
    """The figures of one attack on one column by adversaries who get the same, and the rate among them."""

    names: tuple[str, ...]
    rows: list[Risk]
    rate: Risk | None

    def reach(self) -> float:
        """How much further the attack gets than a guess without the release."""
        beyond = None if self.rate is None else excess(self.rate)
        return -1.0 if beyond is None else beyond[0]


def _headline(e: Evidence, attack: str, told: _Told) -> Iterator[Item]:
    """The headline of an attack, and its rate where that is another figure."""
    lead = next((row for one in e.meanings.attack(attack).lead if (row := e.meanings.pick(told.rows, one))), None)
    who = f"the {words([clean(name, 60) for name in told.names])}"
    for row in {id(one): one for one in (lead, told.rate) if one is not None}.values():
        beside = comparison(e.meanings, row) if row is told.rate else ""
        yield Statement(f"{sentence(e.meanings, row, who)} {beside}".strip(), (e.risk(row),))


def risks(e: Evidence) -> Iterator[Item]:
    """The figures of all attacks."""
    return _risks(e, lambda _: True, "The residual risk.")


def identity(e: Evidence) -> Iterator[Item]:
    """The figures of attacks that find a person's record."""
    return _risks(
        e, lambda name: e.meanings.attack(name).goal == Goal.IDENTITY, "The risk of finding a person's record."
    )


def beyond_identity(e: Evidence) -> Iterator[Item]:
    """The figures of attacks that learn a value, or that somebody is in the data."""
    return _risks(
        e,
        lambda name: e.meanings.attack(name).goal != Goal.IDENTITY,
        "The risk of learning something about a person.",
    )


def by_criterion(criterion: str) -> Callable[[Evidence], Iterator[Item]]:
    """The part with the figures of the attacks that a regulator's criterion is about."""

    def part(e: Evidence) -> Iterator[Item]:
        return _risks(e, lambda name: e.meanings.attack(name).criterion == criterion, f"The risk of {criterion}.")

    return part


def class_figures(e: Evidence) -> Iterator[Item]:
    """What class sizes alone say about finding records."""
    risk = e.record.release.risk
    if risk is not None:
        text = (
            f"By the class sizes alone, the chance of naming the right record is at most {percent(risk.prosecutor_max)} and "
            f"{percent(risk.prosecutor_mean)} on average over {_many(risk.records, 'record', 'records')}; it exceeds "
            f"{percent(risk.threshold)} for {number(risk.at_risk)}."
        )
        yield Statement(text, (e.release("risk"),))
    register = e.record.release.register
    if register is not None and register.journalist_max is not None:
        text = (
            f"Against a population of {_many(register.people, 'person', 'people')}, the chance of naming the right person is "
            f"at most {percent(register.journalist_max)} and {percent(register.journalist_mean)} on average."
        )
        yield Statement(text, (e.release("register"),))


# ----- utility -------------------------------------------------------------------------------------------------------


def utility(e: Evidence) -> Iterator[Item]:
    """What the release is still good for."""
    told = 0
    for reference, row in e.every("utility", e.record.utility):
        assert isinstance(row, Utility)
        value = finite(row.value)
        if row.status != OK or value is None:
            continue
        told += 1
        statistic = row.params.get("statistic")
        name = e.meanings.utility_name(row.measure, statistic if isinstance(statistic, str) else None)
        bounds = interval(finite(row.low), finite(row.high))
        meaning = clean(e.meanings.utility(row.measure).meaning, 300).rstrip(".")
        said = f" ({meaning})" if meaning else ""
        shown = " ".join(part for part in (number(value), bounds) if part)
        yield Statement(f"{capital(name)}{said}: {shown}; {clean(row.better, 20)} is better.", (reference,))
    if not told:
        yield Blank("What the release is still good for: the audit has no figure of utility (it needs the original).")


# ----- limits and method ---------------------------------------------------------------------------------------------


def limits(e: Evidence) -> Iterator[Item]:
    """What was not measured, and what the audit remarks."""
    for reference, lack in e.every("lack", e.record.lacking):
        needed = _many(len(lack.figures), "figure needs", "figures need")
        text = f"The audit was not given: {clean(lack.what, 60)}. {needed} it."
        yield Statement(text, (reference,))
    seen: dict[tuple[str, str], dict[Reference, str]] = {}
    told: dict[tuple[str, str], set[str]] = {}
    for reference, row in e.every("risk", e.record.risks):
        if row.status != OK:
            reason = row.reason or "no reason given"
            alike = row.status, _of_any_column(reason, row.sensitive)
            seen.setdefault(alike, {})[reference] = clean(row.attack, 60)
            told.setdefault(alike, set()).add(reason)
    for (status, common), places in seen.items():
        own = told[status, common]
        reason = common if len(own) > 1 else next(iter(own))
        names = list(dict.fromkeys(places.values()))
        what = (
            "did not converge" if status == NOT_CONVERGED else "does not apply" if len(names) == 1 else "do not apply"
        )
        text = f"{capital(words(names, _MOST_NAMES))} {what} ({_many(len(places), 'figure', 'figures')}): "
        yield Statement(f"{text}{clean(reason, 400).rstrip('.')}.", tuple(places)[:_MOST_PLACES])
    for reference, note in e.every("note", e.record.notes):
        yield Statement(clean(note.text, 600), (reference,))


def _of_any_column(reason: str, column: str | None) -> str:
    """A reason in which the name of its column, quoted or as a word of its own, is replaced. Reasons do not quote it, so a
    column `a` replaces articles too: the result is shown only where it is the same for columns of other names."""
    if not column:
        return reason
    return re.sub(rf"{re.escape(repr(column))}|(?<![\w-]){re.escape(column)}(?![\w-])", "the column", reason)


def method(e: Evidence) -> Iterator[Item]:
    """How to get the same figures again."""
    yield Statement(f"The random draws of the audit come from the seed {e.record.seed}.", (Reference("seed"),))
    if e.record.tool:
        yield Statement(f"Made with {tool_text([e.record.tool])}.", (Reference("tool"),))
    sample = e.record.sample
    if sample is not None:
        text = (
            f"{number(sample.attacked)} of {number(sample.people)} people were attacked; rates are estimates for all."
        )
        yield Statement(text, (Reference("sample"),))


def _many(count: int, one: str, several: str) -> str:
    return f"{number(count)} {one if count == 1 else several}"


def _names(columns: Sequence[str]) -> str:
    return words([clean(column, 60) for column in columns], _MOST_NAMES)
