"""The pictures of a report as things of their own: SVG, PDF and PNG files, and in a notebook.

The drawings are those of the report (`charts`, `lines`), in their wide form. In a report the style sheet of the page
colours them; here each carries the light colours of the same style sheet, with the variables filled in, a white ground,
and its title, so that it stands for itself in any document: every release is drawn, by its full name. PNG needs a library
(resvg, the extra `plots`), PDF another (Typst, the extra `pdf`), and both a font of the system; SVG needs nothing.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from auditor.model.errors import UsageError
from auditor.model.record.record import AuditRecord, RunRecord
from reports.pictures import charts, svg
from reports.pictures.charts import Axes
from reports.pictures.detailed import detailed
from reports.pictures.lines import lines
from reports.pictures.pictures import frontier, panels
from reports.pictures.points import numbers
from reports.pictures.small import small_pictures
from reports.tables.search import searches
from reports.tables.sweeps import sweeps
from reports.text import clean, slug

WIDE, SMALL, SQUARE, MARGIN, LINE = 976, 460, 400, 16.0, 19.0
SCALE = 2.0
"""How many pixels of a PNG make one of the drawing."""
_NO_LIBRARY = "{} pictures need a library that is not installed. Install it with: pip install 'auditor[{}]'"
_NO_FONT = "{} pictures need a font, and this system has none. Install one, such as fonts-dejavu-core, or use the SVG."
_LIBRARIES = {"PNG": ("resvg_py", "plots"), "PDF": ("typst", "pdf")}
"""The library of each format, and the extra that installs it."""
_POINTS = 0.75
"""How many points of a PDF make one pixel of the drawing."""
_PDF_PAGE = (
    "#set document(date: none)\n#set page(width: auto, height: auto, margin: 0pt)\n"
    '#image(bytes(sys.inputs.svg), format: "svg", width: {:.2f}pt)\n'
)
_NAMESPACE = "http://www.w3.org/2000/svg"
_BODY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A picture that stands for itself: its name (fit for a file), its title, and the text of its SVG.

    A notebook shows it; `png()` and `pdf()` give the bytes of files."""

    name: str
    title: str
    svg: str
    width: float
    height: float

    def png(self, scale: float = SCALE) -> bytes:
        """The picture as PNG, `scale` pixels for each of the drawing. Needs the extra `plots`."""
        if not 0 < scale <= 10:
            raise UsageError(f"scale must be above 0 and at most 10. Got {scale}.")
        _refuse("PNG")
        import resvg_py

        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg, zoom=scale, background="#ffffff"))

    def pdf(self) -> bytes:
        """The picture as PDF, its lines and letters as vectors and its font inside. Needs the extra `pdf`."""
        _refuse("PDF")
        import typst

        page = _PDF_PAGE.format(self.width * _POINTS)
        return bytes(typst.compile(page.encode(), sys_inputs={"svg": self.svg}, format="pdf"))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Plot {self.name}: {self.title}>"


def plots(result: RunRecord | AuditRecord) -> dict[str, Plot]:
    """The pictures of a run, or of one record, by their names and in the order of the report."""
    if isinstance(result, AuditRecord):
        result = RunRecord(result.release.name, result.seed, (result,), result.tool)
    if not isinstance(result, RunRecord):
        raise UsageError(f"plots takes a record or a run. Got {type(result).__name__}.")
    made: dict[str, Plot] = {}
    for wanted, title, about, drawing in _drawings(result):
        name, copy = wanted, 2
        while name in made:
            name, copy = f"{wanted}-{copy}", copy + 1
        made[name] = standing(name, title, about, drawing)
    return made


def plot_files(found: Mapping[str, Plot], folder: Path) -> dict[Path, str | bytes]:
    """What to write into a folder: each picture as SVG, and as PDF and PNG where the libraries for them are installed."""
    files: dict[Path, str | bytes] = {}
    lacking = hindrances()
    for plot in found.values():
        files[folder / f"{plot.name}.svg"] = plot.svg
        if "PDF" not in lacking:
            files[folder / f"{plot.name}.pdf"] = plot.pdf()
        if "PNG" not in lacking:
            files[folder / f"{plot.name}.png"] = plot.png()
    return files


def _refuse(kind: str) -> None:
    why = hindrances().get(kind)
    if why is not None:
        raise UsageError(why)


def hindrances() -> dict[str, str]:
    """The formats that no picture can be made in here, each with the reason and what to do about it."""
    missing = {
        kind: _NO_LIBRARY.format(kind, extra)
        for kind, (library, extra) in _LIBRARIES.items()
        if importlib.util.find_spec(library) is None
    }
    if "PNG" not in missing and not _has_font():
        return {kind: _NO_FONT.format(kind) for kind in _LIBRARIES} | missing
    return missing


