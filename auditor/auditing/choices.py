"""Choices: how much of their sensitive value people let be published, and what that bought them.

A person's choice is 1 (the value itself), 2 (its group only) or 3 (nothing of it). It stands in the original, in a column
with `role = "choice"`. Where it was simulated it can be seen in the release, which publishes the value, an alias that leaves
a group of values open, or one that leaves all of them open. (Where a column has no groups, 2 and 3 publish alike, and both
count as 3.)

Beside the risk of those who chose alike stands what a reader without the key still learns of them: the share of the
uncertainty about a value that its published form takes away, 1 - H(value | published)/H(value), where H is the entropy of the
shares at large among the values that the published form leaves open. It is 1 for a value that is shown and 0 for an alias
that shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.auditing.scoring.figures import Figure
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import mean_of
from auditor.model.arrays import Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import Kind
from auditor.model.record.release_facts import ChoiceFacts
from auditor.model.schema import Role

CHOICES = (1, 2, 3)


def choices_of(subject: Subject) -> Ints | None:
    """The choice of each row of the people, 0 where it is not known; None where nobody had one."""
    people, provenance = subject.people, subject.provenance
    if people is None or provenance is None or not subject.has_original:
        return None
    given = [column for column in people.schema.names(Role.CHOICE) if column in people.codes]
    if given:
        texts = people.domains[given[0]].texts
        of_code = np.array([*(int(text) if text in ("1", "2", "3") else 0 for text in texts), 0])
        found: Ints = of_code[people.codes[given[0]]]
        return found if found.any() else None
    choice = np.zeros(people.rows, dtype=np.int64)
    for column in _named(subject):
        labels = subject.release.labels[column]
        shown = np.where(labels.is_alias, np.where(labels.counts < labels.domain.known, 2, 3), 1)
        shown[[_is_missing(labels, label) for label in range(len(labels.texts))]] = 0
        choice = np.maximum(choice, np.append(shown, 0)[_published(subject, column)])
    return choice if choice.any() else None


def _named(subject: Subject) -> list[str]:
    """The columns whose values are published under names of other kinds."""
    labels = subject.release.labels
    return [c for c in subject.release.sensitive if labels[c].aliases and labels[c].domain.numbers is None]


def _published(subject: Subject, column: str) -> Ints:
    """The label that is published of each row of the people, -1 where none is."""
    assert subject.provenance is not None
    block = subject.release.block_number(column)
    fragment = subject.provenance.fragment[:, block]
    cell = subject.release.blocks[block].cell(column)
    return np.where(fragment >= 0, cell[fragment], -1).astype(np.int64)


def _is_missing(labels: Labels, label: int) -> bool:
    codes = labels.codes(label)
    return len(codes) == 1 and int(codes[0]) == labels.domain.missing


def choice_facts(subject: Subject, choice: Ints | None) -> tuple[ChoiceFacts, ...]:
    """How many people made each choice, and what a reader without the key learns of them."""
    if choice is None:
        return ()
    made = []
    kept = {column: _kept(subject, column) for column in _named(subject)}
    for number in CHOICES:
        here = choice == number
        people = int(here.sum()) if subject.person is None else len(np.unique(subject.person[here]))
        known = {c: each[here & ~np.isnan(each)] for c, each in kept.items()}
        made.append(ChoiceFacts(number, people, {c: float(each.mean()) for c, each in known.items() if len(each)}))
    return tuple(made)


def _kept(subject: Subject, column: str) -> Floats:
    """For each row the share of the uncertainty about its value that its published form takes away; not a number where the
    row has no value."""
    assert subject.people is not None
    labels, codes = subject.release.labels[column], subject.people.codes[column]
    known = labels.domain.known
    share = np.bincount(codes[(codes >= 0) & (codes < known)], minlength=known).astype(np.float64)
    whole = _entropy(share)
    left = np.array([_entropy(share[some[some < known]]) for some in map(labels.codes, range(len(labels.texts)))])
    of_label = np.append(1 - left / whole if whole > 0 else np.ones(len(left)), np.nan)
    return np.where((codes >= 0) & (codes < known), of_label[_published(subject, column)], np.nan)


def _entropy(counts: Floats) -> float:
    """The entropy of some counts, in nats; 0 where there is nobody."""
    share = counts[counts > 0] / max(float(counts.sum()), 1e-300)
    return float(-(share * np.log(share)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A figure, or what it is held against, and the rows of its people."""

    figure: Figure | None
    rows: Ints | None

    def of(self, choice: Ints, number: int) -> Floats | None:
        """Its parts for the people who made a choice; None where they are not known."""
        figure = self.figure
        if figure is None or figure.each is None:
            return None
        rows = self.rows if figure.rows is None else figure.rows
        if rows is None or len(rows) != len(figure.each):
            return None
        return np.asarray(figure.each[choice[rows] == number])


def by_choice(
    choice: Ints, figure: Compared, baseline: Compared, control: Compared, measures: Sequence[str]
) -> list[dict[str, Any]]:
    """A rate among the people of each choice, with its interval and companions; nothing for figures of other kinds."""
    if figure.figure is None or figure.figure.kind is not Kind.RATE or figure.figure.measure not in measures:
        return []
    made: list[dict[str, Any]] = []
    for number in CHOICES:
        each = figure.of(choice, number)
        if each is None or not len(each):
            continue
        low, high = mean_of(each)
        row: dict[str, Any] = {
            "choice": number,
            "n": len(each),
            "value": float(each.mean()),
            "low": float(low),
            "high": float(high),
        }
        for name, other in (("baseline", baseline), ("control", control)):
            beside = other.of(choice, number)
            row[name] = float(beside.mean()) if beside is not None and len(beside) else None
        made.append(row)
    return made
