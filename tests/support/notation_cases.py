"""What the tests of notations share: some domains, and reading labels into the values that they denote."""

from __future__ import annotations

from typing import Any

import numpy as np

from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.schema import Schema

TREE = {"North": ["Ayton", "Beeham"], "South": ["Cray", {"Coast": ["Dover", "Eling"]}]}
ORDER = ["low", "middle", "high", "very high"]
DISEASES = ["<=50K", "AIDS, late", "flu", "flu, mild", "asthma"]
POSTCODES = ["13053", "13068", "14850", "1305"]


def domain(values: list[str], table: dict[str, Any] | None = None, **column: Any) -> Domain:
    schema = Schema.from_dict({"table": table or {}, "columns": {"c": {"role": "quasi", **column}}})
    return Domain.of(schema.columns["c"], schema.format, [("table", values)])


def numbers(*values: str, **table: Any) -> Domain:
    return domain(list(values), table, type="numeric")


def read(dom: Domain, *texts: str) -> Labels:
    return Labels.read(dom, texts, lambda i: f"release.csv, row {i + 1}, column 'c'")


def values(dom: Domain, text: str) -> list[str]:
    """The values that one label denotes."""
    labels = read(dom, text)
    found = [dom.texts[code] for code in labels.codes(0)]
    # The same by each of the other ways to ask.
    every = np.arange(dom.size, dtype=np.int32)
    assert [dom.texts[c] for c in every[labels.covers(np.zeros_like(every), every)]] == found
    assert labels.counts.tolist() == [len(found)]
    assert labels.mass(np.ones(dom.size)).tolist() == [len(found)]
    return found


AGES = numbers("17", "20", "25", "39", "40", "80", "90")
