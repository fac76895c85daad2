"""l-diverse slicing beside Mondrian (α = 1/l) and Anatomy: classes, the largest one, and the greatest probability of a value.

    python -m benchmarks.slicing [--data DIR]

On the built-in town (disease), and with `--data DIR` (or AUDITOR_DATA) on OCC-7: Adult with occupation sensitive and seven
quasi-identifiers. The probability is what an adversary who knows all quasi-identifiers believes at most, by what is
published. The first run compiles: its times are longer. A method refuses where a value is too frequent for l.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from anonymizers.anonymizing import anonymize
from auditor.files.tables import read_raw
from auditor.model.errors import PromiseError
from auditor.model.knowledge import Knowledge
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from scenarios import town
from tests.support.adult import write_adult


def occ_7(data: Path) -> Table:
    """Adult with occupation sensitive and seven quasi-identifiers."""
    with tempfile.TemporaryDirectory() as folder:
        file, toml = write_adult(data, Path(folder))
        schema = Schema.read(toml)
        raw = read_raw(file, schema.format)
    used = [c for c in raw.columns if c != "salary-class"]
    known = replace(schema, columns={c: schema.columns[c] for c in used})
    (table,) = encode(known, [RawTable("OCC-7", {c: raw.columns[c] for c in used})])
    return table


def the_town() -> Table:
    """The 10 000 people whom the built-in scenario publishes."""
    schema = Schema.read(Path(str(town.schema_path())))
    (people,) = encode(schema, [RawTable.from_frame(town.population(), "town")])
    return people.take(np.sort(np.random.default_rng(7).permutation(people.rows)[:10_000]))


def most_believed(release: Release, table: Table, about: str) -> float:
    """The greatest probability that the release gives a sensitive value of anybody."""
    quasi = tuple(release.quasi)
    size = table.domains[about].size
    knowledge = Knowledge(quasi, np.unique(table.matrix(quasi), axis=0), priors={about: np.full(size, 1 / size)})
    matching = Matching(release, knowledge, Suppression.EXCLUDED)
    return float(Posterior(matching, Link.CONTAINMENT).values(about).top().max())


def rows_of(name: str, table: Table, about: str) -> list[list[Any]]:
    """The lines of one table."""
    lines = []
    for l in (2, 3, 5):
        for method, chosen in (
            ("slicing", {"c": 3, "l": l, "sensitive": about}),
            ("mondrian", {"k": 1, "alpha": 1 / l, "sensitive": about}),
            ("anatomy", {"l": l, "sensitive": about}),
        ):
            start = time.process_time()
            try:
                release, _ = anonymize(table, method, 0, **chosen)
            except PromiseError:
                lines.append([name, l, method, None, None, None, 1 / l, None])
                continue
            spent = time.process_time() - start
            most = most_believed(release, table, about)
            lines.append([name, l, method, len(release.sizes), int(release.sizes.max()), most, 1 / l, spent])
            print(*lines[-1], file=sys.stderr, flush=True)
    return lines


def main() -> None:
    """Reads the options and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("AUDITOR_DATA"))
    chosen = parser.parse_args()
    lines = rows_of("town", the_town(), "disease")
    if chosen.data is not None:
        lines += rows_of("OCC-7", occ_7(Path(chosen.data)), "occupation")
    heads = ["table", "l", "method", "classes", "largest", "greatest P(t,s)", "1/l", "CPU s"]
    print(tabulate(lines, headers=heads, floatfmt=("", "", "", "", "", ".4f", ".4f", ".2f"), missingval="refused"))


if __name__ == "__main__":
    main()
