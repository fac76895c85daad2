"""The audit of a release that an engine reads where it is: statistics of all classes, attacks on a sample of people.

The record is that of an audit in memory with `--sample`, whatever the engine. What needs the rows of the whole table (some
attacks, most measures of utility) says so in its row.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from attacks.linking import Linking
from attacks.proximity import Proximity
from auditor.auditing.audit import run_audit
from auditor.auditing.sampling import Part, held_part
from auditor.auditing.subjects import WITHOUT_PEOPLE, Subject, repeating
from auditor.engines.engine import Engine, EngineName, duckdb_limit, open_engine, read_memory, watched
from auditor.engines.scanning.drawing import Drawn, draw, published_sizes, suppressed_sizes
from auditor.engines.scanning.opening import Opened, open_release
from auditor.engines.scanning.registers import Register, count_register, open_register
from auditor.engines.scanning.scan import scan_facts
from auditor.files.tables import sha256
from auditor.measure.register_risk import risk_beside
from auditor.model.beyond import Beyond
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, shown_in_notebooks, silent
from auditor.model.publishing import publish
from auditor.model.record.record import AuditRecord, Input
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from scenarios.options import Options

SAMPLE = 10_000  # about how many people are attacked where nothing else is asked for
_ENTRY = 120
"""About what a group of equal rows takes on disk while it is counted and kept, in bytes: 2.6 GB for up to 23 million."""
_SCALE = 1000


@dataclass(frozen=True, slots=True)
class Need:
    """What a scan will need: said before it starts."""

    rows: int
    groups: int
    engine: str
    memory: int | None
    spill: Path | None

    def sentence(self) -> str:
        """The same in words."""
        said = f"{self.rows:,} rows in at most {self.groups:,} groups, counted by {self.engine}"
        if self.memory is None or self.spill is None:
            return f"{said}."
        room, free = self.groups * _ENTRY, shutil.disk_usage(self.spill).free
        memory = f"up to {_gigabytes(self.memory)} of memory"
        if room < duckdb_limit(self.memory) // 2:
            return f"{said}: {memory}, nothing on disk."
        short = "" if free > room else f", where only {_gigabytes(free)} are free: it may not suffice"
        return f"{said}: {memory}, and up to {_gigabytes(room)} on disk in {self.spill.parent}{short}."


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 100_000_000 else f"{size / 1e6:.0f} MB"


@shown_in_notebooks
def scan_audit(
    release: str | Path,
    schema: Schema | str | Path,
    options: Options | None = None,
    *,
    engine: str = EngineName.DUCKDB,
    memory: int | str | None = None,
    spill: str | Path | None = None,
    population: str | Path | None = None,
    progress: Progress = silent,
    say: Callable[[str], None] = lambda _: None,
) -> AuditRecord:
    """Audits a release that an engine (`duckdb` or `spark`) reads where it is: a file or folder, or the address of a table.
    `memory` is what it may use, in bytes or as a text like "1GB"; `say` is told what the scan needs before it starts."""
    options = options or Options()
    memory = read_memory(memory) if isinstance(memory, str) else memory
    if options.targets is not None:
        raise UsageError(
            "An engine attacks a sample of people: leave out --targets, or audit in memory (--engine memory)."
        )
    if options.sample is not None and options.sample < 1:
        raise UsageError(f"--sample must be at least 1. Got {options.sample}.")
    name = str(schema.name if isinstance(schema, Schema) else schema)
    schema = schema if isinstance(schema, Schema) else Schema.read(schema)
    if schema.person is not None:
        raise UsageError(
            f"An engine counts rows, and the schema says that several may be one person's ({schema.person!r}). Audit in "
            "memory (--engine memory)."
        )
    people = None if population is None else str(population)
    with open_engine(engine, memory, None if spill is None else Path(spill)) as opened:
        return _Scan(opened, schema, name, options, progress).record(str(release), people, say)


class _Scan:
    """One scan under way. Its steps weigh what they cost, so that the time left can be told."""

    def __init__(self, engine: Engine, schema: Schema, schema_name: str, options: Options, progress: Progress) -> None:
        self.engine, self.schema, self.schema_name, self.options = engine, schema, schema_name, options
        self.progress = progress
        self.done, self.weight, self.all, self.told = 0.0, 0.0, 1.0, 0

    def record(self, where: str, population: str | None, say: Callable[[str], None]) -> AuditRecord:
        options = self.options
        columns = max(len(self.schema.quasi) + len(self.schema.sensitive), 1)
        self.all = columns + 12 * max(len(self.schema.sensitive), 1) + 10
        self._begin(columns)
        register = None if population is None else open_register(self.engine, population, self.schema)
        known = {} if register is None else register.domains
        opened = open_release(self.engine, where, self.schema, options.suppression, self._step, known)
        say(f"{opened.counting.source.name}: {self._need(opened).sentence()}")
        self._begin(12 * max(len(self.schema.sensitive), 1))
        with watched(self.engine, self._within):
            facts = self._facts(opened, register)
        self._begin(10)
        self._step(0, 3, "a sample of people")
        subject = self._subject(opened, facts, register)
        self._step(2, 3, "attacks")
        record = run_audit(subject, options)
        self._step(3, 3, "attacks")
        return record

    def _need(self, opened: Opened) -> Need:
        counting = opened.counting
        groups = 1
        for column in counting.quasi:
            groups = min(groups * len(counting.codings[column].texts), counting.rows)
        most = max((len(counting.codings[column].texts) for column in counting.sensitive), default=1)
        groups = min(groups * most, counting.rows)
        return Need(counting.rows, groups, self.engine.name, self.engine.memory, self.engine.spill)

    def _facts(self, opened: Opened, register: Register | None) -> ReleaseFacts:
        options = self.options
        near = Proximity.configure(options.settings.get(Proximity.name, {}))
        linked = Linking.configure(options.settings.get(Linking.name, {}))
        epsilon = None if near.relative else near.epsilon
        facts = scan_facts(opened, options.recursive_l, epsilon, linked.threshold, self._step, options.cells)
        if register is None:
            return facts
        counts = count_register(opened.counting, register)
        return replace(facts, register=risk_beside(counts, register.rows, linked.threshold))

    def _subject(self, opened: Opened, facts: ReleaseFacts, register: Register | None) -> Subject:
        """The release, held in part, with a sample of its people as targets."""
        counting, options = opened.counting, self.options
        drawn = draw(counting, facts, options.sample or SAMPLE, options.seed)
        columns = [c for c in opened.columns if c in counting.quasi or c in counting.sensitive]
        notes = counting.source.notes
        if register is not None:
            notes = (*register.source.notes, *notes, WITHOUT_PEOPLE)
        inputs = self._inputs(opened, register)
        if isinstance(drawn, Drawn):
            cells = {c: drawn.cells[c] for c in columns}
            part = Part(facts.name, counting.schema, counting.labels, cells, drawn.beyond, drawn.people, params={})
            subject = held_part(part, drawn.sample, options.seed)
            told = (*notes, *drawn.notes, *subject.notes)
            subject = replace(subject, identifiers=opened.identifiers, unjudged=self._repeated(opened))
            return replace(subject, facts=facts, inputs=inputs, notes=told)
        nothing = {c: np.empty(0, dtype=np.int32) for c in columns}
        beyond = Beyond(
            dict(published_sizes(counting, facts)),
            dict(suppressed_sizes(counting)),
            {c: counting.codings[c].rows for c in columns},
            {one.column: one.proximity_m for one in facts.sensitive},
        )
        rng = stage(options.seed, "release")
        release, _ = publish(counting.schema, counting.labels, nothing, [columns], None, rng, facts.name, beyond=beyond)
        return Subject(
            release, None, None, False, None, inputs=inputs, notes=(*notes, f"Nobody was attacked: {drawn}"),
            identifiers=opened.identifiers, facts=facts, nobody=drawn, unjudged=self._repeated(opened),
        )  # fmt: skip

    def _repeated(self, opened: Opened) -> str | None:
        """Why it is not known whose the rows are: an identifier repeats."""
        for column in opened.identifiers:
            values, cells, _ = opened.counting.different_values(column)
            if values < cells:
                return repeating(column, "the release", cells, values)
        return None

    def _inputs(self, opened: Opened, register: Register | None) -> tuple[Input, ...]:
        source = opened.counting.source
        found = [Input("release", Path(source.name).name, source.sha256, opened.counting.rows)]
        if register is not None:
            found.append(Input("population", Path(register.source.name).name, register.source.sha256, register.rows))
        if Path(self.schema_name).is_file():
            file = Path(self.schema_name)
            found.append(Input("schema", file.name, sha256(file.read_bytes())))
        return tuple(found)

    # ----- progress --------------------------------------------------------------------------------------------------------

    def _begin(self, weight: float) -> None:
        self.done, self.weight = self.done + self.weight, weight
        self.at, self.steps, self.what = 0, 1, ""

    def _step(self, done: int, total: int, what: str) -> None:
        self.at, self.steps, self.what = done, max(total, 1), what
        self._within(0.0)

    def _within(self, share: float) -> None:
        """Reports the progress of the scan. `share` is what is done of the query under way. A step may have several queries,
        so progress never falls back."""
        so_far = self.done + self.weight * min((self.at + share) / self.steps, 1.0)
        self.told = max(self.told, round(_SCALE * so_far / self.all))
        self.progress(self.told, _SCALE, self.what)
