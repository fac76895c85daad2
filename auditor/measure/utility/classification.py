"""Classification: how well a decision tree trained on the release does.

- `classification`: a tree is trained on the records of some people and tested on the *original* rows of others. Beside its
  accuracy we give that of the same tree trained on the original rows of the same people, and the share of the most common
  class. Training records are plain values: labels that cover several values and separated blocks are drawn (`worlds`).
- `classification_within`: trained and tested inside the release by cross-validation, with labels as published, like Table V
  of the grading paper; beside it the same on the original. This also works for recoded values that cannot be compared with
  original rows. The people of one class stay together, in training or in testing: they share their labels (a cluster its
  centre), and a tree that has seen some of them would recognise the others. With few classes that cannot be.

One row per class attribute (`params.class`): the sensitive columns, numeric ones cut at the original's quartiles, and the
nominal and ordinal quasi-identifiers, at most eight. Within the release a coarser class is easier to predict, which is no
merit: so only columns are predicted there whose values are published one by one, or by aliases. `trees` describes how cells
are encoded. Rows beyond `MOST_TRAINED` and `MOST_TESTED` are not used. The interval is Wilson's over the tested rows.

Papers: V. S. Iyengar, KDD 2002; P. Poovammal, M. Ponnavaikko 2009, Table V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditor.measure.intervals import wilson
from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import ALL, measure
from auditor.measure.utility.trees import labelled, new_tree, predicted, true_features, world_features
from auditor.measure.utility.worlds import World, original_codes, original_numbers, said, worlds
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Better
from auditor.model.record.record import NOT_APPLICABLE, Utility

MOST_TRAINED, MOST_TESTED = 8_000, 4_000
MOST_CLASSES = 8
WORLDS = 3
FOLDS = 5
LEAST = 20
"""With fewer people nothing measurable can be learned; with fewer classes people are divided one by one."""
MOST_WITHIN = 5_000


def classification(case: Case) -> list[Utility]:
    """The accuracy, on held-out original rows, of a tree trained on the release, for each class attribute."""
    name, reason = "classification", _reason(case)
    targets = [] if reason else _targets(case)
    if not reason and not targets:
        reason = "no class attribute has two values"
    if reason:
        return [Utility(name, NOT_APPLICABLE, reason=reason)]
    people = case.people
    chance = case.shuffled(case.rng(name))
    held = min(len(chance) // 4, MOST_TESTED)
    test, rest = chance[:held], chance[held:]
    trained, told = rest[:MOST_TRAINED], rest[rest < people.inside][:MOST_TRAINED]
    if not len(told):
        return [Utility(name, NOT_APPLICABLE, reason="only the people to be tested on are in the release")]
    x, drawn = true_features(case, case.columns), worlds(case, WORLDS)
    given = [world_features(world, case.columns) for world in drawn]
    rows = []
    for target in targets:
        others = np.flatnonzero([c != target.column for c in case.columns])
        right = [
            _right(
                case, one[np.ix_(told, others)], target.given(world)[told], x[np.ix_(test, others)], target.true[test]
            )
            for world, one in zip(drawn, given, strict=True)
        ]
        original = _right(
            case, x[np.ix_(trained, others)], target.true[trained], x[np.ix_(test, others)], target.true[test]
        )
        commonest = int(np.argmax(np.bincount(target.true[trained])))
        value = float(np.mean(right))
        low, high = wilson(value * held, held)
        params = {
            "class": target.column,
            **said(case, drawn, case.columns),
            "trained": len(told),
            "tested": held,
            "encoding": "values by code",
        }
        detail = {"original": original, "majority": float((target.true[test] == commonest).mean())}
        rows.append(Utility(name, value=value, low=low, high=high, params=params, detail=detail))
    return rows


def classification_within(case: Case) -> list[Utility]:
    """The cross-validated accuracy of a tree inside the release, with labels as published, for each class attribute."""
    name, reason = "classification_within", _reason(case)
    if not reason and case.people.inside < LEAST:
        reason = f"fewer than {LEAST} people are in the release"
    targets = [] if reason else [t for t in _targets(case) if _one_by_one(case, t.column)]
    if not reason and not targets:
        reason = "no class attribute is published value by value, and coarser classes are easier to predict"
    if reason:
        return [Utility(name, NOT_APPLICABLE, reason=reason)]
    world = World(case, 0)
    chance = case.shuffled(case.rng(name))
    chosen = chance[chance < case.people.inside][:MOST_WITHIN]
    released = np.column_stack([labelled(world, c) for c in case.columns])[chosen]
    original = true_features(case, case.columns)[chosen]
    fold = _folds(case, chosen)
    rows = []
    for target in targets:
        others = np.flatnonzero([c != target.column for c in case.columns])
        classes = target.published(world)[chosen]
        right = _cross_validated(case, released[:, others], classes, fold)
        before = _cross_validated(case, original[:, others], target.true[chosen], fold)
        low, high = wilson(right * len(chosen), len(chosen))
        params = {
            "class": target.column,
            **said(case, [world], case.columns),
            "values": "labels as published",
            "folds": int(fold.max()) + 1,
            "tested": len(chosen),
            "encoding": "labels by the middle of their codes",
        }
        majority = float(np.bincount(classes).max() / len(classes))
        detail = {"original": before, "majority": majority}
        rows.append(Utility(name, value=right, low=low, high=high, params=params, detail=detail))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """A class attribute: everybody's true class, and the classes that a world gives its people, as plain values (`given`) or
    as published (`published`)."""

    column: str
    true: Ints
    given: Callable[[World], Ints]
    published: Callable[[World], Ints]


def _targets(case: Case) -> list[_Target]:
    """The class attributes: those with at least two classes in the original."""
    wanted = [c for c in case.columns if c in case.release.sensitive]
    wanted += [c for c in case.columns if c not in wanted and c in case.categorical]
    made = (_by_quartile(case, c) if c in case.numeric else _by_value(case, c) for c in wanted)
    return [target for target in made if len(np.unique(target.true)) > 1][:MOST_CLASSES]


def _by_value(case: Case, column: str) -> _Target:
    return _Target(
        column,
        original_codes(case, column).astype(np.int64),
        lambda world: world.codes(column).astype(np.int64),
        lambda world: np.unique(labelled(world, column), return_inverse=True)[1].astype(np.int64),
    )


def _by_quartile(case: Case, column: str) -> _Target:
    """Numbers cut at the quartiles of the original; published ones at their own. Missing numbers are a class."""
    numbers = original_numbers(case, column)
    edges = _edges(numbers)

    def published(world: World) -> Ints:
        missing = (
            world.case.release.labels[column].lo[world.labels(column)] == case.release.labels[column].domain.missing
        )
        told = np.where(missing, np.nan, labelled(world, column))
        return _cut(told, _edges(told))

    return _Target(column, _cut(numbers, edges), lambda world: _cut(world.numbers(column), edges), published)


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


def _right(case: Case, x: Floats, y: Ints, asked: Floats, truth: Ints) -> float:
    """The share of right predictions of a tree trained on (x, y)."""
    return float((predicted(new_tree(len(x), case).fit(x, y), asked) == truth).mean())


def _folds(case: Case, chosen: Ints) -> Ints:
    """The fold of each of the people, who are in random order: that of their class. Where there are few classes, from whose
    labels nobody is recognised, people are divided one by one."""
    people = case.people
    bucket = case.release.blocks[people.anchor].bucket[people.own[chosen]]
    _, first, number = np.unique(bucket, return_index=True, return_inverse=True)
    if len(first) < LEAST:
        return np.arange(len(chosen)) % FOLDS
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))  # classes by the first of their people
    return rank[number.reshape(-1)] % FOLDS


def _cross_validated(case: Case, x: Floats, y: Ints, fold: Ints) -> float:
    """The share of right predictions, each by a tree trained on the other folds."""
    right = 0
    for number in range(int(fold.max()) + 1):
        here = fold == number
        tree = new_tree(int((~here).sum()), case).fit(x[~here], y[~here])
        right += int((predicted(tree, x[here]) == y[here]).sum())
    return right / len(x)


def _reason(case: Case) -> str | None:
    """Why nothing can be learned and tested, or None."""
    if case.unmatched:
        return case.unmatched
    if len(case.columns) < 2:
        return "it needs two published columns that are in the original"
    return f"the original has fewer than {LEAST} people" if len(case.people.row) < LEAST else None


CLASSIFICATION = measure(
    "classification",
    "Accuracy on held-out original rows of a decision tree trained on the release, for each class attribute.",
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
    "every kind of release with a column published value by value; needs the original and who is who",
    "Poovammal & Ponnaivaikko 2009, Table V",
    better=Better.HIGHER,
)
