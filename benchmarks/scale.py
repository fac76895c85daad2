"""What the class statistics of large releases cost: CPU seconds and peak memory by engine, beside plain pandas.

    python -m benchmarks.scale                                   1 and 10 million rows, all kinds and engines
    python -m benchmarks.scale --rows 1e6,1e7,1e8 --memory 1GB   how cost grows; pandas is stopped where it needs too much
    python -m benchmarks.scale --kind text --engines duckdb,pandas
    python -m benchmarks.scale --spill                           100 million rows within 1 GB: what lies on disk at most

The release (`benchmarks.large_release`) is written in a folder that is removed at the end: labels as text, or their codes as
whole numbers of 64 or 16 bits. Each engine has a process of its own and computes the class sizes, the largest share of a
value, the ordered earth mover's distance and proximity; `duckdb`, `spark` and `memory` all other class statistics as well,
as an audit does. The figures of every engine are compared with those counted while writing: a difference is an error.

CPU seconds are those of the whole process and of what it started (Spark's Java), imports included; "start" is the part before
the release is touched. Peak memory is that of the process, plus that of Java. "Disk" is the most that lay in the engine's
scratch folder: what DuckDB spilled, and for Spark its shuffles, too. Ratios are to pandas in the same run: to `pandas-all`,
which computes all statistics, too; and to pandas computing only the four, by the better of its two ways to read text (as
text or as categories), for time and memory each. Below 1 is less than pandas. Growth is the
slope of the CPU seconds after the start in a log-log plot, from one size to the next, under the same `--memory`: with the
start it would look better than it is. "A further million" is the difference of both sizes, free of what every run costs.
Engines may use all cores; "clock" is the time that passed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tabulate import tabulate

from auditor.engines.engine import machine_memory, read_memory
from benchmarks.large_release import KINDS, Figures, Written, write_release
from benchmarks.scale_run import ENGINES, descendants, resident

PANDAS, ALL = ("pandas", "categories"), "pandas-all"
_POLL = 0.1


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine took on one release; `why` says why there is no figure."""

    rows: int
    kind: str
    engine: str
    seconds: float | None = None
    start: float = 0.0
    clock: float = 0.0
    peak: int = 0
    disk: int = 0
    why: str = ""

    @property
    def work(self) -> float | None:
        """The CPU seconds after the start."""
        return None if self.seconds is None else self.seconds - self.start


def run_one(engine: str, rows: int, kind: str, folder: Path, true: Figures, memory: int, most: int) -> Run:
    """One engine in a process of its own, stopped where it takes more than `most` bytes of memory."""
    scratch = folder / "scratch"
    scratch.mkdir()
    command = [engine, folder / "release", folder / "schema.toml", memory, scratch]
    clock, disk, stopped = time.perf_counter(), 0, False
    with (folder / "said").open("w+") as said, (folder / "told").open("w+") as told:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale_run", *map(str, command)],
            stdout=said,
            stderr=told,
            env={**os.environ, "SPARK_LOCAL_DIRS": str(scratch)},
            start_new_session=True,
        )
        try:
            while child.poll() is None:
                time.sleep(_POLL)
                disk = max(disk, bytes_in(scratch))
                if sum(resident(pid, "VmRSS") for pid in descendants(child.pid)) > most:
                    stopped = True
                    break
        finally:
            end_group(child)
        clock = time.perf_counter() - clock
        told.seek(0)
        said.seek(0)
        lines, answer = told.read().strip().splitlines(), said.read()
    shutil.rmtree(scratch)
    if stopped:
        return Run(rows, kind, engine, clock=clock, disk=disk, why=f"stopped at {most / 1e9:.1f} GB")
    if child.returncode:
        return Run(rows, kind, engine, clock=clock, disk=disk, why=lines[-1] if lines else f"ended {child.returncode}")
    found = json.loads(answer.splitlines()[-1])
    differs = Figures(**found["figures"]).differs(true)
    if differs is not None:
        raise SystemExit(f"{engine}, {rows} rows, {kind}: another figure than counted while writing, {differs}")
    return Run(rows, kind, engine, found["seconds"], found["start"], clock, found["peak"], disk)


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Ends a process of ours and what it started, such as Spark's Java; waits until it is gone."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it and all that it started have ended
    finally:
        child.wait()


