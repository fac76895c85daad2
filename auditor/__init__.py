"""auditor: a red team in a box for data releases.

Anonymizers make releases, attacks with simulated background knowledge try to break them, every attack is scored against
the truth, and the record says how much privacy was left and what it cost in utility.

    import auditor
    schema = auditor.Schema.read("schema.toml")
    table = auditor.read_table("data.csv", schema)
    release, provenance = auditor.anonymize(table, "mondrian", k=5)
    record = auditor.audit(release, original=table, provenance=provenance)
    record.to_frame()                    # in a notebook, `record` alone shows a card

Names are imported when they are first used, so that importing one floor does not pull in the roof.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from auditor.model.upstairs import offer
from auditor.version import VERSION

if TYPE_CHECKING:
    from anonymizers.anonymizing import anonymize
    from auditor.auditing.audit import audit
    from auditor.auditing.scanned import scan_audit
    from auditor.files.tables import read_table
    from auditor.model.discretion import revealing
    from auditor.model.errors import AuditorError
    from auditor.model.record.policy import read_policy
    from auditor.model.record.record import AuditRecord, RunRecord
    from auditor.model.schema import Schema
    from auditor.model.table import Table
    from auditor.profiling.explaining import explain_labels
    from auditor.profiling.proposal import Profile, profile
    from auditor.runs.claims import Claim, Trial, check_claim
    from auditor.runs.comparing import Limits, compare
    from auditor.runs.mechanisms import ProgramMechanism
    from auditor.runs.redteaming import redteam
    from auditor.runs.sweeping import sweep
    from reports.pictures.plots import Plot, plots
    from scenarios.options import Options
    from scenarios.scenario import read_scenario

__version__ = VERSION

_HOMES = {
    "AuditRecord": "auditor.model.record.record",
    "AuditorError": "auditor.model.errors",
    "Claim": "auditor.runs.claims",
    "Limits": "auditor.runs.comparing",
    "Options": "scenarios.options",
    "Plot": "reports.pictures.plots",
    "Profile": "auditor.profiling.proposal",
    "ProgramMechanism": "auditor.runs.mechanisms",
    "RunRecord": "auditor.model.record.record",
    "Schema": "auditor.model.schema",
    "Table": "auditor.model.table",
    "Trial": "auditor.runs.claims",
    "anonymize": "anonymizers.anonymizing",
    "audit": "auditor.auditing.audit",
    "check_claim": "auditor.runs.claims",
    "compare": "auditor.runs.comparing",
    "explain_labels": "auditor.profiling.explaining",
    "plots": "reports.pictures.plots",
    "profile": "auditor.profiling.proposal",
    "read_policy": "auditor.model.record.policy",
    "read_scenario": "scenarios.scenario",
    "read_table": "auditor.files.tables",
    "redteam": "auditor.runs.redteaming",
    "revealing": "auditor.model.discretion",
    "scan_audit": "auditor.auditing.scanned",
    "sweep": "auditor.runs.sweeping",
}

__all__ = [
    "AuditRecord",
    "AuditorError",
    "Claim",
    "Limits",
    "Options",
    "Plot",
    "Profile",
    "ProgramMechanism",
    "RunRecord",
    "Schema",
    "Table",
    "Trial",
    "__version__",
    "anonymize",
    "audit",
    "check_claim",
    "compare",
    "explain_labels",
    "plots",
    "profile",
    "read_policy",
    "read_scenario",
    "read_table",
    "redteam",
    "revealing",
    "scan_audit",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'auditor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _from(home: str, name: str) -> Callable[..., Any]:
    """A function that is imported when it is first called."""
    return lambda *given, **named: getattr(import_module(home), name)(*given, **named)


offer("card", _from("reports.card", "card"))
offer("save release", _from("auditor.files.releases", "save_release"))
offer("save provenance", _from("auditor.files.releases", "save_provenance"))
