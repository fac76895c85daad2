"""Kills: commands that write several files are ended at a random instant, or at their n-th touch of the file system, and what
they leave is looked at.

Afterwards the outputs are all old or all new. A command that could tidy up (SIGINT, SIGTERM) says so with its exit code and
leaves nothing else behind; after SIGKILL the next run does. SIGKILL while finished files are being renamed could not be met
by any program, so that one is aimed at the time before; the others are aimed everywhere."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tabulate import tabulate

from tests.campaign import asking, making, people
from tests.campaign.people import People
from tests.campaign.running import HUNG, PATIENCE, called, forked, settle, snapshot, waited
from tests.campaign.telling import Outcome

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_EVENTS = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod")
_RENAMES = ("os.rename", "os.link")


@dataclass
class Plan:
    """A command that writes several files, in an old and a new variant of its inputs."""

    command: str
    arguments: list[str]
    outputs: list[str]
    old: dict[str, bytes]
    new: dict[str, bytes]
    kept: list[str] = field(default_factory=list)
    """The folder that may hold finished work of a run that was ended, and the part of it which does."""


def _table(rng: Random) -> People:
    made = people.patients(rng)
    while not 12 <= len(made.grid.rows) <= 40:
        made = people.patients(rng)
    return made


def _files(drawn: People, name: str = "data.csv") -> dict[str, bytes]:
    return {name: drawn.grid.content(), "schema.toml": drawn.schema().content()}


def _anonymize(rng: Random) -> Plan:
    method = rng.choice(("mondrian", "anatomy", "slicing", "grading", "mdav"))
    arguments = ["anonymize", "data.csv", "--schema", "schema.toml", "--method", method, "-o", "out.csv"]
    arguments += ["--provenance", "whose.csv", "--secret", "secret.txt"]
    outputs = ["out.csv", "out.csv.labels.json", "whose.csv"]
    if method == "grading":
        arguments, outputs = [*arguments, "--key", "key.json"], [*outputs, "key.json"]
    secrets = [{"secret.txt": rng.randbytes(32).hex().encode()} for _ in range(2)]
    files = _files(_table(rng))
    return Plan("anonymize", arguments, outputs, files | secrets[0], files | secrets[1])


def _audited(rng: Random) -> dict[str, bytes]:
    drawn = _table(rng)
    made = None
    while made is None or made.name != "release.csv" or "release.csv" not in made.files:
        made = making.release(drawn, rng, rng.choice(("mondrian", "kmember")))
    return {
        **_files(drawn),
        **{name: part.content() for name, part in made.files.items()},
        "whose.csv": made.provenance.content(),
    }


def _audit(rng: Random) -> Plan:
    arguments = [
        "audit",
        "release.csv",
        "--schema",
        "schema.toml",
        "--original",
        "data.csv",
        "--provenance",
        "whose.csv",
    ]
    arguments += ["--attacks", "linking,homogeneity", "--policy", "k3", "--utility", "none"]
    arguments += ["--html", "a.html", "--json", "a.json", "--markdown", "a.md", "--plots", "plots"]
    return Plan("audit", arguments, ["a.html", "a.json", "a.md", "plots"], _audited(rng), _audited(rng))


def _mend(rng: Random) -> Plan:
    arguments = ["mend", "release.csv", "--schema", "schema.toml", "--coarsen", "age", "--drop", "note"]
    arguments += ["--provenance", "whose.csv", "-o", "out.csv", "--new-provenance", "new.csv"]
    return Plan("mend", arguments, ["out.csv", "new.csv"], _audited(rng), _audited(rng))


def _profile(rng: Random) -> Plan:
    arguments = ["profile", "data.csv", "--taxonomies", "all", "-o", "proposed.toml", "--json", "profile.json"]
    outputs = ["proposed.toml", "profile.json", "proposed-hierarchies"]
    return Plan("profile", arguments, outputs, _files(_table(rng)), _files(_table(rng)))


def _redteam(rng: Random) -> Plan:
    drawn = _table(rng)
    made = [asking.scenario(drawn, rng) for _ in range(2)]
    for number, one in enumerate(made):
        one.data = {
            "data": {"file": "data.csv", "schema": "schema.toml", "seed": number},
            "release": [{"method": "mondrian", "k": [2, 3]}],
            "attacks": {"run": ["linking"], "link": ["class"]},
            "utility": {"run": []},
        }
    files = [_files(drawn) | {"scenario.toml": one.content()} for one in made]
    return Plan("redteam", ["redteam", "scenario.toml", "-o", "out"], ["out"], files[0], files[1])


def _compare(rng: Random) -> Plan:
    arguments = ["compare", "data.csv", "--schema", "schema.toml", "--methods", "mondrian,mdav", "--k", "2,3"]
    arguments += ["--attacks", "linking", "--jobs", "1", "-o", "out"]
    files = _files(_table(rng)), _files(_table(rng))
    return Plan("compare", arguments, ["out"], *files, kept=["out/", "out/cells/"])


def _render(rng: Random) -> Plan:
    records = [{"record.json": one.encode()} for one in rng.sample(making.records()[:3], 2)]
    arguments = ["render", "record.json", "--html", "a.html", "--markdown", "a.md", "--plots", "plots"]
    return Plan("render", arguments, ["a.html", "a.md", "plots"], records[0], records[1])


def _export(rng: Random) -> Plan:
    del rng
    return Plan("export", ["export", "hospital", "-o", "out"], ["out"], {}, {})


PLANS: tuple[tuple[Callable[[Random], Plan], int], ...] = (
    (_anonymize, 30), (_audit, 20), (_mend, 15), (_profile, 10), (_redteam, 10), (_render, 8), (_export, 4), (_compare, 3),
)  # fmt: skip


@dataclass(frozen=True)
class Aim:
    """When a command is killed: after some seconds, or at a touch of the file system."""

    number: int
    seconds: float | None = None
    event: int | None = None


class _Touches:
    """Counts how often this process touches the file system to write, and kills it at one of these instants."""

    def __init__(self, aim: Aim | None, told: int) -> None:
        self.aim, self.told, self.count, self.renamed = aim, told, 0, False

    def __call__(self, event: str, given: tuple[object, ...]) -> None:
        if event not in _EVENTS or (event == "open" and not _writes(given)):
            return
        self.count += 1
        if self.aim is None:
            self.renamed = self.renamed or event in _RENAMES
            os.pwrite(self.told, f"{self.count} {'' if self.renamed else self.count}".ljust(40).encode(), 0)
        elif self.count == self.aim.event:
            os.kill(os.getpid(), self.aim.number)


def _writes(given: tuple[object, ...]) -> bool:
    flags = given[2] if len(given) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


@dataclass(frozen=True)
class Run:
    """A run of a plan: its exit code, stderr, time, and the touches of the file system: all, and those before a rename."""

    code: int
    err: str
    seconds: float
    touches: int = 0
    before: int = 0


def _run(plan: Plan, folder: Path, aim: Aim | None = None) -> Run:
    """Runs a plan in its folder, and kills it where that is wanted."""
    arguments = (*plan.arguments, "--force")
    with (
        open(f"{folder}.out", "w+b") as out,
        open(f"{folder}.err", "w+b") as err,
        open(f"{folder}.told", "w+b") as told,
    ):
        ready, begun = os.pipe()
        pid = forked(lambda: _child(folder, arguments, out, err, begun, _Touches(aim, told.fileno())))
        os.close(begun)
        os.read(ready, 1)  # it has begun, or ended
        os.close(ready)
        start = time.monotonic()
        if aim is not None and aim.seconds is not None:
            time.sleep(aim.seconds)
            os.kill(pid, aim.number)
        code = waited(pid, PATIENCE)
        taken = time.monotonic() - start
        err.seek(0)
        told.seek(0)
        counted = [int(number) for number in told.read().split()]
        said = err.read().decode("utf-8", "replace")
    for ending in ("out", "err", "told"):
        Path(f"{folder}.{ending}").unlink()
    before = counted[1] if len(counted) > 1 else 0
    return Run(code, said, taken, counted[0] if counted else 0, before)


def _child(
    folder: Path,
    arguments: tuple[str, ...],
    out: io.BufferedRandom,
    err: io.BufferedRandom,
    begun: int,
    touches: _Touches,
) -> int:
    settle(folder, out.fileno(), err.fileno())
    return called(arguments, lambda: _begin(begun, touches))


def _begin(begun: int, touches: _Touches) -> None:
    """From here on this process may be killed."""
    os.write(begun, b"!")
    os.close(begun)
    sys.addaudithook(touches)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _outputs(plan: Plan, folder: Path) -> dict[str, str]:
    """What is there of the outputs of a plan, with digests."""
    every = snapshot(folder)
    mine = {name: digest for name, digest in every.items() if name.split("/")[0] in plan.outputs}
    kept = [name for name in mine if name in plan.kept or any(name.startswith(one) for one in plan.kept[1:])]
    return {name: digest for name, digest in mine.items() if name not in kept}


def warm_up(home: Path) -> None:
    """Compiles and imports what the forks need, once. No picture is drawn: what makes PDF files has threads of its own, for
    which a fork would wait for ever."""
    making.records()
    rng = Random(0)
    for method in making.METHODS:
        making.release(_table(rng), rng, method)
    for number, make in enumerate((_audit, _render, _profile)):
        folder = home / f"warm{number}"
        folder.mkdir()
        plan = make(rng)
        _fill(folder, plan.new)
        before = Path.cwd()
        argv, streams = sys.argv, (sys.stdout, sys.stderr)
        os.chdir(folder)
        sys.stdout = sys.stderr = io.TextIOWrapper(io.BytesIO())
        try:
            sys.argv = ["auditor", *(part for part in plan.arguments if part not in ("--plots", "plots"))]
            _main()
        finally:
            sys.argv, (sys.stdout, sys.stderr) = argv, streams
            os.chdir(before)
        shutil.rmtree(folder)


def _main() -> None:
    from auditor.commands.app import run

    run(sys.argv[1:])


def try_kill(seed: int, home: Path, keep: bool, index: int) -> Outcome:
    """Kills one command, looks at what it leaves, and runs it again."""
    rng = Random(f"{seed}:kill:{index}")
    kinds, weights = zip(*PLANS, strict=True)
    plan: Plan = rng.choices(kinds, weights)[0](rng)
    number = rng.choice(SIGNALS)
    folder, whole = home / f"kill{index}", home / f"kill{index}-whole"
    folder.mkdir()
    replacing = rng.random() < 0.6
    faults: list[str] = []
    if replacing:
        _fill(folder, plan.old)
        if _run(plan, folder).code not in (0, 1):
            faults.append("the first run failed")
    _fill(folder, plan.new)
    shutil.copytree(folder, whole)
    old = _outputs(plan, folder)
    smooth = _run(plan, whole)
    new = _outputs(plan, whole)
    if smooth.code not in (0, 1):
        faults.append("the run to compare with failed")
    if rng.random() < 0.5:
        most = smooth.before if number == signal.SIGKILL else smooth.touches
        aim = Aim(number, event=rng.randrange(1, most + 1)) if most else Aim(number, seconds=0.0)
    else:
        aim = Aim(number, seconds=rng.uniform(0, 1.05) * smooth.seconds)
    start = time.monotonic()
    killed = _run(plan, folder, aim)
    faults += _judged(plan, folder, killed, aim, (old, new), smooth.code)
    again = _run(plan, folder)
    if again.code != smooth.code:
        faults.append(f"the next run ended with {again.code}")
    elif _outputs(plan, folder) != new:
        faults.append("the next run gave something else")
    if any(".part" in name for name in snapshot(folder)):
        faults.append(".part files after the next run")
    taken = time.monotonic() - start
    if not keep:
        shutil.rmtree(folder)
        shutil.rmtree(whole)
    line = f"{aim}, {'replacing, ' if replacing else ''}{killed.code}: auditor {' '.join(plan.arguments)}"
    return Outcome(index, plan.command, signal.Signals(number).name, killed.code, taken, tuple(faults), line)


def _judged(
    plan: Plan, folder: Path, killed: Run, aim: Aim, ways: tuple[dict[str, str], dict[str, str]], normal: int
) -> list[str]:
    """The failures of a kill."""
    old, new = ways
    faults = []
    left = _outputs(plan, folder)
    if left not in (old, new):
        faults.append("mixed or partial outputs")
    ends = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}
    early = (
        killed.code == -signal.SIGTERM and left == old and not killed.err
    )  # the system's own end, before ours is set
    if killed.code == HUNG:
        faults.append("hang")
    elif not early and killed.code not in (ends[signal.Signals(aim.number)], normal):
        faults.append(f"exit code {killed.code}")
    if "Traceback" in killed.err or "Internal error" in killed.err:
        faults.append("traceback")
    if killed.code in (130, 143):
        if "Interrupted" not in killed.err and (killed.err or left != old):
            faults.append("no word on the interruption")
        if "nothing was written" in killed.err and left != old:
            faults.append("says that nothing was written, and it was")
        if any(".part" in name for name in snapshot(folder)):
            faults.append(".part files left")
    return faults


def table(outcomes: Sequence[Outcome]) -> str:
    """Kills by command and signal, and how many went wrong."""
    counts = Counter((one.command, one.kind) for one in outcomes)
    wrong = Counter((one.command, one.kind) for one in outcomes if one.faults)
    names = [signal.Signals(number).name for number in SIGNALS]
    rows = []
    for command in sorted({one.command for one in outcomes}):
        failed = sum(wrong[command, name] for name in names)
        rows.append((command, *(counts[command, name] for name in names), failed))
    total = [sum(row[place] for row in rows) for place in range(1, 5)]
    return tabulate([*rows, ("all", *total)], ("killed", *names, "failures"), tablefmt="simple")
