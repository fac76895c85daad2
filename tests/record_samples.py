"""Sample runs for tests of the reports: realistic figures for five attacks, four links and several releases.

The figures are made by simple formulas from a `leak` between 0 and 1, not by an audit: they hang together (excess from
value and control, counts within n), which is all that a renderer may rely on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from auditor.model.record import (
    NOT_APPLICABLE,
    NOT_CONVERGED,
    AdversaryFacts,
    AttackFacts,
    AuditRecord,
    Input,
    PolicyCheck,
    PolicyVerdict,
    ReleaseFacts,
    Risk,
    RunRecord,
    SensitiveFacts,
    Utility,
)

LINKS = {"containment": 0.55, "likelihood": 0.85, "class": 1.0, "tightest": 0.9}
PROSECUTOR = AdversaryFacts(
    "prosecutor", "Is after one person, knows that this person is in the data, and knows their age, sex and postcode."
)
JOURNALIST = AdversaryFacts(
    "journalist",
    "Is after anybody, does not know whether they are in the data, and has a register with age, sex and postcode.",
)
ATTACKS = (
    AttackFacts(
        "linking",
        "identity",
        "This person is this record.",
        "Coarser quasi-identifiers, larger classes.",
        "Sweeney: k-anonymity, a model for protecting privacy. IJUFKS 10(5), 2002.",
    ),
    AttackFacts(
        "homogeneity",
        "attribute",
        "This person has exactly this value.",
        "More different values in each class (l-diversity).",
        "Machanavajjhala et al.: l-diversity. ICDE 2006.",
    ),
    AttackFacts(
        "proximity",
        "attribute",
        "This person's number is in this short interval.",
        "Classes with numbers further apart.",
        "Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008.",
    ),
    AttackFacts(
        "divergence",
        "attribute",
        "This person is believed to have something unrelated.",
        "Classes of related values.",
        "The mission's own measure of false belief.",
    ),
    AttackFacts(
        "membership",
        "membership",
        "This person is in the data.",
        "Buckets that also cover people who are not in the data.",
        "Li et al.: Slicing. TKDE 24(3), 2012.",
    ),
)


def wilson(share: float, n: int) -> tuple[float, float]:
    z2 = 1.96**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = 1.96 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def rate(attack: str, measure: str, value: float, n: int, **fields: Any) -> Risk:
    """A rate with its interval and, where there is a control, the excess over it."""
    low, high = wilson(value, n)
    control = fields.get("control")
    detail = dict(fields.pop("detail", {}))
    if control is not None and control < 1:
        over = [(x - control) / (1 - control) for x in (value, low, high)]
        detail["excess"] = {"value": over[0], "low": over[1], "high": over[2]}
    given = {"adversary": "prosecutor", "link": "class", **fields}
    return Risk(attack=attack, measure=measure, value=value, low=low, high=high, n=n, detail=detail, **given)


def count(attack: str, measure: str, value: int, n: int, **fields: Any) -> Risk:
    given = {"adversary": "prosecutor", "link": "class", **fields}
    return Risk(attack=attack, measure=measure, value=value, n=n, **given)


def linking_rows(leak: float, n: int, link: str, share: float) -> Iterable[Risk]:
    mean, top = max(1 / n, leak * share), min(1.0, max(1 / n, leak * share * 2.2))
    found = 1.0 if link == "class" else share * 0.9
    yield Risk(
        "linking",
        "prosecutor",
        link,
        "max",
        value=top,
        expected=top,
        baseline=1 / n,
        n=n,
        worst_rows=tuple(range(3, 40)),
    )
    edges, counts = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0], [int(n * part) for part in (0.31, 0.28, 0.22, 0.13, 0.06)]
    histogram = {"histogram": {"edges": edges, "counts": counts}}
    yield Risk(
        "linking",
        "prosecutor",
        link,
        "mean",
        value=mean,
        expected=mean,
        baseline=1 / n,
        control=0.0,
        control_kind="outsiders",
        low=mean * 0.9,
        high=min(1.0, mean * 1.1),
        n=n,
        detail=histogram,
    )
    yield count(
        "linking", "at_risk", int(n * leak * share), n, link=link, params={"threshold": 0.2}, worst_rows=(3, 17, 20)
    )
    yield rate(
        "linking",
        "success",
        mean * 0.97,
        n,
        link=link,
        expected=mean,
        baseline=1 / n,
        control=0.0,
        control_kind="outsiders",
    )
    yield count("linking", "class_found", round(found * n), n, link=link, baseline=0.02 * n)


def homogeneity_rows(leak: float, n: int, link: str, share: float, column: str) -> Iterable[Risk]:
    control, base = 0.22, 0.2
    success = control + (1 - control) * leak * share
    common: dict[str, Any] = {"link": link, "sensitive": column}
    yield count(
        "homogeneity",
        "certain",
        int(n * leak * share * (1.0 if leak == 1 else 0.6)),
        n,
        baseline=0.0,
        control=n * 0.01,
        **common,
        worst_rows=(8, 9, 21),
    )
    yield count("homogeneity", "above", int(n * leak * share), n, params={"tau": 0.5}, **common)
    yield rate(
        "homogeneity",
        "success",
        success,
        n,
        expected=success,
        baseline=base,
        control=control,
        control_kind="leave_one_out",
        **common,
    )


def proximity_rows(leak: float, n: int, link: str, share: float) -> Iterable[Risk]:
    success = 0.15 + 0.85 * leak * share
    common: dict[str, Any] = {"link": link, "sensitive": "income", "params": {"epsilon": 2500, "width": 2500}}
    for measure, value in (
        ("max", min(1.0, success * 1.4)),
        ("mean", success * 0.9),
        ("window", min(1.0, success * 1.5)),
    ):
        yield Risk("proximity", "prosecutor", measure=measure, value=value, baseline=0.12, n=n, **common)
    yield count(
        "proximity", "above", int(n * leak * share * 0.7), n, **{**common, "params": {"epsilon": 2500, "tau": 0.5}}
    )
    yield rate(
        "proximity",
        "success",
        success,
        n,
        expected=success,
        baseline=0.12,
        control=0.15,
        control_kind="leave_one_out",
        **common,
    )
    yield Risk("proximity", "prosecutor", measure="m", value=1 if leak > 0.5 else 3, n=n, **common)


def divergence_rows(leak: float, n: int, link: str, share: float) -> Iterable[Risk]:
    for reading, more in (("frequency", 1.0), ("distinct", 1.2)):
        common: dict[str, Any] = {"link": link, "sensitive": "disease", "params": {"reading": reading}}
        harm = min(1.0, 0.6 * (1 - leak * share) * more)
        yield Risk("divergence", "prosecutor", measure="mean", value=harm, baseline=0.66, n=n, **common)
        yield count("divergence", "above", int(harm * n), n, **{**common, "params": {"reading": reading, "tau": 0.5}})
        yield rate(
            "divergence", "top", harm * 0.8, n, baseline=0.62, control=0.5, control_kind="leave_one_out", **common
        )


def membership_rows(leak: float, n: int) -> Iterable[Risk]:
    auc = 0.5 + 0.45 * leak
    curve = [i / 20 for i in range(21)]
    roc = {"fpr": curve, "tpr": [x ** (1 - 0.9 * leak) for x in curve]}
    labels = {
        "labels": ["0", "1-10", "11-20", ">20"],
        "members": [int(n * part) for part in (0.0, 0.5, 0.3, 0.2)],
        "others": [int(n * part) for part in (0.4, 0.3, 0.2, 0.1)],
    }
    for against in ("outsiders", "fakes"):
        for score, worth in (("buckets", 0.8), ("degree", 0.9), ("posterior", 1.0)):
            common: dict[str, Any] = {"link": None, "params": {"score": score, "against": against}}
            detail = {"roc": roc, "histogram": labels} if score == "posterior" and against == "outsiders" else {}
            yield rate("membership", "auc", 0.5 + (auc - 0.5) * worth, n, baseline=0.5, detail=detail, **common)
            yield rate("membership", "advantage", max(0.0, leak * 0.6 * worth), n, **common)
            yield rate("membership", "tpr_at_fpr_0.01", 0.01 + 0.4 * leak * worth, n, baseline=0.01, **common)
            if n >= 1000:
                yield rate("membership", "tpr_at_fpr_0.001", 0.001 + 0.2 * leak * worth, n, baseline=0.001, **common)
    if n < 1000:
        reason = "0.001 of the outsiders is less than one person"
        yield Risk("membership", "prosecutor", None, "tpr_at_fpr_0.001", status=NOT_APPLICABLE, reason=reason)
    yield rate("membership", "no_match", leak * 0.5, n, link=None)
    yield count("membership", "fakes", int(n * (1 - leak)), n, link=None)


def risks(leak: float, n: int, links: Sequence[str] = tuple(LINKS)) -> tuple[Risk, ...]:
    rows: list[Risk] = []
    for link, share in LINKS.items():
        if link not in links:
            reason = "the release has more than one block, so no class has a loss of its own"
            rows += [
                Risk("linking", "prosecutor", link, m, status=NOT_APPLICABLE, reason=reason) for m in ("max", "mean")
            ]
            continue
        rows += linking_rows(leak, n, link, share)
        rows += homogeneity_rows(leak, n, link, share, "disease")
        rows += proximity_rows(leak, n, link, share)
        rows += divergence_rows(leak, n, link, share)
        not_numeric = "disease is nominal: proximity needs a numeric sensitive column"
        rows.append(
            Risk("proximity", "prosecutor", link, "success", "disease", status=NOT_APPLICABLE, reason=not_numeric)
        )
    journalist = {"adversary": "journalist", "baseline": 1 / (8 * n), "n": n}
    rows.append(Risk("linking", link="class", measure="mean", value=leak / 8, **journalist))
    rows.append(Risk("linking", link="class", measure="max", value=min(1.0, leak / 3), **journalist))
    rows += membership_rows(leak, n)
    rows.append(
        Risk(
            "uniqueness",
            "journalist",
            None,
            "success",
            status=NOT_CONVERGED,
            reason="Pitman's estimator did not converge",
        )
    )
    return tuple(rows)


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
        attacks=ATTACKS,
        inputs=inputs,
        notes=("Values are not revealed.",),
        tool={"name": "auditor", "version": "0.1.0", "numpy": "2.4.6"},
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
    check = PolicyCheck(HOSTILE, 0.1, HOSTILE, None, None, HOSTILE, HOSTILE)
    made = replace(
        whole,
        release=release,
        risks=tuple(rows),
        policy=PolicyVerdict(HOSTILE, HOSTILE, HOSTILE, (check,), False),
        utility=(Utility(HOSTILE, value=0.2, better=HOSTILE, params={HOSTILE: HOSTILE}),),
        adversaries=(AdversaryFacts("prosecutor", HOSTILE),),
        attacks=(AttackFacts("homogeneity", HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        inputs=(Input(HOSTILE, HOSTILE, HOSTILE, 3),),
        notes=(HOSTILE,),
        tool={HOSTILE: HOSTILE},
    )
    return RunRecord(title=HOSTILE, seed=1, records=(made, replace(made, release=release)), tool={HOSTILE: HOSTILE})
