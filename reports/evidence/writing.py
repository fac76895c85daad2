"""An evidence pack as Markdown and as one HTML file that opens offline.

Every sentence ends with its references. The appendix lists each of them once, with its place in the record's JSON and what
stands there; in the page they are links to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reports.evidence.pack import Blank, Pack
from reports.evidence.references import Reference, resolve
from reports.templating import fill
from reports.text import clean, markdown

HOW_TO_READ = (
    "Every sentence below comes from the audit record {source}; the references behind it say from where. [risk 12: …] is the "
    "entry risks[12] of the record, counted from 0, and [release: k] the key k of release. Lines marked “To be filled in” "
    "are for a person: no record can say them. Guidance, not legal advice; no section of a guideline is quoted."
)
TO_FILL_IN = "To be filled in"
APPENDIX = "Appendix: the places in the record"
_LONGEST = 300


def render_pack_markdown(pack: Pack) -> str:
    """The pack as Markdown."""
    lines = [
        f"# {markdown(pack.title)}: {markdown(pack.record.release.name)}",
        markdown(pack.about),
        _read(pack, markdown),
    ]
    for number, section in enumerate(pack.sections, 1):
        lines.append(f"## {number}. {markdown(section.heading)}")
        for item in section.items:
            if isinstance(item, Blank):
                lines.append(f"> **{TO_FILL_IN}:** {markdown(item.text)}\n>\n> ……………………………………………………")
            else:
                places = " ".join(markdown(str(reference)) for reference in item.references)
                lines.append(f"{markdown(item.text)} {places}")
    rows = [f"| {markdown(str(r))} | `{r.path}` | {markdown(shown)} |" for r, shown in _places(pack)]
    lines += [f"## {APPENDIX}", "\n".join(["| reference | place | what stands there |", "|---|---|---|", *rows])]
    return "\n\n".join(lines) + "\n"


def render_pack_html(pack: Pack) -> str:
    """The pack as one HTML file."""
    return fill(
        "evidence.html",
        pack=pack,
        name=clean(pack.record.release.name, 80),
        lead=_read(pack, str),
        appendix=APPENDIX,
        to_fill_in=TO_FILL_IN,
        blanks=sum(1 for _ in pack.blanks()),
        places=_places(pack),
        is_blank=lambda item: isinstance(item, Blank),
    )


def _read(pack: Pack, written: Any) -> str:
    before, _, after = HOW_TO_READ.partition("{source}")
    return f"{written(before)} {written(clean(pack.source, 120))} {written(after)}".replace(" ;", ";").replace(
        "  ", " "
    )


def _places(pack: Pack) -> list[tuple[Reference, str]]:
    """The references with what stands in the record, shortened."""
    data: Mapping[str, Any] = json.loads(pack.record.to_json())
    found = []
    for reference in pack.references():
        text = json.dumps(_brief(resolve(data, str(reference))), ensure_ascii=False)
        found.append((reference, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"))
    return found


def _brief(value: Any) -> Any:
    """An entry without what is empty, and without its details and rows, which the record has."""
    if not isinstance(value, Mapping):
        return value
    return {k: v for k, v in value.items() if k not in ("detail", "worst_rows") and v not in (None, [], {}, "")}
