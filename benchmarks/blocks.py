"""What anonymizing in blocks costs: CPU seconds, peak memory and loss beside the run without blocks, and how time grows.

    python -m benchmarks.blocks                          k-member at 100 000, 300 000 and 1 000 000 rows
    python -m benchmarks.blocks --method caat --rows 100000,1000000 --block-rows 25000
    python -m benchmarks.blocks --command                `auditor anonymize … --blocks` on a file too, all told

Each run has a process of its own, and first makes a small release, so that compiling is not counted. CPU seconds are those
of all processes together. The growth is that of runs in one process: to start further ones takes the same seconds at every
size, and would hide it. Peak memory is that of the main process, the table included, and of the largest of the others. The
run without blocks, the reference for loss and time, is made in the same process where the table has at most 200 000 rows.
Data: Adult (AUDITOR_DATA), above its size drawn from it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from anonymizers.anonymizing import anonymize
from anonymizers.blocks.running import DEFAULT_SIZE
from anonymizers.blocks.weighing import LARGEST, cost_of_blocks
from auditor.measure.classes import class_facts
from benchmarks.adult import adult_like
from tests.support.adult import write_adult

SIZES = [100_000, 300_000, 1_000_000]
SEED = 2026
K = 5


def spent() -> float:
    """The CPU seconds of this process and of those that it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_one(method: str, rows: int, size: int, jobs: int) -> dict[str, Any]:
    """One release in blocks, and one without where both fit."""
    table = adult_like(rows)
    anonymize(table.take(np.arange(500)), method, k=K)
    start, clock = spent(), time.perf_counter()
    made = anonymize(table, method, SEED, blocks=size, jobs=jobs, k=K)
    found: dict[str, Any] = {"seconds": spent() - start, "clock": time.perf_counter() - clock}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["child"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 if jobs > 1 else 0.0
    found |= {"blocks": made[0].params["blocks"], "k": class_facts(made[0]).k, "rows": made[0].rows}
    if rows <= LARGEST:
        start = spent()
        whole = anonymize(table, method, SEED, k=K)
        found |= {"whole": spent() - start, "loss": cost_of_blocks(table, made, whole, SEED).share}
    return found


def run_command(method: str, rows: int, size: int) -> dict[str, Any]:
    """The command on a file of so many rows."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _, schema = write_adult(Path(os.environ["AUDITOR_DATA"]), folder)
        adult_like(rows).to_frame().to_csv(folder / "large.csv", index=False, sep=";")
        asked = ["--method", method, "--set", f"k={K}", "--blocks", "--block-rows", str(size)]
        command = ["-m", "auditor", "anonymize", "large.csv", "--schema", str(schema), *asked, "-o", "release.csv"]
        start, clock = spent(), time.perf_counter()
        done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    return {"seconds": spent() - start, "clock": time.perf_counter() - clock, "said": done.stdout + done.stderr}


def in_process_of_its_own(method: str, rows: int, size: int, jobs: int) -> dict[str, Any]:
    """One measurement in a fresh process."""
    asked = ["--one", str(rows), "--method", method, "--block-rows", str(size), "--jobs", str(jobs)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.blocks", *asked], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(method: str, sizes: list[int], size: int, jobs: int) -> None:
    """The table of all runs, and the growth."""
    header = ["rows", "jobs", "blocks", "k", "CPU s", "clock s", "MB", "MB of others", "CPU to whole", "loss to whole"]
    lines, alone = [], {}
    for rows in sizes:
        for number in dict.fromkeys((1, jobs)):
            found = in_process_of_its_own(method, rows, size, number)
            if number == 1:
                alone[rows] = found["seconds"]
            ratio = f"{found['seconds'] / found['whole']:.2f}" if "whole" in found else "-"
            loss = f"{found['loss']:+.2%}" if found.get("loss") is not None else "-"
            figures = [
                f"{found[name]:.{digits}f}"
                for name, digits in (("seconds", 1), ("clock", 1), ("peak", 0), ("child", 0))
            ]
            lines.append([rows, number, found["blocks"], found["k"], *figures, ratio, loss])
    print(tabulate(lines, header, disable_numparse=True))
    if len(sizes) > 1:
        first, last = min(sizes), max(sizes)
        growth = math.log(alone[last] / alone[first]) / math.log(last / first)
        print(f"CPU seconds grow with rows to the power {growth:.2f} from {first} to {last} rows (one process).")


def main() -> None:
    """Reads what to measure, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="kmember", help="a method with a k")
    parser.add_argument("--rows", default=",".join(map(str, SIZES)))
    parser.add_argument("--block-rows", type=int, default=DEFAULT_SIZE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--command", action="store_true", help="measure the command at the largest size, too")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one is not None:
        print(json.dumps(run_one(asked.method, asked.one, asked.block_rows, asked.jobs)))
        return
    sizes = [int(rows) for rows in asked.rows.split(",")]
    measure(asked.method, sizes, asked.block_rows, asked.jobs)
    if asked.command:
        found = run_command(asked.method, max(sizes), asked.block_rows)
        print(f"The command, {max(sizes)} rows: {found['seconds']:.1f} s CPU, {found['clock']:.1f} s. It said:")
        print(found["said"].strip())


if __name__ == "__main__":
    main()
