"""What clusters cost: `information_loss` of their labels, `square_error` of their values around the centroids.

- `information_loss`: Σ over classes e of |e|·(Σ (max - min)/|N| + Σ H(Λ(∪C))/H(T)), see `auditor/measure/clustering.py`;
  `total`, and `normalised` per person and quasi-identifier, from 0 to 1 (NCP, GCP). A person who was left out loses
  everything.
- `square_error`: `total` is E = Σ over clusters of Σ |x - m|² over all published columns, scaled to 0..1, with m the
  centroid of the cluster in all of them: how unlike the people of a class are, whatever is published of them. `percent`
  is 100·SSE/SST over the numeric quasi-identifiers (or those chosen), standardised, where m is what is published, or the
  mean of the class if that is not a number (`auditor/measure/microaggregation.py`). It keeps to the columns that were
  grouped: others are published as they are, and their share of the spread would dilute it.

Papers: R. El-Rashidy et al. 2011, eq. 4 (their x and m have all attributes); J.-W. Byun, A. Kamra, E. Bertino, N. Li,
DASFAA 2007; J. Domingo-Ferrer, J. M. Mateo-Sanz, IEEE TKDE 2002.

A class is what shares all quasi-identifier labels. People who were left out, or whose quasi-identifiers were all
suppressed, make one class.
"""

from __future__ import annotations

import numpy as np

from auditor.measure.clustering import information_loss as loss_of_labels
from auditor.measure.clustering import square_error as error_of_clusters
from auditor.measure.microaggregation import variance_lost
from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import ONE_BLOCK, WHO, measure, not_applicable
from auditor.measure.utility.widths import no_widths
from auditor.measure.utility.worlds import middles, original_numbers
from auditor.model.arrays import Floats, Ints
from auditor.model.record.record import OK, Utility

_NOTHING = 1e-20


def information_loss(case: Case) -> list[Utility]:
    """The total information loss of the labels, and the same per person and quasi-identifier."""
    reason = no_widths(case)
    found = not_applicable("information_loss", reason) if reason else loss_of_labels(case.release)
    if found.status != OK:
        return [
            not_applicable("information_loss", found.reason, statistic=statistic)
            for statistic in ("total", "normalised")
        ]
    left_out = case.release.left_out
    n = case.release.rows + left_out
    lost = {column: float(part) + left_out for column, part in found.detail["columns"].items()}
    values = {"total": sum(lost.values()), "normalised": sum(lost.values()) / (n * len(lost))}
    detail = {"columns": {column: part / n for column, part in lost.items()}}
    params = {"n": n, "left_out": left_out} if left_out else {"n": n}
    return [
        Utility(
            "information_loss", value=value, better="lower", params={"statistic": statistic, **params}, detail=detail
        )
        for statistic, value in values.items()
    ]


def square_error(case: Case) -> list[Utility]:
    """The square error of the classes, and the share of the numbers' spread that is lost."""
    reason = case.nobodys
    if len(case.release.blocks) > 1:
        reason = "the release has several blocks: its classes are published value by value and have no centroids"
    columns = list(case.columns)
    if reason:
        return [not_applicable("square_error", reason, statistic=statistic) for statistic in ("total", "percent")]
    assert case.original is not None
    group, table = _classes(case), case.original.take(case.people.row)
    params = {"columns": columns, "n": table.rows}
    total = error_of_clusters(table, columns, group)
    total = total if total > _NOTHING * table.rows else 0.0  # means of equal numbers may be off by a last bit
    rows = [Utility("square_error", value=total, better="lower", params={"statistic": "total", **params})]
    numeric = [c for c in case.numeric if case.chosen is not None or c in case.release.quasi]
    lost = float("nan")
    if numeric:
        original = np.column_stack([original_numbers(case, c) for c in numeric])
        lost = variance_lost(original, np.column_stack([_centres(case, c, group) for c in numeric]))
    if np.isnan(lost):
        kind = "quasi-identifier" if case.chosen is None else "chosen column"
        why = f"no numeric {kind} has any spread" if numeric else f"no {kind} is numeric"
        return [*rows, not_applicable("square_error", why, statistic="percent")]
    params = {**params, "columns": numeric}
    return [*rows, Utility("square_error", value=lost, better="lower", params={"statistic": "percent", **params})]


def _classes(case: Case) -> Ints:
    """The class of each person, in the order of `Case.people`."""
    people, release = case.people, case.release
    bucket = release.blocks[people.anchor].bucket[people.own].astype(np.int64)
    group = np.full(len(people.row), -1, dtype=np.int64)
    group[: people.inside] = np.where(release.suppressed[bucket], -1, bucket)
    return group


def _centres(case: Case, column: str, group: Ints) -> Floats:
    """The number that stands for each person's: the published one, or the mean of the class if the label is not a number."""
    people, labels = case.people, case.release.labels[column]
    label = case.release.block_of(column).cell(column)[people.own]
    number = (labels.counts <= 1) & (labels.low == labels.high)
    number[list(labels.aliases)] = False
    true = original_numbers(case, column)
    which = np.unique(group, return_inverse=True)[1]
    known = np.bincount(which, weights=~np.isnan(true))
    means = np.bincount(which, weights=np.nan_to_num(true)) / np.maximum(known, 1)
    centre = means[which]
    plain = np.concatenate([number[label], np.zeros(len(true) - people.inside, dtype=np.bool_)])
    centre[plain] = middles(labels)[label[number[label]]]
    return centre


INFORMATION_LOSS = measure(
    "information_loss",
    "Width over range, or height of the covering node over that of the taxonomy: total, and per person and column.",
    "information loss",
    information_loss,
    ONE_BLOCK,
    "Byun, Kamra, Bertino & Li 2007",
    best=0,
    statistic="normalised",
)
SQUARE_ERROR = measure(
    "square_error",
    "Squared distance of values to the centroid of their class: total, and as a percentage of the numbers' spread.",
    "square error",
    square_error,
    f"releases of one block; {WHO}",
    "Domingo-Ferrer & Mateo-Sanz 2002",
    best=0,
    statistic="percent",
)
