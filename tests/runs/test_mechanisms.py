"""Programs as anonymizers: a release whose rows are nobody, or the reason why there is none."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.model.errors import MechanismError, ScenarioError, UsageError
from auditor.model.knowledge import Mechanism
from auditor.model.provenance import Provenance
from auditor.model.release import Kind
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs.comparing import Limits, compare
from auditor.runs.mechanisms import ProgramMechanism, programs_named
from auditor.runs.plan import grid, plan
from auditor.runs.redteaming import redteam
from auditor.runs.worlds import World
from reports.html import render_html
from reports.markdown import render_markdown
from reports.terminal import render_terminal
from scenarios.adversaries import PROSECUTOR, MechanismKnown
from scenarios.options import Options
from scenarios.scenario import read_scenario
from scenarios.simulators import Setting, Simulator
from tests.support.noisy_histograms import SCRIPT

SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.illness]
role = "sensitive"
"""


@pytest.fixture(scope="module")
def table() -> Table:
    columns = {"age": ["30", "40"] * 10, "illness": ["flu", "flu", "cold", "cold"] * 5}
    (made,) = encode(Schema.from_dict(tomllib.loads(SCHEMA)), [RawTable("people", columns)])
    return made


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "histogram.py").write_text(SCRIPT)
    return f"{sys.executable} -I -S {tmp_path / 'histogram.py'} {{in}} {{out}} {{seed}} 1"


def test_a_program_publishes_rows_that_are_nobody(table: Table, script: str) -> None:
    release, provenance = ProgramMechanism.of(script).anonymize(table, np.random.default_rng(1))
    assert (release.kind, release.method, release.name) == (Kind.SYNTHETIC, "program", "program")
    assert provenance.made_from is not None
    assert provenance.made_from.all()
    assert set(release.to_frame()["age"]) <= {"30", "40"}
    again, _ = ProgramMechanism.of(script).anonymize(table, np.random.default_rng(1))
    assert again.to_frame().equals(release.to_frame())  # one seed, one answer


def test_numbers_that_nobody_has_are_read(table: Table) -> None:
    made = "printf 'age,illness\\n35.5,flu\\n30,cold\\n' > {out}; test -s {in}"
    release, _ = ProgramMechanism.of(made, shell=True).anonymize(table, np.random.default_rng(1))
    assert sorted(release.to_frame()["age"]) == ["30", "35.5"]


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("printf 'age,salary\\n30,5\\n' > {out}; test -s {in}", "cannot be read"),
        ("printf 'age,illness\\nhigh,flu\\n' > {out}; test -s {in}", "cannot be read"),
    ],
)
def test_a_lie_has_a_reason(command: str, fault: str, table: Table) -> None:
    with pytest.raises(MechanismError, match=fault):
        ProgramMechanism.of(command, shell=True).anonymize(table, np.random.default_rng(1))


