"""How many people are unique in a population, estimated from a sample of it.

From the sizes of the classes in a sample (records alike in all quasi-identifiers) and the size of the population:

- `zayatz`: the population's classes have sizes like the sample's. Bayes' rule gives the probability that a class of one in
  the sample (drawn without replacement) is a class of one in the population;
- `pitman`: classes arise by Pitman's sampling formula with parameters (θ, α), fitted by maximum likelihood. The expected
  number of uniques among N people is N · Γ(θ+α+N-1)/Γ(θ+α) · Γ(θ+1)/Γ(θ+N): when there are i people, a newcomer avoids a
  given class of one with probability 1 - (1-α)/(θ+i);
- `snb`: population classes have sizes 1 + negative binomial(α, β). (α, β) are fitted to the numbers of classes of one and two
  in the sample; the number of classes K is Shlosser's estimate as corrected by Haas and Stokes. The uniques are K · β^α;
- `dankar`: Pitman for a sampling fraction of at most 0.1, otherwise the lower of Zayatz and SNB (Zayatz if the other does not
  converge).

An estimator that does not converge has no value and says why. Without sample uniques all estimates are 0.

Where suppressed cells fit any value there are no classes: a record agrees with f records, and counts as the f-th part of a
class of f. Numbers of classes need not be whole then.

Papers: L. Zayatz, Bureau of the Census 1991; N. Hoshino, J. Official Statistics 2001; G. Chen, S. Keller-McNulty, J. Official
Statistics 1998; P. Haas, L. Stokes, JASA 1998; F. Dankar, K. El Emam, A. Neisa, T. Roffey, BMC Medical Informatics 2012.

Decided here: Pitman's exact expectation instead of its limit for large N, so that it never exceeds N.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Floats, Ints

SMALL_FRACTION = 0.1
_GONE = 1e-6
"""A fit of two equations whose relative errors exceed this has not converged."""


@dataclass(frozen=True, slots=True)
class Uniques:
    """An estimated number of people unique in the population, by a `model`; None, with the reason, if there is none."""

    model: str
    number: float | None
    doubt: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of a population of `population` people: there are `times[i]` classes of `sizes[i]` records."""

    sizes: Ints
    times: Floats
    population: int

    @classmethod
    def of(cls, classes: Ints, population: int) -> Sample:
        """The sample with classes of these sizes."""
        sizes, times = np.unique(classes, return_counts=True)
        return cls(sizes.astype(np.int64), times.astype(np.float64), population)

    @classmethod
    def of_records(cls, frequency: Ints, population: int) -> Sample:
        """The sample of records, given for each how many records agree with it, itself included."""
        sizes, records = np.unique(frequency, return_counts=True)
        return cls(sizes.astype(np.int64), records / sizes, population)

    @property
    def records(self) -> int:
        """The number of records."""
        return round(float((self.sizes * self.times).sum()))

    @property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.records / self.population

    def classes_of(self, size: int) -> float:
        """The number of classes of a size."""
        return float(self.times[self.sizes == size].sum())


def _where_unique(model: str) -> Callable[[Callable[[Sample], Uniques]], Callable[[Sample], Uniques]]:
    """What all estimators share: nothing to estimate without sample uniques, or if everybody is in the sample."""

    def decorated(estimate: Callable[[Sample], Uniques]) -> Callable[[Sample], Uniques]:
        def with_limits(sample: Sample) -> Uniques:
            alone = sample.classes_of(1)
            if not alone or sample.records >= sample.population:
                return Uniques(model, float(alone))
            return estimate(sample)

        with_limits.__doc__ = estimate.__doc__
        return with_limits

    return decorated


@_where_unique("zayatz")
def zayatz(sample: Sample) -> Uniques:
    """Zayatz's estimate, which always exists."""
    from scipy.stats import hypergeom

    once = hypergeom.pmf(1, sample.population, sample.sizes, sample.records) * sample.times
    # 1 if only population classes of one can be drawn exactly once
    chance = float(once[sample.sizes == 1].sum() / once.sum())
    return Uniques("zayatz", sample.classes_of(1) * chance / sample.fraction)


