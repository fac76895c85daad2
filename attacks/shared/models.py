"""Models of a sensitive column, learned from a release: P(class | what is known of somebody), or what stands beside a record.

*Naive Bayes* (`learning.py`) asks for counts only, so that blocks which were parted can be learned from. *Boosted trees*
learn from the middles of labels, where the sensitive column stands beside them: numbers and steps as they are, other values
by where they stand on the line on which the column's values differ most in what they go with (the first axis of a
correspondence analysis), so that neither names nor the order of rows matter. Of many rows those that are
alike are learned as one that counts so many times: people of one class share their labels, so that all rows take less time
than a sample would. A part of the classes is held out: on it the trees' certainty is set; trees that do not surely guess
more right there than the commonest value does are not used, nor is naive Bayes where it guesses fewer right.

Papers: J. Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", Annals of Statistics 2001; C. Guo, G.
Pleiss, Y. Sun, K. Weinberger, "On Calibration of Modern Neural Networks", ICML 2017 (one temperature for all).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from attacks.shared.learning import Lesson
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.packing import contents
from auditor.model.schema import Type
from auditor.posterior.beliefs import spread
from auditor.posterior.matching import Cells

_ENOUGH = 400
"""Below so many rows trees learn them by heart, and naive Bayes is used."""
_MOST_ROWS, _MOST_CLASSES = 10_000, 40
_ROUNDS = 40
"""How often trees are added; of more rows than `_MOST_ROWS` half as many do as well."""
_HELD_OUT = 4
"""One in so many classes of people is held out."""
_TEMPERATURES = (0.3, 0.5, 0.7, 0.85, 1.0)
_SURELY = 2.0
"""Trees must guess better than the commonest value by so many standard errors."""


_SAID = 4
"""So many of its answers a model keeps."""


@cache
def _threads() -> Any:
    """What sets the number of threads of all libraries at hand: to find them takes longer than to set them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _one_thread() -> Any:
    """While this holds, libraries use one thread: one answer on every machine."""
    return _threads().limit(limits=1)


class Model(ABC):
    """Says which class of the sensitive column somebody has (people × classes)."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        people = np.bincount(lesson.of_fragment, minlength=lesson.classes).astype(np.float64)
        self.shares = people / max(people.sum(), 1.0)

    @abstractmethod
    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        """For people of whom some columns are known (-1: not known)."""

    @abstractmethod
    def of_labels(self, cells: Cells) -> Floats:
        """For the label patterns of the sensitive column's block."""


class Shares(Model):
    """Everybody's shares: for want of a model that does better."""

    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        return np.tile(self.shares, (len(codes), 1))

    def of_labels(self, cells: Cells) -> Floats:
        return np.tile(self.shares, (len(cells.labels), 1))


