"""`pmse`: can a classifier tell the release from the original?

People of the original and records of the release are mixed, a decision tree learns which is which, and

    pMSE = mean over all of (p - c)²

where p is the tree's probability that a row comes from the release and c the share of rows that do. It is 0 if the two cannot
be told apart and c(1 - c), about 0.25, if they always can. A tree that looks for differences also finds some by chance:
`detail.null` is the mean over trees trained on shuffled sources, `detail.ratio` the figure over it.

Paper: J. Snoke, G. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific utility measures for synthetic data", JRSS
A 2018 (with CART; their null is another synthesis, ours a permutation). Made for synthetic and perturbed data; for other
releases the records are drawn (`worlds`).
"""

from __future__ import annotations

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import ALL, measure, not_applicable
from auditor.measure.utility.trees import Coder, Features, Tree, by_content
from auditor.measure.utility.worlds import over_worlds, said, worlds
from auditor.model.arrays import Bools
from auditor.model.record.record import Utility

MOST_ROWS = 5_000
WORLDS = 3
NULLS = 3


def pmse(case: Case) -> list[Utility]:
    """The mean square of the propensities' distance from chance."""
    if case.unmatched:
        return [not_applicable("pmse", case.unmatched)]
    people, rng = case.people, case.rng("pmse")
    drawn = worlds(case, WORLDS)
    coder = Coder(case, by_content(case), drawn[0])
    original, everything = coder.original(), np.arange(len(case.columns))
    found: list[float] = []
    null: list[float] = []
    rows = 0
    for world in drawn:
        everybody = case.shuffled(rng)
        chosen = everybody[:MOST_ROWS]
        inside = chosen[chosen < people.inside]
        if case.release.synthetic:  # as many of both, whatever the number of rows
            chosen = everybody[: min(MOST_ROWS, people.inside)]
            inside = rng.permutation(people.inside)[: len(chosen)]
        elif not len(inside):
            inside = everybody[everybody < people.inside][:MOST_ROWS]
        x = original.take(chosen, everything).beside(coder.world(world).take(inside, everything))
        rows = len(x.codes)
        source = np.arange(rows) >= len(chosen)
        found.append(propensity_error(x, source))
        if len(null) < NULLS:
            null += [propensity_error(x, rng.permutation(source)) for _ in range(NULLS // len(drawn))]
    value, low, high = over_worlds(found)
    expected = float(np.mean(null))
    detail = {"null": expected, "ratio": value / expected if expected > 0 else None}
    params = {**said(case, drawn, case.columns), "rows": rows}
    return [Utility("pmse", value=value, better="lower", low=low, high=high, params=params, detail=detail)]


def propensity_error(x: Features, source: Bools) -> float:
    """pMSE of rows and their sources, by a tree trained on them."""
    propensity = Tree(x, source.astype(np.int64)).chances(x, 1)
    return float(((propensity - source.mean()) ** 2).mean())


PMSE = measure(
    "pmse",
    "Whether a decision tree can tell release from original: mean square of its propensities' distance from chance.",
    "propensity error (pMSE)",
    pmse,
    ALL,
    "Snoke, Raab, Nowok, Dibben & Slavkovic 2018",
    best=0,
    worst=0.25,
)
