"""Phanikrishna and Surya Ram Prasad on slicing, after Li et al.: diversity, membership, and utility beside its rivals.

OCC-7 of the original paper: six quasi-identifiers and occupation as the sensitive column. Membership is tested on halves: one
half is published, and people of the other are asked about. Somebody whom nothing in the release matches is known for certain
to be outside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.utility import Case
from auditor.measure.utility.classification import classification
from auditor.measure.utility.queries import queries
from auditor.model.errors import PromiseError
from auditor.model.record.record import OK
from auditor.model.record.reproduction import Check, Grid, Outcome, PaperFacts, Picture
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs.papers.item import Cells, Found, Item, Paper, Result, Settings, cell
from auditor.runs.papers.judging import Figure, curve, is_less, less, outcome
from auditor.runs.papers.sources import ADULT, Source, roles
from scenarios.options import Options

OCC7 = roles(
    {"quasi": "age workclass education marital-status race sex", "sensitive": "occupation"},
    {"quasi": "birth_year postcode education marital_status ethnicity sex", "sensitive": "occupation"},
)
WIDE = roles(
    {
        "quasi": "age sex education race marital-status workclass native-country relationship occupation hours-per-week "
        "education-num capital-gain capital-loss fnlwgt",
        "sensitive": "salary-class",
    },
    {"quasi": "birth_year sex education ethnicity marital_status postcode occupation income", "sensitive": "disease"},
)
DIVERSITIES = (2, 3)
MOST_ASKED = 2000
METHODS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "anatomy": ("bucketization (Anatomy)", "anatomy", {"l": "l"}),
    "slicing": ("l-diverse slicing", "slicing", {"l": "l", "c": 3, "sensitive_size": 1}),
    "mondrian": ("generalisation (Mondrian, α = 1/l)", "mondrian", {"k": 2, "alpha": "1/l"}),
    "sliced-5": ("slicing by size 5, not diverse", "slicing", {"bucket_size": 5, "c": 3}),
    "random-5": (
        "random classes of 5, not diverse",
        "slicing",
        {"bucket_size": 5, "partition": "random", "c": 3},
    ),
}
"""By name: what it is called, the anonymizer, and its settings; the letter l stands for the diversity."""


def _given(name: str, l: int) -> tuple[str, dict[str, Any]]:
    _, method, settings = METHODS[name]
    filled = {key: l if value == "l" else 1 / l if value == "1/l" else value for key, value in settings.items()}
    return method, filled


# ----- membership ---------------------------------------------------------------------------------------------------


def members(source: Source, name: str, l: int, seed: int) -> Result:
    """How well outsiders are told from members of a release of one half."""
    method, settings = _given(name, l)
    table = source.people(OCC7)
    found = halves(table, method, settings, MOST_ASKED, seed)
    return {**found, "data": f"{source.about(table)}, a half released"}


def halves(table: Table, method: str, settings: dict[str, Any], asked: int, seed: int) -> dict[str, Any]:
    """A release of a random half of a table, and how well `asked` outsiders are told from as many members: the share whom
    nothing matches, and the area under the ROC curve of each score."""
    order = np.random.default_rng(seed).permutation(table.rows)
    inside, outside = np.sort(order[: table.rows // 2]), np.sort(order[table.rows // 2 :])
    people = table.take(inside)
    release, provenance = anonymize(people, method, seed, **settings)
    subject = Subject(release, people, provenance, True, table, outside[:asked])
    targets = tuple(range(min(asked, len(inside))))
    record = run_audit(subject, Options(attacks=("membership",), targets=targets, utility=(), seed=seed))
    rows = [r for r in record.risks if r.adversary == "prosecutor" and r.status == OK and r.value is not None]
    found = {
        f"auc {r.params['score']}": r.value for r in rows if r.measure == "auc" and r.params["against"] == "outsiders"
    }
    (unmatched,) = [r.value for r in rows if r.measure == "no_match"]
    return {**found, "unmatched": unmatched, "classes": record.release.classes}


def _member_cells(settings: Settings) -> Cells:
    names = [(name, l) for l in DIVERSITIES for name in ("anatomy", "slicing", "mondrian")]
    names += [("sliced-5", 2), ("random-5", 2)]
    return {(n, l, s): cell(members, name=n, l=l, seed=s) for n, l in names for s in settings.draws}


def _over(found: Found, settings: Settings, name: str, l: int, what: str) -> Figure:
    return Figure.of(found[name, l, seed][what] for seed in settings.draws)


_HALF = 0.5


def _judge_members(found: Found, settings: Settings) -> Outcome:
    checks, rows = [], []
    for l in DIVERSITIES:
        sliced, anatomy = (_over(found, settings, name, l, "unmatched") for name in ("slicing", "anatomy"))
        half = Figure.of(_HALF * value for value in anatomy.values)
        told = f"{sliced.percent()} against {anatomy.percent()}"
        what = f"l = {l}: outsiders recognised for certain, slicing and bucketization"
        checks.append(Check(what, "few against many: at most a half", told, is_less(sliced, half)))
    for name, l in dict.fromkeys((n, l) for n, l, _ in found):
        title = METHODS[name][0] + (f", l = {l}" if not name.endswith("5") else "")
        unmatched, buckets = (_over(found, settings, name, l, what) for what in ("unmatched", "auc buckets"))
        posterior = _over(found, settings, name, l, "auc posterior")
        rows.append((title, unmatched.percent(), buckets.text(), posterior.text()))
    headings = ("release", "outsiders whom nothing matches", "AUC by matching classes", "AUC by the posterior")
    table = Grid("Members told from outsiders", headings, tuple(rows))
    why = (
        "Slicing keeps the values of a block together and publishes them as they are; who matches no class is outside."
    )
    return outcome(checks, why, tables=[table], data=found["slicing", 2, 1]["data"])


# ----- diversity ----------------------------------------------------------------------------------------------------


def diverse(source: Source, l: int, strict: bool, seed: int) -> Result:
    """The greatest probability of a sensitive value of anybody, counted in the classes."""
    table = source.people(OCC7)
    release, provenance = anonymize(
        table, "slicing", seed, l=l, c=3, sensitive_size=1, strict=strict, weighting="paper"
    )
    sizes = np.bincount(provenance.bucket)
    codes = table.codes[table.schema.sensitive[0]].astype(np.int64)
    counts = np.zeros((len(sizes), int(codes.max()) + 1))
    np.add.at(counts, (provenance.bucket, codes), 1)
    shares = counts / sizes[:, None]
    # Equal values stay on one side of a cut, so that everybody matches their own class only: P(t, s) is the share in it.
    return {
        "greatest": float(shares.max()),
        "classes": len(sizes),
        "largest": int(sizes.max()),
        "rows": release.rows,
        "data": source.about(table),
    }


def printed(values: list[str], l: int) -> list[list[str]]:
    """The tuple partition as printed, for one quasi-identifier whose values all differ: then p(t, s) is the share of s in the
    bucket of t. A bucket is halved where both halves pass the check, and is final otherwise; the table that the
    algorithm begins with is never checked."""

    def passes(bucket: list[str]) -> bool:
        return all(bucket.count(value) * l < len(bucket) for value in bucket)

    queue, final = [values], []
    while queue:
        bucket = queue.pop(0)
        halves = [bucket[: len(bucket) // 2], bucket[len(bucket) // 2 :]]
        if all(half and passes(half) for half in halves):
            queue += halves
        else:
            final.append(bucket)
    return final


def whole(source: Source) -> Result:
    """A table that is not l-diverse as a whole, nine of ten people having one value: what the printed algorithm makes of it,
    and whether ours refuses it."""
    del source
    schema = Schema.from_dict({"columns": {"q": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}}})
    values = {"q": [str(n) for n in range(10)], "s": ["a"] * 9 + ["b"]}
    (table,) = encode(schema, [RawTable("ten", values)])
    try:
        anonymize(table, "slicing", 1, l=2, columns=[["q"], ["s"]])
    except PromiseError:
        refused = True
    else:
        refused = False
    buckets = printed(values["s"], 2)
    greatest = max(bucket.count(value) / len(bucket) for bucket in buckets for value in bucket)
    return {"greatest": greatest, "refused": refused}


def _diverse_cells(_: Settings) -> Cells:
    made: dict[Any, Any] = {(l, x): cell(diverse, l=l, strict=x, seed=1) for l in DIVERSITIES for x in (False, True)}
    return {**made, "whole": cell(whole)}


def _judge_diverse(found: Found, _: Settings) -> Outcome:
    checks, rows = [], []
    for l in DIVERSITIES:
        for strict in (False, True):
            one = found[l, strict]
            greatest = one["greatest"]
            holds = greatest < 1 / l if strict else greatest <= 1 / l + 1e-12
            than = "below" if strict else "at most"
            what = f"l = {l}, {'as printed (< 1/l)' if strict else 'usual (≤ 1/l)'}: greatest P(t, s)"
            checks.append(Check(what, f"{than} {1 / l:.4g}", f"{greatest:.4g}", holds))
            rows.append((what, f"{greatest:.4g}", str(one["classes"]), str(one["largest"])))
    start = found["whole"]
    told = f"P = {start['greatest']:g} in the table that the printed algorithm returns"
    checks.append(Check("l = 2, a table that is not diverse itself", "below 0.5", told, start["greatest"] < 1 / 2))
    table = Grid("l-diverse slicing", ("release", "greatest P(t, s)", "classes", "largest"), tuple(rows))
    why = (
        "The printed check never looks at the table it starts from; ours refuses such a table."
        if start["refused"]
        else ""
    )
    return outcome(checks, why, tables=[table], data=found[2, False]["data"])


# ----- utility ------------------------------------------------------------------------------------------------------


def useful(source: Source, name: str, l: int, seed: int) -> Result:
    """How well a tree that is trained on the release predicts the sensitive column."""
    method, settings = _given(name, l)
    table = source.people(OCC7)
    release, provenance = anonymize(table, method, seed, **settings)
    about = table.schema.sensitive[0]
    rows = classification(Case(release, table, provenance.fragment, None, seed))
    mined = next(row for row in rows if row.params["class"] == about)
    return {"accuracy": mined.value, "original": mined.detail["original"], "data": source.about(table)}


def _more(settings: Settings) -> Settings:
    """Twice as many seeds: accuracies differ little between methods, and much between the people they are tested on."""
    return replace(settings, seeds=2 * settings.seeds)


def _useful_cells(settings: Settings) -> Cells:
    return {
        (n, l, s): cell(useful, name=n, l=l, seed=s)
        for l in DIVERSITIES
        for n in ("slicing", "anatomy", "mondrian")
        for s in _more(settings).draws
    }


def _judge_useful(found: Found, asked_for: Settings) -> Outcome:
    settings = _more(asked_for)
    checks, rows = [], []
    for l in DIVERSITIES:
        by = {n: _over(found, settings, n, l, "accuracy") for n in ("slicing", "anatomy", "mondrian")}
        for other in ("mondrian", "anatomy"):
            what = f"l = {l}: tree on the sensitive column, {METHODS[other][0]} and slicing"
            checks.append(less(what, "slicing better", by[other], by["slicing"], percent=True))
        original = _over(found, settings, "slicing", l, "original")
        rows.append((f"l = {l}", original.percent(), *(figure.percent() for figure in by.values())))
    headings = ("", "original", "slicing", "bucketization", "generalisation")
    table = Grid("Accuracy of a tree for the sensitive column", headings, tuple(rows))
    return outcome(checks, tables=[table], data=found["slicing", 2, 1]["data"])


WIDTHS = (2, 4, 8, 11, 14)


def asked(source: Source, name: str, width: int, seed: int) -> Result:
    """The median error of counting queries on a release with the first `width` quasi-identifiers."""
    table = source.people(WIDE)
    kept = {*table.schema.quasi[:width], *table.schema.sensitive}
    schema = replace(table.schema, columns={c: v for c, v in table.schema.columns.items() if c in kept})
    part = replace(
        table,
        schema=schema,
        domains={c: d for c, d in table.domains.items() if c in kept},
        codes={c: codes for c, codes in table.codes.items() if c in kept},
    )
    settings: dict[str, Any] = {"k": 5} if name == "mondrian" else {"bucket_size": 5, "c": 2}
    release, provenance = anonymize(part, name, seed, **settings)
    rows = queries(Case(release, part, provenance.fragment, None, seed))
    error = next(row.value for row in rows if row.params.get("statistic", "median") == "median")
    return {"error": error, "width": min(width, len(table.schema.quasi)), "data": source.about(table)}


def _wide_cells(settings: Settings) -> Cells:
    return {
        (n, w, s): cell(asked, name=n, width=w, seed=s)
        for n in ("mondrian", "slicing")
        for w in WIDTHS
        for s in settings.draws
    }


def _judge_wide(found: Found, settings: Settings) -> Outcome:
    by = {(n, w): _over(found, settings, n, w, "error") for n in ("mondrian", "slicing") for w in WIDTHS}
    few, many = WIDTHS[0], WIDTHS[-1]
    checks = [
        less(
            f"generalisation, {few} and {many} quasi-identifiers",
            "loses more",
            by["mondrian", few],
            by["mondrian", many],
        ),
        less(
            f"{many} quasi-identifiers, slicing and generalisation",
            "slicing loses less",
            by["slicing", many],
            by["mondrian", many],
        ),
    ]
    curves = tuple(
        curve(name, ((w, by[n, w]) for w in WIDTHS))
        for n, name in (("mondrian", "generalisation"), ("slicing", "slicing"))
    )
    picture = Picture(
        "Median error of counting queries", "number of quasi-identifiers", "median relative error", curves
    )
    return outcome(checks, pictures=[picture], data=found["slicing", few, 1]["data"])


_SIDE = "the interval over seeds of the difference lies on one side"
SLICING = Paper(
    PaperFacts(
        "003",
        "slicing",
        "B. V. Phanikrishna, K. Surya Ram Prasad, “A Novel Framework for Privacy Conserving Data Publishing and Handling "
        "High Dimensional Data”, 2014, after Li, Li, Zhang and Molloy 2012",
    ),
    (
        Item(
            "003.check",
            "Table 2, diversity-check",
            "The sliced table is l-diverse: nobody's sensitive value has a probability of 1/l or more.",
            "p(t, s) < 1/l for every t and s",
            "exact",
            _diverse_cells,
            _judge_diverse,
            (ADULT,),
        ),
        Item(
            "003.membership",
            "Conclusion; section on bucketization",
            "Bucketization does not prevent that membership is disclosed, and slicing does.",
            "no number",
            f"at most half as many outsiders are recognised for certain as with bucketization; {_SIDE}",
            _member_cells,
            _judge_members,
            (ADULT,),
        ),
        Item(
            "003.utility",
            "Conclusion",
            "Slicing keeps more utility than generalisation, and more than bucketization where the sensitive column is used.",
            "no number",
            f"accuracy of a tree for the sensitive column, twice as many seeds; {_SIDE}",
            _useful_cells,
            _judge_useful,
            (ADULT,),
        ),
        Item(
            "003.dimension",
            "Section on generalisation",
            "With many quasi-identifiers generalisation loses much more than slicing.",
            "no number",
            f"median relative error of 200 counting queries; k = 5 and classes of 5; {_SIDE}",
            _wide_cells,
            _judge_wide,
            (ADULT,),
        ),
    ),
)
