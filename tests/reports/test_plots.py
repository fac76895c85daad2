"""Pictures as files and in notebooks: they stand for themselves, in SVG and PNG, and are written whole or not at all."""

from __future__ import annotations

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from PIL import Image

import auditor
from auditor.commands.output import Output
from auditor.model.errors import UsageError
from auditor.model.record.record import RunRecord, Utility
from reports.pictures import marks
from reports.pictures import plots as module
from reports.pictures.pictures import before_and_after
from reports.pictures.plots import Plot, plot_files, plots
from reports.pictures.small import small_pictures
from reports.tables.sweeps import sweep_table, sweeps
from tests.conftest import Ended
from tests.support import record_samples as samples

SVG = "{http://www.w3.org/2000/svg}"
RUNS = ("sample_run", "single_run", "person_run", "hostile_run")


def drawn(name: str) -> dict[str, Plot]:
    return plots(getattr(samples, name)())


def test_names_tell_what_is_in_a_picture() -> None:
    assert list(drawn("single_run")) == [
        "attacks",
        "class-sizes",
        "distribution-linking",
        "distribution-membership",
        "membership-curve",
    ]
    several = list(drawn("sample_run"))
    assert several[:3] == ["risk-against-utility", "attacks", "01-identity-class-sizes"]
    assert several[-1] == "04-slicing-k-20-membership-curve"
    assert drawn("bare_run") == {}
    assert drawn("empty_run") == {}


@pytest.mark.parametrize("name", RUNS)
def test_names_are_fit_for_files_and_unlike(name: str) -> None:
    for key, plot in drawn(name).items():
        assert key == plot.name
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,140}", key)
        assert plot.title


def test_two_pictures_of_one_name_keep_both() -> None:
    one = samples.record("Ä k=5", 0.3, 0.1)
    names = list(plots(RunRecord("", 1, (one, one))))
    assert "01-a-k-5-class-sizes" in names
    assert "02-a-k-5-class-sizes" in names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", RUNS)
def test_each_svg_stands_alone(name: str) -> None:
    for plot in drawn(name).values():
        root = ElementTree.fromstring(plot.svg.encode())
        assert root.tag == f"{SVG}svg"
        x, y, width, height = (float(part) for part in root.attrib["viewBox"].split())
        assert (
            (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height) == (plot.width, plot.height)
        )
        # a white ground below everything that is drawn, as large as the picture
        ground = next(part for part in root if part.tag not in (f"{SVG}title", f"{SVG}desc", f"{SVG}style"))
        assert ground.tag == f"{SVG}rect"
        assert [float(ground.attrib[key]) for key in ("x", "y", "width", "height")] == [x, y, width, height]
        assert ground.attrib["fill"] == "#ffffff"
        # its own colours: a rule for every class, and no variable of a page
        style = root.find(f"{SVG}style")
        assert style is not None
        assert style.text is not None
        assert not re.search(r"var\(|light-dark", style.text)
        used = {one for part in root.iter() for one in part.attrib.get("class", "").split()} - {"chart"}
        plain = {"tick", "series-0", "stroke-0"}  # drawn as texts and marks are in general
        assert {one for one in used if f".{one}" not in style.text} <= plain
        # the title can be read in it
        heads = [part.text for part in root.iter(f"{SVG}text") if part.attrib.get("class") == "heading"]
        assert plot.title.split()[0] in str(heads[0])
        # nothing from elsewhere, nothing that runs
        assert "script" not in {part.tag.removeprefix(SVG) for part in root.iter()}
        attributes = {key for part in root.iter() for key in part.attrib}
        assert not [key for key in attributes if key.startswith("on") or "href" in key or key == "style"]
        assert "url(" not in plot.svg
        assert "@import" not in plot.svg
        assert plot.svg.replace("http://www.w3.org/2000/svg", "").count("://") == 0


