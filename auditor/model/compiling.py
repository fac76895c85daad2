"""Compiled code: `@kernel` compiles a function with numba, and keeps the result for the next run.

numba keeps it beside the source, or in the user's cache folder. Where neither can be written, as for a service without a
home, it goes to a folder of the user's own in the temporary folder, and where there is none each run compiles anew; a warning
says so once. A cache that is damaged, or on a disk that is full, is no reason to stop. Kernels do not hold the interpreter's
lock, so that a process hears signals, and that its parent has gone, while one runs.

Compiling takes seconds, which somebody waits for on first use. numba compiles a function that other kernels call as if Python
called it: with code that unpacks Python's objects, which for tuples of arrays is most of all its code, optimised by itself
and again in each of its callers, and once more for an argument that begins as a constant. Here such a function is compiled
apart for its callers: without that code, not optimised (its callers are, and it within them), and for types alone.
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, overload

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from auditor.model.errors import AuditorWarning

F = TypeVar("F", bound=Callable[..., Any])
Inline = Literal["never", "always"]
_CONFIG: Any = numba.config


@overload
def kernel(function: F) -> F: ...


@overload
def kernel(*, inline: Inline) -> Callable[[F], F]: ...


def kernel(function: F | None = None, *, inline: Inline = "never") -> F | Callable[[F], F]:
    """A compiled function. `inline` is numba's."""
    return functools.partial(_compiled, inline=inline) if function is None else _compiled(function, inline)


def _compiled(function: F, inline: Inline) -> F:
    if _CONFIG.DISABLE_JIT or inline == "always":
        made: Any = numba.njit(nogil=True, inline=inline)(function)
    else:
        made = _Kernel(function)
    return cast("F", made)


class _Kept(CPUDispatcher):
    """A function whose cache is looked for when it is first called: that takes a few milliseconds, and most are not."""

    _found: Any = None

    def __init__(self, function: Callable[..., Any], sort: type[_Cache], **options: bool) -> None:
        self.sort = sort
        super().__init__(function, targetoptions={"nopython": True, "no_cfunc_wrapper": True, **options})

    @property
    def _cache(self) -> Any:
        if self._found is None:
            self._found = _cache(self.py_func, self.sort) or NullCache()
        return self._found

    @_cache.setter
    def _cache(self, _: Any) -> None:
        """numba's own choice, at construction, does not count."""


class _Kernel(_Kept):
    """A function that Python calls; what calls it in compiled code calls its `part`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, _Cache, nogil=True)
        self.part = _Part(function, _PartCache, no_cpython_wrapper=True)

    def compile(self, sig: Any) -> Any:
        collecting = gc.isenabled()
        gc.disable()  # the compiler makes many objects that stay: looking for garbage among them takes a while
        try:
            return super().compile(sig)
        finally:
            if collecting:
                gc.enable()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.part.get_call_template([numba.types.unliteral(arg) for arg in args], kws)

    def get_overload(self, sig: Any) -> Any:
        return self.part.get_overload(sig)


class _Part(_Kept):
    """The same function for the kernels that call it."""

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            before = _CONFIG.OPT
            _CONFIG.OPT = type(before)(1)
            try:
                return super().compile(sig)
            finally:
                _CONFIG.OPT = before


class _Cache(FunctionCache):
    """numba's cache of one function. Where it cannot be read or written, the function is compiled, and that is all."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception):  # whatever unpickling a damaged file raises
            return super().load_overload(sig, target_context)
        with suppress(OSError):
            self.flush()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):  # a full disk, or an index that is damaged
            super().save_overload(sig, data)


class _PartCache(_Cache):
    """The same for what kernels call."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), "part")


def _cache(function: Callable[..., Any], sort: type[_Cache]) -> _Cache | None:
    """Where the compiled function is kept; None where it cannot be."""
    try:
        return sort(function)
    except RuntimeError:  # no folder that numba knows can be written
        folder = _own_folder()
    if folder is None:
        return None
    _CONFIG.CACHE_DIR = str(folder)
    try:
        return sort(function)
    except RuntimeError:
        return None


@functools.cache
def _own_folder() -> Path | None:
    """A folder in the temporary folder that nobody but the user can write: what is in it will be run."""
    try:
        temporary = Path(tempfile.gettempdir())
        folder = temporary / f"auditor-kernels-{os.getuid()}" if hasattr(os, "getuid") else None
        if folder is None or not _is_ours(folder):
            folder = Path(tempfile.mkdtemp(prefix="auditor-kernels-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
    except OSError:
        folder = None
    kept = "is not kept, and every run compiles it anew" if folder is None else f"is kept in {folder}"
    warnings.warn(
        f"There is no cache folder that can be written. Compiled code {kept}. Set NUMBA_CACHE_DIR to choose a folder.",
        AuditorWarning,
        stacklevel=2,
    )
    return folder


def _is_ours(folder: Path) -> bool:
    """Whether a folder, made where it is missing, is the user's and closed to others."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
