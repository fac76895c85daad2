"""Evidence packs: an audit record set under the headings that a guideline's readers look for, as Markdown and HTML.

    cited          one record, with references to its places
    references     where in the record's JSON a sentence comes from; `resolve` finds it there again
    pack           what a pack is made of: sentences with their references, and blanks that only a person can fill in
    parts          the record in such sentences: thresholds, adversaries, transformations, residual risk, utility, …
    writing        a pack as Markdown and as one HTML file
    ema, hipaa, sp800_188, wp29     the templates: which parts stand under which headings, and what a person must add

The headings are plain ones. No template quotes or numbers a section of a guideline: use them with its text at hand. To add
a template, write a file with a `TEMPLATE`, and a line in `TEMPLATES`.
"""

from __future__ import annotations

from auditor.model.errors import UsageError
from auditor.model.record.record import RunRecord
from reports.evidence import ema, hipaa, sp800_188, wp29
from reports.evidence.cited import Evidence
from reports.evidence.pack import Pack, Template

TEMPLATES: tuple[Template, ...] = (ema.TEMPLATE, hipaa.TEMPLATE, sp800_188.TEMPLATE, wp29.TEMPLATE)
"""The templates, in the order of the help."""


def evidence_pack(run: RunRecord, template: str, source: str = "record") -> Pack:
    """The pack of the one release of a run; `source` is the name of the record's file."""
    chosen = next((one for one in TEMPLATES if one.name == template), None)
    if chosen is None:
        names = ", ".join(one.name for one in TEMPLATES)
        raise UsageError(f"There is no template {template!r}. There are {names}.")
    if len(run.records) != 1:
        names = ", ".join(record.release.name for record in run.records[:8])
        raise UsageError(
            f"An evidence pack is about one release. {source} holds {len(run.records)}: {names}. Give the record of one, as "
            "`auditor audit --json` writes it."
        )
    return chosen.fill(Evidence(run.records[0]), source)
