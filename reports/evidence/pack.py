"""What an evidence pack is made of: sections of sentences, each with the places of the record that it comes from, and blanks.

A `Statement` cannot be made without a reference. What no record can say (who gets the data, why a threshold suits them, who
answers for it) is a `Blank`, which stands out for a person to fill in. A `Template` says which parts stand under which
headings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from auditor.model.record.record import AuditRecord
from reports.evidence.cited import Evidence
from reports.evidence.references import Reference


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and where in the record it comes from."""

    text: str
    references: tuple[Reference, ...]

    def __post_init__(self) -> None:
        if not self.references:
            raise ValueError(f"A statement needs a reference: {self.text}")


@dataclass(frozen=True, slots=True)
class Blank:
    """Something that only a person can say, in the words of a request."""

    text: str


Item = Statement | Blank
Part = Blank | Callable[[Evidence], Iterable[Item]]
"""A part of a section: a blank, or what makes sentences from the record."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it."""

    heading: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """A filled template."""

    title: str
    about: str
    source: str
    """The name of the record's file."""
    record: AuditRecord
    sections: tuple[Section, ...]

    def statements(self) -> Iterator[Statement]:
        """All sentences with their references."""
        return (item for section in self.sections for item in section.items if isinstance(item, Statement))

    def blanks(self) -> Iterator[Blank]:
        """All that a person must fill in."""
        return (item for section in self.sections for item in section.items if isinstance(item, Blank))

    def references(self) -> list[Reference]:
        """All references, each once, in the order of the text."""
        return list(dict.fromkeys(one for statement in self.statements() for one in statement.references))


@dataclass(frozen=True, slots=True)
class Template:
    """The headings of a pack, and what stands below each."""

    name: str
    title: str
    about: str
    """For which readers it is, in one sentence."""
    sections: tuple[tuple[str, tuple[Part, ...]], ...]

    def fill(self, evidence: Evidence, source: str) -> Pack:
        """The pack of one record."""
        made = []
        for heading, parts in self.sections:
            items = [item for part in parts for item in ([part] if isinstance(part, Blank) else part(evidence))]
            made.append(Section(heading, tuple(items)))
        return Pack(self.title, self.about, source, evidence.record, tuple(made))
