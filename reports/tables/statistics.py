"""The class statistics of a release as tables: what class sizes say, and what the sensitive values of the classes say.

All are of the release alone. A synthetic release has none here: its rows are nobody's, so that its classes are no crowd that
anybody hides in. (The audit record has them as facts about the file.) A statistic that no column can have (an order, a
taxonomy, a number is missing) is left out; one that a column could have but no bound holds for says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import RELEASE, Kind, Measure
from auditor.model.record.record import AuditRecord
from auditor.model.record.release_facts import ClassRisk, RegisterRisk, SensitiveFacts, WeightedRisk
from reports.reading import Meanings, is_synthetic, label_of
from reports.tables.tables import Table
from reports.text import NONE, clean, finite, number, probability, settings

UNBOUNDED = "no bound"
BOUNDED = frozenset({"l_recursive_c", "beta_enhanced", "delta_disclosure"})
"""Statistics that every column has, except where no bound holds."""
UNDER = {"l_recursive_c": ("l", "l_recursive_l"), "proximity_m": ("ε", "proximity_epsilon")}
"""Statistics that hold under a setting: its sign, and the field that has it."""
_HOMES: tuple[tuple[str, str, type[ClassRisk] | type[WeightedRisk] | type[RegisterRisk]], ...] = (
    ("risk", "", ClassRisk),
    ("weighted", "weighted_", WeightedRisk),
    ("register", "register_", RegisterRisk),
    ("register", "", RegisterRisk),
)
"""Where class statistics are found: the field of the release, how their names begin where its fields do not, and its type."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure of the classes: its value, of how many records it is, and the settings that it holds under."""

    measure: Measure
    home: str
    value: float
    records: int | None
    given: str
    threshold: str

    @property
    def text(self) -> str:
        """The figure as a cell of a table."""
        if self.measure.kind == Kind.COUNT and self.records is not None:
            return f"{number(self.value)} of {number(self.records)}"
        return number(self.value) if self.measure.kind in (Kind.COUNT, Kind.FACT) else probability(self.value)


def class_statistics(record: AuditRecord) -> list[Statistic]:
    """What class sizes, sampling weights and a population say of finding records."""
    made, release = list[Statistic](), record.release
    if is_synthetic(release):
        return made
    given = {
        "weighted": "" if release.weighted is None else settings({"weights": release.weighted.column}),
        "register": "" if release.register is None else settings({"people": release.register.people}),
    }
    for measure in Meanings(record).statistics():
        homes = ((home, measure.name.removeprefix(start), kind) for home, start, kind in _HOMES)
        home, field = next(((h, f) for h, f, kind in homes if f in kind.__dataclass_fields__), ("", ""))
        facts = getattr(release, home) if home else None
        value = finite(getattr(facts, field, None))
        if value is None or measure.name.endswith("_share"):  # the count of the same says it
            continue
        threshold = settings({"threshold": getattr(facts, "threshold", None)}) if field == "at_risk" else ""
        records = None if release.risk is None else release.risk.records
        made.append(Statistic(measure, home, value, records, given.get(home, ""), threshold))
    return made


def class_table(record: AuditRecord) -> Table | None:
    """What class sizes, sampling weights and a population say; None for several blocks, whose people are told apart in other
    ways, and for records of older versions."""
    release, risk, none = record.release, record.release.risk, "not applicable"
    rows = [] if risk is None else [("k", number(release.k), label_of(Meanings(record).measure(RELEASE, "k")))]
    said: set[str] = set()
    for one in class_statistics(record):
        name = one.measure.name
        whole = name.startswith("wildcard") and risk is not None and risk.wildcard_mean == risk.prosecutor_mean
        if whole or (name == "short" and not one.value):  # no single cell is suppressed, the population is complete
            continue
        asked = ", ".join(part for part in ("" if one.home in said else one.given, one.threshold) if part)
        said.add(one.home)
        rows.append((f"{name} ({asked})" if asked else name, one.text, label_of(one.measure)))
    if release.weighted is not None and release.weighted.reason is not None:
        rows.append((f"weighted ({clean(release.weighted.column, 40)})", none, clean(release.weighted.reason)))
    if release.register is not None and release.register.reason is not None and risk is not None:
        rows.append((f"population ({number(release.register.people)} people)", none, clean(release.register.reason)))
    return Table(("statistic", "value", "meaning"), tuple(rows), frozenset({1})) if rows else None


def facts_of_columns(record: AuditRecord) -> Sequence[SensitiveFacts]:
    """What the classes say of each sensitive column; nothing where they are nobody's."""
    return () if is_synthetic(record.release) else record.release.sensitive


def column_statistics(records: Iterable[AuditRecord]) -> list[Measure]:
    """The statistics that sensitive columns have, in the order of the tables."""
    return [m for m in Meanings(*records).statistics() if m.name in SensitiveFacts.__dataclass_fields__]


def shown_statistics(record: AuditRecord) -> set[str]:
    """The names of the statistics that the tables of a record show."""
    facts = facts_of_columns(record)
    columns = {m.name for m in column_statistics([record]) if any(_cell(f, m.name) for f in facts)}
    least = set() if is_synthetic(record.release) else {"k"}
    return {*least, *columns, *(one.measure.name for one in class_statistics(record))}


def statistics_table(record: AuditRecord) -> Table | None:
    """The class statistics of the sensitive columns, one row a statistic that some column has, with what it means."""
    facts = facts_of_columns(record)
    shown = [m for m in column_statistics([record]) if any(_cell(f, m.name) for f in facts)]
    cells = tuple((_name(m.name, facts), *(_cell(f, m.name) or NONE for f in facts), label_of(m)) for m in shown)
    headings = ("statistic", *(clean(f.column, 60) for f in facts), "meaning")
    return Table(headings, cells, frozenset(range(1, len(facts) + 1))) if cells else None


def _cell(facts: SensitiveFacts, name: str) -> str:
    """A statistic as text, empty where it does not apply to the column."""
    value = finite(getattr(facts, name))
    if value is not None:
        epsilon = f" (ε={number(finite(facts.proximity_epsilon))})" if name == "proximity_m" else ""
        return number(value) + epsilon
    return UNBOUNDED if name in BOUNDED and facts.alpha is not None else ""


def _name(name: str, facts: Sequence[SensitiveFacts]) -> str:
    asked = next((f.l_recursive_l for f in facts if f.l_recursive_l is not None), None)
    return f"{name} (l={asked})" if name == "l_recursive_c" and asked else name
