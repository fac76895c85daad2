"""The reports: sentences for hand-made records, numbers as text, escaping, and what is missing or empty."""

from __future__ import annotations

import html.parser
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import reports
from auditor.model.record import NOT_APPLICABLE, OK, AuditRecord, Risk, Utility, read_run
from reports import charts, render_html, render_markdown, render_terminal
from reports.figures import Excess, excess_of, is_rate, standing_of
from reports.findings import bottom_line, findings, gaps, strongest_findings, verdict
from reports.labels import place
from reports.pictures import class_sizes, frontier, histograms, panels
from reports.sentences import comparison, revealed, sentence, who
from reports.svg import ticks
from reports.tables import overview, release_facts, worst_rows
from reports.text import THIN, clean, markdown, number, percent, probability, span, words
from tests import record_samples as samples

RUNS = {
    "sample": samples.sample_run,
    "single": samples.single_run,
    "many": samples.many_run,
    "person": samples.person_run,
    "bare": samples.bare_run,
    "empty": samples.empty_run,
    "hostile": samples.hostile_run,
}
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
    assert clean("a\x1b[31m\n b\u202e") == "a[31m b"
    assert clean("x" * 300, 10) == "x" * 9 + "…"
    assert markdown("a|b`c`<i>*d*_e_ http://x") == r"a\|b\`c\`&lt;i&gt;\*d\*\_e\_ http:&#47;/x"


def test_the_sentence_of_the_design() -> None:
    record = one(samples.count("homogeneity", "certain", 34, 100, sensitive="disease"))
    assert findings(record)[0].headline == (
        "34 of 100 people in this release can be given their disease with certainty by someone who knows their "
        "age, sex and postcode and is told their class."
    )


def test_what_is_known_comes_from_the_adversarys_sentence() -> None:
    risk = samples.count("homogeneity", "certain", 1, 9, link=None)
    record = one(risk)
    knows_two = replace(samples.PROSECUTOR, sentence="Knows their age and sex.")
    assert who(replace(record, adversaries=(knows_two,)), risk) == "someone who knows their age and sex"
    hedged = replace(samples.PROSECUTOR, sentence="Knows everything except age.")
    assert who(replace(record, adversaries=(hedged,)), risk) == "the adversary “prosecutor”"
    assert who(replace(record, adversaries=()), risk) == "the adversary “prosecutor”"


@pytest.mark.parametrize(
    ("attack", "measure", "value", "params", "part"),
    [
        ("linking", "max", 0.2, {}, "most exposed person is linked to their own record with probability 0.200 (one in 5)"),
        ("linking", "mean", 0.02, {}, "a person is linked to their own record with probability 0.0200 (one in 50)"),
        ("linking", "at_risk", 7, {"threshold": 0.1}, "7 of 100 people can be linked to their own record"),
        ("linking", "success", 0.12, {}, "points at the right record for 12 % of 100 people"),
        ("linking", "class_found", 97, {}, "The right class was named for 97 of 100 people"),
        ("homogeneity", "above", 0, {"tau": 0.5}, "None of 100 people can be given their disease with a confidence above 50"),
        ("homogeneity", "success", 0.62, {}, "guesses the disease right for 62 % of 100 people"),
        ("proximity", "max", 1.0, {"epsilon": 1000}, "100 % of the belief about their disease lies within ±1 000"),
        ("proximity", "mean", 0.3, {"epsilon": 5}, "On average 30 % of the belief about a person's disease lies within ±5"),
        ("proximity", "above", 3, {"epsilon": 5}, "3 of 100 people can be placed within ±5 of their true disease"),
        ("proximity", "window", 0.75, {"width": 30}, "75 % of the belief about one person's disease falls into an interval"),
        ("proximity", "success", 0.5, {"width": 30}, "of width 30 that holds the true disease for 50 % of 100 people"),
        ("proximity", "m", 4, {"epsilon": 5}, "At most one in 4 of the disease values of a class lies within ±5"),
        ("proximity", "m", 1, {"epsilon": 5}, "No protection against a near guess"),
        ("divergence", "mean", 0.5, {"reading": "distinct"}, "lies on values unrelated to the truth (each distinct value"),
        ("divergence", "above", 9, {}, "9 of 100 people would be believed to have an unrelated disease"),
        ("divergence", "top", 0.25, {}, "is wrong, and unrelated to the truth, for 25 % of 100 people"),
        ("membership", "auc", 0.71, {}, "tells one person who is in the data from one who is not in 71 % of pairs"),
        ("membership", "auc", 0.71, {"against": "fakes"}, "from one made-up person in 71 % of pairs"),
        ("membership", "advantage", 0.3, {}, "30 percentage points higher among members than among people who are not"),
        ("membership", "tpr_at_fpr_0.01", 0.2, {}, "may be called members in error, 20 % of the members"),
        ("membership", "tpr_at_fpr_0.001", 0.2, {}, "If 0.1 % of people who are not in the data"),
        ("membership", "no_match", 0.4, {}, "40 % of outsiders match nothing"),
        ("membership", "fakes", 12, {}, "12 of 100 made-up people match the release"),
        ("definetti", "success", 0.81, {}, "The definetti attack at the disease is right for 81 % of 100 people"),
        ("skewness", "lift", 3.5, {}, "Skewness (disease): lift is 3.5"),
    ],
)  # fmt: skip
def test_every_measure_has_its_sentence(
    attack: str, measure: str, value: float, params: dict[str, object], part: str
) -> None:
    risk = Risk(attack, "prosecutor", "class", measure, "disease", params=params, value=value, n=100)
    for attacker in (None, "someone who knows their age"):
        text = plain(sentence(risk, attacker))
        assert part in text
        assert text.endswith(".")
        assert "  " not in text


