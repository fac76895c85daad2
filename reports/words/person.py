"""Figures about one person: what the adversary believes, how strongly, and whether it is true.

With one person there is no rate and no interval. The claim itself is shown where the user asked for it (`--reveal`);
`expected` of the success row is the adversary's confidence, its value says whether the claim is right, ties split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auditor.model.record.record import Risk
from reports.text import clean, finite, number, percent, probability, spoken


def belief(risk: Risk) -> str:
    """`the adversary believes the disease is Bronchitis, with probability 1 (true)`"""
    value, claim, chance = finite(risk.value) or 0.0, revealed(risk), finite(risk.expected)
    column = spoken(risk.sensitive) if risk.sensitive else "sensitive value"
    if claim is None:
        held = f" has probability {probability(chance)}, and it" if chance is not None else ""
        return f"the adversary's strongest belief about the {column}{held} is {_truth(risk, value)}"
    each = " each" if 0 < value < 1 else ""
    sure = f",{each} with probability {probability(chance)}" if chance is not None else ""
    return f"the adversary believes the {column} is {claim}{sure} ({_truth(risk, value)})"


def _truth(risk: Risk, value: float) -> str:
    if value >= 1:
        return "true"
    if value <= 0:
        return "false"
    single = not {"width", "epsilon"} & set(risk.params)  # of several intervals more than one may hold the truth
    if single and abs(1 / value - round(1 / value)) < 1e-6:
        return f"tied between {number(round(1 / value))} values, one of which is true"
    return f"tied, {percent(value)} of the tied claims being true"


def confidence(risk: Risk) -> float:
    """How strongly a true claim is believed: the order of findings about one person."""
    chance = finite(risk.expected)
    value = finite(risk.value) or 0.0
    return value * chance if chance is not None and value >= 1 else value


def revealed(risk: Risk) -> str | None:
    """The adversary's claim, where the user asked for values to be shown; ties with `or`, a few people apart by `;`."""
    window, claim = risk.detail.get("window"), risk.detail.get("claim")
    if isinstance(window, list | tuple) and window:
        several = risk.n != 1 and not _is_window(window)
        return _people([_windows(item) for item in window]) if several else _windows(window)
    if isinstance(claim, list | tuple) and claim:
        several = all(isinstance(item, list | tuple) for item in claim)
        return _people([_tied(item) for item in claim]) if several else _tied(claim)
    return clean(claim) if isinstance(claim, str | int | float) else None


def _people(claims: Sequence[str | None]) -> str | None:
    """The claims about several people, the first five of them."""
    told = [claim for claim in claims if claim]
    more = f"; and of {number(len(told) - 5)} more people" if len(told) > 5 else ""
    return "; ".join(told[:5]) + more if told else None


def _tied(values: Sequence[object]) -> str:
    return " or ".join(clean(value, 60) for value in values)


def _is_window(found: Sequence[object]) -> bool:
    return len(found) == 2 and all(finite(edge) is not None for edge in found)


def _windows(found: Any) -> str | None:
    """One window, or several that are tied."""
    if not isinstance(found, list | tuple):
        return None
    if _is_window(found):
        low, high = (number(edge) for edge in found)
        return f"exactly {low}" if low == high else f"between {low} and {high}"
    return " or ".join(text for item in found if (text := _windows(item))) or None
