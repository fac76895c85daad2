"""The registry of claims: its rules, the cells that are kept, and the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from auditor.model.errors import UsageError
from auditor.model.record.reproduction import (
    Check,
    Curve,
    Grid,
    Outcome,
    PaperFacts,
    Picture,
    Point,
    Reproduced,
    Reproduction,
    Verdict,
    verdict_of,
)
from auditor.runs.papers import PAPERS
from auditor.runs.papers.caat import ALGORITHMS, WIDTHS
from auditor.runs.papers.item import Settings, cell
from auditor.runs.papers.judging import Figure, is_less, outcome, within
from auditor.runs.papers.microaggregation import five
from auditor.runs.papers.running import Kept, choose, find_source
from auditor.runs.papers.sources import ADULT, CENSUS, Source, roles
from auditor.runs.store import make_folder
from reports.papers import papers_plots, papers_tables, render_papers_html, render_papers_markdown
from tests.conftest import Ended

EXPERIMENTS = {
    "000": "fig1 fig2 result1 sizes loss",
    "001": "fig5 fig6 fig7 fig8 headline",
    "002": "tables1-4 grading table5 time fig3,5,6 guessed",
    "003": "check membership utility dimension",
    "004": "five binary continuous categorical",
}
ITEMS = {item.name: item for paper in PAPERS for item in paper.items}


# ----- rules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([True, True], Verdict.HOLDS),
        ([True, False], Verdict.IN_PART),
        ([True, None], Verdict.IN_PART),
        ([False, None], Verdict.REFUTED),
        ([False], Verdict.REFUTED),
        ([None], Verdict.UNKNOWN),
        ([], Verdict.UNKNOWN),
    ],
)
def test_the_verdict_follows_from_the_parts(parts: list[bool | None], verdict: Verdict) -> None:
    assert verdict_of([Check("", "", "", part) for part in parts]) is verdict


def test_figures_are_compared_seed_by_seed() -> None:
    # Seeds differ by far more than the two figures, which differ by 1 with every seed.
    low, high = Figure.of([10, 50, 90]), Figure.of([11, 51, 91])
    assert is_less(low, high) is True
    assert is_less(high, low) is False
    assert is_less(low, low) is False
    # Differences 1, 5, -6: mean 0, and the interval holds it.
    assert is_less(low, Figure.of([11, 55, 84])) is None
    # Mean 2, standard deviation 1, three seeds: 2 ± 4.303/√3.
    assert Figure.of([1, 2, 3]).ends == pytest.approx((2 - 2.4843, 2 + 2.4843), abs=1e-3)
    assert Figure.of([2]).ends is None


def test_a_number_is_met_where_its_interval_is_inside() -> None:
    assert within("", "", Figure.of([1.0, 1.0]), 1.0, 0.1).holds is True
    assert within("", "", Figure.of([1.2, 1.2]), 1.0, 0.1).holds is False
    assert within("", "", Figure.of([1.0, 1.1, 1.2]), 1.0, 0.11).holds is None


def test_every_experiment_of_the_papers_is_an_item() -> None:
    assert {f"{paper}.{name}" for paper, names in EXPERIMENTS.items() for name in names.split()} <= set(ITEMS)
    for paper in PAPERS:
        for item in paper.items:
            assert item.name.startswith(f"{paper.facts.name}.")
            assert all((item.place, item.claim, item.printed, item.tolerance))
            cells = item.cells(Settings(seeds=2)).values()
            assert len({one.name for one in cells}) == len(set(cells)) > 0
    assert len(ITEMS) == sum(len(paper.items) for paper in PAPERS)


@pytest.mark.parametrize(
    ("kaca", "verdict"), [((2, 2), Verdict.HOLDS), ((2, 0.5), Verdict.IN_PART), ((0.5, 0.5), Verdict.REFUTED)]
)
def test_the_verdict_on_time_turns_with_the_numbers(kaca: tuple[float, float], verdict: Verdict) -> None:
    """KACA takes the first share of CAAT's work with up to four quasi-identifiers, and the second with more."""
    item, settings = ITEMS["000.fig1"], Settings(seeds=2, timed=False)
    found = {
        (algorithm, 3, width, seed): {
            "distances": (100 * width + seed) * (1 if algorithm == ALGORITHMS[0] else kaca[width > 4]),
            "data": "made up",
        }
        for algorithm in ALGORITHMS
        for width in WIDTHS
        for seed in settings.draws
    }
    assert set(found) == set(item.cells(settings))
    judged = item.judge(found, settings)
    assert judged.verdict is verdict
    assert [point.at for point in judged.pictures[0].curves[0].points] == [str(width) for width in WIDTHS]


