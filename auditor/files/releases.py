"""Releases as files: written for others to open, read from any tool.

A release of one block is an ordinary CSV file, or a Parquet file where its name ends so. One of several blocks is a folder: a
file per block with a bucket column in each (QIT and ST in Anatomy's words), and `manifest.json`, which names them. The
private provenance is a CSV of its own: original row, bucket, and the fragment (row of the block's file) per block, all
counted from 1.

Where a release holds aliases, `release.csv.labels.json` beside it (in a folder: the manifest) declares what each denotes, so
that texts are published as they are, numbers as numbers, and still nobody takes a graded 2.35 for an income of 2.35. It says
nothing that the key would: for `A07` that it may be any value. It bears the SHA-256 of its release, since a file that was
written over must not be read with the labels of another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from auditor.files.arrow_tables import parquet_bytes, require_parquet
from auditor.files.manifests import (
    FORMAT,
    LABELS_FORMAT,
    MANIFEST,
    declared_beside,
    declared_labels,
    json_text,
    labels_file,
    read_manifest,
)
from auditor.files.tables import csv_text, read_raw, sha256
from auditor.model.arrays import Codes, Ints
from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.labels.label_values import named_domain
from auditor.model.labels.labels import Declared, Labels, alias_meaning
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import DERIVED, Release, with_derived
from auditor.model.schema import Role, Schema, Type
from auditor.model.table import RawTable
from auditor.model.values import shown

BUCKET = "bucket"
PARQUET = ".parquet"
"""The ending of a name that asks for Parquet."""
_NOT_WRITTEN = (".xlsx", ".xlsm", ".xls", ".arrow", ".feather", ".gz", ".zip")
"""Endings of other kinds of files, under which CSV would be misleading."""


@dataclass(frozen=True, slots=True, eq=False)
class RawRelease:
    """A release as text: a table per block, and for several blocks the bucket of each fragment."""

    name: str
    blocks: tuple[RawTable, ...]
    buckets: tuple[Ints, ...] | None
    sha256: str | None
    method: str | None = None
    params: dict[str, Any] | None = None
    declared: Mapping[str, Declared] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of people."""
        return self.blocks[0].rows


def read_release(file: str | Path, schema: Schema) -> RawRelease:
    """A release file, or the folder of a release with several blocks."""
    file = Path(file)
    if not file.is_dir():
        raw = read_raw(file, schema.format, (*schema.columns, *DERIVED))
        if raw.rows == 0:
            raise ReleaseError(f"{file}: the release must have at least one row below its header.")
        return RawRelease(str(file), (raw,), None, raw.sha256, declared=declared_beside(file, raw.sha256, schema))
    manifest = read_manifest(file)
    blocks, buckets, digests = [], [], []
    for part in manifest["blocks"]:
        raw = read_raw(file / part["file"], replace(schema.format, header=None), (BUCKET, *schema.columns, *DERIVED))
        if BUCKET not in raw.columns or len(raw.columns) == 1 or raw.rows == 0:
            raise ReleaseError(f"{raw.name}: a block of a release must have the column {BUCKET!r}, others, and rows.")
        buckets.append(_buckets(raw))
        cells = {name: column for name, column in raw.columns.items() if name != BUCKET}
        blocks.append(replace(raw, columns=cells))
        digests.append(raw.sha256 or "")
    first = np.sort(buckets[0])
    for raw, bucket in zip(blocks, buckets, strict=True):
        if not np.array_equal(np.sort(bucket), first):
            raise ReleaseError(
                f"{raw.name}: every block must have as many rows in each bucket as {blocks[0].name} has."
            )
    digest = sha256("".join(digests).encode())
    declared = declared_labels(manifest.get("labels", {}), schema, file / MANIFEST)
    method, params = manifest.get("method"), manifest.get("params")
    return RawRelease(str(file), tuple(blocks), tuple(buckets), digest, method, params, declared)


def _buckets(raw: RawTable) -> Ints:
    for row, cell in enumerate(raw.columns[BUCKET]):
        if not (cell.isascii() and cell.isdigit() and len(cell) < 19):
            raise ReleaseError(f"{raw.place(row)}, column {BUCKET!r}: must be a whole number. Got {shown(cell)}.")
    return np.array([int(cell) for cell in raw.columns[BUCKET]], dtype=np.int64)


def release_schema(schema: Schema, raw: RawRelease) -> Schema:
    """The schema with the release's further columns, or an error that names one that it must not have."""
    for block in raw.blocks:
        schema = block.check(with_derived(schema, block.columns))
    return schema


def release_domains(schema: Schema, raw: RawRelease, known: dict[str, Domain]) -> dict[str, Domain]:
    """The domains of the published columns: those of the original where it is there, else what the labels themselves
    name (their values, and the ends of their intervals)."""
    domains = dict(known)
    schema = release_schema(schema, raw)
    for block in raw.blocks:
        for name, cells in block.columns.items():
            if name not in domains:
                column, form, declared = schema.columns[name], schema.format.of(name), raw.declared.get(name)
                if column.type is Type.NUMERIC:  # elsewhere an alias holds the place of the value that it hides
                    cells = [text for text in cells if alias_meaning(declared, text, form) is None]
                domains[name] = named_domain(column, form, block.name, cells)
    return domains


