"""What the words of a report mean: columns, links, measures and class statistics, once for all renderers."""

from __future__ import annotations

SWEEP = "Each figure is the mean over a few sets of so many known attributes, which grow along random orders."

COLUMNS: tuple[tuple[str, str], ...] = (
    ("value", "What the attack reached, measured against the truth. Counts are written “34 of 100”."),
    ("interval", "The 95 % interval of a rate, in brackets: what chance alone could have made of it."),
    ("expected", "What the attacker expects to reach, by their own belief. Far from the value: the belief is wrong."),
    ("baseline", "The same guess without the release, from general knowledge alone."),
    (
        "control",
        "The same attack on people who are not in the release, or on the same people with their own record taken out.",
    ),
    (
        "excess",
        "(value − control) / (1 − control): the part of the risk that a person owes to being in the release. Where "
        "guessing without the release does better than the control, it is taken over that baseline instead.",
    ),
    ("n", "How many people the figure is about."),
    ("worst rows", "The people hit hardest, as row numbers of your file; the first data row is 1."),
)

LINKS: tuple[tuple[str, str], ...] = (
    ("class", "The attacker is told which class the person is in: the worst case, and the one a policy judges."),
    ("containment", "Every class that could hold the person counts alike: the convention of the literature."),
    ("likelihood", "Classes are weighed by how likely each holds the person (Bayes' rule): narrow labels weigh more."),
    ("tightest", "The attacker takes the class with the narrowest labels that cover the person."),
    ("distance", "The attacker takes the nearest published record; for averaged and noisy values."),
)

ADVERSARIES: tuple[tuple[str, str], ...] = (
    ("prosecutor", "Is after one person and knows that this person is in the data."),
    ("journalist", "Is after anybody at all, and has a register of the population."),
    ("marketer", "Is after as many people as possible, and does not mind some errors."),
)

MEASURES: tuple[tuple[str, str, str], ...] = (
    ("linking", "max, mean", "Highest and mean probability of linking a person to their own record."),
    ("linking", "at_risk", "How many people are linked with a probability above the threshold."),
    ("linking", "success", "Share of links that were right, ties split."),
    ("linking", "class_found", "Share of people whose true class got the most belief."),
    ("record-linkage", "success", "Share of people whose nearest published record is their own, ties split."),
    (
        "record-linkage",
        "rank_interval",
        "Share of true numbers that lie within the given percentage of ranks of the number published for them.",
    ),
    ("homogeneity", "certain", "How many people can be given one value with certainty."),
    ("homogeneity", "above", "How many people can be given one value with a confidence above τ."),
    ("homogeneity", "success", "Share of people for whom the most likely value is the true one."),
    ("proximity", "max, mean", "Highest and mean belief within ±ε of the true number."),
    ("proximity", "above", "How many people have more than τ of the belief within ±ε of their true number."),
    ("proximity", "window", "The most belief that falls into any interval of the given width."),
    ("proximity", "success", "Share of people whose true number lies in the interval that the attacker claims."),
    (
        "proximity",
        "m",
        "The largest m for which (ε,m)-anonymity holds: at most one in m values of a class lies within ±ε of any.",
    ),
    (
        "divergence",
        "mean",
        "Mean belief on values unrelated to the truth: the harm of being thought to have what one has not.",
    ),
    ("divergence", "above", "How many people have more than τ of the belief on unrelated values."),
    ("divergence", "top", "Share of people of whom the strongest belief is unrelated to the truth."),
    ("membership", "auc", "How often a member is ranked above a non-member: 0.5 is a coin, 1 is always."),
    (
        "membership",
        "advantage",
        "Share called members among members, less the share among non-members, at the best cut-off.",
    ),
    (
        "membership",
        "tpr_at_fpr_…",
        "Share of members recognised while the named share of non-members is called members in error.",
    ),
    ("membership", "no_match", "Share of outsiders that match nothing published: known for certain to be out."),
    ("membership", "fakes", "How many made-up people match the release."),
    ("other attacks", "success", "Share of claims (a value, a record, a class) that were right."),
)

UTILITY: tuple[tuple[str, str], ...] = (
    ("granularity", "How fine the published values are: 1 is as in the original, 0 is nothing left."),
    (
        "discernibility",
        "Sum of squared class sizes: how many people each person cannot be told from. Depends on the number of rows.",
    ),
    ("queries", "Relative error of random counting queries, as an analyst would ask them; 0 is exact."),
    ("class_size", "Mean class size, as a multiple of the k asked for; 1 is best."),
)

