"""An invented town of adults, for demonstrations: nobody in it exists, and no list of real people was used.

Every person is drawn independently and by the same rules, so a town of a thousand looks like a small part of a town of a
million. What depends on what, in the order of drawing:

    postcode         size only: eight districts, four with one huge postcode, all with several small ones
    birth_year       postcode (students live around the university, the old in the villages)
    sex              birth_year (women live longer)
    ethnicity        postcode
    education        birth_year (each cohort stays at school longer), postcode (affluence)
    marital_status   birth_year, sex (widows more than widowers)
    occupation       birth_year (students, the retired), education, sex
    income           occupation, education, birth_year, sex, postcode
    disease          birth_year, sex, occupation, postcode
    name             sex

The numbers below were written by hand to be plausible; they were not estimated from data, and say nothing about real people.
They become tables of weights "value given parents", and one function draws from all of these.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import UsageError

YEAR: Final = 2026  # the year in which the town is looked at
AGES: Final = np.arange(18, 96)  # born 2008 to 1931
HIGHEST_INCOME: Final = 250_000

SEXES: Final = ("F", "M")
ETHNICITIES: Final = ("European", "South Asian", "African", "Middle Eastern", "East Asian", "Mixed")
MARITAL: Final = ("Single", "Married", "Civil Partnership", "Separated", "Divorced", "Widowed")
EDUCATION: Final = (
    "Primary School",
    "Lower Secondary",
    "Upper Secondary",
    "Vocational Diploma",
    "Bachelor",
    "Master",
    "Doctorate",
)
INITIALS: Final = "MAJLRSECTDHPKBNGFVIWOZYUXQ"


class District(NamedTuple):
    """A part of the town: how many live there, in which postcodes, and who."""

    code: str
    postcodes: dict[int, float]  # last two digits -> share of the town in per mille
    affluence: float  # -1 poor ... 1 rich
    ages: tuple[float, float, float]  # weight of under 30, 30 to 64, 65 and over, against the whole town
    ethnicities: tuple[float, ...]  # in the order of ETHNICITIES


DISTRICTS: Final = (
    District("411", {1: 155, 3: 14, 4: 11, 6: 9, 9: 6}, 0.1, (1.4, 1.0, 0.7), (58, 14, 9, 8, 6, 5)),
    District("412", {7: 29, 2: 16, 3: 12, 5: 9, 8: 7, 9: 4}, 0.3, (2.4, 0.8, 0.5), (55, 13, 7, 7, 13, 5)),
    District("413", {1: 34, 4: 17, 2: 12, 5: 9, 8: 5}, -0.7, (1.2, 1.1, 0.6), (32, 22, 21, 16, 3, 6)),
    District("414", {5: 24, 1: 15, 3: 12, 6: 9, 7: 7, 9: 4}, 0.9, (0.6, 1.0, 1.3), (84, 6, 1, 2, 5, 2)),
    District("421", {2: 145, 1: 14, 5: 11, 7: 8, 8: 5}, -0.9, (1.1, 1.1, 0.8), (41, 30, 12, 11, 2, 4)),
    District("422", {3: 135, 1: 15, 4: 12, 6: 9, 8: 7, 9: 5}, 0.5, (0.7, 1.3, 0.8), (76, 9, 4, 3, 5, 3)),
    District("423", {6: 115, 2: 15, 3: 11, 7: 9, 9: 6}, -0.3, (1.2, 1.1, 0.7), (52, 17, 13, 11, 3, 4)),
    District("424", {4: 16, 1: 12, 2: 10, 5: 8, 7: 7, 8: 5}, 0.2, (0.5, 0.8, 1.8), (93, 2, 1, 1, 1, 2)),
)


class Job(NamedTuple):
    """An occupation: who takes it up, and what it pays."""

    women: float
    men: float
    education: tuple[float, ...]  # how open it is to each level of EDUCATION
    pay: int  # yearly, in the middle of a career


JOBS: Final = {
    "Nurse": Job(8, 1.5, (0, 0, 1, 4, 3, 0.5, 0), 38_000),
    "Care Worker": Job(8, 2, (3, 4, 3, 1, 0.1, 0, 0), 26_000),
    "Teacher": Job(7, 3, (0, 0, 0, 0.3, 4, 5, 1), 44_000),
    "Physician": Job(2, 2, (0, 0, 0, 0, 0, 4, 9), 92_000),
    "Clerk": Job(9, 4, (0.5, 2, 4, 3, 1, 0.3, 0), 31_000),
    "Accountant": Job(3, 3, (0, 0, 0.5, 2, 3, 1.5, 0.3), 48_000),
    "Manager": Job(3, 5, (0.1, 0.3, 1, 1.5, 3, 4, 3), 71_000),
    "Engineer": Job(1.2, 6, (0, 0, 0, 1, 3, 4, 6), 63_000),
    "Programmer": Job(1.2, 5, (0, 0.1, 0.5, 1, 3.5, 3, 3), 59_000),
    "Builder": Job(0.3, 9, (4, 4, 2, 2, 0.1, 0, 0), 33_000),
    "Machine Operator": Job(1.5, 7, (4, 4, 2, 1, 0, 0, 0), 32_000),
    "Driver": Job(0.7, 7, (3, 4, 2.5, 0.7, 0.1, 0, 0), 30_000),
    "Sales Assistant": Job(8, 4, (2, 4, 4, 1.5, 0.5, 0.1, 0), 25_000),
    "Cook": Job(3, 4, (3, 3, 2, 1, 0.1, 0, 0), 26_000),
    "Cleaner": Job(6, 2, (7, 4, 1, 0.2, 0, 0, 0), 22_000),
}
NOT_EMPLOYED: Final = {"Student": 9_000, "Unemployed": 12_000, "Retired": 23_000}  # and what they live on
OCCUPATIONS: Final = (*JOBS, *NOT_EMPLOYED)


class Illness(NamedTuple):
    """A diagnosis: how common, in whom."""

    ages: tuple[float, ...]  # weight at the ages of ILLNESS_AGES, straight lines between
    women: float = 1.0  # times as common in women as in men
    poverty: float = 0.0  # how much a poor district adds, a rich one takes away
    jobs: Mapping[str, float] = MappingProxyType({})  # times as common in an occupation as elsewhere


ILLNESS_AGES: Final = (20, 35, 50, 65, 85)
ILLNESSES: Final = {
    "Healthy": Illness((44, 36, 25, 14, 6), poverty=-0.15),
    "Seasonal Allergy": Illness((14, 12, 8, 5, 2), jobs={"Student": 1.2}),
    "Migraine": Illness((8, 10, 8, 4, 1), women=2.4),
    "Back Pain": Illness(
        (3, 8, 13, 10, 7), jobs={"Builder": 2.5, "Machine Operator": 1.8, "Nurse": 1.7, "Driver": 1.6}
    ),
    "Asthma": Illness((8, 6, 5, 4, 3), women=1.2, poverty=0.3, jobs={"Cleaner": 1.6}),
    "Bronchitis": Illness((2, 3, 4, 6, 7), poverty=0.4, jobs={"Machine Operator": 1.8, "Builder": 1.5}),
    "Lung Cancer": Illness((0.02, 0.1, 0.5, 1.4, 1.4), women=0.7, poverty=0.5, jobs={"Machine Operator": 1.5}),
    "Hypertension": Illness((1, 4, 12, 24, 26), women=0.9, jobs={"Manager": 1.4, "Driver": 1.3}),
    "Coronary Disease": Illness((0.1, 0.6, 3, 9, 14), women=0.6, poverty=0.2),
    "Stroke": Illness((0.05, 0.2, 0.8, 3, 7), women=0.9),
    "Gastritis": Illness((4, 5, 5, 5, 4), jobs={"Cook": 1.5, "Manager": 1.3}),
    "Type 2 Diabetes": Illness((0.4, 2, 7, 13, 12), women=0.8, poverty=0.4, jobs={"Driver": 1.4}),
    "Stomach Cancer": Illness((0.02, 0.1, 0.3, 0.8, 1.1), women=0.6),
    "Anxiety": Illness((9, 8, 6, 3, 2), women=1.7, jobs={"Student": 1.6, "Unemployed": 1.4, "Teacher": 1.3}),
    "Depression": Illness((7, 7, 7, 5, 4), women=1.6, poverty=0.2, jobs={"Unemployed": 2.2, "Nurse": 1.3}),
    "Dementia": Illness((0, 0, 0.1, 1, 13), women=1.3),
    "Hepatitis C": Illness((0.2, 0.6, 0.8, 0.5, 0.2), women=0.7, poverty=0.6, jobs={"Nurse": 1.8}),
    "Tuberculosis": Illness((0.3, 0.4, 0.4, 0.4, 0.5), women=0.8, poverty=0.8),
    "HIV": Illness((0.3, 0.7, 0.6, 0.2, 0.05), women=0.5, poverty=0.3),
}


def _data() -> Traversable:
    return resources.files("scenarios") / "data" / "town"


def schema_path() -> Traversable:
    """Where the town's schema is, also inside an installed package."""
    return _data() / "schema.toml"


