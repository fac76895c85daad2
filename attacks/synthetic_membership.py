"""Synthetic membership: this person is among those from whom a synthetic release was made.

A model that learned its people by heart draws rows near to them. The adversary has the release, all values of a person (or
those that they know), and a *reference*: a sample of the same population, none of whom the release was made from. Six scores,
each higher for likelier members:

- `dcr`: how near the closest synthetic record is;
- `dcr-calibrated`: the same less how near the closest person of the reference is, since some people are near to everything;
- `density`: how dense the synthetic records are around the person;
- `domias`: the same over how dense the reference is there;
- `gen-lra`: by how much the person, added to the reference, makes the nearest synthetic records likelier;
- `classifier`: the odds of a forest that was trained to tell synthetic records from the reference.

The audit adds `best-of`: the score that does best on one half of the people, judged on the other half, both ways. An
adversary may choose after seeing how others fared, and choosing must not flatter the figure: the best of ten scores on
the people it was chosen by is above a coin even where there is nothing to learn.

All scores look at one space (`auditor/measure/points.py`), whose scales are those of the reference.

Papers: D. Chen, N. Yu, Y. Zhang, M. Fritz, "GAN-Leaks", CCS 2020 (closest records, and calibration by a reference); J. Hayes
et al., "LOGAN", PoPETs 2019 (a classifier); B. van Breugel, H. Sun, Z. Qian, M. van der Schaar, "Membership Inference Attacks
against Synthetic Data through Overfitting Detection" (DOMIAS), AISTATS 2023; J. Ward et al., "Privacy Auditing Synthetic Data
Release through Local Likelihood Attacks" (Gen-LRA), 2025.
Departures: DOMIAS takes the covariance of each sample for its kernel; here it is one width for all directions, half of
Silverman's for the synthetic records, whose near copies are looked for, and the whole for the reference. Gen-LRA fits its
kernel anew with the person; here the width stays. `encoding = raw` leaves the columns as they are, with kernels as in scipy's
`gaussian_kde`, to compare with published figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import OF_PEOPLE, Lacks, NotApplicable, Rows, View
from attacks.claims import Claims, MemberClaims
from attacks.shared.measures import RANKED, member_measures
from attacks.shared.members import MemberAttack
from auditor.measure.densities import Near, near, silverman
from auditor.measure.points import Axes, Encoding, known_points, published_points
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.keeping import kept
from auditor.model.packing import contents
from auditor.model.release import Release
from auditor.model.table import Table

SCORES = ("dcr", "dcr-calibrated", "density", "domias", "gen-lra", "classifier")
_NARROW = 0.5
"""What kernels of synthetic records are narrower by than Silverman's rule says."""
_LOCAL = 10
"""How many synthetic records around a person gen-lra looks at."""
_TREES, _LEAF, _MOST_ROWS = 100, 2, 20_000
"""The forest: how many trees, the fewest rows of a leaf, and how many rows each tree sees at most."""
_LEAST_DENSITY = 1e-20
_FEW = 10
"""With fewer people in the reference there is no scale to speak of."""
_DIGITS = 8
"""Scores are rounded to so many digits: sums in another order differ in the last ones."""


