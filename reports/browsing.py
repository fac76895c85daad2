"""The pages of the local browser of records: the list, two records side by side, and what to say when a page fails.

A page is made from summaries and records alone; it knows no file and no server. It works without a script: sorting and
filtering are links and forms, and every state of a page is in its address. The style stands in the page, and
`style_hash` lets the server's policy allow that style and no other.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from urllib.parse import urlencode

from auditor.model.record.claim import ClaimTest
from auditor.model.record.record import OK, AuditRecord, RunRecord
from auditor.model.record.strongest import choose, strongest
from reports.claims import claim_row, render_claim_html
from reports.html import render_html
from reports.reading import IF_KNOWN, Meanings, least_class, made_by
from reports.tables.side_by_side import compare
from reports.templating import TEMPLATES, fill
from reports.text import NONE, clean, finite, interval, number, probability, settings, spoken

PAGE = 200
"""Records on a page of the list."""
COLUMNS = (
    ("release", "Release"),
    ("method", "Method"),
    ("parameters", "Settings"),
    ("k", "k"),
    ("verdict", "Policy"),
    ("risk", "Highest risk"),
    ("utility", "Utility"),
    ("date", "Date"),
)
VERDICTS = ("pass", "fail", "not judged")


@dataclass(frozen=True, slots=True)
class Summary:
    """One record as a row of the list; `key` names it in addresses: its number in its file, a colon, and the file."""

    key: str
    file: str
    changed: float
    release: str
    method: str
    parameters: str
    k: int | None
    verdict: str
    policy: str
    risk: float | None
    risk_text: str
    risk_note: str
    utility: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    usual: str = ""
    content: str = ""
    """The hash of the record: a copy in another file has the same."""
    cells: frozenset[str] = frozenset()
    """The ids of the cells of its run, where it is one of a comparison."""


@dataclass(frozen=True, slots=True)
class ClaimSummary:
    """The test of a claim of differential privacy as a row of its own list."""

    file: str
    changed: float
    mechanism: str
    claimed: str
    shown: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is not shown, and why."""

    file: str
    reason: str


def summaries(run: RunRecord, file: str, changed: float) -> list[Summary]:
    """The records of one file as rows of the list."""
    cells = frozenset(cell.id for cell in run.cells)
    rows = [_summary(record, f"{place}:{file}", file, changed) for place, record in enumerate(run.records, 1)]
    return [replace(row, cells=cells) for row in rows]


def claim_summary(test: ClaimTest, file: str, changed: float) -> ClaimSummary:
    """The test of a claim as a row."""
    return ClaimSummary(file, changed, *claim_row(test))


def once(rows: Sequence[Summary]) -> list[Summary]:
    """The rows without those of releases that another file has too: the finished cells of a comparison beside the comparison,
    and copies. Of copies the one in the largest run stays, and of those the first."""
    runs = {row.file: row.cells for row in rows if row.cells}
    parts = {one for one, cells in runs.items() if any(cells < other for other in runs.values())}
    whole = [row for row in rows if row.file not in parts]
    chosen: dict[str, Summary] = {}
    for row in sorted(whole, key=lambda row: (-len(row.cells), row.file.count("/"), row.file)):
        chosen.setdefault(row.content, row)
    kept = {row.key for row in chosen.values()}
    return [row for row in whole if row.key in kept]


def _summary(record: AuditRecord, key: str, file: str, changed: float) -> Summary:
    release, policy = record.release, record.policy
    risk, text, note = _risk(record)
    useful: dict[str, tuple[float, str]] = {}
    meanings = Meanings(record)
    for row in record.utility:
        value, statistic = finite(row.value), row.params.get("statistic")
        if row.status == OK and value is not None:
            name = meanings.utility_name(clean(row.measure, 40), statistic if isinstance(statistic, str) else None)
            useful.setdefault(name, (value, number(value)))
    return Summary(
        key=key,
        file=file,
        changed=changed,
        release=clean(release.name, 80) or "unnamed",
        method=made_by(release),
        parameters=settings(release.params),
        k=least_class(release),
        verdict="not judged" if policy is None else "pass" if policy.passed else "fail",
        policy="" if policy is None else clean(policy.name, 60),
        risk=risk,
        risk_text=text,
        risk_note=note,
        utility=useful,
        content=hashlib.sha256(record.to_json().encode()).hexdigest(),
        usual=next((meanings.utility_name(m.name, m.statistic) for m in meanings.headlines()), ""),
    )


def _risk(record: AuditRecord) -> tuple[float | None, str, str]:
    """The figure that the picture of risk against utility shows: the strongest attack, as its excess over the baseline."""
    chosen = choose((record,))
    found = None if chosen is None else strongest(record, chosen)
    if chosen is None or found is None:
        return None, NONE, ""
    text = f"{probability(found.value)} {interval(found.low, found.high)}".strip()
    about = f" of {spoken(found.row.sensitive)}" if found.row.sensitive else ""
    who = f" by the {clean(chosen.adversary, 40)}" + (f" {IF_KNOWN}" if chosen.granted else "")
    return found.value, text, f"{clean(found.row.attack, 40)}{about}{who}, excess over the baseline"


