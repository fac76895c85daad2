"""Remedies: each that an audit proposes, carried out by its own command, gives the figure that was predicted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.audit import audit
from auditor.auditing.remedies.drivers import _cut
from auditor.auditing.remedies.search import _Search
from auditor.model.record.policy import builtin_policies, parse_policy
from auditor.model.record.record import AuditRecord
from auditor.model.record.remedy import Remedy
from auditor.model.schema import Schema
from reports import render_html, render_markdown, render_terminal
from reports.tables.remedies import remedy_words
from scenarios.options import Options
from tests.conftest import Ended
from tests.support.adult import unpack_release, write_adult
from tests.support.lengths import at_length

Cli = Callable[..., Ended]

SCHEMA = """
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
[columns."home town"]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
PEOPLE = ["20,F,flu", "20,F,HIV", "21,F,flu", "21,F,cold", "40,M,flu", "40,M,flu"]


def carried_out(cli: Cli, folder: Path, arguments: list[object], most: int = 99) -> AuditRecord:
    """Audits; then carries out each remedy by its command, audits again, and compares with what was predicted."""
    first = folder / "first.json"
    ended = cli("audit", *arguments, "--utility", "granularity", "--json", first, "--quiet", "--force")
    assert ended.code == 1, ended.err
    record = AuditRecord.from_json(first.read_text())
    assert record.remedies
    for remedy in record.remedies[:most]:
        assert remedy.command is not None
        words = shlex.split(remedy.command)
        assert words[:2] == ["auditor", "mend"]
        rest, renewed = list(arguments[1:]), []
        if "--provenance" in rest:
            place = rest.index("--provenance") + 1
            renewed = ["--provenance", rest[place], "--new-provenance", folder / "renewed.csv", "--force"]
            rest[place] = folder / "renewed.csv"
        ended = cli(*words[1:], *renewed)
        assert ended.code == 0, (remedy.command, ended.err)
        again = folder / "again.json"
        ended = cli(
            "audit",
            words[-1],
            *rest,
            "--utility",
            "granularity",
            "--no-remedies",
            "--json",
            again,
            "-q",
            "--force",
        )
        assert ended.code == (0 if remedy.passes else 1), (remedy.command, ended.err)
        mended = AuditRecord.from_json(again.read_text())
        assert mended.policy is not None
        found = {check.measure: check.value for check in mended.policy.checks}
        for one in remedy.predicted:
            measured = found.get(one.figure, 0)  # without identifiers there is no check of them
            assert measured == one.after or measured == pytest.approx(one.after, abs=1e-12), (remedy.command, one)
        kept = {u.measure: u.value for u in mended.utility}["granularity"]
        assert kept == pytest.approx(remedy.granularity, abs=1e-12)
        assert mended.release.suppressed_rows == record.release.suppressed_rows + remedy.rows
        Path(words[-1]).unlink()
    return record


@pytest.fixture
def tiny(tmp_path: Path) -> tuple[Path, Path, Path, Path]:
    """A release that is its original, in a folder whose name a shell would take apart."""
    folder = tmp_path / "a 'folder' & more"
    folder.mkdir()
    release, original, schema, policy = (folder / n for n in ("release.csv", "data.csv", "schema.toml", "rules.toml"))
    header = "age,home town,disease\n"
    release.write_text(header + "\n".join(PEOPLE) + "\n")
    named = (f"{name},{row}" for name, row in zip("ABCDEF", PEOPLE, strict=True))
    original.write_text("name," + header + "\n".join(named) + "\n")
    schema.write_text(SCHEMA)
    policy.write_text(
        '[[check]]\nfigure = "release.k"\nat_least = 3\n[[check]]\nfigure = "linking.max"\nat_most = 0.34\n'
    )
    return release, original, schema, policy


