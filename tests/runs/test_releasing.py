"""The search for the most useful release within a policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.people import by_people
from auditor.auditing.sampling import people_of
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.model.record.policy import Policy, parse_policy
from auditor.model.record.record import RunRecord
from auditor.model.record.selection import CHOSEN, FAILS, NO_RELEASE, NOT_JUDGED, PASSES
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from auditor.runs.candidates import Candidate, beginning, moves
from auditor.runs.comparing import read_world
from auditor.runs.releasing import Found, Search, member_world
from auditor.runs.trying import Keeping, Step, Wanted, made
from auditor.runs.worlds import World
from reports import render_terminal
from reports.html import render_html
from reports.markdown import render_markdown
from scenarios.options import Options
from tests.conftest import Ended

SCHEMA = {
    "columns": {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi", "taxonomy": {"North": ["a", "b", "c"], "South": ["d", "e", "f"]}},
        "sex": {"role": "quasi", "domain": ["F", "M"]},
        "ill": {"role": "sensitive"},
    }
}
SECRET = 7
COLUMNS = "\n".join(
    [
        '[columns.age]\nrole = "quasi"\ntype = "numeric"',
        '[columns.town]\nrole = "quasi"',
        '[columns.sex]\nrole = "quasi"',
        '[columns.ill]\nrole = "sensitive"',
    ]
)


Cli = Callable[..., Ended]


def frame(rows: int = 80, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, rows).astype(str),
            "town": rng.choice(list("abcdef"), rows),
            "sex": rng.choice(list("FM"), rows),
            "ill": rng.choice(["flu", "cough", "ulcer", "none"], rows),
        }
    )


def world(rows: int = 80) -> World:
    return read_world(frame(rows), Schema.from_dict(SCHEMA), None, 1)


def policy(*checks: dict[str, Any]) -> Policy:
    return parse_policy("ours", {"title": "Ours", "source": "a board", "check": list(checks)})


K4 = policy({"figure": "release.k", "at_least": 4})


def search(where: Path, rules: Policy = K4, methods: Sequence[str] = ("mondrian", "kmember"), **given: Any) -> Found:
    wanted = Wanted(rules, tuple(methods), seed=3, jobs=1, **given)
    return Search(world(), wanted, where, SECRET).run()


def test_the_most_useful_of_all_that_pass_is_chosen(tmp_path: Path) -> None:
    found = search(tmp_path)
    selection = found.run.selection
    assert selection is not None
    assert found.chosen is not None
    assert found.audit is not None
    assert found.audit.policy is not None
    assert found.audit.policy.passed
    kept = {one.name: one.kept for one in selection.tried if one.kept is not None}
    passing = [one for one in selection.tried if one.status in (CHOSEN, PASSES, NOT_JUDGED)]
    assert selection.kept == max(one.kept for one in passing if one.kept is not None)
    assert kept[found.chosen.name] == selection.kept
    assert selection.left == 0
    # What `auditor audit` says of the release that is written.
    subject = made(world(), found.chosen, Wanted(K4, ("mondrian",), seed=3), SECRET)
    again = run_audit(subject, Options(attacks=("linking",), utility=("granularity",), policy=K4))
    assert again.policy is not None
    assert again.policy.passed
    assert again.utility[0].value == pytest.approx(selection.kept)


def test_a_finished_search_runs_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = search(tmp_path, methods=("mondrian",))
    with monkeypatch.context() as patch:
        patch.setattr("auditor.runs.releasing.carry_out", lambda *_: pytest.fail("it was run again"))
        second = search(tmp_path, methods=("mondrian",))
    assert first.run.to_json() == second.run.to_json()


def test_a_search_without_time_says_what_it_left(tmp_path: Path) -> None:
    clock = iter(range(10_000))
    wanted = Wanted(K4, ("mondrian", "kmember"), budget=4, seed=3, jobs=1)
    found = Search(world(), wanted, tmp_path, SECRET, clock=lambda: float(next(clock))).run()
    assert found.run.selection is not None
    assert found.run.selection.left > 0
    more = search(tmp_path)
    assert more.run.selection is not None
    assert more.run.selection.left == 0
    assert len(more.run.selection.tried) > len(found.run.selection.tried)


def test_where_nothing_passes_the_nearest_is_named(tmp_path: Path) -> None:
    rules = policy(
        {"figure": "release.k", "at_least": 4}, {"figure": "homogeneity.success", "at_most": 0.01, "link": "class"}
    )
    run = search(tmp_path, rules, ("mondrian",), budget=3).run
    near = run.selection
    assert near is not None
    assert near.chosen is None
    assert near.nearest is not None
    assert "homogeneity.success" in near.stands[0]
    shown = render_terminal(run)
    assert "FAIL" in shown
    assert "Publish none of them" in shown


@pytest.mark.slow
def test_an_excess_is_judged_and_mended(tmp_path: Path) -> None:
    rules = policy(
        {"figure": "release.k", "at_least": 3}, {"figure": "homogeneity.success", "of": "excess", "at_most": 0.15}
    )
    found = search(tmp_path, rules, ("mondrian",))
    assert found.audit is not None
    assert found.audit.policy is not None
    assert [check.of for check in found.audit.policy.checks] == ["value", "excess"]
    selection = found.run.selection
    assert selection is not None
    assert {one.attack for one in selection.others} == {"homogeneity"}
    assert any("suppressed" in one.name and one.kept is not None for one in selection.tried)
    assert all(
        one.kept is None or one.kept <= (selection.kept or 0)
        for one in selection.tried
        if one.status != FAILS and "early" not in one.status
    )


def test_weights_say_which_columns_to_keep(tmp_path: Path) -> None:
    plain = search(tmp_path / "a", methods=("mondrian",)).run.selection
    heavy = search(tmp_path / "b", methods=("mondrian",), keep=Keeping(weights={"sex": 50.0})).run.selection
    assert plain is not None
    assert heavy is not None
    assert plain.kept != heavy.kept
    assert heavy.weights == ("sex=50",)
    for keep, said in (
        (Keeping("queries", {"sex": 2.0}), "for granularity"),
        (Keeping(weights={"ill": 2.0}), "quasi-identifier"),
        (Keeping(weights={"sex": -1.0}), "at least 0"),
    ):
        with pytest.raises(UsageError, match=said):
            search(tmp_path / "c", keep=keep)


def test_synthesizers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="synthetic"):
        search(tmp_path, methods=("marginals",))


def test_halves_are_the_same_people_in_every_release() -> None:
    table = world(200).people
    drawn: dict[int, list[set[int]]] = {0: [], 1: []}
    for k in (2, 20):
        release, whose = anonymize(table, "mondrian", 1, k=k)
        for half in (0, 1):
            for most in (40, 1000):
                subject = people_of(by_people(Subject(release, table, whose)), most, 5, Suppression.EXCLUDED, half)
                assert subject.sample is not None
                drawn[half].append(set(subject.sample.targets.tolist()))
    assert not set.union(*drawn[0]) & set.union(*drawn[1])
    assert drawn[0][1] == drawn[0][3]
    assert drawn[0][0] < drawn[0][1]
    assert drawn[0][1] | drawn[1][1] == set(range(200))


def test_moves() -> None:
    tried = [Candidate("mondrian", {"k": k}) for k in (5, 10)]
    assert Candidate("mondrian", {"k": 7}).key in {one.key for one in moves(tried[1], tried, ["age"], passed=True)}
    mended = list(moves(tried[0], tried, ["age"], passed=False))
    assert [(one.suppress, one.coarsen) for one in mended] == [(True, ()), (False, ("age",))]
    names = [one.name for one in beginning(["mondrian", "anatomy"], K4, 100)]
    assert names[:2] == ["mondrian k=4", "anatomy l=2"]
    about = policy({"figure": "homogeneity.success", "at_most": 0.5, "link": "class"})
    close = [one.params for one in beginning(["full-domain"], about, 100) if "t" in one.params]
    assert close  # only with the settings that closeness needs
    assert all(params["limit"] == 0 for params in close)


def test_the_record_and_its_reports(tmp_path: Path) -> None:
    run = search(tmp_path, methods=("mondrian", "anatomy")).run
    assert run.selection is not None
    assert RunRecord.from_json(run.to_json()).to_json() == run.to_json()
    folder = resources.files("auditor.model.record") / "schemas"
    schemas = [json.loads((folder / name).read_text(encoding="utf-8")) for name in ("run-2.json", "record-2.json")]
    registry: Registry[Any] = Registry().with_resources([(one["$id"], Resource.from_contents(one)) for one in schemas])
    assert list(Draft202012Validator(schemas[0], registry=registry).iter_errors(json.loads(run.to_json()))) == []
    for text in (render_html(run), render_markdown(run), render_terminal(run)):
        assert "Why this one" in text
        assert "no say in the choice" in " ".join(text.split())
    assert NO_RELEASE in {one.status for one in run.selection.tried} or len(run.selection.tried) > 4


def test_another_seed_is_another_search(tmp_path: Path) -> None:
    searches = [Search(world(), Wanted(K4, ("mondrian",), seed=seed, jobs=1), tmp_path, SECRET) for seed in (1, 2)]
    one, other = (each._id(Candidate("mondrian", {"k": 4}), Step.MADE) for each in searches)
    assert one != other  # their halves are others


def test_what_is_drawn_depends_on_the_data(tmp_path: Path) -> None:
    files = []
    for number, some in enumerate((frame(80), frame(80).iloc[1:])):
        files.append(tmp_path / f"{number}.csv")
        some.to_csv(files[-1], index=False)
    (tmp_path / "s.toml").write_text(COLUMNS, encoding="utf-8")
    drawn = [member_world(file, tmp_path / "s.toml", 0.25, SECRET) for file in files]
    assert len({secret for *_, secret in drawn}) == 2
    found, members, _ = drawn[0]
    assert members is not None
    assert (found.people.rows, len(found.outsiders), int(members.sum())) == (60, 20, 60)


@pytest.mark.slow
def test_people_who_are_held_out(tmp_path: Path, auditor_cli: Cli) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.toml").write_text(COLUMNS, encoding="utf-8")
    given = ("release", tmp_path / "t.csv", "--schema", tmp_path / "s.toml", "--methods", "mondrian", "--jobs", "1")
    where = ("-o", tmp_path / "r.csv", "--work", tmp_path / "work", "--policy", "k5", "--holdout", "0.5")
    assert "Give --provenance" in auditor_cli(*given, *where).err
    assert not (tmp_path / "work").exists()
    taken = auditor_cli(*given, *where, "--provenance", tmp_path / "work" / "audit.json")
    assert "two different results" in taken.err
    ended = auditor_cli(*given, *where, "--provenance", tmp_path / "whose.csv")
    assert ended.code == 0, ended.err
    assert (tmp_path / "work").stat().st_mode & 0o077 == 0
    record = audit(
        tmp_path / "r.csv",
        tmp_path / "s.toml",
        original=tmp_path / "t.csv",
        provenance=tmp_path / "whose.csv",
        options=Options(attacks=("homogeneity",), utility=()),
    )
    chosen = json.loads((tmp_path / "work" / "audit.json").read_text(encoding="utf-8"))
    mine, theirs = (
        next(r["value"] for r in each if (r["attack"], r["measure"], r["link"]) == ("homogeneity", "success", "class"))
        for each in (json.loads(record.to_json())["risks"], chosen["risks"])
    )
    assert mine == pytest.approx(theirs)  # of the right people
    never = tmp_path / "never.toml"
    never.write_text('title="n"\nsource="n"\n[[check]]\nfigure="release.k"\nat_least=500\n', encoding="utf-8")
    again = (*given, "-o", tmp_path / "r.csv", "--work", tmp_path / "work", "--policy", never, "--force")
    assert "was written before" in auditor_cli(*again).err
    assert not (tmp_path / "work" / "audit.json").exists()


def test_the_command_line(tmp_path: Path, auditor_cli: Cli) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.toml").write_text(COLUMNS, encoding="utf-8")
    release, whose, work = tmp_path / "r.csv", tmp_path / "w.csv", tmp_path / "work"
    given = ("release", tmp_path / "t.csv", "--schema", tmp_path / "s.toml", "--methods", "mondrian", "--jobs", "1")
    where = ("-o", release, "--provenance", whose, "--work", work)
    ended = auditor_cli(*given, *where, "--policy", "k5", "--budget", "60s")
    assert ended.code == 0, ended.err
    assert "Publish the release that was written" in ended.out
    assert (work / "report.html").exists()
    assert f"{SECRET:064x}" not in (work / "run.json").read_text(encoding="utf-8")
    assert (work / "secret.txt").read_text(encoding="utf-8").strip() not in (work / "run.json").read_text(
        encoding="utf-8"
    )
    found = audit(
        release,
        tmp_path / "s.toml",
        original=tmp_path / "t.csv",
        provenance=whose,
        options=Options(policy=K4, attacks=("linking",), utility=()),
    )
    assert found.policy is not None
    assert found.policy.passed
    refused = auditor_cli(*given, *where, "--policy", "k5", "--budget", "soon")
    assert refused.code == 2
    assert "--budget" in refused.err or "exists" in refused.err
    never = tmp_path / "never.toml"
    never.write_text('title="n"\nsource="n"\n[[check]]\nfigure="release.k"\nat_least=500\n', encoding="utf-8")
    nothing = auditor_cli(*given, "-o", tmp_path / "n.csv", "--work", tmp_path / "n", "--policy", never)
    assert nothing.code == 1
    assert not (tmp_path / "n.csv").exists()
    assert "No release was written" in nothing.err
