"""How likely a mechanism publishes each label for a person with a known value: the columns of the likelihood.

A column gives −log P(label | value), which is 0 or more since P is a probability (for noise that is not rounded, a
density over its greatest value). Sums over columns are then searched as distances are (`pruned.py`). Columns that change
together, by correlated noise or by swapping, are one column here or are turned until they are independent. A label of an
unchanged column is possible where it covers the value. A missing value is published as missing, and nothing else is; what
is not known of a person fits everything, and a suppressed cell fits everybody.

- Noise: the mass of the noise between half a unit below and half a unit above.
- Rank swapping: how far ranks move does not depend on the data, so that whoever knows the window simulates it. The ranks
  of a value are those it has in the release, which has the same values as the original. Values that share a rank share
  the chance.
- Record swapping: the own value with probability 1 − rate, otherwise that of anybody in the stratum.
- PRAM, codes and rounding as they are defined (`auditor/model/mechanism.py`).

If what is known may be wrong (`noise.py`), the likelihood is the mean over the values that it may stand for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy import special

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.knowledge import Error
from auditor.model.labels.labels import Labels
from auditor.model.mechanism import (
    Change,
    Coding,
    Correlated,
    Distribution,
    Noise,
    RankSwap,
    RecordSwap,
    Rounding,
    Transition,
    swapped_ranks,
    window_of,
)
from auditor.model.packing import distinct_rows
from auditor.model.release import Release
from auditor.posterior.metric import Column, places_of
from auditor.posterior.noise import Doubt
from auditor.posterior.pruned import ABSENT, KNOWN, UNKNOWN, Line

EXCLUDED = 1e6
"""What a label costs that a value cannot have."""
MOST_OF_A_TABLE = 8_000_000
"""The most values × labels of a column that are laid out in a table."""
_BINS = 2_000
"""Ranks of a column of many values are taken together in so many bins."""
_SIMULATED = 40_000
_SAME = 1e-9
_FAR = 700.0  # e to this can still be written
_FARTHEST = 1e4  # in deviations, beyond anything that is kept


def costs(
    release: Release, names: Sequence[str], patterns: Codes, people: Codes, errors: Mapping[str, Error]
) -> list[Column]:
    """The columns of the likelihood for people (people × names, codes) and label patterns (patterns × names)."""
    mechanism = release.mechanism
    assert mechanism is not None
    place = {name: number for number, name in enumerate(names)}
    found: list[Column] = []
    done: set[str] = set()
    joint = mechanism.correlated
    if joint is not None:
        some = [name for name in joint.columns if name in place]
        turned = _turned(release, joint, some, place, patterns, people) if not set(some) & set(errors) else None
        if turned is not None and len(some) > 1:
            found += turned
            done.update(some)
    for name in names:
        change = mechanism.columns.get(name)
        if name in done:
            continue
        if isinstance(change, RecordSwap):
            some = [one for one in names if mechanism.columns.get(one) == change]
            swapped = _swapped(release, change, some, place, patterns, people)
            if swapped is not None:
                found.append(swapped)
                done.update(some)
                continue
        code, label = people[:, place[name]], patterns[:, place[name]]
        found.append(_column(release, name, change, label, code, errors.get(name)))
    return found


def is_laid_out(labels: Labels) -> bool:
    """Whether the likelihood of a column is laid out in a table, value by value."""
    return labels.domain.size * len(labels.texts) <= MOST_OF_A_TABLE


def _column(
    release: Release, name: str, change: Change | None, label: Codes, code: Codes, error: Error | None
) -> Column:
    """One column by itself."""
    labels = release.labels[name]
    used, which = np.unique(label, return_inverse=True)
    if not is_laid_out(labels) and not isinstance(change, Transition):
        if isinstance(change, RankSwap):
            return _ranked(release, name, change, used, which.reshape(-1), code)
        return _line(labels, change, used, which.reshape(-1), code, error)
    if error is None or (error.spread <= 0 and error.stale <= 0):
        values, value = np.unique(code, return_inverse=True)
        return Column(table_of(release, name, change, values, used), value.reshape(-1), which.reshape(-1))
    every = np.arange(labels.domain.size, dtype=np.int32)
    likely = np.exp(-table_of(release, name, change, every, used))
    doubt = Doubt.of(labels.domain, error)
    running = np.concatenate([np.zeros((1, len(used))), np.cumsum(likely, axis=0)])
    near = (running[doubt.last + 1] - running[doubt.first]) / (doubt.last - doubt.first + 1)[:, None]
    mixed = (1 - doubt.stale) * near + doubt.stale * likely.mean(axis=0)
    cost = np.vstack([_log(mixed), np.zeros((1, len(used)))])  # the last one for what is not known
    return Column(cost, np.where(code < 0, len(every), code).astype(np.int64), which.reshape(-1))


def table_of(release: Release, name: str, change: Change | None, values: Codes, used: Codes) -> Floats:
    """The costs of some values (-1: not known) under some labels of a column."""
    labels, domain = release.labels[name], release.labels[name].domain
    known = (values >= 0) & (values < domain.known)
    number = _numbers(labels)[used]
    plain = ~np.isnan(number) & ~labels.suppressed[used] if domain.numbers is not None else labels.counts[used] == 1
    grid = np.broadcast_to(used, (len(values), len(used))), np.broadcast_to(values[:, None], (len(values), len(used)))
    cost = np.where(
        labels.covers(grid[0].ravel(), np.maximum(grid[1].ravel(), 0)).reshape(grid[0].shape), 0.0, EXCLUDED
    )
    missing = labels.lo[used] == labels.hi[used]
    missing &= labels.lo[used] == (-1 if domain.missing is None else domain.missing)
    changed = np.ix_(known, plain & ~missing)
    if isinstance(change, RecordSwap):  # of this column alone
        share = release.label_counts(name)[used] / max(release.rows, 1)
        cost = _log((1 - change.rate) * (cost == 0) + change.rate * share)
    elif isinstance(change, RankSwap):
        cost[changed] = _log(_moved(release, name, change, values[known], used[plain & ~missing]))
    elif isinstance(change, Transition):
        codes = np.where(labels.counts == 1, labels.lo, -1)[used[plain & ~missing]]  # a number may be nobody's
        cost[changed] = _transited(change, domain, values[known], codes, cost[changed])
    elif change is not None and domain.numbers is not None:
        x, y = domain.numbers[values[known]][:, None], number[plain & ~missing]
        cost[changed] = _of_numbers(change, x, y)
    cost[values < 0] = 0.0
    return np.nan_to_num(np.minimum(cost, EXCLUDED), nan=EXCLUDED)


def _of_numbers(change: Change, x: Floats, y: Floats) -> Floats:
    """The costs of publishing numbers x as numbers y."""
    if isinstance(change, Noise):
        return _noise(change, np.abs(y - x))
    if isinstance(change, Rounding):
        steps = np.abs(y - x) / change.base
        if change.random:
            return _log(np.where(steps < _SAME, 1.0, np.clip(1 - steps, 0.0, 1.0)))
        up = np.floor(x / change.base + 0.5 + _SAME) * change.base
        return np.where(np.abs(y - up) < _SAME * max(change.base, 1.0), 0.0, EXCLUDED)
    assert isinstance(change, Coding)
    beyond = x > change.threshold if change.above else x < change.threshold
    wanted = np.where(beyond, change.published, x)
    return np.where(np.abs(y - wanted) <= _SAME * np.maximum(np.abs(wanted), 1.0), 0.0, EXCLUDED)


def _noise(change: Noise, away: Floats) -> Floats:
    """The cost of noise that moves a number so far."""
    half = change.unit / 2
    if change.distribution is Distribution.LAPLACE:
        b = change.sd / math.sqrt(2)
        if half <= 0:
            return np.asarray(np.minimum(away / b, EXCLUDED))
        h = half / b
        inside = np.minimum(np.minimum(away, half) / b, _FAR)
        near = -math.expm1(-h) - math.exp(-min(h, _FAR)) * (np.cosh(inside) - 1)
        far = away / b - (math.log(math.sinh(h)) if h < _FAR else h - math.log(2))
        return np.where(away < half, _log(np.maximum(near, 0.0)), far)
    if half <= 0:
        return np.asarray(np.minimum(away / change.sd, _FARTHEST) ** 2 / 2)
    lower = special.log_ndtr(np.maximum((half - away) / change.sd, -_FARTHEST))
    upper = special.log_ndtr(np.maximum((-half - away) / change.sd, -_FARTHEST))
    return np.asarray(-(lower + np.log1p(-np.exp(np.minimum(upper - lower, -1e-15)))))


def _transited(change: Transition, domain: Domain, values: Codes, labels: Codes, otherwise: Floats) -> Floats:
    """The costs of a transition; values that the matrix does not have stay as they are."""
    place = np.full(domain.size, -1)
    for number, text in enumerate(change.values):
        code = domain.code(text)
        if code is not None:
            place[code] = number
    cost = _log(np.array(change.matrix))
    both = (place[values] >= 0)[:, None] & (place[labels] >= 0) & (labels >= 0)
    return np.where(both, cost[np.ix_(place[values], place[labels])], otherwise)


# ----- ranks ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def displacements(rows: int, window: int) -> Floats:
    """How often a rank moves by d, for d from -window to window: counted in simulations of so many rows. Moves of a wide
    window are smoothed, since it is the shape that is wanted."""
    rng = np.random.default_rng(window)
    counts = np.zeros(2 * window + 1)
    for _ in range(max(_SIMULATED // max(rows, 1), 1)):
        moved = swapped_ranks(rows, window, rng) - np.arange(rows)
        counts += np.bincount(moved + window, minlength=2 * window + 1)
    still = counts[window]
    both = counts[window + 1 :] + counts[:window][::-1]
    width = max(window // 20, 1)
    parts = np.arange(window) // width
    both = (np.bincount(parts, weights=both) / np.bincount(parts))[parts] + 0.5
    whole = np.concatenate([both[::-1] / 2, [still], both / 2])
    return np.asarray(whole / whole.sum())


class _Ranks:
    """The ranks of a published column, and how they move."""

    def __init__(self, release: Release, name: str, change: RankSwap) -> None:
        labels = release.labels[name]
        counts = release.label_counts(name)
        self.place = _numbers(labels) if labels.domain.numbers is not None else _exact_codes(labels)
        there = ~np.isnan(self.place) & (counts > 0)
        order = np.argsort(self.place[there], kind="stable")
        self.sorted, self.count = self.place[there][order], np.cumsum(counts[there][order])
        self.rows = int(self.count[-1]) if len(self.count) else 0
        self.moves = displacements(max(self.rows, 1), window_of(max(self.rows, 1), change.window))

    def of(self, place: Floats) -> tuple[Ints, Ints]:
        """The first rank of each number, and the one after its last: the same where nobody has it."""
        before = np.concatenate([[0], self.count])
        first = before[np.searchsorted(self.sorted, place, side="left")]
        return first, before[np.searchsorted(self.sorted, place, side="right")]

    def chance(self, x: tuple[Ints, Ints], y: tuple[Ints, Ints]) -> Floats:
        """The probability that a rank of x moves to one of y, for all of both."""
        window, rows = len(self.moves) // 2, self.rows
        each = np.zeros(2 * rows + 1)
        most = min(window, rows)
        each[rows - most : rows + most + 1] = self.moves[window - most : window + most + 1]
        twice = np.concatenate([[0.0], np.cumsum(np.concatenate([[0.0], np.cumsum(each)]))])
        begin, end = x[0], np.maximum(x[1], x[0] + 1)
        first, last = y[0][None, :], y[1][None, :]

        def up_to(rank: Ints) -> Floats:
            """The sum over the ranks r of x of the chance to move below a rank."""
            return np.asarray(twice[rank - begin[:, None] + 1 + rows] - twice[rank - end[:, None] + 1 + rows])

        return np.asarray(np.clip(up_to(last) - up_to(first), 0.0, None) / (end - begin)[:, None])


def _moved(release: Release, name: str, change: RankSwap, values: Codes, used: Codes) -> Floats:
    """The probability that each value is published as each label."""
    ranks = _Ranks(release, name, change)
    return ranks.chance(ranks.of(places_of(release.labels[name].domain)[values]), ranks.of(ranks.place[used]))


def _ranked(release: Release, name: str, change: RankSwap, used: Codes, which: Ints, code: Codes) -> Column:
    """A column of many values, whose ranks are taken together in bins."""
    ranks, domain = _Ranks(release, name, change), release.labels[name].domain
    edges = np.linspace(0, ranks.rows, _BINS + 1).astype(np.int64)
    bins = edges[:-1], np.maximum(edges[1:], edges[:-1] + 1)
    cost = np.full((_BINS + 2, _BINS + 2), EXCLUDED)  # beside the bins, what is missing and what fits everything
    cost[:_BINS, :_BINS] = _log(ranks.chance(bins, bins))
    cost[_BINS, _BINS], cost[_BINS + 1], cost[:, _BINS + 1] = 0.0, 0.0, 0.0

    def bin_of(place: Floats, otherwise: Ints) -> Ints:
        first, last = ranks.of(np.nan_to_num(place))
        number = np.clip(np.searchsorted(edges, (first + last) // 2, side="right") - 1, 0, _BINS - 1)
        return np.where(np.isnan(place), otherwise, number)

    labels = release.labels[name]
    absent = (labels.lo == labels.hi) & (labels.lo == domain.known)
    label = bin_of(ranks.place[used], np.where(absent[used], _BINS, _BINS + 1))
    place = np.where(code >= 0, places_of(domain)[code], np.nan)
    return Column(cost, bin_of(place, np.where(code < 0, _BINS + 1, _BINS)), label[which])


# ----- columns of many values, and several columns -------------------------------------------------------------------


def _line(labels: Labels, change: Change | None, used: Codes, which: Ints, code: Codes, error: Error | None) -> Column:
    """A column of many numbers, as distances on a line."""
    domain = labels.domain
    values, value = np.unique(code, return_inverse=True)
    place = np.where(values >= 0, places_of(domain)[values], np.nan)
    number, covers = _numbers(labels)[used], labels.counts[used] > 0
    lo, hi = np.where(covers, labels.lo[used], 0), np.where(covers, labels.hi[used], 0)
    open_to = covers & (hi == (-1 if domain.missing is None else domain.missing))
    everything = (open_to & (lo != hi)) | labels.suppressed[used]
    ends = places_of(domain)
    lower = np.where(np.isnan(number), np.where(covers, ends[lo], labels.low[used]), number)
    upper = np.where(np.isnan(number), np.where(covers, ends[hi], labels.high[used]), number)
    squared, scale = False, 0.0
    spread = 0.0 if error is None else error.spread
    if isinstance(change, Noise):
        squared = change.distribution is Distribution.NORMAL
        variance = change.sd**2 + change.unit**2 / 12 + spread**2 / 3
        scale = math.sqrt(2 * variance) if squared else math.sqrt(variance / 2)
    else:
        reach = spread
        if isinstance(change, Rounding):
            reach += change.base * (1 - _SAME) if change.random else change.base / 2
        lower, upper = lower - reach, upper + reach
        if isinstance(change, Coding):
            coded = np.abs(number - change.published) <= _SAME * max(abs(change.published), 1.0)
            lower = np.where(coded & (not change.above), -np.inf, lower)
            upper = np.where(coded & change.above, np.inf, upper)
            lower = np.where(coded & change.above, np.minimum(lower, change.threshold), lower)
            upper = np.where(coded & (not change.above), np.maximum(upper, change.threshold), upper)
        known = np.concatenate([ends, lower, upper])
        apart = np.diff(np.unique(known[np.isfinite(known)]))
        scale = float(apart.min(initial=1.0)) / EXCLUDED
    lower, upper = np.where(everything, -np.inf, lower), np.where(everything, np.inf, upper)
    nowhere = np.isnan(lower)
    state = np.where(values < 0, UNKNOWN, np.where(np.isnan(place), ABSENT, KNOWN))
    line = Line(
        np.nan_to_num(place),
        state,
        np.where(nowhere, 0.0, lower),
        np.where(nowhere, 0.0, upper),
        nowhere.astype(np.int64),
        (open_to | everything).astype(np.int64),
        scale,
        EXCLUDED,
        squared,
    )
    return Column(line, value.reshape(-1), which)


def _turned(
    release: Release, joint: Correlated, names: Sequence[str], place: Mapping[str, int], patterns: Codes, people: Codes
) -> list[Column] | None:
    """Columns with correlated noise, turned so that the noise is independent; None where something is missing in them."""
    if not names:
        return None
    at = [joint.columns.index(name) for name in names]
    mechanism = release.mechanism
    assert mechanism is not None
    units = [change.unit for name in names if isinstance(change := mechanism.columns[name], Noise)]
    covariance = np.array(joint.covariance)[np.ix_(at, at)] + np.diag(np.square(units)) / 12
    covariance += np.diag(np.diag(covariance)) * _SAME
    x, y = [], []
    for name in names:
        labels = release.labels[name]
        code = people[:, place[name]]
        x.append(np.where(code >= 0, places_of(labels.domain)[code], np.nan))
        y.append(_numbers(labels)[patterns[:, place[name]]])
    persons, records = np.column_stack(x), np.column_stack(y)
    if np.isnan(persons).any() or np.isnan(records).any():
        return None
    root = np.linalg.cholesky(covariance)
    persons, records = (np.linalg.solve(root, points.T).T for points in (persons, records))
    found = []
    for axis in range(len(names)):
        known, label = records[:, axis], np.arange(len(records))
        zeros = np.zeros(len(known), dtype=np.int64)
        line = Line(
            persons[:, axis], np.full(len(persons), KNOWN), known, known, zeros, zeros, math.sqrt(2), EXCLUDED, True
        )
        found.append(Column(line, np.arange(len(persons)), label))
    return found


def _swapped(
    release: Release,
    change: RecordSwap,
    names: Sequence[str],
    place: Mapping[str, int],
    patterns: Codes,
    people: Codes,
) -> Column | None:
    """Columns that were swapped together, as one; None where their combinations are too many for a table. They then count as
    unchanged, and who was swapped is not found."""
    strata = [place[name] for name in change.strata if name in place]
    swapped = [place[name] for name in names]
    value, label = distinct_rows(people[:, swapped]), distinct_rows(patterns[:, [*swapped, *strata]])
    values, labels = int(value.max(initial=-1)) + 1, int(label.max(initial=-1)) + 1
    if values * labels > MOST_OF_A_TABLE:
        return None
    first_value, first_label = np.empty(values, dtype=np.int64), np.empty(labels, dtype=np.int64)
    first_value[value], first_label[label] = np.arange(len(value)), np.arange(len(label))
    same = np.ones((values, labels), dtype=np.bool_)
    block = release.block_of(names[0])
    cells = np.column_stack([block.cell(name) for name in (*names, *(s for s in change.strata if s in place))])
    for name in names:
        code, used = people[first_value, place[name]], patterns[first_label, place[name]]
        grid = np.broadcast_to(used, same.shape).ravel(), np.broadcast_to(code[:, None], same.shape).ravel()
        covered = release.labels[name].covers(grid[0], np.maximum(grid[1], 0)).reshape(same.shape)
        same &= covered | (code < 0)[:, None]
    both = np.vstack([patterns[:, [*swapped, *strata]][first_label], cells]).astype(np.int32)
    known = people[first_value][:, swapped] >= 0
    times = np.ones((values, labels))
    for mask in np.unique(known, axis=0):  # of whom less is known, less can be another's
        within = [*np.flatnonzero(mask), *range(len(swapped), both.shape[1])]
        times[(known == mask).all(axis=1)] = _shares(both[:, within], int(mask.sum()), labels)
    return Column(_log((1 - change.rate) * same + change.rate * times), value.astype(np.int64), label.astype(np.int64))


def _shares(rows: Codes, count: int, some: int) -> Floats:
    """For the first `some` rows, the share of the others with the same first `count` columns among those with the same
    further ones (the stratum)."""
    times = []
    for columns in (rows, rows[:, count:]):
        number = distinct_rows(columns)
        times.append(np.bincount(number[some:], minlength=int(number.max()) + 1)[number[:some]])
    return np.asarray(times[0] / np.maximum(times[1], 1))


def _numbers(labels: Labels) -> Floats:
    """The number that each label is; NaN where it is an interval, missing or suppressed."""
    return np.where((labels.low == labels.high) & ~labels.suppressed, labels.low, np.nan)


def _exact_codes(labels: Labels) -> Floats:
    """The place of each label of an ordinal in its order; NaN where it is no single value."""
    single: Bools = (labels.counts == 1) & (labels.lo < labels.domain.known)
    return np.where(single, labels.lo, np.nan).astype(np.float64)


def _log(chance: Floats) -> Floats:
    """The cost of a probability."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(-np.log(np.minimum(chance, 1.0)), EXCLUDED))