def test_by_hand(tiny: tuple[Path, Path, Path, Path], tmp_path: Path, auditor_cli: Cli) -> None:
    """Three classes of two people. Bands of two years put 20 and 21 together: a class of four, and 40/M is left with two.

    Withholding 40/M after that, k is 4 and the highest risk 1/4. What is kept of age: its range is 20; four labels that
    cover two whole years lose 1/20 each, two withheld ones 1: (4/20 + 2)/6 = 2.2/6. Of the home town: 2/6. So
    1 - (2.2/6 + 2/6)/2 = 0.65.
    Without a town the three ages still make three classes: k stays 2. Withholding alone would leave nobody.
    """
    release, original, schema, policy = tiny
    options = [
        "--schema",
        schema,
        "--original",
        original,
        "--match",
        "rows",
        "--policy",
        policy,
        "--attacks",
        "linking",
    ]
    record = carried_out(auditor_cli, tmp_path, [release, *options])
    best, *others = record.remedies
    assert [(c.column, c.levels, c.level) for c in best.coarsen] == [("age", 1, "bands of 2")]
    assert (best.suppress, best.rows, best.row_numbers, best.passes) == (("k<3",), 2, (5, 6), True)
    assert [(p.figure, p.before, p.after) for p in best.predicted] == [("release.k", 2, 4), ("linking.max", 0.5, 0.25)]
    assert best.granularity == pytest.approx(1 - (2.2 / 6 + 1 / 3) / 2, abs=1e-12)
    assert best.granularity_before == 1
    single = {
        r.coarsen[0].column: r for r in others if len(r.coarsen) == 1 and r.coarsen[0].levels == 1 and not r.suppress
    }
    assert [p.after for p in single["age"].predicted] == [2, 0.5]
    assert [p.after for p in single["home town"].predicted] == [2, 0.5]
    assert not single["age"].passes
    assert {driver.figure: driver.criterion for driver in record.drivers} == {"release.k": "k<3", "linking.max": "k<3"}
    (driver, _) = record.drivers
    assert (driver.classes, driver.people, driver.row_numbers) == (3, 6, (1, 2, 3, 4, 5, 6))
    assert [(c.column, c.cleared) for c in driver.columns] == [("age", 4), ("home town", 0)]


def test_mended_releases_are_not_all_held(tiny: tuple[Path, Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    release, original, schema, _ = tiny
    options = Options(attacks=("linking",), utility=(), policy=builtin_policies()["k3"])
    held = audit(release, schema, original=original, match="rows", options=options)
    found: list[_Search] = []
    made = _Search.remedies
    monkeypatch.setattr("auditor.auditing.remedies.search.HELD_ROWS", 2 * len(PEOPLE))

    def kept(self: _Search) -> tuple[Remedy, ...]:
        found.append(self)
        return made(self)

    monkeypatch.setattr(_Search, "remedies", kept)
    assert audit(release, schema, original=original, match="rows", options=options) == held
    (search,) = found
    assert len(search._trials) > 2
    assert len(search._held) == 2


def test_published_identifiers_are_dropped(
    tiny: tuple[Path, Path, Path, Path], tmp_path: Path, auditor_cli: Cli
) -> None:
    _, original, schema, _ = tiny
    policy = tmp_path / "loose.toml"
    policy.write_text('[[check]]\nfigure = "release.k"\nat_least = 2\n')
    record = carried_out(
        auditor_cli, tmp_path, [original, "--schema", schema, "--policy", policy, "--attacks", "linking"]
    )
    (best, *_) = record.remedies
    assert (best.drop, best.coarsen, best.suppress, best.passes) == (("name",), (), (), True)
    assert [(p.figure, p.before, p.after) for p in best.predicted] == [("release.identifiers", 1, 0)]


@pytest.mark.slow
def test_own_release_with_provenance(tmp_path: Path, auditor_cli: Cli) -> None:
    """The town by mondrian: the release is shuffled, and `mend` writes the provenance of the mended one."""
    town = tmp_path / "town"
    assert auditor_cli("export", "town", "-o", town).code == 0
    lines = (town / "data.csv").read_text().splitlines(keepends=True)
    (town / "data.csv").write_text("".join(lines[:401]))
    data, schema, release, whose = town / "data.csv", town / "schema.toml", tmp_path / "r.csv", tmp_path / "p.csv"
    made = auditor_cli(
        "anonymize",
        data,
        "--schema",
        schema,
        "--method",
        "mondrian",
        "--set",
        "k=4",
        "-o",
        release,
        "--provenance",
        whose,
    )
    assert made.code == 0, made.err
    policy = tmp_path / "own.toml"
    policy.write_text(
        '[[check]]\nfigure = "release.k"\nat_least = 6\n[[check]]\nfigure = "homogeneity.success"\nat_most = 0.45\n'
        '[[check]]\nfigure = "release.suppressed_share"\nat_most = 0.6\n'
    )
    options = ["--schema", schema, "--original", data, "--provenance", whose, "--policy", policy]
    record = carried_out(
        auditor_cli, tmp_path, [release, *options, "--attacks", "linking,homogeneity", "--link", "class"], 4
    )
    assert any(remedy.passes for remedy in record.remedies)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), at_length([("local_k5_8qi", True)], [("k5_s5_8qi", False)]))
