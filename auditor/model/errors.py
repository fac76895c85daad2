"""The errors that a user can mend, as one tree.

    AuditorError                 anything below; the command line prints the message and exits with `exit_code`
    ├── UsageError          (2)  a wrong name or setting on the command line or in a call
    └── DataError           (3)  something is wrong with the data or files that were given
        ├── TableError           a file that cannot be read as a table, or a value in it
        ├── SchemaError          the schema file
        ├── TaxonomyError        a hierarchy
        ├── ReleaseError         a release, its labels or its correspondence with the original
        │   └── LabelError       labels of one column that cannot be read
        ├── ScenarioError        a scenario file
        ├── PolicyError          a policy file
        ├── RecordError          a file that is not an audit record
        ├── KeyFileError         a file that is not the key of a release
        ├── TokenFileError       a file of tokens, or the log of what was decoded
        ├── MechanismError       a program of the user's that gave no release
        │   └── EndedError       one that a limit or a signal from outside ended
        └── PromiseError         an anonymizer that cannot keep its promise on this table

A message says what is wrong, where (file, line, column) and what would be right. It quotes no value of a person: see
`discretion.py`. Several faults are reported together, one per line: `SchemaError.of([...])`; `faults.py` collects them.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Self


class AuditorError(Exception):
    """Something that the user must mend; shown without a traceback. `faults` are the single messages."""

    exit_code = 3
    about_people = False  # whether the files that it is about hold values of people

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults) or (message,)

    @classmethod
    def of(cls, faults: Sequence[str]) -> Self:
        """One error for one or more faults, all of them in its message."""
        if len(faults) == 1:
            return cls(faults[0])
        return cls(f"{len(faults)} faults:\n" + "\n".join(f"  - {fault}" for fault in faults), faults)


class UsageError(AuditorError):
    """A wrong name or setting in a call."""

    exit_code = 2


class DataError(AuditorError):
    """Something is wrong with the data or files that were given."""


class TableError(DataError):
    """A file that cannot be read as a table, or a value in it."""

    about_people = True


class SchemaError(DataError):
    """The schema file."""


class TaxonomyError(DataError):
    """A hierarchy."""


class ReleaseError(DataError):
    """A release, its labels, or its correspondence with the original."""

    about_people = True


class LabelError(ReleaseError):
    """Labels of one column of a release that cannot be read: all of them at once."""

    def __init__(self, message: str, faults: Sequence[str] = (), labels: Sequence[str] = ()) -> None:
        super().__init__(message, faults)
        self.labels = tuple(labels)


class ScenarioError(DataError):
    """A scenario file."""


class PolicyError(DataError):
    """A policy file."""


class RecordError(DataError):
    """A file that is not an audit record."""

    about_people = True


class KeyFileError(DataError):
    """A file that is not the key of a release."""

    about_people = True


class TokenFileError(DataError):
    """A file of tokens, or the log of what was decoded."""


class MechanismError(DataError):
    """A program of the user's that gave no release."""


class EndedError(MechanismError):
    """A program of the user's that a limit or a signal from outside ended: what it would have done is not known."""


class PromiseError(DataError):
    """An anonymizer that cannot keep its promise on this table."""


def internal(error: Exception) -> str:
    """An internal error that does not end the work, in words: its kind and where it arose. Its message is left out, since it
    may quote the data."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"internal error: {type(error).__name__}{place}"


class AuditorWarning(UserWarning):
    """Something that the user may want to mend. Commands print it as one line."""
