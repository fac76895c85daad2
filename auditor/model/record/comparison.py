"""What a comparison adds to a run: its cells, and the frontier of risk against utility.

A *cell* is one release to be made and attacked: a method, its settings and a seed. Not every cell becomes a release, so each
has a status with its reason. A *point* is a method with its settings, over the seeds; the frontier are the points that no
other beats. Plain values that travel as JSON, like the rest of the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TIMEOUT, FAILED = "timeout", "failed"  # what may become of a cell, beside `ok` and `not_applicable`
FEW_ATTEMPTS = 30
"""A success of fewer attempts counts only where there is no other: three lucky guesses must not outdo thousands."""
_WHICH = ("statistic", "class")


def which_figure(params: Mapping[str, Any]) -> str | None:
    """What tells a figure from the others of its utility measure: the statistic, or the class attribute; None where there is
    one only."""
    return next((str(params[key]) for key in _WHICH if key in params), None)


@dataclass(frozen=True, slots=True)
class RunCell:
    """One cell. `id` names its file and changes with everything that its result depends on; `params` are the settings that
    were asked for, `name` is what its release is called in `records`, and `record` the file that holds its record alone
    (where its name lacks the seed). `limits` are the seconds and megabytes that a cell had which did not end well.
    `cpu_seconds` is what it took, in the cell's own file only: a combined record is the same whenever it is made."""

    id: str
    name: str
    method: str
    params: Mapping[str, Any]
    seed: int
    status: str = "ok"
    reason: str | None = None
    record: str | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    cpu_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis measures. `figure` is how it is asked for (`linking.success`, `queries.median`), `better` is "lower" or
    "higher", and `excess` says whether the figure is what an attack has over its baseline, the same for all releases. A risk
    is of one `adversary`, and the strongest attack's with one `goal`; `granted` says that the class is taken for known."""

    figure: str
    better: str
    excess: bool = False
    adversary: str | None = None
    goal: str | None = None
    granted: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A method with its settings. Figures are means over `seeds` runs; intervals are over the seeds where there are several,
    else those of the one figure. `attack` is what the risk comes from; `passed` how many of the runs pass the policy.
    `beaten_by` names the point with at most its risk and the best utility, null on the frontier."""

    name: str
    method: str
    params: Mapping[str, Any]
    seeds: int
    risk: float
    utility: float
    risk_low: float | None = None
    risk_high: float | None = None
    utility_low: float | None = None
    utility_high: float | None = None
    attack: str | None = None
    k: int | None = None
    passed: int | None = None
    beaten_by: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What has no place among the points, and why: a cell without a release, or a release without a figure."""

    name: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Risk against utility: the points, those of the frontier first, by risk; then the others, by risk."""

    risk: Axis
    utility: Axis
    points: Sequence[Point]
    left_out: Sequence[LeftOut] = ()
    notes: Sequence[str] = ()
    """What holds for all of it, such as who was held out."""