def build_release(
    raw: RawRelease,
    schema: Schema,
    known: dict[str, Domain],
    rng: np.random.Generator,
    match: Ints | None = None,
    fragments: Ints | None = None,
    originals: int | None = None,
) -> tuple[Release, Provenance | None]:
    """A release read from files, put in random order, and its provenance where the correspondence is known.

    For one block `match[i]` is the original row of release row i (-1: none); for several blocks `fragments` (original
    rows × blocks) holds each row's fragment in each file. `originals` is the number of original rows.
    """
    schema = release_schema(schema, raw)
    domains = release_domains(schema, raw, known)
    labels: dict[str, Labels] = {}
    cells: dict[str, Codes] = {}
    order = [np.arange(raw.rows)] + [np.arange(raw.rows) for _ in raw.blocks[1:]]
    bucket = None
    if raw.buckets is not None:
        # Line the blocks up by bucket; within a bucket any order serves, since publishing shuffles each block apart.
        order = [np.argsort(b, kind="stable") for b in raw.buckets]
        bucket = raw.buckets[0][order[0]]
    for place, block in enumerate(raw.blocks):
        for name, texts in block.columns.items():
            if schema.columns[name].role is Role.IDENTIFIER:
                continue
            numbers, distinct, first = number_texts(texts)
            where = _where(block, name, first)
            asked = schema.columns[name].notation
            labels[name] = Labels.read(domains[name], distinct, where, raw.declared.get(name), asked)
            cells[name] = numbers[order[place]]
    columns = [[c for c in block.columns if c in cells] for block in raw.blocks]
    _check_blocks(raw, columns)
    name = Path(raw.name).name
    release, by_line = publish(schema, labels, cells, columns, bucket, rng, name, raw.method, raw.params)
    if raw.buckets is None:
        if match is None or originals is None:
            return release, None
        here = np.flatnonzero(match >= 0)
        lines = np.full(originals, -1, dtype=np.int64)
        lines[match[here]] = here
        found = lines >= 0
        group = np.where(found, by_line.bucket[lines], -1).astype(np.int32)
        fragment = np.where(found[:, None], by_line.fragment[lines], -1).astype(np.int32)
        return release, Provenance(group, fragment)
    if fragments is None:
        return release, None
    position = []
    for place, sorting in enumerate(order):
        back = np.empty(raw.rows, dtype=np.int64)
        back[sorting] = np.arange(raw.rows)
        line = fragments[:, place]
        position.append(np.where(line >= 0, by_line.fragment[back[line], place], -1))
    fragment = np.column_stack(position).astype(np.int32)
    group = np.where(fragment[:, 0] >= 0, release.blocks[0].bucket[fragment[:, 0]], -1).astype(np.int32)
    for place, made in enumerate(release.blocks):
        if (np.where(fragment[:, place] >= 0, made.bucket[fragment[:, place]], -1) != group).any():
            raise ReleaseError(f"{raw.name}: the provenance puts a row into different buckets. Is it of this release?")
    return release, Provenance(group, fragment)


def _check_blocks(raw: RawRelease, columns: list[list[str]]) -> None:
    """Every block must publish something, and no column may be in two of them."""
    home: dict[str, str] = {}
    for block, names in zip(raw.blocks, columns, strict=True):
        if not names:
            raise ReleaseError(f"{block.name}: must have a column that the schema does not call an identifier.")
        for name in names:
            if name in home:
                raise ReleaseError(
                    f"{block.name}: the column {name!r} must be in one block. It is in {home[name]} too."
                )
            home[name] = block.name


def _where(block: RawTable, column: str, first: Sequence[int]) -> Callable[[int], str]:
    return lambda i: f"{block.place(first[i])}, column {column!r}"


