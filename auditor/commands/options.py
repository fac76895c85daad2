"""The options that several commands share, each declared once, alone or in a group (see `groups`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

import reports

SchemaFile = Annotated[
    Path, Option("--schema", help="What each column is (TOML); `auditor profile` proposes one.", show_default=False)
]
TableFile = Annotated[Path, Argument(help="The table (CSV, Parquet, Arrow, Excel).", show_default=False)]
PolicyChoice = Annotated[str | None, Option("--policy", help="A built-in policy, or a TOML file.")]
Seed = Annotated[
    int | None, Option("--seed", min=0, help="The same seed gives the same result. Default: 2026, or the scenario's.")
]
ReportDate = Annotated[
    str | None,
    Option(
        "--date",
        metavar="YYYY-MM-DD",
        help="The day that reports bear. Default: what SOURCE_DATE_EPOCH says, else none.",
        show_default=False,
    ),
]
Required = Annotated[
    str,
    Option(
        "--require",
        metavar="any|all",
        help="Which of several releases must pass the policy: any (fail where none does) or all (fail where one does not).",
    ),
]
Force = Annotated[bool, Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress and no tables; errors are still shown.")]
Settings = Annotated[
    list[str] | None,
    Option("--set", metavar="ATTACK.NAME=VALUE", help="A setting of an attack (see `auditor explain ATTACK`)."),
]
Targets = Annotated[
    str | None,
    Option(
        "--targets",
        help="Attack only these people: row numbers (from 1), identifiers or COLUMN=VALUE, separated by commas; or @FILE.",
    ),
]
Reveal = Annotated[
    bool, Option("--reveal", help="Show values of single people: in messages, and what an audit claims about them.")
]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]
Links = Annotated[str | None, Option("--link", help="Link models, separated by commas. Default: all that apply.")]
Utility = Annotated[
    str | None,
    Option(
        "--utility",
        help="Utility measures, separated by commas, or `none`. Default: all that apply.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    Option(
        "--columns",
        help="The columns that utility measures of values look at, separated by commas. Default: all that are published.",
        show_default=False,
    ),
]
Attacks = Annotated[str | None, Option("--attacks", help="Attacks, separated by commas. Default: all.")]
Suppressed = Annotated[str, Option("--suppression", help="How suppressed rows count: excluded, own or wildcard.")]
Withheld = Annotated[
    str,
    Option(
        "--withheld-cells",
        help="How single suppressed cells count where records are compared: wildcard (any value, as sdcMicro) or own.",
    ),
]
RecursiveL = Annotated[int, Option("--recursive-l", min=1, help="The l of l_recursive_c.")]
Facts = Annotated[
    str,
    Option(
        "--facts",
        help="For how many facts about people bounds are told: whole numbers from 0 to 20, separated by commas.",
    ),
]

Plots = Annotated[
    Path | None, Option("--plots", metavar="DIR", help="Write the pictures into this folder, as SVG, PDF and PNG.")
]
Tables = Annotated[
    Path | None, Option("--tables", metavar="DIR", help="Write the tables into this folder, as CSV and LaTeX.")
]
FOLDERS: Mapping[str, Any] = {"plots": Plots, "tables": Tables}
"""Reports that are a folder of files, and their options."""

Files = Mapping[str, Path | None]
"""Where each report goes, by the name of its format: None where it is not wanted, - for stdout."""


@dataclass(frozen=True, slots=True)
class Reports:
    """Marks a parameter that takes the files of all report formats except some."""

    without: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The options that a command offers: one for each of `reports.FORMATS`, and for each of `FOLDERS`."""
        made = {one.name: Annotated[Path | None, Option(one.option, help=one.help)] for one in reports.FORMATS}
        return {name: option for name, option in {**made, **FOLDERS}.items() if name not in self.without}


@dataclass(frozen=True, slots=True)
class Folders:
    """Marks a parameter that takes the folders of plots and tables, for a command that writes the other reports anyway."""

    def options(self) -> dict[str, Any]:
        """The options that a command offers."""
        return dict(FOLDERS)


AllReports = Annotated[Files, Reports()]
PlotsAndTables = Annotated[Files, Folders()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The options of every command that makes something from a seed."""

    seed: Seed = None
    force: Force = False
    quiet: Quiet = False

    @property
    def chosen_seed(self) -> int:
        """The seed that was given, or the default."""
        from auditor.model.seeding import DEFAULT_SEED

        return DEFAULT_SEED if self.seed is None else self.seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported(Common):
    """The options of every command that makes reports from a seed."""

    date: ReportDate = None
