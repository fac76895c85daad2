"""Beliefs about what is published for each target: which label of a column their record has.

A label need not tell what it denotes (an alias, a graded number). An attack that finds out turns these beliefs, which are
over label numbers, into beliefs over values. People are found by containment: where values are recoded in this way,
quasi-identifiers are published as they are, and every link model finds the same records.
"""

from __future__ import annotations

from dataclasses import replace

from scipy import sparse

from auditor.model.domain import Domain
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior


def label_beliefs(release: Release, knowledge: Knowledge, column: str) -> ValueBeliefs:
    """P(t, label) over the label numbers of a column. A target whom nothing fits has any label, by its share."""
    labels = release.labels[column]
    numbered = {text: number for number, text in enumerate(labels.texts)}
    itself = Domain(labels.domain.column, labels.domain.format, labels.texts, numbered)
    counts = release.label_counts(column)
    known = [place for place, name in enumerate(knowledge.columns) if name != column]
    about_others = replace(
        knowledge,
        columns=tuple(knowledge.columns[place] for place in known),
        codes=knowledge.codes[:, known],
        granted=None,
        priors={column: counts / max(int(counts.sum()), 1)},
        not_values={},
        acquaintances=None,
    )
    as_published = replace(release, labels={**release.labels, column: Labels.exact(itself)})
    matching = Matching(as_published, about_others, Suppression.EXCLUDED)
    return Posterior(matching, Link.CONTAINMENT).values(column)


def decoded_beliefs(release: Release, knowledge: Knowledge, column: str, meaning: sparse.csr_array) -> ValueBeliefs:
    """P(t, s), where `meaning` (labels × codes) is what each label of the column is assumed to stand for."""
    published = label_beliefs(release, knowledge, column)
    return ValueBeliefs(sparse.csr_array(published.rows @ meaning), published.row_of)
