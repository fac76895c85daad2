"""Auditing: attacks are run on a release, scored against the truth, and judged."""
