"""The invented town looks like a town, and the hospital's files tell one story."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.model.errors import UsageError
from scenarios import town

HOSPITAL = resources.files("scenarios") / "data" / "hospital"
QUASI = ["birth_year", "sex", "postcode", "ethnicity", "marital_status", "education", "occupation"]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return town.population()


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads(town.schema_path().read_text(encoding="utf-8"))["columns"]
    return read


def leaves(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for below in node.values():
            yield from leaves(below)
    else:
        yield from node


def age(people: pd.DataFrame) -> pd.Series:
    return town.YEAR - people["birth_year"]


# --- the town: form ---------------------------------------------------------------------------------------


def test_same_seed_same_bytes_and_another_seed_another_town(people: pd.DataFrame) -> None:
    assert town.population().to_csv().encode() == people.to_csv().encode()
    assert not town.population(seed=8).equals(people)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_same_bytes_in_another_process(people: pd.DataFrame, hash_seed: str) -> None:
    code = (
        "import hashlib; from scenarios import town; "
        "print(hashlib.sha256(town.population().to_csv().encode()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == hashlib.sha256(people.to_csv().encode()).hexdigest()


def test_columns_are_those_of_the_schema_in_its_roles(people: pd.DataFrame, columns: dict[str, Any]) -> None:
    assert set(people.columns) == set(columns)
    roles = {
        role: [c for c in people.columns if columns[c]["role"] == role] for role in ("identifier", "quasi", "sensitive")
    }
    assert roles == {"identifier": ["name"], "quasi": QUASI, "sensitive": ["disease", "income"]}


@pytest.mark.parametrize(
    "column", ["sex", "postcode", "ethnicity", "marital_status", "education", "occupation", "disease"]
)
def test_values_are_exactly_the_leaves_of_the_schema(
    people: pd.DataFrame, columns: dict[str, Any], column: str
) -> None:
    spec = columns[column]
    known = spec["order"] if "order" in spec else list(leaves(spec["taxonomy"]))
    assert len(known) == len(set(known))
    assert set(people[column]) == set(known)  # inside, and none that nobody has


def test_numbers_are_inside_their_domains(people: pd.DataFrame, columns: dict[str, Any]) -> None:
    for column in ("birth_year", "income"):
        low, high = columns[column]["domain"]
        assert people[column].between(low, high).all()
        assert people[column].dtype == np.int64
    assert people["birth_year"].min() == 1931
    assert people["birth_year"].max() == 2008
    assert (people["income"] % 100 == 0).all()


def test_postcode_taxonomy_is_made_of_prefixes(columns: dict[str, Any]) -> None:
    for part, districts in columns["postcode"]["taxonomy"].items():
        for district, postcodes in districts.items():
            assert re.fullmatch(r"\d\d\*{3}", part)
            assert re.fullmatch(r"\d{3}\*\*", district)
            assert district[:2] == part[:2]
            assert all(re.fullmatch(r"\d{5}", code) and code[:3] == district[:3] for code in postcodes)


def test_names_are_unique_and_made_of_two_words_with_initials_where_needed(people: pd.DataFrame) -> None:
    assert people["name"].is_unique
    assert people["name"].str.fullmatch(r"\w+ (?:[A-Z]\. )*\w+").all()
    assert town.population(people=200_000)["name"].is_unique


def test_name_lists_do_not_overlap() -> None:
    lists = tomllib.loads((resources.files("scenarios") / "data" / "town" / "names.toml").read_text("utf-8"))
    first = lists["female"] + lists["male"]
    assert len(first) == len(set(first))
    assert len(lists["last"]) == len(set(lists["last"]))


def test_a_small_town_is_a_picture_of_a_large_one(people: pd.DataFrame) -> None:
    small = town.population(people=5_000, seed=11)
    for column in ("sex", "ethnicity", "marital_status", "education", "occupation", "disease"):
        difference = (
            small[column].value_counts(normalize=True).sub(people[column].value_counts(normalize=True), fill_value=0)
        )
        # Four standard errors of a share of one half at 5000 against 20 000: 4 · sqrt(.25/5000 + .25/20000).
        assert difference.abs().max() < 0.032


def test_one_person_is_a_town_and_nobody_is_not() -> None:
    assert len(town.population(people=1)) == 1
    with pytest.raises(UsageError, match="people must be at least 1"):
        town.population(people=0)


# --- the town: shares ------------------------------------------------------------------------------------


def test_a_sizeable_share_is_unique_by_what_a_neighbour_knows(people: pd.DataFrame) -> None:
    def unique(frame: pd.DataFrame, by: list[str]) -> float:
        return float((frame.groupby(by)["name"].transform("size") == 1).mean())

    released = people[town.sample(people, 0.5, np.random.default_rng(7))]
    assert 0.07 < unique(people, QUASI[:3]) < 0.12
    assert 0.14 < unique(released, QUASI[:3]) < 0.22
    assert unique(people, QUASI) > 0.85


def test_disease_has_a_common_mode_and_rare_grave_values(people: pd.DataFrame) -> None:
    shares = people["disease"].value_counts(normalize=True)
    assert shares.index[0] == "Healthy"
    assert 0.20 < shares.iloc[0] < 0.30  # below 1/3, so that l = 3 can be had
    for grave in ("HIV", "Tuberculosis", "Stomach Cancer", "Lung Cancer"):
        assert 0.001 < shares[grave] < 0.01


def test_marginals_are_plausible(people: pd.DataFrame) -> None:
    assert 0.48 < (people["sex"] == "F").mean() < 0.54
    postcodes = people["postcode"].value_counts()
    assert 36 <= len(postcodes) <= 48
    assert postcodes.max() > 20 * postcodes.min()
    ethnicities = people["ethnicity"].value_counts(normalize=True)
    assert 0.5 < ethnicities.iloc[0] < 0.75
    assert ethnicities.iloc[-1] < 0.06
    assert 0.35 < (people["marital_status"] == "Married").mean() < 0.55
    assert 20_000 < people["income"].median() < 32_000
    assert people["income"].nunique() > 800


# --- the town: what depends on what ------------------------------------------------------------------------


def test_age_drives_marital_status_education_and_occupation(people: pd.DataFrame) -> None:
    years = age(people)
    young, old = years < 25, years >= 75
    assert (people.loc[young, "marital_status"] == "Single").mean() > 0.85
    assert (people.loc[old, "marital_status"] == "Widowed").mean() > 0.2
    assert (people.loc[old, "occupation"] == "Retired").mean() > 0.9
    assert (people.loc[young, "occupation"] == "Student").mean() > 0.35
    assert years[people["occupation"] == "Student"].max() < 40
    degree = people["education"].isin(["Bachelor", "Master", "Doctorate"])
    assert degree[years.between(27, 40)].mean() > 2 * degree[old].mean()
    assert years[people["education"] == "Doctorate"].min() >= 27


def test_education_drives_occupation_and_income(people: pd.DataFrame) -> None:
    level = people["education"].map({name: step for step, name in enumerate(town.EDUCATION)})
    employed = people["occupation"].isin(list(town.JOBS))
    assert np.corrcoef(level[employed], people.loc[employed, "income"])[0, 1] > 0.4
    assert (people.loc[people["occupation"] == "Physician", "education"].isin(["Master", "Doctorate"])).all()
    assert level[people["occupation"] == "Cleaner"].mean() < 1.5


def test_sex_moves_occupation_and_income(people: pd.DataFrame) -> None:
    women = people["sex"] == "F"
    assert women[people["occupation"] == "Nurse"].mean() > 0.7
    assert women[people["occupation"] == "Builder"].mean() < 0.1
    medians = people.groupby("sex")["income"].median()
    assert 0.75 < medians["F"] / medians["M"] < 0.95


def test_postcode_goes_with_ethnicity_education_and_income(people: pd.DataFrame) -> None:
    district = people["postcode"].str[:3]
    rich, poor = district == "414", district == "421"
    european = people["ethnicity"] == "European"
    assert european[rich].mean() > european[poor].mean() + 0.3
    degree = people["education"].isin(["Bachelor", "Master", "Doctorate"])
    assert degree[rich].mean() > 1.8 * degree[poor].mean()
    assert people.loc[rich, "income"].median() > 1.25 * people.loc[poor, "income"].median()


def test_disease_depends_on_age_sex_occupation_and_a_little_on_postcode(people: pd.DataFrame) -> None:
    years, disease = age(people), people["disease"]
    assert (disease[years < 30] == "Healthy").mean() > 2 * (disease[years >= 65] == "Healthy").mean()
    assert (disease[years >= 75] == "Dementia").mean() > 0.04
    assert (disease[years < 50] == "Dementia").mean() < 0.001
    migraine = (disease == "Migraine").groupby(people["sex"]).mean()
    assert migraine["F"] > 1.5 * migraine["M"]
    back = (disease == "Back Pain").groupby(people["occupation"]).mean()
    assert back["Builder"] > 1.5 * back["Clerk"]
    bronchitis = (disease == "Bronchitis").groupby(people["postcode"].str[:3]).mean()
    assert bronchitis[["413", "421"]].mean() > 1.2 * bronchitis[["414", "422"]].mean()


# --- the sample ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (0.5, 500), (0.3335, 334), (1.0, 1_001)])
def test_sample_has_exactly_the_asked_size(share: float, expected: int) -> None:
    members = town.sample(town.population(people=1_001), share, np.random.default_rng(1))
    assert members.dtype == np.bool_
    assert members.sum() == expected


def test_sample_is_seeded_and_refuses_what_is_no_share(people: pd.DataFrame) -> None:
    one, two, other = (town.sample(people, 0.5, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    with pytest.raises(UsageError, match="between 0 and 1"):
        town.sample(people, 1.5, np.random.default_rng(1))


# --- the hospital -------------------------------------------------------------------------------------------


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((HOSPITAL / name).read_text(encoding="utf-8").splitlines()))


def inside(value: str, label: str) -> bool:
    low, _, high = label.partition("-")
    return int(low) <= int(value) <= int(high or low)


def test_voters_are_the_patients() -> None:
    assert rows("voters.csv") == [{c: p[c] for c in ("name", "age", "sex", "zip")} for p in rows("patients.csv")]


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_each_patient_is_in_the_row_that_the_provenance_names(table: str) -> None:
    patients, release, provenance = (
        rows("patients.csv"),
        rows(f"{table}.csv"),
        rows(f"{table}.provenance.csv"),
    )
    assert list(provenance[0]) == ["row", "bucket", "fragment_1"]
    assert [int(line["row"]) for line in provenance] == list(range(1, 8))
    assert sorted(int(line["fragment_1"]) for line in provenance) == list(range(1, 8))
    classes: dict[tuple[str, ...], int] = {}  # numbered by first appearance
    for row in release:
        classes.setdefault((row["age"], row["sex"], row["zip"]), len(classes) + 1)
    for patient, line in zip(patients, provenance, strict=True):
        row = release[int(line["fragment_1"]) - 1]
        assert (row["disease"], row["income"]) == (patient["disease"], patient["income"])
        assert inside(patient["age"], row["age"])
        assert inside(patient["zip"], row["zip"])
        assert row["sex"] == "Person"
        assert int(line["bucket"]) == classes[row["age"], row["sex"], row["zip"]]


def test_the_papers_claims_hold_in_the_files() -> None:
    # Barbie is alone with her age, sex and zip. Girija's class is all bronchitis in Table III. In Table IV
    # three of its four incomes lie within [10000, 10030], and it has two diseases.
    assert sum((v["age"], v["sex"], v["zip"]) == ("29", "F", "600008") for v in rows("voters.csv")) == 1
    third = [row for row in rows("table3.csv") if inside("25", row["age"]) and inside("600006", row["zip"])]
    assert {row["disease"] for row in third} == {"Bronchitis"}
    fourth = [row for row in rows("table4.csv") if inside("25", row["age"]) and inside("600006", row["zip"])]
    assert [10_000 <= int(row["income"]) <= 10_030 for row in fourth] == [True, True, True, False]
    assert {row["disease"] for row in fourth} == {"Bronchitis", "Stomach Cancer"}


def test_hospital_values_are_in_the_schema() -> None:
    columns = tomllib.loads((HOSPITAL / "schema.toml").read_text(encoding="utf-8"))["columns"]
    patients = rows("patients.csv")
    assert list(patients[0]) == list(columns)
    for column in ("sex", "disease"):
        assert {patient[column] for patient in patients} == set(leaves(columns[column]["taxonomy"]))


# --- the scenario files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hospital", "town"])
def test_scenario_names_only_columns_and_files_that_exist(name: str) -> None:
    folder = resources.files("scenarios") / "data" / name
    scenario = tomllib.loads((folder / "scenario.toml").read_text(encoding="utf-8"))
    columns = tomllib.loads((folder / "schema.toml").read_text(encoding="utf-8"))["columns"]
    for release in (scenario["data"], *scenario["release"]):
        for key in ("file", "schema", "population", "provenance"):
            assert key not in release or (folder / release[key]).is_file()
        assert release.get("sensitive", "disease") in columns
    quasi = {column for column, spec in columns.items() if spec["role"] == "quasi"}
    for adversary in scenario["adversary"]:
        assert set(adversary.get("knows", ())) <= quasi
    assert scenario["attacks"]["run"] == ["linking", "homogeneity", "proximity", "divergence", "membership"]


def test_slicing_of_the_demo_covers_every_published_column_once(columns: dict[str, Any]) -> None:
    text = (resources.files("scenarios") / "data" / "town" / "scenario.toml").read_text(encoding="utf-8")
    blocks = next(r["columns"] for r in tomllib.loads(text)["release"] if r["method"] == "slicing")
    assert sorted(column for block in blocks for column in block) == sorted(set(columns) - {"name"})


def test_no_machine_paths_in_the_files() -> None:
    for path in Path(str(resources.files("scenarios") / "data")).rglob("*.*"):
        assert not re.search(r"/(?:work|home|tmp|root)/", path.read_text(encoding="utf-8")), path
