"""A record of the de-identification of a government data set, for readers of NIST's SP 800-188.

The headings are plain ones, from the goals of the release over what was done to tests of it and the decision. No section
of the publication is quoted or numbered.
"""

from __future__ import annotations

from reports.evidence import parts
from reports.evidence.pack import Blank, Template

TEMPLATE = Template(
    "sp800-188",
    "De-identification of a government data set",
    "For an agency that releases data, to be held against NIST SP 800-188.",
    (
        (
            "Goals and governance",
            (
                Blank("The goals of the release, its legal authority, and the harms that it could do."),
                Blank("Who reviews and decides (such as a disclosure review board), and how data are shared (model)."),
            ),
        ),
        ("The data", (parts.data, parts.inputs)),
        (
            "Risk thresholds and their source",
            (parts.thresholds, Blank("Who set these thresholds, and when they are reviewed.")),
        ),
        (
            "Adversary models",
            (
                parts.adversaries,
                Blank("Which outside data sets were considered, now and over the life of the release."),
            ),
        ),
        (
            "Data transformations",
            (parts.transformations, Blank("How identifiers were found and removed, and how each column was treated.")),
        ),
        ("Tests by attack", (parts.attacks, parts.risks)),
        ("Residual risk", (parts.verdict, parts.class_figures, parts.suggestions)),
        ("Utility", (parts.utility, Blank("Which uses of the data were tested with their users."))),
        ("What was not measured", (parts.limits,)),
        ("How to repeat the audit", (parts.method,)),
        (
            "Decision and monitoring",
            (Blank("The decision, who took it and when, and how the release is watched afterwards (signature)."),),
        ),
    ),
)
