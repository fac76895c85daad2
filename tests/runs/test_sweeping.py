"""The sweep over known attributes: what it asks, what it averages, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from attacks.base import Attack
from auditor.auditing.attacking import Attacker, Tell
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.notation_kinds import Notation
from auditor.model.record.record import Risk, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from auditor.posterior.links import Link
from auditor.runs.finished import Finished
from auditor.runs.sweeping import ORDERS, read_sweep, sweep
from auditor.runs.worlds import World
from reports import render_html, render_markdown, render_terminal
from reports.tables.sweeps import Sweep, is_sweep, sweep_table, sweeps
from scenarios.adversaries import Adversary
from scenarios.options import Options
from scenarios.scenario import read_scenario
from tests.conftest import Ended
from tests.support.adult import write_adult
from tests.support.proofs import GENERALISED, null_subject

TOWN = """
[data]
source = "town"
sample = 0.04
[[release]]
method = "mondrian"
k = [2, 10]
[attacks]
run = ["linking", "homogeneity", "membership"]
link = ["containment", "likelihood"]
[policy]
use = "k5"
"""


def town_file(folder: Path, more: str = "", text: str = TOWN) -> Path:
    file = folder / "town.toml"
    file.write_text(text + more)
    return file


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    folder = tmp_path_factory.mktemp("sweep")
    return sweep(read_scenario(str(town_file(folder))), (1, 2, 4, 7), seed=5)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("known=1..4", (1, 2, 3, 4)), ("known = 3", (3,)), ("known=8,2,2", (2, 8)), ("known=0..1", (0, 1))],
)
def test_reading_what_to_sweep(text: str, numbers: tuple[int, ...]) -> None:
    assert read_sweep(text) == numbers


@pytest.mark.parametrize("text", ["", "1..8", "known", "known=", "known=4..1", "known=a..b", "k=1..8", "known=1.."])
def test_what_cannot_be_swept(text: str) -> None:
    with pytest.raises(UsageError, match=r"--sweep must be known=FROM\.\.TO or known=N,N"):
        read_sweep(text)


@pytest.mark.slow
def test_one_record_a_release_and_one_adversary_a_number(run: RunRecord) -> None:
    assert [record.release.name for record in run.records] == ["mondrian k=2", "mondrian k=10"]
    names = [f"prosecutor knowing {q} of 7" for q in (7, 4, 2, 1)]
    for record in run.records:
        assert [a.name for a in record.adversaries] == names
        assert record.policy is None
        assert {r.adversary for r in record.risks} == set(names)
    first, second = run.records[0].adversaries[:2]
    assert "that person's birth year, sex, postcode, ethnicity" in first.sentence
    assert f"that person's 4 of 7 quasi-identifiers (the mean over {ORDERS} sets of them)" in second.sentence
    assert (len(first.knows), len(second.knows)) == (7, 0)


@pytest.mark.slow
def test_figures_are_means_over_sets_that_grow(run: RunRecord) -> None:
    record = run.records[0]
    rows = {q: record.find("linking", "success", link="likelihood", known=q) for q in (1, 2, 4, 7)}
    for q, risk in rows.items():
        columns, values = risk.detail["columns"], risk.detail["values"]
        assert len(columns) == len(values) == (1 if q == 7 else len({tuple(c) for c in columns}))
        assert all(len(c) == q for c in columns)
        assert risk.value == pytest.approx(sum(values) / len(values))
        assert risk.detail["least"] <= risk.value <= risk.detail["greatest"]
        assert risk.low is not None
        assert risk.high is not None
        assert risk.low <= risk.value <= risk.high
        assert risk.params["of"] == 7
    for fewer, more in ((1, 2), (2, 4), (4, 7)):
        larger = [set(c) for c in rows[more].detail["columns"]]
        assert all(any(set(c) <= big for big in larger) for c in rows[fewer].detail["columns"])
    values = [risk.value or 0 for risk in rows.values()]
    assert values == sorted(values)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_record(run: RunRecord, tmp_path: Path) -> None:
    first, second = (sweep(read_scenario(str(town_file(tmp_path))), (7,), seed=5).to_json() for _ in range(2))
    assert first == second
    assert RunRecord.from_json(run.to_json()).to_json() == run.to_json()


@pytest.mark.slow
def test_adversaries_that_differ_in_more_than_columns_are_swept_apart(tmp_path: Path) -> None:
    more = (
        '[[adversary]]\nname = "prosecutor"\n[[adversary]]\nname = "neighbour"\nkind = "prosecutor"\nknows = ["sex"]\n'
    )
    more += '[[adversary]]\nname = "friend"\nkind = "prosecutor"\nknows = 2\nnoise = { birth_year = 1 }\n'
    scenario = read_scenario(str(town_file(tmp_path, more, TOWN.replace("[2, 10]", "5"))))
    found = sweep(scenario, (1, 7), seed=5)
    names = [a.name for a in found.records[0].adversaries]
    assert names == [f"{who} knowing {q} of 7" for who in ("prosecutor", "friend") for q in (7, 1)]
    assert "birth year (give or take 1)" in found.records[0].adversaries[2].sentence
    sure, noisy = (
        found.records[0].find("linking", "success", link="likelihood", known=7, adversary=f"{who} knowing 7 of 7").value
        for who in ("prosecutor", "friend")
    )
    assert sure is not None
    assert noisy is not None
    assert noisy < sure


def test_more_than_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"known must be at most 7, the number of quasi-identifiers\. Got 8"):
        sweep(read_scenario(str(town_file(tmp_path))), (1, 8))


# ----- how it is shown -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_over_several_releases_the_curves_are_releases(run: RunRecord) -> None:
    found = sweeps(run)
    assert is_sweep(run)
    assert [s.title for s in found] == [
        "Finding the record by the prosecutor",
        "Reading off the value (disease) by the prosecutor",
        "Reading off the value (income) by the prosecutor",
        "Telling who is in by the prosecutor",
    ]
    assert [c.name for c in found[0].curves] == ["1 mondrian k=2", "2 mondrian k=10"]
    assert [p.known for p in found[0].curves[0].points] == [1, 2, 4, 7]
    table = sweep_table(found[0])
    assert table.headings == ("known", "1 mondrian k=2", "control", "2 mondrian k=10", "control")
    assert [row[0] for row in table.rows] == ["1", "2", "4", "7"]


@pytest.mark.slow
def test_over_one_release_the_curves_are_links(run: RunRecord) -> None:
    one = RunRecord(run.title, run.seed, run.records[:1], run.tool)
    assert {c.name for c in sweeps(one)[0].curves} == {"link containment", "link likelihood"}


@pytest.mark.slow
def test_every_report_has_the_curves(run: RunRecord) -> None:
    terminal, markdown, page = render_terminal(run), render_markdown(run), render_html(run)
    assert "Finding the record by the prosecutor: success by known attributes (of 7)" in terminal
    assert "## Finding the record by the prosecutor: success by known attributes" in markdown
    assert "Success against what is known" in page
    assert page.count('class="curve stroke-1"') == 2 * len(sweeps(run))  # for wide and for narrow pages
    assert "4 known:" in page
    plain = RunRecord(run.title, run.seed, ())
    assert not is_sweep(plain)
    assert "Success against what is known" not in render_html(plain)


def test_the_command(tmp_path: Path, auditor_cli: Callable[..., Ended]) -> None:
    file, out = town_file(tmp_path), tmp_path / "out"
    ended = auditor_cli("redteam", file, "--sweep", "known=1,7", "--attacks", "linking", "-o", out)
    assert ended.code == 0, ended.err  # a sweep is not judged
    assert "success by known attributes (of 7)" in ended.out
    assert {f.name for f in out.iterdir()} == {"sweep-cells", "report.html", "report.md", "run.json"}
    assert (
        auditor_cli("redteam", file, "--sweep", "known=1,7", "--attacks", "linking", "-o", out).code == 0
    )  # it goes on
    again = auditor_cli("render", out / "run.json")
    assert "success by known attributes (of 7)" in again.out
    assert auditor_cli("redteam", file, "--sweep", "knows=3").code == 2
    assert auditor_cli("redteam", file, "--sweep", "known=1..9").code == 2


def test_the_report_of_a_comparison_is_not_replaced(tmp_path: Path, auditor_cli: Callable[..., Ended]) -> None:
    out = tmp_path / "out"
    (out / "cells").mkdir(parents=True)
    (out / "run.json").write_text("a comparison")
    ended = auditor_cli("redteam", town_file(tmp_path), "--sweep", "known=1", "--attacks", "linking", "-o", out)
    assert ended.code == 2
    assert "exists already" in ended.err
    assert (out / "run.json").read_text() == "a comparison"


@pytest.mark.data
@pytest.mark.slow
def test_linking_on_adult_grows_with_what_is_known(tmp_path: Path, data_folder: Path) -> None:
    table, schema = write_adult(data_folder, tmp_path)
    file = tmp_path / "adult_sweep.toml"
    file.write_text(
        f'[data]\nfile = "{table.name}"\nschema = "{schema.name}"\n[[release]]\nmethod = "mondrian"\nk = 5\n'
        '[attacks]\nrun = ["linking"]\nlink = ["containment", "likelihood"]\n'
    )
    found: list[Sweep] = sweeps(sweep(read_scenario(str(file)), range(1, 9), seed=1))
    assert len(found) == 1
    for curve in found[0].curves:
        assert [p.known for p in curve.points] == list(range(1, 9))
        for fewer, more in pairwise(curve.points):
            assert fewer.low is not None
            assert more.high is not None
            assert fewer.low <= more.high  # monotone within the intervals
        assert curve.points[-1].value > 10 * curve.points[0].value
        assert curve.points[-1].value == pytest.approx(0.0945, abs=0.01)  # 2851 classes of 30162 people


def test_a_sweep_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TOWN.replace("k = [2, 10]", "k = 10").replace('"homogeneity", "membership"', '"singling-out"')
    scenario, folder = read_scenario(str(town_file(tmp_path, text=text))), tmp_path / "out"
    plain = sweep(scenario, (2,), seed=5)
    attacked: list[str] = []
    risks = Attacker.risks

    def counted(self: Attacker, tell: Tell) -> Iterator[Risk]:
        attacked.append(self.adversary.name)
        if len(attacked) == 3:
            raise KeyboardInterrupt
        return risks(self, tell)

    monkeypatch.setattr(Attacker, "risks", counted)
    with pytest.raises(KeyboardInterrupt):
        sweep(scenario, (2,), seed=5, folder=folder)
    kept = sorted((folder / "sweep-cells").iterdir())
    assert len(kept) == 2
    kept[0].write_text(kept[0].read_text().replace('"value": ', '"value": 0'))  # damaged
    assert sweep(scenario, (2,), seed=5, folder=folder).to_json() == plain.to_json()
    sets = len(list((folder / "sweep-cells").iterdir()))
    assert len(attacked) == 3 + sets - 2 + 1  # the third again, those after it, and the damaged one
    assert sweep(scenario, (2,), seed=5, folder=folder).to_json() == plain.to_json()
    assert len(attacked) == 3 + sets - 2 + 1
    sweep(scenario, (2,), seed=6, folder=folder)  # with another seed nothing of it is used
    assert len(attacked) > 3 + sets - 2 + 1


def _relabelled(subject: Subject, change: Callable[[Labels], Labels]) -> Subject:
    """The same with other labels of one column, whose texts stay."""
    labels = subject.release.labels
    return replace(subject, release=replace(subject.release, labels={**labels, "sex": change(labels["sex"])}))


def _notated(labels: Labels) -> Labels:
    column = replace(labels.domain.column, notation=(Notation.SET,))
    return replace(labels, domain=replace(labels.domain, column=column))


def _reversed(subject: Subject) -> Subject:
    whose = subject.provenance
    assert whose is not None
    return replace(subject, provenance=replace(whose, bucket=whose.bucket[::-1], fragment=whose.fragment[::-1]))


def _moved(subject: Subject) -> Subject:
    earlier = subject.others["earlier"]
    first, *rest = earlier.blocks
    blocks = (replace(first, cells=first.cells[::-1]), *rest)
    return replace(subject, others={"earlier": replace(earlier, blocks=blocks)})


CHANGES: dict[str, Callable[[Subject], Subject]] = {
    "whose a record is": _reversed,
    "an earlier release": _moved,
    "no earlier release": lambda s: replace(s, others={}),
    "who has which rows": lambda s: replace(s, person=np.arange(40) // 2),
    "who lives together": lambda s: replace(s, household=np.arange(40) // 2),
    "the first value of a label": lambda s: _relabelled(s, lambda one: replace(one, lo=one.lo + 1)),
    "the last value of a label": lambda s: _relabelled(s, lambda one: replace(one, hi=one.hi + 1)),
    "gaps in a label": lambda s: _relabelled(s, lambda one: replace(one, gaps={0: np.array([0], dtype=np.int32)})),
    "the notation": lambda s: _relabelled(s, _notated),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_kept_is_not_used_where_anything_that_it_depends_on_is_other(change: str, tmp_path: Path) -> None:
    subject = null_subject(GENERALISED, 40, 1, posing=False, alone=True)
    assert subject.people is not None
    world = World(subject.people, None, subject.outsiders, ())
    mark = Finished.of(tmp_path, world, Options(), subject).mark
    assert Finished.of(tmp_path, world, Options(), replace(subject)).mark == mark
    assert Finished.of(tmp_path, world, Options(), CHANGES[change](subject)).mark != mark


class _Lost:
    """Keeps nothing: what is written does not read back."""

    def read(self, adversary: Adversary, attacks: Sequence[Attack]) -> Sequence[Risk] | None:
        return None

    def write(
        self, adversary: Adversary, attacks: Sequence[Attack], risks: Sequence[Risk], facts: ReleaseFacts
    ) -> None:
        pass


def test_rows_that_do_not_read_back_are_not_lost() -> None:
    subject = null_subject(GENERALISED, 40, 1, posing=False, alone=True)
    options = Options(("linking",), (Link.CLASS,), utility=(), facts=())
    found = run_audit(subject, options, keeper=_Lost()).risks
    assert found
    assert found == run_audit(subject, options).risks
