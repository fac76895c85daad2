"""Class sizes as a cost: `discernibility` and `class_size`.

- `discernibility`: Σ over classes E of at least k people of |E|², plus |D|·|E| for each smaller one. Everybody costs the
  number of people they cannot be told apart from; those in classes below k, suppressed or left out cost the whole table D.
  Paper: R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
- `class_size`: C_avg = (people / classes) / k, the mean class size as a multiple of the least one allowed. Paper: K. LeFevre,
  D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
"""

from __future__ import annotations

from auditor.measure.utility.case import NOBODYS, Case
from auditor.measure.utility.measure import NOT_SYNTHETIC, measure, not_applicable
from auditor.model.record.record import Utility


def discernibility(case: Case) -> list[Utility]:
    """Σ|E|² over classes of at least k people, plus n for everybody in a smaller class, suppressed or left out."""
    release, k = case.release, case.k
    if release.synthetic:
        return [not_applicable("discernibility", NOBODYS)]
    (sizes, times), n = release.size_counts(), release.rows + release.left_out
    small = sizes < (k or 0)
    withheld = release.suppressed_rows + release.left_out
    value = int((sizes**2 * times)[~small].sum()) + n * (int((sizes * times)[small].sum()) + withheld)
    params = {"k": k, "n": n, "suppressed_rows": withheld}
    return [Utility("discernibility", value=value, better="lower", params=params)]


def class_size(case: Case) -> list[Utility]:
    """The mean class size over k. Suppressed rows are in no class and do not count."""
    (sizes, times), k = case.release.size_counts(), case.k
    if k is None or not len(sizes) or case.release.synthetic:
        reason = "no k was asked for" if k is None else "the release has no class"
        reason = NOBODYS if case.release.synthetic else reason
        return [not_applicable("class_size", reason)]
    people = int((sizes * times).sum())
    params = {"k": k, "n": people, "suppressed_rows": case.release.suppressed_rows}
    return [Utility("class_size", value=float(people / int(times.sum()) / k), better="lower", params=params)]


DISCERNIBILITY = measure(
    "discernibility",
    "How many people each person cannot be told from: the sum of squared class sizes, and n for everybody in a class "
    "below k, suppressed or left out. It grows with the number of rows.",
    "discernibility",
    discernibility,
    NOT_SYNTHETIC,
    "Bayardo & Agrawal 2005",
)
CLASS_SIZE = measure(
    "class_size",
    "Mean class size, as a multiple of the k asked for; 1 is best.",
    "mean class size over k",
    class_size,
    f"{NOT_SYNTHETIC}, for which a k was asked",
    "LeFevre, DeWitt & Ramakrishnan 2006",
)
