"""A process that carries out jobs, one after the other, for `pool`.

It is a separate process because compiled code cannot be interrupted from within: a job that is too slow or crashes takes
only its process with it. What all jobs share (`Work`) is sent once. Messages are pickles on standard input and output. The
end of the input means that the parent is gone; the process then exits at once, whatever it is doing.

Time limits are in processor seconds, so a busy machine or more processes do not change which jobs finish in time. The
operating system ends the process. For an internal error the reply gives its place in the code, not its message, which may
quote a value of the data.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import IO, Any

from auditor.model.errors import AuditorError, MechanismError, internal
from auditor.model.record.comparison import FAILED, TIMEOUT
from auditor.model.record.record import NOT_APPLICABLE, OK

try:
    import resource
except ImportError:  # pragma: no cover (not on Windows: there the pool watches the clock alone)
    CAN_LIMIT = False
else:
    CAN_LIMIT = True

MEGABYTE = 2**20
READY = "ready"


@dataclass(frozen=True)
class Job:
    """One piece of work: a name to display, and its time limit in processor seconds."""

    name: str
    timeout: float | None


@dataclass(frozen=True)
class Work(ABC):
    """What all jobs share, and how one is done. `memory` is the limit of a process, in megabytes."""

    memory: int | None

    @abstractmethod
    def do(self, job: Any) -> Any:
        """The result of a job."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a job: its result, or why there is none."""

    status: str
    reason: str | None
    result: Any
    cpu_seconds: float
    sound: bool = True
    """Whether the process can go on: not after an error of its own."""


def carry_out(job: Job, work: Work) -> Reply:
    """Does a job and never raises: an error becomes the reply."""
    start = time.process_time()
    status, reason, result, sound = OK, None, None, True
    try:
        result = work.do(job)
    except MemoryError:
        most = f"more than {work.memory} MB" if work.memory is not None else "more than there is"
        status, reason, sound = FAILED, f"out of memory: {most}", False
    except MechanismError as error:
        status, reason = FAILED, str(error)
    except AuditorError as error:
        status, reason = NOT_APPLICABLE, str(error)
    except Exception as error:
        status, reason, sound = FAILED, internal(error), False
    spent = time.process_time() - start
    if job.timeout is not None and spent > job.timeout:  # the operating system counts in whole seconds
        return too_slow(job.timeout, spent)
    return Reply(status, reason, result, spent, sound)


def too_slow(timeout: float, spent: float) -> Reply:
    """The reply for a job that exceeded its time limit."""
    return Reply(TIMEOUT, f"more than {timeout:g} s", None, spent)


def allow(seconds: float | None) -> None:
    """Makes the operating system end this process after this many more processor seconds."""
    if not CAN_LIMIT:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard
    if seconds is not None:
        soft = math.ceil(time.process_time() + seconds)
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _set_limits(memory: int | None) -> None:
    if not CAN_LIMIT:
        return
    resource.setrlimit(
        resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1])
    )  # no dump of people's data
    if memory is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _listen(source: IO[bytes], heard: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            message = pickle.load(source)
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)
        heard.put(message)


def main() -> None:
    """Answers jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plug-in prints must not mix with the answers
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, heard), daemon=True).start()
    work: Work = heard.get()
    _set_limits(work.memory)
    answer: str | Reply = READY
    while True:
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        job: Job = heard.get()
        allow(job.timeout)
        answer = carry_out(job, work)
        allow(None)
