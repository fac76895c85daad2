"""The templates of pages: where they are, and how their values are written. A template is compiled once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reports.text import clean, in_page

TEMPLATES = Path(__file__).parent / "templates"


def fill(template: str, **values: Any) -> str:
    """A template with its values filled in, as the text of a file."""
    return _environment().get_template(template).render(values) + "\n"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=in_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["clean"] = clean
    return made
