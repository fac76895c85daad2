"""The process in which `test_hostile` runs the command line: many commands one after the other, each bounded in time.

Reads a list of argument lists as JSON from stdin, and writes a line of JSON for each command: its exit code, what it printed,
and the most memory that the process has held so far, in kilobytes. A command that takes longer than `SECONDS` ends the
process, whatever it is busy with; the answers before it then show which one it was.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import signal
import sys
from pathlib import Path

SECONDS = 60
ADDRESS_SPACE = 8 << 30
"""So that a fault ends this process and not the machine; the bound that is tested is on the memory really held."""


def most_held() -> int:
    """Of this process alone: on Linux `ru_maxrss` begins with the memory of the process that started it."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held // 1024 if sys.platform == "darwin" else held


def main() -> None:
    from auditor.cli import main as auditor

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    answers = sys.stdout
    for arguments in json.load(sys.stdin):
        out, err, code = io.StringIO(), io.StringIO(), None
        sys.argv = ["auditor", *arguments]
        signal.alarm(SECONDS)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                auditor()
            except SystemExit as stop:
                code = stop.code
        signal.alarm(0)
        print(json.dumps([code, out.getvalue(), err.getvalue(), most_held()]), file=answers, flush=True)


if __name__ == "__main__":
    main()
