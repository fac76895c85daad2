"""m-invariance: a table is published again after people came and went, and the releases together tell no more than one.

In a class all sensitive values differ, and there are at least m of them: the class's *signature*. Whoever is in two
successive releases has the same signature in both. So comparing the releases leaves everybody with the same m values. Where
nobody is left to fill a place of a signature, a *counterfeit* does: a made-up record with that value. Each class says how
many of its records are counterfeits (column `counterfeits`), so that counts can be corrected. There are four steps.

1. Division. People who stayed are put together by their signature in the earlier release.
2. Balancing. New people fill places that a signature lacks, as long as the others can still be put into classes.
3. Assignment. The other new people get signatures as in Anatomy: one from each of the m values that have most people left.
   Who is left over joins a new class that lacks the value, or gets a class filled up with counterfeits.
4. Split. People with one signature are halved along the quasi-identifier that spreads widest, each value by itself, down to
   classes with one record of each value. What places are still empty is filled with counterfeits.

Without an earlier release all people are new. To publish again, give the earlier release (`previous`), its provenance
(`provenance`) and the table it was made of (`original`); `person` names the column that says who is who in both tables
(unless set: the one with role person, or else the first identifier). The earlier release may be of Anatomy, too.

Paper: X. Xiao, Y. Tao, "m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets", SIGMOD 2007.
Decided here: classes keep their number in the release (a `bucket` column, the paper's group id), in blocks as in Anatomy,
since classes that happen to have equal labels must not be taken for one; further sensitive columns are a third block, where
they cannot show which value is a counterfeit's. A counterfeit takes each of its other values from a random person. Tables
are refused in which so many new people have one value that classes of theirs would be filled with counterfeits: all of
them would list it, which tells what it is. People whose sensitive value changed, and earlier classes with fewer than m
different values, cannot be kept invariant and are refused. Whoever left and comes back is new, as in the paper; the bound
is about successive releases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from anonymizers.base import (
    Anonymizer,
    at_least,
    generalise,
    need_eligible,
    need_quasi,
    published_columns,
    sensitive_column,
)
from anonymizers.shared.people import People
from anonymizers.shared.signatures import Earlier, classes_of, kept_signatures
from auditor.files.provenances import read_provenance
from auditor.files.releases import read_release
from auditor.files.tables import read_table
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import COUNTERFEITS, DERIVED, Release
from auditor.model.table import Table

_FILES = ("previous", "provenance", "original")


@dataclass(frozen=True)
class MInvariance(Anonymizer):
    """Classes of at least m different values, the same for everybody who stays; counterfeits where people are missing."""

    name: ClassVar[str] = "m-invariance"
    summary: ClassVar[str] = (
        "Publishes a table again: who stays keeps the m values of their class; counterfeits fill gaps."
    )
    paper: ClassVar[str] = "Xiao & Tao 2007"
    needs_whole: ClassVar[str | None] = "who stays must keep the values of their class, wherever the others are"

    m: int = 3
    sensitive: str | None = None
    person: str | None = None
    previous: str | None = field(default=None, metadata={"private": True})
    provenance: str | None = field(default=None, metadata={"private": True})
    original: str | None = field(default=None, metadata={"private": True})

    def __post_init__(self) -> None:
        at_least("m-invariance: m", self.m, 2)
        given = [name for name in _FILES if getattr(self, name) is not None]
        if given and len(given) < len(_FILES):
            lacking = [name for name in _FILES if name not in given]
            raise UsageError(
                f"m-invariance: previous (a release), provenance and original go together. Not given: {', '.join(lacking)}."
            )

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        about = sensitive or self.sensitive or "sensitive value"
        return (f"m = {self.m}: every {about} has probability at most 1/{self.m}, also beside the release before",)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        earlier = None
        if self.previous is not None and self.provenance is not None and self.original is not None:
            whose = Path(self.provenance)
            before = read_table(self.original, table.schema)
            read = read_release(
                self.previous,
                table.schema,
                rng,
                before.domains,
                lambda blocks: read_provenance(whose, blocks, before.rows),
            )
            assert read.provenance is not None
            earlier = Earlier(before, read.release, read.provenance)
        return self.publish_after(earlier, table, rng, progress)

    def publish_after(
        self, earlier: Earlier | None, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        """A release of a table after an earlier one (None: the first)."""
        quasi = need_quasi(table, self.name)
        about = sensitive_column(table, self.sensitive, self.name)
        if People(table).several:
            raise PromiseError("m-invariance: some people have several rows. Make one row of each person first.")
        if COUNTERFEITS in table.schema.columns:
            raise UsageError(f"m-invariance publishes a column {COUNTERFEITS!r} of its own. Rename that of the table.")
        if earlier is None:
            need_eligible(table, about, self.m, self.name, remedy="Lower m, or suppress rows.", called="m")
        kept = kept_signatures(earlier, table, about, self._person(table), self.m) if earlier is not None else {}
        member, made_up = classes_of(table, quasi, about, kept, self.m, rng, progress)
        return self._published(table, quasi, about, member, made_up, rng)

    def _person(self, table: Table) -> str:
        """The column that says who is who."""
        names = [c for c in (self.person, table.schema.person, *table.schema.identifiers) if c is not None]
        if not names or names[0] not in table.codes:
            raise UsageError(
                "m-invariance: to find who stayed, person must name a column that both tables have"
                + (f". Got {names[0]!r}." if names else ", or the schema one with role = person or identifier.")
            )
        return names[0]

    def _published(
        self,
        table: Table,
        quasi: tuple[str, ...],
        about: str,
        member: Ints,
        made_up: Ints,
        rng: np.random.Generator,
    ) -> tuple[Release, Provenance]:
        """The release of classes of rows and counterfeits (a class and a value each)."""
        labels, cells = generalise(table, quasi, member)
        first = np.zeros(int(member.max()) + 1, dtype=np.int64)
        first[member] = np.arange(table.rows)
        for column in published_columns(table):
            if column in quasi:
                more = cells[column][first[made_up[:, 0]]].astype(np.int64)
            else:
                labels[column] = Labels.exact(table.domains[column])
                cells[column] = table.codes[column]
                anybody = table.codes[column][rng.integers(table.rows, size=len(made_up))].astype(np.int64)
                more = made_up[:, 1] if column == about else anybody
            cells[column] = np.concatenate([cells[column], more]).astype(np.int32)
        bucket = np.concatenate([member, made_up[:, 0]])
        among = np.bincount(made_up[:, 0], minlength=len(first))
        domain = Domain.of(
            DERIVED[COUNTERFEITS], table.schema.format, [(COUNTERFEITS, [str(n) for n in np.unique(among)])]
        )
        labels[COUNTERFEITS] = Labels.exact(domain)
        codes = np.array([domain.code(str(n)) for n in among], dtype=np.int32)
        cells[COUNTERFEITS] = codes[bucket]
        # Further sensitive columns stand apart: beside the value they would show which is a counterfeit's.
        others = [c for c in table.schema.sensitive if c in table.codes and c != about]
        first_columns = [c for c in published_columns(table) if c != about and c not in others]
        blocks = [[*first_columns, COUNTERFEITS], [about], *([others] if others else [])]
        release, whose = self.publish(table, labels, cells, blocks, bucket, rng, about)
        release = replace(release, params={**release.params, "counterfeits": len(made_up)})
        return release, replace(whose, bucket=whose.bucket[: table.rows], fragment=whose.fragment[: table.rows])