@dataclass(frozen=True)
class SyntheticMembership(MemberAttack):
    """Scores each person by how much the release looks as if it had been made from them. At most `targets` members and as
    many outsiders are asked about, drawn at random; `encoding` is standard or raw; `prior` is the share of people at large
    who are taken to be in."""

    name = "synthetic-membership"
    title = "telling who was in"
    summary = (
        "Tells the people from whom synthetic data were made from others, by how near the made-up rows come to them."
    )
    paper = "van Breugel et al. 2023; Ward et al. 2025; Chen et al. 2020; Hayes et al. 2019"
    claim = "This person is among those from whom the release was made."
    needs = (
        "All values of the person, and a sample of people who are not in it; to be scored, further people who are not."
    )
    lowered_by = (
        "Noise in the model (differential privacy), a coarser model, or fewer people and columns learned by heart."
    )
    rows = Rows.NOBODY
    effort = 40
    measures = member_measures()
    lead: ClassVar[tuple[str, ...]] = ("auc", "advantage", "tpr_at_fpr_0.01")
    support: ClassVar[tuple[str, ...]] = ("tpr_at_fpr_0.01", "tpr_at_fpr_0.001")
    caption = f"Membership in synthetic data: {RANKED}"
    least = (("targets", 2),)

    targets: int = 10_000
    encoding: str = "standard"
    prior: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoding not in ("standard", "raw"):
            raise UsageError(f"{self.name}: encoding must be standard or raw. Got {self.encoding!r}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        knowledge, reference = view.knowledge, view.knowledge.auxiliary
        if not view.release.synthetic:
            return OF_PEOPLE
        if reference is None or reference.rows < _FEW:
            why = f"it takes a sample of at least {_FEW} people who are not in the release, besides those asked about"
            return NotApplicable(why, Lacks.POPULATION)
        columns = tuple(c for c in knowledge.columns if c in view.release.columns and c in reference.codes)
        if not columns:
            return NotApplicable("the adversary knows nothing of the people that is published", Lacks.PEOPLE)
        asked = knowledge.some_people(self.targets, rng)
        try:
            world = _world(view.release, reference, columns, self.encoding == "raw")
        except np.linalg.LinAlgError:
            return NotApplicable("encoding = raw takes columns of numbers, none of which follows from the others")
        places = [knowledge.columns.index(c) for c in columns]
        people = known_points(view.release, columns, knowledge.codes[asked][:, places])
        scores = world.scores(world.encoding.axes(people))
        detail = {"asked": knowledge.take(asked).people, "people": knowledge.people, "reference": reference.rows}
        return MemberClaims(scores, "reference sample", self.prior, detail=detail, asked=asked, best=True)


@kept(1)
def _world(release: Release, reference: Table, columns: tuple[str, ...], raw: bool) -> _World:
    return _World(release, reference, columns, raw)


class _World:
    """A release beside a reference sample."""

    def __init__(self, release: Release, reference: Table, columns: tuple[str, ...], raw: bool) -> None:
        made, others = published_points(release, columns), known_points(release, columns, reference.matrix(columns))
        block = release.blocks[
            0
        ]  # of records that are as near, the first by their contents count, whatever their order
        made = made.take(np.argsort(contents([block.cell(c) for c in columns], made.rows), kind="stable"))
        self.encoding, self.raw = Encoding.of(others, made, raw), raw
        self.made, self.others = (self.encoding.axes(one) for one in (made, others))
        count = self.encoding.columns
        self.narrow, self.width = _NARROW * silverman(self.made.rows, count), silverman(self.others.rows, count)
        close = _NARROW * self.width  # gen-lra's kernel
        self.close, self.sums = close, near(self.made, self.others, 1, (close,)).kernels[:, 0]
        self._odds: Callable[[Floats], Floats] | None = None
        if raw:
            self.roots = [np.linalg.cholesky(np.atleast_2d(np.cov(one.at.T))) for one in (self.made, self.others)]

    def scores(self, people: Axes) -> dict[str, Floats]:
        """The scores of some people."""
        to_made = near(people, self.made, _LOCAL, (self.narrow,))
        to_others = near(people, self.others, 1, (self.width,))
        closest, beside = (np.sqrt(one.square[:, 0]) for one in (to_made, to_others))
        density, domias = to_made.kernels[:, 0], to_made.kernels[:, 0] - to_others.kernels[:, 0]
        if self.raw:
            density, domias = self._raw(people)
        found = (-closest, beside - closest, density, domias, self._gain(to_made), self._classified(people))
        return {name: score.round(_DIGITS) for name, score in zip(SCORES, found, strict=True)}

    def _gain(self, found: Near) -> Floats:
        """How much likelier the nearest synthetic records are once the person is one of the reference."""
        own = -found.square / (2 * self.close**2)
        return np.asarray(np.logaddexp(0.0, own - self.sums[found.place]).sum(axis=1))

    def _classified(self, people: Axes) -> Floats:
        """The odds of being synthetic, by a forest."""
        if self._odds is None:
            self._odds = _forest(self._whole(self.made), self._whole(self.others))
        return self._odds(self._whole(people))

    def _whole(self, points: Axes) -> Floats:
        """All coordinates; of columns with too many values for axes, the share of the synthetic records that have the
        value."""
        shares = [_share(own, all_of) for own, all_of in zip(points.values.T, self.made.values.T, strict=True)]
        return np.column_stack([points.at, *shares])

    def _raw(self, people: Axes) -> tuple[Floats, Floats]:
        """Density and domias by the kernels of scipy's `gaussian_kde`."""
        samples = zip((self.made, self.others), self.roots, strict=True)
        inside, outside = (_scipy(people.at, sample.at, root) for sample, root in samples)
        return inside, np.asarray(np.exp(inside) / (np.exp(outside) + _LEAST_DENSITY))


def _share(own: Codes, sample: Codes) -> Floats:
    """The share of a sample that has each value."""
    values, times = np.unique(sample, return_counts=True)
    place = np.minimum(np.searchsorted(values, own), len(values) - 1)
    return np.where(values[place] == own, times[place] / len(sample), 0.0)


def _scipy(points: Floats, sample: Floats, root: Floats) -> Floats:
    """The logarithm of the density of a sample at some points: the kernel has the covariance of the sample, whose `root` is
    given, times the square of Silverman's width."""
    width = silverman(len(sample), sample.shape[1])
    flat = [
        Axes(np.asarray(np.linalg.solve(root, one.T).T, dtype=np.float64), np.empty((len(one), 0), dtype=np.int32))
        for one in (points, sample)
    ]
    sums = near(flat[0], flat[1], 1, (width,)).kernels[:, 0]
    norm = np.log(np.diag(root)).sum() + sample.shape[1] * np.log(width * np.sqrt(2 * np.pi)) + np.log(len(sample))
    return np.asarray(sums - norm)


def _column_order(made: Floats, others: Floats) -> Ints:
    """An order of columns by what they hold: their moments and, where these are equal, what they hold beside the others."""
    signs = np.array([power.mean(axis=0) for one in (made, others) for power in (one, one**2, one**3)])
    whole = [one @ np.sin(1 + signs).sum(axis=0) for one in (made, others)]  # a number for each row
    beside = [
        (one * (row**power)[:, None]).mean(axis=0)
        for one, row in ((made, whole[0]), (others, whole[1]))
        for power in (1, 2)
    ]
    return np.lexsort((*(one.round(6) for one in beside), *signs.round(6)))


def _forest(made: Floats, others: Floats) -> Callable[[Floats], Floats]:
    """The log odds of being synthetic, by a forest of trees. Both groups count alike. Columns are put into an order of their
    own, and rows by these columns, so that what is drawn does not depend on their order."""
    from sklearn.ensemble import RandomForestClassifier
    from threadpoolctl import threadpool_limits

    order = _column_order(made, others)
    sides = [one[:, order].round(_DIGITS) for one in (made, others)]
    rows = np.concatenate([side[np.lexsort(side.T)] for side in sides])
    is_made = np.repeat([1, 0], [len(made), len(others)])
    weight = np.repeat([1 / len(made), 1 / len(others)], [len(made), len(others)]) * len(rows) / 2
    most = min(len(rows), _MOST_ROWS)
    with threadpool_limits(1):
        forest = RandomForestClassifier(
            _TREES, min_samples_leaf=_LEAF, max_samples=most if most < len(rows) else None, random_state=0
        ).fit(rows, is_made, weight)

    def odds(people: Floats) -> Floats:
        chance = np.clip(forest.predict_proba(people[:, order].round(_DIGITS))[:, 1], 1e-6, 1 - 1e-6)
        return np.asarray(np.log(chance) - np.log1p(-chance))

    return odds
