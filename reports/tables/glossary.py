"""What the words of a report mean, once for all renderers: columns, links, adversaries, measures and class statistics.

The words come from the record, where attacks, links and measures say what they are, and from the terms that all share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.model.record.meaning import RELEASE, UTILITY
from auditor.model.record.record import OK, RunRecord
from auditor.model.record.terms import COLUMNS, STANCES
from reports.reading import Meanings
from reports.tables.statistics import shown_statistics
from reports.text import clean

SWEEP = "Each figure is the mean over several random sets of that many known attributes."


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms under one heading, each with what it means."""

    heading: str
    pairs: tuple[tuple[str, str], ...]


def glossary(run: RunRecord) -> list[Terms]:
    """The words that occur in a run."""
    meanings = Meanings(*run.records)
    links = {risk.link for record in run.records for risk in record.risks}
    measured = {(r.attack, r.measure) for record in run.records for r in record.risks if r.status == OK}
    measured |= {(UTILITY, row.measure) for record in run.records for row in record.utility}
    risks: dict[tuple[str, str], list[str]] = {}
    others: dict[str, list[tuple[str, str]]] = {UTILITY: [], RELEASE: []}
    measured |= {(RELEASE, name) for record in run.records for name in shown_statistics(record)}
    for (of, name), measure in meanings.measures.items():
        if of in others and (of, name) in measured:
            others[of].append((name, measure.meaning))
        elif (of, name) in measured:
            risks.setdefault((name, measure.meaning), []).append(of)  # several attacks may mean the same
    made = (
        _terms("What the columns mean", COLUMNS.items()),
        _terms(
            "Links: how the adversary finds the class",
            ((n, f.meaning) for n, f in meanings.links.items() if n in links),
        ),
        _terms("Adversaries", STANCES.items()),
        _terms("Measures of risk", ((f"{name} ({', '.join(of)})", text) for (name, text), of in risks.items())),
        _terms("Measures of utility", others[UTILITY]),
        _terms("Class statistics", others[RELEASE]),
    )
    return [terms for terms in made if terms.pairs]


def _terms(heading: str, pairs: Iterable[tuple[str, str]]) -> Terms:
    return Terms(heading, tuple((clean(name, 300), clean(text, 600)) for name, text in pairs))
