"""The people and classes that are hit hardest, as row numbers of the steward's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auditor.model.record.record import Risk
from reports.reading import Meanings
from reports.tables.tables import Table, link_words, measure_text
from reports.text import clean, finite, number, probability, words

_SHOWN_WORST = 20


def worst_rows(meanings: Meanings, rows: Sequence[Risk]) -> list[tuple[str, str]]:
    """Row numbers of the people hit hardest, one entry for each list that differs: which figures they belong to."""
    gathered: dict[tuple[int, ...], dict[str, list[str]]] = {}
    every = {r.link for r in rows if r.link is not None}
    for risk in rows:
        if risk.worst_rows:
            what = " ".join(part for part in (clean(risk.sensitive or "", 40), measure_text(risk)) if part)
            links = gathered.setdefault(tuple(risk.worst_rows), {}).setdefault(what, [])
            if risk.link is not None and risk.link not in links:
                links.append(risk.link)
    made = []
    for numbers, names in gathered.items():
        more = len(numbers) - _SHOWN_WORST
        text = ", ".join(str(row) for row in numbers[:_SHOWN_WORST]) + (f" and {number(more)} more" if more > 0 else "")
        by_links: dict[str, list[str]] = {}
        for what, links in names.items():
            known = link_words(meanings, [clean(link, 40) for link in links], {clean(link, 40) for link in every})
            by_links.setdefault(known, []).append(what)
        shown = [words(what, 4) + (_under(known)) for known, what in by_links.items()]
        made.append(("; ".join(shown), text))
    return made


def _under(links: str) -> str:
    return "" if not links else f" ({links})" if links.endswith("links") else f" (link {links})"


def worst_classes(rows: Sequence[Risk], adversary: str | None) -> Table | None:
    """The classes whose people would be hit hardest if the class were known: how many people, the mean over them, some rows.
    Of an attack with several figures the mean probability, which tells more of a class than right or wrong."""
    made = []
    mine = [r for r in rows if r.adversary == adversary]
    for risk in [r for r in mine if r.measure == "mean"] or mine:
        noted = risk.detail.get("worst_classes")
        for one in noted if isinstance(noted, list | tuple) else ():
            if isinstance(one, Mapping) and isinstance(one.get("rows"), list | tuple):
                what = " ".join(part for part in (clean(risk.sensitive or "", 40), measure_text(risk)) if part)
                mean, people = finite(one.get("mean")), finite(one.get("people"))
                some = [str(row) for row in one["rows"] if isinstance(row, int)]  # as `--suppress-rows` takes them
                more = "" if people is None or people <= len(some) else ", …"
                made.append((what, number(people), probability(mean), ", ".join(some) + more))
    if not made:
        return None
    return Table(("figure", "people", "mean", "rows of your file"), tuple(made), frozenset({1, 2}))
