"""The private provenance of a release as a file: which original row became which record.

It is a CSV table: the original row, its bucket, and its fragment (row of the block's file) per block, all counted from 1.
Where not all rows went into the making, or the rows of the release are nobody's, `made_from` is 1 for those that did. Two
further columns have a value in the first line only. `release` is the fingerprint of the release, so that the provenance
of another run is told from the right one. `secret` is what the release was drawn from: `auditor anonymize --secret` takes
the file and makes the same release again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from auditor.files.tables import csv_text, read_raw
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.errors import ReleaseError
from auditor.model.faults import read_text
from auditor.model.provenance import Provenance
from auditor.model.release import BUCKET
from auditor.model.seeding import SECRET_BYTES
from auditor.model.table import RawTable
from auditor.model.values import format_number, parse_number

RELEASE, SECRET, MADE_FROM = "release", "secret", "made_from"
OTHER_RELEASE = "It seems to be of another release."


class Lines(NamedTuple):
    """Whose each row of a release is: for each row of the original its row in each block's file (original rows × blocks),
    counted from 0, and -1 where it was left out. `proved` says that the fingerprint of the release shows it. `made_from` says
    which rows of the original a synthetic release was made from, whose rows are nobody's; None for any other release."""

    rows: Ints
    proved: bool = False
    made_from: Bools | None = None


def fingerprint(blocks: Iterable[Mapping[str, Sequence[str]]]) -> str:
    """A hash of the cells of a release in the order of their rows, whatever the format of its files: numbers count by their
    value, and neither the order of the columns nor the bucket column matters."""
    digest = hashlib.sha256()
    for columns in blocks:
        for name in sorted(set(columns) - {BUCKET}):
            plain = {text: _plain(text) for text in set(columns[name])}
            texts = "\0".join((name, *map(plain.__getitem__, columns[name]), ""))
            digest.update(texts.encode(errors="surrogatepass"))
        digest.update(b"\1")
    return digest.hexdigest()


def unordered_fingerprint(columns: Mapping[str, Sequence[str]]) -> str:
    """The same for some columns of a release, whatever the order of their rows."""
    names = sorted(columns)
    plain = [{text: _plain(text) for text in set(columns[name])} for name in names]
    rows = sorted(
        zip(*([of[text] for text in columns[name]] for name, of in zip(names, plain, strict=True)), strict=True)
    )
    return fingerprint([dict(zip(names, zip(*rows, strict=True), strict=False))])


def _plain(text: str) -> str:
    """A cell as all formats hold it: numbers in one way of writing."""
    for decimal in (".", ","):
        number = parse_number(text, decimal)
        if number is not None:
            return format_number(number)
    return text.strip()


def provenance_text(provenance: Provenance, orders: Sequence[Ints], release: str) -> str:
    """A provenance as CSV. `orders` are the orders of the blocks' rows in their files, `release` is the fingerprint."""
    lines = []
    for order in orders:
        line = np.full(len(order) + 1, -1)  # the last place is for rows that were left out
        line[order] = np.arange(len(order))
        lines.append(line)
    known = [] if provenance.made_from is None else [MADE_FROM]
    header = ["row", BUCKET, *(f"fragment_{i + 1}" for i in range(len(orders))), *known, RELEASE, SECRET]
    table: list[Codes | Ints] = [
        np.arange(provenance.rows),
        provenance.bucket,
        *(line[provenance.fragment[:, i]] for i, line in enumerate(lines)),
        *([] if provenance.made_from is None else [np.where(provenance.made_from, 0, -1)]),
    ]
    numbers = [[str(value + 1) if value >= 0 else "" for value in column.tolist()] for column in table]
    secret = "" if provenance.secret is None else f"{provenance.secret:0{2 * SECRET_BYTES}x}"
    once = ([text, *([""] * (provenance.rows - 1))] for text in (release, secret))
    return csv_text(header, zip(*numbers, *once, strict=True))


