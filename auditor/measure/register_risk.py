"""Population risk: what the sizes of classes say, given a list of the population (a register).

A class of f records has F people of the population whose values its labels cover. Linking one of its records with one of
them is right with probability 1/F (the journalist cares about one record, the marketer about all of them). That needs no
original, only that each person fits at most one class: labels of a column must lie apart. If fewer people fit a class than it
has records, the list is not complete, and F counts as f.

Paper: K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from auditor.measure import words
from auditor.measure.class_risk import NOISE, THRESHOLD
from auditor.measure.counts import class_of_bucket
from auditor.measure.overlap import Overlap, overlap
from auditor.model.arrays import Ints
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.record.release_facts import RegisterRisk
from auditor.model.release import Release
from auditor.model.table import Table

REGISTER = (
    words.extreme(
        "journalist_max",
        "The highest chance of naming a record's person among the people of the population who fit it.",
        "the most exposed record is given to the right person of the population with probability {one_in}",
        label="highest chance of naming a record's person in the population",
    ),
    words.rate(
        "journalist_mean",
        "The mean chance of naming a record's person in the population, over records or over people, whichever is greater.",
        "on average a record is given to the right person of the population with probability {one_in}",
        label="mean chance, over records or people, the greater",
    ),
    words.rate(
        "register_marketer",
        "The share of right links where each record is linked with one of the people of the population who fit it.",
        "{rate} of all links with people of the population are right",
        label="share of right links with the population",
    ),
    words.count(
        "register_at_risk",
        "How many records have a chance above the threshold of being given to the right person of the population.",
        "{people} have a chance above the threshold beside the population",
        label="records with a higher chance than the threshold",
    ),
    words.fact(
        "short",
        "How many classes have more records than people of the population who fit: the list is not complete, and as many "
        "people as records are taken to fit.",
        "{value} classes have more records than people of the population who fit",
        label="classes with more records than people of the population who fit",
    ),
)
"""What a list of the population says about finding a record's person, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class RegisterCounts:
    """Classes by how many people of a population fit them: `classes[i]` of them have `fitting[i]`, and together `records[i]`
    records; `short` of them have more records than people who fit."""

    fitting: Ints
    classes: Ints
    records: Ints
    short: int = 0


def risk_beside(counts: RegisterCounts | str, people: int, threshold: float = THRESHOLD) -> RegisterRisk:
    """The risk of the records of a release, given a population of `people` people. If `counts` is a text, it is the reason
    why there are no figures."""
    if isinstance(counts, str):
        return RegisterRisk(people, threshold, reason=counts)
    records = int(counts.records.sum())
    if not records:
        return RegisterRisk(people, threshold, reason="no class is left")
    chance = 1 / counts.fitting
    over_records = float(counts.records @ chance / records)
    over_people = float(counts.classes.sum() / (counts.classes @ counts.fitting))
    risky = int(counts.records[chance > threshold + NOISE].sum())
    return RegisterRisk(
        people=people,
        threshold=threshold,
        journalist_max=float(chance.max()),
        journalist_mean=max(over_records, over_people),
        marketer=over_records,
        at_risk=risky,
        at_risk_share=risky / records,
        short=counts.short,
    )


def not_apart(labels: Mapping[str, Labels], occurring: Mapping[str, Ints]) -> str | None:
    """Why a person of the population may fit several classes (labels of a column overlap), or None if nobody can."""
    for column, chosen in occurring.items():
        if overlap(labels[column], chosen).overlap is not Overlap.APART:
            return f"labels of {column} overlap, so a person of the population may fit several classes"
    return None


def label_of_code(labels: Labels, chosen: Ints) -> Ints:
    """The one label that holds each code, among labels that are apart; -1 if none does."""
    held = np.full(labels.domain.size, -1, dtype=np.int64)
    for label in chosen.tolist():
        held[labels.codes(label)] = label
    return held


def count_register(release: Release, register: Table) -> RegisterCounts | str:
    """How many people of a population fit each class of a one-block release, or why that cannot be told."""
    if len(release.blocks) > 1:
        return "a release of several blocks has no classes in which a person could be looked up"
    absent = [c for c in release.quasi if c not in register.codes]
    if absent or not release.quasi:
        return f"the population has no column {absent[0]}" if absent else "the release publishes no quasi-identifier"
    block = release.blocks[0]
    # nobody can look up rows with every quasi-identifier suppressed, whatever they count as elsewhere
    inside = class_of_bucket(release)[block.bucket] >= 0
    occurring = {c: np.unique(block.cell(c)[inside]).astype(np.int64) for c in release.quasi}
    why = not_apart(release.labels, occurring)
    if why is not None:
        return why
    theirs = np.column_stack([label_of_code(release.labels[c], occurring[c])[register.codes[c]] for c in release.quasi])
    theirs = theirs[(theirs >= 0).all(axis=1)]
    ours = np.column_stack([block.cell(c)[inside] for c in release.quasi])
    group = distinct_rows(np.concatenate([ours, theirs]).astype(np.int32))
    size = np.bincount(group[: len(ours)], minlength=int(group.max(initial=-1)) + 1)
    fitting = np.bincount(group[len(ours) :], minlength=len(size))
    there = size > 0
    return counted_register(size[there], fitting[there])


def counted_register(size: Ints, fitting: Ints) -> RegisterCounts:
    """The counts of classes, given the number of records of each and of people who fit it."""
    enough = np.maximum(size, fitting)
    distinct, number = np.unique(enough, return_inverse=True)
    classes = np.bincount(number, minlength=len(distinct)).astype(np.int64)
    records = np.bincount(number, weights=size, minlength=len(distinct)).astype(np.int64)
    return RegisterCounts(distinct, classes, records, int((fitting < size).sum()))
