"""The tables of the documents that are made from what attacks, links and measures say of themselves.

`python -m tests.support.documents` writes them into the documents, each after its marker; a test holds them against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from attacks import ATTACKS
from auditor.measure.statistics import STATISTICS
from auditor.measure.utility import MEASURES
from auditor.model.record.meaning import Measure
from auditor.posterior.links import LINKS

DOCUMENT = Path(__file__).parents[2] / "docs" / "measures.md"
_TABLE = re.compile(r"<!-- table: (\w+) -->\n\n(.*?)\n\n", re.DOTALL)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("| --- |", "|---|").replace(" --- |", "---|") for line in lines)


def _names(measures: Iterable[Measure]) -> str:
    return ", ".join(f"`{measure.name}`" for measure in measures)


def attacks() -> str:
    """What each attack claims, by which of the regulators' criteria, and its measures."""
    rows = [(f"`{a.name}`", a.title, a.claim, a.criterion, _names(a.measures)) for a in ATTACKS.builtin]
    return _table(("name", "in reports", "claim", "criterion", "measures"), rows)


def measures() -> str:
    """What the measures of attacks mean, those that mean the same in several attacks once."""
    of: dict[tuple[str, str, str], list[str]] = {}
    for attack in ATTACKS.builtin:
        for one in attack.measures:
            of.setdefault((one.name, one.meaning, f"{one.kind}, {one.better}"), []).append(f"`{attack.name}`")
    rows = [(f"`{name}`", meaning, kind, ", ".join(names)) for (name, meaning, kind), names in of.items()]
    return _table(("measure", "what it is", "kind, better", "attacks"), rows)


def links() -> str:
    """How each link model finds a person's class."""
    return _table(("link", "what it is"), [(f"`{link.name}`", link.meaning) for link in LINKS])


def statistics() -> str:
    """What the class statistics mean."""
    return _table(("name", "what it is", "better"), [(f"`{one.name}`", one.meaning, one.better) for one in STATISTICS])


def utility() -> str:
    """What the measures of utility mean, and where they apply."""
    rows = []
    for one in MEASURES:
        ends = [f"{word} {end:g}" for word, end in (("best", one.words.best), ("worst", one.worst)) if end is not None]
        rows.append((f"`{one.name}`", one.words.meaning, ", ".join([one.words.better, *ends]), one.applies))
    return _table(("name", "what it is", "better", "applies to"), rows)


TABLES = {made.__name__: made for made in (attacks, measures, links, statistics, utility)}


def written(text: str) -> str:
    """A document with its tables as they should be."""
    return _TABLE.sub(lambda found: f"<!-- table: {found[1]} -->\n\n{TABLES[found[1]]()}\n\n", text)


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
