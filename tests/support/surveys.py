"""Tables of made-up people in the shapes that foreign files have: a household survey shaped like EU-SILC, with its cryptic
names, its plain numbers for people and households and its incomes by source; and a small clinical trial. Beside each stand
the roles that a person would choose who thinks: who could know this, and who must not learn it?

All values are drawn from distributions of our own; nobody in them exists.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

INCOMES = {
    "py010n": (0.55, 21_000),  # employees
    "py050n": (0.10, 14_000),  # self-employed
    "py090n": (0.06, 6_500),  # unemployment
    "py100n": (0.22, 15_000),  # old age
    "py110n": (0.03, 9_000),  # survivors
    "py120n": (0.03, 4_000),  # sickness
    "py130n": (0.04, 9_500),  # disability
    "py140n": (0.03, 2_500),  # education
}
"""Incomes of a person by source: the share of adults who have some, and about how much."""
OF_HOUSEHOLDS = {
    "hy040n": (0.05, 5_000),  # rent from property
    "hy050n": (0.30, 4_000),  # families
    "hy070n": (0.08, 1_800),  # housing allowances
    "hy080n": (0.06, 3_000),  # transfers from other households
    "hy090n": (0.60, 400),  # interest
    "hy110n": (0.02, 2_000),  # people under sixteen
    "hy130n": (0.06, 3_500),  # transfers to other households
    "hy145n": (0.35, 900),  # repayments of tax
}
"""The same for households."""

SURVEY_ROLES = {
    "db030": "household",
    "hsize": "quasi",
    "db040": "quasi",
    "rb030": "identifier",
    "age": "quasi",
    "rb090": "quasi",
    "pl030": "quasi",
    "pb220a": "quasi",
    **dict.fromkeys((*INCOMES, *OF_HOUSEHOLDS), "sensitive"),
    "eqSS": "quasi",
    "eqIncome": "sensitive",
    "db090": "weight",
    "rb050": "weight",
}
TRIAL_ROLES = {
    "USUBJID": "identifier",
    "SITEID": "quasi",
    "ARM": "sensitive",
    "AGE": "quasi",
    "SEX": "quasi",
    "RACE": "quasi",
    "COUNTRY": "quasi",
    "HEIGHT": "quasi",
    "WEIGHT": "quasi",
    "BMI": "sensitive",
    "RANDDT": "quasi",
    "SYSBP": "sensitive",
    "DIABP": "sensitive",
    "HBA1C": "sensitive",
    "CREAT": "sensitive",
    "PLATELETS": "sensitive",
    "SMOKER": "sensitive",
    "AETERM": "sensitive",
    "AESEV": "sensitive",
    "DTHFL": "sensitive",
}

REGIONS = ("Northmark", "Eastvale", "Southfell", "Westholm", "Midland", "Lakes", "Coast", "Hills", "Capital")


def _amounts(draw: np.random.Generator, rows: int, share: float, about: float) -> np.ndarray:
    """Amounts of money in cents: most people have none from this source."""
    return np.where(draw.random(rows) < share, np.round(draw.lognormal(np.log(about), 0.6, rows), 2), 0.0)


def survey(households: int, seed: int) -> pd.DataFrame:
    """A survey with a row for each person, the people of a household below each other. Children have no activity, citizenship
    or income of their own: those cells are missing."""
    draw = np.random.default_rng(seed)
    sizes = draw.choice([1, 2, 3, 4, 5, 6], households, p=[0.3, 0.31, 0.16, 0.14, 0.07, 0.02])
    home = np.repeat(np.arange(households), sizes)
    member = np.concatenate([np.arange(1, size + 1) for size in sizes])
    rows = len(home)
    head = draw.integers(22, 88, households)[home]
    age = np.where(member == 1, head, np.where(member == 2, head - draw.integers(-4, 9, rows), 0))
    age = np.where(member > 2, np.maximum(head - draw.integers(22, 38, rows), 0), age).clip(0, 95)
    adult = age >= 16
    sex = np.where(draw.random(rows) < 0.51, "female", "male")
    status = np.where(age >= 65, 5, draw.choice([1, 2, 3, 4, 7], rows, p=[0.55, 0.16, 0.08, 0.08, 0.13]))
    citizen = draw.choice(["AT", "EU", "Other"], rows, p=[0.88, 0.05, 0.07])
    data: dict[str, object] = {
        "db030": home + 1,
        "hsize": sizes[home],
        "db040": draw.choice(REGIONS, households)[home],
        "rb030": (home + 1) * 100 + member,
        "age": age,
        "rb090": sex,
        "pl030": pd.array(np.where(adult, status, 0), dtype="Int64"),
        "pb220a": np.where(adult, citizen, None),
    }
    for name, (share, about) in INCOMES.items():
        data[name] = np.where(adult, _amounts(draw, rows, share, about), np.nan)
    for name, (share, about) in OF_HOUSEHOLDS.items():
        data[name] = _amounts(draw, households, share, about)[home]
    made = pd.DataFrame(data)
    made.loc[~adult, "pl030"] = pd.NA
    grown = np.bincount(home, adult, households)
    equal = 1 + 0.5 * np.maximum(grown - 1, 0) + 0.3 * (sizes - np.maximum(grown, 1))
    own = np.bincount(home, made[list(INCOMES)].sum(axis=1).to_numpy(), households)
    shared = made.groupby("db030")[list(OF_HOUSEHOLDS)].first().sum(axis=1).to_numpy()
    made["eqSS"] = np.round(equal, 1)[home]
    made["eqIncome"] = np.round((own + shared) / equal, 2)[home]
    weight = np.round(draw.normal(760, 180, households).clip(120), 4)
    made["db090"] = weight[home]
    made["rb050"] = weight[home]
    return made[list(SURVEY_ROLES)]


def trial(patients: int, seed: int) -> pd.DataFrame:
    """A clinical trial with a row for each patient, under the names that trials use."""
    draw = np.random.default_rng(seed)
    site = draw.integers(101, 113, patients)
    height = np.round(draw.normal(170, 9, patients), 1)
    weight = np.round(draw.normal(80, 15, patients).clip(42), 1)
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(draw.integers(0, 400, patients), unit="D")
    events = ["Headache", "Nausea", "Fatigue", "Dizziness", "Rash", "Pneumonia", "Diarrhoea"]
    data: dict[str, object] = {
        "USUBJID": [f"XY-001-{s}-{number:04d}" for number, s in enumerate(site, 1)],
        "SITEID": site,
        "ARM": draw.choice(["Placebo", "Drug X 10 mg", "Drug X 20 mg"], patients),
        "AGE": draw.integers(18, 86, patients),
        "SEX": draw.choice(["F", "M"], patients),
        "RACE": draw.choice(
            ["WHITE", "ASIAN", "BLACK OR AFRICAN AMERICAN", "OTHER"], patients, p=[0.7, 0.14, 0.12, 0.04]
        ),
        "COUNTRY": draw.choice(["DEU", "FRA", "ESP", "POL"], patients),
        "HEIGHT": height,
        "WEIGHT": weight,
        "BMI": np.round(weight / (height / 100) ** 2, 1),
        "RANDDT": day.strftime("%Y-%m-%d"),
        "SYSBP": draw.normal(135, 16, patients).astype(int),
        "DIABP": draw.normal(84, 10, patients).astype(int),
        "HBA1C": np.round(draw.normal(7.4, 1.1, patients), 1),
        "CREAT": np.round(draw.normal(81, 17, patients), 1),
        "PLATELETS": draw.normal(250_000, 60_000, patients).astype(int),
        "SMOKER": draw.choice(["Y", "N"], patients, p=[0.22, 0.78]),
        "AETERM": draw.choice(events, patients),
        "AESEV": draw.choice(["MILD", "MODERATE", "SEVERE"], patients, p=[0.6, 0.3, 0.1]),
        "DTHFL": np.where(draw.random(patients) < 0.03, "Y", None),
    }
    return pd.DataFrame(data)[list(TRIAL_ROLES)]


def as_r(table: pd.DataFrame) -> str:
    """A table as R's `write.csv` writes it: a first column of row names without a name, texts in quotes, `NA`."""
    lines = [",".join(['""', *(f'"{name}"' for name in table.columns)])]
    for number, row in enumerate(table.astype(object).itertuples(index=False), 1):
        cells = ["NA" if pd.isna(cell) else f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row]
        lines.append(",".join([f'"{number}"', *cells]))
    return "\n".join(lines) + "\n"
