"""What the commands share: reading their options, writing their results, showing progress. Imports are lazy here too."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record import RunRecord
    from auditor.posterior.links import Link

Files = Mapping[str, Path | None]
"""What to write where: html, json, markdown, junit, plots (a folder); None for what is not wanted, - for stdout."""


PICTURE = "risk-against-utility.svg"
"""The file that shows risk against utility, among the plots."""


def setting_pair(text: str) -> tuple[str, str]:
    """The name and value of one --set."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"--set must be NAME=VALUE. Got {text!r}.")
    return key.strip(), value.strip()


def attack_settings(texts: list[str]) -> dict[str, dict[str, str]]:
    """The settings of each attack, from --set ATTACK.NAME=VALUE."""
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        key, value = setting_pair(text)
        attack, sign, name = key.partition(".")
        if not sign:
            raise UsageError(
                f"--set must name the attack, ATTACK.NAME=VALUE, such as proximity.epsilon=5. Got {text!r}."
            )
        settings.setdefault(attack, {})[name] = value
    return settings


def names(text: str | None) -> tuple[str, ...] | None:
    """The names in a list by commas."""
    if text is None:
        return None
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise UsageError("A list of names must not be empty.")
    return found


def link_models(text: str | None) -> tuple[Link, ...] | None:
    """The link models that --link names."""
    from auditor.posterior.links import Link

    wanted = names(text)
    if wanted is None:
        return None
    unknown = [name for name in wanted if name not in list(Link)]
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(Link), n=1)
        hint = f" Did you mean {str(near[0])!r}?" if near else ""
        raise UsageError(f"--link must be one of {', '.join(Link)}. Got {unknown[0]!r}.{hint}")
    return tuple(Link(name) for name in wanted)


def measures(text: str | None) -> tuple[str, ...] | None:
    """The utility measures that --utility names; () for `none`."""
    from auditor.measure.utility import find_measures

    wanted = names(text)
    return None if wanted is None else find_measures(wanted)


def conventions(suppression: str, weighting: str) -> dict[str, Any]:
    """The options that say how suppressed rows and buckets count."""
    from auditor.model.release import Suppression
    from auditor.posterior.links import Weighting

    if suppression not in list(Suppression):
        raise UsageError(f"--suppression must be one of {', '.join(Suppression)}. Got {suppression!r}.")
    if weighting not in list(Weighting):
        raise UsageError(f"--weighting must be one of {', '.join(Weighting)}. Got {weighting!r}.")
    return {"suppression": Suppression(suppression), "weighting": Weighting(weighting)}


def adversaries(knows: str | None, register: bool) -> dict[str, Any]:
    """The option that says who attacks, where --knows restricts what they know."""
    from dataclasses import replace

    from scenarios.adversaries import JOURNALIST, MARKETER, PROSECUTOR

    if knows is None:
        return {}
    people = (PROSECUTOR, JOURNALIST, MARKETER) if register else (PROSECUTOR,)
    return {"adversaries": tuple(replace(person, knows=names(knows)) for person in people)}


def listed_targets(text: str) -> list[str]:
    """The people that --targets names."""
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--targets: {text[1:]} cannot be read ({error}).") from error
        named = [line.strip() for line in lines if line.strip()]
    else:
        named = [part.strip() for part in text.split(",") if part.strip()]
    if not named:
        raise UsageError("--targets names nobody.")
    return named


