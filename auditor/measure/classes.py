"""Class statistics: what a release is, recomputed from what is published and not from what it claims.

A class is a bucket of the release. Sensitive values are counted per class and compared with the whole table (see `counts`
for the conventions on suppressed rows, `diversity` and `divergences` for the formulas).

- k is the size of the smallest class of a one-block release. With several blocks there is none: quasi-identifiers are then
  published in fragments, one per person, which tell people of one class apart.
- The ordered distance is for numeric and ordinal columns, over the distinct values that occur in the release. Missing and
  suppressed values have no place in the order and are left out of both distributions. A label that covers several values
  stands at its middle. A graded number stands at what is published, since that keeps the order; other aliases have no place.
  If no label has a place there is no such distance.
- (ε,m) is for numeric columns. Missing and suppressed values are near nothing and left out, as for the ordered distance. If a
  cell covers several numbers, or hides one behind an alias, it is not known which are near: there is no m.
- If sensitive labels overlap, so that one may hold the value of another, alpha and l are the worst case (see `ambiguity`);
  entropy and recursive l have no answer then. Distances and gains compare what is published.
- The hierarchical distance is for nominal columns with a taxonomy. Missing and suppressed values stand at its root, at
  distance 1 from every other; a set of values stands at its lowest common ancestor.
"""

from __future__ import annotations

import numpy as np

from auditor.measure import ambiguity, divergences, diversity, nearness, words
from auditor.measure.class_risk import THRESHOLD, release_risk, weighted_risk
from auditor.measure.counts import ClassCounts, class_counts, class_sizes
from auditor.measure.distinct import distinct_columns
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import Better
from auditor.model.record.release_facts import ReleaseFacts, SensitiveFacts
from auditor.model.release import Release, Suppression, WithheldCells
from auditor.model.schema import Type

NEAR = 0.05
"""The default ε of (ε,m)-anonymity, as a share of the range of the domain."""


SIZES = (
    words.fact(
        "k",
        "The size of the smallest class: nobody is hidden among fewer people.",
        "the smallest class has {people}",
        label="people in the smallest class",
        better=Better.HIGHER,
    ),
    words.fact(
        "k_joined",
        "The fewest people whose rows all lie in the same classes, where the release shows which rows are one person's.",
        "with all rows of a person together, the smallest class has {people}",
        label="people in the smallest class, a person's rows joined",
        better=Better.HIGHER,
    ),
    words.fact(
        "classes", "How many classes there are.", "there are {value} classes", label="classes", better=Better.HIGHER
    ),
    words.fact(
        "suppressed_rows",
        "How many rows have all their quasi-identifiers suppressed.",
        "{value} rows are suppressed",
        label="suppressed rows",
    ),
    words.fact(
        "suppressed_share",
        "The share of the people whose row is suppressed or left out.",
        "{rate} of the rows are suppressed or left out",
        label="share of suppressed rows",
    ),
    words.fact(
        "identifiers",
        "How many columns that name people are published.",
        "identifier columns that are published: {value}",
        label="identifier columns",
    ),
    words.fact(
        "distinct",
        "How many columns that are no quasi-identifiers have a value of its own (a name, a code, a whole number) in nearly "
        "every row.",
        "columns that tell nearly all rows apart, and are not quasi-identifiers: {value}",
        label="columns that may be identifiers",
    ),
    words.fact(
        "values",
        "How many different values of a sensitive column are published.",
        "{value} different values are published",
        label="different values in the release",
        better=Better.HIGHER,
    ),
)
"""What the sizes of the classes and the published cells say, in words."""


def class_facts(
    release: Release,
    suppression: Suppression = Suppression.EXCLUDED,
    recursive_l: int = 2,
    epsilon: float | None = None,
    threshold: float = THRESHOLD,
    cells: WithheldCells = WithheldCells.WILDCARD,
) -> ReleaseFacts:
    """The facts of a release, with the statistics of its classes and of each published sensitive column. `epsilon` is that
    of (ε,m)-anonymity (by default a twentieth of each column's range); a record whose risk exceeds `threshold` is at risk;
    `cells` says how single suppressed cells count in the risk by sampling weights."""
    sizes = class_sizes(release, suppression)
    size, times = np.unique(sizes, return_counts=True)
    single = len(release.blocks) == 1
    return ReleaseFacts(
        name=release.name,
        kind=str(release.kind),
        rows=release.rows,
        suppressed_rows=release.suppressed_rows,
        left_out_rows=release.left_out,
        suppression=str(suppression),
        classes=len(sizes),
        k=int(sizes.min()) if single and len(sizes) else None,
        class_sizes={str(s): t for s, t in zip(size.tolist(), times.tolist(), strict=True)},
        method=release.method,
        params=dict(release.params),
        promises=tuple(release.promises),
        quasi=release.quasi,
        blocks=tuple(block.columns for block in release.blocks),
        sensitive=tuple(
            sensitive_facts(release, column, suppression, recursive_l, epsilon) for column in release.sensitive
        ),
        risk=release_risk(release, suppression, threshold),
        weighted=weighted_risk(release, suppression, threshold, cells),
        withheld_cells=str(cells),
        distinct=distinct_columns(release),
    )


