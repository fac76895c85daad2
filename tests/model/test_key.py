"""Keys as files: they read back, and all faults are reported at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.model.errors import KeyFileError
from auditor.model.key import Aliases, Categories, Key

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others

KEY = Key(
    {"disease": Aliases(("Flu", "Gout"), ("Ill-1", "Ill-2"), ("A02", "A01")), "age": Categories((10.0,), (40.0,), 1)},
    ("", "?"),
    ",",
)


def test_a_key_reads_back(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(KEY.to_json(), encoding="utf-8")
    assert Key.read(tmp_path / "key.json") == KEY
    rounded = Key({"age": Categories((10.0,), (40.0,), 0, 3).listing(np.array([21.0, 22.0]))})
    assert Key.from_json(rounded.to_json()) == rounded
    bare = Key.from_json('{"format": "auditor-key/1", "columns": {"a": {"categories": [{"min": 1, "max": 2}]}}}')
    assert bare == Key({"a": Categories((1.0,), (2.0,))})


def test_all_faults_at_once() -> None:
    content: dict[str, Any] = json.loads(KEY.to_json())
    content |= {"missing": ["", 3], "decimal": ";"}
    content["columns"]["disease"]["aliases"][1]["alias2"] = "A02"
    content["columns"]["age"] |= {"categories": [{"min": 1, "max": "x"}]}
    content["columns"]["rounded"] = {
        "categories": [{"min": 1, "max": 2}],
        "digits": 3,
        "grades": [[1, 2, 2], [1.5, 1, 1]],
    }
    content["columns"]["wrong"] = {"categories": [{"min": 1, "max": 2}], "grades": [[1, "x", 2]]}
    content["columns"]["more"] = {"categories": [{"min": 2, "max": 1}], "decimals": -1}
    content["columns"]["none"] = []
    with pytest.raises(KeyFileError) as caught:
        Key.from_json(json.dumps(content), "key.json")
    assert caught.value.faults == (
        "key.json: missing must be a list of texts. Got ['', 3].",
        'key.json: decimal must be "." or ",". Got \';\'.',
        "key.json: the alias 'A02' stands twice ('disease' and 'disease').",
        'key.json, column \'age\': each of its "categories" must have "min" and "max" as numbers.',
        "key.json, column 'rounded': its \"grades\" must ascend: published numbers, and what they stand for.",
        "key.json, column 'wrong': each of its \"grades\" must be a list of three numbers.",
        "key.json, column 'more': a category must not end below where it begins. Category 1 does.",
        "key.json, column 'more': decimals must be a whole number of at least 0. Got -1.",
        'key.json, column \'none\': must have "aliases" or "categories".',
    )
