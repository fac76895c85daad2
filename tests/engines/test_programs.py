"""Programs as mechanisms: whatever a program does, there is a table or a reason, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from auditor.engines.programs import Program
from auditor.model.discretion import revealing
from auditor.model.errors import EndedError, MechanismError, UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

SCHEMA = """
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
[columns.illness]
role = "sensitive"
"""
COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders of programs are made; empty again after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Table:
    file = tmp_path / "schema.toml"
    file.write_text(SCHEMA)
    columns = {"name": ["Ann", "Ben", "Cat"], "age": ["30", "40", "50"], "illness": ["flu", "=1+1", 'a "b", c']}
    (made,) = encode(Schema.read(file), [RawTable("people", columns)])
    return made


def program(script: str, timeout: float = 20.0, words: str = "{in} {out}", shell: bool = False) -> Program:
    return Program(f"{sys.executable} -I -S -c {_quoted(script)} {words}", shell=shell, timeout=timeout)


def _quoted(script: str) -> str:
    return "'" + script.replace("'", '"') + "'"


def test_a_table_goes_in_and_a_table_comes_out(table: Table, temporary: Path) -> None:
    made = program(COPY).run(table, 1)
    assert {name: list(cells) for name, cells in made.columns.items()} == {n: table.texts(n) for n in table.codes}
    assert made.name == "{out}"
    assert not list(temporary.iterdir())


def test_the_seed_reaches_the_program_and_files_beside_the_user_are_found(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mechanism.py").write_text(
        "import os, sys\n"
        "open(sys.argv[2], 'w').write('age,illness\\n' + sys.argv[3] + ',flu\\n')\n"
        "assert os.path.dirname(os.getcwd()) == os.path.dirname(sys.argv[1]) == os.path.dirname(os.environ['TMPDIR'])\n"
        "assert os.stat(os.path.dirname(sys.argv[1])).st_mode & 0o77 == 0\n"
    )
    monkeypatch.chdir(tmp_path)
    for shell, script in ((False, "mechanism.py"), (True, '"$AUDITOR_FOLDER"/mechanism.py')):
        made = Program(f"{sys.executable} {script} {{in}} {{out}} {{seed}}", shell=shell).run(table, 4711)
        assert list(made.columns["age"]) == ["4711"]


WRONG = {
    "crashes": ("raise SystemExit(3)", "exit code 3"),
    "is killed": ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    "breaks off": ("import os; os.abort()", "ended by SIGABRT"),
    "says that it was killed": ("raise SystemExit(128 + 9)", "exit code 137"),
    "hangs": ("import time; time.sleep(60)", "more than 0.5 s"),
    "writes nothing": ("pass", "wrote no file to {out}"),
    "writes elsewhere": ("import sys; open(sys.argv[2] + '.csv', 'w').write('age')", "wrote no file to {out}"),
    "writes an empty file": ("import sys; open(sys.argv[2], 'w')", "empty file"),
    "writes a header only": ("import sys; open(sys.argv[2], 'w').write('age,illness')", "has no row"),
    "writes other columns": (
        "import sys; open(sys.argv[2], 'w').write('a,b' + chr(10) + '1,2')",
        "none of the columns",
    ),
    "writes no table": ("import sys; open(sys.argv[2], 'wb').write(bytes(range(256)) * 9)", "cannot be read"),
    "makes a folder": ("import os, sys; os.mkdir(sys.argv[2])", "no ordinary file"),
    "links to its input": ("import os, sys; os.symlink(sys.argv[1], sys.argv[2])", "no ordinary file"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_program_that_does_something_else_has_a_reason(what: str, table: Table, temporary: Path) -> None:
    script, reason = WRONG[what]
    with pytest.raises(MechanismError) as error:
        program(script, timeout=0.5 if what == "hangs" else 20.0).run(table, 1)
    assert reason in str(error.value)
    from_outside = isinstance(error.value, EndedError)
    assert from_outside == (what in ("is killed", "says that it was killed", "hangs"))
    assert str(temporary) not in str(error.value)
    assert not list(temporary.iterdir())


def test_chatter_does_not_matter_and_is_shown_only_on_demand(table: Table) -> None:
    script = "import sys; [f.write('Ann ' * 10**6) for f in (sys.stdout, sys.stderr)]; "
    assert program(script + COPY).run(table, 1).rows == 3
    with pytest.raises(MechanismError) as error:
        program(script + "raise SystemExit('Ann is ill')").run(table, 1)
    assert "Ann" not in str(error.value)
    with revealing(), pytest.raises(MechanismError, match=r"It said: .*Ann is ill"):
        program(script + "sys.stderr.write(chr(10)); raise SystemExit('Ann is ill')").run(table, 1)


def test_no_process_is_left(table: Table, tmp_path: Path) -> None:
    """Neither of a program that leaves a child behind, nor of one whose child left its session."""
    note = tmp_path / "pids"
    for leave in ("", "os.setsid(); "):
        child = tmp_path / "child.py"
        child.write_text(
            f"import os, time\nif os.fork() == 0:\n    {leave}open({str(note)!r}, 'a').write(f'{{os.getpid()}} ')\n"
            "    time.sleep(60)\n"
        )
        program(f"import runpy, time; runpy.run_path({str(child)!r}); time.sleep(0.2); {COPY}").run(table, 1)
    left = [int(line) for line in note.read_text().split()]
    assert len(left) == 2
    assert not [pid for pid in left if _alive(pid)]


def test_nothing_is_left_where_the_one_who_waits_is_killed(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    note, inner = tmp_path / "pid", tmp_path / "inner.py"
    inner.write_text(f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    outer = (
        "import tempfile; from auditor.engines.programs import Program; from auditor.model.schema import Schema\n"
        "from auditor.model.table import RawTable\n"
        f"tempfile.tempdir = {str(temporary)!r}\n"
        f"Program({f'{sys.executable} {inner} {{in}} {{out}}'!r}).run_on(RawTable('t', {{'age': ['1']}}), "
        f"Schema.read({str(tmp_path / 'schema.toml')!r}), 1)"
    )
    waiting = subprocess.Popen([sys.executable, "-c", outer])
    assert _soon(lambda: note.exists() and note.read_text())
    waiting.send_signal(signal.SIGKILL)
    waiting.wait()
    assert _soon(lambda: not _alive(int(note.read_text())) and not list(temporary.iterdir()))


def _soon(holds: object, seconds: float = 20.0) -> bool:
    assert callable(holds)
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(found)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("cat {in}", "must name the file to write"),
        ("cat {out}", "must name the table"),
        ("cat {in} {out} {sead}", "Got {sead}"),
        ("no-such-program {in} {out}", "There is no program"),
        ("cat '{in} {out}", "cannot be read"),
    ],
)
def test_a_command_that_cannot_work_is_refused_beforehand(command: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        Program(command).check()


def test_no_shell_reads_a_command_unless_asked(table: Table) -> None:
    command = "cp {in} {out}; echo $HOME"
    with pytest.raises(MechanismError):
        Program(command).run(table, 1)
    made = Program(command, shell=True)
    made.check()
    assert made.run(table, 1).rows == 3
    with pytest.raises(UsageError, match="above 0 seconds"):
        Program(command, timeout=0).check()
