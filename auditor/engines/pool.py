"""Processes that do jobs side by side, each with limits of time and memory.

Every process has a thread that hands it jobs and waits for the replies. A process that is too slow, crashes or runs out of
memory is ended and replaced, and the reply to its job says so. The processes (`worker`) are started by the interpreter
rather than by `multiprocessing`, so a script that uses them needs no guard around its main part. They run in a session of
their own: an interruption reaches only this process, which then ends them all.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import IO

from auditor.engines.worker import CAN_LIMIT, READY, Job, Reply, Work, too_slow
from auditor.model.record.comparison import FAILED

PATIENCE = 10.0 if CAN_LIMIT else 1.0
"""A process that neither replies nor uses the processor is given up after this many times its time limit."""
_TICK = 0.25
_LAST = 5.0  # seconds a process has to exit after its output has ended
_START = "from auditor.engines.worker import main; main()"
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_KILLED = 9

Answer = tuple[int, Reply]


def run_jobs(
    work: Work, jobs: Sequence[Job], count: int, tick: Callable[[list[str]], None]
) -> Iterator[tuple[int, Reply]]:
    """The replies to jobs with their numbers, in order of arrival, from `count` processes. `tick` is called now and then with
    the names of the running jobs. A job is taken from `jobs` when its turn comes. When the loop ends for any reason, so do
    the processes."""
    waiting = deque(range(len(jobs)))
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    shared = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
    workers = [_Worker(shared, work.memory, jobs, waiting, answers) for _ in range(min(count, len(jobs)))]
    left = len(jobs)
    with ThreadPoolExecutor(max(len(workers), 1)) as threads:
        try:
            ends = [threads.submit(worker.work) for worker in workers]
            while left:
                tick([worker.doing for worker in workers if worker.doing])
                try:
                    number, reply = answers.get(timeout=_TICK)
                except queue.Empty:
                    for end in ends:
                        if end.done():
                            end.result()  # raises the error that ended it early
                    continue
                left -= 1
                yield number, reply
        finally:
            waiting.clear()
            for worker in workers:
                worker.stop()


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _scratch() -> IO[bytes]:
    """A temporary file for the output of a process."""
    return tempfile.TemporaryFile()


class _Process:
    """One process: started, asked, ended."""

    def __init__(self) -> None:
        self.open = ExitStack()
        self.said: IO[bytes] = self.open.enter_context(_scratch())
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            env={**dict.fromkeys(_ONE_THREAD, "1"), **os.environ, "PYTHONPATH": paths},
            start_new_session=True,
        )

    def greet(self, work: bytes) -> str | None:
        """Hands over what all jobs share. If the process did not start, returns the last line of its output."""
        if self._exchange(work) == READY:
            return None
        self.said.seek(0)
        lines = self.said.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def ask(self, job: Job) -> Reply | None:
        """The reply to a job; None if the process ended instead."""
        reply = self._exchange(pickle.dumps(job, pickle.HIGHEST_PROTOCOL))
        return reply if isinstance(reply, Reply) else None

    def _exchange(self, message: bytes) -> object:
        if self.popen.stdin is None or self.popen.stdout is None:
            return None
        try:
            self.popen.stdin.write(message)
            self.popen.stdin.flush()
            return pickle.load(self.popen.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            return None

    def end(self, gone: bool) -> int:
        """The exit code. A process that is not already `gone` is killed."""
        with self.open:
            try:
                code = self.popen.wait(_LAST if gone else 0)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                code = self.popen.wait()
            with suppress(BrokenPipeError):  # input that it did not read is of no use now
                self.popen.communicate()
            return code


class _Worker:
    """Keeps one process at work."""

    def __init__(
        self,
        shared: bytes,
        memory: int | None,
        jobs: Sequence[Job],
        waiting: deque[int],
        answers: queue.SimpleQueue[Answer],
    ) -> None:
        self.shared, self.memory, self.jobs, self.waiting, self.answers = shared, memory, jobs, waiting, answers
        self.doing = ""
        self.process: _Process | None = None
        self.lock, self.stopped, self.late = threading.Lock(), False, False

    def work(self) -> None:
        """Works through the waiting jobs until there are none left or it is stopped."""
        try:
            while not self.stopped:
                try:
                    number = self.waiting.popleft()
                except IndexError:
                    break
                job = self.jobs[number]
                self.doing = job.name
                reply = self._answer(job)
                self.doing = ""
                if reply is not None:
                    self.answers.put((number, reply))
        finally:
            if self.process is not None:
                self.process.end(gone=False)

    def stop(self) -> None:
        """Ends the process; its job gets no reply."""
        with self.lock:
            self.stopped = True
            if self.process is not None:
                self.process.popen.kill()

    def _answer(self, job: Job) -> Reply | None:
        """The reply to a job; None if we were stopped."""
        process = self._running()
        if process is None:
            return None
        self.late = False
        watch = threading.Timer((job.timeout or 0.0) * PATIENCE, self._give_up, [process])
        watch.daemon = True
        if job.timeout is not None:
            watch.start()
        try:
            reply = process.ask(job)
        finally:
            watch.cancel()
        if reply is not None and reply.sound:
            return reply
        with self.lock:
            self.process = None
        code = process.end(gone=reply is None)
        return None if self.stopped else reply or self._gone(code, job)

    def _running(self) -> _Process | None:
        """The process, started if there is none; None if we were stopped."""
        if self.process is not None:
            return self.process
        with self.lock:
            if self.stopped:
                return None
            self.process = process = _Process()
        fault = process.greet(self.shared)
        if self.stopped:
            return None
        if fault is not None:
            raise RuntimeError(f"a worker process did not start: {fault}")
        return process

    def _give_up(self, process: _Process) -> None:
        self.late = True
        process.popen.kill()

    def _gone(self, code: int, job: Job) -> Reply:
        """The reply for a process that ended instead of replying."""
        slow = self.late or (CAN_LIMIT and code == -signal.SIGXCPU)
        if slow and job.timeout is not None:
            return too_slow(job.timeout, job.timeout)
        if code == -_KILLED:
            why = "the process was ended from outside, perhaps because memory ran out"
        elif code < 0:
            tight = f", perhaps because it may use only {self.memory} MB" if self.memory is not None else ""
            why = f"the process crashed ({signal.Signals(-code).name}){tight}"
        else:
            why = f"the process ended with code {code}"
        return Reply(FAILED, why, None, 0.0)
