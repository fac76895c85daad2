"""The catalogue: what there is, and what each thing means, for `auditor list` and `auditor explain`. Only what is asked for
is imported."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from tabulate import tabulate

from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.policy import Check


def _scenarios() -> dict[str, str]:
    """The first sentence of the comment at the top of each scenario file."""
    from scenarios.scenario import builtin_scenarios

    said = {}
    for name, file in builtin_scenarios().items():
        lines = file.read_text(encoding="utf-8").splitlines()
        comment = " ".join(line.lstrip("# ").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
        said[name] = comment.split(". ")[0].rstrip(".") + "." if comment else name
    return said


def _links() -> dict[str, str]:
    """The link models."""
    from auditor.posterior.links import LINKS

    return {link.name: link.meaning for link in LINKS}


def _templates() -> dict[str, str]:
    """The evidence packs."""
    from reports.evidence import TEMPLATES

    return {one.name: f"{one.title}. {one.about}" for one in TEMPLATES}


def _adversaries() -> Mapping[str, str]:
    """The kinds of adversaries."""
    from auditor.model.record.terms import STANCES

    return STANCES


SORTS = ("anonymizers", "attacks", "adversaries", "formats", "links", "metrics", "policies", "scenarios", "templates")
"""What `list` can be asked for."""


def catalogue(what: str) -> str:
    """A table of all things of one sort."""
    if what not in SORTS:
        raise UsageError(f"list must be given one of {', '.join(SORTS)}. Got {what!r}.")
    if what == "anonymizers":
        from anonymizers import ANONYMIZERS

        rows = [(name, plugin.summary, plugin.paper) for name, plugin in ANONYMIZERS.all().items()]
    elif what == "attacks":
        from attacks import ATTACKS

        rows = [(name, plugin.claim, plugin.paper) for name, plugin in ATTACKS.all().items()]
    elif what == "policies":
        from auditor.model.record.policy import builtin_policies

        rows = [(policy.name, policy.title, policy.source) for policy in builtin_policies().values()]
    else:
        pairs = {
            "adversaries": _adversaries,
            "formats": _formats,
            "links": _links,
            "metrics": _metrics,
            "scenarios": _scenarios,
            "templates": _templates,
        }[what]()
        return tabulate(pairs.items(), ("name", "what it is"), tablefmt="simple", maxcolwidths=[None, 90])
    return tabulate(rows, ("name", "what it does", "source"), tablefmt="simple", maxcolwidths=[None, 60, 36])


def _metrics() -> dict[str, str]:
    """The measures of utility and the class statistics, with what each means and which way is better."""
    from auditor.measure.statistics import STATISTICS
    from auditor.measure.utility import registry

    every = (*(measure.words for measure in registry.MEASURES), *STATISTICS)
    return {measure.name: f"{measure.meaning} {measure.better.capitalize()} is better." for measure in every}


def _formats() -> dict[str, str]:
    """The file formats of tables, and the formats of reports."""
    import reports
    from auditor.files import tables

    files = {}
    for one in tables.FORMATS:
        how = "read and written" if one.write is not None else "read"
        files[one.name] = f"Tables: {how}; names end with {' or '.join(one.endings)}."
    return files | {one.name: f"Reports ({one.option}): {one.help}" for one in reports.FORMATS}


def _measures() -> dict[str, str]:
    """What the measures of attacks mean, by name: attacks that mean the same by a name are told together."""
    from attacks import ATTACKS

    told: dict[str, dict[str, list[str]]] = {}
    for name, attack in ATTACKS.all().items():
        for measure in attack.measures:
            told.setdefault(measure.name, {}).setdefault(measure.meaning, []).append(name)
    return {
        name: "\n".join(f"{', '.join(attacks)}: {meaning}" for meaning, attacks in meanings.items())
        for name, meanings in told.items()
    }


def explanation(name: str) -> str:
    """What one thing means, needs and promises."""
    from anonymizers import ANONYMIZERS
    from attacks import ATTACKS
    from auditor.measure.utility import registry
    from auditor.model.faults import hint
    from auditor.model.record.policy import builtin_policies
    from auditor.model.record.terms import COLUMNS
    from scenarios.scenario import builtin_scenarios

    measured = [f"{name}: a utility measure\n\n{m.explanation()}" for m in registry.MEASURES if m.name == name]
    if name in ANONYMIZERS.all():
        plugin = ANONYMIZERS.get(name)
        said = f"{name}: an anonymizer\n\n{plugin.explanation()}\n\nSettings: {_settings(plugin)}"
        return "\n\n".join([said, *measured])
    if name in ATTACKS.all():
        attack = ATTACKS.get(name)
        facts = [
            ("Claim", attack.claim),
            ("Goal", str(attack.goal)),
            ("Criterion", str(attack.criterion)),
            ("Needs", attack.needs),
            ("Success", attack.success),
            ("Lowered by", attack.lowered_by),
            ("Paper", attack.paper),
            ("Settings", _settings(attack)),
        ]
        said = "\n".join(f"{key}: {value}" for key, value in facts)
        measures = "\n".join(f"  {measure.name}: {measure.meaning}" for measure in attack.measures)
        return f"{name}: an attack\n\n{attack.explanation()}\n\n{said}\nMeasures:\n{measures}"
    if measured:
        return measured[0]
    words = {
        "a measure of attacks": _measures(),
        "a metric": _metrics(),
        "a format": _formats(),
        "a link model": _links(),
        "an adversary": _adversaries(),
        "a word of the reports": COLUMNS,
    }
    found = [(sort, texts[name]) for sort, texts in words.items() if name in texts]
    if found:
        return "\n\n".join(f"{name}: {sort}\n\n{text}" for sort, text in found)
    policies = builtin_policies()
    if name in policies:
        policy = policies[name]
        checks = "\n".join(f"  {c.figure} {c.relation} {c.limit:g}{_judged(c)}" for c in policy.checks)
        return f"{name}: a policy\n\n{policy.title}\nSource: {policy.source}\n\n{checks}"
    if name in builtin_scenarios():
        return f"{name}: a scenario\n\n{builtin_scenarios()[name].read_text(encoding='utf-8')}"
    short = [known for texts in words.values() for known in texts]
    known_names = list(dict.fromkeys([*ANONYMIZERS.all(), *ATTACKS.all(), *short, *policies, *builtin_scenarios()]))
    near = hint(name, known_names) or f" There are: {', '.join(known_names)}."
    raise UsageError(f"There is nothing called {name!r} to explain.{near}")


def _settings(plugin: type) -> str:
    said = [f"{field.name} = {field.default}" for field in dataclasses.fields(plugin)]
    return ", ".join(said) or "none"


def _judged(check: Check) -> str:
    """Whose figure a check judges, where it is an attack's."""
    from attacks import ATTACKS
    from auditor.model.record.policy import GRANTED

    attack = ATTACKS.all().get(check.figure.partition(".")[0])
    if attack is None:
        return ""
    how = "" if not attack.linked else ", if the class were known" if check.link == GRANTED else f", link {check.link}"
    return f" ({check.adversary}{how})"