@functools.cache
def _has_font() -> bool:
    """Whether a letter leaves a trace: without any font the library draws pictures that lack all their words."""
    import resvg_py

    frame = f'<svg xmlns="{_NAMESPACE}" width="20" height="20">%s</svg>'
    word = f"<text x='2' y='16' font-family='{_BODY}'>M</text>"  # the families that the pictures ask for
    empty, written = (resvg_py.svg_to_bytes(svg_string=frame % part) for part in ("", word))
    return bytes(empty) != bytes(written)


def _drawings(run: RunRecord) -> Iterator[tuple[str, str, str, str]]:
    """Name, title, what it is about, and the drawing, of each picture."""
    about = clean(run.title, 120)
    for found in sweeps(run):
        axes = Axes(f"known attributes, of {found.of}", found.measure)
        yield f"known-attributes-{slug(found.title)}", found.title, about, lines(found, axes, "sweep", WIDE)
    for sought in (one for one in searches(run) if one.sweep is not None):
        assert sought.sweep is not None
        axes = Axes(f"known attributes, of {sought.sweep.of}", sought.sweep.measure)
        yield f"search-{slug(sought.title)}", sought.title, about, lines(sought.sweep, axes, "search", WIDE)
    several = len(run.records) > 1
    tradeoff = frontier(run) if several else None
    if tradeoff is not None:
        axes = Axes(tradeoff.x, tradeoff.y)
        drawing = charts.scatter(tradeoff.points, axes, "frontier", WIDE, tradeoff.better, whole=True)
        yield "risk-against-utility", "Risk against utility", about, drawing
    rows = panels(run, whole=True)
    if rows:
        title = "How often each attack is right, beside the control and the baseline"
        yield "attacks", title, about, charts.dots(rows, "attacks", title, WIDE)
    number = numbers(run)
    for place in detailed(run):
        record = run.records[place - 1]
        name = clean(record.release.name, 60)
        start = f"{number[place]:02d}-{slug(name)}-" if several else ""
        for one in small_pictures(record, "", SMALL, SQUARE):
            yield start + slug(one.kind), one.title, name, one.drawing


def standing(name: str, title: str, about: str, drawing: str) -> Plot:
    """A drawing of a page made to stand alone: a white ground, colours, the title above, and room around it."""
    root = ElementTree.fromstring(drawing)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    room = max(12, int(width / (13.5 * svg.CHARACTER)))
    heads = [(text, "heading") for text in textwrap.wrap(clean(title), room)]
    heads += [(text, "label") for text in textwrap.wrap(about, room)] if about and about != clean(title) else []
    above = LINE * len(heads) + 12
    left, top, whole, high = -MARGIN, -above - MARGIN, width + 2 * MARGIN, height + above + 2 * MARGIN
    del root.attrib["style"]  # a page's limit on its width
    frame = {"x": f"{left:g}", "y": f"{top:g}", "width": f"{whole:g}", "height": f"{high:g}"}
    root.attrib.update(
        {"xmlns": _NAMESPACE, "width": frame["width"], "height": frame["height"], "viewBox": " ".join(frame.values())}
    )
    style = ElementTree.Element("style")
    style.text = _style()
    ground = ElementTree.Element("rect", {**frame, "fill": _colours()["paper"]})
    words = [
        ElementTree.fromstring(svg.words(2, -above + LINE * (line + 0.75), text, kind))
        for line, (text, kind) in enumerate(heads)
    ]
    behind = next((at for at, part in enumerate(root) if part.tag not in ("title", "desc")), len(root))
    root[behind:behind] = [style, ground, *words]
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
    return Plot(name, clean(title), text, whole, high)


@functools.cache
def _sheet() -> str:
    return (Path(__file__).parents[1] / "templates" / "report.css").read_text(encoding="utf-8")


@functools.cache
def _colours() -> Mapping[str, str]:
    """The light scheme of the report's style sheet: its first block of variables, of two colours the first."""
    first = _sheet().partition(":root")[2].partition("}")[0]
    plain = re.sub(r"light-dark\(([^,()]+),[^()]*\)", r"\1", first)
    return {**dict(re.findall(r"--([\w-]+):\s*([^;]+);", plain)), "body": _BODY}


@functools.cache
def _style() -> str:
    """The rules of the report's style sheet for what is in a chart, with the variables filled in."""
    rules = re.findall(r"^\.chart [^{}]*\{[^{}]*\}", _sheet(), re.MULTILINE)
    colours = _colours()
    return re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], "\n".join(rules))
