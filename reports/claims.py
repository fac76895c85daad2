"""The test of a claim of differential privacy, for people: as text for a terminal, as Markdown, and as one HTML file.

The first line is the verdict. It never says that something is private: a test that refutes nothing has found nothing.
"""

from __future__ import annotations

import textwrap

from auditor.model.record.claim import ClaimTest, ClaimVerdict
from reports.tables.tables import Table, tool_text
from reports.templating import fill
from reports.text import NONE, clean, markdown, percent

_KINDS: dict[str, str] = {
    ClaimVerdict.REFUTED: "above",
    ClaimVerdict.NOT_REFUTED: "unclear",
    ClaimVerdict.NOT_TESTED: "none",
}
_NEIGHBOURS = {
    "add": "one table has a person more than the other",
    "replace": "a person of one table is another one in the other",
}
_LIMITS = "A test can refute a claim and cannot prove it. Another canary, score or table, or more runs, may show more."


def verdict_line(test: ClaimTest) -> str:
    """The verdict in one line."""
    claimed = f"{clean(test.mechanism)} claims ε = {_number(test.epsilon)}"
    if test.delta:
        claimed += f" with δ = {test.delta:g}"
    if test.bound is None:
        return f"{claimed}; not tested: {clean(test.reason or 'no run gave a release', 600)}"
    if test.verdict == ClaimVerdict.REFUTED:
        return f"{claimed}; at {percent(test.confidence)} at least {_number(test.bound)}: refuted."
    return f"{claimed}; not refuted: at {percent(test.confidence)} at least {_number(test.bound)}."


def claim_row(test: ClaimTest) -> tuple[str, str, str, str]:
    """The test as one row of a list: the mechanism, what is claimed, what was shown, the verdict."""
    claimed = f"ε = {_number(test.epsilon)}" + (f", δ = {test.delta:g}" if test.delta else "")
    shown = NONE if test.bound is None else f"ε ≥ {_number(test.bound)} at {percent(test.confidence)}"
    return clean(test.mechanism, 80), claimed, shown, clean(test.verdict, 40)


def in_words(test: ClaimTest) -> list[str]:
    """What epsilon means, beside what was shown."""
    said = [
        f"By the claim, somebody who thinks it an even bet whether a person is in the data can be right at most "
        f"{percent(test.guess_claimed)} of the time after seeing the release."
    ]
    if test.guess_shown is not None and test.bound:
        said.append(f"The test shows that they can be right at least {percent(test.guess_shown)} of the time.")
    elif test.bound is not None:
        said.append("The test shows nothing beyond an even bet.")
    return [*said, _LIMITS]


def facts_table(test: ClaimTest) -> Table:
    """How the test was made, and what was seen."""
    rows = [
        ("claimed", f"ε = {_number(test.epsilon)}, δ = {test.delta:g}"),
        ("neighbouring tables", _NEIGHBOURS.get(test.neighbours, test.neighbours)),
        ("canary", test.canary or NONE),
        ("score", test.score or NONE),
        ("runs", "one" if test.worlds == "one" else f"{test.runs} with the canary and {test.runs} without"),
        ("seen", _seen(test)),
        ("estimate", _estimate(test)),
        (
            "shown",
            NONE if test.bound is None else f"ε ≥ {_number(test.bound)} at {percent(test.confidence)}{_how(test)}",
        ),
        ("at most so many runs could show", NONE if test.most is None else f"ε ≥ {_number(test.most)}"),
    ]
    if test.failed:
        rows.append(("runs without a release", str(test.failed)))
    if test.lost:
        rows.append(("runs that were lost", str(test.lost)))
    rows += [("taken as public", one) for one in test.public]
    return Table(("what", "how"), tuple((what, clean(how, 400)) for what, how in rows))


def _estimate(test: ClaimTest) -> str:
    if test.estimate is not None:
        return f"ε = {_number(test.estimate)}"
    return NONE if test.bound is None else "no limit: there was no exception"


def _how(test: ClaimTest) -> str:
    return ", through Gaussian differential privacy, which the mechanism claims" if test.gaussian else ""


def _seen(test: ClaimTest) -> str:
    judged = test.judged
    if "guesses" in judged:
        return f"{judged['right']} of {judged['guesses']} guesses about {judged['canaries']} canaries are right"
    if "hits" not in judged:
        return NONE
    other = f"{judged['other_hits']} of {judged['other_runs']} of the other"
    return f"{judged['hits']} of {judged['runs']} runs of one world, {other}"


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1 else f"{value:.2f}".rstrip("0").rstrip(".")


def _title(test: ClaimTest) -> str:
    return f"Claim of differential privacy: {clean(test.mechanism)}"


def render_claim_terminal(test: ClaimTest, width: int = 100) -> str:
    """The test as text, at most `width` columns wide."""
    title = _title(test)
    table = facts_table(test)
    widest = max(len(what) for what, _ in table.rows)
    lines = [
        textwrap.fill(how, width, initial_indent=f"  {what:<{widest}}  ", subsequent_indent=" " * (widest + 4))
        for what, how in table.rows
    ]
    notes = [
        textwrap.fill(clean(note, 600), width, initial_indent="  - ", subsequent_indent="    ") for note in test.notes
    ]
    parts = [
        f"{title}\n{'=' * min(len(title), width)}",
        textwrap.fill(verdict_line(test), width),
        "\n".join(lines),
        "\n".join(textwrap.fill(one, width) for one in in_words(test)),
    ]
    return "\n\n".join([*parts, *(["\n".join(["Notes", *notes])] if notes else [])]) + "\n"


def render_claim_markdown(test: ClaimTest) -> str:
    """The test as Markdown."""
    table = facts_table(test)
    lines = [f"# {markdown(_title(test))}", "", f"**{markdown(verdict_line(test))}**", ""]
    lines += [f"| {' | '.join(table.headings)} |", "|---|---|"]
    lines += [f"| {markdown(what)} | {markdown(how)} |" for what, how in table.rows]
    lines += ["", *(markdown(one) + "\n" for one in in_words(test))]
    lines += [f"- {markdown(note)}" for note in test.notes]
    day = f" {test.date}." if test.date else ""
    return "\n".join([*lines, "", f"Seed {test.seed}. {markdown(tool_text([test.tool]))}.{day}"]).rstrip() + "\n"


def render_claim_html(test: ClaimTest) -> str:
    """The test as the text of an HTML file that needs nothing else."""
    return fill(
        "claim.html",
        title=_title(test),
        test=test,
        verdict=verdict_line(test),
        kind=_KINDS.get(test.verdict, "none"),
        table=facts_table(test),
        words=in_words(test),
        tools=tool_text([test.tool]),
    )
