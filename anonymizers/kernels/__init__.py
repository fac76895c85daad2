"""Compiled kernels of the anonymizers (numba), each with the argument for its exactness in its docstring."""
