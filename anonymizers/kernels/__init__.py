"""Compiled kernels of the anonymizers (numba), each with the argument for its exactness in its docstring.

numba keeps what it compiled in a cache and compiles anew when the file of a kernel has changed. It does not see that
another file has, whose kernels or types are compiled into this one; and when a type has moved to another module, as after an
upgrade, it cannot read its cache any more and fails. So the whole cache of this package is emptied here whenever any of the
files that kernels are made of differs from those it was made of.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from numba import njit

_STAMP = "kernels.sha256"


@njit(cache=True)
def _somewhere() -> None:
    """Never called: numba says of it where the cache of this package is."""


def sources() -> str:
    """A digest of the files that kernels are made of."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted([*here.glob("*.py"), here.parent / "shapes.py"]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def forget_others(cache: Path, made_of: str) -> None:
    """Empties the cache unless it was made of the same files. Another process may do the same at the same time: numba takes
    a file that is gone for one that was never there."""
    stamp = cache / _STAMP
    if stamp.is_file() and stamp.read_text() == made_of:
        return
    cache.mkdir(parents=True, exist_ok=True)
    for file in cache.glob("*.nbi"):
        file.unlink(missing_ok=True)
    stamp.write_text(made_of)


_stats = getattr(_somewhere, "stats", None)  # None where compiling is switched off (NUMBA_DISABLE_JIT)
if _stats is not None and _stats.cache_path is not None:
    forget_others(Path(_stats.cache_path), sources())
