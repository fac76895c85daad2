"""Poovammal and Ponnaivaikko on graded grouping and aliases: what linking learns, what mining loses, what can be guessed.

The paper filled in everybody's choice by hand, by the tendency of the value with a few exceptions. Here the commoner a value,
the more openly it is shown: of three parts of the people, by how common their value is, the first choose 1, the second 2,
the last 3, and a share of `EXCEPTIONS` choose one of the others. Trees are scikit-learn's (CART, nominal columns as one
column a value); the paper used Weka's C4.5, which is about as good.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Floats, Ints
from auditor.model.key import Aliases
from auditor.model.provenance import Provenance
from auditor.model.record.record import OK, Risk
from auditor.model.record.reproduction import Check, Curve, Grid, Outcome, PaperFacts, Picture, Point
from auditor.model.release import Release
from auditor.model.schema import Role, Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode
from auditor.runs.papers.item import Cells, Found, Item, Paper, Result, Settings, cell
from auditor.runs.papers.judging import Figure, is_less, no_claim, outcome, within
from auditor.runs.papers.sources import ADULT, ADULT_TEST, Source, roles
from auditor.runs.redteaming import redteam
from scenarios.options import Options
from scenarios.scenario import read_scenario

PEOPLE = roles(
    {"sensitive": "age education", "quasi": "sex race workclass marital-status occupation"},
    {"sensitive": "income disease", "quasi": "sex ethnicity education marital_status occupation"},
    both=True,
)
EXCEPTIONS = 0.05
FOLDS = 3
MOST_ATTACKED = 10_000
_CHOICE = "choice"
_LEAF, _PRUNING = 25, 0.0001
_SAME, _SAME_EDUCATION = 0.005, 0.01
TREES = {
    "workclass": (74.87, 74.87),
    "education": (41.67, 39.64),
    "marital-status": (69.36, 69.36),
    "occupation": (32.23, 32.23),
}
"""Table V: the accuracy in percent in T and in T′."""
_IN_TOWN = {"workclass": "ethnicity", "education": "disease", "marital-status": "marital_status"}
"""What stands for Adult's columns in the town."""
PAPER_SECONDS = 28.0


def chosen(source: Source, seed: int) -> Table:
    """The paper's table with everybody's choice."""
    table = source.people(PEOPLE)
    about = table.schema.sensitive[1]
    counts = table.counts(about)
    common = np.argsort(
        np.argsort(-counts, kind="stable"), kind="stable"
    )  # the rank of each value, the commonest first
    before = np.concatenate([[0], np.cumsum(np.sort(counts)[::-1])])[common] + counts / 2
    tendency = 1 + np.minimum((3 * before / counts.sum()).astype(np.int64), 2)
    choice = tendency[table.codes[about]]
    rng = stage(seed, "choices")
    other = rng.random(table.rows) < EXCEPTIONS
    choice = np.where(other, 1 + (choice - 1 + rng.integers(1, 3, table.rows)) % 3, choice)
    column = Schema.from_dict({"columns": {_CHOICE: {"role": "choice"}}}).columns[_CHOICE]
    schema = replace(table.schema, columns={**table.schema.columns, _CHOICE: column})
    (extra,) = encode(
        Schema.from_dict({"columns": {_CHOICE: {"role": "choice"}}}),
        [RawTable(table.name, {_CHOICE: [str(one) for one in choice.tolist()]})],
    )
    return replace(
        table,
        schema=schema,
        domains={**table.domains, **extra.domains},
        codes={**table.codes, **extra.codes},
    )


def texts(release: Release, provenance: Provenance, column: str) -> list[str]:
    """What is published of each original row."""
    cells = release.block_of(column).cell(column)[provenance.fragment[:, 0]]
    return [release.labels[column].texts[cell] for cell in cells.tolist()]


# ----- the printed examples -----------------------------------------------------------------------------------------


def tables(source: Source, person: str) -> Result:
    """What the attacks find out about one person of the running example, by table, attack and measure."""
    del source
    scenario = read_scenario("hospital")
    once = {**scenario.options.settings, "homogeneity": {"reading": "distinct"}}  # values counted once, as printed
    again = replace(scenario, options=replace(scenario.options, attacks=("homogeneity",), settings=once))
    found = {}
    for record in (*redteam(scenario, targets=[person]).records, *redteam(again, targets=[person]).records):
        for risk in record.risks:
            if risk.status == OK and risk.value is not None and str(risk.link) in ("None", "class"):
                found[f"{record.release.name}/{_figure(risk)}"] = risk.value
    return found


def _figure(risk: Risk) -> str:
    return "/".join(
        [
            risk.attack,
            risk.measure,
            *(f"{k}={v}" for k, v in sorted(risk.params.items()) if k in ("reading", "width", "epsilon")),
        ]
    )


