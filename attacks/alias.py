"""Alias: this person has the value that their alias stands for.

A release may publish names in place of values (`A07`, `Respiratory-1`). Each name stands for one value and each value has one
name of a kind, so whoever knows people like those in the release can find the key. `frequency` matches the ranks: the
commonest alias stands for the commonest value. `joint` also looks at the other columns: an alias stands for the value whose
people in an auxiliary sample, and among the rows that show their value, are most like the alias's rows. Without a sample
the release itself must do: who is like whom is learned from the rows that show their value, and how many people have a
value is taken from its share at large. Both choose the one-to-one assignment with the greatest sum
over rows of log P (naive Bayes over the other columns). What is shown openly is taken off: it is no longer to be found
among the aliases.

Papers: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009,
which claims that aliases cannot be guessed; H. W. Kuhn, "The Hungarian Method for the Assignment Problem", 1955.
Decided here: how often people choose an alias is not known, and may differ by value; `joint` takes any shares of the choices
to be equally likely, and uses that the rows of a value under all its names make up its people. Where values have names of
several kinds these are chosen together (an integer program): one kind at a time ends at worse keys. The shares of values
that the adversary knows may be those of people at large or the totals of this very table, as if published beside it: one is
as likely as the other beforehand. How sure an alias is decoded
follows from how much worse the assignment becomes when two names are swapped; names that can be swapped at no cost are a
tie. Columns depend on each other, so this is surer than it is right: nothing is expected of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims, NameClaims, SeveralClaims, ValueClaims
from attacks.shared.measures import CONFIDENCE, fact_measure, value_measures
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import Goal
from auditor.model.release import Release
from auditor.model.table import Table
from auditor.posterior.beliefs import covered, shown, spread
from auditor.posterior.published import decoded_beliefs

_MIXED = 0.3
"""How many people at large are mixed into each value's, as a share of the people that an average value has. Columns depend on
each other, so naive Bayes is too sure of small differences."""
_ROUNDS = 3
"""How often the kinds of aliases are decoded, each with what is then known of the others."""
_MOST_CHOICES = 100_000
"""How many ways to name values are weighed together at most."""
_HOPELESS = 60.0
"""A way to name a value that is less likely than its best by more than this (in logarithms) is not weighed."""
_OFF = 10.0
"""How much less likely (in logarithms) a key is for each person by whom it misses the totals that another key meets."""
_MOST_NODES = 500
"""How long the best key is looked for: counted, so that every machine stops at the same one."""
_TINY = 1e-300


class Method(StrEnum):
    """What aliases are recognised by."""

    FREQUENCY = "frequency"
    JOINT = "joint"


@dataclass(frozen=True)
class Alias(WholeAttack):
    """Finds out what aliases stand for; `tau` is the probability that counts as known."""

    name = "alias"
    title = "decoding aliases"
    summary = "Finds out which values aliases stand for, from the rows that show theirs and from a sample of people."
    paper = "Poovammal & Ponnaivaikko 2009 (their claim, refuted); Kuhn 1955"
    goal = Goal.ATTRIBUTE
    beyond_class = "a sample of the population"
    below_one = ("tau",)
    claim = "This person has the value that their alias stands for."
    needs = (
        "A sensitive column published under aliases, and some quasi-identifiers of the person; a sample of the population "
        "with that column tells more."
    )
    success = "The likeliest value, aliases decoded, is the true one; among m tied values it counts 1/m."
    lowered_by = "A fresh alias for every person, or publishing nothing of values that are to be hidden."
    measures = (
        *value_measures("decoding the aliases, {who} names the right {column} for {share}"),
        fact_measure(
            "decoded",
            "How many aliases are taken for the value that they stand for.",
            "{value} of {n} aliases of the {column} are decoded rightly",
            label="aliases decoded",
            none="none of {n} aliases of the {column} is decoded rightly",
        ),
    )
    support = ("certain", "above", "decoded")
    axis = CONFIDENCE

    method: Method = Method.JOINT
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        column, release = view.column, view.release
        labels, auxiliary = release.labels[column], view.knowledge.auxiliary
        if labels.domain.numbers is not None:
            return NotApplicable(f"{column} is numeric, and aliases are names.")
        aliases = np.flatnonzero(labels.is_alias & (release.label_counts(column) > 0))
        if not len(aliases):
            return NotApplicable(f"no value of {column} is published under an alias.")
        if auxiliary is not None and column not in auxiliary.codes:
            auxiliary = None
        prior = view.knowledge.priors.get(column)
        if (
            auxiliary is None
            and (prior is None or np.ptp(prior[: labels.domain.known]) == 0)
            and not shown(release, column).any()
        ):
            why = f"nobody shows their {column}, and there is no sample of the population to compare the aliases with."
            return NotApplicable(why, Lacks.FACTS)
        params = {"method": str(self.method)}
        if view.blind:
            nothing = FactClaims((Fact("decoded", None, len(aliases), params),))
            return SeveralClaims((ValueClaims(view.beliefs.values(column), self.tau), nothing))
        meaning = decode(release, auxiliary, column, self.method, prior)
        values = ValueClaims(decoded_beliefs(release, view.knowledge, column, meaning), self.tau)
        number = np.full(len(labels.texts), -1)
        number[aliases] = np.arange(len(aliases))
        block = release.block_number(column)
        name = number[release.blocks[block].cell(column)]
        return SeveralClaims((values, NameClaims(block, name, meaning[aliases].toarray(), params)))


def decode(
    release: Release, auxiliary: Table | None, column: str, method: Method, prior: Floats | None = None
) -> sparse.csr_array:
    """What each label of a column stands for (labels × codes, each row a distribution), aliases decoded; `prior` has the
    shares of values at large, for want of a sample."""
    labels = release.labels[column]
    counts = release.label_counts(column)
    kinds = families(labels, np.flatnonzero(labels.is_alias & (counts > 0)))
    people = _People.of(release, auxiliary, column, prior)
    likeness = _likeness(release, auxiliary, column) if method is Method.JOINT else None
    found: list[Floats | None] = [None] * len(kinds)

    def decoded(i: int, totals: bool = False) -> Floats:
        codes, seen = labels.codes(int(kinds[i][0])).astype(np.int64), counts[kinds[i]].astype(np.float64)
        if likeness is None:
            evidence = people.ranks(seen)
        else:
            evidence = likeness[kinds[i]] + people.numbers(seen, *_elsewhere(kinds, found, i, counts, labels), totals)
        shares = np.zeros(evidence.shape)
        shares[:, codes] = assign(evidence[:, codes])
        return shares

    for _ in range(_ROUNDS if likeness is not None else 1):
        for i in range(len(kinds)):
            found[i] = decoded(i)
    if likeness is not None and len(kinds) > 1:
        for totals in (True, False):
            together = _together(kinds, likeness, counts, people, labels, totals)
            if together is not None:
                found = [*together]
                found = [decoded(i, totals) for i in range(len(kinds))]
                break
    hidden = np.zeros(len(labels.texts))
    hidden[np.concatenate(kinds)] = 1.0
    open_labels = sparse.diags_array(1 - hidden) @ spread(labels)
    name, value = np.nonzero(stacked := np.concatenate([part for part in found if part is not None]))
    entries = (stacked[name, value], (np.concatenate(kinds)[name], value))
    return sparse.csr_array(open_labels + sparse.csr_array(entries, shape=open_labels.shape))


def _elsewhere(
    kinds: list[Ints], found: list[Floats | None], own: int, counts: Ints, labels: Labels
) -> tuple[Floats, Bools]:
    """How many rows of each value stand under aliases of the other kinds, as far as these are decoded, and for which values
    such a kind is still open."""
    others, still = np.zeros(labels.domain.size), np.zeros(labels.domain.size, dtype=np.bool_)
    for number, (kind, part) in enumerate(zip(kinds, found, strict=True)):
        if number == own:
            continue
        if part is None:
            still[labels.codes(int(kind[0]))] = True
        else:
            others += counts[kind] @ part
    return others, still


def _together(
    kinds: list[Ints], likeness: Floats, counts: Ints, people: _People, labels: Labels, totals: bool
) -> list[Floats] | None:
    """The likeliest key when the names of all kinds are chosen together: an integer program, in which each value takes one
    name of each kind that it has, or none, and each name is taken once. None where no key meets the `totals`, where the
    program is too large, or where a kind has more names than values."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    scope = [labels.codes(int(kind[0])).astype(np.int64) for kind in kinds]
    sizes = [len(kind) + 1 for kind in kinds]
    names = np.concatenate([[0], np.cumsum([len(kind) for kind in kinds])])
    values = np.unique(np.concatenate(scope))
    own = [[i for i in range(len(kinds)) if value in scope[i]] for value in values]
    cost = sum(float(np.prod([float(sizes[i]) for i in mine])) for mine in own)
    if cost > _MOST_CHOICES or any(len(kind) > len(codes) for kind, codes in zip(kinds, scope, strict=True)):
        return None
    gains, used, fixed = [], [], []
    for row, (value, mine) in enumerate(zip(values, own, strict=True)):
        chosen = np.array(list(np.ndindex(*(sizes[i] for i in mine))))  # the last number of a kind: no name of it
        fits, seen = np.zeros(len(chosen)), np.zeros(len(chosen))
        for at, i in enumerate(mine):
            fits += np.append(likeness[kinds[i], value], 0.0)[chosen[:, at]]
            seen += np.append(counts[kinds[i]], 0)[chosen[:, at]]
        gain = fits + people.exactly(seen, int(value), totals)
        if not np.isfinite(gain).any():
            return None
        keep = np.flatnonzero(np.isfinite(gain) if totals else gain > gain.max() - _HOPELESS)
        gains.append(gain[keep])
        for choice in chosen[keep]:
            taken = [names[i] + n for i, n in zip(mine, choice, strict=True) if n < len(kinds[i])]
            used.append((int(names[-1]) + row, *(int(one) for one in taken)))
            fixed.append((int(value), taken))
    column = np.repeat(np.arange(len(used)), [len(one) for one in used])
    entries = (np.ones(len(column)), (np.concatenate([np.array(one) for one in used]), column))
    once = sparse.csr_array(entries, shape=(int(names[-1]) + len(values), len(used)))
    best = milp(
        -np.concatenate(gains),
        integrality=np.ones(len(used), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(once, 1, 1),
        options={"node_limit": _MOST_NODES},
    )
    if best.x is None:
        return None
    stacked = np.zeros((int(names[-1]), labels.domain.size))
    for (value, taken), weight in zip(fixed, best.x, strict=True):
        stacked[taken, value] += round(weight)
    return np.split(stacked, names[1:-1])


def families(labels: Labels, aliases: Ints) -> list[Ints]:
    """Aliases of one kind, each of which stands for another value: those that leave the same values open and are numbered
    under one stem (`A07`, `A12`). Aliases whose stem nobody shares are of one kind. Ordered by text, not by position."""
    groups: dict[tuple[bytes, str], list[int]] = {}
    for label in sorted(aliases.tolist(), key=lambda label: labels.texts[label]):
        stem = labels.texts[label].strip().rstrip("0123456789")
        groups.setdefault((labels.codes(label).tobytes(), stem), []).append(label)
    for meaning, stem in list(groups):
        if len(groups[meaning, stem]) == 1 and stem:
            groups.setdefault((meaning, ""), []).extend(groups.pop((meaning, stem)))
    return [np.array(sorted(group, key=lambda label: labels.texts[label])) for group in groups.values()]


def assign(evidence: Floats) -> Floats:
    """P(value) for each name, from evidence (names × values): the best one-to-one assignment, and how sure it is.

    Beside the best assignment only those are weighed in which one name takes another value, and trades with the name that
    has it. Where there are more names than values each value may be taken as often as that needs.
    """
    from scipy.optimize import linear_sum_assignment

    names, values = evidence.shape
    times = -(-names // values)
    tiled = np.tile(evidence, times)
    row, column = linear_sum_assignment(tiled, maximize=True)
    own = tiled[row, column]
    given_up = own[:, None] - tiled
    # what the name that stands there loses when it moves to one's own place; nothing where the place is free
    lost = np.zeros_like(tiled)
    lost[:, column] = (own[:, None] - tiled[:, column]).T
    worse = np.maximum(given_up + lost, 0.0)
    worse[row, column] = 0.0
    nearest = worse.reshape(names, times, values).min(axis=1)
    odds = np.exp(-nearest)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """How many people have each value: `sample` of those of the auxiliary sample, `shown` of those of the release whose value
    is shown openly; `released` people of the release have any value. `totals` is how many people of the release would have
    each value if the known shares were those of this very table, or -1."""

    sample: Floats
    shown: Floats
    released: int
    totals: Floats

    @classmethod
    def of(cls, release: Release, auxiliary: Table | None, column: str, prior: Floats | None) -> _People:
        domain, open_values = release.labels[column].domain, shown(release, column)
        if auxiliary is not None:
            codes = auxiliary.codes[column]
            there = codes[(codes >= 0) & (codes < domain.known)]
            sample = np.bincount(there, minlength=domain.size).astype(np.float64)
        else:  # shares at large, as sure as if they were those of as many people
            sample = open_values.copy() if prior is None else release.rows * prior
            sample[domain.known :] = 0.0
        missing = 0 if domain.missing is None else int(open_values[domain.missing])
        totals = np.full(domain.size, -1.0) if prior is None else release.rows * prior
        whole = np.abs(totals - totals.round()) < 1e-6
        return cls(sample, open_values, release.rows - missing, np.where(whole, totals.round(), -1.0))

    @property
    def expected(self) -> Floats:
        """How many people of the release may be expected to have each value."""
        share = (self.sample + 0.5) / (self.sample.sum() + 0.5 * len(self.sample))
        return np.asarray(self.released * share)

    def ranks(self, seen: Floats) -> Floats:
        """count · log(expected people whose value is not shown): the greatest sum is that of equal ranks."""
        return seen[:, None] * np.log(np.maximum(self.expected - self.shown, 0.5))[None, :]

    def numbers(self, seen: Floats, others: Floats, still: Bools, totals: bool) -> Floats:
        """log P(number of people with the value), `seen` rows being under the alias and `others` under decoded aliases of
        other kinds. A sample leaves that number spread as a negative binomial. Where a kind is still open it is at least
        what has been seen, and every split of N people over three choices, (N+1)(N+2)/2 of them, is as likely as another.
        With `totals` each person too many or too few speaks against it."""
        from scipy.stats import nbinom

        at_least = seen[:, None] + (self.shown + others)[None, :]
        if totals:
            return -_OFF * np.abs(at_least - self.totals)
        size = max(float(self.sample.sum()), 1.0)
        shape, share = self.sample[None, :] + 0.5, size / (size + max(self.released, 1))
        splits = np.maximum(at_least, self.expected[None, :])
        enough = nbinom.sf(at_least - 1, shape, share) * 2 / ((splits + 1) * (splits + 2))
        exactly = self._chance(at_least, np.arange(len(self.sample))[None, :])
        return np.log(np.maximum(np.where(still, enough, exactly), _TINY))

    def exactly(self, seen: Floats, value: int, totals: bool) -> Floats:
        """log P(number of people with the value), `seen` rows being under all its aliases; by the totals, or at large."""
        count = self.shown[value] + seen
        if totals:
            return np.where(count == self.totals[value], 0.0, -np.inf)
        return np.asarray(np.log(np.maximum(self._chance(count, np.array(value)), _TINY)))

    def _chance(self, count: Floats, value: Ints) -> Floats:
        """P(count people have the value), which a sample leaves spread as a negative binomial."""
        from scipy.stats import nbinom

        size = max(float(self.sample.sum()), 1.0)
        return np.asarray(nbinom.pmf(count.round(), self.sample[value] + 0.5, size / (size + max(self.released, 1))))


def _open_values(release: Release, column: str) -> Ints:
    """The value of each row that shows it openly, -1 for the other rows."""
    labels = release.labels[column]
    plain = ~labels.is_alias & (labels.counts == 1)
    return np.where(plain, labels.lo, -1)[release.block_of(column).cell(column)].astype(np.int64)


def _likeness(release: Release, auxiliary: Table | None, column: str) -> Floats:
    """Σ over the rows of each label and the other columns of log P(other label | value), labels × values. The shares are
    those of the auxiliary sample and of the rows that show their value."""
    number, domain = release.block_number(column), release.labels[column].domain
    own, cell = release.blocks[number], release.block_of(column).cell(column)
    size = len(release.labels[column].texts)
    in_bucket = _counted(cell, own.bucket, (size, len(release.sizes)))
    shown = _open_values(release, column)
    evidence = np.zeros((size, domain.size))
    for other in release.columns:
        together = release.block_number(other) == number
        sampled = auxiliary is not None and other in auxiliary.codes
        if other == column or not (sampled or (together and (shown >= 0).any())):
            continue
        labels, block = release.labels[other], release.block_of(other)
        if together:
            rows = _counted(cell, block.cell(other), (size, len(labels.texts)))
        else:  # which of the class's labels is beside the alias is not known: each by its share
            share = _counted(block.bucket, block.cell(other), (len(release.sizes), len(labels.texts)))
            rows = in_bucket @ sparse.csr_array(sparse.diags_array(1 / np.maximum(release.sizes, 1)) @ share)
        counts = sparse.csr_array((labels.domain.size, domain.size))
        if auxiliary is not None and sampled:
            code, value = auxiliary.codes[other], auxiliary.codes[column]
            there = (code >= 0) & (value >= 0)
            counts = _counted(code[there], value[there], counts.shape)
        if together:
            openly = _counted(block.cell(other)[shown >= 0], shown[shown >= 0], (len(labels.texts), domain.size))
            counts = counts + spread(labels).T @ openly
        evidence += rows @ _log_shares(labels, counts.toarray())
    return evidence


def _counted(row: NDArray[Any], column: NDArray[Any], shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)


def _log_shares(labels: Labels, counts: Floats) -> Floats:
    """log P(label | value), labels × values, from how many people have each code and value. The fewer people have a value,
    the more it is taken to be like people at large."""
    overall = (counts.sum(axis=1) + 1) / (counts.sum() + len(counts))
    mixed = max(_MIXED * counts.sum() / max(counts.shape[1], 1), 1.0)
    shares = (counts + mixed * overall[:, None]) / (counts.sum(axis=0) + mixed)
    return np.asarray(np.log(np.maximum(covered(labels) @ shares, _TINY)))
