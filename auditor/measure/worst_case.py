"""Worst-case background knowledge: how sure m facts can make somebody of one person's value who knows the classes.

A class shows how often each value occurs among its people. Which of them has which is not known: every way to deal the values
out is as likely as any other, in each class by itself. A *fact* is an implication between atoms: "if A has s, then B has s'".
A and B may be the same person: "if Bob has flu, he has HIV" says that Bob has no flu. The question is how high P(t has s) can
become for a person t of a class, over all s and all sets of m facts that can be true.

1. One consequent is enough. Let C be "t has s" and let the facts be A_i → B_i. Then P(C and the facts) <= P(C). Where
   neither C nor any A_i holds all facts do, so P(not C, and the facts) >= P(neither C nor any A_i). Hence P(C | facts) <=
   P(C) / (P(C) + P(neither C nor any A_i)), and the facts A_i → C reach it. The same holds where a fact has several atoms
   before the arrow and anything at all behind it. What is left is to choose m atoms such that least often none of them holds.
2. Classes are independent, so P(none of the atoms holds) is a product over classes.
3. In a class of n people let T(k) be how many have one of its k most frequent values, and let atoms name k_0 >= k_1 >= …
   values of different people. P(none holds) is least where these are the k_i most frequent ones for each of them. To see it,
   take a value s and one s' that is no more frequent; X are the people of whom s is named and s' is not, Y those of whom s'
   is and s is not. Name s in place of s' for all of Y. Of those who have one of the two values let x be in X and y in Y, and
   let R = n_s + n_s' - x - y. The ways to deal the two values out were C(R, n_s - y) and are C(R, n_s): no more, since n_s
   is at least as far from R/2. With such sets, person after person, P = Π_i (n - i - T(k_i)) / (n - i), largest set first.
4. The same choice has the largest P(C): C is the most frequent value of the person with the most atoms. So both parts of
   the ratio P(neither C nor any A_i) / P(C) are at their best together.

The least products are found by two dynamic programs, over the atoms of a class and over classes; both are polynomial in m.
Classes with the same greatest counts are alike and computed once. At most m classes beside the person's own are of use, so
that for each number of atoms the m + 1 best classes are enough.

Paper: D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-Case Background Knowledge for Privacy-Preserving
Data Publishing", ICDE 2007. Here the bound is also given for every person, not only for the worst, and for facts about people
of one's own class alone: a class in which all have one value makes "if A has s, then t has s'" the same as saying that t
has s', so that one fact about anybody is often enough for certainty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditor.measure.counts import Entries
from auditor.model.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """By class, the highest probability that one of its people has some value, to somebody who knows the class and some
    facts about people of any class (`anybody`), or of this class (`own`)."""

    anybody: Floats
    own: Floats


def worst_case(counts: Entries, facts: int) -> WorstCase:
    """The bounds for so many facts. `counts` has no empty class."""
    if not len(counts.sizes):
        return WorstCase(np.empty(0), np.empty(0))
    tops, which, times = np.unique(_tops(counts, facts + 1), axis=0, return_inverse=True, return_counts=True)
    size, most = tops[:, -1], tops[:, 1]
    none = none_holds(size, tops[:, :-1])
    odds = none[:, 1:] * (size / most)[:, None]  # against C, with so many other atoms about people of the class
    rest = _rest(none[:, : facts + 1], times)
    against = (odds * rest[:, ::-1]).min(axis=1)
    of_class = which.reshape(-1)
    return WorstCase((1 / (1 + against))[of_class], (1 / (1 + odds[:, facts]))[of_class])


def none_holds(size: Ints, tops: Ints) -> Floats:
    """The least probability that none of some atoms about people of a class holds, by class (rows) and number of atoms
    (columns, from 0). `tops[:, k]` is how many people of the class have one of its k most frequent values."""
    most = tops.shape[1] - 1
    least = np.full((most + 1, most + 1, len(size)), np.inf)  # by the people named so far, and by atoms
    least[0, 0] = 1.0
    for k in range(most, 0, -1):  # people with k atoms each, after those with more
        for people in range(most // k):
            more = size > people
            avoids = np.maximum(size - people - tops[:, k], 0) / np.maximum(size - people, 1)
            for atoms in range(k * people, most - k + 1):
                named = more & np.isfinite(least[people, atoms])
                after = np.multiply(least[people, atoms], avoids, out=np.full(len(size), np.inf), where=named)
                least[people + 1, atoms + k] = np.minimum(least[people + 1, atoms + k], after)
    return np.asarray(least.min(axis=0).T)


def _tops(counts: Entries, most: int) -> Ints:
    """By class, how many people have one of its k most frequent values, for k from 0 to `most`; then its size."""
    order = np.lexsort((-counts.count, counts.row))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts.distinct) - counts.distinct, counts.distinct)
    found = np.zeros((len(counts.sizes), most + 2), dtype=np.int64)
    kept = rank < most
    found[counts.row[order][kept], rank[kept] + 1] = counts.count[order][kept]
    found = np.cumsum(found, axis=1)
    found[:, -1] = counts.sizes
    return found


def _rest(none: Floats, times: Ints) -> Floats:
    """For each kind of class, the least probability that none of so many atoms about people of other classes holds. `none`
    is that of the atoms in one class, `times` how many classes there are of each kind."""
    facts = none.shape[1] - 1
    useful = set[int]()
    for atoms in range(1, facts + 1):
        order = np.argsort(none[:, atoms], kind="stable")
        enough = int(np.searchsorted(np.cumsum(times[order]), facts + 1)) + 1
        useful.update(order[:enough].tolist())
    copies = [kind for kind in sorted(useful) for _ in range(min(int(times[kind]), facts + 1))]
    nobody = np.ones(facts + 1)  # no class to choose atoms in: all are left unused
    before, after = [nobody], [nobody]
    for kind in copies:
        before.append(_joined(before[-1], none[kind]))
    for kind in reversed(copies):
        after.append(_joined(after[-1], none[kind]))
    after.reverse()
    rest = np.tile(before[-1], (len(none), 1))
    for kind in useful:
        place = copies.index(kind)
        rest[kind] = _joined(before[place], after[place + 1])
    return rest


def _joined(one: Floats, other: Floats) -> Floats:
    """The least products of two, by the atoms of both together."""
    return np.array([(one[: atoms + 1] * other[atoms::-1]).min() for atoms in range(len(one))])
