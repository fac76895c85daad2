"""Releases as files: written for others to open, read from any tool.

A release of one block is one file, in the format that its name asks for. A release of several blocks is a folder: a file per
block, each with a column `bucket` (QIT and ST in Anatomy's words), and `manifest.json`, which lists them. The private
provenance is a file of its own (`auditor/files/provenances.py`).

Where a release holds aliases, `release.csv.labels.json` beside it (in a folder: the manifest) declares what each denotes. So
texts and numbers are published as they are, and nobody takes a graded 2.35 for an income of 2.35. It reveals nothing of the
key: it says of `A07` only that it may be any value. It names the SHA-256 of its release, so that the labels of a file that
was overwritten are not read with another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.files.hierarchies import explaining
from auditor.files.linked import with_linked
from auditor.files.manifests import (
    FORMAT,
    LABELS_FORMAT,
    MANIFEST,
    declared_beside,
    declared_labels,
    files_of_older,
    json_text,
    labels_file,
    read_manifest,
)
from auditor.files.mechanisms import mechanism_beside, mechanism_file, mechanism_text
from auditor.files.provenances import OTHER_RELEASE, Lines, fingerprint, provenance_text
from auditor.files.tables import read_raw, sha256, table_file, target_format, write_files
from auditor.model.arrays import Codes, Ints
from auditor.model.discretion import shown
from auditor.model.domain import Domain
from auditor.model.errors import LabelError, ReleaseError, UsageError
from auditor.model.labels.label_values import named_domain, wider_domain
from auditor.model.labels.labels import Declared, Labels, alias_meaning
from auditor.model.notation_kinds import Notation
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import BUCKET, DERIVED, Release, with_derived
from auditor.model.schema import Others, Role, Schema, Type
from auditor.model.table import HEADLESS, RawTable

if TYPE_CHECKING:
    import pandas as pd

Whose = Callable[[Sequence[RawTable]], Lines | None]
"""Says whose each row of a release is, given its blocks as text; None where that is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadRelease:
    """A release as it was read: finished, with its provenance where it is known whose rows are whose. `tables` are its blocks
    as text, `declared` what its aliases denote; `lines` says whose their rows are, and `proved` that the provenance bears the
    release's fingerprint."""

    release: Release
    provenance: Provenance | None
    tables: tuple[RawTable, ...]
    declared: Mapping[str, Declared]
    sha256: str | None
    lines: Ints | None = None
    proved: bool = False

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The identifying columns that the file holds. They are not part of the release."""
        return self.holding(Role.IDENTIFIER)

    def holding(self, role: Role) -> tuple[str, ...]:
        """The columns with a role that the file holds."""
        columns = self.release.schema.columns
        return tuple(c for table in self.tables for c in table.columns if columns[c].role is role)


def read_release(
    source: str | Path | pd.DataFrame,
    schema: Schema,
    rng: np.random.Generator,
    known: Mapping[str, Domain] | None = None,
    whose: Whose | None = None,
) -> ReadRelease:
    """A release from a file, a folder or a frame, in random order. `known` are the domains of the original; the labels
    themselves name the values of other columns, and may add some to neutral ones. `whose` tells the correspondence of rows,
    for the provenance."""
    raw = _read(source, schema)
    schema = release_schema(schema, raw.blocks)
    lines_of = None if whose is None else whose(raw.blocks)
    members = None if lines_of is None else lines_of.made_from
    synthetic = members is not None and lines_of is not None and bool((lines_of.rows < 0).all())
    if synthetic and len(raw.blocks) > 1:
        raise ReleaseError(f"{raw.name}: a synthetic release must be one table.")
    order, bucket = [np.arange(raw.rows)], None
    if raw.buckets is not None:
        # The blocks are lined up by bucket. The order within a bucket does not matter: publishing shuffles each block.
        order = [np.argsort(b, kind="stable") for b in raw.buckets]
        bucket = raw.buckets[0][order[0]]
    labels: dict[str, Labels] = {}
    cells: dict[str, Codes] = {}
    unpublished, faults = schema.unpublished, list[str]()
    for block, lines in zip(raw.blocks, order, strict=True):
        for name, texts in block.columns.items():
            if name not in unpublished:
                numbers, distinct, first = number_texts(texts)
                where, said, held = _where(block, name, first), raw.declared.get(name), (known or {}).get(name)
                if held is not None and (synthetic or schema.columns[name].role is Role.NEUTRAL):
                    # no attack needs to know its values beforehand; and what is made up need not be anybody's
                    held = wider_domain(held, block.name, distinct)
                cells[name] = numbers[lines]
                try:
                    labels[name] = read_labels(
                        schema, name, distinct, block.name, place=where, declared=said, domain=held
                    )
                except LabelError as error:
                    faults += [*error.faults, *explaining(schema, name, error.labels, held, block.name)]
    if faults:
        raise ReleaseError.of(faults)
    columns = [[c for c in block.columns if c in cells] for block in raw.blocks]
    _check_blocks(raw, columns)
    name = Path(raw.name).name
    release, by_line = publish(
        schema, labels, cells, columns, bucket, rng, name=name, method=raw.method, params=raw.params
    )
    if raw.buckets is None and isinstance(source, str | Path):
        release = replace(release, mechanism=mechanism_beside(Path(source), raw.sha256, schema, cells))
    provenance = None
    if synthetic and members is not None:
        nowhere = np.full(len(members), -1, dtype=np.int32)
        provenance = Provenance(nowhere, nowhere[:, None].copy(), made_from=members)
        release = replace(release, synthetic=True)
    elif lines_of is not None:
        provenance = _provenance(release, by_line.fragment, lines_of.rows, order, raw.name)
        meant = np.ones(provenance.rows, dtype=np.bool_) if members is None else members
        provenance = replace(provenance, made_from=members)
        release = replace(release, left_out=int((meant & (provenance.bucket < 0)).sum()))
    whose_rows, proved, _ = (None, False, None) if lines_of is None else lines_of
    return ReadRelease(release, provenance, raw.blocks, raw.declared, raw.sha256, whose_rows, proved)


def in_file_order(blocks: Sequence[RawTable]) -> Lines | None:
    """The correspondence of a release without original: every row of its file is a person. Several blocks do not tell which
    of their rows belong together."""
    return Lines(np.arange(blocks[0].rows)[:, None]) if len(blocks) == 1 else None


def release_schema(schema: Schema, blocks: Iterable[RawTable]) -> Schema:
    """The schema with the further columns of a release, or an error that names one that it must not have. A file of which
    the schema names no column has no header: its first row is a person's."""
    blocks = list(blocks)
    named = {name for block in blocks for name in block.columns} & set(schema.columns)
    if not named and schema.format.others is not Others.ERROR:
        raise ReleaseError(f"{blocks[0].name}: the schema ({schema.name}) names none of its columns.{HEADLESS}")
    for block in blocks:
        schema = block.check(with_derived(schema, block.columns))
    return schema


