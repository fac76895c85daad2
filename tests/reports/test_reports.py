"""The reports: sentences for hand-made records, numbers as text, escaping, and what is missing or empty."""

from __future__ import annotations

import html
import html.parser
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import reports
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import NOT_APPLICABLE, OK, AuditRecord, Risk, Utility, read_run
from reports import FORMATS, render_html, render_markdown, render_terminal
from reports.pictures import charts
from reports.pictures.explorer import EXPLORER, SORTING, THEME, permission, scripts
from reports.pictures.labels import place
from reports.pictures.pictures import class_sizes, frontier, histograms, panels
from reports.pictures.svg import ticks
from reports.reading import Meanings
from reports.tables.tables import compact_risks, merged, overview, release_facts
from reports.tables.worst import worst_rows
from reports.text import THIN, clean, markdown, number, percent, probability, span, words
from tests.support import record_samples as samples

RUNS = {
    "sample": samples.sample_run,
    "single": samples.single_run,
    "many": partial(samples.many_run, 12),
    "person": samples.person_run,
    "bare": samples.bare_run,
    "empty": samples.empty_run,
    "hostile": samples.hostile_run,
}
WORDS = Meanings(samples.record("sample", 0.3, 0.1))
RENDERERS = {"terminal": render_terminal, "markdown": render_markdown, "html": render_html}


def plain(text: str) -> str:
    return text.replace(THIN, " ")


def one(risk: Risk, **release: object) -> AuditRecord:
    whole = samples.record("sample", 0.3, 0.1)
    return replace(whole, risks=(risk,), release=replace(whole.release, **release))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0"), (1.0, "1"), (0.34, "0.340"), (0.0123456, "0.0123"), (0.99996, ">0.999"), (1 - 1e-12, "1"),
        (0.00001, "<0.0001"), (-0.05, "−0.0500"), (0.5, "0.500"),
    ],
)  # fmt: skip
def test_probability(value: float | None, text: str) -> None:
    assert probability(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.34, "34 %"), (0.3456, "34.6 %"), (1.0, "100 %"), (0.99999, ">99.9 %"), (0.0, "0 %"), (0.0012, "0.12 %")],
)  # fmt: skip
def test_percent(value: float, text: str) -> None:
    assert plain(percent(value)) == text


