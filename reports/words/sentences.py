"""Figures as sentences about people: the words that each measure declares, filled in for one figure.

`adversary_lines(record)` says once who attacks and what they know; after it `who(record, ...)` is "this adversary", or one of
several by name. How they find people is said with the method (`links_line`). `sentence(risk, ...)` turns one figure into
words, `comparison(risk)` sets it beside its control and baseline. A figure that nobody gets by what they know begins with "If
the class were known". All return plain text: column names in it come from the user's files, and the renderers escape them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from auditor.model.record.meaning import Kind, Measure
from auditor.model.record.record import AuditRecord, Risk
from auditor.model.record.strongest import SUCCESS
from reports.reading import (
    IF_KNOWN,
    Meanings,
    adversaries,
    excess_of,
    figures,
    is_rate,
    label_of,
    reference_of,
    value_of,
)
from reports.text import capital, clean, finite, number, percent, probability, short, span, spoken, words
from reports.words.person import belief

_BRACES = re.compile(r"\{(\w+)\}")
_NO_RELEASE = "a guess without the release"
_LEAST_SHORT = 0.001
_ADVERSARIES = 4  # described at the top; more are listed under Method


def adversary_lines(*records: AuditRecord) -> list[str]:
    """Who attacks in the findings and what they know: said once, at the top."""
    lines = list(dict.fromkeys(line for record in records for line in _adversaries(record)))
    if len(lines) > _ADVERSARIES:
        more = f"{number(len(lines) - _ADVERSARIES)} more adversaries are described under Method."
        lines = [*lines[:_ADVERSARIES], more]
    return lines


def _adversaries(record: AuditRecord) -> Iterator[str]:
    known = {a.name: a for a in record.adversaries}
    for name in adversaries(record):
        facts = known.get(name)
        text = clean(facts.sentence, 600) if facts is not None else ""
        if not text and facts is not None and facts.knows:
            text = f"The {clean(name, 60)} knows a person's {words([spoken(c) for c in facts.knows], 12)}"
        yield (text or f"The adversary is the {clean(name, 60)}").removesuffix(".") + "."


def links_line(*records: AuditRecord) -> str:
    """How the links that lead find people, in a line; empty where the record does not say."""
    leading: set[str] = set()
    for record in records:
        meanings, rows = Meanings(record), [r for r in figures(record) if r.link is not None]
        for attack, sensitive in meanings.groups(rows):
            for _, own in meanings.by_adversary(r for r in rows if (r.attack, r.sensitive) == (attack, sensitive)):
                leading |= {r.link for r in own if r.link is not None and not meanings.supposed(r)}
    whole = Meanings(*records)
    links = [whole.link(link) for link in sorted(leading, key=whole.link_rank)]
    said = "; ".join(f"link {clean(link.name, 40)}: {clean(link.how)}" for link in links if link.how)
    return f"Figures are those of the strongest way to find people ({said})." if said else ""


def who(record: AuditRecord, risk: Risk, names: Sequence[str] = ()) -> str:
    """`this adversary`, where only one was described by `adversary_lines`, or those who are meant by name."""
    first, *others = [clean(name, 60) for name in names or (risk.adversary,)]
    attacker = f"the {first}" if len(adversaries(record)) > 1 else "this adversary"
    return f"{attacker} (likewise the {words(others, 3)})" if others else attacker


def sentence(meanings: Meanings, risk: Risk, attacker: str = "") -> str:
    """The figure in words; with `attacker` (from `who`) the sentence says by whom."""
    measure = meanings.measure(risk.attack, risk.measure)
    supposed = meanings.supposed(risk)
    text = clean(filled(template(measure, risk), risk, "" if supposed else attacker), 1000).rstrip(".") + "."
    return if_known(text) if supposed else capital(text)


def if_known(text: str) -> str:
    """A sentence on what would be if the class were known."""
    return f"{capital(IF_KNOWN)}: {text}"


def wrong_claims(meanings: Meanings, rows: Sequence[Risk]) -> str:
    """`Of 12 claims made with certainty 9 are wrong.`: confident and wrong; empty where none is."""
    wrong = meanings.wrong(rows)
    text = "" if wrong is None else meanings.measure(wrong.attack, wrong.measure).wrong
    return f"{capital(clean(filled(text, wrong), 400))}." if wrong is not None and text else ""


def template(measure: Measure, risk: Risk) -> str:
    """The sentence of a measure that suits a figure, its words in braces; of an undeclared one, the name and the figure."""
    value = value_of(risk)
    if risk.n == 1 and measure.one:
        return measure.one_none if value == 0 and measure.one_none else measure.one
    if value == 0 and measure.none:
        return measure.none
    if measure.everybody and of_everybody(risk):
        return measure.everybody
    if measure.sentence:
        return measure.sentence
    attack = clean(risk.attack, 60)
    if risk.measure == SUCCESS and is_rate(risk):
        return f"the {attack} attack{' on the {column}' if risk.sensitive else ''} is right for {{share}}{{by}}"
    about, shown = " ({column})" if risk.sensitive else "", "{probability}" if is_rate(risk) else "{value}"
    return f"the {label_of(measure)} of the {attack} attack{about} is {shown}{{seen}}"


def of_everybody(risk: Risk) -> bool:
    """Whether the figure is everybody, or a certainty."""
    return value_of(risk) == (risk.n if risk.kind == Kind.COUNT else 1)


def filled(text: str, risk: Risk, attacker: str = "") -> str:
    """A sentence with its words in braces replaced for one figure."""

    def word(found: re.Match[str]) -> str:
        name = found[1]
        if name in _WORDS:
            return _WORDS[name](risk, attacker)
        how, _, setting = name.partition("_")
        value = risk.params.get(setting)
        known = finite(value)
        if known is None:
            return "the threshold" if value is None else clean(value, 60)
        return percent(known) if how == "percent" else short(known)

    return _BRACES.sub(word, text)


def _of(risk: Risk) -> str:
    """`34 of 100 people`, `none of 100 people`."""
    shown = "none" if value_of(risk) == 0 else number(value_of(risk))
    return f"{shown} of {number(risk.n)} people" if risk.n is not None else f"{shown} of the people"


def _share(risk: Risk) -> str:
    """`62 % of 100 people (95 % interval 52–71 %)`."""
    if risk.n == 1:
        return f"the person with probability {probability(value_of(risk))}"
    people = f"{number(risk.n)} people" if risk.n is not None else "the people"
    return f"{percent(value_of(risk))} of {people}{_interval(risk)}"


def _bounds(risk: Risk) -> str:
    bounds = span(finite(risk.low), finite(risk.high))
    return f" ({bounds})" if bounds else ""


def _interval(risk: Risk) -> str:
    return _bounds(risk).replace("(", "(95\u202f% interval ", 1)


def people(value: float) -> str:
    """`nobody`, `1 person`, `3 people`."""
    return "nobody" if value == 0 else "1 person" if value == 1 else f"{number(value)} people"


def _one_in(risk: Risk) -> str:
    """`0.2 (one in 5)`."""
    value = value_of(risk)
    text = short(float(f"{value:.3g}")) if _LEAST_SHORT <= value <= 1 else probability(value)
    return f"{text} (one in {short(round(1 / value, 1 if value > 0.1 else 0))})" if 0 < value <= 0.5 else text


def _near(risk: Risk) -> str:
    value = finite(risk.params.get("epsilon"))
    if value is None:
        return "close to"
    reach = percent(value) if risk.params.get("relative") is True else number(value)
    return "exactly on" if value == 0 else f"within ±{reach} of"


def _width(risk: Risk) -> str:
    value = finite(risk.params.get("width", risk.params.get("epsilon")))
    return "a short interval" if value is None else f"an interval of width {number(value)}"


def _made_up(risk: Risk) -> bool:
    return risk.params.get("against") == "fakes"


_WORDS: Mapping[str, Callable[[Risk, str], str]] = {
    "of": lambda risk, _: _of(risk),
    "share": lambda risk, _: _share(risk),
    "rate": lambda risk, _: percent(value_of(risk)),
    "bounds": lambda risk, _: _bounds(risk),
    "interval": lambda risk, _: _interval(risk),
    "points": lambda risk, _: percent(value_of(risk)).removesuffix("%").strip(" \u202f"),
    "n": lambda risk, _: number(risk.n),
    "value": lambda risk, _: number(value_of(risk)),
    "people": lambda risk, _: people(value_of(risk)),
    "probability": lambda risk, _: probability(value_of(risk)),
    "one_in": lambda risk, _: _one_in(risk),
    "sure": lambda risk, _: "certainty" if value_of(risk) == 1 else f"probability {probability(value_of(risk))}",
    "column": lambda risk, _: spoken(risk.sensitive) if risk.sensitive else "sensitive value",
    "who": lambda _, attacker: attacker or "the adversary",
    "by": lambda _, attacker: f" by {attacker}" if attacker else "",
    "seen": lambda _, attacker: f", as seen by {attacker}" if attacker else "",
    "near": lambda risk, _: _near(risk),
    "width": lambda risk, _: _width(risk),
    "reading": lambda risk, _: (
        " (each distinct value counted once)" if risk.params.get("reading") == "distinct" else ""
    ),
    "other": lambda risk, _: "one made-up person" if _made_up(risk) else "one who is not",
    "others": lambda risk, _: "made-up people" if _made_up(risk) else "people who are not in the data",
    "belief": lambda risk, _: belief(risk),
}
"""The words in braces that sentences may have, as `auditor.model.record.meaning` lists them."""


def comparison(meanings: Meanings, risk: Risk) -> str:
    """The figure beside its control and its baseline, and what that leaves; empty where there is neither."""
    if risk.n == 1:
        return ""
    share = percent if is_rate(risk) else number
    control, baseline = finite(risk.control), finite(risk.baseline)
    told = control is not None and not (control == baseline and risk.control_kind == "random_record")
    parts = [f"{control_people(risk)}: {share(control)}"] if told and control is not None else []
    if baseline is not None:
        parts.append(f"the same guess without the release: {share(baseline)}")
    said = [capital("; ".join(parts)) + "."] if parts else []
    excess = excess_of(risk)
    if excess is not None and meanings.standing(risk).kind == "above":
        rest, over = span(excess.low, excess.high), "the control" if excess.over == "control" else _NO_RELEASE
        said.append(f"That is an excess of {percent(excess.value)}{f' ({rest})' if rest else ''} over {over}.")
    return " ".join([*said, *shortfall(meanings, risk)])


def shortfall(meanings: Meanings, risk: Risk) -> list[str]:
    """What must be said where a figure does not beat the guesses it is held against."""
    standing, held = meanings.standing(risk), reference_of(risk)
    if risk.n == 1 or held is None:
        return []
    said = []
    if standing.kind != "above":
        name = "its control" if held.name == "control" else _NO_RELEASE
        beaten = standing.kind == "not_above"
        verb = "does not beat" if beaten else "is not shown to beat"
        said.append(f"The attack {verb} {name}{'' if beaten else ': the difference may be chance'}.")
    baseline = finite(risk.baseline)
    if held.name == "control" and baseline is not None and value_of(risk) <= baseline + 1e-9:
        said.append(f"{'Nor does it' if said else 'It does not'} beat {_NO_RELEASE}.")
    return said


def control_people(risk: Risk) -> str:
    """Who the control is made of, in words."""
    kind = (risk.control_kind or "").replace("_", "-").lower()
    if kind.startswith("outsider"):
        return "the same attack on people who are not in the release"
    if kind.startswith("leave"):
        return "the same attack on the same people with their own record taken out"
    if kind.startswith("other"):
        return "the same attack on the same people with their whole class taken out"
    if kind.startswith("random"):
        return "a record drawn at random"
    if kind.startswith("chance"):
        return "descriptions as rare as these, of people at large"
    if kind.startswith("fake"):
        return "the same attack on made-up people"
    return f"the control ({spoken(kind)})" if kind else "the same attack on a control group"
