"""Attacks written a second time, each in the plainest way, from what is published and what is known: those of the box must
reach what these reach. They share no code with `attacks/` and read a release as plain arrays.

Each returns for every person a distribution over the values of the sensitive column (people × codes), or a score.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.release import Release


def each_right(beliefs: Floats, truth: Codes) -> Floats:
    """For each person whether their likeliest value is the true one; among m tied values it counts 1/m."""
    top = beliefs >= beliefs.max(axis=1, keepdims=True) * (1 - 1e-9)
    return np.asarray(top[np.arange(len(truth)), truth] / top.sum(axis=1))


def right(beliefs: Floats, truth: Codes) -> float:
    """The share of people whose likeliest value is the true one."""
    return float(each_right(beliefs, truth).mean())


def definetti(release: Release, bucket: Ints, people: Codes, column: str, rounds: int = 20) -> Floats:
    """Anatomy, with the class of each person known: naive Bayes over exact values (`people`: people × quasi-identifiers),
    EM, and Sinkhorn sweeps so that a class's values are given to as many people as have them."""
    table = release.block_of(column)
    counts = np.zeros((len(release.sizes), release.labels[column].domain.size))
    np.add.at(counts, (table.bucket, release.labels[column].lo[table.cell(column)]), 1)
    wanted = counts[bucket]
    chance = wanted / wanted.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        log = np.zeros(chance.shape)
        for values in people.T:
            together = np.zeros((int(values.max()) + 1, chance.shape[1]))
            np.add.at(together, values, chance)
            share = together.sum(axis=1, keepdims=True) / together.sum()
            log += np.log((together + share) / (together.sum(axis=0) + 1))[values]
        chance = np.where(wanted > 0, np.exp(log - log.max(axis=1, keepdims=True)) + 1e-12, 0.0)
        for _ in range(20):
            given = np.zeros(counts.shape)
            np.add.at(given, bucket, chance)
            chance = chance * np.divide(counts, given, out=np.zeros(counts.shape), where=given > 0)[bucket]
            chance /= chance.sum(axis=1, keepdims=True)
    return chance


def subset_sums(release: Release, people: Floats, near: int = 25) -> Floats:
    """Centres of classes of k: how likely each of some `people` (their numbers, people × quasi-identifiers) is one of those
    whose mean a centre is. Of the nearest ones every set of k is tried; sets with the right mean are as likely as each
    other."""
    scale, out = people.std(axis=0), np.zeros(len(people))
    block = release.blocks[0]
    for bucket, size in enumerate(release.sizes.tolist()):
        row = int(np.flatnonzero(block.bucket == bucket)[0])
        centre = np.array([release.labels[c].low[block.cell(c)[row]] for c in release.quasi])
        closest = np.argsort((((people - centre) / scale) ** 2).sum(axis=1))[:near]
        sets = closest[np.array(list(combinations(range(near), size)))]
        fits = (np.abs(people[sets].mean(axis=1) - centre) < 1e-6).all(axis=1)
        if fits.any():
            share = np.bincount(sets[fits].reshape(-1), minlength=len(people)) / fits.sum()
            out = np.maximum(out, share)
    return out


def ranked(inside: Floats, outside: Floats) -> float:
    """How often a member is ranked above somebody else (the area under the ROC curve)."""
    return float((np.sign(inside[:, None] - outside[None, :]) / 2 + 0.5).mean())


