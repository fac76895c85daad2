"""The process in which `test_hostile` runs the command line: many commands one after the other, each bounded in time.

Reads a list of argument lists as JSON from stdin, and writes a line of JSON for each command: its exit code, what it printed,
and the most memory that the process has held so far. A command that takes longer than `SECONDS` ends the process, whatever it
is busy with; the answers before it then show which one it was.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import signal
import sys

SECONDS = 60
ADDRESS_SPACE = 8 << 30
"""So that a fault ends this process and not the machine; the bound that is tested is on the memory really held."""


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
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps([code, out.getvalue(), err.getvalue(), held]), file=answers, flush=True)


if __name__ == "__main__":
    main()