def test_comparison_says_what_is_beaten_and_what_is_not() -> None:
    beats = samples.rate("homogeneity", "success", 0.62, 400, control=0.31, baseline=0.28, control_kind="outsiders")
    text = plain(comparison(beats))
    assert "people who are not in the release: 31 %; the same guess without the release: 28 %." in text
    assert "44.9 % (" in text  # (0.62 - 0.31) / 0.69 = 0.449
    assert "not beat" not in text
    not_above = samples.rate(
        "homogeneity", "success", 0.3, 400, control=0.31, baseline=0.32, control_kind="leave_one_out"
    )
    text = comparison(not_above)
    assert "does not beat what it reaches on people outside the release" in text
    assert "Nor does it beat a guess without the release" in text
    unclear = samples.rate("homogeneity", "success", 0.32, 40, control=0.31, baseline=0.1)
    assert "may be chance" in comparison(unclear)
    assert [standing_of(r).kind for r in (beats, not_above, unclear)] == ["above", "not_above", "unclear"]


def test_excess_is_recorded_or_worked_out_but_never_for_counts() -> None:
    worked_out = excess_of(Risk("a", "p", None, "success", value=0.5, control=0.25))
    noted = Risk("a", "p", None, "success", value=0.5, control=0.2, detail={"excess": {"value": 0.4, "low": 0.1}})
    assert worked_out == Excess(1 / 3)
    assert excess_of(noted) == Excess(0.4, 0.1)
    assert excess_of(Risk("a", "p", None, "certain", value=5, control=2.0, n=9)) is None
    assert excess_of(Risk("a", "p", None, "success", value=1.0, control=1.0)) is None
    assert excess_of(Risk("a", "p", None, "success", value=0.5, detail={"excess": {"value": "much"}})) is None
    assert not is_rate(Risk("other", "p", None, "rules", value=1))


def test_findings_come_strongest_first_and_harms_last() -> None:
    found = findings(samples.single_run().records[0])
    assert [f.attack for f in found][-1] == "divergence"
    assert {f.attack for f in found} == {"linking", "homogeneity", "proximity", "divergence", "membership"}
    disclosures = [f.strength for f in found if f.attack != "divergence"]
    assert disclosures == sorted(disclosures, reverse=True)
    assert strongest_findings(samples.sample_run())[0].release == "identity"
    assert found[0].advice == "More different values in each class (l-diversity)."


def test_made_up_people_do_not_outrank_real_ones() -> None:
    fakes = samples.rate("membership", "auc", 0.95, 400, link=None, params={"against": "fakes"}, control=0.5)
    weak = samples.rate("homogeneity", "success", 0.3, 400, sensitive="disease", control=0.22)
    found = findings(replace(one(weak), risks=(fakes, weak)))
    assert [f.attack for f in found] == ["homogeneity", "membership"]
    assert found[1].strength == pytest.approx(0.9)


def test_a_count_says_its_control() -> None:
    risk = samples.count("homogeneity", "certain", 34, 100, sensitive="disease", control=3.0, control_kind="outsiders")
    text = "For the same attack on people who are not in the release it is 3 of 100."
    assert text in findings(one(risk))[0].support


def test_revealed_claims_of_one_and_of_several() -> None:
    def said(**detail: object) -> str | None:
        return revealed(Risk("proximity", "prosecutor", "class", "success", value=1.0, detail=detail))

    assert said(claim=["Flu"]) == "Flu"
    assert said(claim=["Flu", "HIV"]) == "Flu or HIV"
    assert said(claim=[["Flu"], ["Flu", "HIV"]]) == "Flu; Flu or HIV"
    assert said(window=[10, 30]) == "between 10 and 30"
    assert said(window=[[10, 30], [[1, 1], [3, 4]]]) == "between 10 and 30; exactly 1 or between 3 and 4"
    assert said(window=[[i, i] for i in range(7)]) == (
        "exactly 0; exactly 1; exactly 2; exactly 3; exactly 4; and of 2 more people"
    )
    assert said(window=["odd"]) is None
    assert said(claim={"odd": 1}) is None


def test_a_class_found_without_being_told_is_said() -> None:
    found = {f.attack: f for f in findings(samples.single_run().records[0])}
    assert any("by the link tightest, which was not told it" in line for line in found["linking"].support)


