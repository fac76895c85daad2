"""What is declared beside a release: the manifest of a folder, and what the aliases of a file denote.

Both are JSON. A manifest names the files of the blocks, which stand beside it, with method and parameters; aliases are
declared in `release.csv.labels.json` beside their release, or in the manifest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from auditor.model.errors import ReleaseError
from auditor.model.labels.labels import Declared
from auditor.model.schema import Schema

MANIFEST = "manifest.json"
FORMAT = "auditor-release/1"
LABELS_FORMAT = "auditor-labels/1"


def json_text(content: dict[str, Any]) -> str:
    """Something declared, as it is written."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def labels_file(release: Path) -> Path:
    """Where the meaning of a release's aliases is declared."""
    return release.with_name(f"{release.name}.labels.json")


def declared_beside(release: Path, digest: str | None, schema: Schema) -> dict[str, Declared]:
    """What the aliases of a release file denote; nothing where no file beside it says so."""
    file = labels_file(release)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ReleaseError(f"{file}: the file cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ReleaseError(f"{file} must be JSON ({error}).") from error
    if not isinstance(content, dict) or content.get("format") != LABELS_FORMAT:
        raise ReleaseError(f"{file} must have the format {LABELS_FORMAT!r}. Remove it if {release} has no aliases.")
    if content.get("sha256", digest) != digest:
        raise ReleaseError(
            f"{file} declares the aliases of another file than {release} (the SHA-256 differs). Remove it if the release was "
            'replaced by one without aliases; remove its "sha256" if the release was only put into another form.'
        )
    return declared_labels(content.get("labels"), schema, file)


def declared_labels(content: Any, schema: Schema, file: Path) -> dict[str, Declared]:
    """What a file declares of the labels of each column, or an error that names the fault."""
    if not isinstance(content, dict):
        raise ReleaseError(f'{file}: "labels" must be an object with a label, or aliases and their labels, per column.')
    for column, part in content.items():
        texts = [*part, *part.values()] if isinstance(part, dict) else [part]
        if not all(isinstance(text, str) for text in texts):
            raise ReleaseError(f"{file}: the labels of {column!r} must be texts.")
        if column not in schema.sensitive:
            raise ReleaseError(
                f"{file}: {column!r} must be a sensitive column. There are: {', '.join(schema.sensitive)}."
            )
    return content


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a release folder, or an error that names the fault."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ReleaseError(
            f"{folder}: a release folder must hold {MANIFEST}. {file}: there is no such file."
        ) from error
    except OSError as error:
        raise ReleaseError(f"{file}: the file cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ReleaseError(f"{file} must be JSON ({error}).") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReleaseError(f"{file} must have the format {FORMAT!r}.")
    parts = manifest.get("blocks")
    if (
        not isinstance(parts, list)
        or not parts
        or not all(isinstance(p, dict) and _is_name(p.get("file")) for p in parts)
    ):
        raise ReleaseError(f'{file} must list its blocks, files beside it: "blocks": [{{"file": "block1.csv"}}, …].')
    if not isinstance(manifest.get("params") or {}, dict) or not isinstance(manifest.get("method") or "", str):
        raise ReleaseError(f'{file}: "method" must be a text and "params" an object.')
    return manifest


def _is_name(name: Any) -> bool:
    """Whether this is the plain name of a file: a manifest must not point out of its folder."""
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name
