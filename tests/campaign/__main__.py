"""Runs the campaign: see the package."""

from __future__ import annotations

import os
from importlib import import_module

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

if __name__ == "__main__":
    os.environ |= dict.fromkeys(ONE_THREAD, "1")  # before numpy is imported: forks and threads do not go together
    import_module("tests.campaign.campaigning").main()
