"""Attacks on synthetic releases by size: CPU seconds and peak memory, beside Anonymeter and SDMetrics where these are
installed.

    python -m benchmarks.synthetic [--rows 2000,4000,8000]

Made-up rows, members and outsiders are as many, of 14 mixed columns: the town's people with some columns of numbers and
texts. Half of the cells of a made-up row are those of one member, the others of anybody. Each attack runs in a process
of its own, so that its memory is its own; reading the tables is counted with it. The other tools do what they do by
default: Anonymeter links 2 000 people, SDMetrics measures the distance to the closest record of all.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

import numpy as np
import pandas as pd
from tabulate import tabulate

from auditor.auditing.audit import audit
from auditor.model.schema import Schema
from scenarios.options import Options

ATTACKS = ("synthetic-membership", "linkability", "attribution", "closeness", "inference", "singling-out")
NUMBERS = {"age": 60, "height": 50, "weight": 70, "income": 4_000, "hours": 50, "distance": 900}
TEXTS = {"sex": 2, "town": 30, "job": 15, "school": 16, "marital": 7, "country": 40, "sector": 8, "illness": 20}


def people(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """People whose columns go together a little."""
    luck = rng.random(rows)
    cells = {}
    for name, size in (NUMBERS | TEXTS).items():
        place = (0.4 * luck + 0.6 * rng.beta(2, 4, rows)) * size
        cells[name] = [str(v) if name in NUMBERS else f"{name}{v}" for v in place.astype(int).tolist()]
    return pd.DataFrame(cells)


def tables(rows: int) -> dict[str, pd.DataFrame]:
    """Members, outsiders, and made-up rows."""
    rng = np.random.default_rng(1)
    members, others = people(rows, rng), people(rows, rng)
    drawn, anybody = (members.iloc[rng.integers(0, rows, rows)].reset_index(drop=True) for _ in range(2))
    return {"members": members, "others": others, "made": drawn.where(rng.random(drawn.shape) < 0.5, anybody)}


def ours(attack: str) -> Callable[[dict[str, pd.DataFrame]], object]:
    """One of our attacks."""
    roles = {name: {"role": "quasi", "type": "numeric"} for name in NUMBERS} | {
        name: {"role": "quasi"} for name in TEXTS
    }
    schema = Schema.from_dict({"columns": roles | {"illness": {"role": "sensitive"}}})
    options = Options(attacks=(attack,), utility=())
    return lambda given: audit(
        given["made"], schema, original=given["members"], no_match=True, holdout=given["others"], options=options
    )


def anonymeter(given: dict[str, pd.DataFrame]) -> object:
    """Anonymeter's linkability."""
    evaluators = importlib.import_module("anonymeter.evaluators")
    frames = {name: frame.astype(dict.fromkeys(NUMBERS, float)) for name, frame in given.items()}
    halves = ([*NUMBERS][::2] + [*TEXTS][:-1][::2], [*NUMBERS][1::2] + [*TEXTS][:-1][1::2])
    made = {"ori": frames["members"], "syn": frames["made"], "control": frames["others"], "aux_cols": halves}
    evaluator = evaluators.LinkabilityEvaluator(**made, n_attacks=min(2_000, len(frames["members"])), n_neighbors=1)
    return evaluator.evaluate(n_jobs=1)


def sdmetrics(given: dict[str, pd.DataFrame]) -> object:
    """SDMetrics' distances to the closest record."""
    privacy = importlib.import_module("sdmetrics.single_table.privacy")
    frames = {name: frame.astype(dict.fromkeys(NUMBERS, float)) for name, frame in given.items()}
    kinds = {c: {"sdtype": "numerical" if c in NUMBERS else "categorical"} for c in frames["made"].columns}
    return privacy.DCROverfittingProtection.compute_breakdown(
        frames["members"], frames["made"], frames["others"], {"tables": {"people": {"columns": kinds}}}, "people"
    )


def measured(work: Callable[[dict[str, pd.DataFrame]], object], rows: int, answer: Connection) -> None:
    """CPU seconds and peak megabytes of some work, told to another process."""
    given, start = tables(rows), time.process_time()
    work(given)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    answer.send((time.process_time() - start, peak))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="2000,4000,8000", help="numbers of rows, separated by commas")
    parser.add_argument("--attacks", default=",".join(ATTACKS), help="attacks, separated by commas")
    asked = parser.parse_args(arguments)
    works = {name: ours(name) for name in asked.attacks.split(",")}
    others = {"anonymeter": anonymeter, "sdmetrics": sdmetrics}
    works |= {name: work for name, work in others.items() if importlib.util.find_spec(name) is not None}
    fork = multiprocessing.get_context("fork")
    lines = []
    for name, work in works.items():
        before = None
        for rows in map(int, asked.rows.split(",")):
            here, there = fork.Pipe()
            child = fork.Process(target=measured, args=(work, rows, there))
            child.start()
            there.close()
            try:
                seconds, megabytes = here.recv()
            except EOFError:
                lines.append([name, rows, "failed", "", ""])
                continue
            finally:
                child.join()
            growth = "" if before is None else f"{np.log(seconds / before[1]) / np.log(rows / before[0]):.2f}"
            lines.append([name, rows, f"{seconds:.1f}", f"{megabytes:.0f}", growth])
            before = rows, seconds
    print(tabulate(lines, ("attack", "rows", "CPU s", "peak MB", "growth"), disable_numparse=True))


if __name__ == "__main__":
    main()
