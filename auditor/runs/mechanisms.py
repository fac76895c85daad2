"""A program of the user's as an anonymizer: a row of a comparison, a mechanism for shadow attacks, a claim to be tested.

It is in no registry, and no release says how to make it again: a command in a file that somebody sent would otherwise be
run by whoever audits that file. It exists only where a user gives the command.

Whose a row of the output is, a program does not say. So its release is one whose rows are nobody. One that copies its input
is a release like others: the attacks say what that tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer
from auditor.engines.programs import TIMEOUT, Program
from auditor.files.releases import number_texts, read_labels, release_schema
from auditor.model.arrays import Codes
from auditor.model.errors import DataError, MechanismError, UsageError
from auditor.model.labels.label_values import wider_domain
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish_synthetic
from auditor.model.release import Release
from auditor.model.table import RawTable, Table

_SEEDS = 2**31


@dataclass(frozen=True)
class ProgramMechanism(Anonymizer):
    """Runs a command that turns `{in}` into `{out}`."""

    name: ClassVar[str] = "program"
    summary: ClassVar[str] = "A program of yours: a command that reads the table and writes a release of it."
    paper: ClassVar[str] = ""
    truthful: ClassVar[bool] = False
    synthetic: ClassVar[bool] = True
    needs_whole: ClassVar[str | None] = "a program sees the table that it is given"

    program: Program = field(default_factory=lambda: Program(""), metadata={"private": True})
    called: str = "program"

    @classmethod
    def of(cls, text: str, shell: bool = False, timeout: float = TIMEOUT) -> ProgramMechanism:
        """The mechanism that --mechanism names: a command, or NAME=COMMAND."""
        called, sign, command = text.partition("=")
        if not sign or not called.strip() or set(called) & set(" {}/"):
            called, command = cls.name, text
        program = Program(command.strip(), shell, timeout)
        program.check()
        return cls(program, called.strip())

    @property
    def key(self) -> list[object]:
        """All that its releases depend on, as far as that can be seen: the command, and the files that it names."""
        return [self.called, self.program.command, self.program.shell, self.program.folder, *self.program.marks()]

    @property
    def title(self) -> str:
        return self.called

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return ()

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        made = self.program.run(table, int(rng.integers(_SEEDS)))
        try:
            return self._published(made, table, rng)
        except DataError as error:
            raise MechanismError(f"the program's output cannot be read: {error}") from None

    def _published(self, made: RawTable, table: Table, rng: np.random.Generator) -> tuple[Release, Provenance]:
        schema = release_schema(table.schema, [made])
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        for name, texts in made.columns.items():
            if name in schema.unpublished:
                continue
            cells[name], distinct, _ = number_texts(texts)
            domain = table.domains.get(name)
            if domain is not None:
                domain = wider_domain(domain, made.name, distinct)
            labels[name] = read_labels(schema, name, distinct, made.name, domain=domain)
        if not cells:
            raise MechanismError("the program's output has no column that may be published.")
        everybody = np.ones(table.rows, dtype=np.bool_)
        return publish_synthetic(schema, labels, cells, everybody, rng, self.title, self.name, self.settings())


def programs_named(
    given: Sequence[str | ProgramMechanism], shell: bool = False, timeout: float | None = None
) -> dict[str, ProgramMechanism]:
    """Several programs by their names, some of them as commands; one without a name is called `program`."""
    found: dict[str, ProgramMechanism] = {}
    for one in given:
        if isinstance(one, str):
            one = ProgramMechanism.of(one, shell, TIMEOUT if timeout is None else timeout)
        if one.called in found:
            raise UsageError(f'Two programs are called {one.called!r}. Name each: "NAME=COMMAND".')
        found[one.called] = one
    return found
