"""Publishing: labels per original row become a release and, apart from it, its provenance.

This is the one place where the two are made, so that no other function knows both. Every release passes through it, those
read from files of other tools as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.beyond import Beyond
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.provenance import Provenance
from auditor.model.release import Block, Release, with_derived
from auditor.model.schema import Schema


def publish(
    schema: Schema,
    labels: Mapping[str, Labels],
    cells: Mapping[str, Codes],
    blocks: Sequence[Sequence[str]],
    bucket: Ints | None,
    rng: np.random.Generator,
    name: str = "release",
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    promises: Sequence[str] = (),
    beyond: Beyond | None = None,
) -> tuple[Release, Provenance]:
    """Makes a release, and apart from it the provenance, from labels per original row.

    `cells[column]` holds the label number of each original row. `bucket` is the class of each row, -1 for rows left out; in
    a release of one block the labels make the classes, and only the -1 counts. Classes are numbered at random and fragments
    put in random order within them. `beyond` is given where the rows are a part of a larger release.
    """
    rows = len(next(iter(cells.values())))
    schema = with_derived(schema, cells)
    known = set(schema.quasi)
    quasi = [c for block in blocks for c in block if c in known]
    kept = np.ones(rows, dtype=np.bool_) if bucket is None else bucket >= 0
    group = np.full(rows, -1, dtype=np.int64)
    if len(blocks) == 1:
        group[kept] = distinct_rows(np.column_stack([cells[c][kept] for c in quasi])) if quasi else 0
    elif bucket is None:
        raise ValueError("A release of several blocks needs the class of each row.")
    else:
        group[kept] = np.unique(bucket[kept], return_inverse=True)[1]
    count = int(group.max(initial=-1)) + 1
    renumber = rng.permutation(count)
    group[kept] = renumber[group[kept]]
    sizes = np.bincount(group[kept], minlength=count).astype(np.int64)
    fragment = np.full((rows, len(blocks)), -1, dtype=np.int32)
    made = []
    source = np.flatnonzero(kept)
    for number, columns in enumerate(blocks):
        order = source[rng.permutation(len(source))]
        order = order[np.argsort(group[order], kind="stable")]
        fragment[order, number] = np.arange(len(order), dtype=np.int32)
        stacked = np.column_stack([cells[c][order] for c in columns]).astype(np.int32)
        made.append(Block(tuple(columns), group[order].astype(np.int32), stacked))
    about = name, method, dict(params or {}), tuple(promises), int((~kept).sum()), beyond
    release = Release(schema, dict(labels), tuple(made), sizes, np.zeros(count, dtype=np.bool_), *about)
    release = replace(release, suppressed=_suppressed(release))
    return release, Provenance(group.astype(np.int32), fragment)


def publish_synthetic(
    schema: Schema,
    labels: Mapping[str, Labels],
    cells: Mapping[str, Codes],
    made_from: Bools,
    rng: np.random.Generator,
    name: str = "release",
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    promises: Sequence[str] = (),
) -> tuple[Release, Provenance]:
    """Makes a synthetic release from the labels of made-up rows. `made_from` says which original rows the model was learned
    from. Nobody has a row, which is all that the provenance says of anybody else."""
    release, _ = publish(schema, labels, cells, [list(cells)], None, rng, name, method, params, promises)
    nowhere = np.full(len(made_from), -1, dtype=np.int32)
    return replace(release, synthetic=True), Provenance(nowhere, nowhere[:, None].copy(), made_from=made_from)


def _suppressed(release: Release) -> Bools:
    """The classes of a one-block release whose quasi-identifiers are all suppressed; none where there is no other class, held
    or not, since one class that covers everything is a generalisation."""
    out = np.zeros(len(release.sizes), dtype=np.bool_)
    if len(release.blocks) > 1 or not release.quasi:
        return out
    block = release.blocks[0]
    hidden = np.ones(len(block.bucket), dtype=np.bool_)
    for column in release.quasi:
        hidden &= release.labels[column].suppressed[block.cell(column)]
    out[block.bucket[hidden]] = True
    others = release.beyond is not None and len(release.beyond.sizes) > 0
    return out if others or not out.all() else np.zeros_like(out)
