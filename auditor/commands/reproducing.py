"""The command that tests the claims of papers: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Force, PlotsAndTables, Quiet
from auditor.commands.output import picture_files, refuse_filled
from auditor.commands.progress import Progress
from auditor.commands.signals import resumable
from auditor.commands.telling import tell
from auditor.model.errors import UsageError


@Grouped
def reproduce(
    *,
    names: Annotated[
        list[str] | None,
        Argument(metavar="[PAPER|ITEM]...", help="Papers (000) or items (000.fig1). Default: all.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Folder for the page; finished measurements are kept in it.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None,
        Option(
            "--data",
            help="Folder with adult/ and casc/. Default: what AUDITOR_DATA names, else the built-in town.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int | None, Option("--rows", min=100, help="Use only the first rows of each table.", show_default=False)
    ] = None,
    seeds: Annotated[int, Option("--seeds", min=1, max=100, help="Seeds of every figure that draws.")] = 5,
    counted: Annotated[
        bool, Option("--counted", help="Count operations only, and take no time: the page is then the same everywhere.")
    ] = False,
    jobs: Annotated[int | None, Option("--jobs", min=1, help="Processes to use. Default: one for each processor.")] = (
        None
    ),
    folders: PlotsAndTables,
    list_items: Annotated[bool, Option("--list", help="List the papers and their claims, and run nothing.")] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Test what the papers claim: one page with each claim, the paper's number, ours with its interval, and the verdict. Run
    it again to go on after an interruption."""
    from auditor.files.tables import refuse_existing, write_files
    from auditor.runs.papers.item import Settings
    from auditor.runs.papers.running import choose, find_source
    from auditor.runs.papers.running import reproduce as run
    from auditor.runs.store import CELLS
    from reports.papers import (
        papers_plots,
        papers_summary,
        papers_tables,
        render_papers_html,
        render_papers_markdown,
    )
    from reports.table_files import named_files

    chosen = choose(names or ())
    if list_items:
        for facts in dict.fromkeys(paper.facts for paper, _ in chosen):
            tell(f"{facts.name}  {facts.about}. {facts.source}")
            for paper, item in chosen:
                if paper.facts == facts:
                    tell(f"  {item.name:<16} {item.claim}")
        return
    if output is None:
        raise UsageError("Where the page goes must be said: -o FOLDER. (`--list` lists the claims.)")
    files = {"html": output / "papers.html", "markdown": output / "papers.md", "json": output / "papers.json"}
    kept = output / CELLS
    replace = force or kept.is_dir()  # a run may replace its own page, since its measurements are all kept
    wanted = {name: folder for name, folder in folders.items() if folder is not None}
    made_folders = sorted({output, *wanted.values()}, key=lambda one: len(one.parts))
    for name, folder in wanted.items():
        refuse_filled(name, folder, replace)
    refuse_existing(files.values(), replace, made_folders)
    source = find_source(data, rows)

    def what_is_kept() -> str:
        count = sum(1 for _ in kept.glob("*.json"))
        cells = "1 finished measurement is" if count == 1 else f"{count} finished measurements are"
        return f"{cells} kept in {kept}. Run the same command again to go on."

    with resumable(what_is_kept):
        with Progress(quiet) as progress:
            page = run(names or (), source, output, Settings(seeds, not counted), jobs, progress.step)
        made: dict[Path, str | bytes] = {
            files["html"]: render_papers_html(page),
            files["markdown"]: render_papers_markdown(page),
            files["json"]: page.to_json(),
        }
        if "plots" in wanted:
            made |= picture_files(papers_plots(page), wanted["plots"])
        if "tables" in wanted:
            made |= named_files(papers_tables(page), wanted["tables"])
        write_files(made, replace, made_folders)
    if not quiet:
        tell(papers_summary(page))
        for name, file in {**files, **wanted}.items():
            tell(f"{name}: {file}")