GLOSSES: dict[str, str] = {
    "k": "people in the smallest class",
    "prosecutor_max": "highest chance of naming somebody's record, class known",
    "prosecutor_mean": "the same on average",
    "prosecutor_min": "the same in the largest class",
    "wildcard_max": "highest chance, a withheld cell being any value",
    "wildcard_mean": "the same on average",
    "at_risk": "records with a higher chance than the threshold",
    "marketer": "share of right links; fewer where the register has outsiders",
    "sample_uniques": "records that are alone in their class",
    "weighted_people": "people of the population whom the records stand for",
    "weighted_max": "highest chance of finding a record's person among them",
    "weighted_mean": "the same on average",
    "weighted_reidentified": "expected number of right links, all records tried",
    "weighted_at_risk": "records with a higher chance than the threshold",
    "journalist_max": "highest chance of naming a record's person among those of the register who fit",
    "journalist_mean": "the same on average, over records or people, the greater",
    "register_marketer": "share of right links, each record given to somebody of the register who fits",
    "register_at_risk": "records with a higher chance than the threshold",
    "short": "classes with more records than people of the register who fit: it is not complete",
    "values": "different values in the release",
    "alpha": "largest share of one value in a class",
    "l_distinct": "fewest different values in a class",
    "l_entropy": "the same, rare values counting less",
    "l_recursive_c": "how far the commonest value outweighs the rare",
    "t_equal": "farthest class from the table, values alike",
    "t_ordered": "the same, values in their order",
    "t_hierarchical": "the same, values by their taxonomy",
    "beta_basic": "largest relative gain of a value in a class",
    "beta_enhanced": "the same, capped for frequent values",
    "delta_disclosure": "largest change of a share (logarithm)",
    "proximity_m": "at most one in m of a class within ±ε of any number",
    "homogeneity": "share of people guessed right by the commonest value of their class",
}

STATISTICS: tuple[tuple[str, str], ...] = (
    ("k", "The size of the smallest class: nobody is hidden among fewer."),
    (
        "prosecutor_max, prosecutor_mean, prosecutor_min",
        "The chance of naming a person's record, one over the size of the class, for somebody who knows that the person is "
        "in the release: the highest, the mean over records, the lowest.",
    ),
    (
        "wildcard_max, wildcard_mean",
        "The same where a withheld cell may be any value, so that people hide among more than their class.",
    ),
    ("at_risk", "How many records have a chance above the threshold."),
    (
        "marketer",
        "The share of right links of somebody who links everybody in a register that holds nobody but the people of the "
        "release; with outsiders in the register it is lower, and so is a journalist's chance.",
    ),
    ("sample_uniques", "How many records are alone in their class."),
    (
        "weighted_max, weighted_mean, weighted_reidentified, weighted_at_risk",
        "The individual risk of a sample with weights: a class of records stands for as many people as its weights add up "
        "to. Highest, mean, sum (expected right links), and records above the threshold.",
    ),
    (
        "journalist_max, journalist_mean, register_marketer, register_at_risk",
        "The same beside a register: one over the people of it who fit a class. Highest, mean, the share of right links "
        "where each record is linked with one of them, and records above the threshold.",
    ),
    (
        "short",
        "Classes that fewer people of the register fit than they have records. It is not complete then, and they count as if "
        "as many fitted as there are records.",
    ),
    ("alpha", "The largest share of one sensitive value in a class."),
    ("l_distinct", "The fewest different sensitive values in a class."),
    ("l_entropy", "The same, with values that are rare in the class counting less (exponential of the entropy)."),
    (
        "l_recursive_c",
        "The smallest c of recursive (c,l)-diversity for the asked l: how far the commonest value outweighs the rare.",
    ),
    (
        "t_equal, t_ordered, t_hierarchical",
        "The largest distance of a class from the whole table, with all values equally far, in order, or by taxonomy.",
    ),
    (
        "beta_basic, beta_enhanced",
        "β-likeness: the largest relative gain of one value's share in a class over its share in the table.",
    ),
    (
        "delta_disclosure",
        "The largest change, up or down, of a value's share in a class against the table, as a logarithm.",
    ),
    (
        "proximity_m",
        "The largest m for which (ε,m)-anonymity holds: at most one in m of a class lies within ±ε of any number in it.",
    ),
    (
        "homogeneity",
        "The share of all people whose sensitive value is the commonest of their class: what somebody gets right who guesses "
        "that, the class known.",
    ),
)
