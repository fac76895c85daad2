"""Releases that the anonymizers really make of a table, with their provenance and key; and audit records to render."""

from __future__ import annotations

import csv
import functools
import io
import json
import tempfile
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random
from typing import Any

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Sources, read_subject
from auditor.files.releases import write_release
from auditor.files.tables import read_table
from auditor.model.errors import AuditorError
from auditor.model.record.policy import read_policy
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.campaign.parts import Blob, Grid, Part, Tree
from tests.campaign.people import People, patients, survey
from tests.support import record_samples

METHODS = tuple(ANONYMIZERS.all())
_GOOD = {
    "k": ("1", "2", "2", "3", "5"),
    "r": ("1", "2", "3"),
    "l": ("2", "2", "3"),
    "bucket_size": ("2", "3", "4"),
    "c": ("2", "3"),
    "t": ("0.2", "0.5", "0.9"),
    "alpha": ("0.5", "0.8"),
    "categories": ("1", "2", "4"),
    "iterations": ("1", "3"),
    "strict": ("true", "false"),
    "threshold": ("0.2", "1.0"),
    "beta": ("0.5", "1.0"),
    "rounds": ("0", "2"),
    "facility": ("0", "2.5"),
    "restore": ("true", "false"),
    "orders": ("1", "3"),
    "distance": ("squared", "absolute"),
    "diameter": ("0", "0.3"),
    "sd": ("0.1", "1"),
    "distribution": ("normal", "laplace"),
    "correlated": ("true", "false"),
    "window": ("5", "100"),
    "rate": ("0.1", "1"),
    "keep": ("0.5", "1"),
    "invariant": ("true", "false"),
    "share": ("0.05", "0.5"),
    "base": ("5", "0.5"),
    "random": ("true", "false"),
    "rows": ("1", "20"),
    "leaf": ("1", "5"),
    "bins": ("2", "8"),
    "most_rows": ("1", "4"),
    "delta": ("0", "1e-6"),
}
_ALWAYS = {"k", "r", "l", "bucket_size"}


@dataclass
class Made:
    """The files of a release by name, and its private files."""

    name: str
    files: dict[str, Part]
    provenance: Grid
    key: Tree | None


PRIVATE = ("marginals", "noisy-histogram")
"""Methods that promise an epsilon and are quick."""
_FOR_PATIENTS = {
    "slicing": {"columns": '[["age", "sex"], ["zip", "town", "note"], ["disease", "income"]]'},
    "grading": {"bounds": '[["income", 0, 5000, 5001, 90000000]]', "grave": '[["disease", "flu", "Stomach"]]'},
    "mondrian": {"epsilon": "500", "m": "2", "sensitive": "income"},
    "anatomy": {"sensitive": "disease"},
}
"""Settings that name columns."""


def settings(method: str, rng: Random) -> dict[str, str]:
    """Good settings of a method, as the command line takes them."""
    found = dict(_FOR_PATIENTS[method]) if method in _FOR_PATIENTS and rng.random() < 0.12 else {}
    for one in fields(ANONYMIZERS.get(method)):
        if one.name in _GOOD and rng.random() < (0.9 if one.name in _ALWAYS - {"l"} else 0.25):
            found[one.name] = rng.choice(_GOOD[one.name])
    if method in PRIVATE and rng.random() < 0.5:
        found["epsilon"] = rng.choice(("0.1", "1", "10"))
    return found


def release(people: People, rng: Random, method: str | None = None) -> Made | None:
    """A release by some method; none where that method cannot keep its promise on this table."""
    method = method or rng.choice(METHODS)
    ending = rng.choices((".csv", ".parquet"), (85, 15))[0]
    with tempfile.TemporaryDirectory() as folder:
        _write(people, Path(folder))
        try:
            table = read_table(Path(folder, "data.csv"), Path(folder, "schema.toml"))
            found, whose = anonymize(table, method, rng.getrandbits(256), **settings(method, rng))
            files, provenance = write_release(found, whose, Path(f"release{ending}"))
        except AuditorError:
            return None
    parts = {str(file): _part(str(file), content, people.grid.delimiter) for file, content in files.items()}
    key = None if whose.key is None else Tree("key", json.loads(whose.key.to_json()), "json")
    return Made(f"release{ending}", parts, _grid("provenance", provenance or "", ","), key)


def _write(people: People, folder: Path) -> None:
    (folder / "data.csv").write_bytes(people.grid.content())
    (folder / "schema.toml").write_bytes(people.schema().content())
    for name, part in people.taxonomies.items():
        (folder / name).write_bytes(part.content())


def _part(name: str, content: str | bytes, delimiter: str) -> Part:
    """A file of a release, in a form that can be changed."""
    if isinstance(content, bytes):
        return Blob("release", content)
    if name.endswith(".json"):
        return Tree("manifest" if name.endswith("manifest.json") else "labels", json.loads(content), "json")
    if name.endswith(".toml"):
        return Tree("mechanism", tomllib.loads(content))
    return _grid("release", content, delimiter)


def _grid(kind: str, text: str, delimiter: str) -> Grid:
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter)) or [[]]
    return Grid(kind, rows[0], rows[1:], delimiter)


@functools.cache
def records() -> tuple[str, ...]:
    """Audit records and runs as JSON texts: audits of small releases, and the samples that the reports are tested with."""
    samples = record_samples
    runs = (samples.sample_run(), samples.single_run(), samples.person_run(), samples.empty_run(), samples.bare_run())
    made = [run.to_json() for run in (*runs, samples.hostile_run())]
    for number, kind in enumerate((patients, survey)):
        rng = Random(number)
        people = kind(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write(people, folder)
            data, schema = folder / "data.csv", folder / "schema.toml"
            table = read_table(data, schema)
            files, provenance = write_release(*anonymize(table, "mondrian", 5, k=2), folder / "release.csv")
            for file, content in files.items():
                file.write_bytes(content if isinstance(content, bytes) else content.encode())
            (folder / "whose.csv").write_text(provenance or "")
            sources = Sources(str(folder / "release.csv"), schema, data, None, folder / "whose.csv", None)
            attacks = ("linking", "homogeneity", "proximity", "membership", "uniqueness")
            asked = Options(attacks=attacks, links=(Link.CLASS, Link.CONTAINMENT), policy=read_policy("strict"))
            made.append(run_audit(read_subject(sources, 1), asked).to_json())
    return tuple(made)


def record(rng: Random) -> Any:
    """One of the records, as a tree that can be changed."""
    return Tree("record", json.loads(rng.choice(records())), "json")