def test_one_person() -> None:
    text = plain(render_terminal(samples.person_run()))
    assert "The one person asked about in this release can be given their disease with certainty" in text
    page = plain(render_html(samples.person_run()))
    assert "Bronchitis" in page
    assert "between 10 000 and 10 030" in page
    assert "may be chance" not in page


def test_gaps_are_grouped_with_their_reason() -> None:
    found = gaps(samples.single_run().records[0])
    assert len(found) == 3
    assert found[0].what == "proximity, disease: success (link class, likelihood, tightest and containment)"
    assert found[0].reason == "disease is nominal: proximity needs a numeric sensitive column"
    assert {g.status for g in found} == {"not applicable", "did not converge"}


def test_verdicts() -> None:
    assert verdict(samples.sample_run()).kind == "mixed"
    assert verdict(samples.sample_run()).title.startswith("1 of 4 releases pass")
    failed = verdict(samples.single_run())
    assert failed.kind == "fail"
    assert failed.lines[0] == "linking.mean is 0.340 (must be ≤ 0.09)."
    assert verdict(samples.run_of(samples.record("safe", 0.02, 0.1))).kind == "pass"
    assert verdict(samples.bare_run()).title == "No policy"
    assert verdict(samples.empty_run()).title == "Nothing was audited"


def test_overview_has_the_headline_figures() -> None:
    table = overview(samples.sample_run())
    row = dict(zip(table.headings, table.rows[2], strict=True))
    assert row["release"] == "anatomy l=3"
    assert row["link mean"] == "0.330"
    assert row["link max"] == "0.726"
    assert row["disease guessed"] == "0.477"  # 0.22 + 0.78 * 0.33
    assert row["disease excess"] == "0.330"
    assert row["disease best other link"] == "0.439 likelihood"
    assert row["member AUC"] == "0.649"
    assert row["verdict"] == "FAIL"
    assert row["granularity"] == "–"


def test_bottom_line_names_the_safest_and_the_most_useful() -> None:
    text = bottom_line(samples.sample_run())
    assert text is not None
    assert "slicing k=20 has the least risk" in text
    assert "identity has the best query error (median): 0" in text
    assert bottom_line(samples.single_run()) is None


def test_frontier_axes_fall_back() -> None:
    run = samples.sample_run()
    found = frontier(run)
    assert found is not None
    assert found.x == "query error (median), lower is better"
    assert found.y == "strongest attack, excess over control"
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
    assert [m.name for m in panels(samples.single_run())[0].marks] == [
        "link class",
        "link likelihood",
        "link tightest",
        "link containment",
    ]
    assert panels(samples.sample_run())[0].marks[0].name == "1 identity"
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
    found = dict(worst_rows(samples.single_run().records[0].risks))
    assert found["disease certain (containment, likelihood, class, tightest)"] == "8, 9, 21"
    assert "and 17 more" in found["max (containment, likelihood, class, tightest)"]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("renderer", RENDERERS)
def test_no_machine_words_leak(run: str, renderer: str) -> None:
    text = RENDERERS[renderer](RUNS[run]())
    shown = re.sub(r"<style>.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL) if renderer == "html" else text
    for word in ("None", "nan", "NaN", "inf", "null", "not_applicable", "undefined"):
        found = re.search(rf"(?<![\w\\]){word}(?![\w])", shown)
        allowed = word == "None" and found and re.match(r"None (of|passes)", shown[found.start() :])
        assert not found or allowed, shown[max(0, found.start() - 60) : found.end() + 60]


@pytest.mark.parametrize("run", RUNS)
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
        assert tag not in ("script", "iframe", "object", "embed", "img", "base", "form")
        assert not [name for name in attrs if name.startswith("on")]
        for name in ("src", "href", "action", "xlink:href", "data"):
            target = attrs.get(name) or ""
            assert not target or target == "data:," or target.removeprefix("#") in ids
        if tag == "th":
            assert attrs.get("scope") in ("row", "col")
        if tag == "svg":
            assert attrs.get("role") == "img"
            assert set((attrs.get("aria-labelledby") or "").split()) <= set(ids)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_html_escapes() -> None:
    text = render_html(samples.hostile_run())
    assert "<script" not in text
    assert "&lt;script&gt;alert" in text


def test_html_of_a_release_shows_the_method() -> None:
    text = plain(render_html(samples.sample_run()))
    for part in ("20240", "9f" * 32, "auditor 0.1.0", samples.PROSECUTOR.sentence, "l-diversity. ICDE 2006"):
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
    assert dict(release_facts(whole))["suppressed rows"] == "3 (excluded)"


def test_importing_reports_is_light() -> None:
    heavy = "{'jinja2', 'tabulate', 'pandas', 'auditor'}"
    code = f"import sys, reports; assert not {heavy} & set(sys.modules); reports.render_html"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(reports.__file__).parents[1])
    with pytest.raises(AttributeError, match="no attribute"):
        reports.__getattr__("nothing")