def test_other_texts() -> None:
    assert number(1234567) == f"1{THIN}234{THIN}567"
    assert number(1.375) == "1.38"
    assert plain(span(0.52, 0.709)) == "52.0–70.9 %"
    assert plain(span(-0.1, 0.2)) == "−10 % to 20 %"
    assert words(["age", "sex", "postcode"]) == "age, sex and postcode"
    assert words(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert clean("a\x1b[31m\n b\u202e") == r"a\x1b[31m b\u202e"
    assert clean("x" * 300, 10) == "x" * 9 + "…"
    assert markdown("a|b`c`<i>*d*_e_ http://x") == r"a\|b\`c\`&lt;i&gt;\*d\*\_e\_ http:&#47;/x"


def test_overview_has_the_headline_figures() -> None:
    alone = [
        replace(r, risks=[risk for risk in r.risks if risk.adversary == "prosecutor"])
        for r in samples.sample_run().records
    ]
    table = overview(samples.run_of(*alone))
    row = dict(zip(table.headings, table.rows[2], strict=True))
    assert row["release"] == "anatomy l=3"
    assert row["link mean"] == "0.281"  # likelihood, the strongest own link: 0.85 of 0.33
    assert row["link max"] == "0.617"
    assert row["disease guessed"] == "0.439"  # 0.22 + 0.78 * 0.33 * 0.85
    assert row["disease excess"] == "0.281"
    assert row["disease guessed, if the class were known"] == "0.477"
    assert row["member auc"] == "0.649"
    assert row["verdict"] == "FAIL"
    assert row["granularity"] == "–"
    assert row["left out"] == "3 (0.75\u202f%)"
    assert table.headings[5:9] == ("query error (median)", "link mean", "link max", "member auc")


def test_overview_leaves_out_what_says_nothing_more() -> None:
    like = [samples.rate("homogeneity", "success", 0.5, 9, sensitive="disease", link=link) for link in samples.LINKS]
    fakes = samples.rate("membership", "auc", 0.7, 9, link=None, params={"against": "fakes"})
    record = replace(one(fakes), risks=(*like, fakes))
    headings = overview(samples.run_of(record, record)).headings
    assert "member auc, made-up people" in headings
    assert "member auc" not in headings


def test_links_with_equal_figures_share_a_row() -> None:
    rows = [
        samples.rate("homogeneity", "success", v, 90, link=link)
        for link, v in zip(samples.LINKS, (0.5, 0.5, 0.6, 0.5), strict=True)
    ]
    assert [row[0] for row in merged(compact_risks(rows)[0], WORDS).rows] == ["other links", "class if known"]
    same = [replace(r, value=0.5, low=0.4, high=0.6) for r in rows]
    assert [row[0] for row in merged(compact_risks(same)[0], WORDS).rows] == ["all links"]


def test_a_narrow_terminal_says_what_it_leaves_out() -> None:
    text = render_terminal(samples.single_run(), 80)
    assert "Columns left out to fit the width: expected" in text
    assert "tpr_at_fpr" not in text[text.index("MEMBERSHIP") : text.index("Not computed")]
    assert "The other measures are in the HTML report and the JSON." in text


@pytest.mark.parametrize("renderer", RENDERERS)
def test_class_statistics_say_what_they_mean(renderer: str) -> None:
    text = re.sub(r"\s+", " ", RENDERERS[renderer](samples.single_run()))
    for gloss in ("largest share of one value in a class", "fewest different values in a class"):
        assert gloss in text


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("several", [False, True])
def test_published_identifiers_and_doubts_stand_at_the_top(renderer: str, several: bool) -> None:
    whole = samples.record("odd", 0.3, 0.1)
    doubt = "age: 5 of 9 labels do not cover the original value."
    bad = replace(whole, release=replace(whole.release, identifiers=("id",)), notes=(Note(doubt, NoteKind.DOUBT),))
    text = RENDERERS[renderer](samples.run_of(bad, whole) if several else samples.run_of(bad))
    text = re.sub(r"<style>.*</style>|<nav.*</nav>", "", text, flags=re.DOTALL).replace("&#39;", "'")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", text))
    top, rest = text[: text.index("Findings")], text[text.index("Findings") :]
    said = "The release publishes the identifier column 'id': everybody can be named. Remove it."
    assert said in top
    assert doubt in top
    assert said in rest
    assert rest.index(said) < rest.index("linked to their own record")


def test_frontier_axes_fall_back() -> None:
    run = samples.sample_run()
    found = frontier(run)
    assert found is not None
    assert found.x == "query error (median), lower is better"
    assert found.y == "strongest attack on values by the prosecutor, excess over the baseline"
    by_size = [replace(r, utility=[u for u in r.utility if u.measure != "queries"]) for r in run.records]
    found = frontier(replace(run, records=by_size))
    assert found is not None
    assert found.x == "discernibility, lower is better"  # granularity is missing in two of them
    assert frontier(replace(run, records=[replace(r, utility=()) for r in run.records])) is None


def test_pictures_ignore_details_they_do_not_understand() -> None:
    odd: list[object] = [
        None,
        "x",
        {"counts": "x"},
        {"edges": [0, 1], "counts": [1, 2]},
        {"labels": ["a"], "counts": [float("nan")]},
    ]
    for detail in odd:
        risk = Risk("linking", "prosecutor", "class", "mean", value=0.1, detail={"histogram": detail, "roc": detail})
        assert histograms(one(risk)) == []
        assert render_html(samples.run_of(one(risk)))


def test_class_sizes_are_binned() -> None:
    sizes = {str(size): 1 for size in range(5, 105)}
    found = class_sizes(one(Risk("linking", "p", None, "mean", value=0.1), class_sizes=sizes))
    assert found is not None
    assert len(found.names) <= 16
    assert sum(found.counts) == 100
    assert found.names[0] == "5–11"


def test_panels_are_links_of_one_release_or_releases_of_a_run() -> None:
    marks = panels(samples.single_run())[1].marks
    assert [(m.name, m.bound) for m in marks] == [
        ("link likelihood", False),
        ("link tightest", False),
        ("link containment", False),
        ("if the class were known", True),
    ]
    run = samples.sample_run()
    assert [panel.marks[0].name for panel in panels(run)[:2]] == ["1 identity prosecutor", "1 identity"]
    assert max(len(p.marks) for p in panels(samples.many_run())) == 12


def test_labels_do_not_meet() -> None:
    points = [(100.0 + 9 * i, 100.0 + 5 * (i % 3), f"{i} release", str(i)) for i in range(30)]
    boxes = [found.box for found in place(points, 13, (0, 0, 900, 400), 6.5) if found is not None]
    assert len(boxes) > 15
    for i, one_box in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert one_box[0] >= other[2] or other[0] >= one_box[2] or one_box[1] >= other[3] or other[1] >= one_box[3]


def test_ticks_are_round_and_cover() -> None:
    assert ticks(0, 1, 5) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(0, 0) == [0, 0.2]
    for high in (0.003, 0.17, 7.3, 1234.0):
        found = ticks(0, high)
        assert found[0] <= 0
        assert found[-1] >= high


def test_charts_draw_a_single_point_and_equal_points() -> None:
    point = charts.Point(1, "a", 0.0, 0.0)
    axes = charts.Axes("x", "y")
    for points in ([point], [point, replace(point, place=2)]):
        assert "nan" not in charts.scatter(points, axes, "p").lower()


def test_worst_rows_are_gathered_by_their_rows() -> None:
    found = dict(worst_rows(WORDS, samples.single_run().records[0].risks))
    assert found["disease certain (all links)"] == "8, 9, 21"
    assert "and 17 more" in found["max (all links)"]
    readings = [
        Risk("divergence", "p", "class", "mean", "disease", {"reading": r}, value=0.5, worst_rows=rows)
        for r, rows in (("frequency", (1, 2)), ("distinct", (12345,)))
    ]
    assert worst_rows(WORDS, readings) == [
        ("disease mean (frequency) (link class if known)", "1, 2"),
        ("disease mean (distinct) (link class if known)", "12345"),  # as --suppress-rows takes it
    ]


_UNSEEN = r"<style>.*?</style>|<script.*?</script>|<[^>]*>"


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("renderer", RENDERERS)
def test_no_machine_words_leak(run: str, renderer: str) -> None:
    text = RENDERERS[renderer](RUNS[run]())
    shown = re.sub(_UNSEEN, " ", text, flags=re.DOTALL) if renderer == "html" else text
    for word in ("None", "nan", "NaN", "inf", "null", "not_applicable", "undefined"):
        found = re.search(rf"(?<![\w\\]){word}(?![\w])", shown)
        allowed = word == "None" and found and re.match(r"None (of|passes)", shown[found.start() :])
        assert not found or allowed, shown[max(0, found.start() - 60) : found.end() + 60]


@pytest.mark.parametrize("run", sorted(set(RUNS) - {"many"}))
@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_same_run_from_its_json_renders_the_same(run: str, renderer: str) -> None:
    made = RUNS[run]()
    again = read_run(made.to_json().encode("utf-8", "replace").decode(), "run.json")
    assert RENDERERS[renderer](again) == RENDERERS[renderer](made)


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("run", ["sample", "single", "many", "person", "bare", "empty"])
def test_terminal_keeps_its_width(run: str, width: int) -> None:
    lines = render_terminal(RUNS[run](), width).splitlines()
    assert max(len(line) for line in lines) <= width


def test_terminal_strips_control_characters() -> None:
    text = render_terminal(samples.hostile_run())
    assert not [char for char in text if ord(char) < 32 and char != "\n"]
    assert "\u202e" not in text


@pytest.mark.parametrize("run", RUNS)
def test_markdown_tables_are_valid(run: str) -> None:
    lines = render_markdown(RUNS[run]()).splitlines()
    cells = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    for i, (line, found) in enumerate(zip(lines, cells, strict=True)):
        if found and cells[i - 1]:
            assert found == cells[i - 1], line
        elif found:
            assert re.fullmatch(r"\|( -+:? \|)+", lines[i + 1]), lines[i + 1]


def test_markdown_escapes() -> None:
    text = render_markdown(samples.hostile_run())
    assert "<script" not in text
    assert not re.search(r"(?<!\\)`", text)


class Page(html.parser.HTMLParser):
    """The tags of a page and whether they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("run", RUNS)
def test_html_is_sound_and_asks_for_nothing(run: str) -> None:
    text = render_html(RUNS[run]())
    page = Page()
    page.feed(text)
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        assert tag not in ("iframe", "object", "embed", "img", "base", "form")
        assert not [name for name in attrs if name.startswith("on")]
        for name in ("src", "href", "action", "xlink:href", "data"):
            target = attrs.get(name) or ""
            assert not target or target == "data:," or target.removeprefix("#") in ids
        if tag == "th":
            assert attrs.get("scope") in ("row", "col", "colgroup")
        if tag == "svg":
            assert attrs.get("role") == "img"
            assert set((attrs.get("aria-labelledby") or "").split()) <= set(ids)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "color-scheme: light dark" in style
    assert_only_own_scripts(text)


def assert_only_own_scripts(text: str) -> None:
    """The scripts of the page are those of the package, and the only ones that its own security policy lets run."""
    ours = scripts(THEME + SORTING + EXPLORER)
    found = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert set(found) <= set(ours)
    allowed = re.search(r"script-src ([^\"]*)", text)
    assert allowed is not None
    assert html.unescape(allowed[1]) == permission(found)
    assert len(re.findall("<script", text)) == len(found) + text.count('<script type="application/json"')


def test_html_escapes() -> None:
    text = render_html(samples.hostile_run())
    assert_only_own_scripts(text)
    assert "&lt;script&gt;alert" in text


def test_html_of_a_release_shows_the_method() -> None:
    text = plain(render_html(samples.sample_run()))
    for part in ("20240", "9f" * 32, "auditor 0.1.0", "age, sex and postcode.", "Machanavajjhala et al. 2006"):
        assert part in text
    assert "(value − control) / (1 − control)" in text


def test_missing_parts_render() -> None:
    whole = samples.record("odd", 0.3, 0.1)
    risks = (
        Risk("linking", "prosecutor", "class", "mean", status=NOT_APPLICABLE),
        Risk("membership", "somebody", None, "auc", value=0.4),
        Risk("linking", "prosecutor", "class", "success", status=OK, value=None),
    )
    utility = (Utility("queries", status=NOT_APPLICABLE), Utility("granularity", value=None))
    for record in (replace(whole, risks=risks, utility=utility), replace(whole, risks=(), utility=(), policy=None)):
        for renderer in RENDERERS.values():
            assert renderer(samples.run_of(record))
            assert renderer(samples.run_of(record, whole))
    said = "3 (excluded; their sensitive values count in the table that t, β and δ compare classes with)"
    assert dict(release_facts(whole))["suppressed rows"] == said


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("several", [False, True])
def test_a_record_that_does_not_say_what_its_figures_mean_still_renders(renderer: str, several: bool) -> None:
    made = [replace(r, attacks=(), links=(), measures=()) for r in samples.sample_run().records]
    text = plain(RENDERERS[renderer](samples.run_of(*made if several else made[:1])))
    said = re.sub(r"\s+", " ", text)
    assert re.search("The (homogeneity|proximity) attack on the (disease|income) is right for 100 %", said)
    assert several or "The homogeneity attack on the disease is right for 100 % of 400 people" in said


def test_every_format_renders_in_one_call() -> None:
    run = samples.single_run()
    made = {one.option: one.render(run) for one in FORMATS}
    assert made["--html"] == render_html(run)
    assert made["--markdown"] == render_markdown(run)
    assert read_run(made["--json"], "run.json") == read_run(run.to_json(), "run.json")
    assert made["--junit"].startswith("<?xml")
    by_name = {one.name: one for one in FORMATS}
    assert by_name["json"].render(run, single=True) == run.records[0].to_json()
    assert "![Risk against utility](a.svg)" in by_name["markdown"].render(samples.sample_run(), picture="a.svg")
    assert [one.file for one in FORMATS if one.file] == ["report.html", "run.json", "report.md"]


def test_importing_reports_is_light() -> None:
    heavy = "{'jinja2', 'tabulate', 'pandas', 'auditor'}"
    code = f"import sys, reports; assert not {heavy} & set(sys.modules); reports.render_html"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(reports.__file__).parents[1])
    with pytest.raises(AttributeError, match="no attribute"):
        reports.__getattr__("nothing")
