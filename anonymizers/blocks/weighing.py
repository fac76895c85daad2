"""What cutting a table into blocks costs: the loss of the release, beside that of the same method without blocks.

The loss is the one that suits the release: information loss where labels are generalised, square error where averages or
centres are published, discernibility (the sum of squared class sizes) where the link between columns is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.measure.utility import utility_rows
from auditor.model.errors import UsageError
from auditor.model.provenance import Provenance
from auditor.model.record.record import OK
from auditor.model.release import Release
from auditor.model.table import Table

LOSSES = ("information_loss", "square_error", "discernibility")
LARGEST = 200_000
"""The most rows that are run without blocks for comparison: beyond that, the run may not fit into memory, or not end."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A loss in blocks and without them."""

    measure: str
    in_blocks: float
    whole: float

    @property
    def share(self) -> float | None:
        """How much more is lost in blocks, as a share of the loss without them; None where that is nothing."""
        return (self.in_blocks - self.whole) / self.whole if self.whole > 0 else None

    def __str__(self) -> str:
        name = self.measure.replace("_", " ")
        more = "" if self.share is None else f": {self.share:+.2%}"
        return f"{name} {self.in_blocks:.6g} in blocks, {self.whole:.6g} without{more}"


def check_comparable(table: Table) -> None:
    """An error where a table is too large to be run without blocks as well."""
    if table.rows > LARGEST:
        raise UsageError(
            f"A table must have at most {LARGEST} rows to be run without blocks for comparison. Got {table.rows}. "
            "Compare on a sample of the table."
        )


def cost_of_blocks(
    table: Table, in_blocks: tuple[Release, Provenance], whole: tuple[Release, Provenance], seed: int
) -> Cost:
    """What blocks cost by the first loss that applies to this kind of release."""
    for measure in LOSSES:
        found = [_loss(table, release, provenance, measure, seed) for release, provenance in (in_blocks, whole)]
        if found[0] is not None and found[1] is not None:
            return Cost(measure, found[0], found[1])
    raise AssertionError("discernibility applies to every release")


def _loss(table: Table, release: Release, provenance: Provenance, measure: str, seed: int) -> float | None:
    """The first figure of a measure; None where it does not apply."""
    row = utility_rows(release, table, provenance.fragment, seed=seed, names=[measure])[0]
    return row.value if row.status == OK else None
