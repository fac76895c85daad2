"""Policies: thresholds on the figures of a record, and the verdict.

A policy is a TOML file; the built-in ones are named after their source and are guidance, not legal advice:

    title = "…"
    source = "…"

    [[check]]
    figure = "linking.max"        # ATTACK.MEASURE, or release.k, release.l_distinct, …
    at_most = 0.09                # or at_least
    adversary = "prosecutor"      # the default, as is
    link = "class"                # the link model that thresholds such as 0.09 mean

Where a figure exists for several sensitive columns the worst counts. A check whose figure is not there does not hold.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from auditor.model.errors import PolicyError
from auditor.model.record import OK, AuditRecord, PolicyCheck, PolicyVerdict, ReleaseFacts, Risk, SensitiveFacts

_RELEASE = ("k", "classes", "suppressed_rows", "suppressed_share")
_SENSITIVE = tuple(f.name for f in fields(SensitiveFacts) if f.name not in ("column", "values", "l_recursive_l"))


@dataclass(frozen=True, slots=True)
class Check:
    """One threshold: the figure must be at most (`relation` "<=") or at least (">=") the limit."""

    figure: str
    relation: str
    limit: float
    adversary: str
    link: str
    source: str | None


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds with their source."""

    name: str
    title: str
    source: str
    checks: tuple[Check, ...]

    def judge(self, release: ReleaseFacts, risks: list[Risk]) -> PolicyVerdict:
        """The verdict on a release's figures."""
        judged = [self._judge(check, release, risks) for check in self.checks]
        return PolicyVerdict(self.name, self.title, self.source, tuple(judged), all(c.passed is True for c in judged))

    def _judge(self, check: Check, release: ReleaseFacts, risks: list[Risk]) -> PolicyCheck:
        values, reason = _figures(check, release, risks)
        if not values:
            return PolicyCheck(check.figure, check.limit, check.relation, None, None, reason, check.source)
        value = max(values) if check.relation == "<=" else min(values)
        passed = value <= check.limit + 1e-9 if check.relation == "<=" else value >= check.limit - 1e-9
        return PolicyCheck(check.figure, check.limit, check.relation, value, passed, None, check.source)


def _figures(check: Check, release: ReleaseFacts, risks: list[Risk]) -> tuple[list[float], str]:
    """All values of the figure that a check is about, or why there is none."""
    part, measure = check.figure.split(".", 1)
    if part == "release":
        if measure == "suppressed_share":
            return [release.suppressed_rows / max(release.rows, 1)], ""
        if measure in _RELEASE:
            value = getattr(release, measure)
            return ([], "a release of several blocks has no k") if value is None else ([float(value)], "")
        values = [getattr(facts, measure) for facts in release.sensitive]
        known = [float(v) for v in values if v is not None]
        if len(known) < len(values) or not values:
            lacking = [f.column for f, v in zip(release.sensitive, values, strict=True) if v is None]
            return [], f"it could not be computed for {', '.join(lacking) or 'any column: none is sensitive'}"
        return known, ""
    rows = [r for r in risks if r.attack == part and r.measure == measure and r.adversary == check.adversary]
    rows = [r for r in rows if r.link is None or r.link == check.link]
    values = [float(r.value) for r in rows if r.status == OK and r.value is not None]
    reasons = sorted({r.reason for r in rows if r.reason})
    return values, "; ".join(reasons) or f"the audit has no {check.figure} ({check.adversary}, link {check.link})"


def judged(record: AuditRecord, policy: Policy) -> PolicyVerdict:
    """The verdict of a policy on a finished record."""
    return policy.judge(record.release, list(record.risks))


def builtin_policies() -> dict[str, Policy]:
    """The built-in policies by name."""
    folder = resources.files("auditor") / "policies"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {f.name[:-5]: parse_policy(f.name[:-5], tomllib.loads(f.read_text(encoding="utf-8"))) for f in files}


def read_policy(name: str) -> Policy:
    """A built-in policy by its name, or one in a TOML file."""
    known = builtin_policies()
    if name in known:
        return known[name]
    file = Path(name)
    if not file.is_file():
        raise PolicyError(f"There is no policy {name!r}. Built in are: {', '.join(known)}; or give a TOML file.")
    try:
        return parse_policy(file.stem, tomllib.loads(file.read_text(encoding="utf-8")), str(file))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PolicyError(f"{file}: the policy cannot be read ({error}).") from error


def parse_policy(name: str, data: Mapping[str, Any], where: str | None = None) -> Policy:
    """A policy from nested mappings, as TOML gives them; all faults at once."""
    where = where or f"policy {name}"
    faults = [f"{where}: unknown key {key!r}." for key in data if key not in ("title", "source", "check")]
    checks, entries = [], data.get("check", [])
    if not isinstance(entries, list) or not entries:
        faults.append(f"{where}: [[check]] must be there at least once.")
        entries = []
    for number, entry in enumerate(entries, 1):
        place = f"{where}, check {number}"
        unknown = [k for k in entry if k not in ("figure", "at_most", "at_least", "adversary", "link", "source")]
        faults += [f"{place}: unknown key {key!r}." for key in unknown]
        figure = str(entry.get("figure", ""))
        part, _, measure = figure.partition(".")
        if not part or not measure:
            faults.append(f'{place}: figure must be "ATTACK.MEASURE" or "release.FIGURE". Got {figure!r}.')
        elif part == "release" and measure not in (*_RELEASE, *_SENSITIVE):
            faults.append(f"{place}: release has no figure {measure!r}. It has: {', '.join((*_RELEASE, *_SENSITIVE))}.")
        limits = [k for k in ("at_most", "at_least") if k in entry]
        if len(limits) != 1 or not isinstance(entry.get(limits[0]), int | float):
            faults.append(f"{place}: at_most or at_least must give one number.")
            continue
        relation = "<=" if limits[0] == "at_most" else ">="
        checks.append(
            Check(
                figure,
                relation,
                float(entry[limits[0]]),
                str(entry.get("adversary", "prosecutor")),
                str(entry.get("link", "class")),
                entry.get("source"),
            )
        )
    if faults:
        raise PolicyError.of(faults)
    return Policy(name, str(data.get("title", name)), str(data.get("source", "the user's own")), tuple(checks))
