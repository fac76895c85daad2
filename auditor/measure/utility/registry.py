"""The list of utility measures: what `auditor list metrics`, `--utility`, the documents and the contract tests read.

To add one: a function from a `Case` to rows of the record in a file of its own, and an entry here. Measures that are
computed together share the function; it runs once, and rows that were not asked for are dropped.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from auditor.measure.utility.case import Case
from auditor.measure.utility.categorical import distance, entropy, tables
from auditor.measure.utility.classification import classification, classification_within
from auditor.measure.utility.clusters import information_loss, square_error
from auditor.measure.utility.continuous import changes
from auditor.measure.utility.correlation import correlation
from auditor.measure.utility.propensity import pmse
from auditor.measure.utility.queries import queries
from auditor.measure.utility.sizes import class_size, discernibility
from auditor.measure.utility.widths import granularity, granularity_arx
from auditor.model.arrays import Codes
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.record.record import Utility
from auditor.model.release import Release
from auditor.model.table import Table

HIGHER, LOWER = "higher", "lower"


@dataclass(frozen=True, slots=True)
class Measure:
    """A utility measure: what it says, which way is better, the best and the worst value it can have (None: no bound), the
    releases it applies to, in words, and its source."""

    name: str
    what: str
    better: str
    best: float | None
    worst: float | None
    applies: str
    paper: str
    compute: Callable[[Case], list[Utility]]

    def explanation(self) -> str:
        """What the measure means, where it applies, and how its file says it is computed."""
        said = [f"{self.better} is better"]
        said += [f"{word} {end:g}" for word, end in (("best", self.best), ("worst", self.worst)) if end is not None]
        how = (sys.modules[self.compute.__module__].__doc__ or "").strip()
        return f"{self.what}\n{', '.join(said).capitalize()}.\n\nApplies to: {self.applies}.\nSource: {self.paper}\n\n{how}"


_ONE_BLOCK = "releases of one block whose labels cover their people (generalised ones)"
_NUMBERS = "every kind of release with numeric columns; needs the original and who is who"
_CATEGORIES = "every kind of release with nominal or ordinal columns; needs the original and who is who"
_ALL = "every kind of release; needs the original and who is who"
_ILS = "Domingo-Ferrer & Torra 2005"
_TABLES = "Domingo-Ferrer & Torra 2001, 2005"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "granularity",
        "1 - mean over cells of (values covered - 1)/(domain - 1), or width over range for numbers.",
        HIGHER,
        1,
        0,
        _ONE_BLOCK,
        "Iyengar 2002",
        granularity,
    ),
    Measure(
        "granularity_arx",
        "The granularity per column, weighted by 1 - 1/domain size, which is what ARX prints.",
        HIGHER,
        1,
        0,
        _ONE_BLOCK,
        "Iyengar 2002; ARX",
        granularity_arx,
    ),
    Measure(
        "information_loss",
        "Width over range, or height of the covering node over that of the taxonomy: total, and per person and column.",
        LOWER,
        0,
        None,
        _ONE_BLOCK,
        "Byun, Kamra, Bertino & Li 2007",
        information_loss,
    ),
    Measure(
        "discernibility",
        "Sum of squared class sizes, and n for everybody in a class below k, suppressed or left out.",
        LOWER,
        None,
        None,
        "every kind of release; buckets are classes",
        "Bayardo & Agrawal 2005",
        discernibility,
    ),
    Measure(
        "class_size",
        "People per class over the k that was asked for.",
        LOWER,
        None,
        None,
        "every kind of release for which a k was asked",
        "LeFevre, DeWitt & Ramakrishnan 2006",
        class_size,
    ),
    Measure(
        "square_error",
        "Squared distance of values to the centroid of their class: total, and as a percentage of the numbers' spread.",
        LOWER,
        0,
        None,
        "releases of one block; needs the original and who is who",
        "Domingo-Ferrer & Mateo-Sanz 2002",
        square_error,
    ),
    Measure(
        "queries",
        "Relative error of random COUNT queries on the release: median and 90th percentile.",
        LOWER,
        0,
        None,
        "every kind of release; needs the original",
        "Xiao & Tao 2006",
        queries,
    ),
    Measure(
        "classification",
        "Accuracy on held-out original rows of a decision tree trained on the release, for each class attribute.",
        HIGHER,
        None,
        None,
        _ALL,
        "Iyengar 2002",
        classification,
    ),
    Measure(
        "classification_within",
        "Cross-validated accuracy of a decision tree inside the release, labels as published, for each class attribute.",
        HIGHER,
        None,
        None,
        "every kind of release with a column published value by value; needs the original and who is who",
        "Poovammal & Ponnaivaikko 2009, Table V",
        classification_within,
    ),
    Measure(
        "correlation",
        "Mean absolute change of the association of pairs of columns (Pearson, φ², correlation ratio).",
        LOWER,
        0,
        None,
        _ALL,
        "Li, Li, Zhang & Molloy 2012",
        correlation,
    ),
    Measure(
        "pmse",
        "Whether a decision tree can tell release from original: mean square of its propensities' distance from chance.",
        LOWER,
        0,
        0.25,
        _ALL,
        "Snoke, Raab, Nowok, Dibben & Slavkovic 2018",
        pmse,
    ),
    Measure(
        "IL1",
        "Mean relative change of numbers: |x - x'|/|x|; people whose number is 0 are left out.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "IL1s",
        "Mean change of numbers over √2 standard deviations.",
        LOWER,
        0,
        None,
        _NUMBERS,
        "Yancey, Winkler & Creecy 2002",
        changes,
    ),
    Measure(
        "IL2",
        "Mean relative change of the means of numeric columns.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "IL3",
        "Mean relative change of their variances.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "IL4",
        "Mean relative change of their covariances.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "IL5",
        "Mean relative change of their correlations.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "IL6",
        "100 times the mean of IL1 to IL5.",
        LOWER,
        0,
        None,
        _NUMBERS,
        _ILS,
        changes,
    ),
    Measure(
        "Dist",
        "Mean distance of true and published categorical values, from 0 to 1.",
        LOWER,
        0,
        1,
        _CATEGORIES,
        _TABLES,
        distance,
    ),
    Measure(
        "CTBIL'",
        "Relative change of the frequencies of all contingency tables of one or two categorical columns, summed over cells.",
        LOWER,
        0,
        None,
        _CATEGORIES,
        _TABLES,
        tables,
    ),
    Measure(
        "ACTBIL'",
        "CTBIL' per cell of these tables.",
        LOWER,
        0,
        None,
        _CATEGORIES,
        _TABLES,
        tables,
    ),
    Measure(
        "EBIL",
        "What is not known of categorical values once their labels are: conditional entropy in bits, summed over people.",
        LOWER,
        0,
        None,
        _CATEGORIES,
        _TABLES,
        entropy,
    ),
)

NONE = "none"
"""The word for no measure at all, where names are given."""


def find_measures(names: Sequence[str]) -> tuple[str, ...]:
    """The names of measures as they are listed, from names in any case and without their prime; an error names the first
    that is unknown."""
    known = {_plain(measure.name): measure.name for measure in MEASURES}
    if [_plain(name) for name in names] == [NONE]:
        return ()
    for name in names:
        if _plain(name) not in known:
            near = difflib.get_close_matches(_plain(name), known, n=1)
            hint = (
                f"Did you mean {known[near[0]]!r}?" if near else f"There are: {', '.join(known.values())}; or {NONE}."
            )
            raise UsageError(f"There is no utility measure {name!r}. {hint}")
    return tuple(dict.fromkeys(known[_plain(name)] for name in names))


def _plain(name: str) -> str:
    return name.strip().casefold().removesuffix("'").replace("-", "_")


def utility_rows(
    release: Release,
    original: Table | None = None,
    fragment: Codes | None = None,
    *,
    k: int | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
    progress: Progress = silent,
) -> list[Utility]:
    """The utility figures of a release: all, or those of the named measures, in the order of the list. `fragment` says which
    records are whose (original rows × blocks, -1 for who was left out), `k` is the class size that was asked for."""
    wanted = {measure.name for measure in MEASURES} if names is None else set(find_measures(names))
    case = Case(release, original, fragment, k, seed)
    chosen = dict.fromkeys(measure.compute for measure in MEASURES if measure.name in wanted)
    rows: list[Utility] = []
    for number, compute in enumerate(chosen):
        progress(number, len(chosen), next(m.name for m in MEASURES if m.compute is compute))
        rows += [row for row in compute(case) if row.measure in wanted]
    return rows
