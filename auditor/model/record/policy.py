"""Policies: thresholds on the figures of an audit record, and the verdict.

A policy is a TOML file; the built-in ones are named after their source and are guidance, not legal advice:

    title = "…"
    source = "…"
    distinct = "allow"            # columns that tell nearly all rows apart do not make it fail

    [[check]]
    figure = "linking.max"        # ATTACK.MEASURE, or release.k, release.l_distinct, …
    at_most = 0.09                # or at_least
    of = "excess"                 # what the attack has beyond its control (or baseline), in place of its figure
    adversary = "neighbour"       # this adversary's figure, by the strongest link of their own
    link = "class"                # the default where no adversary is named

A check that names no adversary judges what the prosecutor would get if the class were known: that is what thresholds such as
0.09 are meant for. `adversary` is a name, or a stance: "prosecutor" means every prosecutor, whatever their name, and is
judged under link `class` too. `link = "own"` asks for all links that do not grant the class. Where a figure exists for
several sensitive columns, adversaries or links, the worst counts. Membership is judged against real outsiders where there are
any, and by the best of several scores, chosen on other people, where there is one. A check does not pass if its figure is
absent or did not converge. No policy passes if identifiers are published, nor, unless it allows that, if a column that is no
quasi-identifier has a value of its own in nearly every row.

The rows of a synthetic release are nobody's. Its classes are not judged, whatever their size, nor are attacks that look for a
person's row. Such a check neither passes nor fails; what the others say counts.

A figure of all people is judged as it is. An estimate is judged by the worse end of its interval: nobody passes because few
were asked. Estimates are the figures of attacks on a sample of people, and those that set members against outsiders, who are
a sample of all people outside (`OF_SAMPLE` marks these). Where a sample was attacked, a figure without an interval is at
least as bad for all people (`OF_ALL` marks those that are exact): a check can fail because of it, but not pass.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from auditor.model.errors import PolicyError, UsageError
from auditor.model.faults import Faults, hint, is_number, is_there, read_toml
from auditor.model.record.record import NOT_CONVERGED, OK, AdversaryFacts, PolicyCheck, PolicyVerdict, Risk
from auditor.model.record.release_facts import ClassRisk, ReleaseFacts, SensitiveFacts, WeightedRisk

_RELEASE = ("k", "k_joined", "classes", "suppressed_rows", "suppressed_share")
_NO_FIGURE = ("column", "values", "l_recursive_l", "proximity_epsilon", "records", "threshold", "people", "reason")
_SENSITIVE = tuple(f.name for f in fields(SensitiveFacts) if f.name not in _NO_FIGURE)
_RISK = tuple(f.name for f in fields(ClassRisk) if f.name not in _NO_FIGURE)
_WEIGHTED = tuple(f"weighted_{f.name}" for f in fields(WeightedRisk) if f.name not in _NO_FIGURE)
_REGISTER = ("journalist_max", "journalist_mean")
_FIGURES = (*_RELEASE, *_RISK, *_WEIGHTED, *_REGISTER, *_SENSITIVE)
"""The figures of `release`, named as in the audit record; those of the individual risk begin with `weighted_`."""
_CHANCES = ("linking.max", "release.prosecutor_max")  # the chance of finding the most exposed person
OF_ALL = "of_all"  # the key in a row's details that marks a figure of all people although a sample was attacked
OF_SAMPLE = "of_sample"  # the key that marks an estimate although everybody was to be attacked
_NO_FIGURES = {
    "k": "a release of several blocks has no k",
    "k_joined": "the release does not show which rows are one person's, or everybody has one row",
}
_SYNTHETIC = "synthetic"
_BEST = "best-of"  # the score of membership that was chosen on other people
VALUE, EXCESS = "value", "excess"
"""What of a figure a check judges."""
GRANTED, OWN = "class", "own"
"""The link that grants the class, and the word for all others together."""
_STANCES = ("prosecutor", "journalist", "marketer")
_DISTINCT = 'Values of their own name people, whatever the role; a policy may say distinct = "allow".'
_AT_LEAST = "it is {:.4g} for a sample of people, and may be worse for all of them; run without --sample"


@dataclass(frozen=True, slots=True)
class Check:
    """One threshold: the figure must be at most (`relation` "<=") or at least (">=") the limit."""

    figure: str
    relation: str
    limit: float
    adversary: str
    link: str
    source: str | None
    of: str = VALUE
    """Whether the figure itself counts, or its excess."""

    def about(self, link: str | None) -> bool:
        """Whether it judges figures under this link; an attack without one has its own way to people."""
        return link in (None, self.link) or (self.link == OWN and link != GRANTED)


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds with their source."""

    name: str
    title: str
    source: str
    checks: tuple[Check, ...]
    distinct: bool = False
    """Whether columns may be published that tell nearly all rows apart."""

    def judge(
        self, release: ReleaseFacts, risks: Sequence[Risk], adversaries: Sequence[AdversaryFacts], sampled: bool = False
    ) -> PolicyVerdict:
        """The verdict on a release's figures; `sampled` says that a sample of its people was attacked. No release that
        publishes identifiers passes, by that role or in disguise."""
        stances = {a.name: a.stance for a in adversaries}
        judged = [self._judge(check, release, risks, stances, sampled) for check in self.checks]
        disguised = sum(one.identifying for one in release.distinct)
        if disguised and not self.distinct:
            judged.insert(0, PolicyCheck("release.distinct", 0, "<=", disguised, False, None, _DISTINCT))
        if release.identifiers:
            count = len(release.identifiers)
            judged.insert(
                0, PolicyCheck("release.identifiers", 0, "<=", count, False, None, "Identifiers name people.")
            )
        joined = release.k_joined
        if joined is not None and self.least_k is not None and (release.k is None or joined < release.k):
            passed, source = joined >= self.least_k, "Whoever has the release joins the rows of one person."
            judged.append(PolicyCheck("release.k_joined", self.least_k, ">=", joined, passed, None, source))
        return PolicyVerdict(self.name, self.title, self.source, tuple(judged), all(c.passed is True for c in judged))

    @property
    def least_k(self) -> int | None:
        """How many people must be alike by these checks; None where none of them says so."""
        least = [c.limit for c in self.checks if c.figure == "release.k" and c.relation == ">="]
        greatest = [c.limit for c in self.checks if c.figure in _CHANCES and c.relation == "<=" and c.limit > 0]
        found = [*least, *(1 / (limit + 1e-9) for limit in greatest)]
        return math.ceil(max(found)) if found else None

    def _judge(
        self, check: Check, release: ReleaseFacts, risks: Sequence[Risk], stances: Mapping[str, str], sampled: bool
    ) -> PolicyCheck:
        part, measure = check.figure.split(".", 1)
        if part == "release":
            values, reason = _release_figures(release, measure)
            bounds = [_Bound(value, True) for value in values]
        else:
            rows, reason = _rows(check, part, measure, risks, stances)
            bounds = [_bound(row, check, sampled) for row in rows]
        judged = PolicyCheck(check.figure, check.limit, check.relation, None, None, reason, check.source, of=check.of)
        if not bounds:
            return judged
        worst = (max if check.relation == "<=" else min)(bounds, key=lambda bound: bound.value)
        value = worst.value
        passed = value <= check.limit + 1e-9 if check.relation == "<=" else value >= check.limit - 1e-9
        whose = replace(judged, reason=None, adversary=worst.adversary, link=worst.link)
        if passed and not all(bound.sure for bound in bounds):
            return replace(whose, reason=_AT_LEAST.format(value))
        return replace(whose, value=value, passed=passed, estimate=worst.estimate)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A value that a figure is judged by, and whose it is."""

    value: float
    sure: bool  # whether the figure of all people is not worse
    adversary: str | None = None
    link: str | None = None
    estimate: float | None = None  # what was measured, where the value is an end of its interval


def _bound(row: Risk, check: Check, sampled: bool) -> _Bound:
    """The value that a row is judged by."""
    value, low, high = row.value, row.low, row.high
    if check.of == EXCESS:
        value, low, high = (row.detail["excess"][part] for part in ("value", "low", "high"))
    assert value is not None
    worse = high if check.relation == "<=" else low
    if row.detail.get(OF_ALL) or not (sampled or row.detail.get(OF_SAMPLE)):
        return _Bound(float(value), True, row.adversary, row.link)
    if worse is None:
        return _Bound(float(value), False, row.adversary, row.link)
    return _Bound(float(worse), True, row.adversary, row.link, float(value))


def _rows(
    check: Check, part: str, measure: str, risks: Sequence[Risk], stances: Mapping[str, str]
) -> tuple[list[Risk], str]:
    """The rows of an attack's figure that a check is about, and why there are none if there are none."""
    theirs = [r for r in risks if check.adversary in (r.adversary, stances.get(r.adversary))]
    if not theirs and risks and check.adversary not in _STANCES:
        present = ", ".join(dict.fromkeys(r.adversary for r in risks))
        return [], f"the audit has no adversary {check.adversary!r}; it has: {present}"
    mine = [r for r in theirs if r.attack == part and check.about(r.link)]
    rows = [r for r in mine if r.measure == measure]
    if any(r.params.get("against") == "outsiders" and r.status == OK for r in rows):
        rows = [r for r in rows if r.params.get("against") == "outsiders"]  # real people where there are any
    if any(r.params.get("score") == _BEST and r.status == OK for r in rows):
        rows = [
            r for r in rows if r.params.get("score") == _BEST
        ]  # others are the best of what was tried on these people
    lost = [r.reason or "it did not converge" for r in rows if r.status == NOT_CONVERGED]
    if lost:
        return [], "; ".join(sorted(set(lost)))
    reasons = sorted({r.reason for r in mine if r.reason})
    there = [r for r in rows if r.status == OK and r.value is not None]
    if check.of == EXCESS:
        known = [r for r in there if r.detail.get("excess") is not None]
        if len(known) < len(there):
            return [], f"{check.figure} has no excess for some people: nothing is known that it could be beyond"
    return there, "; ".join(reasons) or f"the audit has no {check.figure} ({check.adversary}, link {check.link})"


