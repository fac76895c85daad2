"""What is declared beside a release: the manifest of a folder, and the meaning of aliases.

Both are JSON. A manifest lists the files of the blocks, which are in the same folder, with the method and its settings.
Aliases are declared in `release.csv.labels.json` beside their release, or in the manifest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from auditor.files.mechanisms import mechanism_file
from auditor.model.discretion import header
from auditor.model.errors import ReleaseError
from auditor.model.faults import Faults, are_texts, is_text, is_there, parse_json, read_text
from auditor.model.labels.labels import Declared
from auditor.model.schema import Schema

MANIFEST = "manifest.json"
FORMAT = "auditor-release/1"
LABELS_FORMAT = "auditor-labels/1"


def json_text(content: dict[str, Any]) -> str:
    """A declaration as JSON text."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def labels_file(release: Path) -> Path:
    """The file that declares the aliases of a release."""
    return release.with_name(f"{release.name}.labels.json")


def declared_beside(release: Path, digest: str | None, schema: Schema) -> dict[str, Declared]:
    """What the aliases of a release file denote; nothing where no file beside it declares them."""
    file = labels_file(release)
    if not is_there(file):
        return {}
    advice = f" Remove it if {release} has no aliases."
    content = parse_json(read_text(file, "labels", ReleaseError), str(file), LABELS_FORMAT, ReleaseError, advice)
    if content.get("sha256", digest) != digest:
        raise ReleaseError(
            f"{file} declares the aliases of another file than {release} (the SHA-256 differs). Remove it if the release "
            'was replaced by one without aliases; remove its "sha256" if the release was only converted to another format.'
        )
    return declared_labels(content.get("labels"), schema, file)


def declared_labels(content: Any, schema: Schema, file: Path) -> dict[str, Declared]:
    """What a file declares of the labels of each column; all faults at once."""
    wanted = "an object with, for each column, one label or its aliases and their labels"
    faults = Faults(ReleaseError, str(file), {"labels": content})
    labels: dict[str, Declared] = faults.value("labels", lambda value: isinstance(value, dict), wanted) or {}
    for place, (column, part) in enumerate(labels.items(), 1):
        texts = [*part, *part.values()] if isinstance(part, dict) else [part]
        if not are_texts(texts):
            faults.add(f"the labels of {header(place, column, schema.columns)} must be texts.")
        if column not in schema.sensitive:
            said = header(place, column, schema.columns)
            faults.add(f"{said} of the labels must be a sensitive column. There are: {', '.join(schema.sensitive)}.")
    faults.check()
    return labels


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a release folder; all faults at once."""
    file = folder / MANIFEST
    if not is_there(file):
        raise ReleaseError(f"{folder}: a release folder must hold {MANIFEST}. {file}: there is no such file.")
    manifest = parse_json(read_text(file, "manifest", ReleaseError), str(file), FORMAT, ReleaseError)
    faults = Faults(ReleaseError, str(file), manifest)
    wanted = 'a list of files beside the manifest: [{"file": "block1.csv"}, …]'
    faults.value("blocks", _are_blocks, wanted, required=True)
    faults.value("method", lambda method: method is None or is_text(method), "a text")
    faults.value("params", lambda params: params is None or isinstance(params, dict), "an object")
    faults.check()
    return manifest


def files_of_older(target: Path) -> list[Path]:
    """What stands beside or in the place of a release that will be replaced, and would not fit the new one: the declaration
    of its aliases, its mechanism, or the blocks that its manifest lists."""
    if not target.is_dir():
        return [labels_file(target), mechanism_file(target)]
    try:
        return [target / block["file"] for block in read_manifest(target)["blocks"]]
    except ReleaseError:  # no release of ours
        return []


def _are_blocks(value: Any) -> bool:
    """Whether this lists files by their plain names: a manifest must not point out of its folder."""
    blocks = value if isinstance(value, list) else []
    names = [block.get("file") if isinstance(block, dict) else None for block in blocks]
    return bool(names) and all(
        isinstance(name, str) and name not in ("", "..") and Path(name).name == name for name in names
    )
