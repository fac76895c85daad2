"""The catalogue: what there is, and what each thing means, for `auditor list` and `auditor explain`."""

from __future__ import annotations

import dataclasses
import difflib
from itertools import takewhile

from tabulate import tabulate

from anonymizers import ANONYMIZERS
from attacks import ATTACKS
from auditor.measure.utility import MEASURES
from auditor.model.errors import UsageError
from auditor.model.record.policy import builtin_policies
from scenarios.adversaries import Stance
from scenarios.scenario import builtin_scenarios

METRICS = {
    **{measure.name: f"{measure.what} {measure.better.capitalize()} is better." for measure in MEASURES},
    "k": "The size of the smallest class.",
    "alpha": "The largest share that one sensitive value has in a class.",
    "l_distinct": "The least number of different sensitive values in a class.",
    "l_entropy": "exp of the least entropy of a class's sensitive values, not rounded.",
    "l_recursive_c": "The least c for which every class is recursively (c, l)-diverse: it holds for every greater c.",
    "t_equal": "The largest distance of a class's sensitive values from the whole table's, all values equally far apart.",
    "t_ordered": "The same for ordered values: earth mover's distance over ranks.",
    "t_hierarchical": "The same over the taxonomy of the values.",
    "beta_basic": "The largest relative gain of a value's share in a class over its share in the table.",
    "beta_enhanced": "The least β for which no gain exceeds min(β, -ln of the value's share in the table).",
    "delta_disclosure": "The largest |ln| of a class's share of a value over the table's; needs every value in every class.",
    "proximity_m": "The largest m for which at most one in m of a class lies within ±ε of any number in it: (ε,m)-anonymity.",
    "prosecutor_max": "The highest chance of naming a person's record: one over the size of the smallest class.",
    "prosecutor_mean": "The mean of that over records: classes over records.",
    "at_risk_share": "The share of records whose chance of being named exceeds the threshold (0.2).",
    "sample_uniques": "How many records are alone in their class.",
    "weighted_max": "The highest individual risk where records carry sampling weights (Benedetti and Franconi 1998).",
    "weighted_reidentified": "The sum of the individual risks: how many right links are expected when all records are tried.",
}

LINKS = {
    "containment": "Every record whose labels cover the person counts alike: the convention of the literature.",
    "likelihood": "Records weigh one over the share of the population that their labels cover: Bayes' rule; calibrated.",
    "class": "The person's class is granted: the worst case that k-anonymity accounts for, and what policies judge.",
    "tightest": "The class that hides least among those that cover the person: where a loss-minimising tool put them.",
    "distance": "The nearest records: for averages, centres of clusters and noise, which cover nobody or somebody else.",
}


TERMS = {
    "prosecutor": "An adversary who knows that one person is in the release, and wants to know more about them.",
    "journalist": "An adversary who wants to expose any one person, and does not know who is in the release.",
    "marketer": "An adversary who wants to identify as many people as possible, and does not know who is in the release.",
    "baseline": "What the same guess would achieve without the release.",
    "control": "What the same attack achieves on people who are not in the release: real outsiders where a population is "
    "given, else the targets with their own record left out. What holds for them too is knowledge about the world.",
    "excess": "What an attack has over its control, as a share of what the control leaves: (attack - control)/(1 - control). "
    "Where a leave-one-out control lies below the baseline (for a harm: above it), the baseline takes its place.",
    "expected": "What the adversary expects of their own claims. Under the link likelihood it should agree with the value.",
    "interval": "The 95 % interval of a rate: Wilson's; DeLong's for an AUC; Newcombe's for a difference.",
    "max": "linking: the highest probability of a right link; proximity: the highest mass near a true number.",
    "mean": "linking, proximity: the mean over targets of the probability that is meant; divergence: of unrelated beliefs.",
    "at_risk": "linking: how many people are linked with a probability above `threshold` (0.2).",
    "success": "The share of right claims; a claim among m tied ones counts 1/m.",
    "class_found": "linking: for how many people their true class got the most mass.",
    "rank_interval": "record-linkage: the share of true numbers within `percent` (5) % of the ranks of the published ones.",
    "certain": "homogeneity: about how many people one value is certain.",
    "above": "How many people have a probability above `tau` (0.5).",
    "window": "proximity: the highest mass in any window of the given width.",
    "m": "proximity: the largest m for which the classes are (ε,m)-anonymous.",
    "top": "divergence: the share of people whose top belief is unrelated to the truth.",
    "auc": "membership: the chance that a member scores above somebody who is not in; 0.5 is a coin.",
    "advantage": "membership: the greatest true positive rate less false positive rate over all thresholds.",
    "tpr_at_fpr_0.01": "membership: the share of members found when one outsider in 100 is falsely accused.",
    "tpr_at_fpr_0.001": "membership: the share of members found when one outsider in 1000 is falsely accused.",
    "no_match": "membership: the share of outsiders whom nothing in the release fits: certainly out.",
    "fakes": "membership: how many made-up people something in the release fits.",
}


