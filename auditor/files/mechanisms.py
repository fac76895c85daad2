"""The mechanism of a perturbed release, as TOML beside it: `release.csv.mechanism.toml`.

It is public, as the release is: `anonymize` writes it, `audit` reads it, and for a release of another tool it can be
written by hand (docs/files.md). Where it names the SHA-256 of its release, it is of no other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from auditor.model.discretion import shown
from auditor.model.errors import ReleaseError
from auditor.model.faults import is_there, read_toml
from auditor.model.mechanism import PublishedMechanism, RankSwap, RecordSwap, Transition
from auditor.model.schema import Schema, Type


def mechanism_file(release: Path) -> Path:
    """The file that describes the mechanism of a release."""
    return release.with_name(f"{release.name}.mechanism.toml")


def mechanism_text(mechanism: PublishedMechanism, digest: str) -> str:
    """The content of this file, for a release with this SHA-256."""
    return replace(mechanism, notes={**mechanism.notes, "sha256": digest}).to_toml()


def mechanism_beside(
    release: Path, digest: str | None, schema: Schema, columns: Collection[str]
) -> PublishedMechanism | None:
    """The mechanism of a release file with these columns; None where no file beside it describes one."""
    file = mechanism_file(release)
    if not is_there(file):
        return None
    read = PublishedMechanism.from_dict(read_toml(file, "mechanism", ReleaseError), str(file))
    if read.notes.get("sha256", digest) != digest:
        raise ReleaseError(
            f"{file} describes the mechanism of another file than {release} (the SHA-256 differs). Remove it if the release "
            'was replaced; remove its "sha256" if the release was only converted to another format.'
        )
    for column, change in read.columns.items():
        strata = change.strata + change.together if isinstance(change, RecordSwap) else ()
        for name in (column, *strata):
            if name not in schema.columns or name not in columns or name in schema.unpublished:
                said = repr(name) if name in schema.columns else shown(name, "name")
                raise ReleaseError(f"{file}: every column of a mechanism must be published. {said} is not.")
        kind = schema.columns[column].type
        ordered, listed = isinstance(change, RankSwap), isinstance(change, Transition | RecordSwap)
        if kind is not Type.NUMERIC and not listed and not (ordered and kind is Type.ORDINAL):
            raise ReleaseError(f"{file}: {change.kind!r} is for numbers. The column {column!r} is {kind}.")
        if kind is Type.NUMERIC and isinstance(change, Transition):
            raise ReleaseError(f"{file}: {change.kind!r} is not for numbers. The column {column!r} is {kind}.")
    return read
