"""The statistics of the testbed, on the built-in town: calibration, recovery of planted breaches, and size.

Calibration: an adversary who reasons with Bayes' rule and a register is right as often as they expect. Recovery: what is
planted is found, all of it. Size: where nothing can be learned, nothing is found more often than the level says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from anonymizers.anonymizing import anonymize
from auditor.auditing import sides
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import wilson
from auditor.model.arrays import Ints
from auditor.model.provenance import Provenance
from auditor.model.record.record import Risk
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.links import Link
from scenarios import town
from scenarios.adversaries import PROSECUTOR, Adversary, Stance
from scenarios.options import Options

pytestmark = pytest.mark.slow

FIVE = ("linking", "homogeneity", "proximity", "divergence", "membership")
"""The attacks that reason from the posterior alone; those with means of their own have such tests in files of their own."""
SCHEMA = Schema.read(Path(str(town.schema_path())))
KNOWING = {"all": PROSECUTOR, "some": Adversary(Stance.PROSECUTOR, "neighbour", ("birth_year", "sex", "postcode"))}
BLOCKS = (
    ("birth_year", "sex", "marital_status", "education"),
    ("postcode", "ethnicity"),
    ("occupation", "income", "disease"),
)
DISJOINT: dict[str, tuple[str, dict[str, Any]]] = {
    "identity": ("identity", {}),
    "mondrian k=5": ("mondrian", {"k": 5}),
    "mondrian k=25": ("mondrian", {"k": 25}),
    "anatomy": ("anatomy", {"l": 3, "sensitive": "disease"}),
    "slicing": ("slicing", {"columns": BLOCKS, "bucket_size": 10}),
}
OVERLAPPING = {"relaxed mondrian": ("mondrian", {"k": 5, "strict": False})}


def townsfolk(people: int, seed: int) -> Table:
    return Table.from_frame(town.population(people=people, seed=seed), SCHEMA, "town")


def halves(people: int, seed: int) -> tuple[Table, Ints, Ints]:
    """A town, its members and its outsiders."""
    population = townsfolk(people, seed)
    order = np.random.default_rng(seed).permutation(people)
    return population, np.sort(order[: people // 2]), np.sort(order[people // 2 :])


@cache
def believed(name: str, knowing: str) -> list[Risk]:
    """The rates for which an adversary with the register and the link `likelihood` has an expectation."""
    method, settings = {**DISJOINT, **OVERLAPPING}[name]
    population, members, outsiders = halves(10_000, 3)
    table = population.take(members)
    release, provenance = anonymize(table, method, 3, **settings)
    subject = Subject(release, table, provenance, True, population, outsiders)
    options = Options(FIVE, (Link.LIKELIHOOD,), (KNOWING[knowing],), utility=())
    return [r for r in run_audit(subject, options).risks if r.expected is not None and r.low is not None]


@pytest.mark.parametrize("name", DISJOINT)
def test_expected_and_realised_agree_for_every_attack(name: str) -> None:
    risks = believed(name, "all")
    assert {r.attack for r in risks} == set(FIVE)
    level = 1 - 0.05 / len(risks)  # 95 % for all figures of the release together
    for risk in risks:
        assert risk.value is not None
        assert risk.n is not None
        low, high = wilson(float(np.clip(risk.value, 0, 1)) * risk.n, risk.n, level)
        assert low <= (risk.expected or 0) <= high, (
            risk.attack,
            risk.sensitive,
            risk.measure,
            risk.value,
            risk.expected,
        )


@pytest.mark.parametrize("name", [*DISJOINT, *OVERLAPPING])
@pytest.mark.parametrize("knowing", KNOWING)
def test_claims_of_values_and_records_are_never_overconfident(name: str, knowing: str) -> None:
    # Partial knowledge and overlapping classes: the posterior does not learn how sensitive values go with the known ones
    # within a class, so it may be underconfident (see docs/concepts.md), but it must not promise more than it keeps.
    for risk in believed(name, knowing):
        if risk.attack in ("linking", "homogeneity", "proximity") and risk.measure == "success":
            assert risk.value is not None
            assert risk.n is not None
            high = wilson(risk.value * risk.n, risk.n, 0.999)[1]
            assert (risk.expected or 0) <= high, (risk.attack, risk.sensitive, risk.value, risk.expected)


def test_planted_homogeneous_classes_are_all_found() -> None:
    # In a release with classes of at least five, every tenth class is given one disease for everybody.
    people = townsfolk(4000, 1)
    release, provenance = anonymize(people, "mondrian", 1, k=5)
    planted = np.arange(0, len(release.sizes), 10)
    block = release.blocks[0]
    place = block.columns.index("disease")
    cells = block.cells.copy()
    inside = np.isin(block.bucket, planted)
    cells[inside, place] = block.bucket[inside] % 5
    doctored = replace(release, blocks=(replace(block, cells=cells),))
    codes = people.codes["disease"].copy()
    codes[:] = cells[provenance.fragment[:, 0], place]
    truth = replace(people, codes={**people.codes, "disease": codes})
    record = run_audit(Subject(doctored, truth, provenance), Options(attacks=("homogeneity",), links=(Link.CLASS,)))
    certain = record.find("homogeneity", "certain", sensitive="disease")
    mixed = [b for b in range(len(release.sizes)) if len(np.unique(cells[block.bucket == b, place])) == 1]
    assert set(planted) <= set(mixed)
    assert certain.value == int(release.sizes[mixed].sum())
    assert certain.value >= int(release.sizes[planted].sum())


def null_subjects(seed: int) -> Iterator[tuple[str, str, Subject]]:
    """Releases about which nothing can be learned of the targets: outsiders posing as members, and everybody's truth
    permuted after the release."""
    rng = np.random.default_rng(seed)
    population = townsfolk(2400, seed)
    members, posing, others = (np.sort(part) for part in np.split(rng.permutation(2400), 3))
    mixed = rng.permutation(2400)
    shuffled = {c: population.codes[c][mixed] for c in SCHEMA.sensitive}
    permuted = replace(population, codes={**population.codes, **shuffled})
    for name, (method, settings) in DISJOINT.items():
        release, provenance = anonymize(population.take(members), method, seed, **settings)
        order = rng.permutation(len(members))
        whose = Provenance(provenance.bucket[order], provenance.fragment[order])
        yield name, "posing", Subject(release, population.take(posing), whose, True, population, others)
        outside = np.concatenate([posing, others])
        yield name, "permuted", Subject(release, permuted.take(members), whose, True, permuted, outside)


@pytest.mark.proof
def test_nothing_is_found_where_there_is_nothing(full: bool) -> None:
    runs = 12 if full else 4
    made: Counter[tuple[str, str, str]] = Counter()
    false: Counter[tuple[str, str, str]] = Counter()
    for seed in range(runs):
        for name, null, subject in null_subjects(seed):
            options = Options(FIVE, (Link.LIKELIHOOD,), (PROSECUTOR,), utility=(), seed=seed)
            for risk in run_audit(subject, options).risks:
                if risk.attack == "membership":
                    against = risk.params.get("against") == "outsiders" and risk.params.get("score") == "posterior"
                    if null == "permuted" or risk.measure != "auc" or not against:
                        continue  # whoever is a member is still one after values were permuted
                    assert risk.low is not None
                    assert risk.high is not None
                    found = not risk.low <= 0.5 <= risk.high
                elif "excess" in risk.detail and risk.measure in ("success", "top"):
                    found = not risk.detail["excess"]["low"] <= 0 <= risk.detail["excess"]["high"]
                else:
                    continue
                key = (null, name, risk.attack)
                made[key] += 1
                false[key] += found
    # The level is 5 %. Figures of one seed go together (two readings, say), so each attack on each release gets a binomial
    # bound over seeds, times the figures a seed has; together they fail by chance in one run of a hundred at most.
    assert {attack for _, _, attack in made} == set(FIVE)
    assert sum(false.values()) / sum(made.values()) <= 0.08
    for key, count in made.items():
        seeds = binom.ppf(1 - 0.01 / len(made), runs, 0.05)
        assert false[key] <= seeds * count / runs, (key, false[key], count)


def test_a_sampled_control_is_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where the posteriors of all targets would not fit into memory the leave-one-out control is of a sample, and says so.
    people = townsfolk(3000, 2)
    release, provenance = anonymize(people, "mondrian", 2, k=50)
    options = Options(attacks=("proximity",), links=(Link.CLASS,), utility=())
    whole = run_audit(Subject(release, people, provenance), options).find("proximity", "success", sensitive="income")
    monkeypatch.setattr(sides, "MOST_ENTRIES", 20_000)
    part = run_audit(Subject(release, people, provenance), options).find("proximity", "success", sensitive="income")
    assert whole.detail["control_n"] == 3000
    assert 200 <= part.detail["control_n"] < 1000
    assert part.value == whole.value
    low, high = wilson((part.control or 0) * part.detail["control_n"], part.detail["control_n"], 0.999)
    assert low <= (whole.control or 0) <= high
