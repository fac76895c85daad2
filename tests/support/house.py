"""The import graph of the project, read from its syntax: circles, and imports to a higher floor.

Every import counts: those inside functions, and those for type checking only. A *circle* is a set of modules that import each
other in a loop. For *floors* each folder is looked at by itself, its files and sub-folders being rooms: a room that takes
part in a loop of rooms has an import to a higher floor, even where no module is in a circle. Imports that the drawn order of
the rooms (`FLOORS`) forbids count as well.

    python -m tests.support.house
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[2]
PACKAGES = ("auditor", "anonymizers", "attacks", "scenarios", "reports")
FLOORS = (
    ("auditor.model", "auditor.version"),
    ("auditor.files", "auditor.posterior", "auditor.measure", "reports"),
    ("auditor.engines", "auditor.profiling", "attacks"),
    ("anonymizers",),
    ("scenarios",),
    ("auditor.auditing",),
    ("auditor.runs",),
    ("auditor.commands",),
    ("auditor.cli",),
    ("auditor.__main__",),
)
"""The rooms from the ground up; those of one floor do not import each other. `auditor` itself hands out names lazily."""


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the five packages, by its dotted name."""
    found = {}
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def _imported(tree: ast.AST, known: Iterable[str]) -> Iterator[str]:
    names = set(known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports are absolute"
            assert node.level == 0, "imports are absolute"
            assert node.module != "auditor", "a room imports from a room, not from the face of the house"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in names:
                    yield whole
                elif node.module in names:
                    yield node.module


def graph(root: Path = ROOT) -> nx.DiGraph[str]:
    """Who imports whom. The face of the house, `auditor/__init__.py`, names homes for type checking only and is left out."""
    known = modules(root)
    made: nx.DiGraph[str] = nx.DiGraph()
    made.add_nodes_from(known)
    for name, file in known.items():
        if name != "auditor":
            tree = ast.parse(file.read_text(encoding="utf-8"))
            made.add_edges_from((name, other) for other in _imported(tree, known) if other not in (name, "auditor"))
    return made


def circles(imports: nx.DiGraph[str]) -> list[list[str]]:
    """The loops of modules."""
    return [sorted(loop) for loop in nx.strongly_connected_components(imports) if len(loop) > 1]


def climbing(imports: nx.DiGraph[str]) -> list[tuple[str, str]]:
    """The imports that run to a higher floor, between rooms or inside one."""
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

    def level(module: str) -> tuple[str, int]:
        room = next(room for room in floor if module == room or module.startswith(f"{room}."))
        return room, floor[room]

    wrong = set()
    for user, used in imports.edges:
        (mine, here), (theirs, there) = level(user), level(used)
        if mine != theirs and there >= here:
            wrong.add((user, used))
    folders = {name.rpartition(".")[0] for name in imports if "." in name}
    for folder in folders:
        rooms: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for user, used in imports.edges:
            if user.startswith(f"{folder}.") and used.startswith(f"{folder}."):
                pair = tuple(name.removeprefix(f"{folder}.").partition(".")[0] for name in (user, used))
                if pair[0] != pair[1]:
                    rooms.setdefault((pair[0], pair[1]), []).append((user, used))
        siblings: nx.DiGraph[str] = nx.DiGraph(list(rooms))
        for loop in nx.strongly_connected_components(siblings):
            inside = {pair: who for pair, who in rooms.items() if set(pair) <= loop and len(loop) > 1}
            fewest = min((len(who) for who in inside.values()), default=0)
            wrong.update(edge for who in inside.values() if len(who) == fewest for edge in who)
    return sorted(wrong)


def main() -> None:
    """Prints what is wrong, and the counts."""
    imports = graph()
    loops, up = circles(imports), climbing(imports)
    for loop in loops:
        print("circle:", ", ".join(loop))
    for user, used in up:
        print("up:", user, "->", used)
    print(f"{len(imports)} modules, {imports.number_of_edges()} imports: "
          f"{len(loops)} circles, {len(up)} imports to a higher floor")  # fmt: skip


if __name__ == "__main__":
    main()