# ----- data and cells -------------------------------------------------------------------------------------------------


def test_absent_files_are_named(tmp_path: Path) -> None:
    assert Source.at(None).lacking((ADULT, CENSUS)) == [CENSUS]
    (tmp_path / "data" / "casc").mkdir(parents=True)
    (tmp_path / "data" / CENSUS).write_text("a,b\n1,2\n3,4\n")
    source = Source.at(tmp_path)
    assert source.lacking((ADULT, CENSUS)) == [ADULT]
    names, numbers = source.census()
    assert names == ("a", "b")
    assert numbers.tolist() == [[1, 2], [3, 4]]


def test_adult_is_read_without_unknown_values(tmp_path: Path) -> None:
    (tmp_path / "adult").mkdir()
    row = "39, State-gov, 7, Bachelors, 13, Single, Clerk, Own, White, Male, 1, 0, 40, Cuba, <=50K"
    lines = [row, row.replace("State-gov", "?"), "", "|1x3 Cross validator"]
    (tmp_path / ADULT).write_text("\n".join(lines))
    (tmp_path / "adult" / "adult.test").write_text(row.replace("<=50K", "<=50K."))
    wanted = {"quasi": "age workclass", "sensitive": "salary-class"}
    one, both = (Source.at(tmp_path).people(roles(wanted, {}, both=both)) for both in (False, True))
    assert (one.rows, both.rows) == (1, 2)
    assert both.texts("salary-class") == ["<=50K", "<=50K"]
    assert Source(tmp_path, 1).people(roles(wanted, {}, both=True)).rows == 1


def test_the_town_stands_for_adult() -> None:
    wanted = roles({}, {"quasi": "birth_year sex", "sensitive": "disease"})
    source = Source(None, 50)
    table = source.people(wanted)
    assert table.rows == 50
    assert table.schema.sensitive == ("disease",)
    assert "town" in source.about(table)
    assert np.array_equal(table.codes["sex"], source.people(wanted).codes["sex"])


def test_a_cell_is_kept_for_its_data_and_settings(tmp_path: Path) -> None:
    kept, one = Kept(tmp_path, "data"), cell(five)
    make_folder(kept.folder)
    assert kept.read(one) is None
    kept.write(one, {"x": 1.5}, None, 0.25)
    found = kept.read(one)
    assert found is not None
    assert found["result"] == {"x": 1.5}
    assert Kept(tmp_path, "other data").read(one) is None
    assert kept.read(cell(five, k=3)) is None
    (file,) = (tmp_path / "cells").iterdir()
    changed = json.loads(file.read_text()) | {"key": "of something else"}
    file.write_text(json.dumps(changed))
    assert kept.read(one) is None
    file.write_text("{half")
    assert kept.read(one) is None


def test_names_that_are_not_there() -> None:
    assert [item.name for _, item in choose(["004.five", "000"])][-1] == "004.five"
    with pytest.raises(UsageError, match="no paper or item '9'"):
        choose(["9"])
    with pytest.raises(UsageError, match="must be in a folder"):
        find_source(Path("nowhere at all"))


# ----- the page -------------------------------------------------------------------------------------------------------