def read_labels(
    schema: Schema,
    column: str,
    texts: Sequence[str],
    table: str,
    *,
    place: Callable[[int], str] | None = None,
    declared: Declared | None = None,
    domain: Domain | None = None,
) -> Labels:
    """The labels of a published column. `domain` is that of the original where there is one, else what the labels themselves
    name (their values, and the ends of their intervals). For errors, `place(i)` says where text i stands in the `table`."""
    known, form = schema.columns[column], schema.format.of(column)
    if domain is None:
        named = texts
        if known.type is Type.NUMERIC:  # elsewhere an alias holds the place of the value that it hides
            named = [text for text in texts if alias_meaning(declared, text, form) is None]
        domain = named_domain(known, form, table, named)
    return Labels.read(domain, texts, place or (lambda _: f"{table}, column {column!r}"), declared, known.notation)


@dataclass(frozen=True, slots=True, eq=False)
class _Raw:
    """A release as text: a table per block, and for a folder the bucket of each fragment."""

    name: str
    blocks: tuple[RawTable, ...]
    buckets: tuple[Ints, ...] | None = None
    sha256: str | None = None
    method: str | None = None
    params: dict[str, Any] | None = None
    declared: Mapping[str, Declared] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of people."""
        return self.blocks[0].rows


def _read(source: str | Path | pd.DataFrame, schema: Schema) -> _Raw:
    if schema.tables and (not isinstance(source, str | Path) or Path(source).is_dir()):
        raise ReleaseError(
            f"A release with linked tables ({', '.join(schema.tables)}) must be a file with theirs beside it."
        )
    if not isinstance(source, str | Path):
        raw = RawTable.from_frame(source, "release", schema.format)
        if raw.rows == 0:
            raise ReleaseError("release: the frame must have at least one row.")
        return _Raw("release", (raw,))
    file = Path(source)
    if file.is_dir():
        return _read_folder(file, schema)
    raw = with_linked(read_raw(file, schema.format, (*schema.columns, *DERIVED)), schema, file)
    if raw.rows == 0:
        raise ReleaseError(f"{file}: the release must have at least one row below its header.")
    return _Raw(str(file), (raw,), None, raw.sha256, declared=declared_beside(file, raw.sha256, schema))


def _read_folder(folder: Path, schema: Schema) -> _Raw:
    manifest = read_manifest(folder)
    blocks, buckets, digests = [], [], []
    for part in manifest["blocks"]:
        raw = read_raw(folder / part["file"], replace(schema.format, header=None), (BUCKET, *schema.columns, *DERIVED))
        if BUCKET not in raw.columns or len(raw.columns) == 1 or raw.rows == 0:
            raise ReleaseError(f"{raw.name}: a block must have the column {BUCKET!r}, other columns, and rows.")
        buckets.append(_buckets(raw))
        cells = {name: column for name, column in raw.columns.items() if name != BUCKET}
        blocks.append(replace(raw, columns=cells))
        digests.append(raw.sha256 or "")
    first = np.sort(buckets[0])
    for raw, bucket in zip(blocks, buckets, strict=True):
        if not np.array_equal(np.sort(bucket), first):
            raise ReleaseError(f"{raw.name}: every class must have as many rows as in {blocks[0].name}.")
    digest = sha256("".join(digests).encode())
    declared = declared_labels(manifest.get("labels", {}), schema, folder / MANIFEST)
    method, params = manifest.get("method"), manifest.get("params")
    return _Raw(str(folder), tuple(blocks), tuple(buckets), digest, method, params, declared)


def _buckets(raw: RawTable) -> Ints:
    for row, cell in enumerate(raw.columns[BUCKET]):
        if not (cell.isascii() and cell.isdigit() and len(cell) < 19):
            raise ReleaseError(f"{raw.place(row)}, column {BUCKET!r}: must be a whole number. Got {shown(cell)}.")
    return np.array([int(cell) for cell in raw.columns[BUCKET]], dtype=np.int64)


def _provenance(release: Release, published: Codes, lines: Ints, order: list[Ints], name: str) -> Provenance:
    """The provenance from the rows of each block's file that people have (`lines`). `published` says where each row went, the
    rows of a block being in `order`."""
    found = []
    for place, sorting in enumerate(order):
        back = np.empty(len(sorting), dtype=np.int64)
        back[sorting] = np.arange(len(sorting))
        found.append(np.where(lines[:, place] >= 0, published[back[lines[:, place]], place], -1))
    fragment = np.column_stack(found).astype(np.int32)
    buckets = [
        np.where(fragment[:, i] >= 0, block.bucket[fragment[:, i]], -1) for i, block in enumerate(release.blocks)
    ]
    if any((bucket != buckets[0]).any() for bucket in buckets):
        raise ReleaseError(f"{name}: the provenance puts a row into different classes. {OTHER_RELEASE}")
    return Provenance(buckets[0].astype(np.int32), fragment)


def _check_blocks(raw: _Raw, columns: list[list[str]]) -> None:
    """Every block must publish something, and no column may be in two of them."""
    home: dict[str, str] = {}
    for block, names in zip(raw.blocks, columns, strict=True):
        if not names:
            raise ReleaseError(f"{block.name}: must have a column that is not an identifier.")
        for name in names:
            if name in home:
                raise ReleaseError(
                    f"{block.name}: the column {name!r} must be in one block only. It is also in {home[name]}."
                )
            home[name] = block.name


def _where(block: RawTable, column: str, first: Sequence[int]) -> Callable[[int], str]:
    return lambda i: f"{block.place(first[i])}, column {column!r}"


def number_texts(texts: Sequence[str]) -> tuple[Codes, list[str], list[int]]:
    """Texts as numbers: the number of each text among the distinct ones, these (sorted), and the first place of each."""
    first = dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))  # the first place is set last
    distinct = sorted(first)
    rank = {text: number for number, text in enumerate(distinct)}
    numbers = np.fromiter(map(rank.__getitem__, texts), dtype=np.int32, count=len(texts))
    return numbers, distinct, [first[text] for text in distinct]


def write_release(
    release: Release, provenance: Provenance | None, target: Path
) -> tuple[dict[Path, str | bytes], str | None]:
    """The contents of a release's files, and of its provenance. Nothing is written here."""
    ending = target_format(target).endings[0]
    declared = {c: said for c in release.columns if (said := release.labels[c].declared()) is not None}
    _check_notations(release, declared)
    orders = [release.line_order(number) for number in range(len(release.blocks))]
    tables = [_block_table(release, number, order) for number, order in enumerate(orders)]
    if len(tables) == 1:
        files = release_file(tables[0], release.schema, declared, target)
        if release.mechanism is not None:
            files[mechanism_file(target)] = mechanism_text(release.mechanism, digest_of(files[target]))
    else:
        if BUCKET in release.columns:
            raise ReleaseError(
                f"{release.name}: rename the column {BUCKET!r}. The blocks are joined by a column of this name."
            )
        names = [f"block{number + 1}{ending}" for number in range(len(tables))]
        form = release.schema.format
        files = {
            target / name: table_file(table, form, target / name) for name, table in zip(names, tables, strict=True)
        }
        blocks = zip(names, release.blocks, strict=True)
        parts = [{"file": name, "columns": list(block.columns)} for name, block in blocks]
        manifest = {"format": FORMAT, "method": release.method, "params": dict(release.params), "blocks": parts}
        files[target / MANIFEST] = json_text(manifest | ({"labels": declared} if declared else {}))
    if provenance is None:
        return files, None
    return files, provenance_text(provenance, orders, fingerprint(table.columns for table in tables))


