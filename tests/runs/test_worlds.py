"""Worlds: who is released and who is outside does not depend on the order of rows."""

from __future__ import annotations

import numpy as np
import pytest

from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.runs.worlds import sampled


@pytest.mark.parametrize("role", ["person", "identifier"])
def test_who_is_drawn_does_not_depend_on_the_order_of_rows(role: str) -> None:
    rng = np.random.default_rng(5)
    cells = {"who": [f"p{i // 2}" for i in range(60)], "age": [str(age) for age in rng.integers(0, 90, 60)]}
    schema = Schema.from_dict({"columns": {"who": {"role": role}, "age": {"role": "quasi", "type": "numeric"}}})
    found = []
    for order in (np.arange(60), rng.permutation(60)):
        rows = {column: [texts[i] for i in order] for column, texts in cells.items()}
        (table,) = encode(schema, [RawTable("people", rows)])
        world = sampled(table, 0.4, 7, ())
        texts = world.people.texts("who"), world.people.texts("age")
        found.append(sorted(zip(*texts, strict=True)))
        assert len(world.outsiders) == 60 - world.people.rows
        if role == "person":
            assert (len(set(texts[0])), world.people.rows) == (12, 24)
    assert found[0] == found[1]