NUMBERS = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.weight]
role = "quasi"
type = "numeric"
[columns.illness]
role = "sensitive"
"""


def unlike(rows: int = 60) -> RawTable:
    """People no two of whom are alike."""
    rng = np.random.default_rng(1)
    columns = {c: [f"{number:.4f}" for number in rng.normal(50, 10, rows)] for c in ("age", "weight")}
    return RawTable("people", {**columns, "illness": list(rng.choice(["flu", "cold"], rows))})


@pytest.mark.slow
def test_a_program_that_copies_is_found_out_by_the_attacks() -> None:
    """It is a row like others, beside one that has no release; and who is held out is said."""
    (table,) = encode(Schema.from_dict(tomllib.loads(NUMBERS)), [unlike()])
    copy = ProgramMechanism.of("copy=cp {in} {out}", timeout=5.0)
    options = Options(attacks=("synthetic-membership",))
    both: list[str | ProgramMechanism] = [copy, "crash=false {in} {out}"]
    run = compare(table, methods="none", programs=both, options=options, utility=("queries",), limits=Limits(jobs=1))
    assert [(cell.name, cell.status) for cell in run.cells] == [("copy", "ok"), ("crash", "failed")]
    found = {r.params["score"]: r.value for r in run.records[0].risks if r.measure == "auc"}
    assert found["dcr"] == 1.0
    assert run.comparison is not None
    (said,) = run.comparison.notes
    assert "without 30 of the 60 people" in said
    for render in (render_markdown, render_terminal, render_html):
        assert "30 of the 60 people" in " ".join(re.sub(r"[*_`]", "", render(run)).split())


def test_a_scenario_runs_programs_only_where_they_are_allowed(tmp_path: Path) -> None:
    raw = unlike()
    pd.DataFrame(raw.columns).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "schema.toml").write_text(NUMBERS)
    (tmp_path / "copy.sh").write_text('cp "$1" "$2"')
    file = tmp_path / "scenario.toml"
    text = '[data]\nfile = "people.csv"\nschema = "schema.toml"\nsample = 0.5\n'
    text += '[attacks]\nrun = ["linking"]\n[utility]\nrun = []\n'
    release = '[[release]]\nname = "mine"\nprogram = "sh copy.sh {in} {out}"\n'
    file.write_text(text + release)
    with pytest.raises(ScenarioError, match="--run-programs"):
        read_scenario(str(file))
    run = redteam(read_scenario(str(file), programs=True), seeds=2)
    (record,) = run.records
    assert (record.release.name, record.release.kind, record.release.rows) == ("mine", "synthetic", 30)
    file.write_text(text + release + 'timeout = 0\nshell = "no"\nk = 2\n')
    with pytest.raises(ScenarioError) as error:
        read_scenario(str(file), programs=True)
    assert all(word in str(error.value) for word in ("timeout", "shell", "'k'"))
    file.write_text(text + release.replace("{out}", ""))
    with pytest.raises(ScenarioError, match="must name the file to write"):
        read_scenario(str(file), programs=True)
    file.write_text(text + release.replace("sh copy.sh", "false"))
    with pytest.raises(MechanismError, match="release 'mine': the program ended with exit code 1"):
        redteam(read_scenario(str(file), programs=True))


def test_several_programs_have_names(script: str) -> None:
    found = programs_named([f"mine={script}", script], False, None)
    assert list(found) == ["mine", "program"]
    with pytest.raises(UsageError, match="Two programs are called 'program'"):
        programs_named([script, script], False, None)
    with pytest.raises(UsageError, match="both called 'mondrian'"):
        grid(["mondrian"], programs=programs_named([f"mondrian={script}"], False, None))


def test_programs_are_cells_of_their_own(table: Table, script: str) -> None:
    world = World(table, None, np.empty(0, dtype=np.int64), ())
    programs = programs_named([f"mine={script}"], False, None)
    cells = plan(grid(["identity"], seeds=(1, 2), programs=programs), world, Options())
    assert [cell.name for cell in cells[2:]] == ["mine seed=1", "mine seed=2"]
    other = plan(grid((), programs=programs_named([f"mine={script}0"], False, None)), world, Options())
    assert other[0].id not in {cell.id for cell in cells}  # another command is another cell
    Path(script.split()[3]).write_text(SCRIPT + "# changed")
    changed = plan(grid(["identity"], seeds=(1, 2), programs=programs), world, Options())
    assert changed[0].id == cells[0].id
    assert changed[2].id != cells[2].id  # and so is another script


def test_who_knows_the_mechanism_can_run_a_program_that_was_handed_over(table: Table, script: str) -> None:
    """And only then: a release that calls itself the work of a program is never run."""
    maker = ProgramMechanism.of(script)
    release, provenance = maker.anonymize(table, np.random.default_rng(1))
    adversary = replace(PROSECUTOR, mechanism=MechanismKnown.PARAMETERS)
    for handed, known in ((maker, True), (None, False)):
        mechanism = _mechanism(Setting(table, _released(provenance), release, {}, maker=handed), adversary)
        assert mechanism is not None
        assert (mechanism.run is not None) is known
        if mechanism.run is not None:
            assert mechanism.run(table, np.random.default_rng(2)).kind is Kind.SYNTHETIC
    assert script not in str(dict(release.params))


def _released(provenance: Provenance) -> np.ndarray:
    return provenance.bucket >= 0


def _mechanism(setting: Setting, adversary: object) -> Mechanism | None:
    return Simulator(adversary, setting, 1).mechanism()
