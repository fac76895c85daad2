"""What values mean that are words: sex, marital status, schools, occupations, countries, diseases, ladders.

These short lists serve to recognise a column, never to check it: a column counts as marital status if most of its cells
contain such a word. Mainly English, with the most common words of German, French and Spanish.

`ladder` knows a few orders that cannot be read otherwise (low, medium, high) and ranges of numbers (`20-29`, `<20`, `90+`).
Schools are not a ladder here: their order differs from country to country, and a wrong one does more harm than none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from auditor.profiling.words import Concept, folded, listed

_SEXES = listed(
    "m f w male female man woman men women boy girl männlich maennlich mannlich weiblich homme femme masculin feminin "
    "hombre mujer masculino femenino h divers diverse other nonbinary x"
)

_VALUES: dict[Concept, frozenset[str]] = {
    Concept.MARITAL: listed(
        "married divorced widowed single separated spouse unmarried widow widower cohabiting partnership verheiratet "
        "geschieden verwitwet ledig marie mariee divorce divorcee veuf veuve celibataire casado casada divorciado "
        "viudo viuda soltero soltera"
    ),
    Concept.HOUSEHOLD: listed("family husband wife child son daughter father mother head relative grandchild sibling"),
    Concept.EDUCATION: listed(
        "bachelor bachelors master masters doctorate phd school preschool grad college diploma secondary primary "
        "tertiary university assoc elementary kindergarten 1st 4th 5th 6th 7th 8th 9th 10th 11th 12th abitur "
        "realschule hauptschule gymnasium baccalaureat licence bachillerato"
    ),
    Concept.ETHNICITY: listed(
        "white black asian african european hispanic latino latina caucasian indigenous eskimo amer roma mestizo arab "
        "polynesian mixed"
    ),
    Concept.EMPLOYER: listed("private gov government self employed unemployed retired employee freelance public"),
    Concept.OCCUPATION: listed(
        "nurse teacher engineer clerk manager managerial driver physician doctor lawyer accountant programmer builder "
        "cook cleaner cleaners sales clerical craft repair farmer farming fishing transport moving service serv "
        "protective support specialty machine operator student secretary technician tech scientist artist police "
        "soldier electrician plumber carpenter mechanic salesman consultant analyst professor waiter armed priv "
        "handlers"
    ),
    Concept.RELIGION: listed(
        "christian catholic protestant muslim jewish hindu buddhist sikh orthodox atheist agnostic islam christianity "
        "judaism katholisch evangelisch konfessionslos catholique musulman catolico"
    ),
    Concept.POLITICS: listed("republican democrat conservative labour liberal socialist green independent left right"),
    Concept.SEX_LIFE: listed("heterosexual homosexual bisexual gay lesbian straight asexual"),
    Concept.HEALTH: listed(
        "flu influenza asthma bronchitis cancer diabetes hypertension hiv aids hepatitis tuberculosis pneumonia "
        "gastritis ulcer migraine depression anxiety dementia stroke allergy arthritis schizophrenia epilepsy anemia "
        "covid covid19 malaria leukemia tumor tumour fracture infection dyspepsia obesity alzheimer parkinson disease "
        "disorder syndrome healthy grippe krebs rheuma bluthochdruck schlaganfall diabete hta cancer sida gripe "
        "neumonia heart coronary"
    ),
}

_COUNTRIES = listed(
    "afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain "
    "bangladesh barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil brunei bulgaria burundi "
    "cambodia cameroon canada chad chile china colombia columbia comoros congo croatia cuba cyprus czechia denmark "
    "djibouti dominica ecuador egypt elsalvador england eritrea estonia eswatini ethiopia fiji finland france gabon "
    "gambia georgia germany ghana greece grenada guatemala guinea guyana haiti honduras hong hungary iceland india "
    "indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kiribati korea kosovo kuwait "
    "kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar malawi "
    "malaysia maldives mali malta mauritania mauritius mexico micronesia moldova monaco mongolia montenegro morocco "
    "mozambique myanmar namibia nauru nepal netherlands holand nicaragua niger nigeria norway oman pakistan palau "
    "palestine panama paraguay peru philippines poland portugal puertorico qatar romania russia rwanda samoa scotland "
    "senegal serbia seychelles singapore slovakia slovenia somalia south spain sudan suriname sweden switzerland "
    "syria taiwan tajikistan tanzania thailand togo tonga trinadad trinidad tunisia turkey turkmenistan tuvalu uganda "
    "ukraine uruguay uzbekistan vanuatu venezuela vietnam wales yemen yugoslavia zambia zimbabwe unitedstates "
    "unitedkingdom usa uk us uae unitedarabemirates newzealand srilanka saudiarabia dominicanrepublic czechrepublic "
    "southafrica southkorea northkorea costarica papuanewguinea sierraleone burkinafaso deutschland osterreich "
    "schweiz frankreich italien spanien polen turkei allemagne suisse espagne italie alemania francia espana suiza"
)

_LADDERS = tuple(
    tuple(step.strip() for step in line.split("<"))
    for line in (
        "very low < low < medium < high < very high",
        "very low < low < moderate < high < very high",
        "low < middle < high",
        "none < mild < moderate < severe < very severe",
        "never < rarely < sometimes < often < always",
        "strongly disagree < disagree < neutral < agree < strongly agree",
        "very dissatisfied < dissatisfied < neutral < satisfied < very satisfied",
        "very poor < poor < fair < good < very good < excellent",
        "very bad < bad < average < good < very good",
        "xs < s < m < l < xl < xxl",
        "tiny < small < medium < large < huge",
        "young < middle aged < old",
        "sehr niedrig < niedrig < mittel < hoch < sehr hoch",
        "faible < moyen < eleve",
        "tres faible < faible < moyenne < elevee",
        "muy bajo < bajo < medio < alto < muy alto",
        "i < ii < iii < iv < v",
    )
)
_LONGEST_STEP = 40
_RANGE = re.compile(r"(\d+)\s*(?:-|–|to|bis)\s*(\d+)", re.ASCII)
_BELOW = re.compile(r"(?:<|<=|≤|under|below|unter)\s*(\d+)", re.ASCII)
_ABOVE = re.compile(r"(?:>|>=|≥|over|above|über)\s*(\d+)|(\d+)\s*(?:\+|and over|and older)", re.ASCII)


def is_sex(text: str) -> bool:
    """A word for a sex."""
    return folded(text) in _SEXES


def is_country(text: str) -> bool:
    """A country's name, possibly as part of a longer one."""
    parts = re.split(r"[^a-z]+", folded(text))
    return "".join(parts) in _COUNTRIES or any(part in _COUNTRIES for part in parts if len(part) > 3)


