"""What every anonymizer costs: CPU seconds and peak memory at growing sizes, and how the time grows.

    python -m benchmarks.anonymizers                     all methods at 10 000, 30 162 and 100 000 rows
    python -m benchmarks.anonymizers --million           1 000 000 rows too, for the methods made for it
    python -m benchmarks.anonymizers --methods kmember,caat --rows 10000,30162
    python -m benchmarks.anonymizers --ratios            only the ratios to plain numpy versions, measured in the same run

Each run has a process of its own (peak memory is its own, the table included), and each method first makes a small
release, so that compiling is not counted. A size is left out, and said so, when the time so far says that it would take
longer than `--most` seconds. Data: Adult (AUDITOR_DATA), above its size drawn from it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tabulate import tabulate

from auditor.model.table import Table
from benchmarks import plain
from benchmarks.adult import adult_like, numbers

SLICES = [
    ["age", "marital-status"],
    ["education", "salary-class"],
    ["race", "native-country"],
    ["sex", "workclass"],
    ["occupation"],
]
SETTINGS: dict[str, dict[str, Any]] = {
    "identity": {},
    "mondrian": {"k": 5},
    "full-domain": {"k": 5},
    "suppression": {"k": 5},
    "kmember": {"k": 5},
    "caat": {"k": 5},
    "kaca": {"k": 5},
    "loukides-shao": {"k": 5},
    "oka": {"k": 5},
    "kmeans1": {"k": 5},
    "kmeans2": {"k": 5},
    "kmeans3": {"k": 5},
    "wfcm": {"k": 5},
    "l-clustering": {"l": 2},
    "ebkc": {"k": 5},
    "mdav": {"k": 5},
    "mdav-refined": {"k": 5},
    "rgather": {"r": 5},
    "rcellular": {"r": 5},
    "slicing": {"l": 2, "columns": SLICES},
    "anatomy": {"l": 2},
    "grading": {},
    "cart": {},
    "copula": {},
    "marginals": {"epsilon": 1.0},
}
SIZES = [10_000, 30_162, 100_000]
MILLION = ("kmember", "caat", "mondrian", "slicing", "anatomy", "grading")


def run_one(method: str, rows: int) -> dict[str, Any]:
    """One release in this process."""
    from anonymizers.anonymizing import anonymize

    table = adult_like(rows)
    anonymize(table.take(np.arange(500)), method, **SETTINGS[method])
    start = time.process_time()
    release, _ = anonymize(table, method, **SETTINGS[method])
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak": peak, "classes": len(release.sizes), "rows": release.rows}


def in_process_of_its_own(method: str, rows: int) -> dict[str, Any]:
    """One release in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.anonymizers", "--one", method, "--rows", str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{method}, {rows} rows: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def sweep(methods: list[str], sizes: list[int], million: bool, most: float) -> None:
    """All methods at all sizes."""
    lines = []
    for method in methods:
        tried: list[int] = []
        seconds: list[float] = []
        for rows in [*sizes, *([1_000_000] if million and method in MILLION else [])]:
            power = max(plain.exponent(tried, seconds)[-1:] or [1.0])
            expected = seconds[-1] * (rows / tried[-1]) ** power if tried else 0.0
            if expected > most:
                lines.append([method, rows, None, None, None, f"left out: about {expected:.0f} s"])
                continue
            found = in_process_of_its_own(method, rows)
            tried.append(rows)
            seconds.append(found["seconds"])
            growth = plain.exponent(tried, seconds)
            power_text = f"n^{growth[-1]:.2f}" if growth else ""
            lines.append([method, rows, found["seconds"], found["peak"], found["classes"], power_text])
            # said at once: a long sweep that is broken off has not been for nothing
            said = f"{found['seconds']:.2f} s, {found['peak']:.0f} MB {power_text}"
            print(f"{method} {rows}: {said}", file=sys.stderr, flush=True)
    heads = ["method", "rows", "CPU s", "peak MB", "classes", "growth"]
    print(tabulate(lines, headers=heads, floatfmt=("", "", ".2f", ".0f", "", ""), missingval="-"))


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of some work, and its result."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def ratios(rows: int) -> None:
    """How many times faster than the plain versions, in one run; the classes are compared too."""
    from anonymizers.shared.distance import Space

    table = adult_like(rows)
    few = table.take(np.arange(500))
    quasi = table.schema.quasi
    lines = []

    from anonymizers.kmember import k_member

    space = Space.of(table, quasi)
    k_member(Space.of(few, quasi), 10, 0)
    fast, found = clock(lambda: k_member(space, 10, 0))
    slow, expected = clock(lambda: space.groups(plain.k_member(space, 10, 0)))
    lines.append(["kmember, k = 10", rows, fast, slow, slow / fast, _same(found, expected)])

    from anonymizers.caat import cluster, depths

    space = Space.of(table, quasi, depths)
    cluster(Space.of(few, quasi, depths), 10, 0)
    fast, found = clock(lambda: cluster(space, 10, 0))
    slow, expected = clock(lambda: space.groups(plain.caat(space, 10, 0)))
    lines.append(["caat, k = 10", rows, fast, slow, slow / fast, _same(found, expected)])
    lines += _mdav(rows)
    lines += _slicing(rows)
    heads = ["method", "rows", "CPU s", "plain CPU s", "times faster", "same classes"]
    print(tabulate(lines, headers=heads, floatfmt=("", "", ".3f", ".1f", ".0f", "")))