def _scenario_summary(name: str) -> str:
    """The first sentence of the comment at the top of a scenario file."""
    lines = builtin_scenarios()[name].read_text(encoding="utf-8").splitlines()
    comment = " ".join(line.lstrip("# ").strip() for line in takewhile(lambda line: line.startswith("#"), lines))
    return comment.split(". ")[0].rstrip(".") + "." if comment else name


def catalogue(what: str) -> str:
    """A table of all things of one sort."""
    if what == "anonymizers":
        rows = [(name, plugin.summary, plugin.paper) for name, plugin in ANONYMIZERS.all().items()]
    elif what == "attacks":
        rows = [(name, plugin.claim, plugin.paper) for name, plugin in ATTACKS.all().items()]
    elif what == "metrics":
        return tabulate(METRICS.items(), ("name", "what it is"), tablefmt="simple", maxcolwidths=[None, 90])
    elif what == "policies":
        rows = [(policy.name, policy.title, policy.source) for policy in builtin_policies().values()]
    elif what in ("links", "adversaries"):
        chosen = LINKS if what == "links" else {str(stance): TERMS[stance] for stance in Stance}
        return tabulate(chosen.items(), ("name", "what it is"), tablefmt="simple", maxcolwidths=[None, 90])
    elif what == "scenarios":
        pairs = [(name, _scenario_summary(name)) for name in builtin_scenarios()]
        return tabulate(pairs, ("name", "what it is"), tablefmt="simple", maxcolwidths=[None, 90])
    else:
        known = ("anonymizers", "attacks", "adversaries", "links", "metrics", "policies", "scenarios")
        raise UsageError(f"list must be given one of {', '.join(known)}. Got {what!r}.")
    return tabulate(rows, ("name", "what it does", "source"), tablefmt="simple", maxcolwidths=[None, 60, 36])


def explanation(name: str) -> str:
    """What one thing means, needs and promises."""
    if name in ANONYMIZERS.all():
        plugin = ANONYMIZERS.get(name)
        return f"{name}: an anonymizer\n\n{plugin.explanation()}\n\nSettings: {_settings(plugin)}"
    if name in ATTACKS.all():
        attack = ATTACKS.get(name)
        facts = [
            ("Claim", attack.claim),
            ("Goal", str(attack.goal)),
            ("Needs", attack.needs),
            ("Success", attack.success),
            ("Lowered by", attack.lowered_by),
            ("Paper", attack.paper),
            ("Settings", _settings(attack)),
        ]
        said = "\n".join(f"{key}: {value}" for key, value in facts)
        return f"{name}: an attack\n\n{attack.explanation()}\n\n{said}"
    for measure in MEASURES:
        if measure.name == name:
            return f"{name}: a utility measure\n\n{measure.explanation()}"
    for sort, known in (("a metric", METRICS), ("a link model", LINKS), ("a word of the reports", TERMS)):
        if name in known:
            return f"{name}: {sort}\n\n{known[name]}"
    policies = builtin_policies()
    if name in policies:
        policy = policies[name]
        checks = "\n".join(
            f"  {c.figure} {c.relation} {c.limit:g} ({c.adversary}, link {c.link})" for c in policy.checks
        )
        return f"{name}: a policy\n\n{policy.title}\nSource: {policy.source}\n\n{checks}"
    if name in builtin_scenarios():
        return f"{name}: a scenario\n\n{builtin_scenarios()[name].read_text(encoding='utf-8')}"
    known_names = [*ANONYMIZERS.all(), *ATTACKS.all(), *METRICS, *LINKS, *TERMS, *policies, *builtin_scenarios()]
    near = difflib.get_close_matches(name, known_names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known_names)}."
    raise UsageError(f"There is nothing called {name!r} to explain. {hint}")


def _settings(plugin: type) -> str:
    said = [f"{field.name} = {field.default}" for field in dataclasses.fields(plugin)]
    return ", ".join(said) or "none"
