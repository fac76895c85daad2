"""Candidates of a search for a release: a method with its settings, and what is mended in what it makes.

The search begins with every method at a few strengths. The weakest class size is the one that the policy itself asks for, and
it grows from there; where the policy asks about values, diversity or closeness is swept as well. After that the search moves
around the candidates that matter: those that fail by little, and the best one that passes. A *move* takes a setting half the
way to the next weaker one that was tried, or mends a release that fails: the classes that drive the failing checks are
suppressed, or a quasi-identifier is made coarser first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from anonymizers import ANONYMIZERS, Anonymizer
from auditor.model.errors import UsageError
from auditor.model.record.policy import Policy
from auditor.runs.plan import mapped

BY_WIDTH = ("full-domain", "suppression", "mondrian", "kmember")
OTHERS = ("mdav", "anatomy", "slicing")
"""What is searched unless methods are named: quick ones that differ from each other. The others publish no labels whose width
could be measured."""
GROWTH = (1.0, 1.5, 2.0, 3.0, 5.0)
"""How many times the least class size is tried."""
DIVERSITIES, CLOSENESS = (2, 3, 4, 6), (0.5, 0.35, 0.25, 0.15)
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "full-domain": ({"rounds": 10}, {"limit": 0.0}),
    "mondrian": ({"strict": False},),
    "suppression": ({"matching": "own"},),
}
"""Other settings that are tried with each strength of a method: local recoding, no suppression, values on both sides of a
cut."""
_VALUES = ("l_distinct", "l_entropy", "l_recursive_c", "alpha", "t_equal", "t_ordered", "t_hierarchical", "proximity_m")
_CLOSE = 0.01


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release that could be made: the method with its settings; then `coarsen` columns one level each, and, with
    `suppress`, the classes that drive the policy's failing checks are suppressed."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    coarsen: tuple[str, ...] = ()
    suppress: bool = False

    @property
    def key(self) -> str:
        """What tells it from all others."""
        settings = sorted((name, str(value)) for name, value in self.params.items())
        return json.dumps([self.method, settings, sorted(self.coarsen), self.suppress])

    @property
    def name(self) -> str:
        """What it is called: the method, its settings, and what is mended."""
        parts = [ANONYMIZERS.get(self.method).configure(self.params).title]
        parts += [f"{column} coarser" for column in self.coarsen]
        return ", ".join([*parts, *(["worst classes suppressed"] if self.suppress else [])])

    @property
    def mended(self) -> bool:
        """Whether the release is mended after it was made."""
        return bool(self.coarsen) or self.suppress

    @property
    def possible(self) -> bool:
        """Whether the method takes these settings together."""
        try:
            self.configured()
        except UsageError:
            return False
        return True

    def configured(self) -> Anonymizer:
        """The method with its settings."""
        found: Anonymizer = ANONYMIZERS.get(self.method).configure(self.params)
        return found


def methods_for(measure: str) -> tuple[str, ...]:
    """The methods that are searched where this measure is to be kept."""
    return BY_WIDTH if measure.startswith("granularity") else (*BY_WIDTH, *OTHERS)


def about_values(policy: Policy) -> bool:
    """Whether a policy asks what is learned of people's values, so that diversity may help."""
    from attacks import ATTACKS
    from auditor.model.record.meaning import Goal

    attacks = ATTACKS.all()
    for check in policy.checks:
        part, _, measure = check.figure.partition(".")
        if part == "release" and measure in _VALUES:
            return True
        if part in attacks and attacks[part].goal is Goal.ATTRIBUTE:
            return True
    return False


def beginning(methods: Sequence[str], policy: Policy, people: int) -> list[Candidate]:
    """The first candidates, the weakest of every method first, so that an early end leaves variety."""
    least = max(policy.least_k or 2, 2)
    sizes = [size for size in dict.fromkeys(math.ceil(least * times) for times in GROWTH) if size <= people]
    ladders = [
        [
            found
            for one in _ladder(method, sizes or [least], about_values(policy))
            for variant in ({}, *VARIANTS.get(method, ()))
            if (found := replace(one, params={**one.params, **variant})).possible
        ]
        for method in methods
    ]
    longest = max((len(ladder) for ladder in ladders), default=0)
    return [ladder[step] for step in range(longest) for ladder in ladders if step < len(ladder)]


def _ladder(method: str, sizes: Sequence[int], values: bool) -> Iterator[Candidate]:
    """A method at growing strength: class sizes first, then diversity or closeness at the least of them."""
    found, known = mapped(method), {one.name for one in fields(ANONYMIZERS.get(method))}
    strength = found.get("k")
    first = {} if strength is None else {strength: sizes[0]}
    needs = "l" in known and next(one for one in fields(ANONYMIZERS.get(method)) if one.name == "l").default is not None
    if not needs:
        yield Candidate(method, first)
    if values or needs:
        yield from (Candidate(method, {**first, "l": l}) for l in DIVERSITIES if "l" in known)
        yield from (Candidate(method, {**first, "t": t}) for t in CLOSENESS if "t" in known)
    if strength is not None and not needs:
        yield from (Candidate(method, {strength: size}) for size in sizes[1:])


def moves(one: Candidate, tried: Sequence[Candidate], columns: Sequence[str], passed: bool) -> Iterator[Candidate]:
    """What to try around a candidate: weaker settings where it passed, mending where it failed."""
    if not passed:
        if not one.suppress:
            yield replace(one, suppress=True)
        yield from (replace(one, coarsen=tuple(sorted((*one.coarsen, c)))) for c in columns if c not in one.coarsen)
        return
    for name, value in one.params.items():
        weaker = _between(value, [other.params.get(name) for other in tried if _alike(one, other, name)])
        if weaker is not None:
            yield replace(one, params={**one.params, name: weaker})
    yield from (replace(one, coarsen=tuple(c for c in one.coarsen if c != left)) for left in one.coarsen)
    if one.suppress and not one.coarsen:
        yield replace(one, suppress=False)


def _alike(one: Candidate, other: Candidate, but: str) -> bool:
    """Whether two candidates differ in one setting at most."""
    mine, theirs = ({n: v for n, v in each.params.items() if n != but} for each in (one, other))
    return (one.method, mine, set(one.coarsen), one.suppress) == (
        other.method,
        theirs,
        set(other.coarsen),
        other.suppress,
    )


def _between(value: Any, others: Sequence[Any]) -> Any | None:
    """A setting half the way to the next weaker one that was tried: whole numbers are stronger where they are greater, shares
    (t) where they are smaller. None where there is nothing between."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        below = max((o for o in others if isinstance(o, int) and o < value), default=None)
        return None if below is None or value - below < 2 else (value + below) // 2
    above = min((o for o in others if isinstance(o, float) and o > value), default=1.0)
    return None if above - value <= _CLOSE else round((value + above) / 2, 4)