def _release_figures(release: ReleaseFacts, measure: str) -> tuple[list[float], str]:
    if release.kind == _SYNTHETIC:
        return [], "the rows of a synthetic release are nobody's, so that its classes promise nothing to anybody"
    if measure == "suppressed_share":
        hidden, all_rows = release.suppressed_rows + release.left_out_rows, release.rows + release.left_out_rows
        return [hidden / max(all_rows, 1)], ""
    if measure in _RELEASE:
        value = getattr(release, measure)
        return ([], _NO_FIGURES[measure]) if value is None else ([float(value)], "")
    if measure in _RISK:
        reason = "the release has several blocks or no class, or it would take too long"
        figure = None if release.risk is None else getattr(release.risk, measure)
        return ([], reason) if figure is None else ([float(figure)], "")
    if measure in _WEIGHTED:
        if release.weighted is None:
            return [], "the release has no column of role weight"
        figure = getattr(release.weighted, measure.removeprefix("weighted_"))
        return ([], release.weighted.reason or "") if figure is None else ([float(figure)], "")
    if measure in _REGISTER:
        if release.register is None:
            return [], "no population was given (--population)"
        figure = getattr(release.register, measure)
        return ([], release.register.reason or "") if figure is None else ([float(figure)], "")
    values = [getattr(facts, measure) for facts in release.sensitive]
    known = [float(v) for v in values if v is not None]
    if len(known) < len(values) or not values:
        lacking = [f.column for f, v in zip(release.sensitive, values, strict=True) if v is None]
        return [], f"it could not be computed for {', '.join(lacking)}" if lacking else "there is no sensitive column"
    return known, ""


