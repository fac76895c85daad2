"""Programs as anonymizers: a release whose rows are nobody, or the reason why there is none."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auditor.model.errors import MechanismError, UsageError
from auditor.model.knowledge import Mechanism
from auditor.model.provenance import Provenance
from auditor.model.release import Kind
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs.mechanisms import ProgramMechanism, programs_named
from auditor.runs.plan import grid, plan
from auditor.runs.worlds import World
from scenarios.adversaries import PROSECUTOR, MechanismKnown
from scenarios.options import Options
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
