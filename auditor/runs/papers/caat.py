"""Jiang Huowen's paper on CAAT: that it is faster than KACA, and makes classes of k to 2k - 1 rows.

Time depends on who wrote the program and where it runs, so it is looked at twice: in distances that the two printed
algorithms evaluate when each step compares with everything there is (a row with a class in CAAT, two classes in KACA), and in
processor seconds of our programs, which search for the same classes with fewer comparisons. CAAT takes all equally near rows
together, as printed (`ties = "all"`).
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from anonymizers.caat import Ties, cluster_counted, depths
from anonymizers.kaca import kaca_counted
from anonymizers.shared.distance import Space
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.clustering import information_loss
from auditor.model.record.reproduction import Check, Grid, Outcome, PaperFacts, Picture
from auditor.model.seeding import stage
from auditor.model.table import Table
from auditor.runs.papers.item import Cell, Cells, Found, Item, Paper, Result, Settings, cell
from auditor.runs.papers.judging import Figure, curve, is_less, less, no_claim, outcome
from auditor.runs.papers.sources import ADULT, Source, roles
from scenarios.options import Options

PEOPLE = roles(
    {
        "quasi": "age education marital-status workclass race sex native-country salary-class",
        "sensitive": "occupation",
    },
    {"quasi": "birth_year education marital_status postcode ethnicity sex occupation income", "sensitive": "disease"},
)
WIDTHS = (2, 3, 4, 5, 6, 7, 8)
ALGORITHMS = ("caat", "kaca")
_BETA = 1.0
_WARM = 200


def work(source: Source, algorithm: str, k: int, width: int, seed: int) -> Result:
    """Distances that the printed algorithm evaluates, with the first `width` quasi-identifiers, and the processor seconds of
    our program."""
    table = source.people(PEOPLE)
    _compiled(source, algorithm)
    start = time.process_time()
    distances = _clustered(table, algorithm, k, width, seed)
    return {"distances": distances, "seconds": time.process_time() - start, "data": source.about(table)}


def _clustered(table: Table, algorithm: str, k: int, width: int, seed: int) -> int:
    columns, rng = table.schema.quasi[:width], stage(seed, algorithm)
    if algorithm == "kaca":
        return kaca_counted(table, columns, k, _BETA, rng)[1]
    return cluster_counted(Space.of(table, columns, depths), k, int(rng.integers(table.rows)), Ties.ALL)[1]


@lru_cache(maxsize=2)
def _compiled(source: Source, algorithm: str) -> None:
    """Runs an algorithm once, so that its kernels are compiled before the clock runs."""
    few = source.people(PEOPLE)
    _clustered(few.take(np.arange(min(_WARM, few.rows))), algorithm, 3, 8, 0)


def sizes(source: Source, ties: str, k: int, seed: int) -> Result:
    """The least and the largest class that CAAT makes, before classes with the same labels are published as one."""
    table = source.people(PEOPLE)
    start = int(stage(seed, "caat").integers(table.rows))
    member, _ = cluster_counted(Space.of(table, table.schema.quasi, depths), k, start, Ties(ties))
    found = np.bincount(member)
    return {"least": int(found.min()), "largest": int(found.max()), "data": source.about(table)}


def release(source: Source, method: str, ties: str, k: int, seed: int) -> Result:
    """The information loss of a release with all quasi-identifiers."""
    table = source.people(PEOPLE)
    given: dict[str, Any] = {"ties": ties} if method == "caat" else {}
    made, _ = anonymize(table, method, seed, k=k, **given)
    return {"loss": information_loss(made).value, "data": source.about(table)}


def disclosure(source: Source, k: int, seed: int) -> Result:
    """How often the sensitive value is disclosed by a release of CAAT to somebody who finds the class."""
    table = source.people(PEOPLE)
    made, provenance = anonymize(table, "caat", seed, k=k, ties="all")
    options = Options(attacks=("homogeneity",), utility=(), seed=seed)
    record = run_audit(Subject(made, table, provenance, True), options)
    rows = {
        r.measure: r for r in record.risks if r.link == "class" and r.adversary == "prosecutor" and r.value is not None
    }
    right, sure = rows["success"], rows["certain"]
    return {
        "success": right.value,
        "control": right.control,
        "baseline": right.baseline,
        "certain": (sure.value or 0) / (sure.n or 1),
        "data": source.about(table),
    }


# ----- time ---------------------------------------------------------------------------------------------------------


def _time_cells(ks: tuple[int, ...], settings: Settings) -> Cells:
    return {
        (a, k, w, s): cell(work, algorithm=a, k=k, width=w, seed=s)
        for a in ALGORITHMS
        for k in ks
        for w in WIDTHS
        for s in settings.draws
    }


def _over(found: Found, settings: Settings, algorithm: str, k: int, width: int, what: str) -> Figure:
    return Figure.of(found[algorithm, k, width, seed][what] for seed in settings.draws)


def _measures(settings: Settings) -> list[tuple[str, str]]:
    """What time is looked at in: the figure of a cell, and its name."""
    return [("distances", "distances"), ("seconds", "processor seconds")][: 2 if settings.timed else 1]


def _picture(found: Found, settings: Settings, k: int, what: str, name: str) -> Picture:
    curves = [curve(a.upper(), ((w, _over(found, settings, a, k, w, what)) for w in WIDTHS)) for a in ALGORITHMS]
    return Picture(f"{name.capitalize()} at k = {k}", "number of quasi-identifiers", name, tuple(curves))


def _faster(k: int) -> Item:
    """CAAT takes less time than KACA at this k."""

    def judge(found: Found, settings: Settings) -> Outcome:
        checks, from_where = [], []
        for what, name in _measures(settings):
            for width in WIDTHS:
                caat, kaca = (_over(found, settings, a, k, width, what) for a in ALGORITHMS)
                checks.append(less(f"{name}, {width} quasi-identifiers", "CAAT less than KACA", caat, kaca))
            held = [w for w, check in zip(WIDTHS, checks[-len(WIDTHS) :], strict=True) if check.holds]
            from_where.append(f"In {name} CAAT does less with {_listed(held)} quasi-identifiers.")
        pictures = [_picture(found, settings, k, what, name) for what, name in _measures(settings)]
        return outcome(checks, " ".join(from_where), pictures=pictures, data=found["caat", k, 2, 1]["data"])

    return Item(
        f"000.fig{ {3: 1, 6: 2}[k] }",
        f"Figure { {3: 1, 6: 2}[k] }, result 2",
        f"At k = {k} CAAT takes less time than KACA, whatever the number of quasi-identifiers.",
        "CAAT below KACA at every number of quasi-identifiers (the curves are pictures without numbers)",
        "the interval over seeds of the difference lies on CAAT's side",
        lambda settings: _time_cells((k,), settings),
        judge,
        (ADULT,),
    )


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) if numbers else "no number of"


def _judge_growth(found: Found, settings: Settings) -> Outcome:
    checks = []
    for what, name in _measures(settings):
        for algorithm in ALGORITHMS:
            three, six = (_over(found, settings, algorithm, k, WIDTHS[-1], what) for k in (3, 6))
            checks.append(less(f"{algorithm.upper()}, {name}", "more at k = 6 than at k = 3", three, six))
    return outcome(checks, data=found["caat", 3, 2, 1]["data"])


# ----- classes and loss ---------------------------------------------------------------------------------------------


def _size_cells(settings: Settings) -> Cells:
    places = [(ties, k, s) for ties in Ties for k in (3, 6) for s in settings.draws]
    made: dict[Hashable, Cell] = {(t, k, s): cell(sizes, ties=str(t), k=k, seed=s) for t, k, s in places}
    losses: dict[Hashable, Cell] = {
        ("loss", t, k, s): cell(release, method="caat", ties=str(t), k=k, seed=s) for t, k, s in places
    }
    return made | losses


def _judge_sizes(found: Found, settings: Settings) -> Outcome:
    checks, rows = [], []
    for k in (3, 6):
        largest = max(found["all", k, s]["largest"] for s in settings.draws)
        least = min(found["all", k, s]["least"] for s in settings.draws)
        checks.append(Check(f"least class, k = {k}", f"at least {k}", str(least), least >= k))
        checks.append(Check(f"largest class, k = {k}", f"below {2 * k}", str(largest), largest < 2 * k))
        for ties, name in (("all", "all equally near rows join, as printed"), ("room", "as many as there is room for")):
            mean = Figure.of(found[ties, k, s]["largest"] for s in settings.draws)
            loss = Figure.of(found["loss", ties, k, s]["loss"] for s in settings.draws)
            rows.append((name, str(k), mean.text(), loss.text()))
    table = Grid("What the rule for ties does", ("rule", "k", "largest class", "information loss"), tuple(rows))
    why = "Equally near rows join a class together, however many they are; with the setting ties=room sizes stay below 2k."
    return outcome(checks, why, tables=[table], data=found["all", 3, 1]["data"])


def _loss_cells(settings: Settings) -> Cells:
    return {
        (m, k, s): cell(release, method=m, ties="room", k=k, seed=s)
        for m in ALGORITHMS
        for k in (3, 6)
        for s in settings.draws
    }


def _judge_loss(found: Found, settings: Settings) -> Outcome:
    rows = []
    for k in (3, 6):
        caat, kaca = (Figure.of(found[m, k, s]["loss"] for s in settings.draws) for m in ALGORITHMS)
        rows.append((str(k), caat.text(), kaca.text(), caat.over(kaca).text()))
    table = Grid("Information loss, all quasi-identifiers", ("k", "CAAT", "KACA", "CAAT over KACA"), tuple(rows))
    return no_claim(
        "The paper makes no claim: it leaves information loss to future work. Measured here.",
        tables=[table],
        data=found["caat", 3, 1]["data"],
    )


def _judge_disclosure(found: Found, settings: Settings) -> Outcome:
    checks, rows = [], []
    for k in (3, 6):
        right, control, sure = (
            Figure.of(found[k, s][what] for s in settings.draws) for what in ("success", "control", "certain")
        )
        what = f"the sensitive value guessed from the class, k = {k}"
        holds = is_less(control, right)
        told = f"{right.percent()} of people; {control.percent()} without their own record"
        checks.append(Check(what, "no more than without the release", told, None if holds is None else not holds))
        rows.append((str(k), right.percent(), control.percent(), sure.percent()))
    headings = ("k", "guessed right", "control: own record taken out", "certain")
    table = Grid("Homogeneity attack on releases of CAAT, class known", headings, tuple(rows))
    return outcome(checks, tables=[table], data=found[3, 1]["data"])


CAAT = Paper(
    PaperFacts(
        "000",
        "CAAT, clustering for k-anonymity",
        "Jiang Huowen, “Clustering-anonymity method for data-publishing privacy preservation”",
    ),
    (
        _faster(3),
        _faster(6),
        Item(
            "000.result1",
            "Result 1",
            "With greater k both algorithms take clearly more time.",
            "the time of both grows from k = 3 to k = 6",
            "the interval over seeds of the difference lies on one side",
            lambda settings: _time_cells((3, 6), settings),
            _judge_growth,
            (ADULT,),
        ),
        Item(
            "000.sizes",
            "Section 4",
            "Every class has at least k and fewer than 2k rows.",
            "k ≤ size < 2k",
            "exact, over all seeds",
            _size_cells,
            _judge_sizes,
            (ADULT,),
        ),
        Item(
            "000.privacy",
            "Conclusion",
            "A release of CAAT effectively prevents that private values are disclosed.",
            "no number",
            "the interval over seeds of the difference to the control lies on one side",
            lambda settings: {(k, s): cell(disclosure, k=k, seed=s) for k in (3, 6) for s in settings.draws},
            _judge_disclosure,
            (ADULT,),
        ),
        Item(
            "000.loss",
            "Conclusion, future work",
            "How much information is lost is left to future work.",
            "no number",
            "–",
            _loss_cells,
            _judge_loss,
            (ADULT,),
        ),
    ),
)