def test_arx_releases(name: str, known: bool, data_folder: Path, tmp_path: Path, auditor_cli: Cli) -> None:
    """Releases by ARX, with the original and without."""
    table, schema = write_adult(data_folder, tmp_path)
    release = unpack_release(data_folder, name, tmp_path)
    policy = tmp_path / "own.toml"
    policy.write_text(
        '[[check]]\nfigure = "release.l_distinct"\nat_least = 4\n[[check]]\nfigure = "release.t_equal"\nat_most = 0.6\n'
    )
    rules: list[object] = ["ema", "--original", table, "--match", "rows"] if known else [policy]
    options = [release, "--schema", schema, "--attacks", "linking", "--policy", *rules]
    record = carried_out(auditor_cli, tmp_path, options, most=4)
    assert record.remedies[0].passes


def test_same_answer_whatever_the_order_of_rows(tiny: tuple[Path, Path, Path, Path]) -> None:
    release, _, schema, _ = tiny
    frame = pd.read_csv(release)
    rules = parse_policy("rules", {"check": [{"figure": "release.k", "at_least": 3}]})
    options = Options(attacks=("linking",), policy=rules, utility=())
    found = []
    for order in (np.arange(6), np.array([3, 5, 0, 2, 4, 1])):
        record = audit(frame.iloc[order], Schema.read(schema), options=options)
        found.append([(r.coarsen, r.suppress, r.rows, r.predicted, r.granularity) for r in record.remedies])
        assert all(r.command is None for r in record.remedies)
    assert found[0] == found[1]


def test_none_where_nobody_asked(tiny: tuple[Path, Path, Path, Path]) -> None:
    release, _, schema, _ = tiny
    rules = parse_policy("rules", {"check": [{"figure": "release.k", "at_least": 3}]})
    record = audit(release, schema, options=Options(policy=rules, attacks=("linking",), utility=(), remedies=False))
    assert (record.remedies, record.drivers) == ((), ())
    passing = parse_policy("rules", {"check": [{"figure": "release.k", "at_least": 2}]})
    assert audit(release, schema, options=Options(policy=passing, attacks=("linking",), utility=())).remedies == ()


def test_a_figure_that_does_not_apply_has_no_driver(tiny: tuple[Path, Path, Path, Path]) -> None:
    """A disease has no order: nothing drives t_ordered, and nothing mends it; k is mended all the same."""
    release, _, schema, _ = tiny
    checks = [{"figure": "release.t_ordered", "at_most": 0.1}, {"figure": "release.k", "at_least": 3}]
    options = Options(attacks=("linking",), policy=parse_policy("rules", {"check": checks}), utility=())
    record = audit(release, schema, options=options)
    assert [driver.figure for driver in record.drivers] == ["release.k"]
    assert record.remedies
    assert not any(remedy.passes for remedy in record.remedies)
    assert record.remedies[0].predicted[1].passes
    said = remedy_words(record)
    assert said is not None
    assert (
        "There is no figure of “farthest class from the table, values in order” to judge, so no remedy can pass."
        in said.lead
    )


def test_a_limit_out_of_reach_is_named(tiny: tuple[Path, Path, Path, Path]) -> None:
    """Nothing makes a release of six people one of ten classes: the lead says which check no remedy meets."""
    release, _, schema, _ = tiny
    checks = [{"figure": "release.classes", "at_least": 10}, {"figure": "release.k", "at_least": 3}]
    options = Options(attacks=("linking",), policy=parse_policy("rules", {"check": checks}), utility=())
    said = remedy_words(audit(release, schema, options=options))
    assert said is not None
    assert "None of them brings “classes” to the limit." in said.lead


