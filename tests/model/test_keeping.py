"""What is kept with what it was computed from."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from auditor.model.arrays import Floats
from auditor.model.keeping import Memory, kept


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    size: int
    memory: Memory = field(default_factory=Memory, init=False, repr=False)


asked: list[object] = []


@kept(2)
def doubled(thing: Thing, name: str, weight: Floats | None = None) -> float:
    asked.append(name)
    return thing.size * 2 + (0.0 if weight is None else float(weight.sum()))


def test_a_result_is_computed_once_for_each_thing_and_argument() -> None:
    asked.clear()
    one, other, weight = Thing(1), Thing(2), np.ones(3)
    assert [doubled(one, "a"), doubled(one, "a"), doubled(other, "a"), doubled(one, "b")] == [2.0, 2.0, 4.0, 2.0]
    assert asked == ["a", "a", "b"]
    assert [doubled(one, "a", weight), doubled(one, "a", weight), doubled(one, "a", np.ones(3))] == [5.0, 5.0, 5.0]
    assert len(asked) == 5  # arrays are told apart by identity


def test_an_argument_by_name_is_refused() -> None:
    one = Thing(1)
    assert doubled(one, "a") == 2.0
    with pytest.raises(TypeError, match="give weight without its name"):
        doubled(one, "a", weight=np.ones(3))


def test_only_the_last_results_are_kept() -> None:
    asked.clear()
    one = Thing(1)
    for name in ("a", "b", "c", "c", "b", "a"):
        doubled(one, name)
    assert asked == ["a", "b", "c", "a"]


def test_a_changed_copy_and_another_process_start_anew() -> None:
    asked.clear()
    one = Thing(1)
    doubled(one, "a")
    assert doubled(replace(one, size=5), "a") == 10.0
    assert pickle.loads(pickle.dumps(one)).memory == {}
    assert one.memory