def test_words_stay_inside_the_picture() -> None:
    for plot in (*drawn("sample_run").values(), *drawn("hostile_run").values()):
        root = ElementTree.fromstring(plot.svg.encode())
        x, y, width, height = (float(part) for part in root.attrib["viewBox"].split())
        for text in root.iter(f"{SVG}text"):
            assert x <= float(text.attrib["x"]) <= x + width, text.text
            assert y + 10 <= float(text.attrib["y"]) <= y + height, text.text


@pytest.mark.parametrize("name", ["sample_run", "single_run"])
def test_png_has_its_size_and_shows_something(name: str) -> None:
    for plot in drawn(name).values():
        with Image.open(io.BytesIO(plot.png())) as picture:
            assert picture.format == "PNG"
            assert picture.size == (round(plot.width * 2), pytest.approx(plot.height * 2, abs=1))
            seen = picture.convert("RGB")
        assert seen.getpixel((0, 0)) == seen.getpixel((seen.width - 1, seen.height - 1)) == (255, 255, 255)
        # the title at the top left is dark on white
        head = seen.crop((0, 0, seen.width // 2, 80)).convert("L")
        assert head.getextrema()[0] < 80
        # nothing touches the edges
        for edge in ((0, 0, seen.width, 4), (0, seen.height - 4, seen.width, seen.height), (0, 0, 4, seen.height)):
            assert seen.crop(edge).getextrema() == ((255, 255), (255, 255), (255, 255))
        colours = seen.getcolors(1 << 20)
        assert colours is not None
        assert len(colours) > 10


def test_letters_are_drawn_and_not_only_shapes() -> None:
    plot = drawn("single_run")["class-sizes"]
    without = Plot(plot.name, plot.title, re.sub(r"<text.*?</text>", "", plot.svg), plot.width, plot.height)
    counts = [
        Image.open(io.BytesIO(p.png(1))).convert("L").point(lambda v: 255 * (v < 200)).histogram()[255]
        for p in (plot, without)
    ]
    assert counts[0] > counts[1] + 500


def test_a_pdf_has_vectors_and_its_font_and_is_the_same_each_time() -> None:
    plot = drawn("single_run")["class-sizes"]
    made = plot.pdf()
    assert made.startswith(b"%PDF-")
    assert b"/FontFile" in made or b"/FontFile2" in made or b"/FontFile3" in made
    assert b"/Subtype/Image" not in made.replace(b" ", b"")
    assert made == plot.pdf()


def test_the_scale_of_a_png() -> None:
    plot = drawn("single_run")["class-sizes"]
    with Image.open(io.BytesIO(plot.png(1))) as small:
        assert small.size[0] == round(plot.width)
    for scale in (0, -1, 11, float("nan")):
        with pytest.raises(UsageError, match="scale must be"):
            plot.png(scale)


def test_in_a_notebook() -> None:
    record = samples.single_run().records[0]
    found = auditor.plots(record)
    assert isinstance(found["attacks"], auditor.Plot)
    assert found["attacks"]._repr_svg_() == found["attacks"].svg
    assert repr(found["class-sizes"]) == "<Plot class-sizes: Class sizes>"
    assert list(found) == list(auditor.plots(samples.single_run()))
    with pytest.raises(UsageError, match="takes a record or a run"):
        auditor.plots(cast("auditor.AuditRecord", {"attacks": 1}))
    assert callable(auditor.plots)  # also after its home is imported


def test_the_same_record_gives_the_same_files(tmp_path: Path) -> None:
    once, again = (plot_files(drawn("single_run"), tmp_path) for _ in range(2))
    assert once == again


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    file = tmp_path / "run.json"
    file.write_text(samples.single_run().to_json(), encoding="utf-8")
    return file


def test_the_command_writes_svg_pdf_and_png(auditor_cli: Callable[..., Ended], run_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    ended = auditor_cli("render", run_file, "--plots", folder)
    assert ended.code == 0
    assert ended.err == ""
    assert f"plots: {folder}" in ended.out
    names = sorted(file.name for file in folder.iterdir())
    assert names == sorted(f"{name}.{kind}" for name in drawn("single_run") for kind in ("svg", "pdf", "png"))
    before = {file: file.read_bytes() for file in folder.iterdir()}
    again = auditor_cli("render", run_file, "--plots", folder)
    assert again.code == 2
    assert "holds pictures already" in again.err
    assert {file: file.read_bytes() for file in folder.iterdir()} == before
    assert auditor_cli("render", run_file, "--plots", folder, "--force").code == 0


def test_other_files_of_the_folder_stay(auditor_cli: Callable[..., Ended], run_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "note.txt").write_text("mine", encoding="utf-8")
    assert auditor_cli("render", run_file, "--plots", folder, "--quiet").code == 0
    assert (folder / "note.txt").read_text(encoding="utf-8") == "mine"
    assert len(list(folder.iterdir())) == 16


def test_wrong_folders(auditor_cli: Callable[..., Ended], run_file: Path, tmp_path: Path) -> None:
    for folder, words in ((run_file, "is a file"), (tmp_path / "a" / "b", "must exist"), ("-", "must name a folder")):
        ended = auditor_cli("render", run_file, "--plots", folder, "--html", tmp_path / "report.html")
        assert ended.code == 2
        assert words in ended.err
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_a_record_without_figures_says_so(auditor_cli: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "bare.json").write_text(samples.bare_run().to_json(), encoding="utf-8")
    ended = auditor_cli("render", tmp_path / "bare.json", "--plots", tmp_path / "pictures", "--quiet")
    assert ended.code == 0
    assert "nothing to draw" in ended.err
    assert not (tmp_path / "pictures").exists()


@pytest.mark.parametrize(
    ("gone", "words"), [("library", "pip install 'auditor[{}]'"), ("font", "this system has none")]
)
def test_without_library_or_font_there_is_svg(
    auditor_cli: Callable[..., Ended],
    run_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: str,
    words: str,
) -> None:
    if gone == "library":
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        monkeypatch.setitem(sys.modules, "typst", None)
    else:
        monkeypatch.setattr(module, "_has_font", lambda: False)
    plot = drawn("single_run")["attacks"]
    for make, extra in ((plot.png, "plots"), (plot.pdf, "pdf")):
        with pytest.raises(UsageError, match=re.escape(words.format(extra))):
            make()
    ended = auditor_cli("render", run_file, "--plots", tmp_path / "pictures", "--quiet")
    assert ended.code == 0
    assert words.format("plots") in ended.err
    assert words.format("pdf") in ended.err
    assert {file.suffix for file in (tmp_path / "pictures").iterdir()} == {".svg"}


def test_a_run_and_its_plots_go_into_one_new_folder_or_none_does(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = {"json": out / "run.json", "plots": out / "plots"}
    output = Output(files, folder=out)
    output.check()
    output.write(samples.person_run())
    assert {file.name for file in out.iterdir()} == {"run.json", "plots"}
    assert (out / "plots" / "attacks.png").is_file()
    (out / "run.json").unlink()
    with pytest.raises(UsageError, match="holds pictures already"):
        output.check()
    Output(files, force=True, folder=out).check()
    # what cannot be written whole is not written at all, and the folders made for it are gone again
    late = tmp_path / "late"
    wrong = {"json": late / "run.json", "html": late / "deeper" / "report.html", "plots": late / "plots"}
    with pytest.raises(UsageError, match="must exist"):
        Output(wrong, folder=late).write(samples.person_run())
    assert not late.exists()


def test_values_before_and_after_are_drawn_whatever_the_measure_is_called() -> None:
    one = {
        "column": "job_class",
        "names": ["x", "y", "others"],
        "original": [0.5, 0.3, 0.2],
        "release": [0.4, 0.4, 0.2],
    }
    odd = [{"column": "z"}, 3, {**one, "names": ["x"]}, {**one, "release": [0.5, "?", 0.1]}]
    row = Utility("anything", value=0.1, better="lower", detail={"shares": [*odd[:2], one, *odd[2:], *[one] * 9]})
    record = replace(
        samples.single_run().records[0], utility=(row, Utility("other", value=1, detail={"shares": "none"}))
    )
    found = before_and_after(record)
    assert len(found) == 2  # of six columns, two can be drawn
    assert found[0].title == "Anything: job class in the release and the original"
    assert (found[0].counts, found[0].others, found[0].who) == ((40, 40, 20), (50, 30, 20), ("release", "original"))
    drawing = next(one.drawing for one in small_pictures(record, "") if one.kind == "values-1")
    assert "x: 40 release" in drawing
    assert "x: 50 original" in drawing


# ----- for papers: every release, whole names, every interval, and marks that all people tell apart -------------------------


@pytest.mark.parametrize("releases", [5, 20])
def test_a_sweep_draws_every_release(releases: int) -> None:
    (curves,) = sweeps(samples.sweep_run(releases))
    assert len(curves.curves) == releases
    plot = next(
        plot for name, plot in plots(samples.sweep_run(releases)).items() if name.startswith("known-attributes")
    )
    for place in range(1, releases + 1):
        assert f"{place} a release with a rather long" in plot.svg
    assert plot.svg.count("<polyline") == releases
    table = sweep_table(curves)
    assert len(table.rows) == 3 * releases  # below each other: there is no room beside
    assert {row[0] for row in table.rows} == {curve.name for curve in curves.curves}


def test_legends_say_what_lines_are() -> None:
    assert ">95 % interval</text>" in plots(samples.many_run(40))["risk-against-utility"].svg
    sweep = next(plot for name, plot in plots(samples.sweep_run(5)).items() if name.startswith("known-attributes"))
    assert ">95 % interval</text>" in sweep.svg
    assert ">chance</text>" in drawn("single_run")["membership-curve"].svg


def test_a_crowd_keeps_its_names_and_intervals() -> None:
    run = samples.many_run(40)
    plot = plots(run)["risk-against-utility"]
    root = ElementTree.fromstring(plot.svg.encode())
    texts = " | ".join(str(part.text) for part in root.iter(f"{SVG}text"))
    for place, record in enumerate(run.records, 1):
        assert f"{place} {record.release.name}" in texts
    whiskers = [part for part in root.iter(f"{SVG}line") if "whisker" in part.attrib["class"]]
    assert len(whiskers) == len(run.records) + 1  # and that of the legend
    attacks = ElementTree.fromstring(plots(run)["attacks"].svg.encode())
    named = {str(part.text) for part in attacks.iter(f"{SVG}text") if part.attrib["class"] == "name"}
    for place, record in enumerate(run.records, 1):
        assert f"{place} {record.release.name} prosecutor" in named


def test_sixty_four_series_have_a_mark_of_their_own() -> None:
    found = [marks.mark(series, 0, 0, 5) for series in range(64)]
    assert len(set(found)) == 64


# Machado, Oliveira & Fernandes (2009), table 1 at severity 1.0: protanopia, deuteranopia, tritanopia.
_BLIND = (
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
)
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    share = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def seen(colour: str) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """A colour in CIE Lab, as people see it who see all colours, and those who do not."""
    made = []
    for matrix in _BLIND:
        xyz = _TO_XYZ @ np.clip(matrix @ linear(colour), 0, 1) / np.array([0.95047, 1, 1.08883])
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        made.append(np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]))
    return made


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_colours_are_told_apart_by_the_colour_blind(scheme: int) -> None:
    sheet = (Path(module.__file__).parents[1] / "templates" / "report.css").read_text(encoding="utf-8")
    colours = [pair[scheme] for pair in re.findall(r"--series-\d: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", sheet)]
    assert len(colours) == marks.COLOURS
    for one, two in combinations(colours, 2):
        assert min(float(np.linalg.norm(a - b)) for a, b in zip(seen(one), seen(two), strict=True)) > 15, (one, two)
    paper = re.search(r"--paper: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", sheet)
    assert paper is not None
    for colour in colours:  # and they stand out from the paper (WCAG 1.4.11)
        light = sorted(float(linear(c) @ _TO_XYZ[1]) for c in (colour, paper[scheme + 1]))
        assert (light[1] + 0.05) / (light[0] + 0.05) >= 3, colour
