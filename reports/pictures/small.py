"""The small pictures of a release, drawn once for the page and for files: class sizes, distributions over people, the
membership curve, calibration, and values before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.model.record.record import AuditRecord
from reports.pictures import charts
from reports.pictures.charts import Axes
from reports.pictures.pictures import before_and_after, calibrations, class_sizes, histograms, roc

_OVERCONFIDENT = (
    "On the dashed diagonal claims are as often right as they are said to be; below it they are overconfident."
)


@dataclass(frozen=True, slots=True)
class Small:
    """A picture: its kind (fit for an id and a file's name), its title, and the drawing."""

    kind: str
    title: str
    drawing: str


def small_pictures(record: AuditRecord, ending: str, width: int = 420, side: int = 300) -> Iterator[Small]:
    """The small pictures of a release. `ending` makes the ids of their drawings unique in a page, `width` is that of bars,
    `side` that of squares."""
    sizes = class_sizes(record)
    if sizes is not None:
        axes = Axes(sizes.across, sizes.unit)
        drawing = charts.bars(sizes.names, sizes.counts, axes, f"sizes{ending}", width=width)
        yield Small("class-sizes", sizes.title, drawing)
    for i, found in enumerate(histograms(record)):
        axes, name = Axes(found.across, found.unit), f"histogram{ending}-{i}"
        drawing = charts.bars(found.names, found.counts, axes, name, found.others, width=width)
        yield Small(f"distribution-{found.title.partition(':')[0]}", found.title, drawing)
    curve = roc(record)
    if curve is not None:
        axes = Axes("outsiders called members", "members recognised")
        title = "Membership: members recognised against outsiders called members in error"
        drawing = charts.curve(*curve, axes, f"roc{ending}", "The dashed diagonal is chance.", side)
        yield Small("membership-curve", title, drawing)
    for i, one in enumerate(calibrations(record)):
        axes = Axes("confidence that claims are made with", "share of claims that are right")
        drawing = charts.curve(
            one.expected,
            one.realised,
            axes,
            f"calibration{ending}-{i}",
            _OVERCONFIDENT,
            side,
            True,
            "as often right as said",
        )
        yield Small(f"calibration-{one.title.partition(':')[0]}", one.title, drawing)
    for i, found in enumerate(before_and_after(record)):
        axes, name = Axes(found.across, found.unit), f"shares{ending}-{i}"
        drawing = charts.bars(found.names, found.counts, axes, name, found.others, width, found.who)
        yield Small(f"values-{i + 1}", found.title, drawing)
