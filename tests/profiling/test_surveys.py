"""Foreign files as they come: a household survey with cryptic names, a small trial, R's row names, no header line, and
releases of other tools. The proposed roles are those that a person would choose, without an edit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.model.errors import TableError, UsageError
from auditor.model.schema import Role, Schema
from auditor.profiling.explaining import explain_labels
from auditor.profiling.proposal import profile
from auditor.profiling.words import Concept, meaning
from tests.support.profile_cases import accepted, roles
from tests.support.surveys import SURVEY_ROLES, TRIAL_ROLES, as_r, survey, trial


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return survey(260, seed=5)


def test_a_survey_shaped_like_eu_silc(people: pd.DataFrame, tmp_path: Path) -> None:
    table = tmp_path / "survey.csv"
    people.to_csv(table, index=False)
    found = profile(table)
    assert roles(found) == SURVEY_ROLES
    accepted(found, table, tmp_path)
    shouted = people.rename(columns=str.upper)  # as Eurostat writes the names
    assert list(roles(profile(shouted)).values()) == list(SURVEY_ROLES.values())


def test_a_survey_as_r_writes_it(people: pd.DataFrame, tmp_path: Path) -> None:
    table = tmp_path / "survey.csv"
    table.write_text(as_r(people), encoding="utf-8")
    found = profile(table)
    assert roles(found) == {"row_names": "identifier", **SURVEY_ROLES}
    assert found["pb220a"].seen.endswith(f"{int(people['pb220a'].isna().sum())} missing")  # NA among texts
    accepted(found, table, tmp_path)
    # write.table names one column less than there are
    head, body = as_r(people).split("\n", 1)
    table.write_text("\n".join([head.removeprefix('"",'), body]), encoding="utf-8")
    assert roles(profile(table)) == {"row_names": "identifier", **SURVEY_ROLES}


def test_only_rising_numbers_are_row_names(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for text in (",age\nx,20\ny,30\n", ",age\n2,20\n1,30\n", "id,age\n1,20,\n2,30,\n", "id,age\nx,1,2\ny,2,3\n"):
        table.write_text(text)
        with pytest.raises(TableError):
            profile(table)


def test_a_survey_without_a_header(people: pd.DataFrame, tmp_path: Path) -> None:
    table = tmp_path / "survey.csv"
    people.to_csv(table, index=False, header=False)
    found = profile(table)
    wanted = {f"column_{place}": role for place, role in enumerate(SURVEY_ROLES.values(), 1)}
    # only its name says that a column holds weights
    assert roles(found) == {**wanted, "column_27": "sensitive", "column_28": "sensitive"}


def test_numbers_of_households_whose_names_say_nothing() -> None:
    draw = np.random.default_rng(4)
    home = np.repeat(np.arange(1000, 1150), draw.integers(1, 5, 150))
    member = np.concatenate([np.arange(1, count + 1) for count in np.unique(home, return_counts=True)[1]])
    found = profile(pd.DataFrame({"a": home, "b": home * 10 + member, "sex": draw.choice(["f", "m"], len(home))}))
    assert roles(found) == {"a": "household", "b": "identifier", "sex": "quasi"}
    # without the numbers of the people, running numbers may as well be visits
    found = profile(pd.DataFrame({"a": home, "sex": draw.choice(["f", "m"], len(home))}))
    assert (found["a"].role, found["a"].candidate) == (Role.PERSON, Role.HOUSEHOLD)
    # numbers with gaps that repeat are no numbers of anybody
    found = profile(pd.DataFrame({"a": home * 7, "sex": draw.choice(["f", "m"], len(home))}))
    assert found["a"].role is Role.SENSITIVE


def test_a_clinical_trial(tmp_path: Path) -> None:
    table = tmp_path / "trial.csv"
    trial(240, seed=3).to_csv(table, index=False)
    found = profile(table)
    assert roles(found) == TRIAL_ROLES
    assert (found["PLATELETS"].candidate, found["WEIGHT"].reason) == (Role.IDENTIFIER, "a weight beside a height")
    accepted(found, table, tmp_path)


def test_sites_say_where_and_not_who() -> None:
    sites = [f"{n % 40 + 100}" for n in range(400)]
    assert profile(pd.DataFrame({"site_id": sites, "x": sites[::-1]}))["site_id"].role is Role.QUASI


@pytest.mark.parametrize("name", ["hospital_id", "school_key", "SiteID"])
def test_the_number_of_a_place_that_never_repeats_is_an_identifier(name: str) -> None:
    texts, numbers = [f"H{n * 7:05}" for n in range(400)], [1000 + n * 7 for n in range(400)]
    for cells in (texts, numbers):
        assert profile(pd.DataFrame({name: cells}))[name].role is Role.IDENTIFIER
        assert profile(pd.DataFrame({name: [*cells[:200], *cells[:200]]}))[name].role is Role.QUASI
    assert profile(pd.DataFrame({"town": [f"{text} town" for text in texts]}))["town"].role is Role.QUASI


def test_the_original_of_a_release_may_have_more_columns(tmp_path: Path) -> None:
    release, original, schema = (tmp_path / name for name in ("release.csv", "original.csv", "s.toml"))
    release.write_text("age,job\n" + "20-39,cook\n" * 5 + "*,nurse\n" * 2)
    original.write_text(
        "id,age,job,remark\n" + "".join(f"{n},{20 + n},{'cook' if n < 5 else 'nurse'},x\n" for n in range(7))
    )
    schema.write_text(profile(release, release=True).to_toml(), encoding="utf-8")
    assert explain_labels(release, schema, original=original).find("age").values == 7


def test_stars_make_a_quasi_identifier(tmp_path: Path) -> None:
    # a wage class is money to its name; but the tool suppressed it, with age and sex, and never the job
    rows = [("*", "*", "*", "Sales")] * 24 + [("20-39", "f", "low", "Craft"), ("40-59", "m", "high", "Sales")] * 20
    table = tmp_path / "release.csv"
    pd.DataFrame(rows, columns=["age", "sex", "wage-class", "occupation"]).to_csv(table, index=False)
    found = profile(table, release=True)
    expected = {"age": "quasi", "sex": "quasi", "wage-class": "quasi", "occupation": "sensitive"}
    assert roles(found) == expected
    assert found["wage-class"].candidate is Role.SENSITIVE
    assert not any("neutral" in note for note in found.found)
    more = pd.DataFrame([(*row, "ab"[place % 2]) for place, row in enumerate(rows)])
    more.columns = pd.Index(["age", "sex", "wage-class", "occupation", "marital"])
    more.to_csv(table, index=False)
    found = profile(table, release=True)
    assert roles(found) == {**expected, "marital": "quasi"}  # others may know it, and a note says what the tool did
    assert any("marital never" in note and "neutral" in note for note in found.found)


@pytest.mark.parametrize("mark", ["", "NA"])
def test_blank_cells_of_quasi_identifiers_alone_are_suppressed(tmp_path: Path, mark: str) -> None:
    # as sdcMicro suppresses: single cells of key variables, never an income
    rows = [
        (mark if n % 9 == 0 else str(20 + n % 4), mark if n % 7 == 0 else "fm"[n % 2], 1000 + 17 * n) for n in range(60)
    ]
    table, schema = tmp_path / "release.csv", tmp_path / "s.toml"
    pd.DataFrame(rows, columns=["age", "sex", "income"]).to_csv(table, index=False)
    found = profile(table, release=True)
    assert found["age"].seen == "4 values from 20 to 23, 7 suppressed"
    schema.write_text(found.to_toml(), encoding="utf-8")
    assert Schema.read(schema).format.of("age").suppressed == (mark, "*")
    suppression = explain_labels(table, schema).suppression
    assert (suppression.rows, suppression.partly) == (1, 14)  # rows 0 and 63: both; 7 and 9 cells in all, one row twice
    # where an income is missing too, people may just not have answered
    pd.DataFrame(
        [(*row[:2], "") if n == 5 else row for n, row in enumerate(rows)], columns=["age", "sex", "income"]
    ).to_csv(table, index=False)
    found = profile(table, release=True)
    assert found["age"].seen == "4 values from 20 to 23, 7 missing"
    # unless the original has them all
    original = pd.DataFrame({"age": ["21"] * 60, "sex": ["f"] * 60, "income": ["", *["1000"] * 59]})
    found = profile(table, release=True, original=original)
    assert [found[c].seen.rsplit(" ", 1)[1] for c in ("age", "sex", "income")] == [
        "suppressed",
        "suppressed",
        "missing",
    ]
    with pytest.raises(UsageError, match="--release"):
        profile(table, original=original)


@pytest.mark.parametrize(
    ("names", "concept"),
    [
        ("RB080 PB140 RB070", Concept.BIRTH),
        ("RB090 PB150", Concept.SEX),
        ("PE040 PE041", Concept.EDUCATION),
        ("PL031 PL051A PL060", Concept.EMPLOYER),
        ("PH010 PH020", Concept.HEALTH),
        ("PY010G HY020 HX090 HS130", Concept.MONEY),
        ("HH021 HX070", Concept.HOUSING),
        ("PB210 PB220A RB280", Concept.COUNTRY),
        ("DB040 DB100", Concept.PLACE),
        ("DB090 RB050 PB040", Concept.WEIGHT),
        ("RB030 PB030 RB040 DB030 RX030", Concept.IDENTIFIER),
        ("AETERM LBSTRESN DSDECOD", Concept.HEALTH),
    ],
)
def test_codes_of_surveys_and_trials(names: str, concept: Concept) -> None:
    for name in names.split():
        assert concept in meaning(name).concepts, name
    assert not meaning("RB0901").concepts  # a code is the whole name
