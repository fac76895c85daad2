"""Risk rows for the sample runs of `record_samples`: figures of five attacks, made from a `leak` between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from attacks import ATTACKS
from auditor.model.record.record import NOT_APPLICABLE, NOT_CONVERGED, Risk

LINKS = {"containment": 0.55, "likelihood": 0.85, "class": 1.0, "tightest": 0.9}


KINDS = {(m.of, m.name): {"kind": m.kind, "better": m.better} for a in ATTACKS.all().values() for m in a.meanings()}
"""The kind of each figure, and which way is safer."""


def row(attack: str, adversary: str, link: str | None, measure: str, *more: Any, **fields: Any) -> Risk:
    """A row with the kind that its measure declares, as an audit makes it."""
    return Risk(attack, adversary, link, measure, *more, **{**KINDS.get((attack, measure), {}), **fields})


def wilson(share: float, n: int) -> tuple[float, float]:
    z2 = 1.96**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = 1.96 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def rate(attack: str, measure: str, value: float, n: int, **fields: Any) -> Risk:
    """A rate with its interval and, where there is a control, the excess over it."""
    low, high = wilson(value, n)
    control, baseline = fields.get("control"), fields.get("baseline") or 0.0
    detail = dict(fields.pop("detail", {}))
    if control is not None and control < 1:
        too_low = fields.get("control_kind") == "leave_one_out" and baseline > control
        held = baseline if too_low else control
        over = [(x - held) / (1 - held) for x in (value, low, high)]
        detail["excess"] = {
            "value": over[0],
            "low": over[1],
            "high": over[2],
            "over": "baseline" if too_low else "control",
        }
    given = {"adversary": "prosecutor", "link": "likelihood", **fields}
    return row(attack, measure=measure, value=value, low=low, high=high, n=n, detail=detail, **given)


def count(attack: str, measure: str, value: int, n: int, **fields: Any) -> Risk:
    given = {"adversary": "prosecutor", "link": "likelihood", **fields}
    return row(attack, measure=measure, value=value, n=n, **given)


def linking_rows(leak: float, n: int, link: str, share: float) -> Iterable[Risk]:
    mean, top = max(1 / n, leak * share), min(1.0, max(1 / n, leak * share * 2.2))
    found = 1.0 if link == "class" else share * 0.9
    yield row(
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
    yield row(
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
    sure = int(n * leak * share * (1.0 if leak == 1 else 0.6))
    yield count("homogeneity", "certain_right", sure, n, baseline=0.0, control=n * 0.01, **common)
    yield count("homogeneity", "above_right", int(n * leak * share), n, params={"tau": 0.5}, control=n * 0.1, **common)
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
        yield row("proximity", "prosecutor", measure=measure, value=value, baseline=0.12, n=n, **common)
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
    yield row("proximity", "prosecutor", measure="m", value=1 if leak > 0.5 else 3, n=n, **common)


def divergence_rows(leak: float, n: int, link: str, share: float) -> Iterable[Risk]:
    for reading, more in (("frequency", 1.0), ("distinct", 1.2)):
        common: dict[str, Any] = {"link": link, "sensitive": "disease", "params": {"reading": reading}}
        harm = min(1.0, 0.6 * (1 - leak * share) * more)
        yield row("divergence", "prosecutor", measure="mean", value=harm, baseline=0.66, n=n, **common)
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
        yield row("membership", "prosecutor", None, "tpr_at_fpr_0.001", status=NOT_APPLICABLE, reason=reason)
    yield rate("membership", "no_match", leak * 0.5, n, link=None)
    yield count("membership", "fakes", int(n * (1 - leak)), n, link=None)


def risks(leak: float, n: int, links: Sequence[str] = tuple(LINKS)) -> tuple[Risk, ...]:
    rows: list[Risk] = []
    for link, share in LINKS.items():
        if link not in links:
            reason = "the release has more than one block, so no class has a loss of its own"
            rows += [
                row("linking", "prosecutor", link, m, status=NOT_APPLICABLE, reason=reason) for m in ("max", "mean")
            ]
            continue
        rows += linking_rows(leak, n, link, share)
        rows += homogeneity_rows(leak, n, link, share, "disease")
        rows += proximity_rows(leak, n, link, share)
        rows += divergence_rows(leak, n, link, share)
        not_numeric = "disease is nominal: proximity needs a numeric sensitive column"
        rows.append(
            row("proximity", "prosecutor", link, "success", "disease", status=NOT_APPLICABLE, reason=not_numeric)
        )
    journalist = {"adversary": "journalist", "baseline": 1 / (8 * n), "n": n}
    rows.append(row("linking", link="class", measure="mean", value=leak / 8, **journalist))
    rows.append(row("linking", link="class", measure="max", value=min(1.0, leak / 3), **journalist))
    rows += membership_rows(leak, n)
    rows.append(
        row(
            "uniqueness",
            "journalist",
            None,
            "success",
            status=NOT_CONVERGED,
            reason="Pitman's estimator did not converge",
        )
    )
    return tuple(rows)
