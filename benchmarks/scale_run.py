"""One engine on one release, in this process: what `benchmarks.scale` starts for each of its measurements.

    python -m benchmarks.scale_run ENGINE FOLDER SCHEMA MEMORY SCRATCH

prints the figures as JSON, with the CPU seconds of the whole process so far, those before the release was touched ("start":
Python, imports, for Spark its Java), and the peak memory. Processes that it started (Java) are counted, too. What an engine
does not need is not imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditor.model.record.release_facts import ReleaseFacts
    from benchmarks.large_release import Figures

ENGINES = ("duckdb", "spark", "pandas", "categories", "pandas-all", "memory")
"""`pandas` reads text as text, `categories` as pandas' categories, each for the four statistics; `pandas-all` computes all
that `duckdb` computes (of text as categories); `memory` is `auditor` without an engine."""
_TICKS = os.sysconf("SC_CLK_TCK")


def told(file: Path) -> str:
    """What the system says of a process in a file; nothing where the process is gone."""
    try:
        return file.read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def descendants(pid: int) -> Iterator[int]:
    """The processes below one, itself included."""
    yield pid
    for task in list(Path(f"/proc/{pid}/task").glob("*/children")):
        for child in told(task).split():
            yield from descendants(int(child))


def cpu_seconds() -> float:
    """The CPU seconds of this process, of those that it has ended, and of those that run below it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    for pid in list(descendants(os.getpid()))[1:]:
        fields = told(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
        seconds += sum(map(int, fields[11:15])) / _TICKS  # user and system, its own and of those it has ended
    return seconds


def resident(pid: int, which: str) -> int:
    """The bytes of memory that a process has now (`VmRSS`) or had at most (`VmHWM`); 0 where it is gone."""
    lines = told(Path(f"/proc/{pid}/status")).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(which)), 0)


def by_scan(engine: str, folder: Path, schema: Path, memory: int, scratch: Path, start: Callable[[], None]) -> Figures:
    """Through `auditor.engines.scanning`: all statistics of classes, not only those that are compared."""
    from auditor.engines.engine import open_engine
    from auditor.engines.scanning.opening import open_release
    from auditor.engines.scanning.scan import scan_facts
    from auditor.model.progress import silent
    from auditor.model.release import Suppression
    from auditor.model.schema import Schema

    with open_engine(engine, memory, scratch if engine == "duckdb" else None) as opened:
        start()
        release = open_release(opened, str(folder), Schema.read(schema), Suppression.EXCLUDED, silent)
        return figures_of(scan_facts(release))


def by_memory(folder: Path, schema: Path, start: Callable[[], None]) -> Figures:
    """Through `auditor` without an engine, which reads one file: all statistics of classes, too."""
    from auditor.auditing.subjects import Sources, read_subject
    from auditor.measure.classes import class_facts
    from auditor.model.schema import Schema

    files = list(folder.iterdir())
    if len(files) > 1:
        raise SystemExit(f"memory reads one file, and there are {len(files)}")
    start()
    return figures_of(class_facts(read_subject(Sources(files[0], Schema.read(schema)), 0).release))


def figures_of(facts: ReleaseFacts) -> Figures:
    """What is compared, of all that was computed."""
    from benchmarks.large_release import Figures

    of = facts.sensitive[0]
    found = [one for one in (of.alpha, of.homogeneity, of.t_ordered, of.proximity_m) if one is not None]
    return Figures(dict(facts.class_sizes), *found)


def by_pandas(folder: Path, categories: bool, everything: bool, start: Callable[[], None]) -> Figures:
    """A plain version with pandas: the rows are grouped once, by all columns; all else comes from these groups. `everything`
    is what a scan computes: the rows of each label, the digest of the files, and the other class statistics as well."""
    import numpy as np
    import pandas as pd

    from benchmarks.large_release import NEAR, NUMBER, QUASI, Figures

    start()
    frame = pd.read_parquet(folder, read_dictionary=QUASI if categories else None)
    others: dict[str, Any] = {}
    if everything:
        others["labels"] = {column: frame[column].value_counts() for column in frame.columns}
        others["digests"] = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())]
    groups = frame.groupby([*QUASI, NUMBER], observed=True).size().reset_index(name="n")  # sorted: class, number
    del frame
    groups["class"] = groups.groupby(QUASI, observed=True, sort=False).ngroup()
    groups = groups.drop(columns=QUASI)
    each = groups.groupby("class")["n"]
    sizes = each.sum()
    size = each.transform("sum").to_numpy()
    n, which = groups["n"].to_numpy(), groups["class"].to_numpy()

    # the ordered distance: between two numbers of a class its cumulative share stands still, that of the table grows
    whole = groups.groupby(NUMBER)["n"].sum()
    number, reached = whole.index.to_numpy(), (whole.cumsum() / whole.sum()).to_numpy()
    place = np.searchsorted(number, groups[NUMBER].to_numpy())
    first = np.r_[True, which[1:] != which[:-1]]
    end = np.where(np.r_[first[1:], True], len(number), np.r_[place[1:], 0])
    share, so_far = each.cumsum().to_numpy() / size, np.r_[0.0, np.cumsum(reached)]
    split = np.clip(np.searchsorted(reached, share), place, end)
    moved = share * (2 * split - place - end) - 2 * so_far[split] + so_far[place] + so_far[end]
    moved[first] += so_far[place[first]]
    distance = np.bincount(which, weights=moved).max() / (len(number) - 1)

    # proximity: the people of the class whose number is near, from sums over the groups in order
    apart = which * (2.0 * (number[-1] - number[0]) + 2 * NEAR) + groups[NUMBER].to_numpy()
    people = np.r_[0, np.cumsum(n)]
    near = people[np.searchsorted(apart, apart + NEAR, "right")] - people[np.searchsorted(apart, apart - NEAR)]

    if everything:
        part, at_large = n / size, (whole / whole.sum()).to_numpy()[place]
        greatest, kinds = each.max().to_numpy(), each.size().to_numpy()
        gain = part / at_large - 1
        others |= {
            "l_distinct": kinds.min(),
            "l_entropy": np.exp(np.bincount(which, weights=-part * np.log(part))).min(),
            "l_recursive_c": (greatest / np.maximum(sizes.to_numpy() - greatest, 1)).max(),
            "t_equal": np.bincount(which, weights=np.maximum(part - at_large, 0.0)).max(),
            "beta_basic": gain.max(),
            "beta_enhanced": (gain > -np.log(at_large)).any(),
            "delta_disclosure": np.abs(np.log1p(gain)).max() if kinds.min() == len(number) else None,
            "at_risk": sizes[1 / sizes > 0.2].sum(),
        }
    histogram = sizes.value_counts().sort_index()
    return Figures(
        {str(size): int(times) for size, times in histogram.items()},
        float((n / size).max()),
        float(each.max().sum() / n.sum()),
        float(distance),
        float(1 / (near / size).max()),
    )


def main() -> None:
    """Runs one engine and prints what it found and took."""
    engine, folder, schema, memory, scratch = sys.argv[1:]
    found: dict[str, Any] = {}

    def start() -> None:
        found["start"] = cpu_seconds()

    if engine in ("duckdb", "spark"):
        figures = by_scan(engine, Path(folder), Path(schema), int(memory), Path(scratch), start)
    elif engine == "memory":
        figures = by_memory(Path(folder), Path(schema), start)
    else:
        figures = by_pandas(Path(folder), engine != "pandas", engine == "pandas-all", start)
    found |= {
        "seconds": cpu_seconds(),
        "peak": sum(resident(pid, "VmHWM") for pid in descendants(os.getpid())),
        "figures": asdict(figures),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
