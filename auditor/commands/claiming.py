"""The command that puts claims of differential privacy to the test: epsilon."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Files, Reported, Reports, SchemaFile, TableFile
from auditor.commands.output import (
    NOT_JUDGED,
    POLICY_FAILED,
    STDOUT,
    refuse_inputs,
    refuse_same,
    report_date,
    terminal_width,
)
from auditor.commands.parsing import choice, setting_pair
from auditor.commands.progress import Progress
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from anonymizers import Anonymizer
    from auditor.model.record.claim import ClaimTest
    from auditor.runs.claims import Claim, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """What is tested: a program, or a method."""

    mechanism: Annotated[
        str | None,
        Option(
            "--mechanism", metavar="COMMAND", help='A program: "COMMAND {in} {out} {seed}". {seed} may be left out.'
        ),
    ] = None
    shell: Annotated[bool, Option("--shell", help="A shell reads the command of --mechanism.")] = False
    timeout: Annotated[float, Option("--timeout", help="Seconds that a run of --mechanism may take.")] = 600.0
    method: Annotated[
        str | None, Option("--method", help="An anonymizer that promises an epsilon: see `auditor list anonymizers`.")
    ] = None
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="A setting of --method (see `auditor explain METHOD`)."),
    ] = None

    def chosen(self) -> Anonymizer:
        """The mechanism; an error where none is named, or two."""
        from anonymizers import ANONYMIZERS
        from auditor.runs.mechanisms import ProgramMechanism

        if (self.mechanism is None) == (self.method is None):
            raise UsageError("Say what to test: either --mechanism COMMAND or --method NAME.")
        if self.mechanism is not None:
            if self.settings:
                raise UsageError("--set is about --method. Write the settings of a program into its command.")
            return ProgramMechanism.of(self.mechanism, self.shell, self.timeout)
        return ANONYMIZERS.get(self.method or "").configure(dict(setting_pair(text) for text in self.settings or []))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What is claimed."""

    epsilon: Annotated[
        float | None,
        Option("--claim-epsilon", help="The epsilon that is claimed. Default: the setting epsilon of --method."),
    ] = None
    delta: Annotated[
        float | None,
        Option("--claim-delta", help="The delta that is claimed. Default: the setting delta of --method, else 0."),
    ] = None
    gaussian: Annotated[
        bool,
        Option("--gaussian", help="The claim is one of Gaussian differential privacy, which allows a sharper test."),
    ] = False

    def claim(self, mechanism: Anonymizer) -> Claim:
        """The claim; what is not given, the settings of the method say."""
        from auditor.runs.claims import Claim

        own: Mapping[str, object] = mechanism.settings()
        epsilon = own.get("epsilon") if self.epsilon is None else self.epsilon
        delta = own.get("delta") if self.delta is None else self.delta
        if not isinstance(epsilon, int | float):
            raise UsageError(f"{mechanism.title} has no setting epsilon: say what is claimed with --claim-epsilon.")
        return Claim(float(epsilon), float(delta) if isinstance(delta, int | float) else 0.0, self.gaussian)


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """How it is tested."""

    worlds: Annotated[
        str,
        Option(
            "--worlds", metavar="two|one", help="Many runs with and without one person, or one run with many canaries."
        ),
    ] = "two"
    runs: Annotated[int, Option("--runs", min=8, help="Runs with the canary, and as many without.")] = 1000
    canary: Annotated[
        str, Option("--canary", metavar="ROW|outlier|rare|worst", help="Who is added in one of the two worlds.")
    ] = "worst"
    canaries: Annotated[int, Option("--canaries", min=2, help="Canaries of one run, at most.")] = 200
    guesses: Annotated[
        int | None, Option("--guesses", min=1, help="Guesses of one run. Default: half as many as canaries.")
    ] = None
    neighbours: Annotated[
        str,
        Option(
            "--neighbours", metavar="add|replace", help="How neighbouring tables of the claim differ in one person."
        ),
    ] = "add"
    confidence: Annotated[float, Option("--confidence", help="How sure the bound is.")] = 0.95
    jobs: Annotated[int | None, Option("--jobs", min=1, help="Processes to use. Default: one for each processor.")] = (
        None
    )
    memory: Annotated[int | None, Option("--memory", min=1, help="Megabytes that a process may use.")] = None

    def trial(self) -> Trial:
        """The test that the options ask for."""
        from auditor.runs.claims import Neighbours, Trial, Worlds

        return Trial(
            choice(self.worlds, Worlds, "--worlds"),
            self.runs,
            self.canary,
            choice(self.neighbours, Neighbours, "--neighbours"),
            self.canaries,
            self.guesses,
            self.confidence,
            self.jobs,
            self.memory,
        )


