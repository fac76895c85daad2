"""What a profile says in sentences, for a terminal and for the comments of the schema: the ranking, the safe harbour.

They contain no value of a person, and no character that a terminal could take for a command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.measure.separation import Separation
from auditor.model.discretion import printable

if TYPE_CHECKING:
    from auditor.profiling.proposals import Proposed

_LONGEST_NAME = 40
_MOST_LINES = 30


def _percent(share: float | None) -> str:
    """A share, with two digits if it is small; never rounded to all or none."""
    if share is None:
        return "n/a"
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def short(name: str) -> str:
    """A column's name on one line, cut if it is long."""
    text = printable(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def ranking_lines(found: Proposed) -> list[str]:
    """The quasi-identifiers by what they add to uniqueness, in sentences."""
    ranking = found.ranking
    if not ranking.columns:
        return ["No column looks like a quasi-identifier."]
    where = f" (in a sample of {ranking.rows} rows, where more are unique than in the table)" if ranking.sampled else ""
    lines = [f"Quasi-identifiers by what they add: rows that are unique{where}."]
    before: Separation | None = None
    for place, (name, figures) in enumerate(ranking.order):
        grown = before is None or figures.separation != before.separation or figures.uniqueness != before.uniqueness
        if not grown:
            left = ", ".join(short(other) for other, _ in ranking.order[place:])
            lines.append(f"  adding nothing more: {left}")
            break
        lines.append(
            f"  {'with' if before is None else 'adding'} {short(name)}: {_percent(figures.uniqueness)} unique, "
            f"{_percent(figures.separation)} of pairs told apart"
        )
        before = figures
    if len(ranking.order) < len(ranking.columns):
        lines.append(
            f"  with all {len(ranking.columns)} quasi-identifiers: {_percent(ranking.together.uniqueness)} unique, "
            f"{_percent(ranking.together.separation)} of pairs told apart"
        )
    lines.append(
        "Each alone: its values by rows (distinction), pairs told apart (separation), rows unique only with it."
    )
    for one in ranking.columns[:_MOST_LINES]:
        adds = "" if one.adds is None else f", adds {_percent(one.adds)}"
        lines.append(
            f"  {short(one.name)}: distinction {_percent(one.alone.distinction)}, "
            f"separation {_percent(one.alone.separation)}{adds}"
        )
    if len(ranking.columns) > _MOST_LINES:
        lines.append(f"  and {len(ranking.columns) - _MOST_LINES} more")
    if ranking.pairs:
        lines.append("The most telling pairs:")
        for first, second, figures in ranking.pairs:
            lines.append(
                f"  {short(first)} and {short(second)}: {_percent(figures.uniqueness)} unique, "
                f"{_percent(figures.separation)} of pairs told apart"
            )
    return lines


def safe_harbour_lines(found: Proposed) -> list[str]:
    """The eighteen identifiers of HIPAA's safe harbour, each with the columns that look like it."""
    lines = ["HIPAA safe harbour, 45 CFR 164.514(b)(2): guidance, not legal advice."]
    for finding in found.safe_harbour:
        where = "; ".join(f"{short(name)}: {printable(reason)}" for name, reason in finding.found)
        lines.append(f"  ({finding.letter}) {finding.item}: {where or 'no column looks like it'}")
    return lines
