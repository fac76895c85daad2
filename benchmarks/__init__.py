"""Benchmarks: they print ratios to a plain version measured in the same run, and are no tests."""