def _mdav(rows: int) -> list[list[Any]]:
    """MDAV on eight numbers a row, correlated and skewed."""
    from anonymizers.kernels.mdav import clusters_of
    from anonymizers.shared.points import points_of

    table = numbers(rows)
    points = points_of(table, table.schema.quasi)
    clusters_of(points_of(table.take(np.arange(500)), table.schema.quasi), 10)
    fast, found = clock(lambda: clusters_of(points, 10))
    scaled = points.values * np.sqrt(points.weight)
    slow, expected = clock(lambda: plain.mdav(scaled, 10))
    same = (found == expected).mean()  # floats are summed in another order, so a tie may fall differently
    return [["mdav, k = 10, 8 numbers", rows, fast, slow, slow / fast, f"{same:.1%} of rows"]]


def _slicing(rows: int) -> list[list[Any]]:
    """Slicing at l = 2. The plain check is run on 200 and 400 rows, and its time at the full size extrapolated."""
    from anonymizers.shared.diverse_buckets import Diverse, cuts_of, tuple_partition
    from anonymizers.shared.fragments import fragments_of

    def fast(table: Table) -> np.ndarray[Any, Any]:
        quasi = table.schema.quasi
        return tuple_partition(
            fragments_of(table, SLICES, "occupation", {}, {}), cuts_of(table, quasi, True), Diverse(2)
        )

    whole = adult_like(rows)
    fast(whole.take(np.arange(500)))
    seconds, _ = clock(lambda: fast(whole))
    sizes, slow = [200, 400], []
    for size in sizes:
        few = whole.take(np.arange(size))
        spent, expected = clock(partial(plain.slicing, few, SLICES, "occupation", 2))
        slow.append(spent)
    same = _same(fast(few), expected)
    power = plain.exponent(sizes, slow)[0]
    guess = slow[-1] * (rows / sizes[-1]) ** power
    what = f"slicing, l = 2 (plain: {slow[-1]:.0f} s at 400 rows, n^{power:.1f})"
    return [[what, rows, seconds, guess, guess / seconds, f"{same}, at 400"]]


def _same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> str:
    compared = expected >= 0  # the plain versions leave the last, incomplete class open
    return "yes" if (found[compared] == expected[compared]).all() else "NO"


def main() -> None:
    """Reads the options and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(SETTINGS))
    parser.add_argument("--rows", default=",".join(map(str, SIZES)))
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--most", type=float, default=900.0, help="seconds that a single run may be expected to take")
    parser.add_argument("--ratios", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [int(text) for text in options.rows.split(",")]
    if options.one:
        print(json.dumps(run_one(options.one, sizes[0])))
        return
    if not options.ratios:
        sweep(options.methods.split(","), sizes, options.million, options.most)
    ratios(30_162)


if __name__ == "__main__":
    main()
