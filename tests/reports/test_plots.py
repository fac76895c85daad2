"""Pictures as files and in notebooks: they stand for themselves, in SVG and PNG, and are written whole or not at all."""

from __future__ import annotations

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PIL import Image

import auditor
from auditor.commands.output import Output
from auditor.model.errors import UsageError
from auditor.model.record.record import RunRecord, Utility
from reports.pictures import plots as module
from reports.pictures.pictures import before_and_after
from reports.pictures.plots import Plot, plot_files, plots
from reports.pictures.small import small_pictures
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
    once, again = (plot_files(samples.single_run(), tmp_path) for _ in range(2))
    assert once == again


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    file = tmp_path / "run.json"
    file.write_text(samples.single_run().to_json(), encoding="utf-8")
    return file


def test_the_command_writes_svg_and_png(auditor_cli: Callable[..., Ended], run_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    ended = auditor_cli("render", run_file, "--plots", folder)
    assert ended.code == 0
    assert ended.err == ""
    assert f"plots: {folder}" in ended.out
    names = sorted(file.name for file in folder.iterdir())
    assert names == sorted(f"{name}.{kind}" for name in drawn("single_run") for kind in ("svg", "png"))
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
    assert len(list(folder.iterdir())) == 11


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
    ("gone", "words"), [("library", "pip install 'auditor[plots]'"), ("font", "this system has none")]
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
    else:
        monkeypatch.setattr(module, "_has_font", lambda: False)
    with pytest.raises(UsageError, match=re.escape(words)):
        drawn("single_run")["attacks"].png()
    ended = auditor_cli("render", run_file, "--plots", tmp_path / "pictures", "--quiet")
    assert ended.code == 0
    assert words in ended.err
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