def read_provenance(file: str | Path, blocks: Sequence[RawTable], originals: int) -> Lines:
    """Whose each row is by a provenance file; an error where that has the fingerprint of another release."""
    raw = read_raw(file)
    names = ["row", *(f"fragment_{i + 1}" for i in range(len(blocks)))]
    if any(name not in raw.columns for name in names):
        raise ReleaseError(f"{file}: the provenance of this release must have the columns {', '.join(names)}.")
    marks = {cell for cell in raw.columns.get(RELEASE, ()) if cell}
    if marks and fingerprint(block.columns for block in blocks) not in marks:
        raise ReleaseError(
            f"{file} is the provenance of another release than {blocks[0].name}: the fingerprints differ. Give the one that "
            "was written with it. For a mended release, `auditor mend --provenance` writes one."
        )
    rows = blocks[0].rows
    members = _made_from(raw, originals)
    out = np.full((originals, len(blocks)), -1, dtype=np.int64)
    seen: set[int] = set()
    for number in range(raw.rows):
        cells, place = [raw.columns[name][number] for name in names], raw.place(number)
        if not all(cell.isascii() and cell.isdigit() and len(cell) < 19 for cell in cells if cell):
            raise ReleaseError(f"{place}: must hold whole numbers.")
        row, *fragments = (int(cell) if cell else 0 for cell in cells)
        if not 1 <= row <= originals or not all(0 <= fragment <= rows for fragment in fragments):
            raise ReleaseError(
                f"{place}: points outside the original ({originals} rows) or the release ({rows} rows). {OTHER_RELEASE}"
            )
        if row in seen:
            raise ReleaseError(f"{place}: the original row {row} occurs twice.")
        seen.add(row)
        out[row - 1] = np.array(fragments) - 1
    for block in range(len(blocks)):
        used = out[out[:, block] >= 0, block]
        if len(np.unique(used)) < len(used):
            raise ReleaseError(f"{file}: two original rows have the same fragment in block {block + 1}.")
    return Lines(out, bool(marks), members)


def _made_from(raw: RawTable, originals: int) -> Bools | None:
    """Which original rows a synthetic release was made from, by its provenance; None for any other release."""
    if MADE_FROM not in raw.columns:
        return None
    members = np.zeros(originals, dtype=np.bool_)
    for number, (row, cell) in enumerate(zip(raw.columns["row"], raw.columns[MADE_FROM], strict=True)):
        if cell.strip() not in ("", "0", "1"):
            raise ReleaseError(f"{raw.place(number)}, column {MADE_FROM!r}: must be 1 or empty.")
        if cell.strip() == "1" and row.isascii() and row.isdigit() and 1 <= int(row) <= originals:
            members[int(row) - 1] = True
    if not members.any():
        raise ReleaseError(
            f"{raw.name}: the column {MADE_FROM!r} must have a 1 for each row that the release was made from."
        )
    return members


def renewed(file: Path, before: RawTable, after: RawTable) -> str:
    """The provenance in a file, of the release `before`, as that of the release `after`, which has the same rows."""
    raw = read_raw(file)
    read_provenance(file, [before], raw.rows)  # its faults
    lists = {**raw.columns, RELEASE: [fingerprint([after.columns])] + [""] * (raw.rows - 1)}
    return csv_text(list(lists), zip(*lists.values(), strict=True))


def read_secret(file: Path) -> int:
    """The secret of an earlier run, in its provenance or by itself as hexadecimal digits."""
    text = read_text(file, "secret", ReleaseError)
    if not _is_secret(text.strip()):
        text = next((cell for cell in read_raw(file).columns.get(SECRET, ()) if cell), "")
    if not _is_secret(text.strip()):
        raise ReleaseError(
            f"{file}: must be the provenance of an earlier run, or a file with {2 * SECRET_BYTES} hexadecimal digits."
        )
    return int(text.strip(), 16)


def _is_secret(text: str) -> bool:
    return len(text) == 2 * SECRET_BYTES and all(digit in "0123456789abcdef" for digit in text.lower())
