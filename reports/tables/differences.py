"""What was done differently for two records: method and settings, adversaries, attacks, inputs, policy, seed, versions.

It is what a reader must know before the figures of the two are compared; `side_by_side` compares those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from auditor.model.record.record import AuditRecord, Input
from reports.text import NONE, clean, settings


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that was done differently: what, and how on each side."""

    what: str
    left: str
    right: str


def differences(left: AuditRecord, right: AuditRecord) -> Iterable[Difference]:
    """What was done differently: method and settings, adversaries, attacks, inputs, policy, seed and versions."""
    for what, one, two in _done(left, right):
        if one != two:
            yield Difference(what, one or NONE, two or NONE)


def _done(left: AuditRecord, right: AuditRecord) -> Iterable[tuple[str, str, str]]:
    a, b = left.release, right.release
    yield "method", clean(a.method or ""), clean(b.method or "")
    for key in dict.fromkeys([*a.params, *b.params]):
        yield f"setting {clean(key, 40)}", settings(_only(a.params, key)), settings(_only(b.params, key))
    yield "kind of release", clean(a.kind), clean(b.kind)
    yield "suppressed rows count as", clean(a.suppression), clean(b.suppression)
    yield "quasi-identifiers", _names(a.quasi), _names(b.quasi)
    yield "sensitive columns", _names([f.column for f in a.sensitive]), _names([f.column for f in b.sensitive])
    yield "blocks", " | ".join(map(_names, a.blocks)), " | ".join(map(_names, b.blocks))
    people = ({p.name: p.sentence for p in left.adversaries}, {p.name: p.sentence for p in right.adversaries})
    for name in dict.fromkeys([*people[0], *people[1]]):
        one, two = (clean(p[name], 600) if name in p else "not asked" for p in people)
        yield f"adversary {clean(name, 40)}", one, two
    yield (
        "attacks",
        _names(dict.fromkeys(r.attack for r in left.risks)),
        _names(dict.fromkeys(r.attack for r in right.risks)),
    )
    files = [{i.role: i for i in r.inputs if i.role != "release"} for r in (left, right)]
    for role in dict.fromkeys([*files[0], *files[1]]):
        one_file, two_file = files[0].get(role), files[1].get(role)
        if one_file is None or two_file is None or not one_file.sha256 or one_file.sha256 != two_file.sha256:
            yield f"input {clean(role, 40)}", _file(one_file), _file(two_file)
    policies = [clean(r.policy.name) if r.policy is not None else "not judged" for r in (left, right)]
    yield "policy", policies[0], policies[1]
    yield "seed", str(left.seed), str(right.seed)
    yield "made with", settings(left.tool), settings(right.tool)


def _file(item: Input | None) -> str:
    """A file by its hash where that is known, and its name."""
    if item is None:
        return "not given"
    return f"SHA-256 {clean(item.sha256, 12)} ({clean(item.name)})" if item.sha256 else clean(item.name)


def _only(params: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {key: params[key]} if key in params else {}


def _names(items: Iterable[str]) -> str:
    return ", ".join(clean(item, 60) for item in items)


def warnings(left: AuditRecord, right: AuditRecord) -> Iterable[str]:
    """Why the figures may not be comparable."""
    original = [{i.sha256 for i in r.inputs if i.role == "original" and i.sha256} for r in (left, right)]
    if original[0] and original[1] and original[0] != original[1]:
        yield "The two releases were made from different originals: their figures are about different people."
    for name, record in (("left", left), ("right", right)):
        if record.release.identifiers:
            yield f"The {name} release publishes identifiers: nobody in it is protected."
