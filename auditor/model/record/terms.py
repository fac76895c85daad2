"""The general words of reports: what stands beside a figure, and who attacks. `auditor explain` and the reports tell them."""

from __future__ import annotations

COLUMNS: dict[str, str] = {
    "value": "What the attack reached, measured against the truth. Counts are written “34 of 100”.",
    "interval": "The 95 % interval of a rate, in brackets: what chance alone could have made of it, by who the people are, "
    "given this one release. Another release by the same method may give another figure: --seeds makes several, and the "
    "interval is then over the releases (Student's). Otherwise it is Wilson's; DeLong's for an AUC; Newcombe's for a "
    "difference. Those of the advantage and of members recognised at a rate of errors are conservative: they hold the true "
    "figure more often than in 95 % of cases.",
    "expected": "What the adversary expects of their own claims, from their confidence in them. It is told only where it is "
    "known to be right within two percentage points: where the person's class is known, or labels do not overlap.",
    "baseline": "The same guess without the release, from general knowledge alone.",
    "control": "The same attack on people who are not in the release: real outsiders where a population is given, else the "
    "same people with their own record taken out. What holds for them too is knowledge about the world.",
    "excess": "(value − control) / (1 − control): the part of the risk that a person owes to being in the release. Where "
    "guessing without the release does better than the control, or where there is no control, the excess is taken over that "
    "baseline instead.",
    "n": "How many people the figure is about.",
    "worst rows": "The people hit hardest, as row numbers of your file; the first data row is 1.",
}
"""The columns of the tables of figures."""

STANCES: dict[str, str] = {
    "prosecutor": "The adversary is after one person, and knows that this person is in the release.",
    "journalist": "The adversary is after anybody at all, has a list of the population, and does not know who of it is in "
    "the release.",
    "marketer": "The adversary is after as many people as possible, has a list of the population, and accepts some errors.",
}
"""The three adversaries of the literature (El Emam)."""
