"""The report driven in a real browser: hovering, choosing axes, leaving methods out, colours, printing; no console message,
no request, no serious finding of axe-core."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.model.record.record import RunRecord
from reports import render_html
from reports.pictures.explorer import as_script_data, explorer
from tests.reports.test_comparing_reports import compared
from tests.reports.test_opening import mendable
from tests.support import record_samples as samples

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DOTS = "#explorer-picture [aria-label=dot] > *"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Opened:
    """A page with what it said on the console and what it asked for."""

    def __init__(self, browser: Any, file: Path, width: int = 1280, **context: Any) -> None:
        self.page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.file = file

    def quiet(self) -> bool:
        return self.said == [] and self.asked == [self.file.as_uri()]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render_html(samples.sample_run()), encoding="utf-8")
    return file


def test_hovering_names_method_and_parameters(browser: Any, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    page.locator("#explorer-picture").scroll_into_view_if_needed()
    assert page.locator(DOTS).count() == 4
    release = samples.sample_run().records[1].release
    box = page.locator(DOTS).nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#explorer-picture [aria-label=tip]")
    sync_api.expect(tip).to_contain_text(str(release.method))
    for name, value in release.params.items():
        assert f"{name}={value}" in tip.text_content().replace(" ", "").replace("\u2009", "")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#release-2").is_visible()
    assert opened.quiet()


def test_filters_by_attack_measure_and_method(browser: Any, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    before = page.locator("#explorer-picture svg").first.inner_html()
    names = page.locator("#explorer-risk option").all_text_contents()
    assert names[0] == "strongest attack on values by the prosecutor, excess over the baseline"
    assert {"finding the record by the prosecutor, success", "telling who is in by the prosecutor, auc"} <= set(names)
    page.select_option("#explorer-risk", label="finding the record by the prosecutor, success")
    assert page.locator("#explorer-picture svg").first.inner_html() != before
    page.select_option("#explorer-utility", label="granularity")
    said = page.locator("#explorer-said").text_content()
    data = explorer(samples.sample_run())
    assert data is not None
    known = [
        p for p in data["points"] if "granularity|" in p["utility"] and "linking||prosecutor|success" in p["risks"]
    ]
    assert 0 < len(known) < 4  # not every kind of release has a granularity
    assert said.startswith(f"{len(known)} of 4 releases.")
    page.locator("#explorer-methods input[value=identity]").uncheck()
    assert page.locator(DOTS).count() == len([p for p in known if p["method"] != "identity"])
    assert opened.quiet()


def test_the_frontier_in_the_page_is_that_of_an_obvious_search(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "many.html"
    file.write_text(render_html(samples.many_run()), encoding="utf-8")
    opened = Opened(browser, file)
    data = explorer(samples.many_run())
    assert data is not None
    better = {axis["key"]: axis["better"] for axis in data["utility"]}
    axis = data["start"]["utility"]
    sign = -1 if better[axis] == "higher" else 1  # both axes: less is better
    points = [(sign * p["utility"][axis], p["risks"]["strongest"]["value"], p["name"]) for p in data["points"]]
    best = {n for x, y, n in points if not any(a <= x and b <= y and (a, b) != (x, y) for a, b, _ in points)}
    said = opened.page.locator("#explorer-said").text_content()
    assert set(re.sub(r"^.*axes: |\.$", "", said).split(", ")) == best
    assert opened.quiet()


@pytest.mark.parametrize("width", [1280, 400])
def test_colours_can_be_chosen(browser: Any, report: Path, width: int) -> None:
    opened = Opened(browser, report, width, color_scheme="light")
    page = opened.page
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.click("#theme")
    assert page.locator("#theme").text_content() == "Colours: dark"
    assert page.evaluate(paper) == "rgb(20, 23, 28)"
    page.click("#theme")
    page.click("#theme")
    assert page.locator("#theme").text_content() == "Colours: auto"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.quiet()


@pytest.mark.parametrize("risk", ["homogeneity.success", "proximity.m"])  # of the second higher is better
def test_the_picture_of_a_comparison_begins_with_its_table(browser: Any, tmp_path: Path, risk: str) -> None:
    run = compared(risk, "queries")
    assert run.comparison is not None
    file = tmp_path / "report.html"
    file.write_text(render_html(run), encoding="utf-8")
    opened = Opened(browser, file)
    page = opened.page
    best = {point.name for point in run.comparison.points if point.beaten_by is None}
    said = page.locator("#explorer-said").text_content()
    assert set(said.partition("axes: ")[2].removesuffix(".").split(", ")) == best == {"y", "z"}
    assert f"({run.comparison.risk.better} is better)" in page.locator("#explorer-picture").text_content()
    page.locator(".compared a").first.press("Enter")  # the table leads to the details without a mouse
    assert page.locator("#release-3").is_visible()
    assert opened.said == []


def test_of_many_releases_those_that_are_open_are_printed(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render_html(samples.many_run()), encoding="utf-8")
    page = Opened(browser, file).page
    releases = page.locator("details.release")
    releases.nth(1).locator("summary").first.click()
    page.emulate_media(media="print")
    seen = [releases.nth(i).locator(".inside").is_visible() for i in range(releases.count())]
    assert seen == [i == 1 for i in range(12)]
    assert page.locator("p.on-paper").is_visible()


def test_without_scripts_the_static_picture_stands(browser: Any, report: Path) -> None:
    opened = Opened(browser, report, java_script_enabled=False)
    page = opened.page
    assert not page.locator("#explorer").is_visible()
    assert not page.locator("#theme").is_visible()
    assert page.locator("#explorer-static svg").first.is_visible()
    assert page.locator("table").count() > 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme"),
    [("sample_run", "dark"), ("many_run", "light")],
)
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    file = tmp_path / "report.html"
    file.write_text(render_html(getattr(samples, name)()), encoding="utf-8")
    opened = Opened(browser, file, color_scheme=scheme, bypass_csp=True)
    found = axe.Axe().run(opened.page).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_prints_to_pdf_without_cutting(browser: Any, report: Path, tmp_path: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 690, "height": 1000})  # what A4 leaves between our margins, at 96 a inch
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    cut = "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > 691).length"
    assert page.evaluate(cut) == 0
    assert page.locator("#explorer-static svg").first.is_visible()
    assert not page.locator("#explorer").is_visible()
    pdf = tmp_path / "report.pdf"
    page.pdf(path=pdf, format="A4", prefer_css_page_size=True)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert opened.said == []


def test_data_cannot_end_the_script_element() -> None:
    text = as_script_data({"name": "</script><script>alert(1)</script><!-- & \u2028"})
    assert not set("<>&") & set(text)
    assert json.loads(text)["name"].startswith("</script>")


FIRST_SCREEN = 800
"""How far down a reader sees without scrolling, at a width of 1280."""


def opened_run(browser: Any, folder: Path, run: RunRecord, width: int = 1280) -> Opened:
    file = folder / "report.html"
    file.write_text(render_html(run), encoding="utf-8")
    return Opened(browser, file, width)


@pytest.mark.parametrize("run", [mendable, samples.sample_run], ids=["one", "several"])
def test_verdict_remedy_and_picture_lie_on_the_first_screen(
    browser: Any, tmp_path: Path, run: Callable[[], RunRecord]
) -> None:
    opened = opened_run(browser, tmp_path, run())
    places = [".verdict", ".todo", ".picture svg >> visible=true"]
    for place in places:
        box = opened.page.locator(place).first.bounding_box()
        assert box["width"] > 200
        assert box["y"] + box["height"] <= FIRST_SCREEN, place
    assert opened.page.locator("main details[open]").count() == 0  # the appendix is closed
    assert opened.quiet()


def test_one_release_is_printed_on_six_pages_and_what_is_closed_is_not(browser: Any, tmp_path: Path) -> None:
    page = opened_run(browser, tmp_path, mendable()).page
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True)))
    assert pages <= 6
    page.emulate_media(media="print")
    assert not page.locator("#appendix").is_visible()
    assert page.locator("#judged").is_visible()
    page.emulate_media(media="screen")
    page.locator(".appendix summary").first.click()
    page.emulate_media(media="print")
    assert page.locator("#appendix").is_visible()
    assert page.locator(".appendix summary >> visible=true").count() == 1


def test_the_map_is_sorted_by_its_headings_and_says_what_a_figure_is(browser: Any, tmp_path: Path) -> None:
    opened = opened_run(browser, tmp_path, samples.sample_run())
    page = opened.page
    head = page.locator("table.heat thead tr:last-child th", has_text="finding the record")

    def column() -> list[float]:
        at = head.evaluate("th => th.cellIndex")
        cells = page.locator(f"table.heat tbody tr > :nth-child({at + 1})")
        return [float(cells.nth(i).get_attribute("data-key")) for i in range(cells.count())]

    found = column()
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        assert column() == sorted(found, reverse=order == "descending")
    cell = page.locator("table.heat td[title]").first
    assert "right" in cell.get_attribute("title")
    assert opened.quiet()