PRINTED = (
    ("Barbie", "Table I: Barbie is linked to her record", "Table I/linking/success", 1.0),
    ("Girija", "Table III: Girija's disease", "Table III/homogeneity/success", 1.0),
    (
        "Girija",
        "Table IV: Girija's disease, values counted once",
        "Table IV/homogeneity/success/reading=distinct",
        0.5,
    ),
    ("Girija", "Table IV: an unrelated disease, values counted once", "Table IV/divergence/mean/reading=distinct", 0.5),
    ("Girija", "Table IV: income in [10000, 10030]", "Table IV/proximity/window/width=30.0", 0.75),
    ("Girija", "Table IV: the exact income", "Table IV/proximity/mean/epsilon=0.0", 0.25),
)


def _judge_tables(found: Found, _: Settings) -> Outcome:
    checks = []
    for person, what, where, printed in PRINTED:
        value = next((v for name, v in found[person].items() if name.startswith(where)), None)
        told = "not found" if value is None else f"{100 * value:g} %"
        checks.append(Check(what, f"{100 * printed:g} %", told, value is not None and abs(value - printed) < 1e-9))
    own = {
        name: [v for n, v in found["Girija"].items() if n.startswith("Table IV/homogeneity/success") and mark(n)]
        for name, mark in (
            ("distinct", lambda n: n.endswith("=distinct")),
            ("rows", lambda n: not n.endswith("=distinct")),
        )
    }
    told = ", ".join(f"{100 * values[0]:g} % by {name}" for name, values in own.items() if values)
    note = f"Girija's own disease in Table IV has 50 % in print, where every value counts once; here: {told}."
    return outcome(checks, notes=[note], data="the seven patients of Tables I to IV")


def graded(source: Source) -> Result:
    """The paper's example of graded numbers: one category from 10 to 40."""
    del source
    schema = Schema.from_dict({"columns": {"age": {"role": "sensitive", "type": "numeric"}}})
    (table,) = encode(schema, [RawTable("ages", {"age": ["10", "21", "22", "40"]})])
    release, provenance = anonymize(table, "grading", 0, categories=1, bounds=[["age", 10, 40]])
    return dict(zip(table.texts("age"), texts(release, provenance, "age"), strict=True))


def _judge_graded(found: Found, _: Settings) -> Outcome:
    checks = []
    for number, printed in (("21", "1.366"), ("22", "1.4"), ("40", "1.999")):
        value = found["ages"][number]
        checks.append(Check(f"{number} in the category from 10 to 40", printed, value, value.startswith(printed)))
    return outcome(checks, data="the paper's example")


# ----- mining -------------------------------------------------------------------------------------------------------


def mined(source: Source, target: str, seed: int) -> Result:
    """The cross-validated share of right predictions of one column, in T and in T′."""
    table = chosen(source, seed)
    release, provenance = anonymize(table, "grading", seed)
    columns = [c for c in table.codes if table.schema.columns[c].role is not Role.CHOICE]
    before: dict[str, list[str]] = {c: table.texts(c) for c in columns}
    after = {c: texts(release, provenance, c) for c in columns}
    number, column = table.schema.sensitive[0], target if target in columns else _IN_TOWN[target]
    return {
        "T": _cross_validated(before, number, column, seed),
        "T'": _cross_validated(after, number, column, seed),
        "data": source.about(table),
    }


def _cross_validated(columns: dict[str, list[str]], number: str, target: str, seed: int) -> float:
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    parts: list[Floats] = [np.array(columns[number], dtype=np.float64)[:, None]]
    for name, cells in columns.items():
        if name not in (number, target):
            values, code = np.unique(cells, return_inverse=True)
            parts.append(np.eye(len(values))[code])
    tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, ccp_alpha=_PRUNING, random_state=0)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    y: Ints = np.unique(columns[target], return_inverse=True)[1].astype(np.int64)
    return float(cross_val_score(tree, np.column_stack(parts).astype(np.float32), y, cv=folds).mean())


def _mean(found: Found, settings: Settings, target: str, what: str) -> Figure:
    return Figure.of(found[target, s][what] for s in settings.draws)