def test_several_blocks_say_why_not(tiny: tuple[Path, Path, Path, Path], tmp_path: Path, auditor_cli: Cli) -> None:
    _, original, schema, policy = tiny
    original.write_text(
        original.read_text().replace("F,40,M,flu", "F,40,M,cold")
    )  # anatomy: no value in more than half
    made = auditor_cli(
        "anonymize", original, "--schema", schema, "--method", "anatomy", "--set", "l=2", "-o", tmp_path / "blocks"
    )
    assert made.code == 0, made.err
    out = tmp_path / "out.json"
    options = ["--schema", schema, "--policy", policy, "--attacks", "linking", "--json", out, "-q"]
    assert auditor_cli("audit", tmp_path / "blocks", *options).code == 1
    record = AuditRecord.from_json(out.read_text())
    assert record.remedies == ()
    assert any("several blocks" in note.text and "remedies" in note.text for note in record.notes)
    ended = auditor_cli("mend", tmp_path / "blocks", "--schema", schema, "--coarsen", "age", "-o", tmp_path / "x.csv")
    assert (ended.code, "several blocks" in ended.err) == (3, True)


def test_cut_against_trying_all() -> None:
    """The worst classes go first, and no more of them than needed."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        badness = rng.integers(1, 6, 12).astype(float)
        people, limit = rng.integers(1, 9, 12).astype(float), float(rng.random())
        adds = people * rng.random(12)
        fits = [b for b in np.unique(badness) if adds[badness <= b].sum() / people[badness <= b].sum() <= limit]
        assert _cut(badness, adds, people, limit) == (max(fits) if fits else None)


def test_reports_tell_remedies(tiny: tuple[Path, Path, Path, Path], tmp_path: Path, auditor_cli: Cli) -> None:
    release, _, schema, policy = tiny
    out = tmp_path / "out.json"
    auditor_cli("audit", release, "--schema", schema, "--policy", policy, "--attacks", "linking", "--json", out, "-q")
    from auditor.model.record.record import read_run

    run = read_run(out.read_text(), "out")
    for text in (render_html(run), render_markdown(run), render_terminal(run)):
        assert "What would lower the risk" in text
        assert "bands of 2" in text
        assert "auditor mend" in text
        assert "HIV" not in text


def test_old_records_load() -> None:
    record = json.loads(audit_json())
    for key in ("drivers", "remedies"):
        record.pop(key)
    assert AuditRecord.from_json(json.dumps(record)).remedies == ()


def audit_json() -> str:
    frame = pd.DataFrame({"age": [1, 1], "disease": ["flu", "cold"]})
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}, "disease": {"role": "sensitive"}}
    options = Options(attacks=("linking",), utility=())
    return audit(frame, Schema.from_dict({"columns": columns}), options=options).to_json()


@pytest.mark.parametrize("name", builtin_policies())
def test_policies_state_their_sources(name: str) -> None:
    policy = builtin_policies()[name]
    assert policy.source.endswith("Guidance, not legal advice.")
    assert all(check.source for check in policy.checks)


def test_a_population_without_an_original(
    tiny: tuple[Path, Path, Path, Path], tmp_path: Path, auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The population is coded in its own domains, which hold more values than the mended release names."""
    release, original, schema, policy = tiny
    others = [f"P{i},{i},{'FM'[i % 2]},flu" for i in range(10, 80)]
    population = original.with_name("population.csv")
    population.write_text(original.read_text() + "\n".join(others) + "\n")
    monkeypatch.chdir(tmp_path)
    arguments: list[object] = [release, "--schema", schema, "--population", population, "--policy", policy]
    record = carried_out(auditor_cli, tmp_path, arguments, most=4)
    assert record.release.register is not None
    assert record.release.register.journalist_max is not None
    assert any(remedy.passes for remedy in record.remedies)


@pytest.mark.parametrize("where", ["mended_subject", "granularity", "not_mendable"])
def test_a_remedy_that_fails_does_not_end_the_audit(
    tiny: tuple[Path, Path, Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    release, _, schema, policy = tiny

    def broken(*_: object, **__: object) -> None:
        raise IndexError("Ms Canary")

    monkeypatch.setattr(f"auditor.auditing.remedies.search.{where}", broken)
    ended = auditor_cli("audit", release, "--schema", schema, "--policy", policy, "--json", "-")
    notes = [note["text"] for note in json.loads(ended.out)["notes"] if "remed" in note["text"]]
    assert ended.code == 1
    assert len(notes) == 1
    assert "because of an internal error: IndexError in test_remedies.py" in notes[0]
    assert "Canary" not in ended.out + ended.err
