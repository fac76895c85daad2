"""Uniqueness: how many records are unique not only in the sample but in the population it comes from.

A record that is the only one of its kind in the release may have doubles among people who are not in it. From how many
classes of one, two and more records there are, statistical models estimate how many people are unique in the population:
Zayatz's, Pitman's, the shifted negative binomial (SNB), and Dankar's rule that chooses among them by the sampling fraction
(see `auditor/measure/population_uniqueness.py`). The share among the population and among the records is the same. A model
that did not converge says so. Where a population is given the true share stands beside the estimates (`detail.register`).

Where the people have sampling weights (a column with the role `weight`) the audit adds the individual risk of Benedetti and
Franconi, by which the records that agree with one stand for as many people as their weights add up to.

A suppressed cell fits any value, as sdcMicro counts, unless `--withheld-cells own` makes it a value of its own. Then a record
agrees with more than those of its class (`auditor/measure/wildcards.py`).

Papers: Zayatz 1991; Hoshino 2001; Chen & Keller-McNulty 1998; Dankar, El Emam, Neisa & Roffey 2012; Benedetti &
Franconi 1998.

Decided here: in the true share a record is unique in the population where its labels cover one person of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims, SampleClaims, SeveralClaims
from attacks.shared.measures import fact_measure
from auditor.measure.individual_risk import published_weights
from auditor.measure.population_uniqueness import Sample, estimates
from auditor.measure.wildcards import TOO_LONG, alike_records
from auditor.model.arrays import Bools, Ints
from auditor.model.record.meaning import Criterion, Goal
from auditor.model.schema import Role
from auditor.posterior.population import IndependentPopulation, RegisterPopulation


@dataclass(frozen=True)
class Uniqueness(WholeAttack):
    """Estimates how many records are unique in the population; `population` is how many people it has (by default that of the
    population given)."""

    name = "uniqueness"
    title = "nobody else like them"
    summary = "Estimates which share of the records is unique in the population, not only in the sample."
    paper = "Zayatz 1991; Hoshino 2001; Chen & Keller-McNulty 1998; Dankar et al. 2012"
    goal = Goal.IDENTITY
    claim = "Nobody else in the population is like this record."
    needs = "Published quasi-identifiers in one block, and the population's size or sampling weights."
    success = "A high share of records that are unique in the population."
    lowered_by = "Coarser quasi-identifiers, fewer of them, or a smaller sample."
    criterion = Criterion.SINGLING_OUT
    measures = (
        fact_measure(
            "unique",
            "Share of records estimated to be unique in the population, not only in the release.",
            "by a statistical model, {rate} of {n} records are unique in the population, and not only in the release",
            label="unique in the population",
        ),
        fact_measure(
            "weighted_max",
            "The highest chance of finding a record's person among all whom the sampling weights stand for.",
            "by their sampling weights, the most exposed record is linked to its person with probability {one_in}",
            label="highest risk by sampling weights",
        ),
        fact_measure(
            "weighted_mean",
            "The mean chance of finding a record's person among all whom the sampling weights stand for.",
            "by their sampling weights, a record is linked to its person with probability {one_in} on average",
            label="mean risk by sampling weights",
        ),
        fact_measure(
            "reidentified",
            "How many right links are expected when all records are tried, by their sampling weights.",
            "by their sampling weights, about {value} of {n} records would be linked to the right person if all were tried",
            label="expected right links",
        ),
    )
    lead = ("reidentified", "weighted_max", "unique")
    compared = ("unique", "weighted_max")
    support = ("unique", "weighted_max", "weighted_mean")
    least = (("population", 1),)

    population: int | None = None

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        if view.blind:
            return NotApplicable("without the release there is no sample.")
        release, register = view.release, view.knowledge.register
        columns = [c for c in release.quasi if c in view.knowledge.columns] or list(release.quasi)
        blocks = sorted({release.block_number(c) for c in columns})
        if not columns:
            return NotApplicable("no quasi-identifier is published.")
        if len(blocks) > 1:
            return NotApplicable(
                "the quasi-identifiers are published in several blocks, so nobody's are seen together."
            )
        alike, _, _ = alike_records(release, columns, view.suppression, view.cells)
        frequency = alike.frequency()
        if frequency is None:
            return NotApplicable(f"{TOO_LONG}.")
        records = int(alike.inside.sum())
        people = self.population or (None if register is None else register.people)
        weighted = bool(release.schema.names(Role.WEIGHT))
        if people is None and not weighted:
            why = "the size of the population is not known: give --population, or its size (--set uniqueness.population=N)."
            return NotApplicable(why, Lacks.POPULATION)
        if people is not None and people < records:
            return NotApplicable(f"the population must not have fewer people than the {records} records.")
        parts: list[FactClaims | SampleClaims] = []
        if people is not None:
            parts.append(self._estimated(view, frequency, people, blocks[0], columns))
        if weighted:
            said = published_weights(release)
            beside = said is not None and release.block_number(said[0]) == blocks[0]
            parts.append(SampleClaims(blocks[0], alike, said[1] if said is not None and beside else None))
        return SeveralClaims(tuple(parts))

    def _estimated(self, view: View, frequency: Ints, people: int, block: int, columns: list[str]) -> FactClaims:
        sample = Sample.of_records(frequency[frequency > 0], people)
        alone: Bools = frequency == 1
        detail: dict[str, Any] = {
            "sample_uniques": int(alone.sum()),
            "fraction": sample.fraction,
            "withheld_cells": str(view.cells),
        }
        true = _in_register(view, alone, block, columns)
        if true is not None:
            detail["register"] = float(true.sum() / sample.records)
            alone = true
        facts = []
        for name, found in estimates(sample).items():
            share = None if found.number is None else found.number / people
            expected = None if found.number is None else found.number * sample.fraction
            more = {**detail, "unique_records": expected, "chosen": found.model}
            params = {"model": name, "population": people}
            each = alone.astype(np.float64)
            facts.append(Fact("unique", share, sample.records, params, more, each, doubt=found.doubt, block=block))
        return FactClaims(tuple(facts))


def _in_register(view: View, alone: Bools, block: int, columns: list[str]) -> Bools | None:
    """Which of the records that are alone in the sample are so in the population as well; None without a population that
    says so."""
    register, release = view.knowledge.register, view.release
    if register is None or any(c not in register.codes for c in columns):
        return None
    place = np.flatnonzero(alone)
    true = np.zeros(len(alone), dtype=np.bool_)
    if len(place):
        labels = np.column_stack([release.blocks[block].cell(c)[place] for c in columns])
        population = RegisterPopulation(register, IndependentPopulation.from_release(release))
        true[place] = population.of_labels(release, columns, labels) * register.people < 1.5
    return true
