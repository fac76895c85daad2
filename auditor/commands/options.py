"""The options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SchemaFile = Annotated[
    Path,
    typer.Option("--schema", help="What each column is (TOML); `auditor profile` proposes one.", show_default=False),
]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="One seed, one answer. Default: 2026, or the scenario's.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables; errors are still shown.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="ATTACK.NAME=VALUE", help="A setting of an attack (see `auditor explain ATTACK`)."),
]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method (see `auditor explain METHOD`)."),
]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML file.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the record as JSON; - is stdout.")]
MarkdownFile = Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown.")]
PlotsFolder = Annotated[
    Path | None, typer.Option("--plots", metavar="DIR", help="Write the pictures into this folder, as SVG and PNG.")
]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write the policy's checks as JUnit XML, for CI.")]
Targets = Annotated[
    str | None,
    typer.Option(
        "--targets", help="Only these people: row numbers (from 1), identifiers, COLUMN=VALUE, or @FILE; by commas."
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        metavar="N",
        help="Attack a sample of about N people, drawn by the seed, against the whole release.",
    ),
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show claimed values of persons in details.")]
Links = Annotated[str | None, typer.Option("--link", help="Link models, by commas. Default: all that apply.")]
Utility = Annotated[
    str | None, typer.Option("--utility", help="Utility measures, by commas; none for none. Default: all that apply.")
]
Attacks = Annotated[str | None, typer.Option("--attacks", help="Attacks, by commas. Default: all.")]
Suppressed = Annotated[str, typer.Option("--suppression", help="How withheld rows count: excluded, own or wildcard.")]
RecursiveL = Annotated[int, typer.Option("--recursive-l", min=1, help="The l of l_recursive_c.")]
EngineChoice = Annotated[
    str | None,
    typer.Option(
        "--engine", help="memory, duckdb or spark. Default: duckdb for large files, folders and databases, else memory."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="What an engine may use, such as 1GB. Default: half of the machine's."
    ),
]
Spill = Annotated[
    Path | None, typer.Option("--spill", metavar="DIR", help="Where an engine puts what does not fit into memory.")
]