def _draw(rng: np.random.Generator, weights: Floats, given: Ints) -> Ints:
    """One value per person, from the row of `weights` that the code `given` of its parents names.

    All rows are put on one line, row r on [r, r + 1), so that a single search serves everybody. A draw that is rounded up to
    the end of its row is put back on the row's last value.
    """
    rows, values = weights.shape
    cumulated = np.cumsum(weights, axis=1)
    line = (cumulated / cumulated[:, -1:] + np.arange(rows)[:, None]).ravel()
    found = np.searchsorted(line, given + rng.random(len(given)), side="right")
    drawn: Ints = np.minimum(found - given * values, values - 1).astype(np.int64)
    return drawn


def _postcodes() -> tuple[list[str], Floats, Ints, Floats]:
    """Every postcode with its share, the number of its district, and its affluence."""
    names, shares, districts, affluence = [], [], [], []
    for number, district in enumerate(DISTRICTS):
        for place, (digits, share) in enumerate(sorted(district.postcodes.items())):
            names.append(f"{district.code}{digits:02d}")
            shares.append(share)
            districts.append(number)
            affluence.append(district.affluence + (0.15, -0.2, 0.1, 0.0, -0.1, 0.2)[place])
    return names, np.array([shares], dtype=float), np.array(districts), np.array(affluence)


