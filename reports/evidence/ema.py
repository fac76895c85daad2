"""An anonymisation report on clinical data that is to be published, for readers who hold it against the EMA's guidance.

The headings are plain ones, in the order in which such a report argues: the data, thresholds, adversaries, transformations,
residual risk, utility. No section of the guidance is quoted or numbered.
"""

from __future__ import annotations

from reports.evidence import parts
from reports.evidence.pack import Blank, Template

TEMPLATE = Template(
    "ema",
    "Anonymisation report",
    "For the publication of clinical data, to be held against the guidance of the European Medicines Agency.",
    (
        (
            "The data and why they are published",
            (
                Blank("The trial or study, and the documents and tables that are published."),
                parts.data,
                parts.inputs,
                Blank("The purpose of the publication, who will have access, and under which terms of use."),
            ),
        ),
        (
            "Risk thresholds and their source",
            (
                parts.thresholds,
                Blank("Why this threshold suits the context of the publication."),
            ),
        ),
        (
            "Adversary models",
            (
                parts.adversaries,
                parts.attacks,
                Blank("How plausible attempts by each adversary are, and which other sources they could use."),
            ),
        ),
        (
            "Data transformations",
            (
                Blank("For each variable: whether it is a direct identifier, a quasi-identifier or neither, and why."),
                parts.transformations,
                Blank("The rule applied to each variable (removed, generalised, shifted, kept), free text included."),
            ),
        ),
        ("Residual risk", (parts.verdict, parts.class_figures, parts.risks, parts.suggestions)),
        (
            "Utility",
            (
                parts.utility,
                Blank("Whether the results of the study can still be reproduced and understood from the release."),
            ),
        ),
        ("What was not measured", (parts.limits,)),
        ("How to repeat the audit", (parts.method,)),
        ("Conclusion", (Blank("Whether the release is anonymised, who says so, and on which date (signature)."),)),
    ),
)
