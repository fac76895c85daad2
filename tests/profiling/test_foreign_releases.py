"""The schema of a release by another tool: withheld is not missing, ranges are numbers, and the audit reads it all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.schema import Schema, Type
from auditor.profiling.explaining import explain_labels
from auditor.profiling.proposal import profile
from auditor.profiling.proposals import Proposal
from tests.conftest import Ended
from tests.support.adult import unpack_release
from tests.support.synthesizers import by_margins, subject

Cli = Callable[..., Ended]

ROWS = [
    '"[20, 40[",130**,flu', '"[20, 40[",130**,cold', "<20,130**,flu", "<20,130**,", "67,13*,cold", "*,*,flu", "*,*,cold",
]  # fmt: skip


def written(tmp_path: Path, rows: list[str]) -> Path:
    table = tmp_path / "release.csv"
    table.write_text("age,zip,disease\n" + "".join(f"{row}\n" for row in rows))
    return table


def test_withheld_is_not_missing_and_ranges_are_numbers(tmp_path: Path, auditor_cli: Cli) -> None:
    table, schema = written(tmp_path, ROWS), tmp_path / "s.toml"
    assert auditor_cli("profile", table, "--release", "-o", schema, "--json", tmp_path / "p.json").code == 0
    read = Schema.read(schema)
    assert (read.format.missing, read.format.suppressed) == (("",), ("*",))
    assert read.columns["age"].type is Type.NUMERIC
    seen = {c["name"]: c["seen"] for c in json.loads((tmp_path / "p.json").read_text())["columns"]}
    assert seen == {
        "age": "3 values, 2 suppressed",
        "zip": "2 values, 2 suppressed",
        "disease": "2 values, 1 missing",
    }
    ended = auditor_cli("audit", table, "--schema", schema, "--json", "-")
    release = json.loads(ended.out)["release"]
    # two rows are withheld as a whole; the classes are ([20, 40[, 130**) and (<20, 130**) of two, (67, 13*) of one
    assert (release["suppressed_rows"], release["classes"], release["k"]) == (2, 3, 1)


def test_a_table_with_withheld_cells_says_what_to_do_with_a_release(tmp_path: Path) -> None:
    table = written(tmp_path, ROWS)
    found = profile(table)
    assert found.format.missing == ("*", "")
    assert any("--release" in note for note in found.found)
    assert "--release" in found["age"].hint
    assert found["age"].type is Type.NOMINAL
    assert not any("--release" in note for note in profile(table, release=True).found)


def test_a_mark_of_one_column_stays_its_own(tmp_path: Path) -> None:
    # NA is Namibia in one column and a missing number in the other, which has a mark of its own; the star is neither
    table = tmp_path / "t.csv"
    rows = [f"{('NA', '*', n)[n % 3]},{('DE', 'NA', '*')[n % 3]}\n" for n in range(30)]
    table.write_text("n,country\n" + "".join(rows))
    form = profile(table, release=True).format
    assert (form.of("n").missing, form.of("country").missing) == (("NA", ""), ("",))
    assert form.of("n").suppressed == form.of("country").suppressed == ("*",)


def starred(tmp_path: Path, rows: int, age: set[int], town: set[int]) -> Proposal:
    """A release in which some rows of two columns are suppressed, and an occupation that never is."""
    table = tmp_path / "release.csv"
    jobs = ("cook", "nurse", "clerk")
    cells = [
        f"{'*' if n in age else n % 3 * 10},{'*' if n in town else 'ABC'[n % 3]},{jobs[n % 3]}" for n in range(rows)
    ]
    table.write_text("age,town,occupation\n" + "\n".join(cells) + "\n")
    return profile(table, release=True)


def test_rows_are_compared_and_not_counts(tmp_path: Path) -> None:
    same = starred(tmp_path, 90, set(range(5)), set(range(5)))
    assert [note for note in same.found if "age, town are suppressed in the same rows, occupation never" in note]
    other = starred(tmp_path, 90, set(range(5)), set(range(5, 10)))
    assert not [note for note in other.found if "same rows" in note]


@pytest.mark.parametrize(
    ("rows", "age", "town", "role"),
    [
        (90, range(19), range(19), "quasi"),
        (90, range(20), range(20), "sensitive"),
        (3000, range(20), range(20), "sensitive"),  # whole records
        (3000, range(15), range(15, 29), "quasi"),  # single cells, in fewer than 1 % of the rows
        (3000, range(15), range(15, 30), "sensitive"),
    ],
)
def test_a_few_suppressed_cells_make_no_column_sensitive(
    tmp_path: Path, rows: int, age: range, town: range, role: str
) -> None:
    assert starred(tmp_path, rows, set(age), set(town))["occupation"].role == role


LABELS = st.one_of(
    st.sampled_from(["", "*", "**", "****", "NA", "?", "130**", "1300*", "{a, b}", "a|b", "a", "b", "low", "high"]),
    st.sampled_from(["[20, 40[", "[17, 46]", "[17, 90]", "20-39", "<20", ">=80", "80+", "37", "2020-01", "2020-01-31"]),
    st.integers(0, 99).map(str),
)


@given(st.data())
def test_a_release_reads_with_what_is_proposed_for_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("any")
    numbers = st.sampled_from(["[20, 40[", "20-39", "<20", "37", "[17, 46]", "[18, 46]", "[17, 90]", "*", ""])
    columns = []
    for labels in (numbers, LABELS):
        few = data.draw(st.lists(labels, min_size=1, max_size=5))
        columns.append(data.draw(st.lists(st.sampled_from(few), min_size=12, max_size=12)))
    rows = [f'"{age}","{zone}",{n % 3}x' for n, (age, zone) in enumerate(zip(*columns, strict=True))]
    table = written(folder, rows)
    schema = folder / "s.toml"
    schema.write_text(profile(table, release=True).to_toml(), encoding="utf-8")
    assert explain_labels(table, schema).rows == 12


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "edited", "classes", "suppressed"),
    [
        ("k5_s5_8qi", {}, 397, 1346),
        ("local_k5_8qi", {"salary-class": "quasi"}, 3394, 0),
        ("notation_interval_set", dict.fromkeys(("marital-status", "workclass", "salary-class"), "neutral"), 301, 1141),
        ("notation_microagg", dict.fromkeys(("marital-status", "workclass", "salary-class"), "neutral"), 100, 127),
    ],
)
def test_releases_by_arx(
    data_folder: Path, tmp_path: Path, name: str, edited: dict[str, str], classes: int, suppressed: int
) -> None:
    # classes and suppressed rows as risk_*.txt beside the releases has them: where every quasi-identifier has suppressed
    # cells and no other column could be one, without an edit
    table = unpack_release(data_folder, name, tmp_path)
    text = profile(table, release=True).to_toml()
    for column, role in edited.items():
        head, tail = text.split(f"[columns.{column}]\n")
        text = f'{head}[columns.{column}]\nrole = "{role}"\n{tail.split(chr(10), 1)[1]}'
    (tmp_path / "s.toml").write_text(text)
    found = explain_labels(table, tmp_path / "s.toml")
    excluded = found.suppression.conventions[0]
    assert (excluded.classes, excluded.k, found.suppression.rows) == (classes, 5, suppressed)
    assert found.find("age").type == "numeric"


def test_rows_that_are_nobodys_are_noticed() -> None:
    made = subject(by_margins, 120, 1)
    assert made.people is not None
    people, release = made.people.to_frame()[:120], made.release.to_frame()

    def told(frame: pd.DataFrame, original: pd.DataFrame) -> bool:
        return any("--no-match" in note for note in profile(frame, release=True, original=original).found)

    assert told(release, people)
    assert told(release[:90], people)  # another number of rows
    assert not told(people, people)
    coarser = people.assign(age=[f"{int(age) // 10}0-{int(age) // 10}9" for age in people["age"]])
    assert not told(coarser, people)
    assert not told(coarser[:90], people)
    numbered = release.assign(number=range(120))
    assert not told(numbered.sample(frac=1, random_state=1), people.assign(number=range(120)))