def builtin_policies() -> dict[str, Policy]:
    """The built-in policies by name."""
    folder = resources.files("auditor.model.record") / "policies"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {f.name[:-5]: parse_policy(f.name[:-5], tomllib.loads(f.read_text(encoding="utf-8"))) for f in files}


def read_policy(name: str) -> Policy:
    """A built-in policy by its name, or one in a TOML file."""
    known = builtin_policies()
    if name in known:
        return known[name]
    file = Path(name)
    if not is_there(file) or not file.is_file():
        raise UsageError(
            f"There is no policy {name!r}.{hint(name, known)} The built-in ones are {', '.join(known)}; or give a TOML file."
        )
    return parse_policy(file.stem, read_toml(file, "policy", PolicyError), str(file))


def parse_policy(name: str, data: Mapping[str, Any], where: str | None = None) -> Policy:
    """A policy from nested mappings, as TOML gives them; all faults at once."""
    faults = Faults(PolicyError, where or f"policy {name}", data)
    faults.known("title", "source", "distinct", "check")
    title, source = faults.text("title"), faults.text("source")
    distinct = faults.value("distinct", lambda value: value in ("allow", "fail"), '"allow" or "fail"')
    entries = data.get("check")
    if not isinstance(entries, list) or not entries:
        faults.add("there must be at least one [[check]].")
        entries = []
    wanted = "a table with figure and at_most or at_least"
    checks = [_check(faults.at(f"check {number}", entry, wanted)) for number, entry in enumerate(entries, 1)]
    faults.check()
    kept = tuple(c for c in checks if c is not None)
    return Policy(name, title or name, source or "the user's own", kept, distinct == "allow")


def _check(entry: Faults) -> Check | None:
    """One [[check]]; None where something is wrong with it."""
    if entry.found:
        return None
    entry.known("figure", "at_most", "at_least", "adversary", "link", "source", "of")
    figure = entry.value("figure", _is_figure, '"ATTACK.MEASURE" or "release.FIGURE"', required=True)
    part, _, measure = (figure or "").partition(".")
    if part == "release" and measure not in _FIGURES:
        near = hint(measure, _FIGURES) or f" It has: {', '.join(_FIGURES)}."
        entry.add(f"release has no figure {measure!r}.{near}")
    adversary, link, source = (entry.text(key) for key in ("adversary", "link", "source"))
    of = entry.value("of", lambda value: value in (VALUE, EXCESS), '"value" or "excess"') or VALUE
    if of == EXCESS and part == "release":
        entry.add("a figure of the release has no excess: only those of attacks have.")
    limits = [key for key in ("at_most", "at_least") if key in entry.data]
    if len(limits) != 1 or not is_number(entry.data[limits[0]]):
        entry.add("at_most or at_least must give one number.")
    if entry.found:
        return None
    relation, limit = "<=" if limits[0] == "at_most" else ">=", float(entry.data[limits[0]])
    named = adversary is not None and adversary not in _STANCES
    return Check(figure, relation, limit, adversary or _STANCES[0], link or (OWN if named else GRANTED), source, of)


def undecided(check: PolicyCheck) -> bool:
    """Whether a check neither passed nor failed because only a sample of people was attacked."""
    return check.passed is None and check.adversary is not None


def _is_figure(value: Any) -> bool:
    return isinstance(value, str) and all(value.partition("."))
