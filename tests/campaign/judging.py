"""What may come of an input, and what is a failure.

A command gives a *result* (exit code 0 or 1) with all its outputs complete, or a *refusal* (2 or 3) with one clear message
and nothing written. A closed pipe is 141. Anything else is a failure: an internal error, a traceback, a warning of a library,
a hang, half an output, a file left over, a canary in a message or a report, a number in JSON that is none."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from tests.campaign.generating import Case, Surroundings
from tests.campaign.running import HUNG, SMALL, Ended

RESULTS, REFUSALS, PIPE_CLOSED = (0, 1), (2, 3), 141
_LIBRARY_WARNING = re.compile(r"\b[A-Z]\w*Warning\b")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_LONGEST = 20_000
_PRINTS_DATA = ("decode", "profile")
_NO_STDOUT = (Surroundings.FULL, Surroundings.CLOSED, Surroundings.GONE)
_KEEPS = ("no cell gave a release", "not judged", "nothing was tested")
"""What a command says that ends with 3 although it wrote its reports."""


def judge(case: Case, ended: Ended, folder: Path) -> list[str]:
    """The failures, in words; none where all is well."""
    return list(_faults(case, ended, folder))


def _faults(case: Case, ended: Ended, folder: Path) -> Iterator[str]:
    out, err = ended.out.decode("utf-8", "replace"), ended.err.decode("utf-8", "replace")
    debug = "--debug" in case.arguments
    if ended.code == HUNG:
        yield "hang"
        return
    allowed = {*RESULTS, *REFUSALS} | ({PIPE_CLOSED} if case.surroundings in _NO_STDOUT else set())
    if ended.code not in allowed:
        yield f"exit code {ended.code}"
    if "Internal error" in err or "Internal error" in out:
        yield "internal error"
    elif ("Traceback (most recent call last)" in err + out and not debug) or "Exception ignored" in err:
        yield "traceback"
    if _LIBRARY_WARNING.search(err) and not debug:
        yield "warning of a library"
    if _CONTROL.search(err):
        yield "control characters in a message"
    if case.command not in _PRINTS_DATA and "-" not in case.outputs and not case.free and _CONTROL.search(out):
        yield "control characters on stdout"
    yield from _leaks(case, ended, folder, out, err)
    if any(name.endswith(".part") for name in ended.after):
        yield "stray .part file"
    if ended.code not in allowed:
        return
    wrote = any(ended.after[name] != ended.before.get(name) for name in ended.after)
    kept = any(said in err for said in _KEEPS) or (case.surroundings in _NO_STDOUT and wrote)
    if ended.code in REFUSALS and not kept:
        yield from _refusal(case, ended, err)
    elif ended.code in RESULTS or kept:
        yield from _result(case, ended, folder, out)


def _refusal(case: Case, ended: Ended, err: str) -> Iterator[str]:
    """A refusal has one message, and writes nothing."""
    cut = case.surroundings is Surroundings.SMALL and len(err.encode()) >= SMALL  # what is printed is a small file, too
    if len(re.findall(r"^Error: ", err, re.MULTILINE)) != 1 and "--debug" not in case.arguments and not cut:
        yield "a refusal without one message"
    if len(err) > _LONGEST:
        yield "a message without end"
    changed = sorted(name for name in {*ended.before, *ended.after} if ended.before.get(name) != ended.after.get(name))
    if case.command in ("compare", "release"):
        changed = [name for name in changed if not name.startswith("out/")]  # cells are kept
    if changed and changed != ["out/"]:
        yield f"a refusal that wrote {changed[0]}"


def _result(case: Case, ended: Ended, folder: Path, out: str) -> Iterator[str]:
    """A result has all its outputs, each complete, and nothing else."""
    new = [name for name in ended.after if name not in ended.before]
    for name, form in case.outputs.items():
        if name == "-":
            yield from _whole("stdout", form, out.encode()) if case.surroundings not in _NO_STDOUT else ()
        elif form in ("maybe", "plots") and f"{name}/" not in ended.after:
            continue  # there may be nothing to draw
        elif name not in ended.after and f"{name}/" not in ended.after:
            yield f"no {name}"
        elif ended.before.get(name) == ended.after.get(name) is not None and name in ended.before:
            yield f"{name} was not replaced"
    lost = [name for name in ended.before if ended.before[name] != ended.after.get(name) and name not in case.outputs]
    if lost and not case.free:
        yield f"{lost[0]} was changed"
    for name in new:
        top = name.split("/")[0]
        beside = [".labels.json", ".mechanism.toml"]
        owner = next((o for o in case.outputs if o == top or name in [o + ending for ending in beside]), None)
        if owner is None and not case.free:
            yield f"stray file {name}"
        if not name.endswith("/") and not (case.free and name not in case.outputs):
            yield from _whole(name, case.outputs.get(name, Path(name).suffix[1:]), (folder / name).read_bytes())


def _whole(name: str, form: str, content: bytes) -> Iterator[str]:
    """Whether the content of a file is complete, as far as its form tells."""
    if not content and form != "decoded":
        yield f"{name} is empty"
    elif form in ("json", "record"):
        try:
            json.loads(content, parse_constant=_refuse)
        except ValueError as error:
            yield f"{name} is not JSON ({error})"
    elif form == "html" and not content.rstrip().endswith(b"</html>"):
        yield f"{name} is cut short"
    elif form in ("xml", "svg"):
        try:
            ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            yield f"{name} is not XML ({error})"
    elif name.endswith(".parquet") and not (content[:4] == content[-4:] == b"PAR1"):
        yield f"{name} is cut short"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _leaks(case: Case, ended: Ended, folder: Path, out: str, err: str) -> Iterator[str]:
    """Canaries where nobody asked for them. Releases hold values, and so do the outputs of `decode` and `profile`."""
    if "--reveal" in case.arguments:
        return
    said = [("stderr", err)] if case.command not in _PRINTS_DATA or ended.code in REFUSALS else []
    if case.command not in _PRINTS_DATA:
        said.append(("stdout", out))
    for name, form in case.outputs.items():
        file = folder / name
        if (
            form in ("html", "record", "json", "xml")
            and case.command not in (*_PRINTS_DATA, "anonymize")
            and file.is_file()
        ):
            said.append((name, file.read_bytes().decode("utf-8", "replace")))
        elif form in ("run", "comparison") and file.is_dir():
            said += [
                (str(one), one.read_bytes().decode("utf-8", "replace")) for one in file.rglob("*") if one.is_file()
            ]
    for where, text in said:
        if any(canary in text for canary in case.canaries):
            yield f"canary in {where}"