def _judge_trees(found: Found, settings: Settings) -> Outcome:
    checks, rows = [], []
    for target, (before, after) in TREES.items():
        t, given = (_mean(found, settings, target, what) for what in ("T", "T'"))
        change, printed = given.minus(t), (after - before) / 100
        tolerance = _SAME_EDUCATION if printed else _SAME
        what = f"{target}: change from T to T′"
        check = within(what, f"{100 * printed:+.2f} points", change, printed, tolerance)
        checks.append(Check(what, check.printed, _points(change), check.holds))
        rows.append((target, f"{before:.2f}", t.percent(2), f"{after:.2f}", given.percent(2)))
    headings = ("attribute", "T, paper", "T, found", "T′, paper", "T′, found")
    table = Grid(f"Table V: accuracy of a tree, {FOLDS} folds", headings, tuple(rows))
    pictures = [
        Picture(
            "Figure 4: accuracy in T and T′, in percent",
            "attribute",
            "accuracy, %",
            tuple(
                Curve(name, tuple(Point(t, 100 * _mean(found, settings, t, key).mean) for t in TREES))
                for name, key in (("T", "T"), ("T′", "T'"))
            ),
            bars=True,
        )
    ]
    return outcome(checks, tables=[table], pictures=pictures, data=found["education", 1]["data"])


def _points(change: Figure) -> str:
    ends = change.ends
    shown = f"{100 * change.mean:+.2f} points"
    return shown if ends is None else f"{shown} [{100 * ends[0]:+.2f}, {100 * ends[1]:+.2f}]"


def _tree_cells(settings: Settings) -> Cells:
    return {(t, s): cell(mined, target=t, seed=s) for t in TREES for s in settings.draws}


def seconds(source: Source) -> Result:
    """Processor seconds to make T′."""
    table = chosen(source, 1)
    start = time.process_time()
    anonymize(table, "grading", 1)
    return {"seconds": time.process_time() - start, "rows": table.rows, "data": source.about(table)}


def _judge_seconds(found: Found, settings: Settings) -> Outcome:
    spent, data = found["once"]["seconds"], found["once"]["data"]
    if not settings.timed:
        return no_claim("Time was not taken in this run, and the paper counts no operations.", data=data)
    return outcome([Check("processor seconds", "28", f"{spent:.1f}", spent <= PAPER_SECONDS)], data=data)


# ----- distributions ------------------------------------------------------------------------------------------------


def marginals(source: Source) -> Result:
    """How people are spread over two columns in T and in T′: as published, and decoded with the key."""
    table = chosen(source, 1)
    release, provenance = anonymize(table, "grading", 1)
    assert provenance.key is not None
    found: dict[str, Any] = {"data": source.about(table)}
    open_column, graded_column = table.schema.quasi[2], table.schema.sensitive[1]
    for name, column in (("open", open_column), ("graded", graded_column)):
        before, after = table.texts(column), texts(release, provenance, column)
        values = sorted(set(before), key=lambda v: (-before.count(v), v))
        key = provenance.key.columns.get(column)
        names: dict[str, str] = {}
        if isinstance(key, Aliases):
            names = {
                name: value for row in (key.alias1, key.alias2) for name, value in zip(row, key.values, strict=True)
            }
        meant = [names.get(text, text) for text in after]
        found[name] = {
            "column": column,
            "values": values,
            "T": [before.count(v) for v in values],
            "T'": [after.count(v) for v in values],
            "decoded": [meant.count(v) for v in values],
            "names": len(set(after)),
        }
    return found


def _apart(one: list[int], other: list[int]) -> float:
    """The share of people who would have to change for two spreads to be the same; those under other names count."""
    return float(sum(max(a - b, 0) for a, b in zip(one, other, strict=True)) / sum(one))


def _judge_marginals(found: Found, _: Settings) -> Outcome:
    both = found["once"]
    plain, hidden = both["open"], both["graded"]
    checks = []
    for what, one, after in (
        (f"{plain['column']}, as published (Figure 3)", plain, "T'"),
        (f"{hidden['column']}, as published (Figures 5 and 6)", hidden, "T'"),
        (f"{hidden['column']}, decoded with the key", hidden, "decoded"),
    ):
        apart = _apart(one["T"], one[after])
        checks.append(Check(what, "the same distribution", f"{100 * apart:.1f} % of people elsewhere", apart == 0))
    pictures = [
        Picture(
            f"{number}: {one['column']} in T and T′, under its own name",
            one["column"],
            "people",
            tuple(
                Curve(name, tuple(Point(v, float(n)) for v, n in zip(one["values"], one[key], strict=True)))
                for name, key in (("T", "T"), ("T′", "T'"))
            ),
            bars=True,
        )
        for number, one in (("Figure 3", plain), ("Figures 5 and 6", hidden))
    ]
    why = f"{hidden['column']} has {hidden['names']} names in T′ for {len(hidden['values'])} values; only the key joins them."
    return outcome(checks, why, pictures=pictures, data=both["data"])


# ----- guessing -----------------------------------------------------------------------------------------------------