def bytes_in(folder: Path) -> int:
    """The bytes that the files below a folder take; those that go away meanwhile count nothing."""
    total = 0
    for home, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(home, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def chosen_engines(engines: list[str], kind: str) -> list[str]:
    """The engines of one kind of release: pandas does the four statistics (on text in two ways), and all of them."""
    pandas = [*(PANDAS if kind == "text" else PANDAS[:1]), ALL]
    return [name for one in engines for name in (pandas if one == "pandas" else [one])]


def ratio(run: Run, runs: list[Run], figure: str, beside_all: bool) -> str:
    """A figure of a run beside pandas on the same release: doing all statistics, or the better of its ways to do four."""
    beside = [
        getattr(one, figure)
        for one in runs
        if one.engine in ((ALL,) if beside_all else PANDAS)
        and (one.rows, one.kind) == (run.rows, run.kind)
        and one.seconds is not None
    ]
    own = getattr(run, figure)
    return f"{own / min(beside):.2f}" if beside and run.seconds is not None else "-"


def print_runs(runs: list[Run]) -> None:
    """The table of all runs."""
    header = ["rows", "kind", "engine", "CPU s", "of it start", "clock s", "peak GB", "disk GB"]
    header += ["CPU / pandas", "memory / pandas", "CPU / pandas-all", "memory / pandas-all", ""]
    lines = []
    for run in runs:
        cells = [f"{run.rows:,}", run.kind, run.engine]
        if run.seconds is None:
            cells += ["-", "-", f"{run.clock:.1f}", "-", f"{run.disk / 1e9:.2f}"]
        else:
            seconds = (f"{one:.1f}" for one in (run.seconds, run.start, run.clock))
            cells += [*seconds, f"{run.peak / 1e9:.2f}", f"{run.disk / 1e9:.2f}"]
        ratios = [ratio(run, runs, figure, whole) for whole in (False, True) for figure in ("seconds", "peak")]
        lines.append([*cells, *ratios, run.why])
    print(tabulate(lines, header, tablefmt="github", disable_numparse=True))


def print_growth(runs: list[Run]) -> None:
    """How the CPU seconds after the start grow, from each size to the next."""
    lines = []
    for kind, engine in dict.fromkeys((run.kind, run.engine) for run in runs):
        same = sorted((r for r in runs if (r.kind, r.engine) == (kind, engine)), key=lambda r: r.rows)
        for low, high in pairwise(same):
            if low.work and high.work and high.rows > low.rows:
                slope = math.log(high.work / low.work) / math.log(high.rows / low.rows)
                further = (high.work - low.work) / (high.rows - low.rows) * 1e6
                lines.append([kind, engine, f"{low.rows:,}", f"{high.rows:,}", f"{slope:.2f}", f"{further:.2f}"])
    if lines:
        header = ["kind", "engine", "from rows", "to rows", "exponent", "CPU s for a further million"]
        print("\nGrowth of the CPU seconds after the start:\n")
        print(tabulate(lines, header, tablefmt="github", disable_numparse=True))


def print_releases(written: dict[tuple[int, str], Written]) -> None:
    """What the releases are: what a scan reads, and how many groups it sorts."""
    header = ["rows", "kind", "GB on disk", "bytes a row", "classes", "groups", "groups a row"]
    lines = []
    for (rows, kind), one in written.items():
        counts = [f"{one.classes:,}", f"{one.groups:,}", f"{one.groups / rows:.3f}"]
        lines.append([f"{rows:,}", kind, f"{one.size / 1e9:.3f}", f"{one.size / rows:.1f}", *counts])
    print(tabulate(lines, header, tablefmt="github", disable_numparse=True))


def measure(sizes: list[int], kinds: list[str], engines: list[str], memory: int, most: int, home: Path | None) -> None:
    """Writes each release, runs each engine on it, and prints the tables."""
    runs: list[Run] = []
    written: dict[tuple[int, str], Written] = {}
    for rows in sizes:
        for kind in kinds:
            with tempfile.TemporaryDirectory(prefix="auditor-scale-", dir=home) as scratch:
                folder = Path(scratch)
                release = written[rows, kind] = write_release(folder / "release", rows, kind)
                (folder / "schema.toml").write_text(release.schema, encoding="utf-8")
                for engine in chosen_engines(engines, kind):
                    run = run_one(engine, rows, kind, folder, release.figures, memory, most)
                    runs.append(run)
                    took = run.why if run.seconds is None else f"{run.seconds:.1f} s, {run.peak / 1e9:.2f} GB"
                    print(f"{rows:,} rows, {kind}, {engine}: {took}", file=sys.stderr, flush=True)
    print(f"Engines may use {memory / 1e9:g} GB at every size; {len(os.sched_getaffinity(0))} cores.\n")
    print_releases(written)
    print()
    print_runs(runs)
    print_growth(runs)


def listed(text: str, known: tuple[str, ...], option: str) -> list[str]:
    """The names of an option."""
    names = text.split(",")
    strange = [name for name in names if name not in known]
    if strange:
        raise SystemExit(f"{option} must be some of {', '.join(known)}. Got {strange[0]!r}.")
    return names


def main() -> None:
    """Reads what to measure, and measures it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="numbers of rows, by commas (default 1e6,1e7)")
    parser.add_argument("--engines", help="duckdb, spark, pandas, memory, by commas (default all)")
    parser.add_argument("--memory", default="1GB", help="what duckdb and spark may use, at every size")
    parser.add_argument("--kind", default=",".join(KINDS), help="text, int64, int16, by commas")
    parser.add_argument("--most", help="memory above which a process is stopped (default: 85 %% of the machine's)")
    parser.add_argument("--folder", type=Path, help="where the releases are put while they are measured")
    parser.add_argument("--spill", action="store_true", help="duckdb alone at 1e8 rows: what it spills")
    asked = parser.parse_args()
    sizes = sorted(int(float(rows)) for rows in (asked.rows or ("1e8" if asked.spill else "1e6,1e7")).split(","))
    known = tuple(name for name in ENGINES if name not in ("categories", ALL))
    engines = listed(asked.engines or ("duckdb" if asked.spill else ",".join(known)), known, "--engines")
    most = int(machine_memory() * 0.85) if asked.most is None else read_memory(asked.most)
    measure(sizes, listed(asked.kind, KINDS, "--kind"), engines, read_memory(asked.memory), most, asked.folder)


if __name__ == "__main__":
    main()