@dataclass(frozen=True, slots=True)
class ClaimOutput:
    """Where the test of a claim is written and shown."""

    files: Mapping[str, Path]
    force: bool
    quiet: bool

    def check(self, inputs: Sequence[Path]) -> None:
        """Refuses, before any work is done, what cannot be written."""
        from auditor.files.tables import refuse_existing

        if list(self.files.values()).count(STDOUT) > 1:
            raise UsageError("Only one result can go to stdout.")
        targets = [file for file in self.files.values() if file != STDOUT]
        refuse_inputs(targets, inputs)
        refuse_same(targets)
        refuse_existing(targets, self.force)

    def finish(self, found: ClaimTest) -> None:
        """Writes the files, and shows the test unless stdout holds one."""
        from auditor.files.tables import write_files
        from auditor.model.record.claim import ClaimTest
        from reports.claims import render_claim_html, render_claim_markdown, render_claim_terminal

        renderers = {"html": render_claim_html, "markdown": render_claim_markdown, "json": ClaimTest.to_json}
        made = {file: renderers[name](found) for name, file in self.files.items()}
        write_files({file: text for file, text in made.items() if file != STDOUT}, self.force)
        if STDOUT in made:
            sys.stdout.write(made[STDOUT])
        elif not self.quiet:
            tell(render_claim_terminal(found, terminal_width()), nl=False)
            for name, file in self.files.items():
                tell(f"{name}: {file}")


@Grouped
def epsilon(
    data: TableFile,
    schema: SchemaFile,
    mechanisms: Mechanisms,
    claimed: Claimed,
    test: Test,
    reports: Annotated[Files, Reports(without=("junit", "plots", "tables"))],
    common: Reported,
) -> None:
    """Put a claim of differential privacy to the test: run the mechanism with and without a person, and bound its epsilon
    from below. Fails (1) where the claim is refuted, (3) where nothing could be tested. Not refuted does not mean private."""
    from auditor.files.tables import as_schema, read_raw, sha256
    from auditor.model.record.record import Input
    from auditor.model.table import encode
    from auditor.runs.claims import check_claim

    day = report_date(common.date)
    output = ClaimOutput({name: file for name, file in reports.items() if file is not None}, common.force, common.quiet)
    output.check([data, schema])
    mechanism = mechanisms.chosen()
    claim, trial = claimed.claim(mechanism), test.trial()
    form = as_schema(schema)
    raw = read_raw(data, form.format, tuple(form.columns))
    (table,) = encode(form, [raw])
    inputs = [
        Input("original", data.name, raw.sha256, raw.rows),
        Input("schema", schema.name, sha256(schema.read_bytes())),
    ]
    with Progress(common.quiet) as progress:
        found = check_claim(table, mechanism, claim, trial, common.chosen_seed, progress.step, inputs)
    output.finish(replace(found, date=day))
    if found.bound is None:
        tell(f"Error: nothing was tested. {found.reason}", err=True)
        raise typer.Exit(NOT_JUDGED)
    if found.refuted:
        raise typer.Exit(POLICY_FAILED)
