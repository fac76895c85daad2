"""What an audit was not given, and what it could have said with it.

A release alone shows its class statistics, and what attacks reach when the class of each record is granted. To see who would
be found by what is known of them, and whether members can be told from outsiders, takes the original. A journalist's and a
marketer's risk take a population; some attacks knowledge that only a scenario can grant. Each not applicable row
says what it lacks; here they are gathered, so that a report can set apart what the release shows from what it cannot show.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from auditor.model.record.record import FACTS, MECHANISM, OK, ORIGINAL, POPULATION, Lack, Risk
from scenarios.adversaries import Stance

_GIVE = {
    ORIGINAL: "--original DATA with --match rows (same order), --match COLUMN (an id in both) or --provenance FILE (our own "
    "releases); where the rows are made up (synthetic data), with --no-match and --holdout PEOPLE",
    POPULATION: "--population PEOPLE beside --original",
    MECHANISM: "a scenario (auditor redteam) whose adversary knows the mechanism",
    FACTS: "a scenario (auditor redteam) whose adversary knows what people do not have, or has acquaintances, a sample of "
    "the population or earlier releases",
}


def lacking(
    risks: Sequence[Risk], stances: Collection[str], has_original: bool, has_population: bool
) -> tuple[Lack, ...]:
    """What was not given, with the figures that each would take; in the order of how much they would show. `stances` are
    those of the adversaries who attacked, or who are not wanted."""
    found = {what: _attacks(what, risks) for what in _GIVE}
    if not has_original:
        found[ORIGINAL].append("utility measured against the true values, such as count queries")
    if not (has_original and has_population):
        absent = [f"the {s}'s risk" for s in (Stance.JOURNALIST, Stance.MARKETER) if s not in stances]
        found[POPULATION] = [*absent, *found[POPULATION], "controls on people who are not in the release"]
    return tuple(Lack(what, _give(what, figures), tuple(figures)) for what, figures in found.items() if figures)


def _give(what: str, figures: Sequence[str]) -> str:
    size = what == POPULATION and any("uniqueness" in figure for figure in figures)
    return _GIVE[what] + ("; for uniqueness its size will do (--set uniqueness.population=N)" if size else "")


def _attacks(what: str, risks: Sequence[Risk]) -> list[str]:
    """The attacks that lack something, those that lack it alike together. One that gave figures without it is named with the
    links (or the people compared with) that are missing; one that fails for another reason as well is not helped by it."""
    names: dict[str, list[str]] = {}
    for attack in dict.fromkeys(risk.attack for risk in risks):
        mine = [risk for risk in risks if risk.attack == attack]
        lost = [risk for risk in mine if risk.lacks == what]
        done = any(risk.status == OK for risk in mine)
        if not lost or not (done or len(lost) == len(mine) or what != ORIGINAL):
            continue
        links = dict.fromkeys(str(risk.link) for risk in lost if risk.link is not None)
        others = dict.fromkeys(str(risk.params["against"]) for risk in lost if "against" in risk.params)
        how = (
            f" by the links {', '.join(links)}" if done and links else f" against {', '.join(others)}" if others else ""
        )
        names.setdefault(how, []).append(attack)
    return [", ".join(attacks) + how for how, attacks in names.items()]
