"""Sample runs for tests of the reports: realistic figures for five attacks, four links and several releases.

The figures are made by simple formulas from a `leak` between 0 and 1, not by an audit: they hang together (excess from
value and control, counts within n), which is all that a renderer may rely on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attacks import ATTACKS
from auditor.measure.statistics import STATISTICS
from auditor.measure.utility import MEASURES, utility_meanings
from auditor.model.record.bound import Bound, Contender
from auditor.model.record.meaning import AttackFacts, LinkFacts, Measure, Note, NoteKind
from auditor.model.record.record import (
    NOT_APPLICABLE,
    AdversaryFacts,
    AuditRecord,
    Input,
    PolicyCheck,
    PolicyVerdict,
    Risk,
    RunRecord,
    Utility,
)
from auditor.model.record.release_facts import ReleaseFacts, SensitiveFacts
from auditor.posterior.links import LINKS as LINK_FACTS
from tests.support.record_samples_rows import LINKS, count, rate, risks

PROSECUTOR = AdversaryFacts(
    "prosecutor",
    "The prosecutor knows that a person is in the release, and that person's age, sex and postcode.",
    "prosecutor",
    ("age", "sex", "postcode"),
)
JOURNALIST = AdversaryFacts(
    "journalist",
    "The journalist wants to expose any one person and knows people's age, sex and postcode.",
    "journalist",
    ("age", "sex", "postcode"),
)
UTILITY = utility_meanings([Utility(measure.name) for measure in MEASURES])
WORDS: dict[str, Any] = {
    "attacks": tuple(attack.facts() for attack in ATTACKS.all().values()),
    "measures": (*(m for attack in ATTACKS.all().values() for m in attack.meanings()), *UTILITY, *STATISTICS),
    "links": LINK_FACTS,
}
"""What attacks, links and measures are, as an audit writes it into the record."""
OWN_CLASS = Contender("homogeneity", "prosecutor", "class", 0.41)
_LEARNED = Contender("definetti", "prosecutor", None, 0.47, "what other classes teach")
BOUNDS = (
    Bound("disease", "the classes, 1 fact", 1, "ok", None, 0.62, 1.0, 0.5, 0.75, 400, OWN_CLASS, (_LEARNED,)),
    Bound("disease", "all records but one", reason="values are published as they are", mean=1.0, worst=1.0),
    Bound("income", "the classes", 3, NOT_APPLICABLE, "published values are not the people's own"),
)


def utilities(error: float, granularity: float | None) -> tuple[Utility, ...]:
    why = "the release keeps exact values and breaks links, so cells lose nothing"
    fine = (
        Utility("granularity", value=granularity)
        if granularity is not None
        else Utility("granularity", status=NOT_APPLICABLE, reason=why)
    )
    return (
        fine,
        Utility("discernibility", value=1_234_567, better="lower"),
        Utility(
            "queries",
            value=error,
            better="lower",
            low=error * 0.8,
            high=error * 1.3,
            params={"statistic": "median", "queries": 1000},
        ),
        Utility("queries", value=error * 4, better="lower", params={"statistic": "p90", "queries": 1000}),
        Utility("class_size", value=1.37, better="lower"),
    )


def ema(mean: float, top: float) -> PolicyVerdict:
    checks = [
        PolicyCheck(f"linking.{name}", 0.09, "<=", value, value <= 0.09, source="EMA policy 0070, section 5.4")
        for name, value in (("mean", mean), ("max", top))
    ]
    return PolicyVerdict(
        "ema", "EMA policy 0070 (guidance, not legal advice)", "EMA/90915/2016", checks, all(c.passed for c in checks)
    )


def record(
    name: str,
    leak: float,
    error: float,
    *,
    n: int = 400,
    k: int | None = 5,
    kind: str = "generalised",
    granularity: float | None = 0.6,
    policy: bool = True,
    links: Sequence[str] = tuple(LINKS),
    **params: Any,
) -> AuditRecord:
    """One audited release whose figures follow from `leak` (risk) and `error` (of queries)."""
    rows = risks(leak, n, links)
    top, mean = min(1.0, max(1 / n, leak * 2.2)), max(1 / n, leak)
    sizes = {str((k or 1) + i): max(1, int(30 * math.exp(-i / 3))) for i in range(12)}
    column = SensitiveFacts("disease", 7, 0.8, 2, 1.84, 3.1, 2, 0.41, None, 0.33, 2.9, 1.2, 1.7)
    release = ReleaseFacts(
        name=name,
        kind=kind,
        rows=n,
        suppressed_rows=3,
        suppression="excluded",
        classes=sum(sizes.values()),
        k=k,
        class_sizes=sizes,
        method=name.split()[0],
        params={"k": k, **params},
        promises=(f"{k}-anonymity",),
        quasi=("age", "sex", "postcode"),
        blocks=(("age", "sex", "postcode", "disease", "income"),),
        sensitive=(column, SensitiveFacts("income", 212, alpha=0.4, t_ordered=0.22)),
    )
    inputs = (
        Input("original", "town.csv", "9f" * 32, n),
        Input("release", f"{name}.csv", "3c" * 32, n),
        Input("schema", "town.toml", "a1" * 32),
    )
    return AuditRecord(
        seed=20240,
        release=release,
        risks=rows,
        utility=utilities(error, granularity),
        policy=ema(mean, top) if policy else None,
        adversaries=(PROSECUTOR, JOURNALIST),
        **WORDS,
        inputs=inputs,
        notes=(Note("Values are not revealed."),),
        tool={"name": "auditor", "version": "0.1.0", "numpy": "2.4.6"},
        bounds=BOUNDS,
    )


def run_of(*records: AuditRecord, title: str = "Town register, four ways") -> RunRecord:
    return RunRecord(
        title=title, seed=20240, records=records, tool={"name": "auditor", "version": "0.1.0", "numpy": "2.4.6"}
    )


def sample_run() -> RunRecord:
    """Four releases, from no protection to one that passes the policy."""
    blocks = ("containment", "likelihood", "class")
    return run_of(
        record("identity", 1.0, 0.0, k=1, granularity=1.0),
        record("mondrian k=5", 0.12, 0.11, k=5, granularity=0.62),
        record("anatomy l=3", 0.33, 0.06, k=3, kind="bucketized", granularity=None, links=blocks, l=3),
        record("slicing k=20", 0.035, 0.17, k=20, kind="sliced", granularity=None, links=blocks),
    )


def single_run() -> RunRecord:
    return run_of(record("mondrian k=5", 0.34, 0.11), title="Pre-release audit of mondrian k=5")


def many_run(size: int = 40) -> RunRecord:
    """A sweep: many releases, some of them at the very same place of the picture."""
    made = []
    for i in range(size):
        method, k = ("mondrian", "kmember", "slicing", "anatomy")[i % 4], 2 + i // 4 * 3
        leak = (0.9 / math.sqrt(k)) * (1 + 0.15 * (i % 4)) / 1.5
        made.append(record(f"{method} k={k}", min(1.0, leak), 0.02 * math.sqrt(k) * (1 + 0.4 * ((i * 7) % 4)), k=k))
    return run_of(*made, title="Sweep of four methods over ten strengths")


def person_run() -> RunRecord:
    """One person asked about, with the claim revealed."""
    rows = (
        count("homogeneity", "certain", 1, 1, sensitive="disease", detail={"claim": "Bronchitis"}),
        rate(
            "homogeneity",
            "success",
            1.0,
            1,
            sensitive="disease",
            expected=1.0,
            baseline=0.3,
            control=0.25,
            control_kind="leave_one_out",
        ),
        rate(
            "proximity",
            "success",
            1.0,
            1,
            sensitive="income",
            expected=0.75,
            params={"epsilon": 30},
            detail={"window": [10000, 10030]},
        ),
    )
    whole = record("table iv", 0.2, 0.1, n=8, policy=False)
    return run_of(replace(whole, risks=rows, utility=()), title="What does this release say about Girija?")


def empty_run() -> RunRecord:
    return RunRecord(title="", seed=1, records=())


def bare_run() -> RunRecord:
    """A release about which nothing could be computed."""
    release = ReleaseFacts("bare", "unknown", 0, 0, "excluded", 0, None, {})
    return RunRecord(title="Bare", seed=1, records=(AuditRecord(seed=1, release=release, risks=()),))


HOSTILE = "<script>alert('x')</script>|`**\n\x1b[31mred\x07\u202e\"&"


def hostile_run() -> RunRecord:
    """Every text of the record is an attempt to break out."""
    whole = record("mondrian k=5", 0.34, 0.11)
    release = replace(
        whole.release,
        name=HOSTILE,
        kind=HOSTILE,
        method=HOSTILE,
        suppression=HOSTILE,
        params={HOSTILE: HOSTILE},
        promises=(HOSTILE,),
        quasi=(HOSTILE, "age"),
        blocks=((HOSTILE,),),
        sensitive=(replace(whole.release.sensitive[0], column=HOSTILE),),
        identifiers=(HOSTILE,),
    )
    rows = [
        replace(r, sensitive=HOSTILE if r.sensitive else None, params={**r.params, HOSTILE: HOSTILE})
        for r in whole.risks
    ]
    rows.append(
        Risk(
            HOSTILE,
            HOSTILE,
            HOSTILE,
            HOSTILE,
            HOSTILE,
            value=0.5,
            control_kind=HOSTILE,
            control=0.1,
            detail={"claim": HOSTILE},
        )
    )
    rows.append(Risk(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, status=NOT_APPLICABLE, reason=HOSTILE))
    rows.append(
        Risk(
            HOSTILE,
            "prosecutor",
            None,
            "success",
            value=0.5,
            detail={"histogram": {"labels": [HOSTILE], "counts": [3]}},
        )
    )
    broken = Contender(HOSTILE, HOSTILE, HOSTILE, 0.5, HOSTILE)
    check = PolicyCheck(HOSTILE, 0.1, HOSTILE, None, None, HOSTILE, HOSTILE)
    shares = {"column": HOSTILE, "names": [HOSTILE, HOSTILE], "original": [0.5, 0.5], "release": [0.5, 0.5]}
    useful = Utility(HOSTILE, value=0.2, better=HOSTILE, params={HOSTILE: HOSTILE}, detail={"shares": [shares]})
    made = replace(
        whole,
        release=release,
        risks=tuple(rows),
        policy=PolicyVerdict(HOSTILE, HOSTILE, HOSTILE, (check,), False),
        utility=(useful,),
        adversaries=(AdversaryFacts("prosecutor", HOSTILE, "prosecutor", (HOSTILE,)),),
        attacks=(AttackFacts("homogeneity", *[HOSTILE] * 6, lead=(HOSTILE,), axis=HOSTILE, caption=HOSTILE),),
        measures=tuple(Measure(name, *[HOSTILE] * 6) for name in ("success", HOSTILE)),
        links=(LinkFacts(HOSTILE, HOSTILE, HOSTILE),),
        inputs=(Input(HOSTILE, HOSTILE, HOSTILE, 3),),
        notes=(Note(HOSTILE, HOSTILE), Note(HOSTILE, NoteKind.DOUBT)),
        tool={HOSTILE: HOSTILE},
        bounds=(Bound(HOSTILE, HOSTILE, 1, "ok", HOSTILE, 0.5, 0.5, best=broken, outside=(broken,)),),
    )
    return RunRecord(title=HOSTILE, seed=1, records=(made, replace(made, release=release)), tool={HOSTILE: HOSTILE})


def sweep_run(releases: int) -> RunRecord:
    """A sweep of so many releases over one to three known attributes."""
    first = single_run().records[0]
    risks = tuple(
        replace(rate("linking", "success", 0.1 * known, 400), params={"known": known, "of": 3}, link="containment")
        for known in (1, 2, 3)
    )
    names = [f"a release with a rather long name, number {place}" for place in range(1, releases + 1)]
    records = [replace(first, release=replace(first.release, name=name), risks=risks) for name in names]
    return RunRecord("sweep", 1, tuple(records))