def index_page(
    rows: Sequence[Summary],
    claims: Sequence[ClaimSummary],
    unread: Sequence[Unread],
    title: str,
    asked: Mapping[str, str],
) -> str:
    """The list of records, and that of tests of claims. `asked` are the parameters of the address: sort, order, filter,
    verdict, utility, page. Tests of claims have no policy, and are left out where one of its verdicts is asked for."""
    measures = _measures(rows)
    measure = asked.get("utility") if asked.get("utility") in measures else (measures[0] if measures else "")
    sort = asked["sort"] if asked.get("sort") in dict(COLUMNS) else "date"
    order = asked["order"] if asked.get("order") in ("up", "down") else "down" if sort == "date" else "up"
    wanted = clean(asked.get("filter", ""))
    verdict = asked["verdict"] if asked.get("verdict") in VERDICTS else ""
    found = [row for row in rows if _matches(row, wanted) and verdict in ("", row.verdict)]
    found = _sorted(found, sort, order == "down", measure or "")
    tests = [one for one in claims if not verdict and _has_words(f"{one.file} {one.mechanism} {one.verdict}", wanted)]
    tests.sort(key=lambda one: (-one.changed, one.file))
    pages = max(1, -(-max(len(found), len(tests)) // PAGE))
    page = min(max(1, _whole(asked.get("page", ""))), pages)
    state = {"filter": wanted, "verdict": verdict, "utility": measure or "", "sort": sort, "order": order}

    def address(**changes: object) -> str:
        kept = {key: value for key, value in {**state, **changes}.items() if value not in ("", None)}
        return "/?" + urlencode(kept)

    return fill(
        "browse_index.html",
        style=style(),
        title=clean(title),
        rows=found[(page - 1) * PAGE : page * PAGE],
        tests=tests[(page - 1) * PAGE : page * PAGE],
        claims=len(claims),
        shown=len(found),
        total=len(rows),
        unread=unread,
        columns=COLUMNS,
        measures=measures,
        measure=measure,
        state=state,
        verdicts=VERDICTS,
        address=address,
        page=page,
        pages=pages,
        report=_report,
        claim=lambda row: "/report?" + urlencode({"file": row.file}),
        when=lambda row: datetime.fromtimestamp(row.changed, UTC).astimezone().strftime("%Y-%m-%d %H:%M"),
        number=number,
    )


def _measures(rows: Sequence[Summary]) -> list[str]:
    """The utility measures that some record has, the commonest first; of those the one that reports show first."""
    found = Counter(name for row in rows for name in row.utility)
    usual = {row.usual for row in rows}
    return sorted(found, key=lambda name: (-found[name], name not in usual))


def _matches(row: Summary, wanted: str) -> bool:
    """Whether a record has all the words that are looked for."""
    text = f"{row.release} {row.file} {row.method} {row.parameters} {row.policy} {row.verdict} {row.risk_note}"
    return _has_words(text, wanted)


def _has_words(text: str, wanted: str) -> bool:
    return all(word in text.lower() for word in wanted.lower().split())


def _sorted(rows: Sequence[Summary], sort: str, down: bool, measure: str) -> list[Summary]:
    """The records by one column; those without a figure come last, whichever the order."""

    def value(row: Summary) -> float | str | None:
        if sort == "utility":
            return row.utility[measure][0] if measure in row.utility else None
        found: float | str | None = getattr(row, {"date": "changed"}.get(sort, sort))
        return found.lower() if isinstance(found, str) else found

    stable = sorted(rows, key=lambda row: (row.file.lower(), row.file, _whole(row.key.partition(":")[0])))
    known = [(found, row) for row in stable if (found := value(row)) is not None]
    known.sort(key=lambda pair: (isinstance(pair[0], str), pair[0]), reverse=down)
    return [row for _, row in known] + [row for row in stable if value(row) is None]


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def compare_page(left: tuple[Summary, AuditRecord], right: tuple[Summary, AuditRecord]) -> str:
    """Two records side by side."""
    made = compare(left[1], right[1])
    swap = "/compare?" + urlencode({"left": right[0].key, "right": left[0].key})
    return fill(
        "browse_compare.html", style=style(), left=left[0], right=right[0], made=made, swap=swap, report=_report
    )


def _report(row: Summary) -> str:
    """The address of a record's place in the report of its file."""
    return "/report?" + urlencode({"file": row.file}) + f"#release-{row.key.partition(':')[0]}"


def report_page(found: RunRecord | ClaimTest) -> str:
    """The report of one file, with a way back to the list."""
    report = render_claim_html(found) if isinstance(found, ClaimTest) else render_html(found)
    back = '<nav aria-label="Records" style="max-width:64rem;margin:0 auto;padding:1rem 1.5rem 0">'
    back += '<a href="/">← All records</a></nav>'
    return re.sub(r"<body[^>]*>", lambda found: f"{found[0]}\n{back}", report, count=1)


def error_page(title: str, words: str) -> str:
    """What is said where a page cannot be shown."""
    return fill("browse_error.html", style=style(), title=clean(title), words=clean(words, 600))


def own_policy(page: str) -> str:
    """The content security policy that a report states for itself, in its head."""
    head = page.partition("</head>")[0]
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', head)
    return html.unescape(found[1]) if found else "default-src 'none'"


@cache
def style() -> str:
    """The style sheet of the pages."""
    return (TEMPLATES / "browse.css").read_text(encoding="utf-8")


@cache
def style_hash() -> str:
    """The hash of the style as it stands in the pages, for a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
