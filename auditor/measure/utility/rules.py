"""`rules`: the association rules that can be mined from the release, held against those of the original.

A rule says that people with one value, or with two values of different columns, have a certain value of another column.
It counts if it holds for at least 5 % of all people (support), for at least 60 % of those that it is about (confidence),
and for 1.2 times as many of them as of all people (lift); a rule about two values must be right more often, by five
points, than those about each alone. Numbers are cut at the original's quartiles; missing values take no part.

- `lost`: the share of the original's rules that the release does not give.
- `invented`: the share of the release's rules that do not hold in the original; 0 if it gives none.

Both need care near the thresholds: a rule of 60.1 % may be lost by a change that no analyst would notice. Rules are mined
from plain values: coded columns are decoded where there is a key, labels that cover several values and separated blocks
are drawn (`worlds`).

Papers: R. Agrawal, R. Srikant, "Fast algorithms for mining association rules", VLDB 1994; R. Bayardo, R. Agrawal, D.
Gunopulos 1999 (improvement). That rules mined from a release are decoded and stay what they were is the claim of P.
Poovammal, M. Ponnavaikko 2009.
"""

from __future__ import annotations

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import ALL, measure, not_applicable
from auditor.measure.utility.worlds import World, original_codes, original_numbers, over_worlds, said, worlds
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.record.record import Utility

SUPPORT, CONFIDENCE, LIFT, GAIN = 0.05, 0.6, 1.2, 0.05
MOST_ITEMS = 60
"""Of more values than this the commonest take part."""
WORLDS = 3
STATISTICS = ("lost", "invented")
_ROUNDING = 1e-9

Rule = tuple[int, int, int]
"""One item (-1: none), another, and what follows from them."""


def rules(case: Case) -> list[Utility]:
    """The shares of rules that are lost and invented."""
    coded, case = case.coded, case.decoded
    reason = case.unmatched
    if not reason and len(case.columns) < 2:
        reason = "it needs two published columns that are in the original"
    if reason:
        return [not_applicable("rules", reason, statistic=name) for name in STATISTICS]
    true = [_original_codes(case, c) for c in case.columns]
    items = frequent(true)
    before = mined(_held(true, items), items[:, 0])
    if not before:
        why = f"the original has no rule with a support of {SUPPORT:g} and a confidence of {CONFIDENCE:g}"
        return [not_applicable("rules", why, statistic=name) for name in STATISTICS]
    drawn = worlds(case, WORLDS)
    shares: dict[str, list[float]] = {name: [] for name in STATISTICS}
    after: set[Rule] = set()
    for world in drawn:
        given = [_world_codes(world, c) for c in case.columns]
        both = np.unique(np.concatenate([items, frequent(given)]), axis=0)
        place = {tuple(item): number for number, item in enumerate(both.tolist())}
        known = {_renamed(rule, [place[tuple(item)] for item in items.tolist()]) for rule in before}
        after = mined(_held(given, both), both[:, 0])
        shares["lost"].append(len(known - after) / len(known))
        shares["invented"].append(len(after - known) / max(len(after), 1))
    params = {**said(case, drawn, case.columns), "support": SUPPORT, "confidence": CONFIDENCE, "lift": LIFT}
    if coded:
        params["decoded"] = list(coded)
    detail = {"rules_original": len(before), "rules_release": len(after)}
    rows = []
    for name in STATISTICS:
        value, low, high = over_worlds(shares[name])
        said_of = {"statistic": name, **params}
        rows.append(Utility("rules", value=value, better="lower", low=low, high=high, params=said_of, detail=detail))
    return rows


def frequent(codes: list[Ints]) -> Ints:
    """The items (column, code) that enough rows have; -1 is no item."""
    found, times = [], []
    for column, of_rows in enumerate(codes):
        count = np.bincount(of_rows[of_rows >= 0])
        enough = np.flatnonzero(count >= SUPPORT * len(of_rows) - _ROUNDING)
        enough = enough[count[enough] > 0]
        found += [(column, int(code)) for code in enough]
        times += count[enough].tolist()
    kept = np.sort(np.argsort(-np.array(times), kind="stable")[:MOST_ITEMS])
    return np.array(found, dtype=np.int64).reshape(-1, 2)[kept]


def mined(held: Bools, column: Ints) -> set[Rule]:
    """The rules of a table; `held` says which items each row has, `column` which column each item is of."""
    rows, count = held.shape
    least = SUPPORT * rows - _ROUNDING
    found: set[Rule] = set()
    if not count:
        return found
    whole = held.astype(np.float64)
    apart = column[:, None] != column[None, :]
    pairs = whole.T @ whole
    alone = np.diag(pairs)
    share = alone / rows
    with np.errstate(invalid="ignore", divide="ignore"):
        single = np.where(alone[:, None] > 0, pairs / alone[:, None], 0.0)
    wanted = np.maximum(CONFIDENCE, LIFT * share) - _ROUNDING
    for one, then in np.argwhere(apart & (pairs >= least) & (single >= wanted)).tolist():
        found.add((-1, one, then))
    for one in range(count):
        here = whole[held[:, one]]
        triples = here.T @ here
        both = pairs[one][:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            sure = np.where(both > 0, triples / both, 0.0)
        better = np.maximum(single[one][None, :], single) + GAIN - _ROUNDING
        fine = (
            apart & apart[one][:, None] & apart[one][None, :] & (triples >= least) & (sure >= wanted) & (sure >= better)
        )
        fine[: one + 1] = False
        found.update((one, other, then) for other, then in np.argwhere(fine).tolist())
    return found


def _renamed(rule: Rule, names: list[int]) -> Rule:
    one, other, then = (-1 if item < 0 else names[item] for item in rule)
    return (-1, other, then) if one < 0 else (min(one, other), max(one, other), then)


def _held(codes: list[Ints], items: Ints) -> Bools:
    """Which items each row has."""
    return np.column_stack(
        [codes[column] == code for column, code in items.tolist()] or [np.zeros((len(codes[0]), 0), bool)]
    )


def _original_codes(case: Case, column: str) -> Ints:
    if column in case.numeric:
        numbers = original_numbers(case, column)
        return _quartiles(numbers, numbers)
    return _known(case, column, original_codes(case, column).astype(np.int64))


def _world_codes(world: World, column: str) -> Ints:
    case = world.case
    if column in case.numeric:
        return _quartiles(world.numbers(column), original_numbers(case, column))
    return _known(case, column, world.codes(column).astype(np.int64))


def _known(case: Case, column: str, codes: Ints) -> Ints:
    return np.where(codes < case.release.labels[column].domain.known, codes, -1)


def _quartiles(numbers: Floats, original: Floats) -> Ints:
    """The quarter of the original that each number is in; -1 if it is missing."""
    known = original[~np.isnan(original)]
    edges = np.unique(np.quantile(known, (0.25, 0.5, 0.75))) if len(known) else np.zeros(0)
    place = np.searchsorted(edges, np.nan_to_num(numbers), side="left")  # an edge belongs to the class below it
    return np.where(np.isnan(numbers), -1, place).astype(np.int64)


RULES = measure(
    "rules",
    "Association rules mined from the release against those of the original: the share lost, and the share invented.",
    "association rules",
    rules,
    ALL,
    "Agrawal & Srikant 1994; Poovammal & Ponnaivaikko 2009",
    best=0,
    worst=1,
    statistic="lost",
)
