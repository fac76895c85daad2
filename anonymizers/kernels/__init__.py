"""Compiled kernels of the anonymizers (numba), each with the argument for its exactness in its docstring.

numba caches compiled code and compiles a kernel anew when its file has changed. It does not notice a change in another file
whose kernels or types are compiled into this one. And when a type has moved to another module, as after an upgrade, it can
no longer read its cache and fails. So the cache of this package is emptied here whenever one of the files that kernels are
made of (those of this folder, and `shapes.py`) has changed since the cache was filled.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from auditor.model.compiling import kernel

_STAMP = "kernels.sha256"


@kernel
def _somewhere() -> None:
    """Never called; it shows where numba keeps the cache of this package."""


def sources() -> str:
    """A digest of the files that kernels are made of."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted([*here.glob("*.py"), here.parent / "shapes.py"]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def forget_others(cache: Path, made_of: str) -> None:
    """Empties the cache unless it was made of the same files. Another process may do so at the same time: to numba, a file
    that is gone was never there."""
    stamp = cache / _STAMP
    if stamp.is_file() and stamp.read_text() == made_of:
        return
    with suppress(OSError):  # a full disk: the next run empties it again
        cache.mkdir(parents=True, exist_ok=True)
        for file in cache.glob("*.nbi"):
            file.unlink(missing_ok=True)
        stamp.write_text(made_of)


_stats = getattr(_somewhere, "stats", None)  # None where compiling is switched off (NUMBA_DISABLE_JIT)
if _stats is not None and _stats.cache_path is not None:
    forget_others(Path(_stats.cache_path), sources())
