"""What the proofs share: the built-in town under every kind of release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from anonymizers.anonymizing import anonymize
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Ints
from auditor.model.provenance import Provenance
from auditor.model.record.meaning import Kind
from auditor.model.record.record import OK, Risk
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import Table
from scenarios import town
from tests.support.telling import Tell

SCHEMA = Schema.read(Path(str(town.schema_path())))
BLOCKS = (
    ("birth_year", "sex", "marital_status", "education"),
    ("postcode", "ethnicity"),
    ("occupation", "income", "disease"),
)
GENERALISED, OVERLAPPING = "generalised (mondrian)", "overlapping (relaxed mondrian)"
SLICED, AVERAGED = "sliced (slicing)", "averaged (mdav)"
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is (identity)": ("identity", {}),
    GENERALISED: ("mondrian", {"k": 5, "l": 2}),
    OVERLAPPING: ("mondrian", {"k": 5, "strict": False}),
    "clustered (kmember)": ("kmember", {"k": 5}),
    "bucketized (anatomy)": ("anatomy", {"l": 2, "sensitive": "disease"}),
    SLICED: ("slicing", {"columns": BLOCKS, "bucket_size": 10}),
    AVERAGED: ("mdav", {"k": 5}),
    "aliased (grading)": ("grading", {}),
}
"""A method of every kind of release."""


def townsfolk(people: int, seed: int) -> Table:
    return Table.from_frame(town.population(people=people, seed=seed), SCHEMA, "town")


def parts(people: int, count: int, seed: int) -> list[Ints]:
    """People in parts of equal size, at random."""
    return [np.sort(part) for part in np.split(np.random.default_rng(seed).permutation(people), count)]


def halves(people: int, seed: int) -> tuple[Table, Ints, Ints]:
    """A town, its members and its outsiders."""
    members, outsiders = parts(people, 2, seed)
    return townsfolk(people, seed), members, outsiders


def released(people: Table, kind: str, seed: int) -> tuple[Release, Provenance]:
    method, settings = KINDS[kind]
    return anonymize(people, method, seed, **settings)


@dataclass
class Tally:
    """How often figures found something where there is nothing, of a number of runs."""

    kind: str
    runs: int = 0
    made: Counter[tuple[str, ...]] = field(default_factory=Counter)
    false: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, risks: Iterable[Risk]) -> None:
        """Counts a run: a figure finds something where its interval, or that of its excess, lies above nothing."""
        self.runs += 1
        for risk in risks:
            excess = risk.detail.get("excess")
            if risk.status != OK or risk.kind != Kind.RATE or (excess is None and risk.measure not in OF_MEMBERS):
                continue
            if risk.params.get("against", "outsiders") != "outsiders":
                continue  # made-up people differ from members even where nothing is known
            low, nothing = (risk.low, risk.baseline) if excess is None else (excess["low"], 0.0)
            assert low is not None
            assert nothing is not None
            about = risk.sensitive, risk.link, risk.params.get("score"), risk.params.get("reading"), risk.adversary
            key = (risk.attack, risk.measure, *(str(part) for part in about if part is not None))
            self.made[key] += 1
            self.false[key] += low > nothing + 1e-9

    def judge(self, tell: Tell, full: bool) -> None:
        """Tells for each attack the figure that found something most often, and fails where that is too often."""
        most = 36 * self.runs / 400 if full else binom.ppf(1 - 1e-4, self.runs, 0.05)
        for attack in sorted({key[0] for key in self.made}):
            keys = [key for key in self.made if key[0] == attack]
            worst = max(keys, key=lambda key: self.false[key])
            tell(
                f"False findings at level 5 %, of {self.runs} runs: the figure that has most of them",
                attack=attack,
                release=self.kind,
                figure=" ".join(worst[1:]),
                runs=self.made[worst],
                found=self.false[worst],
                all_figures=f"{sum(self.false[k] for k in keys)} of {sum(self.made[k] for k in keys)}",
            )
        assert {key: n for key, n in self.false.items() if n > most} == {}
        if full:
            assert sum(self.false.values()) <= 0.06 * sum(self.made.values())


OF_MEMBERS = ("auc", "advantage", "tpr_at_fpr_0.01", "tpr_at_fpr_0.001")
"""Figures that are held against chance, and have no excess."""


def null_subject(kind: str, people: int, seed: int, posing: bool, alone: bool = False) -> Subject:
    """A release about which nothing can be learned of the targets: outsiders who pose as its people; or its own people, whose
    sensitive values were permuted after the release, and nobody's record is their own. Beside it stand outsiders, unless it
    is `alone`, and an earlier release."""
    population, rng = townsfolk(3 * people, seed), np.random.default_rng(seed)
    members, strangers, others = parts(3 * people, 3, seed)
    release, provenance = released(population.take(members), kind, seed)
    earlier, _ = anonymize(population.take(members), "mondrian", seed + 1, k=4)
    order = rng.permutation(people)
    whose = Provenance(provenance.bucket[order], provenance.fragment[order])
    if posing:
        beside = () if alone else (population, others)
        return Subject(release, population.take(strangers), whose, True, *beside)
    mixed = rng.permutation(3 * people)
    codes = {**population.codes, **{c: population.codes[c][mixed] for c in SCHEMA.sensitive}}
    permuted = replace(population, codes=codes)
    if alone:
        return Subject(release, permuted.take(members), whose, True, others={"earlier": earlier})
    outsiders = np.concatenate([strangers, others])
    return Subject(release, permuted.take(members), whose, True, permuted, outsiders, others={"earlier": earlier})
