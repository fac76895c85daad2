"""The documentation of an expert determination under HIPAA: methods and results that justify that the risk is very small.

The headings are plain ones. What the law leaves to the expert (who they are, what "very small" means here, for how long it
holds) is left to the expert here too. Columns that look like the identifiers of the safe harbour are listed by
`auditor profile`.
"""

from __future__ import annotations

from reports.evidence import parts
from reports.evidence.pack import Blank, Template

TEMPLATE = Template(
    "hipaa",
    "Expert determination of de-identification",
    "For health information that is disclosed under HIPAA on the word of an expert.",
    (
        (
            "The expert",
            (Blank("Who determines, and their knowledge of statistical and scientific methods of de-identification."),),
        ),
        (
            "The data and the anticipated recipients",
            (
                parts.data,
                parts.inputs,
                Blank(
                    "Who is anticipated to receive the data, what else is reasonably available to them, and the contract."
                ),
            ),
        ),
        (
            "Risk thresholds and their source",
            (parts.thresholds, Blank("Why risks below these thresholds are very small for these recipients.")),
        ),
        ("Adversary models", (parts.adversaries, parts.attacks)),
        (
            "Data transformations",
            (
                parts.transformations,
                Blank("Which identifiers were removed, and how dates, places and ages were treated."),
            ),
        ),
        ("Residual risk: identifying a person", (parts.verdict, parts.class_figures, parts.identity)),
        ("Residual risk: learning about a person", (parts.beyond_identity, parts.suggestions)),
        ("Utility", (parts.utility, Blank("Whether the data still serve the purpose of the disclosure."))),
        ("What was not measured", (parts.limits,)),
        ("How to repeat the audit", (parts.method,)),
        (
            "Determination",
            (Blank("The determination, until when it holds, and what would call for a new one (date, signature)."),),
        ),
    ),
)
