r"""The roles that another tool was given, as a source of roles here.

- An ARX project (`.deid`) is a zip file. `input/definition.xml` has the name and type of each attribute (identifying,
  quasi-identifying, sensitive, insensitive), `input/hierarchies/NAME.csv` its hierarchy, which becomes a taxonomy: then the
  groups in ARX's releases can be read.
- An R script for sdcMicro names them in `createSdcObj(dat, keyVars = c("age", "sex"), weightVar = "w", ...)`: as texts, as
  numbers of columns, as a formula (`~ age + sex`), or by a variable that is set to one of these above.
- A report of sdcMicro (HTML or Markdown) lists them under "Information on selected important (Key) Variables".

Nothing in these files is run. Columns that they do not name keep the roles that are proposed from the table. So do columns
that tell who somebody is (identifier, person, household), unless the tool's role is one that we thought of as well: what is
in the table counts more than what a tool was told. Where the tool's role is weaker than ours, a note names the columns.
"""

from __future__ import annotations

import csv
import html
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from auditor.model.discretion import quote
from auditor.model.errors import SchemaError
from auditor.model.schema import WHOSE, Role
from auditor.profiling.roles import Judgement

MOST_BYTES = 50_000_000
"""A file that is larger is refused, and a project whose definition or hierarchies are larger when unpacked."""
_ARX = {
    "IDENTIFYING_ATTRIBUTE": Role.IDENTIFIER,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.NEUTRAL,
}
_ARX_WORDS = {
    Role.IDENTIFIER: "identifying",
    Role.QUASI: "quasi-identifying",
    Role.SENSITIVE: "sensitive",
    Role.NEUTRAL: "insensitive",
}
_SDC = {
    "keyVars": Role.QUASI,
    "pramVars": Role.QUASI,
    "numVars": Role.SENSITIVE,
    "weightVar": Role.WEIGHT,
    "hhId": Role.HOUSEHOLD,
    "sensibleVar": Role.SENSITIVE,
    "excludeVars": Role.IDENTIFIER,
}
"""The arguments of `createSdcObj`, and what each says of its columns."""
_REPORTED = {
    "Categorical Key-Variable(s)": "keyVars",
    "Continuous Key-Variable(s)": "numVars",
    "Weight-Variable": "weightVar",
    "householdID": "hhId",
    "sensitive Variable(s) for l-diversity": "sensibleVar",
}
"""The lines of a report, and the arguments that they repeat."""
_IDENTITY = (Role.IDENTIFIER, *WHOSE)
_STRENGTH = {Role.QUASI: 2, Role.WEIGHT: 2, Role.SENSITIVE: 1, Role.NEUTRAL: 0} | dict.fromkeys(_IDENTITY, 3)
"""How much a role lets attacks make of a column. That a column is a weight, the tool knows best."""
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError, ValueError, OSError,
)  # fmt: skip
"""What reading a damaged zip file raises."""
_WHAT = "an ARX project (.deid), an R script with createSdcObj(…), or a report of sdcMicro"
_CALL = re.compile(r"\bcreateSdcObj\s*\(")
_NAMED = re.compile(r"\s*([A-Za-z.][\w.]*)\s*=(?!=)(.*)", re.DOTALL)
_TEXT = re.compile(r"""(["'])(.*?)\1""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolRoles:
    """What a tool was told about columns: `roles` by name with the reason, `numeric` key variables, and hierarchies as paths
    from each value to the root."""

    source: str
    roles: Mapping[str, Judgement]
    numeric: frozenset[str] = frozenset()
    hierarchies: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def applied(self, judged: Mapping[str, Judgement]) -> tuple[dict[str, Judgement], list[str]]:
        """The roles of a table's columns, and what must be said about them. A numeric key variable keeps its role where it
        was proposed as quasi or sensitive; a column that identifies people stays one that does."""
        found, notes = dict(judged), []
        kept: list[str] = []
        weaker: list[str] = []
        for name in (n for n in self.roles if n in judged):
            own, theirs = judged[name], self.roles[name]
            if name in self.numeric and own.role in (Role.QUASI, Role.SENSITIVE):
                theirs = Judgement(own.role, f"{theirs.reason}; {own.reason}", own.candidate, own.doubt)
            elif own.role in _IDENTITY and theirs.role not in (*_IDENTITY, Role.WEIGHT, own.candidate):
                kept.append(f"{quote(name)} ({own.role}, not {theirs.role})")
                theirs = Judgement(own.role, own.reason, theirs.role, theirs.reason)
            elif own.role is not theirs.role:
                if _STRENGTH[theirs.role] < _STRENGTH[own.role]:
                    weaker.append(f"{quote(name)} ({own.role} became {theirs.role})")
                theirs = Judgement(theirs.role, theirs.reason, own.role, own.reason)
            found[name] = theirs
        for role in WHOSE:
            stated = [name for name in found if name in self.roles and self.roles[name].role is role]
            if stated:
                others = [name for name, one in found.items() if one.role is role and name not in stated]
                found |= {name: Judgement(Role.IDENTIFIER, found[name].reason) for name in others}
        if kept:
            notes.append(f"the table says who somebody is, whatever {self.source} says: {', '.join(kept)}")
        if weaker:
            notes.append(
                f"{self.source} gives weaker roles than the table suggests: {', '.join(weaker)}. Attacks then make less of "
                "these columns; if others may know them, change the roles back"
            )
        absent = [name for name in self.roles if name not in judged]
        if absent:
            notes.append(f"{self.source} names {', '.join(map(quote, absent))}, which the table does not have")
        more = [name for name, one in found.items() if one.role is Role.QUASI and name not in self.roles]
        if more:
            notes.append(
                f"{self.source} says nothing of {', '.join(map(quote, more))}; others may know "
                f"{'it' if len(more) == 1 else 'them'}, so {'it is' if len(more) == 1 else 'they are'} proposed as quasi"
            )
        return found, notes


def read_tool_roles(file: Path, columns: Sequence[str]) -> ToolRoles:
    """The roles in a file of another tool; `columns` are those of the table, which a script may name by number."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise SchemaError(f"{file}: the file is too large. It must be {_WHAT}.")
        content = file.read_bytes()
    except OSError as error:
        raise SchemaError(f"{file}: the file cannot be read ({error.strerror}).") from error
    found = (
        _project(content, file)
        if content.startswith(b"PK")
        else _sdc(content.decode("utf-8", "replace"), file, columns)
    )
    if not found.roles:
        raise SchemaError(f"{file} names no roles. It must be {_WHAT}.")
    return found


# ----- ARX -----------------------------------------------------------------------------------------------------------


def _project(content: bytes, file: Path) -> ToolRoles:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as project:
            sizes = {one.filename: one.file_size for one in project.infolist()}
            if "input/definition.xml" not in sizes:
                raise SchemaError(f"{file}: input/definition.xml must be in the project. Got {len(sizes)} other files.")
            trees = [name for name in sizes if name.startswith("input/hierarchies/")]
            if max(sizes["input/definition.xml"], sum(sizes[name] for name in trees)) > MOST_BYTES:
                raise SchemaError(f"{file}: the definition or the hierarchies in the project are too large.")
            parts = {}
            for name in ("input/definition.xml", *trees):
                with project.open(name) as part:
                    parts[name] = part.read(sizes[name])  # no more than was promised
    except _DAMAGED as error:
        raise SchemaError(f"{file}: the project cannot be unpacked ({type(error).__name__}).") from error
    definition = parts["input/definition.xml"]
    if b"<!DOCTYPE" in definition or b"<!ENTITY" in definition:
        raise SchemaError(f"{file}: input/definition.xml must not declare entities.")
    try:
        tree = ElementTree.fromstring(definition)
    except ElementTree.ParseError as error:
        raise SchemaError(f"{file}: input/definition.xml is not XML ({error}).") from error
    roles: dict[str, Judgement] = {}
    hierarchies: dict[str, tuple[tuple[str, ...], ...]] = {}
    for one in tree:
        name, kind = (one.findtext("name") or "").strip(), (one.findtext("type") or "").strip()
        if name and kind in _ARX:
            roles[name] = Judgement(_ARX[kind], f"{_ARX_WORDS[_ARX[kind]]} in {file.name}")
            paths = _paths(parts.get(f"input/hierarchies/{name}.csv", b""))
            if paths:
                hierarchies[name] = paths
    return ToolRoles(file.name, roles, frozenset(), hierarchies)


def _paths(content: bytes) -> tuple[tuple[str, ...], ...]:
    """The rows of a hierarchy, in the project's delimiter: the one with which all rows have the same number of labels."""
    text = content.decode("utf-8", "replace")
    for sign in ";,\t|":
        rows = [
            tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        ]
        rows = [row for row in rows if any(row)]
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return tuple(rows)
    return ()


# ----- sdcMicro ------------------------------------------------------------------------------------------------------


def _sdc(text: str, file: Path, columns: Sequence[str]) -> ToolRoles:
    found = _called(text, columns) or _reported(text)
    roles: dict[str, Judgement] = {}
    for argument, names in found.items():
        for name in names:
            roles.setdefault(name, Judgement(_SDC[argument], f"{argument} in {file.name}"))
    numeric = frozenset(found.get("numVars", ())) - frozenset(found.get("keyVars", ()))
    return ToolRoles(file.name, roles, numeric)


def _called(text: str, columns: Sequence[str]) -> dict[str, list[str]]:
    """The columns that the last call of createSdcObj names, by argument."""
    script = re.sub(r"(?m)^\s*#.*$", "", html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", text)))
    calls = list(_CALL.finditer(script))
    if not calls:
        return {}
    inside, before = _arguments(script[calls[-1].end() :]), script[: calls[-1].start()]
    found = {}
    for place, argument in enumerate(inside):
        named = _NAMED.match(argument)
        name, value = (named[1], named[2]) if named else ("keyVars" if place == 1 else "", argument)
        if name in _SDC:
            found[name] = _columns(value.strip(), before, columns)
    return {name: names for name, names in found.items() if names}


def _arguments(text: str) -> list[str]:
    """The arguments of a call, given the text after its opening bracket."""
    depth, quoted, start, found = 1, "", 0, []
    for place, sign in enumerate(text):
        if quoted:
            quoted = "" if sign == quoted else quoted
        elif sign in "\"'`":
            quoted = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if not depth or (sign == "," and depth == 1 and not quoted):
            found.append(text[start:place])
            start = place + 1
        if not depth:
            return found
    return []


def _columns(value: str, before: str, columns: Sequence[str]) -> list[str]:
    """The columns that a value of the script names; a plain name is looked up among what is set before the call."""
    if re.fullmatch(r"[A-Za-z.][\w.]*", value) and value not in ("NULL", "TRUE", "FALSE"):
        given = list(re.finditer(rf"(?m)(?<![\w.]){re.escape(value)}\s*(?:<-|=)\s*", before))
        if not given:
            return []
        value = before[given[-1].end() :]
        value = (f"c({','.join(_arguments(value[2:]))})" if value.startswith("c(") else value.split("\n", 1)[0]).strip()
    texts = [found[1] for found in _TEXT.findall(value)]
    if texts:
        return texts
    if value.startswith("~"):
        return [name.strip("` \n") for name in value[1:].split("+") if name.strip()]
    numbers = [int(number) for number in re.findall(r"\b\d+\b", value)] if re.match(r"c\s*\(|\d", value) else []
    return [columns[number - 1] for number in numbers if 1 <= number <= len(columns)]


def _reported(text: str) -> dict[str, list[str]]:
    """The columns that a report lists, by the argument that it repeats."""
    plain = html.unescape(re.sub(r"<(?:/li|/p|br|/h\d)[^<>]*>", "\n", text))
    plain = re.sub(r"</?[a-zA-Z][^<>]*>", "", plain).replace("*", "")
    found: dict[str, list[str]] = {}
    for line in plain.splitlines():
        head, sign, rest = line.strip().lstrip("-• ").partition(":")
        argument = _REPORTED.get(head.strip())
        if sign and argument is not None:
            found[argument] = [name.strip(" `") for name in rest.split("|") if name.strip(" `")]
    return {name: names for name, names in found.items() if names}
