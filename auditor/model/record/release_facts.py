"""Facts of a release: what it is, and what its classes show by themselves. All are recomputed from what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SensitiveFacts:
    """Class statistics of one sensitive column, recomputed from what is published; null where one does not apply.
    What each means is declared where it is computed (`auditor/measure/statistics.py` lists them)."""

    column: str
    values: int
    alpha: float | None = None
    l_distinct: int | None = None
    l_entropy: float | None = None
    l_recursive_c: float | None = None
    l_recursive_l: int | None = None
    t_equal: float | None = None
    t_ordered: float | None = None
    t_hierarchical: float | None = None
    beta_basic: float | None = None
    beta_enhanced: float | None = None
    delta_disclosure: float | None = None
    proximity_m: float | None = None
    proximity_epsilon: float | None = None
    """The ε of `proximity_m`."""
    labels_overlap: bool = False
    """Whether one label may hold the value of another: alpha and l are then the worst that is possible."""
    homogeneity: float | None = None


@dataclass(frozen=True, slots=True)
class ClassRisk:
    """What class sizes alone say about finding records: one over the size of the class, over all `records` that count.
    `at_risk` of them have more than `threshold`; `sample_uniques` are alone in their class. `marketer` is for a population of
    nobody but the people in the release: the most that a marketer reaches. In a class a suppressed cell is a value of its
    own. `wildcard_…` are the prosecutor's figures, and the records that are alone, where it fits any value; null where they
    would take too long."""

    records: int
    prosecutor_max: float
    prosecutor_mean: float
    prosecutor_min: float
    at_risk: int
    at_risk_share: float
    threshold: float
    marketer: float
    sample_uniques: int
    sample_unique_share: float
    wildcard_max: float | None = None
    wildcard_mean: float | None = None
    wildcard_min: float | None = None
    wildcard_uniques: int | None = None


@dataclass(frozen=True, slots=True)
class WeightedRisk:
    """The individual risk in a sample with published weights (`column`): its maximum and mean over records, how many records
    a person who tries all would get right (`reidentified`), and how many have more than `threshold`. The records stand for
    `people`. A single suppressed cell counts as `ReleaseFacts.withheld_cells` says. The figures are null where `reason` says
    why."""

    column: str
    threshold: float
    people: float | None = None
    max: float | None = None
    mean: float | None = None
    reidentified: float | None = None
    at_risk: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterRisk:
    """What a population of `people` says about finding records. Of a class of f records, F people of the population fit it.
    The journalist's risk of a record is 1/F. Its mean is the greater of two: over records, Σ f/F divided by the records; over
    people, the number of classes divided by ΣF. The `marketer`'s is the first. `at_risk` records have more than `threshold`.
    In `short` classes fewer people fit than there are records: the list is not complete, and F counts as f. The figures are
    null where `reason` says why."""

    people: int
    threshold: float
    journalist_max: float | None = None
    journalist_mean: float | None = None
    marketer: float | None = None
    at_risk: int | None = None
    at_risk_share: float | None = None
    short: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DistinctColumn:
    """A published column whose values tell nearly all rows apart: `share` of its cells that hold something have a value that
    no other row has the like of twice (distinct values over cells). `identifying` is true where the values are names, codes
    or whole numbers and the column is no quasi-identifier: it may be an identifier under another role."""

    column: str
    role: str
    share: float
    identifying: bool


@dataclass(frozen=True, slots=True)
class FakeTuples:
    """How many combinations of quasi-identifiers match a class and are nobody's (`count`), beside the `people` ones that
    somebody has. `low` and `high` are the ends of the 95 % interval where the count is estimated, null where it is exact."""

    count: int
    people: int
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class ChoiceFacts:
    """How many people let so much of their value be published: `choice` 1 the value, 2 its group, 3 nothing of it. `kept` is,
    by column, the share of the uncertainty about a value that its published form takes away."""

    choice: int
    people: int
    kept: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What the release is, and its class statistics."""

    name: str
    kind: str
    rows: int
    suppressed_rows: int
    suppression: str
    classes: int
    k: int | None
    class_sizes: Mapping[str, int]
    """How many classes there are of each size."""
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    promises: Sequence[str] = ()
    quasi: Sequence[str] = ()
    blocks: Sequence[Sequence[str]] = ()
    sensitive: Sequence[SensitiveFacts] = ()
    identifiers: Sequence[str] = ()
    """Identifying columns that stand in the file: nobody is protected then."""
    left_out_rows: int = 0
    """People of the original who were left out."""
    risk: ClassRisk | None = None
    """Null for a release of several blocks."""
    weighted: WeightedRisk | None = None
    """Null where no weights are published."""
    register: RegisterRisk | None = None
    """Null where no population was given."""
    withheld_cells: str = "own"
    """How single suppressed cells count in `weighted` and in the attacks uniqueness and special-uniques: `wildcard` (they fit
    any value) or `own` (a value of their own). In k, the classes and their statistics they are values of their own."""
    fit_one: int | None = None
    """How many people fit exactly one record by their own quasi-identifiers. Null where no single cell is suppressed, without
    the original, and for a release of several blocks."""
    distinct: Sequence[DistinctColumn] = ()
    """Published columns, whatever their role, in which nearly every row has a value of its own."""
    people: int | None = None
    """How many people the rows are of, where the schema has a column with role person. Classes, and all figures but rows,
    then count people. Null where each row counts as a person."""
    k_joined: int | None = None
    """The fewest people whose rows all lie in the same classes, where the release shows whose rows are whose. Null where
    it does not, and where each person has one row."""
    fakes: FakeTuples | None = None
    """The slicing paper's count of fake tuples. Null for a release of one block or of generalised labels, and without the
    original."""
    choices: Sequence[ChoiceFacts] = ()
    """What people chose, where they could; the figures of attacks have their parts by choice in `detail.by_choice`."""

    @property
    def largest_class(self) -> int | None:
        """The size of the largest class; null where there is none."""
        return max(
            (int(size) for size, classes in self.class_sizes.items() if size.isdigit() and classes), default=None
        )

    @property
    def alone(self) -> int:
        """How many people are alone in their class."""
        return self.class_sizes.get("1", 0)
