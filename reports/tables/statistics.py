"""The class statistics of a release as tables: what class sizes say, and what the sensitive values of the classes say.

All are of the release alone. A statistic that no column can have (an order, a taxonomy, a number is missing) is left out;
one that a column could have but no bound holds for says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.model.record.record import AuditRecord, SensitiveFacts
from reports.tables.tables import Table
from reports.text import NONE, clean, finite, number, probability, settings
from reports.words.glossary import GLOSSES

UNBOUNDED = "no bound"
_STATISTICS = (
    "alpha",
    "l_distinct",
    "l_entropy",
    "l_recursive_c",
    "t_equal",
    "t_ordered",
    "t_hierarchical",
    "beta_basic",
    "beta_enhanced",
    "delta_disclosure",
    "proximity_m",
    "homogeneity",
)
BOUNDED = frozenset({"l_recursive_c", "beta_enhanced", "delta_disclosure"})
"""Statistics of any column of which there is none where no bound would hold."""


def class_table(record: AuditRecord) -> Table | None:
    """What class sizes, sampling weights and a register say; None for several blocks, whose people are told apart in other
    ways, and for records of older versions."""
    rows = [*_sizes(record), *_weights(record), *_register(record)]
    return Table(("statistic", "value", "meaning"), tuple(rows), frozenset({1})) if rows else None


def _sizes(record: AuditRecord) -> Iterable[tuple[str, str, str]]:
    risk = record.release.risk
    if risk is None:
        return
    of = f" of {number(risk.records)}"
    yield "k", number(record.release.k), GLOSSES["k"]
    for name in ("prosecutor_max", "prosecutor_mean", "prosecutor_min"):
        yield name, probability(getattr(risk, name)), GLOSSES[name]
    if risk.wildcard_max is not None and risk.wildcard_mean != risk.prosecutor_mean:  # single cells are withheld
        yield "wildcard_max", probability(risk.wildcard_max), GLOSSES["wildcard_max"]
        yield "wildcard_mean", probability(finite(risk.wildcard_mean)), GLOSSES["wildcard_mean"]
    yield f"at_risk ({settings({'threshold': risk.threshold})})", number(risk.at_risk) + of, GLOSSES["at_risk"]
    yield "marketer", probability(risk.marketer), GLOSSES["marketer"]
    yield "sample_uniques", number(risk.sample_uniques) + of, GLOSSES["sample_uniques"]


def _weights(record: AuditRecord) -> Iterable[tuple[str, str, str]]:
    found = record.release.weighted
    if found is None:
        return
    by = clean(found.column, 40)
    if found.reason is not None:
        yield f"weighted ({by})", "not applicable", clean(found.reason)
        return
    yield f"weighted_people ({by})", number(finite(found.people)), GLOSSES["weighted_people"]
    yield "weighted_max", probability(finite(found.max)), GLOSSES["weighted_max"]
    yield "weighted_mean", probability(finite(found.mean)), GLOSSES["weighted_mean"]
    yield "weighted_reidentified", number(finite(found.reidentified)), GLOSSES["weighted_reidentified"]
    name = f"weighted_at_risk ({settings({'threshold': found.threshold})})"
    yield name, number(finite(found.at_risk)), GLOSSES["weighted_at_risk"]


def _register(record: AuditRecord) -> Iterable[tuple[str, str, str]]:
    found = record.release.register
    if found is None or (record.release.risk is None and found.reason is not None):
        return
    by = f"{number(found.people)} people"
    if found.reason is not None:
        yield f"register ({by})", "not applicable", clean(found.reason)
        return
    yield f"journalist_max ({by})", probability(finite(found.journalist_max)), GLOSSES["journalist_max"]
    yield "journalist_mean", probability(finite(found.journalist_mean)), GLOSSES["journalist_mean"]
    yield "register_marketer", probability(finite(found.marketer)), GLOSSES["register_marketer"]
    name = f"register_at_risk ({settings({'threshold': found.threshold})})"
    yield name, number(finite(found.at_risk)), GLOSSES["register_at_risk"]
    if found.short:
        yield "short", number(found.short), GLOSSES["short"]


def statistics_table(record: AuditRecord) -> Table | None:
    """The class statistics of the sensitive columns, one row a statistic that some column has, with what it means."""
    facts = record.release.sensitive
    if not facts:
        return None
    names = ["values", *(name for name in _STATISTICS if any(_cell(f, name) for f in facts))]
    cells = tuple((_name(name, facts), *(_cell(f, name) or NONE for f in facts), GLOSSES[name]) for name in names)
    headings = ("statistic", *(clean(f.column, 60) for f in facts), "meaning")
    return Table(headings, cells, frozenset(range(1, len(facts) + 1)))


def _cell(facts: SensitiveFacts, name: str) -> str:
    """A statistic as text, empty where it does not apply to the column."""
    value = finite(getattr(facts, name))
    if value is not None:
        epsilon = f" (ε={number(finite(facts.proximity_epsilon))})" if name == "proximity_m" else ""
        return number(value) + epsilon
    return UNBOUNDED if name in BOUNDED and facts.alpha is not None else ""


def _name(name: str, facts: Iterable[SensitiveFacts]) -> str:
    asked = next((f.l_recursive_l for f in facts if f.l_recursive_l is not None), None)
    return f"{name} (l={asked})" if name == "l_recursive_c" and asked else name