def guessed(source: Source, seed: int) -> Result:
    """What is decoded without the key by somebody who knows people like those in the release: aliases and graded numbers."""
    everybody = chosen(source, seed)
    order = stage(seed, "halves").permutation(everybody.rows)[: 2 * MOST_ATTACKED]
    half = len(order) // 2
    members, everyone = np.sort(order[:half]), np.sort(order)
    population = everybody.take(everyone)
    outsiders = np.flatnonzero(~np.isin(everyone, members))
    people = everybody.take(members)
    release, provenance = anonymize(people, "grading", seed)
    subject = Subject(release, people, provenance, True, population, outsiders)
    record = run_audit(subject, Options(attacks=("alias", "degrade"), utility=(), seed=seed))
    found: dict[str, Any] = {"data": f"{source.about(everybody)}; {half} of them released, as many others known"}
    for attack in ("alias", "degrade"):
        rows = [r for r in record.risks if r.attack == attack and r.status == OK and r.adversary == "prosecutor"]
        right = max((r for r in rows if r.measure == "success"), key=lambda r: r.value or 0.0)
        decoded = max((r for r in rows if r.measure == "decoded"), key=lambda r: r.value or 0.0)
        found[attack] = {
            "column": right.sensitive,
            "success": right.value,
            "control": right.control,
            "baseline": right.baseline,
            "decoded": (decoded.value or 0) / (decoded.n or 1),
            "names": decoded.n,
        }
    return found


def _judge_guessed(found: Found, settings: Settings) -> Outcome:
    checks, rows = [], []
    for attack, what in (("alias", "aliases"), ("degrade", "graded numbers")):
        success, control, decoded = (
            Figure.of(found[s][attack][name] for s in settings.draws) for name in ("success", "control", "decoded")
        )
        learned = is_less(control, success)
        told = f"{success.percent()} of people; {control.percent()} of people who are not in it"
        checks.append(Check(f"{what}: the value guessed", "not at all", told, None if learned is None else not learned))
        names = found[1][attack]["names"]
        rows.append(
            (what, str(found[1][attack]["column"]), str(names), decoded.percent(), success.percent(), control.percent())
        )
    headings = ("what", "column", "names or categories", "decoded rightly", "people guessed right", "control")
    table = Grid("Decoding without the key", headings, tuple(rows))
    return outcome(checks, tables=[table], data=found[1]["data"])


GRADING = Paper(
    PaperFacts(
        "002",
        "graded grouping and aliases",
        "E. Poovammal, M. Ponnaivaikko, “Categorical Grading Based Personalized Privacy Preservation Against Attacks”, 2009",
    ),
    (
        Item(
            "002.tables1-4",
            "Tables I to IV",
            "Linking, homogeneity, divergence and proximity disclose what the example says of Barbie and Girija.",
            "100 %, 100 %, 50 %, 75 %, 25 %",
            "exact",
            lambda _: {person: cell(tables, person=person) for person in ("Barbie", "Girija")},
            _judge_tables,
        ),
        Item(
            "002.grading",
            "Section IV C and V B",
            "With one category from 10 to 40 the ages 21 and 22 become 1.366 and 1.4, and the greatest ends in .999.",
            "1.366, 1.4, .999",
            "the digits that the paper prints",
            lambda _: {"ages": cell(graded)},
            _judge_graded,
        ),
        Item(
            "002.table5",
            "Table V, Figure 4",
            "A tree learns as much from T′ as from T; only for education, which is hidden, it learns a little less.",
            "no change for three attributes, −2.03 points for education",
            f"{100 * _SAME:g} points for three attributes, {100 * _SAME_EDUCATION:g} for education",
            _tree_cells,
            _judge_trees,
            (ADULT, ADULT_TEST),
        ),
        Item(
            "002.time",
            "Section V A",
            "T′ of 45 222 rows is made in 28 seconds.",
            "28 s, on a processor of 2006",
            "no more processor seconds",
            lambda _: {"once": cell(seconds)},
            _judge_seconds,
            (ADULT, ADULT_TEST),
        ),
        Item(
            "002.fig3,5,6",
            "Figures 3, 5 and 6",
            "Work class and education have the same distribution in T and T′.",
            "the same (charts without numbers)",
            "nobody elsewhere",
            lambda _: {"once": cell(marginals)},
            _judge_marginals,
            (ADULT, ADULT_TEST),
        ),
        Item(
            "002.guessed",
            "Sections IV D, V B, conclusion",
            "Hidden values cannot be guessed, even by somebody who finds the record.",
            "no number",
            "the interval over seeds of the difference to people who are not in the release lies on one side",
            lambda settings: {s: cell(guessed, seed=s) for s in settings.draws},
            _judge_guessed,
            (ADULT, ADULT_TEST),
        ),
    ),
)