def _age_weights() -> Floats:
    """Districts × ages: a broad middle, and fewer people from sixty on."""
    everywhere = np.interp(AGES, [18, 30, 60, 75, 85, 95], [10, 13, 13, 8, 3.5, 0.4])
    band = np.digitize(AGES, [30, 65])
    here: Floats = np.array([district.ages for district in DISTRICTS])[:, band]
    return everywhere * here


def _women_share() -> Floats:
    """Ages × sexes."""
    women = np.interp(AGES, [18, 60, 80, 95], [0.49, 0.505, 0.56, 0.70])
    return np.stack([women, 1 - women], axis=1)


def _education_weights() -> Floats:
    """(Ages, steps of affluence) × levels: later cohorts and rich places stay at school longer; degrees take time."""
    old = np.array([30, 30, 18, 15, 5, 1.6, 0.4])
    young = np.array([2, 11, 27, 20, 26, 12, 2])
    cohort = np.interp(AGES, [30, 85], [1, 0])[:, None]
    weights = cohort * young + (1 - cohort) * old
    level = np.arange(len(EDUCATION))
    soonest = np.array([0, 0, 18, 20, 22, 24, 27])
    weights = weights * (AGES[:, None] >= soonest)
    tilt: Floats = np.array([0.78, 1.0, 1.3])[:, None] ** level  # poor, middling, rich
    tilted: Floats = weights[:, None, :] * tilt
    return tilted.reshape(-1, len(EDUCATION))


