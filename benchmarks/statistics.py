"""What the class statistics of a release cost: CPU seconds after loading, beside plain pandas versions in the same run.

    python -m benchmarks.statistics                  ARX's releases of Adult, and releases of 1 000 000 rows
    python -m benchmarks.statistics --rows 100000    releases of another size
    python -m benchmarks.statistics --no-plain       without the plain versions, which take most of the time

Each release is measured with one sensitive column (occupation) and with two (age as well, a number). The large ones are
drawn from Adult: as they are, with the same quasi-identifiers for everybody (one class), and as if each row had its own (as
many classes as rows). "Loading" is reading the file, or making the release from labels; it is not counted. The plain
versions compute five of the statistics: class by class, as checkers in Python do (up to 5 000 classes), and by columns, all
classes at once. Their figures are compared with ours, which are all of them. Data: AUDITOR_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from auditor.auditing.subjects import Sources, read_subject
from auditor.measure.classes import class_facts
from auditor.model.labels.labels import Labels
from auditor.model.publishing import publish
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Block, Release
from auditor.model.schema import Role, Schema
from benchmarks.adult import adult_like
from benchmarks.anonymizers import clock
from tests.support.adult import unpack_release, write_adult

SENSITIVE = (("occupation",), ("occupation", "age"))
ARX = ("k5_s5_8qi", "local_k5_8qi")
MOST_CLASSES = 5_000
Figures = dict[str, dict[str, float]]
COMPARED = ("alpha", "l_distinct", "l_entropy", "t_equal", "beta_basic")


def with_sensitive(schema: Schema, sensitive: tuple[str, ...]) -> Schema:
    """The schema with these sensitive columns; all others are quasi-identifiers."""
    roles = {name: Role.SENSITIVE if name in sensitive else Role.QUASI for name in schema.columns}
    return replace(schema, columns={n: replace(c, role=roles[n]) for n, c in schema.columns.items()})


def arx(sensitive: tuple[str, ...]) -> Iterator[tuple[str, Release, float]]:
    """ARX's releases, and the CPU seconds of loading each."""
    data = Path(os.environ["AUDITOR_DATA"])
    with tempfile.TemporaryDirectory() as scratch:
        _, schema = write_adult(data, Path(scratch))
        chosen = with_sensitive(Schema.read(schema), sensitive)
        for name in ARX:
            file = unpack_release(data, name, Path(scratch))
            seconds, subject = clock(partial(read_subject, Sources(file, chosen), 0))
            yield name, subject.release, seconds


def drawn(rows: int, sensitive: tuple[str, ...]) -> Iterator[tuple[str, Release, float]]:
    """Large releases, and the CPU seconds of making each from labels."""
    table = adult_like(rows)
    schema = with_sensitive(table.schema, sensitive)
    labels = {column: Labels.exact(table.domains[column]) for column in table.codes}
    cells = {column: codes.astype(np.int32) for column, codes in table.codes.items()}
    same = {c: codes if c in sensitive else np.zeros_like(codes) for c, codes in cells.items()}
    for name, chosen in (("as Adult", cells), ("one class", same)):
        make = partial(publish, schema, labels, chosen, [list(cells)], None, np.random.default_rng(0))
        seconds, (release, _) = clock(make)
        yield name, release, seconds
        if name == "as Adult":
            block = release.blocks[0]
            alone = Block(block.columns, np.arange(rows, dtype=np.int32), block.cells)
            ones = np.ones(rows, dtype=np.int64)
            yield "a class each", replace(release, blocks=(alone,), sizes=ones, suppressed=ones == 0), 0.0


def by_columns(release: Release) -> Figures:
    """The compared statistics with pandas, all classes at once."""
    frame = frame_of(release)
    found = {}
    for column in release.sensitive:
        whole = frame[column].value_counts(normalize=True)
        counts = frame.groupby("bucket")[column].value_counts()
        share = counts / counts.groupby(level=0).transform("sum")
        expected = whole.loc[share.index.get_level_values(1)].to_numpy()
        entropy = (-share * np.log(share)).groupby(level=0).sum()
        found[column] = {
            "alpha": share.max(),
            "l_distinct": counts.groupby(level=0).size().min(),
            "l_entropy": np.exp(entropy.min()),
            "t_equal": (share - expected).clip(lower=0).groupby(level=0).sum().max(),
            "beta_basic": ((share - expected) / expected).max(),
        }
    return found


def by_class(release: Release) -> Figures | None:
    """The compared statistics class by class, as checkers in Python compute them; None where there are too many classes."""
    if len(release.sizes) > MOST_CLASSES:
        return None
    frame, found = frame_of(release), {}
    for column in release.sensitive:
        whole = frame[column].value_counts(normalize=True)
        each: list[tuple[float, ...]] = []
        for _, members in frame.groupby("bucket")[column]:
            share = members.value_counts(normalize=True)
            gain = share - whole[share.index]
            entropy = float(np.exp(-(share * np.log(share)).sum()))
            each.append((share.max(), len(share), entropy, gain.clip(lower=0).sum(), (gain / whole[share.index]).max()))
        alpha, distinct, entropies, distances, gains = np.array(each).T
        worst = (alpha.max(), distinct.min(), entropies.min(), distances.max(), gains.max())
        found[column] = dict(zip(COMPARED, worst, strict=True))
    return found


def frame_of(release: Release) -> pd.DataFrame:
    """The rows of the classes that count."""
    block = release.blocks[0]
    frame = pd.DataFrame(block.cells, columns=list(block.columns)).assign(bucket=block.bucket)
    return frame[~release.suppressed[block.bucket]]


def same(facts: ReleaseFacts, expected: Figures) -> str:
    """Whether the figures that both have are the same."""
    pairs = [(getattr(f, name), expected[f.column][name]) for f in facts.sensitive for name in COMPARED]
    return "yes" if all(abs(one - two) < 1e-9 * max(1, abs(two)) for one, two in pairs) else "NO"


def main() -> None:
    """Reads the options and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--no-plain", action="store_true")
    options = parser.parse_args()
    if not os.environ.get("AUDITOR_DATA"):
        raise SystemExit("AUDITOR_DATA must name a folder with data/adult and reference/arx.")
    lines: list[list[Any]] = []
    for sensitive in SENSITIVE:
        for name, release, loading in (*arx(sensitive), *drawn(options.rows, sensitive)):
            class_facts(release)  # once before: what is loaded on first use is not counted
            seconds, facts = clock(partial(class_facts, release))
            line = [name, len(sensitive), release.rows, facts.classes, loading, seconds]
            for slow_version in () if options.no_plain else (by_class, by_columns):
                slow, expected = clock(partial(slow_version, release))
                line += [None, None, "-"] if expected is None else [slow, slow / seconds, same(facts, expected)]
            lines.append(line)
            print(f"{name}, {len(sensitive)} sensitive: {seconds:.4f} s", file=sys.stderr, flush=True)
    heads = ["release", "sensitive", "rows", "classes", "loading s", "CPU s"]
    heads += ["by class s", "ratio", "same", "by columns s", "ratio", "same"]
    formats = ("", "", "", "", ".2f", ".4f", ".2f", ".0f", "", ".2f", ".1f", "")
    print(tabulate(lines, headers=heads[: len(lines[0])], floatfmt=formats[: len(lines[0])], missingval="-"))


if __name__ == "__main__":
    main()