def save_release(release: Release, target: Path, force: bool) -> list[Path]:
    """Writes a release; the files that were written."""
    files, _ = write_release(release, None, target)
    if target.exists() and not force:
        raise UsageError(f"{target} exists already. Use force=True to replace it.")
    write_files(files, force, target if len(release.blocks) > 1 else None, gone=files_of_older(target))
    return list(files)


def save_provenance(provenance: Provenance, release: Release, file: Path, force: bool) -> Path:
    """Writes the private provenance of a release; the file that was written."""
    orders = [release.line_order(number) for number in range(len(release.blocks))]
    texts = [release.texts(number, order) for number, order in enumerate(orders)]
    content = provenance_text(provenance, orders, fingerprint(texts))
    if file.exists() and not force:
        raise UsageError(f"{file} exists already. Use force=True to replace it.")
    write_files({file: content}, force, private=[file])
    return file


def _check_notations(release: Release, declared: Mapping[str, Declared]) -> None:
    """What is written can be read again with the same schema: its labels are in the notations that the schema allows."""
    for block in release.blocks:
        for number, column in enumerate(block.columns):
            known, labels = release.schema.columns.get(column), release.labels[column]
            if known is not None and known.notation:
                used = [labels.texts[i] for i in np.unique(block.cells[:, number]).tolist()]
                _read_again(labels, used, f"{release.name}, column {column!r}", declared.get(column), known.notation)


def _read_again(
    labels: Labels, texts: list[str], place: str, declared: Declared | None, allowed: Sequence[Notation]
) -> None:
    Labels.read(labels.domain, texts, lambda _: place, declared, allowed)


def release_file(
    table: RawTable, schema: Schema, declared: Mapping[str, Declared], target: Path
) -> dict[Path, str | bytes]:
    """The content of a release file and, where it holds aliases, of the file that declares them."""
    content = table_file(table, schema.format, target)
    files = {target: content}
    if declared:
        said = {"format": LABELS_FORMAT, "sha256": digest_of(content), "labels": dict(declared)}
        files[labels_file(target)] = json_text(said)
    return files


def digest_of(content: str | bytes) -> str:
    """The SHA-256 of a file with this content."""
    return sha256(content if isinstance(content, bytes) else content.encode())


def _block_table(release: Release, number: int, order: Ints) -> RawTable:
    """One block as text, with its buckets where there are several blocks."""
    return RawTable(release.name, release.texts(number, order), delimiter=release.schema.format.delimiter or ",")