def _marital_weights() -> Floats:
    """(Ages, sexes) × states."""
    at = [18, 25, 32, 45, 60, 75, 90]
    curves: dict[str, list[float]] = {
        "Single": [100, 84, 46, 22, 12, 6, 4],
        "Married": [0.2, 10, 42, 57, 60, 55, 28],
        "Civil Partnership": [0, 4, 7, 5, 2, 0.5, 0.1],
        "Separated": [0, 1, 2, 4, 3, 1, 0.3],
        "Divorced": [0, 0.5, 4, 13, 17, 12, 6],
        "Widowed": [0, 0.05, 0.2, 1, 5, 20, 50],
    }
    both = np.stack([np.interp(AGES, at, curves[state]) for state in MARITAL], axis=1)
    widows = np.where(np.array(MARITAL) == "Widowed", np.array([[1.6], [0.5]]), 1.0)  # F, M
    return (both[:, None, :] * widows).reshape(-1, len(MARITAL))


def _occupation_weights() -> Floats:
    """(Ages, levels of education, sexes) × occupations."""
    # Axes: age, education, sex, occupation. The jobs share out who is not student, unemployed or retired.
    jobs = np.array([(job.women, job.men) for job in JOBS.values()]).T
    openness = np.array([job.education for job in JOBS.values()]).T
    work = openness[:, None, :] * jobs[None, :, :]
    work = work / work.sum(axis=2, keepdims=True)

    age = AGES[:, None]
    schooling = np.array([0.2, 0.5, 1.2, 0.6, 1.0, 0.7, 0.1])
    student = np.minimum(np.interp(age, [18, 22, 26, 31, 36], [0.72, 0.55, 0.2, 0.03, 0]) * schooling, 0.92)
    retired = np.interp(age, [56, 62, 66, 70, 80], [0, 0.18, 0.75, 0.95, 0.99]) * np.ones(len(EDUCATION))
    idle = np.array([0.16, 0.12, 0.08, 0.05, 0.04, 0.03, 0.02]) * np.ones_like(student)
    unemployed = (1 - student) * (1 - retired) * idle
    employed = 1 - student - retired - unemployed

    shape = (len(AGES), len(EDUCATION), len(SEXES), len(JOBS))
    working = np.broadcast_to(employed[:, :, None, None] * work, shape)
    resting = np.stack([student, unemployed, retired], axis=2)[:, :, None, :]
    resting = np.broadcast_to(resting, (*shape[:3], len(NOT_EMPLOYED)))
    return np.concatenate([working, resting], axis=3).reshape(-1, len(OCCUPATIONS))


def _illness_weights() -> Floats:
    """(Ages, sexes, occupations, districts) × diagnoses."""
    poverty = -np.array([district.affluence for district in DISTRICTS])
    columns = []
    for illness in ILLNESSES.values():
        by_age = np.interp(AGES, ILLNESS_AGES, illness.ages)
        by_sex = np.array([illness.women, 1.0]) * 2 / (1 + illness.women)
        by_job = np.array([illness.jobs.get(job, 1.0) for job in OCCUPATIONS])
        by_place = 1 + illness.poverty * poverty
        columns.append(np.einsum("a,s,j,d->asjd", by_age, by_sex, by_job, by_place).ravel())
    return np.stack(columns, axis=1)


def _income(
    rng: np.random.Generator, occupation: Ints, education: Ints, age: Ints, sex: Ints, affluence: Floats
) -> Ints:
    """Yearly income, rounded to hundreds: pay grows with age, schooling and the district's affluence, and varies widely."""
    pay = np.array([*(job.pay for job in JOBS.values()), *NOT_EMPLOYED.values()], dtype=float)[occupation]
    works = occupation < len(JOBS)
    career = np.where(works, np.interp(age, [18, 30, 48, 70], [0.62, 0.88, 1.08, 1.0]), 1.0)
    schooling = np.array([0.88, 0.93, 0.98, 1.0, 1.06, 1.14, 1.25])[education]
    pension = np.where(OCCUPATIONS.index("Retired") == occupation, schooling**2, schooling)
    gap = np.where(sex == SEXES.index("F"), 0.90, 1.0)
    spread = np.exp(rng.normal(0.0, np.where(works, 0.25, 0.35)))
    income = pay * career * pension * gap * (1 + 0.13 * affluence) * spread
    return np.minimum(np.round(income / 100) * 100, HIGHEST_INCOME).astype(np.int64)


