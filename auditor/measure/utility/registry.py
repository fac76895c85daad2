"""The list of utility measures: what `auditor list metrics`, `--utility`, the documents and the contract tests read.

To add one: a file with a function from a `Case` to rows of the record and a `Measure` that says what they mean, and a line
here. Measures that are computed together share the function; it runs once, and rows that were not asked for are dropped.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from auditor.measure.utility.case import Case
from auditor.measure.utility.categorical import CATEGORICAL
from auditor.measure.utility.classification import CLASSIFICATION, CLASSIFICATION_WITHIN
from auditor.measure.utility.clusters import INFORMATION_LOSS, SQUARE_ERROR
from auditor.measure.utility.continuous import CONTINUOUS
from auditor.measure.utility.correlation import CORRELATION
from auditor.measure.utility.marginals import MARGINALS
from auditor.measure.utility.measure import Measure
from auditor.measure.utility.probabilistic import PROBABILISTIC
from auditor.measure.utility.propensity import PMSE
from auditor.measure.utility.queries import QUERIES
from auditor.measure.utility.rules import RULES
from auditor.measure.utility.score import SCORE
from auditor.measure.utility.sizes import CLASS_SIZE, DISCERNIBILITY
from auditor.measure.utility.widths import GRANULARITY, GRANULARITY_ARX
from auditor.model.arrays import Codes
from auditor.model.errors import UsageError
from auditor.model.key import Key
from auditor.model.progress import Progress, silent
from auditor.model.record import meaning
from auditor.model.record.record import Risk, Utility
from auditor.model.release import Release
from auditor.model.table import Table

MEASURES: tuple[Measure, ...] = (
    GRANULARITY,
    GRANULARITY_ARX,
    INFORMATION_LOSS,
    DISCERNIBILITY,
    CLASS_SIZE,
    SQUARE_ERROR,
    QUERIES,
    CLASSIFICATION,
    CLASSIFICATION_WITHIN,
    RULES,
    CORRELATION,
    MARGINALS,
    PMSE,
    *CONTINUOUS,
    PROBABILISTIC,
    *CATEGORICAL,
    SCORE,
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
    columns: Sequence[str] | None = None,
    key: Key | None = None,
    risks: Sequence[Risk] = (),
    holdout: Table | None = None,
    progress: Progress = silent,
) -> list[Utility]:
    """The utility figures of a release: all, or those of the named measures, in the order of the list. `fragment` says which
    records are whose (original rows × blocks, -1 for who was left out), `k` is the class size that was asked for, `columns`
    are those that measures of values look at (None: all that are published), `key` is what coded values stand for, `risks`
    what attacks on the release found, `holdout` people of the same population of whom the release was not made."""
    wanted = {measure.name for measure in MEASURES} if names is None else set(find_measures(names))
    case = Case(release, original, fragment, k, seed, columns, key, risks, holdout)
    chosen = dict.fromkeys(measure.compute for measure in MEASURES if measure.name in wanted)
    rows: list[Utility] = []
    for number, compute in enumerate(chosen):
        progress(number, len(chosen), next(m.name for m in MEASURES if m.compute is compute))
        rows += [row for row in compute(case) if row.measure in wanted]
    return rows


def utility_meanings(rows: Sequence[Utility]) -> tuple[meaning.Measure, ...]:
    """What the measures of some rows mean: first the one that reports show where they have room for one only."""
    used = {row.measure for row in rows}
    return tuple(measure.words for measure in dict.fromkeys((QUERIES, *MEASURES)) if measure.name in used)