def aliases(release: Release, people: Codes, column: str, shares: Floats) -> Floats:
    """Grading without a sample: naive Bayes from the rows that show their value says which value each alias stands for, with
    how many people of each value (`shares` at large) are still to be found; then everybody has the values of the rows that
    are exactly like them."""
    labels, block = release.labels[column], release.blocks[0]
    cell = block.cell(column)
    rows = np.column_stack([block.cell(c) for c in release.quasi])
    shown = np.where(labels.is_alias | (labels.counts != 1), -1, labels.lo)[cell]
    hidden = np.maximum(shares * release.rows - np.bincount(shown[shown >= 0], minlength=len(shares)), 0.5)
    evidence = np.zeros((release.rows, len(shares)))
    for values in rows.T:
        together = np.zeros((int(values.max()) + 1, len(shares)))
        np.add.at(together, (values[shown >= 0], shown[shown >= 0]), 1)
        at_large = np.bincount(values, minlength=len(together)) / len(values)
        evidence += np.log((together + 5 * at_large[:, None]) / (together.sum(axis=0) + 5))[values]
    value = shown.copy()
    scopes: dict[bytes, dict[str, list[int]]] = {}
    for label in np.unique(cell[labels.is_alias[cell]]).tolist():
        kinds = scopes.setdefault(labels.codes(label).tobytes(), {})
        kinds.setdefault(labels.texts[label].rstrip("0123456789"), []).append(label)
    for kinds in scopes.values():
        allowed = labels.codes(next(iter(kinds.values()))[0]).tolist()
        choices = [  # a value with one name of each kind, or none
            (code, names) for code in allowed for names in product(*([*kind, None] for kind in kinds.values()))
        ]
        gain = []
        for code, names in choices:
            count = sum(int((cell == n).sum()) for n in names if n is not None)
            fit = sum(float(evidence[cell == n, code].sum()) for n in names if n is not None)
            gain.append(fit - (count - hidden[code]) ** 2 / 2)
        everything = [*allowed, *(("name", n) for kind in kinds.values() for n in kind)]
        uses = [{code, *(("name", n) for n in names if n is not None)} for code, names in choices]
        once = np.array([[float(one in used) for used in uses] for one in everything])
        best = milp(
            -np.array(gain),
            constraints=LinearConstraint(once, 1, 1),
            integrality=np.ones(len(gain), dtype=np.int64),
            bounds=Bounds(0, 1),
        )
        for (code, names), taken in zip(choices, best.x.round(), strict=True):
            for name in names if taken else ():
                value[cell == name] = code
    _, number = np.unique(np.concatenate([rows, people]), axis=0, return_inverse=True)
    mine, theirs = number.reshape(-1)[len(rows) :], number.reshape(-1)[: len(rows)]
    found = np.zeros((int(number.max()) + 1, len(shares)))
    np.add.at(found, (theirs, value), 1)
    return found[mine] + 1e-9 * shares


def boosted(release: Release, bucket: Ints, column: str) -> Floats:
    """One block, the class of each person known: trees on the middles of the class's labels and on its counts of values, each
    row learned without itself, asked about the class as a whole."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    block, labels = release.blocks[0], release.labels
    value = labels[column].lo[block.cell(column)]
    counts = np.zeros((len(release.sizes), labels[column].domain.size))
    np.add.at(counts, (block.bucket, value), 1)
    middle = np.column_stack([((labels[c].lo + labels[c].hi) / 2)[block.cell(c)] for c in release.quasi])
    own = np.zeros((len(value), counts.shape[1]))
    own[np.arange(len(value)), value] = 1
    others = (counts[block.bucket] - own) / np.maximum(release.sizes[block.bucket, None] - 1, 1)
    first = np.unique(block.bucket, return_index=True)[1]
    with threadpool_limits(1):
        trees = HistGradientBoostingClassifier(max_iter=40, early_stopping=False, random_state=0)
        trees.fit(np.column_stack([middle, others]), value)
        whole = np.column_stack([middle[first], counts / release.sizes[:, None]])
        chance = np.zeros(counts.shape)
        chance[:, trees.classes_] = trees.predict_proba(whole)
    return chance[bucket]


def slices(release: Release, people: Codes, column: str, sweeps: int = 50) -> Floats:
    """Slices of exact values, everybody's quasi-identifiers known: a table of people × classes, in which somebody has a place
    where every block of a class has their values, scaled until each person is in one class and each fragment is one
    person's; then the values beside their own in these classes."""
    there = np.ones((len(people), len(release.sizes)))
    beside = np.tile(release.sizes.astype(float), (len(people), 1))
    kinds, counts = [], []
    for block in release.blocks:
        known = [release.quasi.index(c) for c in block.columns if c in release.quasi]
        if not known:
            continue
        cells = np.column_stack([release.labels[c].lo[block.cell(c)] for c in block.columns if c in release.quasi])
        _, number = np.unique(np.concatenate([people[:, known], cells]), axis=0, return_inverse=True)
        mine, theirs = number.reshape(-1)[: len(people)], number.reshape(-1)[len(people) :]
        count = np.zeros((int(number.max()) + 1, len(release.sizes)))
        np.add.at(count, (theirs, block.bucket), 1)
        there *= count[mine]
        beside = count[mine] if column in block.columns else beside
        kinds.append(mine)
        counts.append(count)
    for _ in range(sweeps):
        for mine, count in zip(kinds, counts, strict=True):
            held = np.zeros(count.shape)
            np.add.at(held, mine, there)
            there = there * np.divide(count, held, out=np.zeros(count.shape), where=held > 0)[mine]
        there = there / np.maximum(there.sum(axis=1, keepdims=True), 1e-12)
    block = release.block_of(column)
    value = release.labels[column].lo[block.cell(column)]
    known = [c for c in block.columns if c in release.quasi]
    out = np.zeros((len(people), release.labels[column].domain.size))
    for row in range(len(value)):
        fits = np.ones(len(people), dtype=np.bool_)
        for c in known:
            fits &= people[:, release.quasi.index(c)] == release.labels[c].lo[block.cell(c)[row]]
        out[fits, value[row]] += there[fits, block.bucket[row]] / np.maximum(beside[fits, block.bucket[row]], 1)
    return out + 1e-12
