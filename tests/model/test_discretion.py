"""What messages may say of people, and what names may do to a terminal."""

from __future__ import annotations

from threading import Thread

import pytest

import auditor
from auditor.model.discretion import header, is_revealing, printable, printable_json, quote, shown, told


def test_a_value_is_shown_only_where_it_is_asked_for() -> None:
    assert shown("flu") == "a value of 3 characters"
    assert shown("7", "id") == "an id of 1 character"
    assert shown("", "label") == "an empty label"
    with auditor.revealing():
        assert (shown("flu"), shown("", "label")) == ("'flu'", "the label ''")
        with auditor.revealing(False):
            assert shown("flu") == "a value of 3 characters"
        assert is_revealing()
    assert not is_revealing()


def test_asking_ends_with_an_error_and_does_not_reach_other_threads() -> None:
    with pytest.raises(ValueError, match="x"), auditor.revealing():
        raise ValueError("x")
    assert not is_revealing()
    seen = []
    with auditor.revealing():
        thread = Thread(target=lambda: seen.append(is_revealing()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_columns_by_place_unless_their_name_is_known() -> None:
    assert header(3, "Ann") == "column 3"
    assert header(3, "age", ("age", "town")) == "column 'age'"
    with auditor.revealing():
        assert header(3, "Ann") == "column 3 ('Ann')"


def test_of_a_library_only_the_kind_of_its_error_is_told() -> None:
    error = ValueError("could not convert string to float: 'Ann'\nmore")
    assert told(error) == "ValueError"
    with auditor.revealing():
        assert told(error) == "could not convert string to float: 'Ann'"
        assert told(KeyError()) == "KeyError"


def test_long_texts_are_cut() -> None:
    assert quote("x" * 100) == "'" + "x" * 60 + "'… (100 characters)"


@pytest.mark.parametrize("sign", [*map(chr, (*range(32), *range(0x7F, 0xA0))), *"\u200e\u200f\u061c\u2028\ufeff\ud800"])
def test_control_characters_are_escaped(sign: str) -> None:
    assert printable(f"a{sign}b").isascii()
    assert printable(f"a{sign}b").isprintable()
    assert printable(f"a{sign}b", keep=sign) == f"a{sign}b"


@pytest.mark.parametrize("sign", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_signs_that_turn_the_direction_are_escaped(sign: str) -> None:
    assert printable(f"gnp.{sign}exe") == f"gnp.\\u{ord(sign):04x}exe"
    assert printable_json(f'"{sign}"') == f'"\\u{ord(sign):04x}"'


def test_other_scripts_stay() -> None:
    text = "naïve Ωμέγα 中文 سلام می\u200cخواهم 1\u202f000\u00a0€ 👩\u200d🚀"
    assert printable(text) == text
    assert printable_json(text) == text