def page() -> Reproduction:
    checks = [Check("<script>part</script>", "less", "1 | 2", True), Check("other", "less", "3", False)]
    curves = tuple(Curve(name, (Point("5", 1.0, 0.5, 1.5), Point("10", 2.0))) for name in ("one", "two"))
    pictures = [Picture("Lines", "k", "error", curves), Picture("Bars", "value", "people", curves, bars=True)]
    found = outcome(
        checks, "Because.", pictures=pictures, tables=[Grid("T", ("a", "b"), (("x", "1"),))], data="ten rows"
    )
    items = (
        Reproduced("9.first", "9", "Figure 1", "It is <b>so</b>.", "7", "exact", "The rule.", found),
        Reproduced(
            "9.second", "9", "Figure 2", "More.", "8", "exact", "The rule.", Outcome(Verdict.UNKNOWN, "Data absent.")
        ),
    )
    return Reproduction("Claims", 1, ("Two seeds.",), (PaperFacts("9", "a paper", "A. Author"),), items)


def test_the_page_in_html() -> None:
    html = render_papers_html(page())
    assert "<script>part" not in html
    assert "It is &lt;b&gt;so&lt;/b&gt;." in html
    for text in (
        "holds in part",
        "cannot be told",
        "Data absent.",
        "Because.",
        "ten rows",
        "✗ does not hold",
        "The rule.",
    ):
        assert text in html
    assert html.count("<svg") == 2
    assert "http" not in html.replace("http-equiv", "")


def test_the_page_in_markdown() -> None:
    text = render_papers_markdown(page())
    assert "| [9.first](#9first) | It is &lt;b&gt;so&lt;/b&gt;. | **◐ holds in part** |" in text
    assert "| one | 1 | 2 |" in text
    assert "1 \\| 2" in text
    assert "Of 2 claims 0 hold, 1 holds in part, 0 are refuted, 1 cannot be told." in text


def test_its_pictures_and_tables_as_files() -> None:
    drawn = papers_plots(page())
    assert list(drawn) == ["9-first-1", "9-first-2"]
    assert "Lines" in drawn["9-first-1"].svg
    assert "It is &lt;b&gt;so&lt;/b&gt;." in drawn["9-first-1"].svg
    found = papers_tables(page())
    assert list(found) == ["claims", "9-first-parts", "9-first-1"]
    assert [row[3] for row in found["claims"].rows] == ["holds in part", "cannot be told"]


# ----- the command ----------------------------------------------------------------------------------------------------

Cli = Callable[..., Ended]


def test_the_list_of_items(auditor_cli: Cli) -> None:
    ended = auditor_cli("reproduce", "--list")
    assert ended.code == 0
    assert all(name in ended.out for name in ITEMS)
    assert auditor_cli("reproduce", "004.five").code == 2  # no folder


@pytest.mark.slow
def test_a_run_is_resumed_and_says_what_is_absent(
    auditor_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUDITOR_DATA", raising=False)
    ask = ("reproduce", "004.five", "004.continuous", "-o", tmp_path / "out", "--jobs", "1")
    ended = auditor_cli(*ask, "--tables", tmp_path / "out" / "tables")
    assert (tmp_path / "out" / "tables" / "claims.tex").is_file()
    assert ended.code == 0, ended.err
    found = json.loads((tmp_path / "out" / "papers.json").read_text())
    verdicts = {item["name"]: item["outcome"] for item in found["items"]}
    assert verdicts["004.five"]["verdict"] == "holds"
    assert verdicts["004.continuous"]["verdict"] == "cannot be told"
    assert "casc/CASCrefmicrodata.csv" in verdicts["004.continuous"]["why"]
    (kept,) = (tmp_path / "out" / "cells").iterdir()
    changed = json.loads(kept.read_text())
    changed["result"]["clusters"][0][0] = "[1, 2]"
    kept.write_text(json.dumps(changed))
    assert auditor_cli(*ask, "--quiet").code == 0  # its own page is replaced, and the kept cell is taken
    assert "[1, 2]" in (tmp_path / "out" / "papers.md").read_text().replace("\\", "")
