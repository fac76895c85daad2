"""A tiny mechanism that keeps its epsilon, unless its noise is made smaller: a noisy histogram.

As a program (`SCRIPT`) and in this process (`NoisyCounts`). Every combination of values that the columns have gets its count
and Laplace noise of scale 1/epsilon; what is above zero, rounded, is published as so many rows. Who is added or removed
changes one count by one, and rounding costs nothing, so that it keeps epsilon as long as the values of columns are public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, published_columns
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish_synthetic
from auditor.model.release import Release
from auditor.model.table import Table

SCRIPT = """\
import csv, itertools, random, sys

source, target, seed, epsilon = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
draw = random.Random(seed)
header, *rows = csv.reader(open(source))
counts = dict.fromkeys(itertools.product(*[sorted(set(column)) for column in zip(*rows)]), 0)
for row in rows:
    counts[tuple(row)] += 1
with open(target, "w") as file:
    writer = csv.writer(file)
    writer.writerow(header)
    for values, count in counts.items():
        noise = draw.expovariate(epsilon) - draw.expovariate(epsilon)
        writer.writerows([values] * max(round(count + noise), 0))
"""
"""The mechanism as a program: `SCRIPT {in} {out} {seed} EPSILON`."""


@dataclass(frozen=True)
class NoisyCounts(Anonymizer):
    """The mechanism in this process. `less_noise` divides the noise, and with it what is promised."""

    name: ClassVar[str] = "noisy-counts"
    summary: ClassVar[str] = "Counts of all combinations of values with Laplace noise."
    paper: ClassVar[str] = "Dwork et al. 2006"

    epsilon: float = 1.0
    less_noise: float = 1.0

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"epsilon = {self.epsilon:g}",)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        columns = published_columns(table)
        sizes = [table.domains[c].size for c in columns]
        place = np.ravel_multi_index([table.codes[c] for c in columns], sizes)
        counts = np.bincount(place, minlength=int(np.prod(sizes)))
        noisy = counts + rng.laplace(scale=1 / (self.epsilon * self.less_noise), size=len(counts))
        rows = np.repeat(np.arange(len(counts)), np.maximum(np.rint(noisy), 0).astype(np.int64))
        codes = np.unravel_index(rows, sizes)
        cells = {c: code.astype(np.int32) for c, code in zip(columns, codes, strict=True)}
        labels = {c: Labels.exact(table.domains[c]) for c in columns}
        everybody = np.ones(table.rows, dtype=np.bool_)
        return publish_synthetic(table.schema, labels, cells, everybody, rng, self.title, self.name)
