"""A clinic of 343 patients, and three who attack what it publishes: a neighbour, a colleague and an insurer.

The neighbour knows a patient's age within two years, and the sex. That is far from enough to find anybody, while whoever knew
the class of each patient would read the diagnosis of whole classes: the two must not be mistaken for each other.
"""

from __future__ import annotations

import random
from functools import cache

import pandas as pd

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.record.policy import Policy
from auditor.model.record.record import AuditRecord
from auditor.model.schema import Schema
from auditor.model.table import Table
from scenarios.adversaries import Adversary
from scenarios.options import Options

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "sex": {"role": "quasi"},
            "district": {"role": "quasi"},
            "admitted": {"role": "quasi", "type": "numeric"},
            "diagnosis": {"role": "sensitive"},
        }
    }
)
ADVERSARIES = {
    "neighbour": Adversary(name="neighbour", knows=("age", "sex"), noise={"age": 2}),
    "colleague": Adversary(name="colleague", knows=("age", "sex", "district")),
    "insurer": Adversary(name="insurer"),
    "employer": Adversary(name="employer"),
}
"""The insurer and the employer know all quasi-identifiers."""
ATTACKS = ("linking", "homogeneity", "membership")
ILLS = ("asthma", "flu", "ulcer", "migraine", "diabetes", "fracture", "anaemia")


def patients(rows: int = 343, seed: int = 7) -> pd.DataFrame:
    """The patients: what they have goes with their district and age, so that some classes have one diagnosis only."""
    draw = random.Random(seed)
    made = []
    for _ in range(rows):
        age, district = draw.randrange(18, 90), draw.randrange(8)
        usual = ILLS[(district + age // 24) % len(ILLS)]
        ill = usual if draw.random() < 0.65 else draw.choice(ILLS)
        made.append((age, draw.choice("fm"), f"d{district}", draw.randrange(1, 13), ill))
    return pd.DataFrame(made, columns=["age", "sex", "district", "admitted", "diagnosis"])


@cache
def audited(*adversaries: str, k: int = 3, policy: Policy | None = None) -> AuditRecord:
    """What is found in the clinic's release by Mondrian."""
    people = Table.from_frame(patients(), SCHEMA, "clinic")
    release, provenance = anonymize(people, "mondrian", 1, k=k)
    asked = tuple(ADVERSARIES[name] for name in adversaries)
    options = Options(ATTACKS, adversaries=asked, utility=(), policy=policy, remedies=False)
    return run_audit(Subject(release, people, provenance), options)
