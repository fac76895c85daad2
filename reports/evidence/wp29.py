"""An assessment of anonymisation by the three questions of the Article 29 Working Party (opinion 05/2014).

Can a person still be singled out, can records of one person be linked, can information about a person be inferred? Attacks
say in the record which of these they are about.
"""

from __future__ import annotations

from auditor.model.record.meaning import Criterion
from reports.evidence import parts
from reports.evidence.pack import Blank, Template

TEMPLATE = Template(
    "wp29",
    "Assessment of anonymisation",
    "For data protection authorities and officers, to be held against the opinion of the Article 29 Working Party.",
    (
        (
            "The data and why they are anonymised",
            (
                parts.data,
                parts.inputs,
                Blank("The purpose, the legal basis of the anonymisation, and who receives the result."),
            ),
        ),
        ("Data transformations", (parts.transformations,)),
        (
            "Adversary models",
            (
                parts.adversaries,
                Blank("Which means are reasonably likely to be used, by whom, and at what cost."),
            ),
        ),
        ("Singling out", (parts.by_criterion(Criterion.SINGLING_OUT),)),
        ("Linkability", (parts.by_criterion(Criterion.LINKABILITY), parts.class_figures)),
        ("Inference", (parts.by_criterion(Criterion.INFERENCE),)),
        (
            "Further risks: membership and false beliefs",
            (parts.by_criterion(Criterion.MEMBERSHIP), parts.by_criterion(Criterion.HARM)),
        ),
        (
            "Risk thresholds and their source, and residual risk",
            (parts.thresholds, parts.verdict, parts.suggestions, Blank("Why the residual risk is acceptable.")),
        ),
        ("Utility", (parts.utility,)),
        ("What was not measured", (parts.limits, parts.attacks)),
        ("How to repeat the audit", (parts.method,)),
        (
            "Conclusion and review",
            (Blank("The conclusion, who answers for it, and when the risk is assessed again (date, signature)."),),
        ),
    ),
)