class NaiveBayes(Model):
    """Naive Bayes by expected counts."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__(lesson)
        pairs = lesson.parted()
        self.tables = lesson.tables(pairs, {block: lesson.even(block, some) for block, some in pairs.items()})

    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        log = np.tile(np.log(np.maximum(self.shares, 1e-300)), (len(codes), 1))
        for attribute in self.lesson.attributes:
            if attribute.column in columns:
                log += attribute.of_codes(self.tables[attribute.column], codes[:, columns.index(attribute.column)])
        return self._normal(log)

    def of_labels(self, cells: Cells) -> Floats:
        log = np.tile(np.log(np.maximum(self.shares, 1e-300)), (len(cells.labels), 1))
        for attribute in self.lesson.attributes:
            if attribute.column in cells.columns:
                label = cells.labels[:, cells.columns.index(attribute.column)]
                log += attribute.of_labels(self.tables[attribute.column])[label]
        return self._normal(log)

    def _normal(self, log: Floats) -> Floats:
        chance = np.exp(log - log.max(axis=1, keepdims=True))
        chance[:, self.shares == 0] = 0.0
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))


class Boosted(Model):
    """Gradient-boosted trees on the middles of labels."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__(lesson)
        release = lesson.release
        self.block = release.blocks[lesson.number]
        inside = [a.column for a in lesson.attributes if a.block == lesson.number]
        marks = {c: int(contents([self.block.cell(c)], len(self.block.bucket)).sum()) for c in inside}
        self.columns = tuple(sorted(inside, key=lambda c: marks[c]))
        self.place = {c: self._places(release.labels[c], self.block.cell(c)) for c in self.columns}
        rows = np.column_stack([self._middles(c)[self.block.cell(c)] for c in self.columns])
        mixed = contents([self.block.cell(c) for c in self.columns], len(rows))
        order = np.lexsort((lesson.of_fragment, mixed, *rows.T))  # the same trees whatever the order of rows
        key = np.column_stack([mixed, lesson.of_fragment.astype(np.uint64)])[order]
        first, self.rounds = np.arange(len(order)), _ROUNDS
        if len(order) > _MOST_ROWS:  # rows that are alike count as one
            first = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))
            self.rounds = _ROUNDS // 2
        step = -(-len(first) // _MOST_ROWS)
        people = np.diff(np.append(first, len(order)))[::step].astype(np.float64)
        order = order[first[::step]]
        rows, target = rows[order], lesson.of_fragment[order]
        held = mixed[order] % np.uint64(_HELD_OUT) == 0
        self.temperature, self.better = 1.0, False
        if held.any() and not held.all() and len(np.unique(target[~held])) > 1:
            self._fit(rows[~held], target[~held], people[~held])
            self._calibrate(rows[held], target[held], people[held])
        self._fit(rows, target, people)

    def _fit(self, rows: Floats, target: Ints, people: Floats) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._said: dict[bytes, Floats] = {}
        with _one_thread():
            self.trees = HistGradientBoostingClassifier(
                max_iter=self.rounds, learning_rate=0.15, max_leaf_nodes=12, min_samples_leaf=15, l2_regularization=1.0,
                early_stopping=False, random_state=0,
            ).fit(rows, target, people)  # fmt: skip

    def _calibrate(self, rows: Floats, target: Ints, people: Floats) -> None:
        chance, n = self._predict(rows), people.sum()
        gain = (chance.argmax(axis=1) == target).astype(np.float64) - (self.shares.argmax() == target)
        mean = float(gain @ people / n)
        self.better = mean > _SURELY * float(((gain - mean) ** 2 @ people / n / n) ** 0.5)
        losses = []
        for temperature in _TEMPERATURES:
            right = _tempered(chance, self.shares, temperature)[np.arange(len(target)), target]
            losses.append(-float(np.log(np.maximum(right, 1e-12)) @ people))
        self.temperature = _TEMPERATURES[int(np.argmin(losses))]

    def _predict(self, rows: Floats) -> Floats:
        """What the trees say. They are asked of the same rows under every link model, so the last answers are kept."""
        key = rows.tobytes()
        if key not in self._said:
            self._said[key] = np.zeros((len(rows), self.lesson.classes))
            with _one_thread():
                self._said[key][:, self.trees.classes_] = self.trees.predict_proba(rows)
            if len(self._said) > _SAID:
                del self._said[next(iter(self._said))]
        return self._said[key]

    def of_people(self, columns: Sequence[str], codes: Codes) -> Floats:
        rows = np.full((len(codes), len(self.columns)), np.nan)
        for number, column in enumerate(self.columns):
            if column in columns:
                code = codes[:, columns.index(column)]
                rows[:, number] = np.where(code >= 0, self.place[column][code], np.nan)
        return _tempered(self._predict(rows), self.shares, self.temperature)

    def of_labels(self, cells: Cells) -> Floats:
        rows = np.full((len(cells.labels), len(self.columns)), np.nan)
        for number, column in enumerate(self.columns):
            if column in cells.columns:
                rows[:, number] = self._middles(column)[cells.labels[:, cells.columns.index(column)]]
        return _tempered(self._predict(rows), self.shares, self.temperature)

    def _middles(self, column: str) -> Floats:
        """Where each label of a column stands: in the middle of its values."""
        labels, place = self.lesson.release.labels[column], self.place[column]
        numeric = labels.domain.numbers is not None
        known = np.nan_to_num(place)
        middle = np.asarray(spread(labels) @ known)
        exact = (labels.low + labels.high) / 2
        return np.where(~np.isnan(exact), exact, middle) if numeric else middle

    def _places(self, labels: Labels, cell: Codes) -> Floats:
        """Where each value of a column stands on a line; a missing one nowhere."""
        domain = labels.domain
        place = np.full(domain.size, np.nan)
        if domain.numbers is not None:
            place[: len(domain.numbers)] = domain.numbers
        elif domain.column.type is Type.ORDINAL:
            place[: domain.known] = np.arange(domain.known)
        else:
            together = np.zeros((len(labels.texts), self.lesson.classes))
            np.add.at(together, (cell, self.lesson.of_fragment), 1)
            counts = np.asarray(spread(labels).T @ together)
            rows = counts.sum(axis=1)
            share = (counts + self.shares) / (rows + 1)[:, None] - self.shares
            weighed = share * np.sqrt(rows / max(rows.sum(), 1.0))[:, None] / np.sqrt(np.maximum(self.shares, 1e-12))
            axis = np.linalg.svd(weighed, full_matrices=False)[2][0]
            axis = axis * (1.0 if (axis**3).sum() >= 0 else -1.0)
            place = ((share / np.sqrt(np.maximum(self.shares, 1e-12))) @ axis).round(9)
        return place


def _tempered(chance: Floats, shares: Floats, temperature: float) -> Floats:
    """Chances drawn towards everybody's shares."""
    log = temperature * np.log(np.maximum(chance, 1e-9)) + (1 - temperature) * np.log(np.maximum(shares, 1e-9))
    out = np.exp(log - log.max(axis=1, keepdims=True)) * (shares > 0)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def best_model(lesson: Lesson) -> Model:
    """The model to use: trees where nothing is parted and they are surely better than the commonest value, else naive Bayes;
    neither where it guesses fewer rows right than that value does."""
    whole = len(lesson.release.blocks) == 1 and bool(lesson.attributes)
    rows = len(lesson.of_fragment)
    if whole and rows >= _ENOUGH and 1 < lesson.classes <= _MOST_CLASSES:
        trees = Boosted(lesson)
        if trees.better:
            return trees
    plain = NaiveBayes(lesson)
    if not whole:
        return plain
    cells = Cells.of(lesson.release.blocks[0], [a.column for a in lesson.attributes], len(lesson.release.sizes))
    guess = plain.of_labels(cells).argmax(axis=1)[cells.pattern[cells.of_fragment]]
    better: Bools = guess == lesson.of_fragment
    return plain if better.mean() >= plain.shares.max() else Shares(lesson)
