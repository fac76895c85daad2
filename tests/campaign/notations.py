"""Releases written by hand: people in small classes, with labels in all notations that can be read."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.campaign.parts import Grid
from tests.campaign.people import People

_BETWEEN = ("[{0}, {1}]", "[{0}, {2}[", "[{0}, {2})", "({3},{1}]", "{0}-{1}", "{0} to {1}", "{0}..{1}", "{0} - {1}")
_OPEN = ("<{2}", "<={1}", ">{3}", ">={0}", "{0}+", "{0} and over", "under {2}", "at least {0}", "[-Inf, {2})", "[{0},)")


def written(people: People, rng: Random) -> Grid:
    """A release in the order of its original, so that `--match rows` fits."""
    size = rng.choice((1, 2, 3, 5))
    order = sorted(range(len(people.grid.rows)), key=lambda i: people.grid.rows[i][:2])
    names = people.published
    rows = [["" for _ in names] for _ in order]
    for start in range(0, len(order), size):
        members = order[start : start + size]
        hidden = rng.random() < 0.1
        for place, name in enumerate(names):
            here = people.grid.header.index(name)
            cells = [people.grid.rows[i][here] for i in members]
            if people.columns[name]["role"] != "quasi":
                for i, cell in zip(members, cells, strict=True):
                    rows[i][place] = cell
                continue
            label = "*" if hidden else _label(people, name, cells, rng)
            for i in members:
                rows[i][place] = label if rng.random() > 0.02 else "*"
    if rng.random() < 0.15:
        key = people.names("identifier")
        if key:
            names = [key[0], *names]
            rows = [[people.grid.rows[i][people.grid.header.index(key[0])], *row] for i, row in enumerate(rows)]
    return Grid("release", names, rows, people.grid.delimiter)


def _label(people: People, name: str, cells: list[str], rng: Random) -> str:
    """A label that covers these cells."""
    column: dict[str, Any] = people.columns[name]
    known = [cell for cell in cells if cell not in people.table.get("missing", [""]) + column.get("missing", [])]
    if not known or len(known) < len(cells):
        return cells[0] if len(set(cells)) == 1 else rng.choice(("**", "*"))
    if len(set(cells)) == 1 and rng.random() < 0.7:
        return cells[0]
    if rng.random() < 0.08:
        return rng.choice(("*", "**"))
    if column.get("type") == "numeric":
        return _numbers(cells, people.table.get("decimal", "."), rng)
    if "order" in column:
        low, *_, high = sorted([*cells, *cells], key=column["order"].index)
        return rng.choice(("[{}, {}]", "{}-{}", "{{{}, {}}}")).format(low, high) if low != high else low
    if name == "town":
        return rng.choice(("North|South", "*", "{Ayton, Beeham, Cray, Dover, Eling}", "**"))
    if name == "born":
        return rng.choice((*({cell[:4] for cell in cells} if len({cell[:4] for cell in cells}) == 1 else ()), "**"))
    if name in ("zip", "code"):
        length = next((i for i in range(len(cells[0])) if len({cell[: i + 1] for cell in cells}) > 1), len(cells[0]))
        return cells[0][:length] + rng.choice(("*", "*" * max(1, len(cells[0]) - length)))
    texts = sorted(set(cells))
    return rng.choice(("{" + ", ".join(texts) + "}", "|".join(texts), ",".join(texts), "**"))


def _numbers(cells: list[str], decimal: str, rng: Random) -> str:
    found = sorted(float(cell.replace(",", ".")) for cell in cells)
    low, high = found[0], found[-1]
    if rng.random() < 0.1:
        ends = [sum(found) / len(found)]  # a mean
        form = "{0}"
    else:
        ends, form = [low, high, high + 1, low - 1], rng.choice(_OPEN if rng.random() < 0.2 else _BETWEEN)
    return form.format(*(f"{end:g}".replace(".", decimal) for end in ends))
