"""Runs a command in a folder of its own: in a fork of this process, which has imported everything already, or in a new Python
where the input asks for it. A watchdog ends what takes too long."""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import resource
import select
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from auditor.cli import main
from tests.campaign.generating import Case, Surroundings
from tests.campaign.privileges import give_up

SECONDS = 60
"""Processor seconds that a command may take."""
PATIENCE = 10 * SECONDS
"""The same by the clock: machines are busy."""
ADDRESS_SPACE = 12 << 30
HUNG = -1000
"""The code of a command that was ended by the watchdog."""
SMALL = 700
_STDOUT, _STDERR = 1, 2


@dataclass(frozen=True)
class Ended:
    """How a command ended; `before` and `after` are the files of its folder with their digests."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    before: Mapping[str, str]
    after: Mapping[str, str]


def snapshot(folder: Path) -> dict[str, str]:
    """The files and folders in a folder, with a digest of each file."""
    found = {}
    for place, folders, files in os.walk(folder):
        here = Path(place)
        for name in folders:
            found[str((here / name).relative_to(folder)) + "/"] = ""
        for name in files:
            file = here / name
            regular = stat.S_ISREG(file.lstat().st_mode)
            content = hashlib.sha256(file.read_bytes()).hexdigest() if regular else "special"
            found[str(file.relative_to(folder))] = content
    return found


def fill(case: Case, folder: Path) -> None:
    """Writes the files of a case, and where it says so something under the names of its outputs."""
    for name, content in case.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    if case.old:
        for name, form in case.outputs.items():
            if name != "-" and form not in ("plots", "run", "folder", "comparison", "maybe"):
                (folder / name).write_bytes(b"old\n")


def run(case: Case, folder: Path) -> Ended:
    """Runs a case in its folder, which is filled already."""
    before = snapshot(folder)
    start = time.monotonic()
    with open(f"{folder}.out", "w+b") as out, open(f"{folder}.err", "w+b") as err:
        if case.surroundings is Surroundings.LOCKED:
            os.chmod(folder, 0o555)
        if case.real:
            code = _started(case, folder, out, err)
        else:
            code = waited(forked(lambda: _child(case, folder, out, err)), PATIENCE)
        os.chmod(folder, 0o755)
        taken = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return Ended(code, out.read(), err.read(), taken, before, snapshot(folder))


def forked(work: Callable[[], int]) -> int:
    """Starts work in a fork of this process; the number of the new process."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        code = work()
    finally:
        os._exit(code & 0xFF)


def waited(pid: int, seconds: float) -> int:
    """The exit code of a process, negative for the signal that ended it; it is killed where it takes too long."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    late = not poll.poll(seconds * 1000)
    if late:
        os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(handle)
    return HUNG if late or code == -signal.SIGXCPU else code


def called(arguments: tuple[str, ...], begin: Callable[[], None] = lambda: None) -> int:
    """Runs the command line in this process, to its end, as Python would; the exit code. `begin` is called just before."""
    sys.argv = ["auditor", *arguments]
    code: object = 0
    with warnings.catch_warnings():  # which also forgets what was warned of before
        begin()
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        except KeyboardInterrupt:  # before the command line could listen
            code = 130
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        return 120  # as Python has it
    return code if isinstance(code, int) else 0 if code is None else 1


def settle(folder: Path, out: int | None, err: int, encoding: str = "utf-8") -> None:
    """Makes this process look like a new one: its folder, streams, signals and limits."""
    os.chdir(folder)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    if out is None:
        os.close(_STDOUT)
        sys.stdout = None
    else:
        os.dup2(out, _STDOUT)
        sys.stdout = io.TextIOWrapper(os.fdopen(_STDOUT, "wb", closefd=False), encoding)
    os.dup2(err, _STDERR)
    sys.stderr = io.TextIOWrapper(
        os.fdopen(_STDERR, "wb", 0, closefd=False), "utf-8", "backslashreplace", write_through=True
    )
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _keep_small() -> None:
    """No file may grow, as on a full disk. (What is printed goes to files, too; so this is for what has begun as one.)"""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


def _child(case: Case, folder: Path, out: io.BufferedRandom, err: io.BufferedRandom) -> int:
    where: int | None = out.fileno()
    if case.surroundings is Surroundings.FULL:
        where = os.open("/dev/full", os.O_WRONLY)
    elif case.surroundings is Surroundings.GONE:
        reader, where = os.pipe()
        os.close(reader)
    elif case.surroundings is Surroundings.CLOSED:
        where = None
    settle(folder, where, err.fileno(), "ascii" if case.surroundings is Surroundings.NARROW else "utf-8")
    if case.surroundings is Surroundings.SMALL:
        _keep_small()
    if case.surroundings is Surroundings.LOCKED:
        give_up()
    return called(case.arguments)


def _started(case: Case, folder: Path, out: io.BufferedRandom, err: io.BufferedRandom) -> int:
    """Runs a case in a new Python."""
    surroundings = case.surroundings
    home = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(home)}
    command = [sys.executable, "-m", "auditor", *case.arguments]
    reader = None
    stdout: int = out.fileno()
    if surroundings is Surroundings.HOMELESS:
        locked = Path(f"{folder}.home")
        locked.mkdir(0o500)
        for name in ("HOME", "XDG_CACHE_HOME"):
            environment.pop(name, None)
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(locked)}
        environment |= {"HOME": str(locked)} if case.index % 2 else {}
    elif surroundings is Surroundings.FULL:
        stdout = os.open("/dev/full", os.O_WRONLY)
    elif surroundings is Surroundings.GONE:
        reader, stdout = os.pipe()
        os.close(reader)
    elif surroundings is Surroundings.NARROW:
        environment["PYTHONIOENCODING"] = "ascii"

    def prepare() -> None:
        if surroundings is Surroundings.CLOSED:
            os.close(_STDOUT)
        if surroundings is Surroundings.SMALL:
            _keep_small()
        if surroundings in (Surroundings.HOMELESS, Surroundings.LOCKED):
            give_up()

    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=err.fileno(),
        preexec_fn=prepare, start_new_session=True,
    )  # fmt: skip
    if stdout != out.fileno():
        os.close(stdout)
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return HUNG