@_where_unique("pitman")
def pitman(sample: Sample) -> Uniques:
    """Pitman's estimate."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    n, classes, alone = sample.records, float(sample.times.sum()), sample.classes_of(1)
    if alone == n:
        return Uniques("pitman", None, "every record is unique in the sample, which fits any number of uniques")

    def unlikeliness(at: Floats) -> float:
        alpha = float(expit(at[1]))
        theta = float(np.exp(at[0])) - alpha
        steps = (classes - 1) * np.log(alpha) + gammaln(classes + theta / alpha) - gammaln(1 + theta / alpha)
        grown = (sample.times * (gammaln(sample.sizes - alpha) - gammaln(1 - alpha))).sum()
        return float(-(steps - gammaln(theta + n) + gammaln(theta + 1) + grown)) / n

    limits = [(-12.0, np.log(n) + 12.0), (-12.0, 12.0)]
    tries = [
        minimize(unlikeliness, np.array([np.log(max(classes, 2.0)) + a, b]), method="L-BFGS-B", bounds=limits)
        for a, b in ((-3.0, 0.5), (0.0, -2.0), (2.0, 0.5))
    ]
    best = min((t for t in tries if np.isfinite(t.fun)), key=lambda t: float(t.fun), default=None)
    if best is None or not best.success:
        return Uniques("pitman", None, "no maximum of the likelihood of Pitman's model was found")
    if best.x[0] > limits[0][1] - 1 or best.x[1] > limits[1][1] - 1:
        return Uniques("pitman", None, "the likelihood of Pitman's model grows without bound")
    alpha = float(expit(best.x[1]))
    theta, people = float(np.exp(best.x[0])) - alpha, sample.population
    log = gammaln(theta + alpha + people - 1) - gammaln(theta + alpha) + gammaln(theta + 1) - gammaln(theta + people)
    return Uniques("pitman", people * float(np.exp(log)))


@_where_unique("snb")
def snb(sample: Sample) -> Uniques:
    """The estimate of the shifted negative binomial model."""
    from scipy.optimize import least_squares

    alone, pairs, share = sample.classes_of(1), sample.classes_of(2), sample.fraction
    if not pairs:
        return Uniques("snb", None, "the model needs classes of two records, and there are none")
    classes = number_of_classes(sample)

    def misfit(at: Floats) -> Floats:
        alpha, beta = np.exp(at[0]), 1 / (1 + np.exp(-at[1]))
        missed = (1 - share) * (1 - beta)
        left = 1 - missed
        power = (beta / left) ** alpha
        one = classes * share * power * (1 + alpha * missed / left)
        two = classes * alpha * power * (share / left) ** 2 * (1 - beta) / 2 * (2 - (1 - alpha) * missed)
        return np.array([one / alone - 1, two / pairs - 1])

    for start in ((0.0, -1.0), (-2.0, -4.0), (2.0, 2.0), (-2.0, 2.0), (2.0, -4.0)):
        best = least_squares(misfit, np.array(start), bounds=([-14.0, -14.0], [9.0, 14.0]), xtol=1e-12)
        if np.abs(best.fun).max() <= _GONE:
            break
    else:
        return Uniques(
            "snb", None, "no parameters of the model give the numbers of classes of one and two in the sample"
        )
    number = classes * float((1 / (1 + np.exp(-best.x[1]))) ** np.exp(best.x[0]))
    return Uniques("snb", min(number, float(sample.population)))


def number_of_classes(sample: Sample) -> float:
    """Shlosser's estimate of the number of classes in the population, as corrected by Haas and Stokes (Sh3)."""
    share, sizes, times = sample.fraction, sample.sizes.astype(np.float64), sample.times
    missed = ((1 - share) ** sizes * times).sum()
    once = (sizes * share * (1 - share) ** (sizes - 1) * times).sum()
    twice = (sizes * share**2 * (1 - share**2) ** (sizes - 1) * times).sum()
    seen = (((1 - share**2) ** sizes - (1 - share) ** sizes) * times).sum()
    return float(times.sum() + sample.classes_of(1) * (twice / seen) * (missed / once) ** 2)


def estimates(sample: Sample) -> dict[str, Uniques]:
    """All estimates by name. The `model` of `dankar` is the estimator that Dankar's rule chose."""
    by_sizes, by_formula, shifted = zayatz(sample), pitman(sample), snb(sample)
    small = sample.fraction <= SMALL_FRACTION
    found = [u for u in ((by_formula,) if small else (by_sizes, shifted)) if u.number is not None]
    chosen = min(found, key=lambda u: u.number or 0.0, default=by_sizes)
    return {"dankar": chosen, "pitman": by_formula, "zayatz": by_sizes, "snb": shifted}