def number_texts(texts: Sequence[str]) -> tuple[Codes, list[str], list[int]]:
    """Texts as numbers of their distinct ones: the numbers, the distinct texts (sorted), and where each stands first."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    distinct = sorted(first)
    rank = {text: number for number, text in enumerate(distinct)}
    numbers = np.fromiter((rank[text] for text in texts), dtype=np.int32, count=len(texts))
    return numbers, distinct, [first[text] for text in distinct]


def check_target(target: Path) -> None:
    """An error, before any work, where a release cannot be written under this name."""
    if target.suffix.lower() in _NOT_WRITTEN:
        raise UsageError(
            f"{target}: a release is written as CSV, or as Parquet where its name ends in {PARQUET}. "
            f"Got the ending {target.suffix}."
        )
    if target.suffix.lower() == PARQUET:
        require_parquet()


def write_release(
    release: Release, provenance: Provenance | None, target: Path
) -> tuple[dict[Path, str | bytes], str | None]:
    """The contents of a release's files, and of its provenance. Nothing is written here."""
    check_target(target)
    ending = PARQUET if target.suffix.lower() == PARQUET else ".csv"
    declared = {c: said for c in release.columns if (said := release.labels[c].declared()) is not None}
    files: dict[Path, str | bytes] = {}
    orders = [_line_order(release, number) for number in range(len(release.blocks))]
    if len(release.blocks) == 1:
        files[target] = content = _block_file(release, 0, orders[0], ending)
        if declared:
            digest = sha256(content if isinstance(content, bytes) else content.encode())
            files[labels_file(target)] = json_text({"format": LABELS_FORMAT, "sha256": digest, "labels": declared})
    else:
        if BUCKET in release.columns:
            raise ReleaseError(
                f"{release.name}: a column {BUCKET!r} must have another name: the blocks are joined by it."
            )
        parts = []
        for number, block in enumerate(release.blocks):
            name = f"block{number + 1}{ending}"
            files[target / name] = _block_file(release, number, orders[number], ending)
            parts.append({"file": name, "columns": list(block.columns)})
        manifest = {"format": FORMAT, "method": release.method, "params": dict(release.params), "blocks": parts}
        files[target / MANIFEST] = json_text(manifest | ({"labels": declared} if declared else {}))
    if provenance is None:
        return files, None
    lines = []
    for order in orders:
        line = np.full(len(order) + 1, -1)  # the last place is for rows that were left out
        line[order] = np.arange(len(order))
        lines.append(line)
    header = ["row", BUCKET, *(f"fragment_{i + 1}" for i in range(len(orders)))]
    table = [
        np.arange(provenance.rows),
        provenance.bucket,
        *(line[provenance.fragment[:, i]] for i, line in enumerate(lines)),
    ]
    rows = ([str(int(value) + 1) if value >= 0 else "" for value in row] for row in zip(*table, strict=True))
    return files, csv_text(header, rows)


def _block_file(release: Release, number: int, order: Ints, ending: str) -> str | bytes:
    """One block as a file, with its buckets where there are several blocks. CSV is written as UTF-8, and announces that by
    its first character where the schema names another encoding for the files of this data set."""
    block, form = release.blocks[number], release.schema.format
    cells = {name: (release.labels[name].texts, block.cells[order, i]) for i, name in enumerate(block.columns)}
    if len(release.blocks) > 1:
        buckets = [str(bucket + 1) for bucket in range(int(block.bucket.max(initial=-1)) + 1)]
        cells = {BUCKET: (tuple(buckets), block.bucket[order]), **cells}
    if ending == PARQUET:
        return parquet_bytes(cells, form)
    columns = [[texts[i] for i in numbers.tolist()] for texts, numbers in cells.values()]
    mark = "\ufeff" if form.encoding is not None else ""
    return mark + csv_text(list(cells), zip(*columns, strict=True), form.delimiter or ",")


def _line_order(release: Release, number: int) -> Ints:
    """The order of a block's rows in its file: a one-block release mixes its classes, so that a class does not show by
    where it stands; several blocks are ordered by bucket, as their bucket column shows it anyway."""
    rows = len(release.blocks[number].bucket)
    if len(release.blocks) > 1:
        return np.argsort(release.blocks[number].bucket, kind="stable")
    return np.random.default_rng(rows).permutation(rows)


def read_provenance(file: str | Path, blocks: int, originals: int, rows: int) -> Ints:
    """A provenance file as fragments (original rows × blocks), counted from 0; -1 where a row was left out."""
    raw = read_raw(file)
    names = ["row", *(f"fragment_{i + 1}" for i in range(blocks))]
    absent = [name for name in names if name not in raw.columns]
    if absent:
        raise ReleaseError(f"{file}: a provenance of this release must have the columns {', '.join(names)}.")
    out = np.full((originals, blocks), -1, dtype=np.int64)
    seen: set[int] = set()
    for number in range(raw.rows):
        cells, place = [raw.columns[name][number] for name in names], raw.place(number)
        try:
            row, *fragments = (int(cell) if cell else 0 for cell in cells)
        except ValueError as error:
            raise ReleaseError(f"{place}: must hold whole numbers ({error}).") from error
        if not 1 <= row <= originals or not all(0 <= fragment <= rows for fragment in fragments):
            raise ReleaseError(
                f"{place}: {', '.join(cells)} points outside the original ({originals} rows) "
                f"or the release ({rows} rows). Is it of this release?"
            )
        if row in seen:
            raise ReleaseError(f"{place}: the original row {row} stands twice.")
        seen.add(row)
        out[row - 1] = np.array(fragments) - 1
    for block in range(blocks):
        used = out[out[:, block] >= 0, block]
        if len(np.unique(used)) < len(used):
            raise ReleaseError(f"{file}: two original rows have the same fragment in block {block + 1}.")
    return out
