"""A process that makes and audits cells, one after the other, for `pool`.

It is a process of its own, started anew where a cell is too slow or breaks it, because compiled code cannot be interrupted
from within. The data come once; messages are pickles on its standard input and output. When the input ends, whoever started
it is gone, and it ends at once, whatever it is doing.

Seconds are those of the processor, so that a busy machine or more processes do not change which cells are in time; the
operating system ends the process. Reasons that leave it hold no value of the data.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from anonymizers import ANONYMIZERS
from auditor.auditing import Options, run_audit
from auditor.model.comparison import FAILED, TIMEOUT
from auditor.model.errors import AuditorError
from auditor.model.record import NOT_APPLICABLE, OK
from auditor.model.table import Table
from auditor.redteaming import World, anonymize
from auditor.subjects import Subject

try:
    import resource
except ImportError:  # pragma: no cover (not on Windows: there the pool watches the clock alone)
    CAN_LIMIT = False
else:
    CAN_LIMIT = True

MEGABYTE = 2**20
READY = "ready"


@dataclass(frozen=True, slots=True)
class Setup:
    """What all cells share. `memory` is in megabytes."""

    world: World
    options: Options
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One cell to be run, with the processor seconds it may take."""

    method: str
    params: Mapping[str, Any]
    seed: int
    name: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a job: its record as JSON, or why there is none."""

    status: str
    reason: str | None
    record: str | None
    cpu_seconds: float


def carry_out(job: Job, setup: Setup) -> Reply:
    """Makes a release, audits it, and never raises: what goes wrong is the reply."""
    start = time.process_time()
    status, reason, text = OK, None, None
    try:
        text = _record(job, setup)
    except MemoryError:
        most = f"more than {setup.memory} MB" if setup.memory is not None else "more than there is"
        status, reason = FAILED, f"out of memory: {most}"
    except AuditorError as error:
        status, reason = NOT_APPLICABLE, discreet(str(error), setup.world.people)
    except Exception as error:
        status, reason = FAILED, _internal(error)
    spent = time.process_time() - start
    if job.timeout is not None and spent > job.timeout:  # the operating system counts in whole seconds
        return too_slow(job.timeout, spent)
    return Reply(status, reason, text, spent)


def too_slow(timeout: float, spent: float) -> Reply:
    """The reply for a job that took more than its seconds."""
    return Reply(TIMEOUT, f"more than {timeout:g} s", None, spent)


def _record(job: Job, setup: Setup) -> str:
    world, method = setup.world, ANONYMIZERS.get(job.method).configure(job.params)
    release, provenance = anonymize(world.people, method, job.seed)
    subject = Subject(
        replace(release, name=job.name), world.people, provenance, True, world.population, world.outsiders, world.inputs
    )
    return run_audit(subject, replace(setup.options, seed=job.seed)).to_json()


def discreet(message: str, table: Table) -> str:
    """A message without values of the table: quoted ones, and examples in brackets. Names of columns stay."""
    values = {text for domain in table.domains.values() for text in domain.texts} - set(table.codes)

    def hidden(found: re.Match[str]) -> str:
        return "a value" if found[2] in values else found[0]

    shown = re.sub(r" \(such as [^)]*\)", "", message)
    return re.sub(r"(['\"])(.*?)\1", hidden, shown)


def _internal(error: Exception) -> str:
    """Where an error that is ours arose; not its message, which may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"internal error: {type(error).__name__}{place}"


def allow(seconds: float | None) -> None:
    """Lets the operating system end this process after so many more processor seconds."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plug-in prints must not mix with the answers
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, heard), daemon=True).start()
    setup: Setup = heard.get()
    _set_limits(setup.memory)
    answer: str | Reply = READY
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        job: Job = heard.get()
        allow(job.timeout)
        answer = carry_out(job, setup)
        allow(None)