def refuse_inputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuses to write over what is read, whatever --force says."""
    read = {file.resolve() for file in inputs if file is not None}
    for file in outputs:
        if file is not None and file.resolve() in read:
            raise UsageError(f"{file} is read by this command and must not be written over. Choose another name.")


def refuse_same(outputs: Sequence[Path]) -> None:
    """Refuses to write two things into one file."""
    for place, file in enumerate(outputs):
        if file.resolve() in [other.resolve() for other in outputs[:place]]:
            raise UsageError(f"{file} is to hold two things. Give each its own file.")


def run_files(folder: Path) -> dict[str, Path]:
    """What a run writes into its folder."""
    return {"html": folder / "report.html", "json": folder / "run.json", "markdown": folder / "report.md"}


def refuse_early(files: Files, force: bool, folder: Path | None = None) -> None:
    """Refuses, before any work, to write over files, or several results to stdout."""
    from auditor.files import refuse_existing

    to_stdout = [f"--{kind} -" for kind, file in files.items() if file == Path("-")]
    if len(to_stdout) > 1:
        raise UsageError(f"Only one result can go to stdout. Got {' and '.join(to_stdout)}.")

    plots = files.get("plots")
    if plots == Path("-"):
        raise UsageError("--plots must name a folder. Got -.")
    wanted = [file for kind, file in files.items() if kind != "plots" and file is not None and file != Path("-")]
    refuse_existing(wanted, force, _made(folder, plots))
    if plots is not None and not force and plots.is_dir():
        old = sorted(file.name for file in plots.iterdir() if file.suffix in (".svg", ".png"))
        if old:
            raise UsageError(f"{plots} holds pictures already ({old[0]}). Use --force, or give another folder.")


def _made(folder: Path | None, plots: Path | None) -> list[Path]:
    """The folders that are made where they are missing, the outer one first."""
    found = [one for one in (folder, plots) if one is not None]
    return sorted(found, key=lambda one: len(one.parts))


def write_run(run: RunRecord, files: Files, force: bool, folder: Path | None = None, single: bool = False) -> None:
    """Writes what was asked for: all files whole, or none."""
    import reports  # hands out its renderers when they are asked for
    from auditor.files import write_files

    plots = files.get("plots")
    contents: dict[Path, str | bytes] = {} if plots is None else _plots(run, plots)
    for kind, file in files.items():
        if file is None or kind == "plots":
            continue
        if kind == "json":
            text = run.records[0].to_json() if single else run.to_json()
        elif kind == "markdown":
            text = reports.render_markdown(run, _picture(contents, file))
        else:
            text = getattr(reports, f"render_{kind}")(run)
        if file == Path("-"):
            sys.stdout.write(text)
        else:
            contents[file] = text
    if contents:
        write_files(contents, force, _made(folder, plots))


def _picture(contents: Iterable[Path], file: Path) -> str | None:
    """Where the picture of risk against utility stands, seen from a document; None where it is not written."""
    import os

    drawn = next((one for one in contents if one.name == PICTURE), None)
    return None if drawn is None or file == Path("-") else Path(os.path.relpath(drawn, file.parent)).as_posix()


def _plots(run: RunRecord, folder: Path) -> dict[Path, str | bytes]:
    """The pictures of a run; says so where there are none, or only SVG."""
    from reports.plots import plot_files, png_hindrance

    found = plot_files(run, folder)
    if not found:
        typer.echo("Warning: there is nothing to draw in this record; --plots wrote no file.", err=True)
    elif (why := png_hindrance()) is not None:
        typer.echo(f"Warning: the pictures were written as SVG only. {why}", err=True)
    return found


def show(run: RunRecord, quiet: bool) -> None:
    """Prints the tables of a run."""
    import shutil

    from reports import render_terminal

    if not quiet:
        typer.echo(render_terminal(run, max(80, min(shutil.get_terminal_size((100, 24)).columns, 160))))


def tell(run: RunRecord, files: Files, quiet: bool) -> None:
    """Shows the run and names the files that were written, unless stdout holds one of them."""
    if Path("-") not in files.values():
        show(run, quiet)
        for kind, file in files.items():
            if file is not None and not quiet:
                typer.echo(f"{kind}: {file}")


def exit_if_failed(run: RunRecord) -> None:
    """Exits with 1 where a release fails its policy."""
    if any(record.policy is not None and not record.policy.passed for record in run.records):
        raise typer.Exit(1)


class Progress:
    """A progress line with the time left, on a terminal only, and only for work of more than a second."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        from shutil import get_terminal_size
        from time import monotonic

        self.clock, self.start, self.drawn = monotonic, monotonic(), False
        self.width = get_terminal_size().columns
        if self.shown:
            self._watch_compiler()
        return self

    def _watch_compiler(self) -> None:
        """Says that kernels are being compiled, which happens once on a machine and takes some seconds."""
        from numba.core import event

        progress = self

        class Watch(event.Listener):
            def on_start(self, _: object) -> None:
                progress._draw("compiling kernels, only on the first run")

            def on_end(self, _: object) -> None:
                """The next step says what goes on."""

        self.watch = Watch()
        event.register("numba:compile", self.watch)

    def step(self, done: int, total: int, what: str) -> None:
        """Says that `done` of `total` steps are finished and `what` is next."""
        spent = self.clock() - self.start
        if not self.shown or spent < 1:
            return
        left = f", {spent / done * (total - done):.0f} s left" if done else ""
        filled = round(24 * done / max(total, 1))
        line = f"[{'#' * filled}{'.' * (24 - filled)}] {100 * done // max(total, 1)} %{left}  {what}"
        self._draw(line)

    def _draw(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line[: self.width - 1]}")
        sys.stderr.flush()
        self.drawn = True

    def __exit__(self, *_: object) -> None:
        if self.shown:
            from numba.core import event

            event.unregister("numba:compile", self.watch)
        if self.drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
