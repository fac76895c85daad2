"""Releases for the tests of sampling: made by any tool, without an original, awkward on purpose."""

from __future__ import annotations

import random

import pandas as pd

from auditor.auditing.subjects import Sources, Subject, read_subject
from auditor.model.record.record import OK, AuditRecord, Risk
from auditor.model.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "income": {"role": "sensitive", "type": "numeric"},
            "age": {"role": "quasi", "type": "numeric"},
            "note": {"role": "neutral"},
            "zip": {"role": "quasi"},
            "city": {"role": "quasi", "taxonomy": {"North": ["a", "b", "c"], "South": ["d", "e"]}},
            "disease": {
                "role": "sensitive",
                "taxonomy": {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]},
            },
            "job": {"role": "sensitive"},
        }
    }
)
QUASI = ("age", "zip", "city")
SENSITIVE = ("income", "disease", "job")


def table(seed: int, rows: int, withheld: float = 0.15, wide: bool = False) -> pd.DataFrame:
    """A generalised release: overlapping labels, classes of one to many, rows with all quasi-identifiers withheld, a
    sensitive column without a taxonomy; some sensitive cells cover several values where `wide` is set."""
    rng = random.Random(seed)
    common = rng.sample(["flu", "asthma", "ulcer", "gastritis"], 4)
    made = []
    for _ in range(rows):
        age, town = rng.choice(["[1, 5]", "[6, 9]", "7", "*"]), rng.choice(["a", "North", "South", "*"])
        quasi = (age, rng.choice(["p", "q", "{p, q}", "*"]), town) if rng.random() >= withheld else ("*", "*", "*")
        disease = common[min(int(rng.expovariate(1.5)), 3)]
        if wide and rng.random() < 0.2:
            disease = rng.choice(["Lung", "*"])
        income, job = rng.choice(["10", "20", "25", "40"]), rng.choice(["cook", "judge", "nurse"])
        made.append((income, quasi[0], rng.choice("xyz"), quasi[1], quasi[2], disease, job))
    return pd.DataFrame(made, columns=list(SCHEMA.columns))


def alone(release: pd.DataFrame, seed: int = 1) -> Subject:
    """The release without an original."""
    return read_subject(Sources(release, SCHEMA), seed)


def lines(release: pd.DataFrame, part: Subject) -> list[int]:
    """The rows of a release that a part holds, in the part's order of people: by the ranks of their quasi-identifiers, then
    of the sensitive values, then of the others."""
    rank = {c: {text: i for i, text in enumerate(sorted(set(release[c])))} for c in release}
    keys = [[rank[c][text] for text in release[c]] for c in (*QUASI, *SENSITIVE, "note")]
    block = part.release.blocks[0]
    held = set(zip(*(block.cell(c).tolist() for c in QUASI), strict=True))
    people = sorted((row, i) for i, row in enumerate(zip(*keys, strict=True)) if row[: len(QUASI)] in held)
    return [i for _, i in people]


def found(record: AuditRecord) -> dict[tuple[str, ...], Risk]:
    """The rows with figures, by what they are about."""
    return {
        (r.attack, r.adversary, str(r.link), r.measure, str(r.sensitive), str(sorted(r.params.items()))): r
        for r in record.risks
        if r.status == OK
    }
