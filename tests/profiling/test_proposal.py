"""`auditor profile`: the roles a person would choose on tables that are known, and a schema that can always be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.model.schema import Role, Schema, Type
from auditor.profiling.proposal import profile
from tests.conftest import Ended
from tests.support.adult import NAMES
from tests.support.profile_cases import PEOPLE_ROLES, accepted, people, roles

Cli = Callable[..., Ended]

# What a person would choose, who looks at the table and thinks: who could know this, and who must not learn it?
ADULT = {
    "age": "quasi",
    "workclass": "quasi",
    "fnlwgt": "weight",
    "education": "quasi",
    "education-num": "quasi",
    "marital-status": "quasi",
    "occupation": "quasi",  # and a candidate for sensitive, as many studies have it
    "relationship": "quasi",
    "race": "quasi",
    "sex": "quasi",
    "capital-gain": "sensitive",
    "capital-loss": "sensitive",
    "hours-per-week": "quasi",
    "native-country": "quasi",
    "salary-class": "sensitive",
}
# Without names the numbers say less: the weight and the amounts are numbers of many values, as are hours.
ADULT_WITHOUT_NAMES = {**ADULT, "fnlwgt": "sensitive", "hours-per-week": "sensitive"}
ADULT_NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}

# sdcMicro's own examples take the first nine as key variables, the next three as numeric ones to protect.
TESTDATA = {
    **dict.fromkeys(("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"), "quasi"),
    **dict.fromkeys(("expend", "income", "savings"), "sensitive"),
    "ori_hid": "household",
    "sampling_weight": "weight",
    "household_weights": "weight",
}


@pytest.mark.slow
@pytest.mark.data
def test_adult_with_its_header(data_folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "adult.csv"
    table.write_text(NAMES + "\n" + (data_folder / "data" / "adult" / "adult.data").read_text())
    found = profile(table)
    assert roles(found) == ADULT
    assert {column.name for column in found.columns if column.type is Type.NUMERIC} == ADULT_NUMERIC
    assert found["occupation"].candidate is Role.SENSITIVE
    assert found["race"].candidate is Role.SENSITIVE
    assert found.format.missing == ("?", "")
    assert found.format.header is None
    assert accepted(found, table, tmp_path).rows == 32561
    # age 90 is in the table 43 times, which the safe harbour does not allow
    assert dict(found.safe_harbour[2].found) == {"age": "ages over 89 (43 cells): group them as 90 and over"}
    assert found["age"].seen == "73 values from 17 to 90"


@pytest.mark.slow
@pytest.mark.data
def test_adult_without_a_header(data_folder: Path, tmp_path: Path) -> None:
    table = data_folder / "data" / "adult" / "adult.data"
    found = profile(table)
    names = NAMES.split(",")
    assert found.format.header == tuple(f"column_{place}" for place in range(1, 16))
    assert list(roles(found).values()) == [ADULT_WITHOUT_NAMES[name] for name in names]
    numeric = [column.type is Type.NUMERIC for column in found.columns]
    assert numeric == [name in ADULT_NUMERIC for name in names]
    assert found["column_5"].reason == "says the same as 'column_4', value by value"
    assert accepted(found, table, tmp_path).rows == 32561


@pytest.mark.slow
@pytest.mark.data
def test_adult_ranking_is_what_counting_says(data_folder: Path) -> None:
    frame = pd.read_csv(data_folder / "data" / "adult" / "adult.data", names=NAMES.split(","), skipinitialspace=True)
    found = profile(frame)
    assert found.ranking.columns[0].name == "age"
    chosen: list[str] = []
    for name, figures in found.ranking.order[:4]:
        chosen.append(name)
        sizes = frame.groupby(chosen, dropna=False, observed=True).size()
        assert figures.uniqueness == pytest.approx((sizes == 1).sum() / len(frame))
        assert figures.distinction == pytest.approx(len(sizes) / len(frame))


@pytest.mark.slow
@pytest.mark.data
def test_testdata(data_folder: Path, tmp_path: Path) -> None:
    table = data_folder / "data" / "casc" / "testdata.csv"
    found = profile(table)
    assert roles(found) == TESTDATA
    # the categories are coded by small numbers, and are no numbers
    numeric = {column.name for column in found.columns if column.type is Type.NUMERIC}
    assert numeric == {"age", "expend", "income", "savings", "sampling_weight", "household_weights"}
    accepted(found, table, tmp_path)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from auditor.files.tables import write_files
    from auditor.runs.exporting import export_scenario

    folder = tmp_path_factory.mktemp("town") / "town"
    write_files(export_scenario("town", folder, None), folder=folder)
    return folder


@pytest.mark.slow
def test_town_as_its_own_schema_has_it(town: Path, tmp_path: Path) -> None:
    truth = Schema.read(town / "schema.toml")
    found = profile(town / "data.csv")
    assert roles(found) == {name: str(column.role) for name, column in truth.columns.items()}
    types = {column.name: column.type for column in found.columns}
    # schools are no ladder that can be guessed; all else is as in the town's schema
    assert types == {name: column.type for name, column in truth.columns.items()} | {"education": Type.NOMINAL}
    table = accepted(found, town / "data.csv", tmp_path)
    tree, own = table.schema.columns["postcode"].taxonomy, truth.columns["postcode"].taxonomy
    assert tree is not None
    assert own is not None
    # what the town's schema calls 411** covers the same postcodes here
    for label in ("411**", "42***"):
        here, there = tree.node(label), own.node(label)
        assert here is not None
        assert there is not None
        assert set(tree.leaves[tree.lo[here] : tree.hi[here] + 1]) == set(own.leaves[own.lo[there] : own.hi[there] + 1])


@pytest.mark.slow
def test_people_with_everything(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    people(300, seed=3).to_csv(table, index=False)
    found = profile(table, taxonomies="all")
    assert roles(found) == PEOPLE_ROLES
    accepted(found, table, tmp_path)
    harbour = {finding.letter: sorted(name for name, _ in finding.found) for finding in found.safe_harbour}
    assert len(harbour) == 18
    assert harbour == {
        "A": ["contact"],
        "B": ["town", "zip"],
        "C": ["admitted", "age", "born"],
        "D": ["line"],
        "E": ["fax"],
        "F": ["mail"],
        "G": ["dni"],
        "H": ["mrn"],
        "I": ["insurance_no"],
        "J": ["bank", "card"],
        "K": ["licence"],
        "L": ["car"],
        "M": ["device"],
        "N": ["home"],
        "O": ["seen_from"],
        "P": ["fingerprint"],
        "Q": ["photo"],
        "R": ["remarks", "row", "token"],
    }


def test_the_form_of_a_file_is_found(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = "".join(f"{n % 7},5;{'NA' if n % 9 == 0 else n};Zürich{n % 4};*\n" for n in range(40))
    table.write_bytes(("größe;n;ort;x\n" + rows).encode("cp1252"))
    found = profile(table)
    form = found.format
    assert (form.delimiter, form.decimal, form.encoding, form.header) == (";", ",", "cp1252", None)
    assert form.missing == ("NA", "*", "")
    assert form.suppressed == ("(withheld)",)
    assert found["größe"].type is Type.NUMERIC
    accepted(found, table, tmp_path)
    headless = tmp_path / "h.csv"
    headless.write_text("".join(f"{n % 7},5;{n},25;b{n % 3}\n" for n in range(40)))
    found = profile(headless)
    assert (found.format.delimiter, found.format.decimal) == (";", ",")
    assert found.format.header == ("column_1", "column_2", "column_3")
    accepted(found, headless, tmp_path)


def test_a_mark_among_numbers_is_none_among_countries(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "n,country\n" + "".join(f"{'NA' if n % 5 == 0 else n // 2},{('DE', 'NA', 'FR')[n % 3]}\n" for n in range(40))
    )
    found = profile(table)
    assert found["n"].type is Type.NUMERIC
    assert found["n"].seen == "20 values, 8 missing"  # the ends are one person's each: no range is shown
    assert found["country"].seen == "3 values"
    assert "NA" in accepted(found, table, tmp_path).texts("country")


@pytest.mark.parametrize(
    ("cells", "role", "kind"),
    [
        (["low", "medium", "high"], Role.QUASI, Type.ORDINAL),
        (["20-29", "30-39", "40+"], Role.QUASI, Type.ORDINAL),
        (["1", "2", "3"], Role.QUASI, Type.NOMINAL),  # codes
        (["01", "02", "03"], Role.QUASI, Type.NOMINAL),
        (["1.5", "2.5", "3.5"], Role.QUASI, Type.NUMERIC),
        (["same", "same", "same"], Role.NEUTRAL, Type.NOMINAL),
        (["", "?", ""], Role.NEUTRAL, Type.NOMINAL),
        (["HIV", "Flu", "Asthma"], Role.SENSITIVE, Type.NOMINAL),
        (["Catholic", "Muslim", "Atheist"], Role.SENSITIVE, Type.NOMINAL),
        (["<=50K", ">50K", "<=50K"], Role.SENSITIVE, Type.NOMINAL),
    ],
)
def test_one_column_by_its_values(cells: list[str], role: Role, kind: Type) -> None:
    column = profile(pd.DataFrame({"x": cells * 20}))["x"]
    assert (column.role, column.type) == (role, kind)


def test_weight_beside_height_is_a_body() -> None:
    kilos = list(np.arange(50, 90, 0.5))
    assert profile(pd.DataFrame({"weight": kilos})).names(Role.WEIGHT) == ("weight",)
    assert profile(pd.DataFrame({"weight": kilos, "height": kilos})).names(Role.WEIGHT) == ()


def test_sensitive_levels_are_not_listed() -> None:
    found = profile(pd.DataFrame({"depression": ["mild", "moderate", "severe"] * 20}))
    assert (found["depression"].role, found["depression"].type) == (Role.SENSITIVE, Type.NOMINAL)
    assert "moderate" not in found.to_toml()
    assert "looks ordered" in found.to_toml()


@pytest.mark.slow
def test_row_order_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.profiling.ranking.MOST_ROWS", 100)  # a sample is drawn
    frame = people(300, seed=3).drop(columns=["row"])
    found, again = profile(frame), profile(frame.sample(frac=1, random_state=4))
    assert found.ranking.sampled
    assert found.to_toml() == again.to_toml()
    assert found.to_json() == again.to_json()
    other = profile(frame, seed=1)
    assert other.ranking.together != found.ranking.together or other.ranking.pairs != found.ranking.pairs


@pytest.mark.parametrize("name", ["rb030", "number", "x", "illness", "religion"])
@pytest.mark.parametrize("text", ["{}", "P-{}"])
def test_what_differs_in_nearly_every_row_identifies_whatever_its_name(name: str, text: str) -> None:
    # as EU-SILC numbers its people: household and person, neither running nor of one length
    ids = [text.format(100 * household + person) for household in range(1, 90, 3) for person in (1, 2)]
    table = pd.DataFrame({name: ids, "sex": ["f", "m"] * 30})
    assert profile(table)[name].role is Role.IDENTIFIER
    again = pd.DataFrame({name: [*ids[:56], *ids[:4]], "sex": ["f", "m"] * 30})  # 56 of 60 are below 95 %
    assert text != "{}" or profile(again)[name].role is not Role.IDENTIFIER


def test_amounts_of_money_that_all_differ_stay_sensitive() -> None:
    found = profile(pd.DataFrame({"income": [20_000 + 137 * i for i in range(60)], "sex": ["f", "m"] * 30}))["income"]
    assert (found.role, found.candidate) == (Role.SENSITIVE, Role.IDENTIFIER)
    assert "round them" in found.doubt


def visits(name: str, prefix: str = "") -> pd.DataFrame:
    """A table of 60 visits, three for each value of a column with this name."""
    return pd.DataFrame({name: [f"{prefix}{i // 3}" for i in range(60)], "age": [20 + i % 40 for i in range(60)]})


@pytest.mark.parametrize("name", ["person_id", "pid", "patient", "PatientID", "subject_id", "rb030"])
def test_ids_that_repeat_are_persons(name: str) -> None:
    found = profile(visits(name, "p"))
    assert found[name].role is Role.PERSON
    assert "about 3.0 rows share a value, as visits of one person do" in found[name].reason
    Schema.from_dict({"columns": {name: {"role": "person"}, "age": {"role": "quasi", "type": "numeric"}}})


@pytest.mark.parametrize("name", ["hid", "household_id", "db030", "hhid"])
def test_or_households(name: str) -> None:
    found = profile(visits(name))
    assert found[name].role is Role.HOUSEHOLD
    assert "as people of one household do" in found[name].reason


def test_one_column_says_whose_a_row_is() -> None:
    table = visits("id", "k").assign(patient=[f"p{i // 2}" for i in range(60)], hid=[i // 6 for i in range(60)])
    found = profile(table.assign(hhid=[i // 3 for i in range(60)]))
    assert [c.name for c in found.columns if c.role is Role.PERSON] == ["patient"]
    assert len([c for c in found.columns if c.role is Role.HOUSEHOLD]) == 1
    assert found["id"].role is Role.IDENTIFIER


def test_ids_of_single_rows_stay_identifiers() -> None:
    table = pd.DataFrame({"patient_id": [f"p{i}" for i in range(60)], "age": [20 + i % 40 for i in range(60)]})
    assert profile(table)["patient_id"].role is Role.IDENTIFIER
