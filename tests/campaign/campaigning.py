"""A campaign from the command line to its tables."""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.campaign import killing
from tests.campaign.following import follow
from tests.campaign.generating import generate, told
from tests.campaign.judging import judge
from tests.campaign.running import fill, run
from tests.campaign.serving import serve
from tests.campaign.telling import Outcome, failures, share, table

LEAST_SHARE = 1 / 3


def try_input(seed: int, home: Path, keep: bool, index: int) -> Outcome:
    """Generates, runs and judges one input."""
    try:
        case = generate(seed, index)
    except Exception as error:  # of a method that made a release, or ours
        return Outcome(index, "generator", "unchanged", -1, 0.0, (f"{type(error).__name__}: {error}",), "")
    folder = home / str(index)
    folder.mkdir()
    fill(case, folder)
    start = time.monotonic()
    if case.command == "serve":
        code, faults = serve(case, folder)
    else:
        ended = run(case, folder)
        code, faults = ended.code, judge(case, ended, folder)
        faults = faults or list(follow(case, ended, folder))
    taken = time.monotonic() - start
    if not keep:
        for beside in home.glob(f"{index}.*"):
            shutil.rmtree(beside) if beside.is_dir() else beside.unlink()
        shutil.rmtree(folder)
    return Outcome(index, case.command, case.kind, code, taken, tuple(faults), told(case))


def main() -> None:
    """The command line of the campaign."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description="Thousands of hostile inputs, and kills."
    )
    parser.add_argument("--inputs", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, help="run this input alone, and keep its folder")
    parser.add_argument("--only-kill", type=int, help="run this kill alone, and keep its folder")
    asked = parser.parse_args()
    alone = asked.only is not None or asked.only_kill is not None
    home = Path(tempfile.mkdtemp(prefix="campaign-"))
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)  # where details of internal errors are put
    killing.warm_up(home)
    inputs = [asked.only] if asked.only is not None else range(0 if alone else asked.inputs)
    kills = [asked.only_kill] if asked.only_kill is not None else range(0 if alone else asked.kills)
    start = time.monotonic()
    found, killed = [], []
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        work = functools.partial(try_input, asked.seed, home, alone)
        found = sorted(pool.imap_unordered(work, inputs, 4), key=lambda one: one.index)
        work = functools.partial(killing.try_kill, asked.seed, home, alone)
        killed = sorted(pool.imap_unordered(work, kills, 2), key=lambda one: one.index)
    lines = []
    if found:
        slowest = sorted(found, key=lambda one: -one.seconds)[:5]
        lines += [table(found), f"Share of inputs with a result: {share(found):.3f} (at least {LEAST_SHARE:.3f})"]
        lines += ["Slowest: " + ", ".join(f"{one.index} {one.command} {one.seconds:.0f} s" for one in slowest)]
    if killed:
        lines.append(killing.table(killed))
    lines.append(f"{time.monotonic() - start:.0f} s")
    wrong = failures(found, f"--seed {asked.seed} --only") + failures(killed, f"--seed {asked.seed} --only-kill")
    lines.append(f"Failures:\n{wrong}" if wrong else "No failure.")
    if alone:
        lines.append(f"The folder is {home}.")
    else:
        shutil.rmtree(home)
    sys.stdout.write("\n\n".join(lines) + "\n")
    few = asked.inputs >= 100 and not alone and share(found) < LEAST_SHARE
    sys.exit(1 if wrong or few else 0)