def sensitive_facts(
    release: Release,
    column: str,
    suppression: Suppression = Suppression.EXCLUDED,
    recursive_l: int = 2,
    epsilon: float | None = None,
) -> SensitiveFacts:
    """The class statistics of one published column, as if it were sensitive."""
    found = class_counts(release, column, suppression)
    counts = found.counts
    reach, m = proximity(release, column, found, epsilon)
    labels = release.labels[column]
    open_ = len(counts.sizes) > 0 and ambiguity.ambiguous(labels, found.label)
    return SensitiveFacts(
        column=column,
        values=len(found.label),
        alpha=_greatest(ambiguity.worst_alphas(labels, found)) if open_ else diversity.alpha(counts),
        l_distinct=int(ambiguity.least_distinct(labels, found).min()) if open_ else diversity.distinct_l(counts),
        l_entropy=None if open_ else diversity.entropy_l(counts),
        l_recursive_c=None if open_ else diversity.recursive_c(counts, recursive_l),
        l_recursive_l=recursive_l,
        t_equal=_greatest(divergences.equal_distance(counts, counts.whole)),
        t_ordered=_greatest(ordered_distances(release, column, found)),
        t_hierarchical=_greatest(hierarchical_distances(release, column, found)),
        beta_basic=diversity.basic_beta(counts),
        beta_enhanced=diversity.enhanced_beta(counts),
        delta_disclosure=diversity.disclosure_delta(counts),
        proximity_m=m,
        proximity_epsilon=reach,
        labels_overlap=open_,
        homogeneity=diversity.homogeneity(counts),
    )


def proximity(
    release: Release, column: str, found: ClassCounts, epsilon: float | None = None
) -> tuple[float | None, float | None]:
    """The ε, and the largest m for which the classes are (ε,m)-anonymous. None for columns that are not numeric, and no m if
    cells are not single numbers, or there is none."""
    labels = release.labels[column]
    reach = proximity_reach(labels, epsilon)
    numbered = None if reach is None else single_numbers(labels, found.label)
    if reach is None or numbered is None:
        return reach, None
    order, number = numbered
    counts = found.counts.arranged(order)
    return reach, nearness.least_m(counts, number, reach) if len(counts.row) else None


def proximity_reach(labels: Labels, epsilon: float | None = None) -> float | None:
    """The ε of (ε,m)-anonymity for a column; None for columns that are not numeric."""
    if labels.domain.column.type is not Type.NUMERIC or labels.domain.numbers is None:
        return None
    return NEAR * labels.domain.width if epsilon is None else epsilon


def single_numbers(labels: Labels, chosen: Ints) -> tuple[Ints, Floats] | None:
    """The chosen labels that denote a number, from low to high (as places in `chosen`), and the numbers. None if there are
    none, and if some cover several numbers or hide one."""
    said = np.flatnonzero(~_unsaid(labels, chosen))
    low, high = labels.low[chosen[said]], labels.high[chosen[said]]
    if not len(said) or (low != high).any() or labels.is_alias[chosen[said]].any():
        return None
    order = np.argsort(low, kind="stable")
    return said[order], low[order]


def ordered_distances(release: Release, column: str, found: ClassCounts) -> Floats | None:
    """The ordered earth mover's distance of each class; None for columns without an order."""
    order = in_order(release.labels[column], found.label)
    if order is None:
        return None
    counts = found.counts.arranged(order)
    return divergences.ordered_distance(counts, counts.whole)


def in_order(labels: Labels, chosen: Ints) -> Ints | None:
    """The chosen labels that have a place in the order of the column, in that order (as places in `chosen`). None if the
    column has no order or no label has a place in it."""
    if labels.domain.column.type is Type.NOMINAL:
        return None
    place = _places_in_order(labels, chosen)
    placed = np.flatnonzero(~np.isnan(place))
    return placed[np.lexsort((labels.hi[chosen[placed]], place[placed]))] if len(placed) else None


def hierarchical_distances(release: Release, column: str, found: ClassCounts) -> Floats | None:
    """The hierarchical earth mover's distance of each class; None for columns that are not nominal with a taxonomy."""
    labels = release.labels[column]
    nodes = taxonomy_nodes(labels, found.label)
    if nodes is None or labels.domain.taxonomy is None:
        return None
    return divergences.hierarchical_distance(found.counts, found.counts.whole, labels.domain.taxonomy, nodes)


def taxonomy_nodes(labels: Labels, chosen: Ints) -> Ints | None:
    """The node of the taxonomy for each chosen label; None for columns that are not nominal with a taxonomy."""
    taxonomy = labels.domain.taxonomy
    if taxonomy is None or labels.domain.column.type is not Type.NOMINAL:
        return None
    lo, hi = labels.lo[chosen].astype(np.int64), labels.hi[chosen].astype(np.int64)
    inside = hi < len(taxonomy.leaf_node)  # the code after the leaves is the missing value
    nodes = np.zeros(len(lo), dtype=np.int64)
    nodes[inside] = taxonomy.common_ancestor(lo[inside], hi[inside])
    return nodes


def _places_in_order(labels: Labels, chosen: Ints) -> Floats:
    """The place of each chosen label in the order of the column; NaN if it has none."""
    if labels.domain.numbers is not None:
        place = (labels.low[chosen] + labels.high[chosen]) / 2
    else:
        place = (labels.lo[chosen].astype(np.float64) + labels.hi[chosen]) / 2
    hidden = labels.is_alias[chosen] & (labels.domain.numbers is None)
    return np.where(hidden | _unsaid(labels, chosen), np.nan, place)


def _unsaid(labels: Labels, chosen: Ints) -> Bools:
    """Which chosen labels tell nothing of the value: suppressed and missing ones, and labels for everything."""
    size = labels.domain.size
    whole = (labels.counts[chosen] == size) & (size > 1) & ~labels.is_alias[chosen]
    unsaid: Bools = labels.suppressed[chosen] | whole
    if labels.domain.missing is not None:
        unsaid = unsaid | (labels.hi[chosen] == labels.domain.missing)  # no alias covers it
    return unsaid


def _greatest(distances: Floats | None) -> float | None:
    return None if distances is None or not len(distances) else float(distances.max())
