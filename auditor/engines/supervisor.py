"""Starts one program and leaves nothing of it behind. A script by itself, which `programs` runs.

The program gets a session of its own, no input, and its output goes nowhere. When it has ended, has taken too long, or
whoever started this script is gone (its standard input ends), all that the program started is ended too: the processes of its
session and, on Linux, those that left it, which become children of this script.

It begins at the first byte of its input, and prints in one line how the program ended: `exit CODE`, `signal NUMBER` or
`timeout`. When the input ends, which it does also where the one who waits is killed, the folder with the table is removed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

_DEATH_SIGNAL, _ADOPT = 1, 36  # of Linux's prctl: end with the parent; become the parent of orphans
_PATIENCE = 5.0
NOT_STARTED = 127


def main() -> None:
    """Carries out `supervisor FOLDER SECONDS COMMAND…`."""
    folder, seconds, *command = sys.argv[1:]
    if os.read(0, 1):
        told = _carried_out(float(seconds), command)
        if told is not None:
            os.close(2)  # nobody complains any more
            os.write(1, told.encode())
            os.close(1)
            os.read(0, 1)  # until the output has been read
    _remove(folder)


def _carried_out(seconds: float, command: list[str]) -> str | None:
    """Runs the program. How it ended; None where whoever waits is gone."""
    _control(_ADOPT, 1)
    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    program = os.fork()
    if program == 0:
        _become(command)
    told = _waited(program, ears, seconds)
    _end_all(program)
    return told


def _remove(folder: str) -> None:
    """Removes all of a folder, also what a program made unreadable. (Importing shutil would take longer.)"""
    try:
        os.chmod(folder, 0o700)
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)
        os.rmdir(folder)
    except OSError:
        return  # whoever waits looks whether it is gone, and tries as well


def _control(option: int, value: int) -> None:
    """Asks Linux for a favour; other systems have none to grant."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _become(command: list[str]) -> None:
    """Turns this process into the program."""
    os.setsid()
    _control(_DEATH_SIGNAL, signal.SIGKILL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError:
        os._exit(NOT_STARTED)


def _waited(program: int, ears: int, seconds: float) -> str | None:
    """How the program ended; None where whoever waits for it is gone."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(program, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return f"exit {code}" if code >= 0 else f"signal {-code}"
        left = end - time.monotonic()
        if left <= 0:
            return "timeout"
        heard, _, _ = select.select([0, ears], [], [], min(left, 3600.0))
        if 0 in heard:
            return None
        if ears in heard:
            os.read(ears, 4096)


def _end_all(program: int) -> None:
    """Ends the program's session, and whatever became our child since."""
    end = time.monotonic() + _PATIENCE
    victims = {-program}
    while time.monotonic() < end:
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)  # a negative number is a whole group
            except OSError:
                continue
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        victims = _children()
        time.sleep(0.002)


def _children() -> set[int]:
    """Our children, where the system lists them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()


if __name__ == "__main__":
    main()