def _names(rng: np.random.Generator, sex: Ints) -> list[str]:
    """First and last name; a person who shares both with an earlier one gets initials between them."""
    lists: dict[str, Any] = tomllib.loads((_data() / "names.toml").read_text(encoding="utf-8"))
    first_names: list[str] = lists["female"] + lists["male"]
    last_names: list[str] = lists["last"]
    sizes = np.array([len(lists["female"]), len(lists["male"])])
    first = rng.integers(0, sizes[sex]) + np.where(sex == 0, 0, sizes[0])
    last = rng.integers(0, len(last_names), size=len(sex))
    before = pd.Series(first * len(last_names) + last).pipe(lambda code: code.groupby(code).cumcount()).to_numpy()
    middle = [_initials(count) for count in range(int(before.max(initial=0)) + 1)]
    return [f"{first_names[f]} {middle[b]}{last_names[s]}" for f, b, s in zip(first, before, last, strict=True)]


def _initials(count: int) -> str:
    """Nothing, `M. `, `A. `, … `Q. `, `M. M. `, `M. A. `, …: a different text for every count."""
    letters = ""
    while count > 0:
        count, digit = divmod(count - 1, len(INITIALS))
        letters = f"{INITIALS[digit]}. {letters}"
    return letters


def population(people: int = 20_000, seed: int = 7) -> pd.DataFrame:
    """The invented people, one row each, in no particular order; the same seed gives the same town.

    Columns: name (identifier); birth_year, sex, postcode, ethnicity, marital_status, education, occupation
    (quasi-identifiers); disease, income (sensitive). The module says what depends on what.
    """
    if people < 1:
        raise UsageError(f"people must be at least 1. Got {people}.")
    # One random stream per column: a change to one rule does not change the draws of the others.
    streams = iter(np.random.default_rng(seed).spawn(10))
    names, shares, districts, affluences = _postcodes()

    postcode = _draw(next(streams), shares, np.zeros(people, dtype=np.int64))
    district, affluence = districts[postcode], affluences[postcode]
    age = _draw(next(streams), _age_weights(), district)
    sex = _draw(next(streams), _women_share(), age)
    mixes = np.array([district.ethnicities for district in DISTRICTS], dtype=float)
    ethnicity = _draw(next(streams), mixes, district)
    education = _draw(next(streams), _education_weights(), age * 3 + np.digitize(affluence, [-0.25, 0.35]))
    marital = _draw(next(streams), _marital_weights(), age * len(SEXES) + sex)
    schooled = (age * len(EDUCATION) + education) * len(SEXES) + sex
    occupation = _draw(next(streams), _occupation_weights(), schooled)
    income = _income(next(streams), occupation, education, AGES[age], sex, affluence)
    working = (age * len(SEXES) + sex) * len(OCCUPATIONS) + occupation
    disease = _draw(next(streams), _illness_weights(), working * len(DISTRICTS) + district)

    return pd.DataFrame(
        {
            "name": _names(next(streams), sex),
            "birth_year": YEAR - AGES[age],
            "sex": np.array(SEXES, dtype=object)[sex],
            "postcode": np.array(names, dtype=object)[postcode],
            "ethnicity": np.array(ETHNICITIES, dtype=object)[ethnicity],
            "marital_status": np.array(MARITAL, dtype=object)[marital],
            "education": np.array(EDUCATION, dtype=object)[education],
            "occupation": np.array(OCCUPATIONS, dtype=object)[occupation],
            "disease": np.array(tuple(ILLNESSES), dtype=object)[disease],
            "income": income,
        }
    )


def sample(people: pd.DataFrame, share: float, rng: np.random.Generator) -> Bools:
    """Who is in the data, as a mask: exactly round(share · n) people, drawn without replacement."""
    if not 0 <= share <= 1:
        raise UsageError(f"share must be between 0 and 1. Got {share}.")
    members = np.zeros(len(people), dtype=np.bool_)
    members[rng.choice(len(people), size=round(share * len(people)), replace=False)] = True
    return members
