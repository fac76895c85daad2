"""The first screen in words: the verdict, what to do, the picture's figures, and no word of the trade before the details."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from attacks import ATTACKS
from auditor.model.record.comparison import Axis, Comparison, Point
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import AuditRecord, PolicyCheck, PolicyVerdict, RunRecord
from auditor.model.record.release_facts import ClassRisk
from auditor.model.record.remedy import Coarsening, Prediction, Remedy
from auditor.model.record.search import SearchFacts, SetFigure
from auditor.posterior.links import Link
from reports import render_html, render_markdown, render_terminal
from reports.advice import what_to_do
from reports.opening import opening
from reports.pictures.heat import heat
from reports.pictures.kinds import risk_kinds
from reports.reading import made_by
from reports.tables.frontier import frontier_table
from reports.tables.tables import verdict_word
from reports.text import THIN
from reports.words.best import STATED_RISK, best_release
from reports.words.findings import findings, key_findings
from reports.words.summary import bottom_line
from reports.words.verdicts import verdict, warnings
from tests.support import record_samples as samples

COMMAND = "auditor mend release.csv --schema s.toml --coarsen age --suppress 'k<12' --output mended-1.csv"
REMEDY = Remedy(
    coarsen=(Coarsening("age", 1, "bands of 10"),),
    suppress=("k<12",),
    rows=30,
    predicted=(Prediction("linking.max", 0.75, 0.08, "<=", 0.09, True),),
    passes=True,
    granularity_before=0.6,
    granularity=0.45,
    command=COMMAND,
)


def mendable() -> RunRecord:
    """A release that fails, with the remedy that mends it."""
    return samples.run_of(replace(samples.record("mondrian k=5", 0.34, 0.11), remedies=(REMEDY,)), title="release.csv")


def plain(text: str) -> str:
    return html.unescape(text).replace(THIN, " ")


def body(run: RunRecord) -> str:
    """The words of a page before its details: without tags, hovering, scripts and the data of the picture."""
    text = re.sub(r"<(style|script|title)\b.*?</\1>", "", render_html(run), flags=re.DOTALL)
    text = re.split(r'<h2 id="(?:details|appendix)">', text)[0]
    return plain(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)))


def test_a_release_that_fails_has_its_remedy_with_command_and_cost() -> None:
    advice = what_to_do(mendable())
    assert advice is not None
    assert (
        advice.title == "Make age coarser (bands of 10) and suppress classes of fewer than 12 people: then it passes."
    )
    assert plain(advice.lines[0]) == "It costs: 30 of 400 rows are suppressed; 45 % of the detail is left, 60 % before."
    assert advice.command == COMMAND
    for render in (render_html, render_markdown, render_terminal):
        text = html.unescape(render(mendable()))
        assert text.index("What to do") < text.index(COMMAND) < text.index("The prosecutor knows")


def test_where_no_remedy_passes_the_advice_says_so() -> None:
    record = mendable().records[0]
    tried = replace(record, remedies=(replace(REMEDY, passes=False), replace(REMEDY, passes=False)))
    advice = what_to_do(samples.run_of(tried))
    assert advice is not None
    assert advice.title == "Do not publish it: none of 2 changes that were tried makes it pass."
    untried = what_to_do(samples.single_run())
    assert untried is not None
    assert untried.title == "Do not publish it as it is."
    assert untried.lines[0].startswith("What lowers the risk: coarser quasi-identifiers")


def test_what_passes_is_published_unless_there_is_a_warning() -> None:
    safe = samples.record("safe", 0.02, 0.1)
    advice = what_to_do(samples.run_of(safe))
    assert advice is not None
    assert advice.title == "Publish it."
    assert advice.lines[1].startswith("What it still gives away: ")
    doubtful = replace(safe, release=replace(safe.release, fit_one=3))
    told = what_to_do(samples.run_of(doubtful))
    assert told is not None
    assert told.title == "Publish it once the warnings above are dealt with."


def test_what_the_policy_does_not_ask_about_is_in_the_headline() -> None:
    safe = samples.record("safe", 0.02, 0.1)
    for area, title in (
        (0.95, "Publish it only if you accept what the policy does not ask about."),
        (0.52, "Publish it."),
    ):
        told = replace(samples.rate("membership", "auc", area, 900, baseline=0.5), low=area - 0.01, high=area + 0.01)
        row = replace(told, params={"against": "outsiders", "score": "best-of"}, control=0.5, control_kind="outsiders")
        leaking = replace(safe, risks=(*safe.risks, row))
        advice = what_to_do(samples.run_of(leaking))
        assert advice is not None
        assert advice.title == title
        assert advice.lines[0].startswith("The policy does not ask about membership: ") is (area > 0.9)
        several = titles(leaking, samples.record("risky", 0.5, 0.01))[1]
        assert several == title.replace("it", "safe", 1)


def test_one_table_of_unknown_making_is_not_called_generalised() -> None:
    record = samples.record("safe", 0.02, 0.1)
    unknown = replace(record, release=replace(record.release, kind="generalised", method=None, params={}))
    for render in (render_html, render_markdown, render_terminal):
        text = render(samples.run_of(unknown))
        assert "one table" in text
        assert "generalised" not in text
    assert made_by(record.release) == record.release.method
    assert made_by(replace(unknown.release, kind="sliced")) == "sliced"


def titles(*records: AuditRecord) -> tuple[str, str]:
    """The verdict and the advice."""
    opened = opening(samples.run_of(*records))
    return plain(opened.verdict.title), "" if opened.advice is None else plain(opened.advice.title)


def test_a_search_that_breaks_the_policy_fails_a_release_that_passes_otherwise() -> None:
    safe = samples.record("safe", 0.02, 0.1)
    found = SetFigure(("age",), "linking", "likelihood", "max", 0.4, 0.3, 0.5, 200, breaks=True)
    search = SearchFacts("identity", "prosecutor", ("age",), "linking.max", 0.09, policy="ema", strongest=(found,))
    broken = replace(safe, search=(search,))
    assert broken.passes is False
    title, advice = titles(broken)
    assert title.startswith("FAIL – a search found an adversary who breaks policy ema")
    assert advice == "Do not publish it as it is."
    assert titles(safe, broken)[0].startswith("1 of 2 releases pass")
    assert best_release(samples.run_of(broken, broken)) is None


def test_warnings_hold_back_the_best_of_several_and_a_remedy_too() -> None:
    safe, risky = samples.record("safe", 0.02, 0.1), samples.record("risky", 0.5, 0.01)
    doubtful = replace(safe, release=replace(safe.release, fit_one=3))
    assert titles(risky, doubtful)[1] == "Publish safe once the warnings about it are dealt with."
    record = mendable().records[0]
    advice = what_to_do(samples.run_of(replace(record, notes=(Note("Rows may not correspond.", NoteKind.DOUBT),))))
    assert advice is not None
    assert advice.lines[-1] == "Deal with the warnings above as well."


def test_without_a_policy_nothing_is_said_to_be_fit_to_publish() -> None:
    row = samples.rate("homogeneity", "success", STATED_RISK / 2, 900, sensitive="disease", baseline=0.0)
    low = replace(samples.record("low", 0.02, 0.1), policy=None, risks=(row,))
    assert titles(low, low)[1] == "Say what risk you accept."
    named = replace(low, release=replace(low.release, identifiers=("ssn",)))
    best = best_release(samples.run_of(named, low))
    assert best is not None
    assert (best.place, best.alike) == (2, ())  # who publishes identifiers protects nobody


def test_what_could_not_be_judged_says_why_and_is_not_counted_as_passing() -> None:
    safe = samples.record("safe", 0.02, 0.1)
    why = Note("The policy was not judged: only some people were attacked.", NoteKind.NOT_JUDGED)
    unjudged = replace(safe, policy=None, notes=(why,))
    title, advice = titles(unjudged)
    assert (title, advice) == ("NOT JUDGED – only some people were attacked", "Have it judged before it is published.")
    found = verdict(samples.run_of(safe, unjudged))
    assert found.kind == "mixed"
    assert found.title.startswith("1 of 2 releases pass")


def test_a_sweep_judges_nothing() -> None:
    assert opening(samples.sweep_run(2)).advice is None


def test_a_release_passes_where_it_does_with_every_seed() -> None:
    safe, risky = samples.record("safe", 0.02, 0.1), samples.record("safe", 0.5, 0.1)
    words = [verdict_word(safe, safe), verdict_word(safe, risky), verdict_word(risky), verdict_word()]
    assert words == ["pass", "1 of 2 pass", "FAIL", "–"]


def test_without_a_policy_the_verdict_names_the_strongest_finding() -> None:
    record = replace(samples.record("safe", 0.3, 0.1), policy=None)
    opened = opening(samples.run_of(record))
    assert opened.verdict.title == "NOT JUDGED – no policy was given"
    assert opened.verdict.lines == (key_findings(findings(record))[0].headline,)
    assert opened.advice is not None
    assert "--policy" in opened.advice.lines[0]


def test_about_one_person_the_claim_stands_at_the_top() -> None:
    opened = opening(samples.person_run())
    assert opened.verdict.title.startswith("The adversary believes the disease is Bronchitis")
    assert opened.advice is None


def test_the_best_is_one_that_passes_or_has_the_stated_risk() -> None:
    risky, safe, safer = (
        samples.record(name, leak, error)
        for name, leak, error in (("a", 0.5, 0.01), ("b", 0.02, 0.2), ("c", 0.02, 0.3))
    )
    run = samples.run_of(risky, safe, safer)
    best = best_release(run)
    assert best is not None
    assert (best.name, best.among) == ("b", 2)  # a is far more useful, and fails
    advice = what_to_do(run)
    assert advice is not None
    assert advice.title == "Publish b."
    assert "Left out or suppressed in it: 3 (0.75 %) people." in plain(" ".join(advice.lines))
    rows = [
        samples.rate("homogeneity", "success", value, 900, sensitive="disease", baseline=0.0)
        for value in (0.5, STATED_RISK / 2)
    ]
    stated = samples.run_of(
        *(replace(one, policy=None, risks=(row,)) for one, row in zip((risky, safer), rows, strict=True))
    )
    unjudged = best_release(stated)
    assert unjudged is not None
    assert unjudged.name == "c"  # a is beyond the stated risk
    assert "of those with a risk of at most 0.1" in (bottom_line(stated) or "").replace("Of", "of")
    assert best_release(samples.run_of(risky, replace(risky))) is None
    none = what_to_do(samples.run_of(risky, risky))
    assert none is not None
    assert none.title == "Publish none of them as they are."


def test_what_a_tool_claims_stands_beside_what_was_measured() -> None:
    record = samples.record("odd", 0.02, 0.1)
    risk = ClassRisk(400, 1.0, 0.2, 0.01, 9, 0.1, 0.2, 0.2, 3, 0.01, wildcard_max=1 / 3)
    kept = replace(record.release, fit_one=53, risk=risk, promises=("5-anonymity",), k=5)
    assert warnings(samples.run_of(replace(record, release=kept))) == (
        "sdcMicro, which lets a suppressed cell stand for any value, calls this 3-anonymous; 53 people fit exactly one "
        "record, and whoever knows their quasi-identifiers finds the right one.",
    )
    for promise in ("5-anonymity", "k = 5"):
        broken = replace(kept, fit_one=None, promises=(promise,), k=3)
        assert warnings(samples.run_of(replace(record, release=broken))) == (
            "The release promises that at least 5 people are alike; in one class only 3 are.",
        )


@pytest.mark.parametrize("run", [mendable, samples.sample_run], ids=["one", "several"])
def test_no_word_of_the_trade_stands_before_the_details(run: Callable[[], RunRecord]) -> None:
    text = body(run())
    keys = {f"{measure.of}.{measure.name}" for attack in ATTACKS.all().values() for measure in attack.meanings()}
    for word in (*keys, *(f"link {link}" for link in Link), "definetti", "homogeneity", "DIS score", " FAIL – 1 of"):
        assert word not in text, word


def test_every_attack_has_a_plain_title() -> None:
    titles = [attack.title for attack in ATTACKS.all().values()]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert not set(titles) & set(ATTACKS.all())


def test_the_picture_has_attack_control_and_limit_of_each_kind() -> None:
    record = samples.record("mondrian k=5", 0.34, 0.11)
    groups = risk_kinds(record)
    assert [group.heading.partition(":")[0] for group in groups] == ["Identity", "Value", "Membership"]
    judged = [bar for bar in groups[0].bars if bar.judged]
    assert [(bar.limit, bar.fails) for bar in judged] == [(0.09, True), (0.09, True)]
    own = [r for r in record.risks if r.attack == "linking" and r.measure == "success" and r.link != "class"]
    assert groups[0].bars[0].value == max(float(r.value or 0) for r in own if r.adversary == "prosecutor")
    assert groups[0].bars[0].control is not None
    policy = PolicyVerdict("k20", "", "", (PolicyCheck("release.k", 20, ">=", 5, False),), False)
    least = replace(record, policy=policy)
    bars = [bar for bar in risk_kinds(least)[0].bars if bar.judged]
    assert [(bar.value, bar.limit) for bar in bars] == [(1 / 5, 1 / 20)]  # classes of 5 and 20: one in 5, one in 20
    granted = [r for r in record.risks if r.link == "class"]
    names = [bar.name for group in risk_kinds(replace(record, risks=granted, policy=None)) for bar in group.bars]
    assert names
    assert all(name.endswith(", worst case") for name in names)
    assert risk_kinds(samples.person_run().records[0]) == []


def test_the_map_has_the_worst_adversary_of_each_attack_and_says_why() -> None:
    run = samples.sample_run()
    found = heat(run)
    assert found is not None
    assert [row.name for row in found.rows] == [record.release.name for record in run.records]
    assert [row.verdict for row in found.rows] == ["FAIL", "FAIL", "FAIL", "pass"]
    assert [kind for kind, _ in found.kinds] == ["identity", "value", "membership"]
    assert "false beliefs" not in found.attacks  # a harm is no disclosure
    column = found.attacks.index("finding the record")
    cells = [row.cells[column] for row in found.rows]
    assert cells[0].shade == max(cell.shade or 0 for cell in cells)
    assert plain(cells[0].why).startswith("Finding the record, prosecutor: ")
    assert "control" in cells[0].why or "without the release" in cells[0].why
    assert heat(samples.single_run()) is None


def test_people_who_are_left_out_stand_in_the_table_of_a_comparison() -> None:
    made = samples.record("loukides-shao", 0.02, 0.1)
    half = replace(made, release=replace(made.release, rows=200, suppressed_rows=0, left_out_rows=200))
    point = Point(
        "loukides-shao", "loukides-shao", {}, 1, 0.02, 0.1, attack="definetti of disease, likelihood", passed=1
    )
    other = replace(point, name="b", method="b", utility=0.2)
    found = Comparison(Axis("strongest", "lower", True), Axis("queries.median", "lower"), (point, other))
    full = samples.record("b", 0.02, 0.2)
    run = replace(
        samples.run_of(half, replace(full, release=replace(full.release, suppressed_rows=0))), comparison=found
    )
    table = frontier_table(run, found)
    rows = [dict(zip(table.headings, row, strict=True)) for row in table.rows]
    assert [plain(row["left out"]) for row in rows] == ["200 (50 %)", "–"]
    assert rows[0]["from"] == "learning who has what (disease)"
    best = best_release(run)
    assert best is not None
    assert best.name == "loukides-shao"
    equal = replace(found, points=(point, replace(other, utility=0.1, risk=0.01)))
    safest = best_release(replace(run, comparison=equal))
    assert safest is not None
    assert (safest.name, safest.alike) == ("b", ("loukides-shao",))  # equally useful, and safer


def test_the_date_and_the_facts_stand_at_the_top() -> None:
    run = replace(mendable(), date="2026-03-01")
    assert opening(run).facts[:4] == ("2026-03-01", "400 rows", "400 people", "k = 5")
    for render in (render_html, render_markdown, render_terminal):
        assert "2026-03-01" in render(run)
        assert render(replace(run, date=None)) == render(mendable())
    assert RunRecord.from_json(run.to_json()).date == "2026-03-01"
    assert AuditRecord.from_json(replace(run.records[0], date="2026-03-01").to_json()).date == "2026-03-01"


def test_the_contents_lead_to_what_is_there() -> None:
    for run in (mendable(), samples.sample_run(), samples.bare_run(), samples.empty_run()):
        page = render_html(run)
        contents = page[page.index("<nav") : page.index("</nav>")]
        anchors = re.findall(r'href="#([\w-]+)"', contents)
        assert anchors
        assert all(f'id="{anchor}"' in page for anchor in anchors)


def test_findings_to_remember_are_one_of_each_kind_and_column() -> None:
    record = samples.single_run().records[0]
    chosen = key_findings(findings(record))
    kinds = [(f.kind, f.sensitive) for f in chosen]
    assert len(kinds) == len(set(kinds))
    assert not any(f.weak for f in chosen)
    assert verdict(samples.run_of(record)).kind == "fail"
