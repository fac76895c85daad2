"""Probabilistic information loss, and the score of loss and risk: worked by hand."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest
from scipy import stats

from auditor.measure.utility import utility_rows
from auditor.measure.utility.probabilistic import losses, probabilistic_loss
from auditor.measure.utility.score import score
from auditor.model.record.record import Risk
from tests.support.utility_cases import case_of, published, table_of


def test_losses_by_hand() -> None:
    # 2, 4, 6, 8: mean 5, variance 5, standard error of the mean √(5/4); a mean of 6 is 1/√1.25 of these away.
    # The variance stays. Squares 9, 1, 1, 9 spread by 4, so its standard error is 4/√4 = 2; of twice the numbers, 20, it is
    # 7.5 such errors away
    before = np.array([[2.0], [4.0], [6.0], [8.0]])
    found = losses(before, before + 1)
    assert found["mean"] == pytest.approx(100 * erf(1 / sqrt(1.25) / sqrt(2)))
    assert found["variance"] == 0
    assert losses(before, 2 * before)["variance"] == pytest.approx(100 * erf(7.5 / sqrt(2)))
    assert "covariance" not in found
    assert found["all"] == pytest.approx((found["mean"] + found["quantiles"]) / 3)


def test_losses_of_pairs_against_simulated_standard_errors() -> None:
    """The standard errors of covariance and correlation are those of samples from the same population."""
    rng = np.random.default_rng(3)
    rows = 400

    def sample() -> np.ndarray:
        x = rng.standard_gamma(2, rows)
        return np.column_stack([x, x + rng.standard_normal(rows)])

    told = [
        (np.cov(s.T, ddof=0)[0, 1], np.corrcoef(s.T)[0, 1], np.var(s[:, 0]), np.quantile(s[:, 0], 0.5))
        for s in (sample() for _ in range(400))
    ]
    errors = np.std(np.array(told), axis=0)
    before = sample()
    moved = before.copy()
    moved[:, 1] += 0.05 * (before[:, 0] - before[:, 0].mean())
    change = [np.cov(moved.T, ddof=0)[0, 1] - np.cov(before.T, ddof=0)[0, 1]]
    change += [np.corrcoef(moved.T)[0, 1] - np.corrcoef(before.T)[0, 1]]
    found = losses(before, moved)
    for name, by, error in zip(("covariance", "correlation"), change, errors, strict=False):
        expected = 100 * (2 * stats.norm.cdf(abs(by) / error) - 1)
        assert found[name] == pytest.approx(expected, abs=12)
        assert 5 < found[name] < 95


def test_what_is_kept_loses_nothing_and_what_is_gone_everything() -> None:
    rng = np.random.default_rng(4)
    before = rng.normal(size=(300, 3))
    assert set(losses(before, before).values()) == {0}
    gone = losses(before, np.full_like(before, 50.0))
    assert gone["mean"] == gone["variance"] == pytest.approx(100)
    missing = before.copy()
    missing[::7, 0] = np.nan
    assert losses(missing, missing)["all"] == 0


def test_rows_of_every_statistic() -> None:
    rows = {"age": ["2", "4", "6", "8"], "height": ["1", "2", "4", "5"]}
    case = case_of({**rows, "age": ["3", "3", "7", "7"]}, table_of(rows))
    found = {row.params["statistic"]: row.value for row in probabilistic_loss(case)}
    parts = [found[name] for name in ("mean", "variance", "covariance", "correlation", "quantiles")]
    assert found["all"] == pytest.approx(np.mean(parts))
    assert found["mean"] == 0
    (row,) = probabilistic_loss(case_of({"age": rows["age"]}, table_of({"age": rows["age"]})))[3:4]
    assert (row.status, row.params["statistic"]) == ("not_applicable", "covariance")


def risk(adversary: str, measure: str, value: float | None, attack: str = "record-linkage") -> Risk:
    return Risk(attack, adversary, None, measure, value=value, status="ok" if value is not None else "not_applicable")


def test_a_score_is_the_mean_of_loss_and_risk() -> None:
    rows = {"age": ["2", "4", "6", "8"], "height": ["1", "2", "4", "5"]}
    table = table_of(rows)
    release, provenance = published({**rows, "age": ["3", "3", "7", "7"]}, table)
    risks = [
        risk("weak", "success", 0.1), risk("weak", "rank_interval", 0.3),
        risk("strong", "success", 0.5), risk("strong", "rank_interval", 0.9),
        risk("half", "success", 1.0), risk("half", "rank_interval", None),
        risk("weak", "success", 1.0, "linking"),
    ]  # fmt: skip
    found = utility_rows(release, table, provenance.fragment, names=["PIL", "loss_risk_score"], risks=risks)
    lost = next(row.value for row in found if row.params.get("statistic") == "all")
    assert lost is not None
    row = found[-1]
    assert row.value == pytest.approx((lost + 70) / 2)  # (50 + 90)/2
    assert (row.params["adversary"], row.detail["DR"], row.detail["IL"]) == ("strong", pytest.approx(70), lost)
    (none,) = utility_rows(release, table, provenance.fragment, names=["loss_risk_score"], risks=risks[4:])
    assert "record-linkage" in str(none.reason)
    assert score(case_of({"job": ["x"]}, table_of({"job": ["x"]})))[0].status == "not_applicable"
