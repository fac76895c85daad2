"""Classification: how well a decision tree trained on the release does.

- `classification`: by cross-validation, a tree is trained on the records of most people and tested on the *original* rows
  of the others, everybody once. Beside its accuracy we give that of the same tree trained on the original rows of the
  same people, and the share of the most common class. Training records are plain values: labels that cover several values
  and separated blocks are drawn, for each fold anew (`worlds`), and coded columns are decoded where there is a key. The
  rows of a synthetic release are nobody's and cannot be divided so: all of them train, and the tree is tested on a holdout
  (people of whom the release was not made), as is that of all original rows. Without a holdout it is tested on the people of
  whom the release was made, which flatters a release that repeats them; `params.tested_on` says which.
- `classification_within`: trained and tested inside the release by cross-validation, with labels as published, like Table
  V of the grading paper; beside it the same on the original. This also works for recoded values that cannot be compared
  with original rows. People whose other quasi-identifiers were made alike stay together, in training or in testing: they
  share their labels (a cluster its centre), and a tree that has seen some of them would recognise the others.

One row per class attribute (`params.class`): the sensitive columns, numeric ones cut at the original's quartiles, and the
nominal and ordinal others with at most `MOST_VALUES` values, at most eight in all. Within the release a coarser class is
easier to predict, which is no merit: so only columns are predicted there whose values are published one by one, or by
aliases. All rows and all published columns are used. `trees` describes how cells are encoded and cut. The interval is
Wilson's over the tested rows.

Papers: V. S. Iyengar, KDD 2002; P. Poovammal, M. Ponnavaikko 2009, Table V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from auditor.measure.intervals import wilson
from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import ALL, NOT_SYNTHETIC, WHO, measure
from auditor.measure.utility.trees import Coder, Features, Tree, by_content, label_places, labelled
from auditor.measure.utility.worlds import World, code_numbers, original_codes, original_numbers, said, worlds
from auditor.model.arrays import Floats, Ints
from auditor.model.packing import mixed
from auditor.model.record.meaning import Better
from auditor.model.record.record import NOT_APPLICABLE, Utility
from auditor.model.table import Table

MOST_CLASSES = 8
MOST_VALUES = 50
FOLDS = 5
LEAST = 20
"""With fewer people nothing measurable can be learned; with fewer classes people are divided one by one."""


def classification(case: Case) -> list[Utility]:
    """The accuracy, on held-out original rows, of a tree trained on the release, for each class attribute."""
    coded, case = case.coded, case.decoded
    name, reason = "classification", _reason(case)
    targets = [] if reason else _targets(case)
    if not reason and not targets:
        reason = "no class attribute has two values"
    if reason:
        return [Utility(name, NOT_APPLICABLE, reason=reason)]
    if case.release.synthetic:
        return [_synthetic(case, target) for target in targets]
    people, columns = case.people, by_content(case)
    fold = np.empty(len(people.row), dtype=np.int64)
    fold[case.shuffled(case.rng(name))] = np.arange(len(people.row)) % FOLDS
    if any((fold[: people.inside] == number).all() for number in range(FOLDS)):
        return [Utility(name, NOT_APPLICABLE, reason="only the people to be tested on are in the release")]
    coder, drawn = Coder(case, columns), worlds(case, FOLDS)
    x, given = coder.original(), [coder.world(world) for world in drawn]
    rows = []
    for target in targets:
        others = np.flatnonzero([c != target.column for c in columns])
        classes = [target.given(world) for world in drawn]
        right, original = 0, 0
        for number in range(FOLDS):
            asked, truth = x.take(fold == number, others), target.true[fold == number]
            told, at = np.flatnonzero(fold[: people.inside] != number), number % len(drawn)
            right += _right(given[at].take(told, others), classes[at][told], asked, truth)
            original += _right(x.take(fold != number, others), target.true[fold != number], asked, truth)
        row = _row(case, name, target, drawn, (right, original), len(fold))
        rows.append(replace(row, params={**row.params, "decoded": list(coded)}) if coded else row)
    return rows


def _synthetic(case: Case, target: _Target) -> Utility:
    """The accuracy of a tree trained on a synthetic release, and of one trained on the original, for one class attribute."""
    columns, name = by_content(case), "classification"
    coder, drawn = Coder(case, columns), worlds(case, 1)
    others = np.flatnonzero([c != target.column for c in columns])
    x = coder.original()
    given, everybody = coder.world(drawn[0]), np.arange(len(x.codes))
    told = given.take(np.arange(len(given.codes)), others)
    classes = target.given(drawn[0])
    if case.holdout is not None and case.holdout.rows:
        asked, truth = coder.table(case.holdout), target.of(case.holdout)
        tested = asked.take(np.arange(len(asked.codes)), others)
        right = _right(told, classes, tested, truth)
        original = _right(x.take(everybody, others), target.true, tested, truth)
        where = "people of whom the release was not made"
    else:
        truth = target.true
        fold = np.empty(len(truth), dtype=np.int64)
        fold[case.shuffled(case.rng(name))] = np.arange(len(truth)) % FOLDS
        right = _right(told, classes, x.take(everybody, others), truth)
        original = _cross_validated(x, others, truth, fold)
        where = "the people of whom the release was made"
    row = _row(case, name, target, drawn, (right, original), len(truth))
    return replace(row, params={**row.params, "tested_on": where})


def classification_within(case: Case) -> list[Utility]:
    """The cross-validated accuracy of a tree inside the release, with labels as published, for each class attribute."""
    name, reason = "classification_within", case.nobodys or _reason(case)
    if not reason and case.people.inside < LEAST:
        reason = f"fewer than {LEAST} people are in the release"
    targets = [] if reason else [t for t in _targets(case) if _one_by_one(case, t.column)]
    if not reason and not targets:
        reason = "no class attribute is published value by value, and coarser classes are easier to predict"
    if reason:
        return [Utility(name, NOT_APPLICABLE, reason=reason)]
    world, columns = World(case, 0), by_content(case)
    chance = case.shuffled(case.rng(name))
    chosen = chance[chance < case.people.inside]
    everything = np.arange(len(columns))
    released = labelled(world, columns).take(chosen, everything)
    original = Coder(case, columns).original().take(chosen, everything)
    rows = []
    for target in targets:
        others = np.flatnonzero([c != target.column for c in columns])
        classes, fold = target.published(world)[chosen], _folds(case, world, chosen, target.column)
        right = _cross_validated(released, others, classes, fold)
        before = _cross_validated(original, others, target.true[chosen], fold)
        row = _row(case, name, target, [world], (right, before), len(chosen))
        params = {**row.params, "values": "labels as published", "folds": int(fold.max()) + 1}
        majority = float(np.bincount(classes).max() / len(classes))
        rows.append(replace(row, params=params, detail={**row.detail, "majority": majority}))
    return rows


def _row(case: Case, name: str, target: _Target, drawn: list[World], right: tuple[int, int], tested: int) -> Utility:
    """The figure of one class attribute: how many of those tested were predicted rightly, by release and by original."""
    value = right[0] / tested
    low, high = wilson(right[0], tested)
    params = {"class": target.column, **said(case, drawn, case.columns), "tested": tested, "folds": FOLDS}
    majority = float(np.bincount(target.true).max() / len(target.true))
    detail = {"original": right[1] / tested, "majority": majority}
    return Utility(name, value=value, low=low, high=high, params=params, detail=detail)


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """A class attribute: everybody's true class, and the classes that a world gives its people, as plain values (`given`) or
    as published (`published`), and those of the people of another table (`of`)."""

    column: str
    true: Ints
    given: Callable[[World], Ints]
    published: Callable[[World], Ints]
    of: Callable[[Table], Ints]


def _targets(case: Case) -> list[_Target]:
    """The class attributes: those with at least two classes in the original."""
    wanted = [c for c in case.columns if c in case.release.sensitive]
    wanted += [c for c in case.columns if c not in wanted and c in case.categorical]
    made = [_by_quartile(case, c) if c in case.numeric else _by_value(case, c) for c in wanted]
    values = {target.column: len(np.unique(target.true)) for target in made}
    free = case.release.sensitive
    return [t for t in made if values[t.column] > 1 and (values[t.column] <= MOST_VALUES or t.column in free)][
        :MOST_CLASSES
    ]


def _by_value(case: Case, column: str) -> _Target:
    return _Target(
        column,
        original_codes(case, column).astype(np.int64),
        lambda world: world.codes(column).astype(np.int64),
        lambda world: _numbered(label_places(world.case.release.labels[column])[world.labels(column)]),
        lambda table: table.codes[column].astype(np.int64),
    )


def _numbered(places: Floats) -> Ints:
    return np.unique(places, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _by_quartile(case: Case, column: str) -> _Target:
    """Numbers cut at the quartiles of the original; published ones at their own. Missing numbers are a class."""
    numbers = original_numbers(case, column)
    edges = _edges(numbers)

    def published(world: World) -> Ints:
        told = label_places(world.case.release.labels[column])[world.labels(column)]
        return _cut(told, _edges(told))

    def others(table: Table) -> Ints:
        return _cut(code_numbers(case, column)[table.codes[column]], edges)

    return _Target(column, _cut(numbers, edges), lambda world: _cut(world.numbers(column), edges), published, others)


def _edges(numbers: Floats) -> Floats:
    known = numbers[~np.isnan(numbers)]
    return np.unique(np.quantile(known, (0.25, 0.5, 0.75))) if len(known) else np.zeros(0)


def _cut(numbers: Floats, edges: Floats) -> Ints:
    cut = np.searchsorted(edges, numbers, side="left")  # an edge belongs to the class below it
    return np.where(np.isnan(numbers), len(edges) + 1, cut).astype(np.int64)


def _one_by_one(case: Case, column: str) -> bool:
    """Whether a column is published value by value, or by aliases or numbers that stand for one value each."""
    labels = case.release.labels[column]
    single = (labels.counts == 1) | labels.is_alias | ((labels.counts == 0) & (labels.low == labels.high))
    return bool(single[np.unique(case.release.block_of(column).cell(column))].all())


def _right(trained: Features, y: Ints, asked: Features, truth: Ints) -> int:
    """How many predictions of a tree are right."""
    return int((Tree(trained, y).predicted(asked) == truth).sum())


def _folds(case: Case, world: World, chosen: Ints, target: str) -> Ints:
    """The fold of each of the people, who are in random order: that of those with the same labels, but for the target's.
    Where these are the people's own values, or there are few such groups, nobody is recognised by them, and people are
    divided one by one."""
    shared = [world.labels(c)[chosen] for c in case.release.quasi if c in case.known and c != target]
    whose = mixed(shared, len(chosen))
    _, first, number = np.unique(whose, return_index=True, return_inverse=True)
    if len(first) < LEAST or _as_they_are(case, world):
        return np.arange(len(chosen)) % FOLDS
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))  # groups by the first of their people
    return rank[number.reshape(-1)] % FOLDS


def _as_they_are(case: Case, world: World) -> bool:
    """Whether the quasi-identifiers that people share are their own: no method made them alike."""
    for column in (c for c in case.release.quasi if c in case.known):
        labels, label = case.release.labels[column], world.labels(column)
        own = original_codes(case, column, everybody=False)
        if not ((labels.counts[label] == 1) & (labels.lo[label] == own)).all():
            return False
    return True


def _cross_validated(features: Features, columns: Ints, y: Ints, fold: Ints) -> int:
    """How many predictions are right, each by a tree trained on the other folds."""
    right = 0
    for number in range(int(fold.max()) + 1):
        here = fold == number
        right += _right(features.take(~here, columns), y[~here], features.take(here, columns), y[here])
    return right


def _reason(case: Case) -> str | None:
    """Why nothing can be learned and tested, or None."""
    if case.unmatched:
        return case.unmatched
    if len(case.columns) < 2:
        return "it needs two published columns that are in the original"
    return f"the original has fewer than {LEAST} people" if len(case.people.row) < LEAST else None


CLASSIFICATION = measure(
    "classification",
    "Cross-validated accuracy on original rows of a decision tree trained on the release, for each class attribute.",
    "classification accuracy",
    classification,
    ALL,
    "Iyengar 2002",
    better=Better.HIGHER,
)
CLASSIFICATION_WITHIN = measure(
    "classification_within",
    "Cross-validated accuracy of a decision tree inside the release, labels as published, for each class attribute.",
    "classification accuracy within the release",
    classification_within,
    f"{NOT_SYNTHETIC}, with a column published value by value; {WHO}",
    "Poovammal & Ponnaivaikko 2009, Table V",
    better=Better.HIGHER,
)
