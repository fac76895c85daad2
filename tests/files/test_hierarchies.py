"""Labels that cannot be read are told all at once, with the hierarchy file that would explain them, and no value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.model.discretion import revealing
from auditor.model.errors import ReleaseError
from auditor.model.schema import Schema
from auditor.profiling.explaining import explain_labels
from auditor.profiling.proposal import profile

SCHEMA = "".join(f'[columns.{name}]\nrole = "quasi"\n' for name in ("school", "town", "job"))
ORIGINAL = "school,town,job\nMasters,Aheim,cook\nBachelors,Bedorf,nurse\n9th,Cestadt,cook\n"
RELEASE = "school,town,job\nHigher,North,cook\nHigher,North,nurse\nLower,South,chef\n"
SCHOOLS = "Masters;Higher;*\nBachelors;Higher;*\n9th;Lower;*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "original.csv").write_text(ORIGINAL)
    (tmp_path / "release.csv").write_text(RELEASE)
    (tmp_path / "hierarchies").mkdir()
    return tmp_path


def faults(folder: Path) -> tuple[str, ...]:
    with pytest.raises(ReleaseError) as caught:
        explain_labels(folder / "release.csv", folder / "schema.toml", original=folder / "original.csv")
    return caught.value.faults


def test_all_columns_and_labels_are_told_at_once(folder: Path) -> None:
    told = faults(folder)
    assert [sum(f"column {name!r}" in fault for fault in told) for name in ("school", "town", "job")] == [2, 2, 1]
    assert any("[columns.school]: if the 2 labels are groups" in fault for fault in told)
    assert any("[columns.job]: if the label is a group" in fault for fault in told)
    assert not any(word in fault for fault in told for word in ("Higher", "North", "chef"))  # nobody's value
    with revealing():
        assert any("'chef'" in fault for fault in faults(folder))


def test_the_hierarchy_that_explains_them_is_found(folder: Path) -> None:
    (folder / "hierarchies" / "town.csv").write_text("Aheim;North;*\nBedorf;North;*\n")  # lacks a town
    (folder / "hierarchies" / "zz.csv").write_text(SCHOOLS)
    (folder / "people.csv").write_text("1;Higher\n2;Lower\n3;Higher\n")  # groups, but other values
    told = faults(folder)
    name = "'hierarchies/zz.csv'"
    assert f"[columns.school]: {name} explains them. Write taxonomy = {name} there." in told
    assert any("[columns.town]: if the 2 labels" in fault for fault in told)
    # what is written there works
    text = SCHEMA.replace("[columns.school]\n", "[columns.school]\ntaxonomy = 'hierarchies/zz.csv'\n")
    (folder / "schema.toml").write_text(text)
    assert not any("school" in fault for fault in faults(folder))


def test_a_profile_takes_the_hierarchy_beside_a_release(folder: Path) -> None:
    (folder / "hierarchies" / "zz.csv").write_text(SCHOOLS)
    (folder / "towns.csv").write_text("Aheim;North;*\nBedorf;North;*\nCestadt;South;*\n")
    (folder / "jobs.csv").write_text("cook;kitchen;*\nchef;kitchen;*\nnurse;ward;*\n")  # values only: not needed
    schema = folder / "proposed.toml"
    schema.write_text(profile(folder / "release.csv", release=True).to_toml(), encoding="utf-8")
    trees = {name: column.taxonomy for name, column in Schema.read(schema).columns.items()}
    assert trees["school"] is not None
    assert set(trees["school"].leaves) == {"Masters", "Bachelors", "9th"}
    assert trees["town"] is not None
    assert trees["job"] is None
    assert "hierarchies/zz.csv" in schema.read_text()


def test_of_many_labels_of_a_column_the_number_is_told(folder: Path) -> None:
    rows = "".join(f"group {n},Aheim,cook\n" for n in range(40))
    (folder / "release.csv").write_text("school,town,job\n" + rows)
    told = faults(folder)
    assert len(told) == 5
    assert "column 'school': 37 more labels cannot be read either." in told


def test_a_folder_that_may_not_be_read_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "schools.csv").write_text(SCHOOLS)
    (folder / "closed").mkdir()
    listed = Path.iterdir

    def refused(place: Path) -> Iterator[Path]:
        if place in closed:
            raise PermissionError(13, "Permission denied", str(place))
        return listed(place)

    monkeypatch.setattr(Path, "iterdir", refused)
    closed = {folder / "closed"}
    assert any("'schools.csv' explains them" in fault for fault in faults(folder))
    closed = {folder}
    assert any("[columns.school]: if the 2 labels are groups" in fault for fault in faults(folder))
