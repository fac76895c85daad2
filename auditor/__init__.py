"""auditor: a red team in a box for data releases.

Anonymizers make releases, attacks with simulated background knowledge try to break them, every attack is scored against
the truth, and the record says how much privacy was left and what it cost in utility.

    import auditor
    schema = auditor.Schema.read("schema.toml")
    table = auditor.read_table("data.csv", schema)
    release, provenance = auditor.anonymize(table, "mondrian", k=5)
    record = auditor.audit(release, original=table, provenance=provenance)
    record.to_frame()

Names are imported when they are first used, so that importing one floor does not pull in the roof.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from auditor.version import VERSION

if TYPE_CHECKING:
    from auditor.auditing import Options, audit
    from auditor.comparing.running import Limits, compare
    from auditor.explaining import explain_labels
    from auditor.model.errors import AuditorError
    from auditor.model.record import AuditRecord, RunRecord
    from auditor.model.schema import Schema
    from auditor.model.table import Table
    from auditor.policy import read_policy
    from auditor.profiling.proposal import Profile, profile
    from auditor.redteaming import anonymize, redteam
    from auditor.scanning.audit import scan_audit
    from auditor.subjects import read_table
    from reports.plots import Plot, plots
    from scenarios.scenario import read_scenario

__version__ = VERSION

_HOMES = {
    "AuditRecord": "auditor.model.record",
    "AuditorError": "auditor.model.errors",
    "Limits": "auditor.comparing.running",
    "Options": "auditor.auditing",
    "Plot": "reports.plots",
    "Profile": "auditor.profiling.proposal",
    "RunRecord": "auditor.model.record",
    "Schema": "auditor.model.schema",
    "Table": "auditor.model.table",
    "anonymize": "auditor.redteaming",
    "audit": "auditor.auditing",
    "compare": "auditor.comparing.running",
    "explain_labels": "auditor.explaining",
    "plots": "reports.plots",
    "profile": "auditor.profiling.proposal",
    "read_policy": "auditor.policy",
    "read_scenario": "scenarios.scenario",
    "read_table": "auditor.subjects",
    "redteam": "auditor.redteaming",
    "scan_audit": "auditor.scanning.audit",
}

__all__ = [
    "AuditRecord",
    "AuditorError",
    "Limits",
    "Options",
    "Plot",
    "Profile",
    "RunRecord",
    "Schema",
    "Table",
    "__version__",
    "anonymize",
    "audit",
    "compare",
    "explain_labels",
    "plots",
    "profile",
    "read_policy",
    "read_scenario",
    "read_table",
    "redteam",
    "scan_audit",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'auditor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
