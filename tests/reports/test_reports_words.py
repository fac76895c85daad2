"""The words of the reports: sentences, standings, findings, verdicts and summaries for hand-made records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.model.record.meaning import Kind
from auditor.model.record.record import AuditRecord, PolicyCheck, Risk
from reports import render_html, render_terminal
from reports.pictures.pictures import panels
from reports.reading import Excess, Meanings, excess_of, figures, is_rate, reference_of
from reports.text import THIN
from reports.words.findings import findings, gaps
from reports.words.person import revealed
from reports.words.sentences import adversary_lines, comparison, links_line, sentence, who
from reports.words.summary import bottom_line, briefs
from reports.words.verdicts import check_text, verdict
from tests.support import record_samples as samples
from tests.support.record_samples_rows import row

WORDS = Meanings(samples.record("sample", 0.3, 0.1))


def plain(text: str) -> str:
    return text.replace(THIN, " ")


def one(risk: Risk, **release: object) -> AuditRecord:
    whole = samples.record("sample", 0.3, 0.1)
    return replace(whole, risks=(risk,), release=replace(whole.release, **release))


def test_the_sentence_of_the_design() -> None:
    record = one(samples.count("homogeneity", "certain", 34, 100, sensitive="disease"))
    assert findings(record)[0].headline == (
        "34 of 100 people in this release can be given their disease with certainty by this adversary."
    )
    assert adversary_lines(record) == [
        "The prosecutor knows that a person is in the release, and that person's age, sex and postcode."
    ]
    assert links_line(record) == (
        "Figures are those of the strongest way to find people "
        "(link likelihood: classes are weighed by how likely each holds the person)."
    )


def test_a_granted_class_is_nobodys_figure() -> None:
    granted = samples.count("homogeneity", "certain", 34, 100, sensitive="disease", link="class")
    record = one(granted)
    assert findings(record)[0].headline == (
        "If the class were known: 34 of 100 people in this release can be given their disease with certainty."
    )
    assert links_line(record) == ""  # there is no way to find people to speak of
    found = samples.count("homogeneity", "certain", 2, 100, sensitive="disease")
    both = findings(replace(record, risks=(granted, found)))
    assert [(f.headline[:8], f.bound) for f in both] == [("2 of 100", "34 of 100 if the class were known")]


def test_the_adversary_is_named_once() -> None:
    risk = samples.count("homogeneity", "certain", 1, 9, link=None)
    record = one(risk)
    silent = replace(samples.PROSECUTOR, sentence="")
    assert adversary_lines(replace(record, adversaries=(silent,))) == [
        "The prosecutor knows a person's age, sex and postcode."
    ]
    assert adversary_lines(replace(record, adversaries=())) == ["The adversary is the prosecutor."]
    assert who(record, risk) == "this adversary"
    two = replace(record, risks=(risk, replace(risk, adversary="journalist", link="tightest")))
    assert [who(two, r) for r in two.risks] == ["the prosecutor", "the journalist"]
    assert who(two, two.risks[1], ("journalist", "marketer")) == "the journalist (likewise the marketer)"


def test_each_adversary_has_a_finding_of_their_own_where_they_differ() -> None:
    names = ("boss", "neighbour", "doctor", "nurse", "clerk")
    rows = [
        samples.rate("linking", "success", value, 90, adversary=name, control=0.0)
        for name, value in zip(names, (0.5, 0.5, 0.3, 0.2, 0.1), strict=True)
    ]
    people = tuple(replace(samples.PROSECUTOR, name=name, sentence=f"The {name} knows an age.") for name in names)
    record = replace(one(rows[0]), risks=tuple(rows), adversaries=people)
    found = findings(record)
    assert [f.adversaries for f in found] == [("boss", "neighbour"), ("doctor",), ("nurse",)]
    assert found[-1].support[-1] == "1 more adversaries get no further than that."
    lines = adversary_lines(record)
    assert lines[0] == "The boss knows an age."
    assert lines[4] == "1 more adversaries are described under Method."


@pytest.mark.parametrize(
    ("attack", "measure", "value", "params", "part"),
    [
        ("linking", "max", 0.2, {}, "most exposed person is linked to their own record with probability 0.2 (one in 5)"),
        ("linking", "mean", 0.02, {}, "a person is linked to their own record with probability 0.02 (one in 50)"),
        ("linking", "at_risk", 7, {"threshold": 0.1}, "7 of 100 people can be linked to their own record"),
        ("linking", "success", 0.12, {}, "points at the right record for 12 % of 100 people"),
        ("linking", "class_found", 97, {}, "The right class was named for 97 of 100 people"),
        ("homogeneity", "certain_right", 7, {}, "7 of 100 people in this release can be given their disease with certainty"),
        ("homogeneity", "above_right", 7, {"tau": 0.5}, "their disease, rightly and with a confidence above 50 %"),
        ("homogeneity", "above", 0, {"tau": 0.5}, "None of 100 people can be given their disease with a confidence above 50"),
        ("homogeneity", "success", 0.62, {}, "guesses the disease right for 62 % of 100 people"),
        ("proximity", "max", 1.0, {"epsilon": 1000}, "100 % of the belief about their disease lies within ±1 000"),
        ("proximity", "mean", 0.3, {"epsilon": 5}, "On average 30 % of the belief about a person's disease lies within ±5"),
        ("proximity", "above", 3, {"epsilon": 5}, "3 of 100 people can be placed within ±5 of their true disease"),
        ("proximity", "window", 0.75, {"width": 30}, "75 % of the belief about one person's disease falls into an interval"),
        ("proximity", "success", 0.5, {"width": 30}, "of width 30 that holds the true disease for 50 % of 100 people"),
        ("proximity", "m", 4, {"epsilon": 5}, "Of the disease values of a class, at most a share of 1/4 lies within ±5"),
        ("proximity", "m", 1, {"epsilon": 5}, "lie within ±5 of one of them: no protection against a near guess (m = 1)"),
        ("divergence", "mean", 0.5, {"reading": "distinct"}, "lies on values unrelated to the truth (each distinct value"),
        ("divergence", "above", 9, {}, "9 of 100 people would be believed to have an unrelated disease"),
        ("divergence", "top", 0.25, {}, "is wrong, and unrelated to the truth, for 25 % of 100 people"),
        ("membership", "auc", 0.71, {}, "tells a person who is in the data from one who is not"),
        ("membership", "auc", 0.71, {"against": "fakes"}, "in 71 % of pairs"),
        ("membership", "advantage", 0.3, {}, "30 percentage points higher among members than among people who are not"),
        ("membership", "tpr_at_fpr_0.01", 0.2, {}, "is called a member in error, 20 % of the members"),
        ("membership", "tpr_at_fpr_0.001", 0.2, {}, "While one in 1000 people who are not in the data"),
        ("membership", "no_match", 0.4, {}, "40 % of outsiders match nothing"),
        ("membership", "fakes", 12, {}, "12 of 100 made-up people match the release"),
        ("definetti", "success", 0.81, {}, "names the right disease for 81 % of 100 people"),
        ("skewness", "lift", 3.5, {}, "The lift of the skewness attack (disease) is 3.5"),
    ],
)  # fmt: skip
def test_every_measure_has_its_sentence(
    attack: str, measure: str, value: float, params: dict[str, object], part: str
) -> None:
    risk = row(attack, "prosecutor", "tightest", measure, "disease", params=params, value=value, n=100)
    for attacker in ("", "someone who knows their age"):
        text = plain(sentence(WORDS, risk, attacker))
        assert part in text
        assert text.endswith(".")
        assert "  " not in text


def test_comparison_says_what_is_beaten_and_what_is_not() -> None:
    beats = samples.rate("homogeneity", "success", 0.62, 400, control=0.31, baseline=0.28, control_kind="outsiders")
    text = plain(comparison(WORDS, beats))
    assert "people who are not in the release: 31 %; the same guess without the release: 28 %." in text
    assert "44.9 % (" in text  # (0.62 - 0.31) / 0.69 = 0.449
    assert "not beat" not in text
    not_above = samples.rate(
        "homogeneity", "success", 0.3, 400, control=0.31, baseline=0.32, control_kind="leave_one_out"
    )
    text = comparison(WORDS, not_above)
    assert "does not beat a guess without the release" in text  # 32 % is more than the control's 31 %
    unclear = samples.rate("homogeneity", "success", 0.32, 40, control=0.31, baseline=0.1)
    assert "may be chance" in comparison(WORDS, unclear)
    assert [WORDS.standing(r).kind for r in (beats, not_above, unclear)] == ["above", "not_above", "unclear"]
    assert WORDS.standing(beats).label == "above the control"
    assert plain(WORDS.standing(not_above).label) == "no better than guessing without the release (32 %)"
    assert plain(WORDS.standing(unclear).label) == "not shown to be above the control (31 %): it may be chance"


def test_an_excess_over_the_baseline_is_named_so() -> None:
    detail = {"excess": {"value": 0.3, "low": 0.1, "high": 0.4, "over": "baseline"}}
    risk = row("homogeneity", "p", "class", "success", "disease", value=0.6, baseline=0.433, control=0.2, n=90)
    over = replace(risk, detail=detail, control_kind="leave_one_out", low=0.5, high=0.7)
    held = reference_of(over)
    assert held is not None
    assert (held.name, held.value) == ("baseline", 0.433)
    assert WORDS.standing(over).label == "above guessing without the release"
    at_most = replace(over, detail={"excess": {**detail["excess"], "low": 0.0}})
    assert "not shown to be better than guessing" in WORDS.standing(at_most).label
    below = replace(over, value=0.4, detail={"excess": {**detail["excess"], "value": -0.1, "low": -0.2}})
    assert plain(WORDS.standing(below).label) == "no better than guessing without the release (43.3 %)"


def test_what_is_certain_of_outsiders_too_is_no_news() -> None:
    weak = samples.rate("homogeneity", "success", 0.5, 7, sensitive="disease", control=0.45)
    for control, standing, label in (
        (0.0, "certain", "certain"),
        (1.0, "unclear", None),
        (None, "unknown", "no control"),
    ):
        certain = samples.count("homogeneity", "certain", 1, 7, sensitive="disease", control=control)
        found = findings(replace(one(certain), risks=(certain, weak)))[0]
        assert found.standing == standing
        assert label in (None, found.label)
        assert ("with certainty" in found.headline) is (control != 1.0)


def test_confident_and_wrong_is_a_sentence_of_its_own() -> None:
    common = {"sensitive": "disease", "control": 0.0}
    claimed, right = (
        samples.count("homogeneity", m, v, 100, **common) for m, v in (("certain", 12), ("certain_right", 3))
    )
    found = findings(replace(one(claimed), risks=(claimed, right)))[0]
    assert found.headline.startswith("3 of 100 people in this release can be given their disease with certainty")
    assert found.wrong == "Of 12 claims made with certainty 9 are wrong."
    for render in (render_terminal, render_html):
        assert found.wrong in plain(render(samples.run_of(replace(one(claimed), risks=(claimed, right)))))


def test_findings_without_a_control_say_so_and_stand_behind() -> None:
    strong = samples.rate("definetti", "success", 0.9, 400, sensitive="disease", baseline=0.2, link=None)
    strong = replace(strong, detail={"excess": {"value": 0.875, "low": 0.8, "high": 0.9, "over": "baseline"}})
    weak = samples.rate("homogeneity", "success", 0.3, 400, sensitive="disease", control=0.2)
    found = findings(replace(one(weak), risks=(strong, weak)))
    assert [(f.attack, f.label) for f in found] == [
        ("homogeneity", "above the control"),
        ("definetti", "no control; above guessing without the release"),
    ]


def test_an_excess_is_recorded_and_checked() -> None:
    noted = Risk("a", "p", None, "success", value=0.5, control=0.2, detail={"excess": {"value": 0.4, "low": 0.1}})
    assert excess_of(noted) == Excess(0.4, 0.1)
    assert excess_of(Risk("a", "p", None, "certain", value=5, control=2.0, n=9)) is None
    assert excess_of(replace(noted, n=1)) is None  # one person is no rate
    assert excess_of(Risk("a", "p", None, "success", value=0.5, detail={"excess": {"value": "much"}})) is None
    assert [is_rate(replace(noted, kind=kind)) for kind in Kind] == [True, False, True, False]
    assert not is_rate(replace(noted, value=1.5))


def test_findings_come_in_the_order_of_their_excess() -> None:
    record = replace(samples.single_run().records[0])
    open_file = replace(record, release=replace(record.release, identifiers=("id", "name")))
    found = findings(open_file)
    assert [f.attack for f in found] == [
        "identifiers", "homogeneity", "membership", "proximity", "linking", "linking", "divergence",
    ]  # fmt: skip
    assert found[0].headline == (
        "The release publishes the identifier columns 'id' and 'name': everybody can be named. Remove them."
    )
    assert found[1].advice == "More different sensitive values in every class (l-diversity, t-closeness)."
    strong = samples.rate("proximity", "success", 0.9, 400, sensitive="income", control=0.2)
    weak = samples.rate("homogeneity", "success", 0.23, 400, sensitive="disease", control=0.22)
    linked = samples.rate("linking", "success", 0.2, 400, control=0.0)
    assert [f.attack for f in findings(replace(record, risks=(weak, linked, strong)))] == [
        "proximity", "linking", "homogeneity",
    ]  # fmt: skip


def test_the_summary_has_the_best_of_each_kind() -> None:
    found = briefs(samples.sample_run(), [1, 2, 3, 4])
    assert [b.release for b in found] == ["identity", "mondrian k=5", "anatomy l=3", "slicing k=20"]
    assert [[f.kind for f in b.findings] for b in found] == [["value", "identity", "membership"]] * 4
    assert (
        found[0].findings[1].headline
        == "360 of 400 people can be linked to their own record with a probability above 20\u202f% by the prosecutor."
    )


def test_linking_in_blocks_says_what_is_linked() -> None:
    blocks = (("age", "sex", "postcode"), ("disease", "income"))
    risk = samples.rate("linking", "mean", 1.0, 400, control=0.0)
    assert findings(one(risk, blocks=blocks))[0].headline == (
        "Everybody can be linked to their own record with certainty by this adversary: "
        "the row of the quasi-identifier table, not the disease or income."
    )


def test_made_up_people_do_not_outrank_real_ones() -> None:
    fakes = samples.rate("membership", "auc", 0.95, 400, link=None, params={"against": "fakes"}, control=0.5)
    weak = samples.rate("homogeneity", "success", 0.3, 400, sensitive="disease", control=0.22)
    found = findings(replace(one(weak), risks=(fakes, weak)))
    assert [f.attack for f in found] == ["homogeneity", "membership"]
    assert found[1].strength == pytest.approx(0.9)


def test_a_count_says_its_control() -> None:
    risk = samples.count("homogeneity", "certain", 34, 100, sensitive="disease", control=3.0, control_kind="outsiders")
    text = "The same attack on people who are not in the release: 3 of 100."
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


def test_a_class_that_is_found_is_said() -> None:
    found = {f.attack: f for f in findings(samples.single_run().records[0]) if f.adversaries == ("prosecutor",)}
    assert "The right class was named for 324 of 400 people." in found["linking"].support


def test_one_person() -> None:
    run = samples.person_run()
    said = [plain(f.headline) for f in findings(run.records[0])]
    assert said == [
        "The adversary believes the disease is Bronchitis, with probability 1 (true).",
        "The adversary believes the income is between 10 000 and 10 030, with probability 0.750 (true).",
    ]
    for text in (plain(render_terminal(run)), plain(render_html(run)).split('id="appendix"')[0]):
        assert "Bronchitis" in text
        for wrong in ("may be chance", "On average", "most exposed", "95 %", " pairs", "for The"):
            assert wrong not in text
    assert all(m.low is None for panel in panels(run) for m in panel.marks)


def test_one_person_without_reveal_and_with_ties() -> None:
    def said(value: float, **detail: object) -> str:
        risk = row("homogeneity", "p", "tightest", "success", "disease", value=value, expected=0.5, n=1, detail=detail)
        return sentence(WORDS, risk)

    assert said(1.0) == "The adversary's strongest belief about the disease has probability 0.500, and it is true."
    assert said(0.0).endswith("and it is false.")
    assert said(0.0, claim=["Flu"]) == "The adversary believes the disease is Flu, with probability 0.500 (false)."
    assert said(0.5, claim=["Flu", "HIV"]) == (
        "The adversary believes the disease is Flu or HIV, each with probability 0.500 "
        "(tied between 2 values, one of which is true)."
    )
    member = row("membership", "p", None, "auc", value=0.9, low=0.1, high=1.0, n=64, params={"against": "fakes"})
    value = row("homogeneity", "p", "class", "success", "disease", value=1.0, expected=1.0, n=1)
    top = row("divergence", "p", "class", "top", "disease", value=0.0, n=1)
    record = replace(one(value), risks=(value, member, top))
    assert [f.attack for f in findings(record)] == ["homogeneity", "membership"]  # no harm: not said
    assert plain(findings(record)[1].headline) == (
        "This adversary takes the person for a member before 90 % of made-up people."
    )
    assert all(r.low is None for r in figures(record))


def test_gaps_are_grouped_with_their_reason() -> None:
    found = gaps(samples.single_run().records[0])
    assert len(found) == 3
    assert found[0].what == "proximity, disease: success (link likelihood, tightest, containment and class)"
    assert found[0].reason == "disease is nominal: proximity needs a numeric sensitive column"
    assert {g.status for g in found} == {"not applicable", "did not converge"}


def test_verdicts() -> None:
    assert verdict(samples.sample_run()).kind == "mixed"
    assert verdict(samples.sample_run()).title == (
        "1 of 4 releases pass policy ema; the best of them is slicing k=20 (query error (median) 0.170, lower is better)."
    )
    failed = verdict(samples.single_run())
    assert failed.kind == "fail"
    assert failed.title == (
        "FAIL – In the worst case, on average a person is linked to their own record with probability 0.34 (one in 2.9); "
        "at most 0.09 (one in 11) is allowed."
    )
    assert failed.lines[0].startswith("In the worst case, the most exposed person")
    every = verdict(samples.run_of(*(samples.record(name, 0.02, 0.1) for name in "ab")))
    assert (every.kind, every.title[:38]) == ("pass", "PASS – all 2 releases pass policy ema;")
    none = verdict(samples.run_of(*(samples.record(name, 0.5, 0.1) for name in "ab")))
    assert (none.kind, none.title) == ("fail", "FAIL – none of 2 releases passes policy ema.")
    assert [line[:8] for line in none.reasons] == ["a fails.", "b fails."]
    safe = verdict(samples.run_of(samples.record("safe", 0.02, 0.1)))
    assert (safe.kind, safe.title[:44]) == ("pass", "PASS – the release keeps to policy ema (EMA ")
    assert safe.lines == ()
    assert verdict(samples.bare_run()).title == "NOT JUDGED – no policy was given"
    assert verdict(samples.empty_run()).title == "Nothing was audited"


@pytest.mark.parametrize(
    ("key", "limit", "sign", "value", "text"),
    [
        ("release.k", 10, ">=", 5, "The smallest class has 5 people; at least 10 are required"),
        ("release.alpha", 0.5, "<=", 0.8, "One value makes up 80 % of a class; at most 50 % is allowed"),
        ("homogeneity.certain", 0, "<=", 3, "3 of the people in this release can be given their sensitive value with "
            "certainty; none is allowed"),
        ("membership.auc", 0.6, "<=", 0.7, "The adversary tells a person who is in the data from one who is not in "
            "70 % of pairs; at most 60 % is allowed"),
        ("odd.thing", 0.6, "<=", 0.7, "The figure odd thing is 0.700; at most 0.6 is allowed"),
        ("release.k", 10, ">=", None, "People in the smallest class: cannot be judged, several blocks"),
    ],
)  # fmt: skip
def test_checks_in_words(key: str, limit: float, sign: str, value: float | None, text: str) -> None:
    record = replace(samples.record("sample", 0.3, 0.1), risks=())
    assert plain(check_text(record, PolicyCheck(key, limit, sign, value, None, "several blocks"))) == f"{text} ({key})."


def test_bottom_line_names_the_attack_and_respects_intervals() -> None:
    run = samples.sample_run()
    text = bottom_line(run)
    assert text is not None
    # 400 people are few
    assert "mondrian k=5 and slicing k=20 have the least risk from the prosecutor and cannot be told apart" in text
    assert "Of those that pass, slicing k=20 is the most useful (query error (median) 0.170, lower is better)." in text
    apart = samples.run_of(samples.record("a", 0.5, 0.1, n=10_000), samples.record("b", 0.1, 0.1, n=10_000))
    text = plain(bottom_line(apart) or "")
    assert text.startswith(
        "Of 2 releases, b has the least risk from the prosecutor: the strongest attack is narrowing a number down (income)"
    )
    assert "Of those" not in text  # none protects, so that none is called useful
    assert bottom_line(samples.single_run()) is None
    assert bottom_line(samples.run_of(*samples.person_run().records * 2)) is None
