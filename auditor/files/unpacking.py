"""Packed files: gzip is unpacked, and files that unpack to far more than a table would are refused.

A few hundred kilobytes of gzip can unpack to hundreds of megabytes of nothing and fill the memory. Tables shrink to a fifth
or a twentieth, those of one repeated row further. So a file is refused that unpacks to more than `MOST_UNPACKED` bytes *and*
to more than `MOST_TIMES` its own size. If the file is good, the user can unpack it first.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from auditor.model.discretion import cause, told
from auditor.model.errors import TableError

MOST_UNPACKED = 100_000_000
MOST_TIMES = 200
_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20


def refuse_bomb(packed: int, unpacked: int, file: Path) -> None:
    """An error where a file of `packed` bytes unpacks to too many."""
    if unpacked > MOST_UNPACKED and unpacked > MOST_TIMES * packed:
        raise TableError(
            f"{file}: {packed} bytes unpack to more than {MOST_UNPACKED // 1_000_000} MB and {MOST_TIMES} times their size, "
            "which no ordinary table does. If you trust the file, unpack it yourself and give the CSV."
        )


def unpacked(content: bytes, file: Path) -> bytes:
    """The content of a file, unpacked where it is gzip."""
    if not content.startswith(_GZIP):
        return content
    blocks, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            while block := stream.read(_BLOCK):
                size += len(block)
                refuse_bomb(len(content), size, file)
                blocks.append(block)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{file}: the gzip file is damaged or cut short ({told(error)}).") from cause(error)
    return b"".join(blocks)
