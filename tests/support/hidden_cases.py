"""Releases whose sensitive values are published under other names, as tests of attacks on them need them.

`hidden` writes a small one down; `adult_halves` publishes one half of Adult by `grading` and keeps the other as what an
adversary knows of the population.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from attacks.base import Attack, NotApplicable, View
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Figure, Truth
from auditor.model.knowledge import Acquaintances, Knowledge
from auditor.model.labels.labels import Declared, Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.beliefs import Prior
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from tests.support.adult import NAMES

USED = (
    "workclass",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "salary-class",
)


@dataclass(frozen=True)
class Hidden:
    """A table, its release with hidden values, and a further table over the same domains."""

    table: Table
    release: Release
    provenance: Provenance
    others: Table

    def view(self, column: str, people: Table | None = None, blind: bool = False, **known: Any) -> View:
        """The view on some people (the table's by default), of whom all quasi-identifiers are known unless `columns` says
        otherwise."""
        people = self.table if people is None else people
        columns = known.pop("columns", tuple(c for c in self.release.quasi))
        priors = {}
        for name in self.release.sensitive:
            counts = np.bincount(self.table.codes[name], minlength=self.table.domains[name].size)
            priors[name] = counts / counts.sum()
        knowledge = Knowledge(columns, people.matrix(columns), priors=priors, **known)
        posterior = Posterior(Matching(self.release, knowledge, Suppression.EXCLUDED), Link.CONTAINMENT)
        prior = Prior(people.rows, priors, self.release.sizes)
        return View(self.release, knowledge, prior if blind else posterior, None, column, blind)

    def acquaintances(self, rows: list[int]) -> Acquaintances:
        """Some of the people of the table, all known."""
        some = self.table.take(np.array(rows, dtype=np.int64))
        values = {name: some.codes[name] for name in self.release.sensitive}
        return Acquaintances(self.release.quasi, some.matrix(self.release.quasi), values)


def hidden(
    columns: Mapping[str, Mapping[str, object]],
    rows: Mapping[str, list[str]],
    cells: Mapping[str, list[str]],
    declared: Mapping[str, Declared],
    others: Mapping[str, list[str]],
    blocks: list[list[str]] | None = None,
    bucket: list[int] | None = None,
) -> Hidden:
    """A release written down: `cells` are published in place of columns of `rows`, `declared` is what they denote."""
    schema = Schema.from_dict({"columns": columns})
    table, further = encode(schema, [RawTable("table", rows), RawTable("others", others)])
    labels, numbers = {}, {}
    for column, texts in {**rows, **cells}.items():
        distinct = sorted(set(texts))
        labels[column] = Labels.read(table.domains[column], distinct, lambda i: f"label {i}", declared.get(column))
        numbers[column] = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    group = None if bucket is None else np.array(bucket)
    release, provenance = publish(schema, labels, numbers, blocks or [list(rows)], group, np.random.default_rng(3))
    return Hidden(table, release, provenance, further)


def scored(
    attack: Attack,
    view: View,
    people: Table,
    codes: np.ndarray | None = None,
    provenance: Provenance | None = None,
) -> dict[str, Figure]:
    """The figures of an attack, by measure; `codes` are the true values, where they are not the people's own, `provenance`
    says whose each record is, where that matters."""
    claims = attack.run(view, np.random.default_rng(0))
    assert not isinstance(claims, NotApplicable), claims.reason
    assert view.sensitive is not None
    true = people.codes[view.sensitive] if codes is None else codes
    nowhere = np.full(people.rows, -1)
    place = (nowhere, nowhere[:, None]) if provenance is None else (provenance.bucket, provenance.fragment)
    truth = Truth(np.arange(people.rows), *place, true.astype(np.int64))
    return {figure.measure: figure for figure in score(claims, truth)}


def reason(attack: Attack, view: View) -> str:
    """Why an attack does not apply."""
    claims = attack.run(view, np.random.default_rng(0))
    assert isinstance(claims, NotApplicable)
    return claims.reason


def adult_halves(data: Path, seed: int, taxonomy: bool = False, digits: int = 16) -> Hidden:
    """Half of Adult graded, choices drawn 0.3/0.4/0.3, ages in the categories 17–30, 31–45, 46–60, 61–90."""
    from anonymizers.grading import Grading

    names, rows = NAMES.split(","), []
    for line in (data / "data" / "adult" / "adult.data").read_text().splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == len(names) and "?" not in cells:
            rows.append(cells)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows))
    choices = rng.choice(["1", "2", "3"], len(rows), p=[0.3, 0.4, 0.3]).tolist()
    columns: dict[str, dict[str, Any]] = {name: {"role": "quasi"} for name in USED}
    columns["age"] = {"role": "sensitive", "type": "numeric"}
    columns["education"] = {"role": "sensitive"}
    if taxonomy:
        file = data / "data" / "adult" / "hierarchies" / "adult_hierarchy_education.csv"
        columns["education"]["taxonomy"] = str(file)
    columns["choice"] = {"role": "choice"}
    schema = Schema.from_dict({"columns": columns})

    def part(which: np.ndarray, name: str) -> RawTable:
        cells = {c: [rows[i][names.index(c)] for i in which.tolist()] for c in columns if c != "choice"}
        return RawTable(name, {**cells, "choice": [choices[i] for i in which.tolist()]})

    half = len(rows) // 2
    table, others = encode(schema, [part(order[:half], "published"), part(order[half:], "auxiliary")])
    grading = Grading(bounds=(("age", 17, 30, 31, 45, 46, 60, 61, 90),), digits=digits)
    release, provenance = grading.anonymize(table, stage(seed, "anonymize", grading.title))
    return Hidden(table, release, provenance, others)


def shuffled(world: Hidden, seed: int = 0) -> Hidden:
    """The same release in another order."""
    return replace(world, release=world.release.shuffled(np.random.default_rng(seed))[0])
