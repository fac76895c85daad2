"""A program of the user's as a mechanism: a table in, a table out.

The command names the table as `{in}`, the file to write as `{out}` and, where it can be told one, its seed as `{seed}`. The
program runs in a folder of its own, which only its owner can read and which goes when it has ended; temporary files go there
too. No shell reads the command unless that is asked for. It is ended after a time limit, with all that it started
(`supervisor`), also where this process is killed. What it prints is not kept: it may quote people.

Whatever a program does instead of writing a table is a `MechanismError` with the reason. Where that was not its own doing,
but the time limit's or a signal's that others send, it is an `EndedError`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from auditor.engines import supervisor
from auditor.files.tables import read_raw, sha256, table_file
from auditor.model.discretion import is_revealing, printable
from auditor.model.errors import DataError, EndedError, MechanismError, UsageError
from auditor.model.schema import Schema, TableFormat
from auditor.model.table import RawTable, Table

TIMEOUT = 600.0
"""The seconds that a program may take, unless more or less is asked for."""
IN, OUT, SEED = "in", "out", "seed"
_PLACE = re.compile(r"\{([a-zA-Z_]*)\}")
_MOST = 2**30  # bytes of an output that are read
_PATIENCE = 1.0  # seconds for the last of what it says
_TAIL = 2_000  # characters of what a program complains of, where that is shown
_FROM_OUTSIDE = {
    getattr(signal, name)
    for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGXFSZ")
    if hasattr(signal, name)
}
"""The signals that others send; a program that crashes gets another."""
_BY_SIGNAL = 128  # a shell adds the signal that ended what it ran


def _python_path() -> str | None:
    """Where Python programs of the user look for modules: our own processes have another."""
    return os.environ.get("PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Program:
    """A command, whether a shell reads it, and the seconds that it may take."""

    command: str
    shell: bool = False
    timeout: float = TIMEOUT
    folder: str = field(default_factory=os.getcwd)
    """Where the command was given: files that it names relative to here are found."""
    python_path: str | None = field(default_factory=_python_path)
    reveal: bool = field(default_factory=is_revealing)
    """Whether messages show what it complains of, which may quote people."""

    def check(self) -> None:
        """An error for a command that cannot work."""
        if not hasattr(os, "fork"):
            raise UsageError("Programs can be run as mechanisms on Linux and macOS only.")
        if not self.timeout > 0:
            raise UsageError(f"The time limit of a program must be above 0 seconds. Got {self.timeout:g}.")
        named = _PLACE.findall(self.command)
        for name in named:
            if name not in (IN, OUT, SEED):
                raise UsageError(f"A command can name {{in}}, {{out}} and {{seed}}. Got {{{name}}}.")
        for name, what in ((IN, "the table"), (OUT, "the file to write")):
            if name not in named:
                raise UsageError(f"The command must name {what} as {{{name}}}. Got {self.command!r}.")
        if not self.shell:
            words = self._words()
            if (
                shutil.which(words[0], path=os.environ.get("PATH")) is None
                and not Path(self.folder, words[0]).is_file()
            ):
                raise UsageError(f"There is no program {words[0]!r}. With --shell a shell reads the command.")

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise UsageError(f"The command cannot be read ({error}). Got {self.command!r}.") from error
        if not words:
            raise UsageError("The command must not be empty.")
        return words

    def arguments(self, values: dict[str, str]) -> list[str]:
        """What is started, with the names filled in."""
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            return ["/bin/sh", "-c", _PLACE.sub(lambda found: quoted[found[1]], self.command)]
        return [self._found(_PLACE.sub(lambda found: values[found[1]], word)) for word in self._words()]

    def _found(self, word: str) -> str:
        """A file that was named relative to the folder of the command, by its whole name."""
        here = Path(self.folder, word)
        return str(here) if here.is_file() else word

    def marks(self) -> list[str]:
        """The SHA-256 of each file that the command names."""
        words = self.command.split() if self.shell else self._words()
        files = [Path(self.folder, word.strip("'\"")) for word in words]
        return [sha256(file.read_bytes()) for file in files if file.is_file()]

    def run(self, table: Table, seed: int) -> RawTable:
        """The table that the program makes of another. An error says what it did instead."""
        columns = {name: table.texts(name) for name in table.codes}
        return self.run_on(RawTable(table.name, columns), table.schema, seed)

    def run_on(self, table: RawTable, schema: Schema, seed: int) -> RawTable:
        """The same for a table of text."""
        form = replace(schema.format, header=None, encoding=None, delimiter=None)
        folder = Path(tempfile.mkdtemp(prefix="auditor-program-"))  # readable for its owner only
        try:
            for part in ("work", "tmp"):
                (folder / part).mkdir()
            source, target = folder / "in.csv", folder / "out.csv"
            words = self.arguments({IN: str(source), OUT: str(target), SEED: str(seed)})
            with self._started(words, folder) as popen:
                assert popen.stdin is not None
                assert popen.stdout is not None
                said = _Tail(popen.stderr)
                content = table_file(table, form, source)
                source.write_bytes(content.encode() if isinstance(content, str) else content)
                try:
                    popen.stdin.write(b"\n")
                    popen.stdin.flush()
                    ended = popen.stdout.read()
                    _judge(ended.decode("ascii", "replace"), self.timeout, words[0], said.text())
                    return _read(target, folder, schema, form)
                except BrokenPipeError:
                    raise EndedError("the process that watches the program was ended from outside.") from None
        finally:
            if folder.exists():  # the supervisor removes it, unless it was ended itself
                _remove(folder)

    def _started(self, words: list[str], folder: Path) -> subprocess.Popen[bytes]:
        """The supervisor, which waits for a sign to begin. It ends, and the program with it, when its input does."""
        env = {**os.environ, "TMPDIR": str(folder / "tmp"), "AUDITOR_FOLDER": self.folder}
        env.pop("PYTHONPATH", None)
        if self.python_path is not None:
            env["PYTHONPATH"] = self.python_path
        watching = [sys.executable, "-I", "-S", supervisor.__file__, str(folder), str(self.timeout), *words]
        return subprocess.Popen(
            watching,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if self.reveal else subprocess.DEVNULL,
            cwd=folder / "work",
            env=env,
            start_new_session=True,
        )


class _Tail:
    """The end of what a program complains of, read while it runs so that it never waits for us."""

    def __init__(self, source: IO[bytes] | None) -> None:
        self.kept = b""
        self.thread = threading.Thread(target=self._listen, args=(source,), daemon=True)
        self.thread.start()

    def _listen(self, source: IO[bytes] | None) -> None:
        while source is not None and (heard := os.read(source.fileno(), 65536)):
            self.kept = (self.kept + heard)[-_TAIL:]

    def text(self) -> str:
        """The last line, where there is one, once the program has ended."""
        self.thread.join(_PATIENCE)
        lines = self.kept.decode("utf-8", "replace").strip().splitlines()
        return f" It said: {printable(lines[-1])}" if lines else ""


def _judge(ended: str, timeout: float, program: str, said: str) -> None:
    """An error for a program that did not end well."""
    kind, _, number = ended.partition(" ")
    if kind == "timeout":
        raise EndedError(f"the program took more than {timeout:g} s and was ended.")
    if kind == "signal":
        error = EndedError if int(number) in _FROM_OUTSIDE else MechanismError
        raise error(f"the program was ended by {_signal_name(int(number))}.{said}")
    if kind != "exit":
        raise EndedError("the program was ended from outside, perhaps because memory ran out.")
    if int(number) == supervisor.NOT_STARTED:
        raise EndedError(f"the program {Path(program).name!r} could not be started.{said}")
    if int(number):
        hidden = "" if said else " (--reveal shows what it said)"
        error = EndedError if int(number) - _BY_SIGNAL in _FROM_OUTSIDE else MechanismError
        raise error(f"the program ended with exit code {number}.{said or hidden}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read(target: Path, folder: Path, schema: Schema, form: TableFormat) -> RawTable:
    """The output of a program as a table of text. Messages call it {out}, since its folder is gone when they are read."""
    if not os.path.lexists(target):
        raise MechanismError("the program ended well, and wrote no file to {out}.")
    if target.is_symlink() or not target.is_file():
        raise MechanismError("the program made something at {out} that is no ordinary file.")
    if target.stat().st_size > _MOST:
        raise MechanismError(f"the program wrote more than {_MOST // 2**20} MB.")
    if not target.stat().st_size:
        raise MechanismError("the program wrote an empty file.")
    try:
        made = read_raw(target, form, tuple(schema.columns))
    except DataError as error:
        raise MechanismError(f"the program's output cannot be read: {_named(str(error), target, folder)}") from None
    if not made.rows:
        raise MechanismError("the program's output has no row.")
    unknown = [name for name in made.columns if name not in schema.columns]
    if len(unknown) == len(made.columns):
        raise MechanismError("the program's output has none of the columns that the schema names.")
    return RawTable("{out}", made.columns, made.sha256, made.lines)


def _named(text: str, target: Path, folder: Path) -> str:
    return text.replace(str(target), "{out}").replace(str(folder), "its folder")


def _remove(folder: Path) -> None:
    """Removes all of a folder: what a program made unreadable, too."""
    for root, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(os.path.join(root, name)):
                os.chmod(os.path.join(root, name), stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)  # the supervisor may be at it as well
