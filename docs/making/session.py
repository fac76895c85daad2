"""Records a short session at a terminal as a picture: the commands are run, and what they print is what is drawn.

    python docs/making/session.py

Writes docs/pictures/session.svg. Long outputs are cut where a line of dots says so.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

TARGET = Path(__file__).parents[1] / "pictures" / "session.svg"
WIDTH = 100
COMMANDS = (
    ("auditor export town -o town", 0),
    (
        "auditor anonymize town/data.csv --schema town/schema.toml --method mondrian --set k=5 -o release.csv "
        "--provenance private.csv",
        4,
    ),
    (
        "auditor audit release.csv --schema town/schema.toml --original town/data.csv --provenance private.csv "
        "--attacks linking,homogeneity --utility queries --policy ema --html report.html",
        28,
    ),
)
"""What is typed, and how many lines of the answer are shown."""


def answer(command: str, folder: str) -> list[str]:
    """What a command prints, in an environment of this width; its exit code may be that of a policy that fails."""
    given = [sys.executable, "-m", *command.split()]
    root = str(Path(__file__).parents[2])
    around = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONPATH": root}
    ended = subprocess.run(given, cwd=folder, env=around, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{command}\n{ended.stderr}")
    return ended.stdout.rstrip("\n").splitlines()


def record() -> str:
    """The session as the text of an SVG file."""
    console = Console(record=True, width=WIDTH + 2, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        for command, most in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (_broken(command), "bold")))
            said = answer(command, folder)
            for line in said[:most]:
                console.print(_coloured(line))
            if most and len(said) > most:
                console.print(Text("…", "dim"))
    drawn = console.export_svg(title="auditor", theme=MONOKAI, unique_id="session")
    return re.sub(r"@font-face\s*{[^}]*}", "", drawn)  # no font from elsewhere: the reader's own monospace font does


def _broken(command: str) -> str:
    """A command over several lines, as a shell takes it; an option stays with its value."""
    lines = [""]
    for part in re.split(r" (?=-)", command):
        if lines[-1] and len(lines[-1]) + len(part) + 3 > WIDTH:
            lines.append("   ")
        lines[-1] += f" {part}" if lines[-1] else part
    return " \\\n".join(lines)


def _coloured(line: str) -> Text:
    """A line of an answer; the verdict stands out."""
    text = Text(line)
    text.highlight_regex(r"\b(FAILS?|fails)\b", "bold red")
    text.highlight_regex(r"\b(PASS|pass(es)?)\b", "bold green")
    return text


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(record(), encoding="utf-8")
