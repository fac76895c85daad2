"""Reading the values of options."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.commands.parsing import choice, facts_known, listed_targets, numbers, numbers_or_none, values
from auditor.model.errors import UsageError
from auditor.posterior.links import Link


def test_values_are_separated_by_commas_outside_brackets_and_quotes() -> None:
    assert values("2,3") == ["2", "3"]
    assert values('[["a","b"],["c"]], "x,y"') == ['[["a","b"],["c"]]', '"x,y"']
    with pytest.raises(UsageError, match="separated by commas"):
        values("2,,3")


def test_numbers_are_whole_and_each_is_taken_once() -> None:
    assert numbers("3, 5,3", "--k") == (3, 5)
    assert numbers(None, "--k") == ()
    assert numbers_or_none("none,2", "--l") == (None, 2)
    for text in ("none", "x", "-3", "1.5", "٣"):
        with pytest.raises(UsageError, match="--k must be whole numbers separated by commas, such as --k 2,3"):
            numbers(text, "--k")
    with pytest.raises(UsageError, match="separated by commas, or none, such as --l 2,3"):
        numbers_or_none("2,x", "--l")


def test_facts_are_few() -> None:
    assert facts_known("0, 2,2") == (0, 2)
    with pytest.raises(UsageError, match=r"--facts must be at most 20\. Got 21\."):
        facts_known("3,21")
    with pytest.raises(UsageError, match="--facts must be whole numbers"):
        facts_known("some")


def test_an_unknown_choice_names_the_nearest_one() -> None:
    assert choice("class", Link, "--link") is Link.CLASS
    with pytest.raises(UsageError, match=r"--link must be one of .*Got 'clas'\. Did you mean 'class'\?"):
        choice("clas", Link, "--link")


def test_targets_are_listed_or_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("Ann, Bo\n\n 3 \n", encoding="utf-8")
    assert listed_targets(" 1, name=Ann,") == ["1", "name=Ann"]
    assert listed_targets(f"@{file}") == ["Ann, Bo", "3"]
    with pytest.raises(UsageError, match="names nobody"):
        listed_targets(",")
    with pytest.raises(UsageError, match="cannot be read"):
        listed_targets(f"@{tmp_path / 'gone.txt'}")
