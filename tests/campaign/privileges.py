"""A superuser may write everywhere, which hides what others meet. Here a process gives that right up for good.

Its user stays the same, so it still reaches its own files; permissions of folders hold for it from now on. On Linux only, and
nothing to do for anybody else."""

from __future__ import annotations

import ctypes
import os
import sys

_DROP_BOUND, _VERSION_3 = 24, 0x20080522
_OVERRIDE = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER


def give_up() -> None:
    """From here on this process and those it starts obey permissions."""
    if sys.platform != "linux" or os.getuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for number in _OVERRIDE:
        libc.prctl(_DROP_BOUND, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for place in range(3):  # effective, permitted, inheritable
        sets[place] &= ~sum(1 << number for number in _OVERRIDE)
    libc.capset(header, sets)
