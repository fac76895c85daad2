"""OpenDP: the synthesizers of a library, MST and AIM with Private-PGM, behind the same class.

The columns are cut as `marginals` cuts them: by what the schema declares, the release saying what is taken as public
beyond that. OpenDP counts single columns with noise, chooses pairs of columns (`algorithm = "mst"`) or any small sets of
them (`aim`), counts these with noise, and fits one graphical model to all counts together, from which rows are drawn.
This keeps more than `marginals` at the same ε, and takes minutes where that takes a second.

The release is (ε, δ)-differentially private for one person more or less: with delta = 0 by ε alone, otherwise by a budget
of zCDP from which (ε, δ) follows (`anonymizers/shared/differential.py`). OpenDP draws its noise from the system's entropy
and takes no seed. So a run cannot be repeated, neither by its secret nor by a seed, and two cells of a comparison with
one seed differ.

Needs OpenDP with Private-PGM (`pip install 'auditor[dp]'`: MIT and Apache licences; jax and polars come with it). Other
libraries were tried: dpmm asks for numpy 1.26 and networkx 2, smartnoise-synth for a part that no longer builds.

Papers: R. McKenna, G. Miklau, D. Sheldon, "Winning the NIST Contest", Journal of Privacy and Confidentiality 2021 (MST);
R. McKenna, B. Mullins, D. Sheldon, G. Miklau, "AIM: An Adaptive and Iterative Mechanism for Differentially Private
Synthetic Data", VLDB 2022.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.differential import Budget
from anonymizers.shared.public_bins import NEIGHBOURS, PublicBins, bounded, taken_as_public
from anonymizers.shared.synthesis import Drawn, Synthesizer
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.progress import Progress
from auditor.model.table import Table

NEEDED = "needs OpenDP with Private-PGM: pip install 'auditor[dp]'"


class Algorithm(StrEnum):
    """Which sets of columns are counted."""

    MST = "mst"
    AIM = "aim"


@dataclass(frozen=True)
class OpenDP(Synthesizer):
    """Draws rows from a graphical model that OpenDP fits to noisy counts."""

    name: ClassVar[str] = "opendp"
    summary: ClassVar[str] = "Synthetic: MST or AIM of the OpenDP library; differentially private (auditor[dp])."
    paper: ClassVar[str] = "McKenna, Miklau & Sheldon 2021; McKenna, Mullins, Sheldon & Miklau 2022"

    epsilon: float = 1.0
    delta: float = 1e-6
    algorithm: Algorithm = Algorithm.MST
    bins: int = 20
    most_rows: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("bins", self.bins, 2)
        at_least("most_rows", self.most_rows, 1)
        Budget(self.epsilon, self.delta)  # its faults

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return str(Budget(self.epsilon, self.delta)), NEIGHBOURS

    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        try:
            opendp, polars = importlib.import_module("opendp.prelude"), importlib.import_module("polars")
            importlib.import_module("mbi")
        except ImportError as error:
            raise UsageError(f"{self.name} {NEEDED}.") from error
        bins = {c: PublicBins(table.domains[c], self.bins) for c in columns}
        some = bounded(table, self.most_rows, self.name, rng)
        known = {c: bins[c].size - (table.domains[c].missing is not None) for c in columns}
        names = {c: f"column{number}" for number, c in enumerate(columns)}
        progress(1, 3, "the model")
        coded = {names[c]: _coded(bins[c].of_code[some.codes[c]], known[c]) for c in columns}
        frame = polars.DataFrame(coded, schema=dict.fromkeys(coded, polars.Int32))
        drawn = self._drawn(opendp, frame, {names[c]: known[c] for c in columns})
        if not len(drawn):
            raise PromiseError(f"{self.name}: by its noisy counts the table has no rows. Raise epsilon, or set rows.")
        progress(2, 3, "drawing")
        found = {c: _places(drawn[names[c]].to_list(), known[c], bins[c].size, rng) for c in columns}
        promises = (*self.promises(), *taken_as_public(bins.values()))
        return {c: bins[c].draw(found[c], rng) for c in columns}, promises

    def _drawn(self, opendp: Any, frame: Any, sizes: Mapping[str, int]) -> Any:
        """The rows that the library draws, given the number of values of each column; null is what is missing, or unknown."""
        opendp.enable_features("contrib")
        budget = Budget(self.epsilon, self.delta)
        loss = {"rho": budget.rho} if self.delta > 0 else {"epsilon": self.epsilon}
        context = opendp.Context.compositor(
            data=frame.lazy(),
            privacy_unit=opendp.unit_of(contributions=self.most_rows or 1),
            privacy_loss=opendp.loss_of(**loss),
        )
        library = opendp.mbi
        if len(sizes) == 1:
            algorithm = library.Fixed(queries=[library.Count(tuple(sizes))])
        else:
            algorithm = library.AIM() if self.algorithm is Algorithm.AIM else library.MST()
        keys = {column: list(range(size)) for column, size in sizes.items()}
        table = context.query(**loss).contingency_table(keys=keys, algorithm=algorithm).release()
        return table.synthesize(self.rows, "sample")


def _coded(bins: Ints, known: int) -> list[int | None]:
    """Bins for the library, to which what is missing is null."""
    return [bin_ if bin_ < known else None for bin_ in bins.tolist()]


def _places(drawn: Sequence[int | None], known: int, size: int, rng: np.random.Generator) -> Ints:
    """Drawn values as bins. Null is the bin for what is missing; where there is none it is noise of the library, and becomes
    the value of another row."""
    found = np.array([known if one is None else one for one in drawn], dtype=np.int64)
    if size > known:
        return found
    there = found[found < known]
    lacks = found >= known
    found[lacks] = rng.choice(there, int(lacks.sum())) if len(there) else 0
    return found