def speaks_of(concept: Concept, text: str) -> bool:
    """Whether a value contains a word of a concept."""
    return any(word in _VALUES[concept] for word in re.split(r"[^a-z0-9]+", folded(text)))


WORDED = tuple(_VALUES)  # the concepts with a word list for values


def ladder(values: Sequence[str]) -> tuple[str, ...] | None:
    """Values in their order, lowest first, if it is obvious: steps of a known ladder, or ranges of numbers."""
    if not 3 <= len(values) <= 60 or any(len(value) > _LONGEST_STEP for value in values):
        return None
    plain = {" ".join(re.split(r"[^\w]+", folded(value))).strip(): value for value in values}
    if len(plain) == len(values):
        for steps in _LADDERS:
            if set(plain) <= set(steps):
                return tuple(plain[step] for step in steps if step in plain)
    return _ranges(values)


def _ranges(values: Sequence[str]) -> tuple[str, ...] | None:
    """Ranges of numbers by their bounds, if no two overlap."""
    bounds: list[tuple[float, float, str]] = []
    for value in values:
        text = folded(value).strip()
        if found := _RANGE.fullmatch(text):
            bounds.append((float(found[1]), float(found[2]), value))
        elif found := _BELOW.fullmatch(text):
            bounds.append((float("-inf"), float(found[1]), value))
        elif found := _ABOVE.fullmatch(text):
            bounds.append((float(found[1] or found[2]), float("inf"), value))
        else:
            return None
    bounds.sort()
    ordered = all(low <= high for low, high, _ in bounds)
    apart = all(one[1] <= other[0] and one[0] < other[0] for one, other in pairwise(bounds))
    return tuple(value for _, _, value in bounds) if ordered and apart else None
