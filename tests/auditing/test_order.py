"""The same figures whatever the order: of rows and columns, whatever columns are called, however the file is written.

One small table, a release of each kind, every attack and every link model. What is said of people by their row is told by
their new one; everything else must be equal, to 1e-12.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attacks import attacks_on
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.correspondence import find_outsiders
from auditor.auditing.scanned import scan_audit
from auditor.auditing.subjects import Subject
from auditor.model.key import Categories
from auditor.model.labels.labels import Declared, Labels
from auditor.model.mechanism import Noise, PublishedMechanism
from auditor.model.publishing import publish
from auditor.model.record.meaning import Kind
from auditor.model.record.record import OK, AuditRecord
from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.posterior.links import Link
from scenarios.adversaries import PROSECUTOR, Adversary, Stance
from scenarios.options import Options

PEOPLE, MEMBERS = 92, 24
DISEASES = {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]}
COLUMNS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "zone": {"role": "quasi"},
    "disease": {"role": "sensitive", "taxonomy": DISEASES},
    "income": {"role": "sensitive", "type": "numeric"},
    "w": {"role": "weight", "type": "numeric"},
}
NAMES = {"id": "z", "age": "y", "sex": "x", "zone": "v", "disease": "u", "income": "t", "w": "a"}
"""Other names, in the opposite order of the alphabet."""


def town() -> dict[str, list[str]]:
    """The population; the first of it are in the release."""
    rng = np.random.default_rng(8)
    illnesses = [leaf for group in DISEASES.values() for leaf in group]
    return {
        "id": [f"p{i:02}" for i in range(PEOPLE)],
        "age": [str(20 + int(i)) for i in rng.integers(0, 12, PEOPLE)],
        "sex": ["fm"[i] for i in rng.integers(0, 2, PEOPLE)],
        "zone": ["nsw"[i] for i in rng.integers(0, 3, PEOPLE)],
        "disease": [illnesses[i] for i in rng.integers(0, 4, PEOPLE)],
        "income": [str(1000 + 100 * int(i)) for i in rng.integers(0, 9, PEOPLE)],
        "w": [str(int(i)) for i in rng.integers(2, 6, PEOPLE)],
    }


QUASI, REST = ["age", "sex", "zone"], ["disease", "income", "w"]
BLOCKS = {
    "generalised": [QUASI + REST],
    "anatomy": [QUASI, REST],
    "slicing": [["age", "disease"], ["sex", "zone"], ["income", "w"]],
    "mdav": [QUASI + REST],
    "grading": [QUASI + REST],
    "perturbed": [QUASI + REST],
}
KNOWING = Adversary(
    Stance.PROSECUTOR,
    "knowing",
    mechanism="parameters",
    sample=0.6,
    not_values=1,
    acquaintances=3,
    earlier=("before",),
)


def published(kind: str, cells: Mapping[str, list[str]]) -> tuple[dict[str, list[str]], list[int], dict[str, Declared]]:
    """What a method of a kind would publish of the members, their classes, and what its aliases denote."""
    texts = {column: list(values[:MEMBERS]) for column, values in cells.items() if column != "id"}
    order = sorted(range(MEMBERS), key=lambda i: (int(texts["age"][i]), texts["sex"][i], i))
    bucket = [0] * MEMBERS
    for place, row in enumerate(order):
        bucket[row] = place // 4
    declared: dict[str, Declared] = {}
    if kind == "perturbed":
        noise = np.random.default_rng(9).normal(0, 1.5, MEMBERS).round().astype(int).tolist()
        texts["age"] = [str(int(age) + more) for age, more in zip(texts["age"], noise, strict=True)]
        bucket = [sorted(set(zip(*(texts[c] for c in QUASI), strict=True))).index(key)
                  for key in zip(*(texts[c] for c in QUASI), strict=True)]  # fmt: skip
    for group in range(MEMBERS // 4):
        inside = [i for i in range(MEMBERS) if bucket[i] == group]
        ages = [int(texts["age"][i]) for i in inside]
        for i in inside:
            if kind == "generalised":
                texts["age"][i] = f"[{min(ages)}, {max(ages)}]"
                texts["sex"][i] = "*" if i == inside[0] else texts["sex"][i]
                texts["zone"][i] = "**"
            elif kind == "mdav":
                texts["age"][i] = str(sum(ages) / 4)
    if kind == "grading":
        names = {"flu": "A1", "asthma": "A2", "ulcer": "A3", "gastritis": "A4"}
        declared = {"disease": "**", "income": "**"}
        texts["disease"] = [names[text] for text in texts["disease"]]
        graded = Categories((1000, 1400), (1300, 1800)).grade(np.array([float(text) for text in texts["income"]]))
        texts["income"] = [str(number) for number in graded.tolist()]
    return texts, bucket, declared


@dataclass(frozen=True)
class Way:
    """How the same town is written: the order of its rows and of its columns, what they are called, and how often everybody
    stands in it."""

    rows: int | None = None
    columns: tuple[str, ...] = tuple(COLUMNS)
    names: Mapping[str, str] = field(default_factory=lambda: {name: name for name in COLUMNS})
    times: int = 1

    def order(self, count: int) -> list[int]:
        """People in their order, everybody as often as asked for."""
        people = [place % count for place in range(count * self.times)]
        return people if self.rows is None else np.random.default_rng(self.rows).permutation(people).tolist()


def subject(kind: str, way: Way) -> Subject:
    """The release of a kind with its original and population, written in some way."""
    cells = town()
    texts, bucket, declared = published(kind, cells)
    schema = Schema.from_dict({"columns": {way.names[c]: COLUMNS[c] for c in way.columns}})
    raws = []
    for name, count in (("original", MEMBERS), ("population", PEOPLE)):
        order = way.order(count)
        seen: Counter[int] = Counter()
        named = [seen.update([i]) or f"{cells['id'][i]}-{seen[i]}" for i in order]
        table = {way.names[c]: named if c == "id" else [cells[c][i] for i in order] for c in way.columns}
        raws.append(RawTable(name, table))
    original, population = encode(schema, raws)
    labels, numbers, members = {}, {}, way.order(MEMBERS)
    for column, written in texts.items():
        distinct, name = sorted(set(written)), way.names[column]
        about = original.domains[name]
        labels[name] = Labels.read(about, distinct, lambda i: f"label {i}", declared.get(column))
        numbers[name] = np.array([distinct.index(written[i]) for i in members], dtype=np.int32)
    blocks = [[way.names[c] for c in way.columns if c in block] for block in BLOCKS[kind]]
    groups, rng = np.array([bucket[i] for i in members]), np.random.default_rng(way.rows)
    made: dict[str, Any] = {}
    if kind == "generalised":
        made = {"method": "mondrian", "params": {"k": 4, "l": 2, "sensitive": way.names["disease"]}}
    release, provenance = publish(schema, labels, numbers, blocks, groups, rng, **made)
    if kind == "perturbed":
        release = replace(release, mechanism=PublishedMechanism({way.names["age"]: Noise(1.5, unit=1.0)}))
    exact = {c: Labels.exact(original.domains[c]) for c in (way.names[c] for c in ("sex", "zone", "disease", "income"))}
    before, _ = publish(schema, exact, {c: original.codes[c] for c in exact}, [list(exact)], None, rng, "before")
    outsiders = find_outsiders(original, population)
    return Subject(release, original, provenance, True, population, outsiders, others={"before": before})


Figures = dict[tuple[Any, ...], tuple[Any, ...]]


def figures(record: AuditRecord, names: Mapping[str, str]) -> Figures:
    """All figures of a record, by what they are of; columns by the names they have in this module."""
    back = {new: old for old, new in names.items()}
    found: Figures = {}
    for risk in record.risks:
        params = json.dumps({k: _own(v, back) for k, v in risk.params.items()}, sort_keys=True)
        of = back.get(risk.sensitive or "", risk.sensitive)
        key = risk.attack, risk.measure, risk.adversary, risk.link, of, params
        assert key not in found
        companions = risk.expected, risk.baseline, risk.control, risk.low, risk.high
        found[key] = risk.status, risk.n, risk.value, *companions
    return found


def _own(value: Any, back: Mapping[str, str]) -> Any:
    return ", ".join(sorted(back.get(part, part) for part in value.split(", "))) if isinstance(value, str) else value


SMALLER = {"singling-out": {"predicates": 40}, "minimality": {"most_worlds": 20}, "shadow-membership": {"releases": 4}}
OPTIONS = Options(adversaries=(KNOWING,), utility=(), seed=5, settings=SMALLER)


@cache
def plain(kind: str) -> Figures:
    return figures(run_audit(subject(kind, Way()), OPTIONS), Way().names)


def differing(first: Figures, second: Figures) -> dict[tuple[Any, ...], tuple[Any, Any]]:
    """The figures that are not the same, to 1e-12."""
    assert first.keys() == second.keys()
    return {key: (one, second[key]) for key, one in first.items() if not _same(one, second[key])}


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(a == b or (None not in (a, b) and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)) for a, b in pairs)


EVERYTHING = Way(rows=3, columns=tuple(reversed(COLUMNS)), names=NAMES)
SOME = [kind if kind == "generalised" else pytest.param(kind, marks=pytest.mark.slow) for kind in BLOCKS]
MECHANISM = {"shadow-membership"}
"""The attack repeats the mechanism, and Mondrian cuts the first of equally good columns: other columns first, other shadow
releases. (The order of rows and names change nothing.)"""


@pytest.mark.parametrize("kind", SOME)
def test_figures_are_the_same_whatever_the_order_and_the_names(kind: str) -> None:
    changed = figures(run_audit(subject(kind, EVERYTHING), OPTIONS), NAMES)
    assert {key[0] for key in changed} == set(attacks_on(synthetic=False))
    differ = differing(plain(kind), changed)
    assert {key: both for key, both in differ.items() if key[0] not in MECHANISM} == {}


def test_the_order_of_rows_alone() -> None:
    changed = figures(run_audit(subject("generalised", Way(rows=4)), OPTIONS), Way().names)
    assert differing(plain("generalised"), changed) == {}


@pytest.mark.slow
def test_every_attack_is_tried_somewhere() -> None:
    tried = {key[0] for kind in BLOCKS for key, (status, *_) in plain(kind).items() if status == OK}
    assert tried == set(attacks_on(synthetic=False)) - {"replay"}  # which the order of rows is all about
    links = {key[3] for kind in BLOCKS for key, (status, *_) in plain(kind).items() if status == OK}
    assert links == {None, *Link}


STAYING = ("homogeneity", "proximity", "divergence", "skewness", "similarity")


@pytest.mark.parametrize(
    "kind", [kind for kind in BLOCKS if kind != "perturbed"]
)  # who knows everybody shares them out
def test_everybody_twice(kind: str) -> None:
    asked = Options(adversaries=(PROSECUTOR,), utility=(), attacks=("linking", "membership", *STAYING))
    once, twice = (run_audit(subject(kind, Way(times=times)), asked) for times in (1, 2))
    ours, theirs = once.release, twice.release
    assert (theirs.rows, theirs.classes) == (2 * ours.rows, ours.classes)
    assert (theirs.k, ours.k) in (((ours.k or 0) * 2, ours.k), (None, None))
    assert theirs.sensitive == ours.sensitive  # l, t, β and so on
    for first, second in zip(once.risks, twice.risks, strict=True):
        if first.status != OK or first.value is None:
            continue
        score = first.params.get("score"), first.params.get("against")
        stays = first.attack in STAYING or (
            first.measure == "auc" and score in (("buckets", "fakes"), ("degree", "fakes"))
        )
        if stays and first.kind == Kind.RATE:
            assert second.value == pytest.approx(first.value, rel=1e-12), (first.attack, first.measure, first.link)
        if (first.attack, first.measure, first.link, len(BLOCKS[kind])) == ("linking", "mean", Link.CLASS, 1):
            assert second.value == pytest.approx(first.value / 2)


# ----- files ---------------------------------------------------------------------------------------------------------


def written(folder: Path, form: str, cells: Mapping[str, list[str]]) -> Path:
    """A table as a file of some form."""
    frame, ending = pd.DataFrame(cells), form if form in ("parquet", "csv.gz") else "csv"
    file = folder / f"{form.replace('.', '_')}.{ending}"
    if form == "parquet":
        frame.to_parquet(file, index=False)
    else:
        frame.to_csv(file, index=False, sep={"semicolon": ";", "tab": "\t"}.get(form, ","))
    return file


def test_however_the_files_are_written(tmp_path: Path) -> None:
    cells = town()
    texts, _, _ = published("generalised", cells)
    release = {"id": cells["id"][:MEMBERS], **texts}
    original = {column: values[:MEMBERS] for column, values in cells.items()}
    schema = Schema.from_dict({"columns": COLUMNS})
    options = Options(attacks=("linking", "homogeneity", "membership", "special-uniques"))
    records = []
    for form in ("csv", "semicolon", "tab", "csv.gz", "parquet"):
        names = [tmp_path / name for name in (f"{form}-r", f"{form}-o")]
        for folder in names:
            folder.mkdir()
        files = [written(folder, form, table) for folder, table in zip(names, (release, original), strict=True)]
        record = audit(files[0], schema, original=files[1], match="id", options=options)
        records.append(replace(record, inputs=(), release=replace(record.release, name="release")))
    assert [record == records[0] for record in records] == [True] * len(records)


def test_a_release_in_one_file_or_in_several(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    texts, _, _ = published("generalised", town())
    parts = tmp_path / "release"
    parts.mkdir()
    for name, rows in (("a", slice(0, 7)), ("b", slice(7, None))):
        written(parts, "parquet", {c: values[rows] for c, values in texts.items()}).rename(parts / f"{name}.parquet")
    whole = written(tmp_path, "parquet", texts)
    schema = Schema.from_dict({"columns": {c: about for c, about in COLUMNS.items() if c != "id"}})
    options = Options(attacks=("linking", "homogeneity"), sample=1000)
    found = [scan_audit(file, schema, options) for file in (whole, parts)]
    alone = audit(pd.DataFrame(texts), schema, options=options)
    assert [differing(figures(alone, Way().names), figures(one, Way().names)) for one in found] == [{}, {}]
    first, second = (json.dumps(asdict(replace(one.release, name="release"))) for one in found)
    assert json.loads(first) == json.loads(second, parse_float=_nearly)


def _nearly(number: str) -> Any:
    return pytest.approx(float(number), rel=1e-12)  # threads add numbers in any order
