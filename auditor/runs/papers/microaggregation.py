"""Li Xiong's lecture on microaggregation and clustering, after Domingo-Ferrer and Torra 2005 and Aggarwal et al. 2006.

The continuous experiment is on the same data as in the lecture (1080 rows of the Current Population Survey 1995, the Census
file of the CASC project), with its first six columns or all thirteen as quasi-identifiers. MDAV standardises, and gives the
columns back their mean and variance (`restore = true`), which is part of the lecture's method. What is lost is measured over
all thirteen columns. The lecture's curves are pictures that carry no numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from auditor.measure.utility import Case
from auditor.measure.utility.categorical import distance, entropy
from auditor.measure.utility.continuous import relative_changes
from auditor.model.arrays import Floats
from auditor.model.provenance import Provenance
from auditor.model.record.reproduction import Check, Curve, Grid, Outcome, PaperFacts, Picture, Point
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs.papers.item import Cell, Cells, Found, Item, Paper, Result, Settings, cell
from auditor.runs.papers.judging import no_claim, outcome
from auditor.runs.papers.sources import ADULT, CENSUS, Source, roles

LENGTHS, STRENGTHS = (6, 13), (3, 4, 5, 6, 7, 8, 9)
CATEGORIES, CATEGORY_LENGTHS = (2, 3, 5, 9), (3, 4, 8)
MOST_CATEGORICAL = 3000
STAND_IN = roles(
    {
        "quasi": "education workclass marital-status occupation relationship race sex native-country",
        "sensitive": "salary-class",
    },
    {"quasi": "education sex postcode ethnicity marital_status occupation disease", "sensitive": "income"},
)
_KEPT = 1e-6


def _table(name: str, columns: dict[str, list[str]]) -> Table:
    schema = Schema.from_dict({"columns": {column: {"role": "quasi", "type": "numeric"} for column in columns}})
    (table,) = encode(schema, [RawTable(name, columns)])
    return table


def _numbers(release: Release, provenance: Provenance, columns: tuple[str, ...]) -> Floats:
    """The published numbers of each original row."""
    made = []
    for column in columns:
        cells = release.block_of(column).cell(column)[provenance.fragment[:, 0]]
        texts = release.labels[column].texts
        made.append([float(texts[cell]) for cell in cells.tolist()])
    return np.array(made).T


# ----- examples -----------------------------------------------------------------------------------------------------


def five(source: Source) -> Result:
    """The five people of slides 12 to 14: the clusters of MDAV at k = 2, by centre and by range."""
    del source
    table = _table("five", {"age": ["25", "27", "29", "35", "39"], "salary": ["50", "60", "100", "110", "120"]})
    release, provenance = anonymize(table, "mdav", 1, k=2, restore=False)
    centres = _numbers(release, provenance, ("age", "salary"))
    original = np.array([[float(text) for text in table.texts(c)] for c in ("age", "salary")]).T
    found = []
    for number in dict.fromkeys(provenance.bucket.tolist()):
        rows = original[provenance.bucket == number]
        ends = [f"[{low:g}–{high:g}]" for low, high in zip(rows.min(axis=0), rows.max(axis=0), strict=True)]
        centre = centres[provenance.bucket == number][0]
        found.append([f"[{centre[0]:g}, {centre[1]:g}]", " ".join(ends)])
    return {"clusters": sorted(found)}


def _judge_five(found: Found, _: Settings) -> Outcome:
    printed = [["[27, 70]", "[25–29] [50–100]"], ["[37, 115]", "[35–39] [110–120]"]]
    clusters = found["once"]["clusters"]
    checks = []
    for place, (centre, ranges) in enumerate(printed):
        got = clusters[place] if place < len(clusters) else ["none", "none"]
        checks.append(Check(f"cluster {place + 1}: centre", centre, got[0], got[0] == centre))
        checks.append(Check(f"cluster {place + 1}: ranges", ranges, got[1], got[1] == ranges))
    return outcome(checks, data="the five people of the slides")


BINARY = ("0111", "1011", "1101", "1110", "1111")


def binary(source: Source, method: str, seed: int) -> Result:
    """Rows of four binary columns in one cluster of five: the published centre, and the distance of its farthest row."""
    del source
    table = _table("binary", {f"c{j}": [row[j] for row in BINARY] for j in range(4)})
    least: dict[str, Any] = {"k": 5} if method == "mondrian" else {"r": 5}
    release, provenance = anonymize(table, method, seed, **least)
    columns = tuple(f"c{j}" for j in range(4))
    labels = {c: {release.labels[c].texts[i] for i in release.block_of(c).cell(c).tolist()} for c in columns}
    shown = [" or ".join(sorted(labels[c])) for c in columns]
    found: dict[str, Any] = {"shown": shown}
    if method != "mondrian":
        centre = _numbers(release, provenance, columns)
        original = np.array([[float(bit) for bit in row] for row in BINARY])
        found["radius"] = float(np.abs(original - centre).sum(axis=1).max())
    return found


def _judge_binary(found: Found, settings: Settings) -> Outcome:
    gathered = [found["rgather", s] for s in settings.draws]
    centres = sorted({f"({', '.join(one['shown'])})" for one in gathered})
    radii = sorted({one["radius"] for one in gathered})
    wide = found["mondrian", 1]["shown"]
    hidden = all(text not in ("0", "1") for text in wide)
    checks = [
        Check("r-gather: centre", "(1, 1, 1, 1)", " or ".join(centres), centres == ["(1, 1, 1, 1)"]),
        Check("r-gather: radius", "1", " or ".join(f"{r:g}" for r in radii), radii == [1.0]),
        Check("generalisation", "suppresses all attributes", ", ".join(wide), hidden),
    ]
    rows = [
        (m, ", ".join(found[m, s]["shown"]), f"{found[m, s]['radius']:g}")
        for m in ("rgather", "rcellular")
        for s in settings.draws
    ]
    table = Grid("Centres by seed", ("method", "centre", "radius"), tuple(rows), numeric=False)
    return outcome(checks, tables=[table], data="five rows of four binary columns")


def _binary_cells(settings: Settings) -> Cells:
    made: dict[Hashable, Cell] = {
        (m, s): cell(binary, method=m, seed=s) for m in ("rgather", "rcellular") for s in settings.draws
    }
    return {**made, ("mondrian", 1): cell(binary, method="mondrian", seed=1)}


# ----- experiments --------------------------------------------------------------------------------------------------


def continuous(source: Source, length: int, k: int) -> Result:
    """IL1 … IL6 over all columns of Census, the first `length` of them microaggregated."""
    names, original = source.census()
    columns = {
        name: {"role": "quasi" if place < length else "neutral", "type": "numeric"} for place, name in enumerate(names)
    }
    cells = {name: [format(value, ".15g") for value in original[:, j].tolist()] for j, name in enumerate(names)}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("census", cells)])
    release, provenance = anonymize(table, "mdav", 1, k=k, restore=True)
    changed = relative_changes(original, _numbers(release, provenance, names))
    return {**changed.values, "data": source.about(table)}


def _judge_continuous(found: Found, _: Settings) -> Outcome:
    checks = []
    for name, what in (("IL2", "means"), ("IL3", "variances")):
        worst = max(one[name] for one in found.values())
        checks.append(Check(f"{what}: greatest mean change ({name})", "0", f"{worst:.1e}", worst < _KEPT))
    for name, what in (("IL1", "values"), ("IL4", "covariances"), ("IL5", "correlations")):
        more = sum(found[13, k][name] > found[6, k][name] for k in STRENGTHS)
        what_of = f"{what} ({name}): more with 13 quasi-identifiers than with 6"
        checks.append(Check(what_of, "at every k", f"at {more} of {len(STRENGTHS)} k", more == len(STRENGTHS)))
        for length in LENGTHS:
            series = [found[length, k][name] for k in STRENGTHS]
            up = sum(b > a for a, b in pairwise(series))
            told = f"{series[0]:.3g} at k = 3, {series[-1]:.3g} at k = 9; up in {up} of {len(series) - 1} steps"
            trend = up > (len(series) - 1) / 2 and series[-1] > series[0]
            checks.append(Check(f"{what} ({name}), {length} quasi-identifiers: grows with k", "grows", told, trend))
    pictures = [
        Picture(
            f"{name}: mean change of {what}",
            "k",
            name,
            tuple(
                Curve(f"{length} quasi-identifiers", tuple(Point(str(k), found[length, k][name]) for k in STRENGTHS))
                for length in LENGTHS
            ),
        )
        for name, what in (("IL1", "values"), ("IL5", "correlations"))
    ]
    why = (
        "MDAV draws nothing, so there is one run and no interval. “Grows with k” is read as a trend: up in most steps."
    )
    return outcome(checks, why, pictures=pictures, data=found[6, 3]["data"])


def categorical(source: Source, length: int, k: int, ordinal: str) -> Result:
    """Dist and EBIL over all categorical columns of a stand-in for the Housing Survey."""
    table = source.people(STAND_IN)
    wanted = [*table.schema.quasi]
    columns: dict[str, dict[str, Any]] = {}
    for place, column in enumerate(wanted):
        columns[column] = {
            "role": "quasi" if place < length else "sensitive",
            "type": "ordinal" if place == 0 else "nominal",
        }
        if place == 0:
            columns[column]["order"] = list(table.domains[column].texts)
    cells = {column: table.texts(column)[:MOST_CATEGORICAL] for column in wanted}
    (part,) = encode(Schema.from_dict({"columns": columns}), [RawTable(table.name, cells)])
    release, provenance = anonymize(part, "mdav", 1, k=k, ordinal=ordinal)
    case = Case(release, part, provenance.fragment, k, 1)
    return {"Dist": distance(case)[0].value, "EBIL": entropy(case)[0].value, "data": source.about(part)}


def _judge_categorical(found: Found, _: Settings) -> Outcome:
    pictures = [
        Picture(
            f"{name} of the stand-in, by k",
            "k",
            name,
            tuple(
                Curve(f"{length} quasi-identifiers", tuple(Point(str(k), found[length, k][name]) for k in CATEGORIES))
                for length in CATEGORY_LENGTHS
            ),
        )
        for name in ("Dist", "EBIL")
    ]
    steps = list(pairwise(CATEGORIES))
    with_k = sum(found[n, b][m] > found[n, a][m] for n in CATEGORY_LENGTHS for a, b in steps for m in ("Dist", "EBIL"))
    lengths = list(pairwise(CATEGORY_LENGTHS))
    with_length = sum(found[b, k][m] > found[a, k][m] for a, b in lengths for k in CATEGORIES for m in ("Dist", "EBIL"))
    return no_claim(
        "Data absent: the Housing Survey of 1993 is not to be had, and the slides' curves carry no numbers. On a stand-in "
        f"with the same kinds of columns the loss grows with k in {with_k} of {2 * len(steps) * len(CATEGORY_LENGTHS)} steps "
        f"and with the number of quasi-identifiers in {with_length} of {2 * len(lengths) * len(CATEGORIES)}.",
        pictures=pictures,
        data=found[3, 2]["data"],
    )


MICROAGGREGATION = Paper(
    PaperFacts(
        "004",
        "microaggregation and clustering",
        "Li Xiong, “Anonymization Algorithms: Microaggregation and Clustering”, lecture, after Domingo-Ferrer and Torra 2005 "
        "and Aggarwal et al. 2006",
    ),
    (
        Item(
            "004.five",
            "Slides 12 to 14",
            "Five people at k = 2 become two clusters.",
            "centres [27, 70] and [37, 115]; ranges [25–29] [50–100] and [35–39] [110–120]",
            "exact",
            lambda _: {"once": cell(five)},
            _judge_five,
        ),
        Item(
            "004.binary",
            "Slides 15 and 16",
            "Where no attribute has a common value, generalisation suppresses all and clustering publishes a centre.",
            "centre (1, 1, 1, 1), radius 1",
            "exact, with every seed",
            _binary_cells,
            _judge_binary,
        ),
        Item(
            "004.continuous",
            "Slides 22 to 24",
            "MDAV keeps means and variances; what else it changes grows with the number of quasi-identifiers and with k.",
            "no number",
            "means and variances to a millionth; more with 13 than with 6 at every k; with k in most steps",
            lambda _: {(n, k): cell(continuous, length=n, k=k) for n in LENGTHS for k in STRENGTHS},
            _judge_continuous,
            (CENSUS,),
        ),
        Item(
            "004.categorical",
            "Slides 22 and 25 to 27",
            "For categorical columns too, the loss grows with k and with the number of quasi-identifiers.",
            "curves without numbers, on the Housing Survey of 1993",
            "–",
            lambda _: {
                (n, k): cell(categorical, length=n, k=k, ordinal="median") for n in CATEGORY_LENGTHS for k in CATEGORIES
            },
            _judge_categorical,
            (ADULT,),
        ),
    ),
)
