"""The tables of a report as rows of plain text, the same for every renderer.

A `Table` holds headings and cells that are already written as text but not yet escaped. The overview has the figures
a policy looks at (prosecutor, link `class`) with the strongest other link beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, Input, PolicyVerdict, Risk, RunRecord, Utility
from reports.reading import (
    attack_rank,
    excess_of,
    figures,
    groups,
    is_count,
    is_rate,
    lead_adversary,
    link_rank,
    pick,
    strongest_link,
    utility_of,
    value_of,
)
from reports.text import NONE, clean, finite, interval, number, probability, settings, spoken
from reports.words.summary import utility_name
from reports.words.verdicts import check_text

_MEMBERS = ("member AUC", "member AUC, made-up people")
_PLAIN = ("reading", "score", "against")  # parameters whose value says enough without the name
_UNSAID = ("prior", "population")  # assumptions that all rows of an attack share; the record has them
_UTILITY = ("statistic", "k", "class")  # what tells utility figures apart; the record has the rest


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows of text; `numeric` holds the numbers of the columns to set right-aligned."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    def without(self, *names: str) -> Table:
        """The table without the columns of these headings."""
        kept = [i for i, heading in enumerate(self.headings) if heading not in names]
        return Table(
            tuple(self.headings[i] for i in kept),
            tuple(tuple(row[i] for i in kept) for row in self.rows),
            frozenset(kept.index(i) for i in self.numeric if i in kept),
        )

    def without_empty(self) -> Table:
        """The table without the columns that say nothing in any row."""
        empty = {
            heading
            for i, heading in enumerate(self.headings)
            if self.rows and all(row[i] in ("", NONE) for row in self.rows)
        }
        return self.without(*empty)


def figure(risk: Risk) -> str:
    """A risk figure as text: `34 of 100` for counts, a probability for rates; what is missing says so."""
    value = finite(risk.value)
    if risk.status == NOT_CONVERGED:
        return "did not converge"
    if risk.status != OK or value is None:
        return "not applicable" if risk.status != OK else NONE
    if is_count(risk):
        return number(value) + (f" of {number(risk.n)}" if risk.n is not None else "")
    return probability(value) if is_rate(risk) else number(value)


def _companion(risk: Risk, value: float | None) -> str:
    found = finite(value)
    if found is None:
        return NONE
    if is_count(risk):
        return number(round(found))
    return probability(found) if is_rate(risk) and 0 <= found <= 1 else number(round(found, 2))


def excess_text(risk: Risk) -> str:
    """The excess over the control (or the baseline, which is said) with its interval."""
    excess = excess_of(risk) if risk.status == OK and finite(risk.value) is not None else None
    if excess is None:
        return NONE
    over = "over baseline" if excess.over == "baseline" else ""
    return " ".join(part for part in (probability(excess.value), interval(excess.low, excess.high), over) if part)


def overview(run: RunRecord) -> Table:
    """One row a release: its k, the headline risks, utility and verdict."""
    columns: dict[str, list[str]] = {}

    def put(place: int, heading: str, text: str) -> None:
        cells = columns.setdefault(heading, [NONE] * len(run.records))
        cells[place] = text

    error = utility_name("queries", "median")
    for heading in ("#", "release", "verdict", "k", error, "link mean", "link max", *_MEMBERS):
        columns[heading] = [NONE] * len(run.records)
    for place, record in enumerate(run.records):
        put(place, "#", str(place + 1))
        put(place, "release", clean(record.release.name, 60))
        put(place, "verdict", verdict_word(record.policy))
        put(place, "k", number(record.release.k))
        for heading, text in _headline_risks(record):
            put(place, heading, text)
    for place, record in enumerate(run.records):
        for measure, statistic in (("queries", "median"), ("granularity", None)):
            row = utility_of(record, measure, statistic)
            put(place, utility_name(measure, statistic), number(finite(row.value)) if row is not None else NONE)
    headings = tuple(columns)
    rows = tuple(tuple(columns[h][i] for h in headings) for i in range(len(run.records)))
    numeric = frozenset(i for i, h in enumerate(headings) if h not in ("release", "verdict"))
    return Table(headings, rows, numeric).without_empty()


def _headline_risks(record: AuditRecord) -> Iterable[tuple[str, str]]:
    adversary = lead_adversary(record)
    rows = [r for r in figures(record) if r.adversary == adversary]
    linking = [r for r in rows if r.attack == "linking"]
    for measure in ("mean", "max"):
        if (row := pick(linking, measure)) is not None:
            yield f"link {measure}", probability(value_of(row))
    for attack, sensitive in groups(rows):
        if attack != "homogeneity":
            continue
        mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
        if (row := pick(mine, "success")) is None:
            continue
        name = spoken(sensitive) if sensitive else "value"
        excess, other = excess_of(row), strongest_link(mine, row)
        yield f"{name} guessed", probability(value_of(row))
        if excess is not None:
            yield f"{name} excess", probability(excess.value)
        if other is not None and probability(value_of(other)) != probability(value_of(row)):
            yield f"{name} best other link", f"{probability(value_of(other))} {clean(other.link or '', 20)}"
    membership = [r for r in rows if r.attack == "membership"]
    if (row := pick(membership, "auc")) is not None:
        yield _MEMBERS[row.params.get("against") == "fakes"], probability(value_of(row))


def verdict_word(policy: PolicyVerdict | None) -> str:
    """`pass`, `FAIL` or a dash."""
    return NONE if policy is None else "pass" if policy.passed else "FAIL"


def sorted_risks(record: AuditRecord, attack: str | None = None) -> list[Risk]:
    """The rows with a figure, by attack, sensitive column, adversary and link."""
    rows = [r for r in figures(record) if attack is None or r.attack == attack]
    names, people, columns = (
        _places(r.attack for r in rows),
        _places(r.adversary for r in rows),
        _places(r.sensitive for r in rows),
    )
    return sorted(
        rows,
        key=lambda r: (
            attack_rank(r.attack),
            names[r.attack],
            columns[r.sensitive],
            people[r.adversary],
            link_rank(r.link),
        ),
    )


def _places(items: Iterable[str | None]) -> dict[str | None, int]:
    return {item: place for place, item in enumerate(dict.fromkeys(items))}


def risk_table(rows: Sequence[Risk], said: Collection[str] = ()) -> Table:
    """The risk rows with everything a row says, except its worst rows and the parameters `said` elsewhere."""
    headings = (
        "attack", "adversary", "link", "sensitive", "measure", "value", "interval",
        "expected", "baseline", "control", "excess", "n",
    )  # fmt: skip
    cells = tuple(
        (
            clean(r.attack, 40),
            clean(r.adversary, 40),
            clean(r.link, 40) if r.link else NONE,
            clean(r.sensitive, 40) if r.sensitive else NONE,
            measure_text(r, said),
            figure(r),
            interval(finite(r.low), finite(r.high)) or NONE,
            _companion(r, r.expected),
            _companion(r, r.baseline),
            _companion(r, r.control),
            excess_text(r),
            number(r.n),
        )
        for r in rows
    )
    return Table(headings, cells, frozenset(range(5, 12)))


def compact_risks(rows: Sequence[Risk]) -> tuple[Table, str]:
    """The risk rows of one attack without what they all share, and that as text: `prosecutor, disease, n = 400`."""
    first = rows[0].params if rows else {}
    shared = {key: value for key, value in first.items() if all(r.params.get(key) == value for r in rows)}
    table, said = risk_table(rows, shared).without("attack"), []
    for heading in ("adversary", "sensitive", "n"):
        at = table.headings.index(heading)
        found = {row[at] for row in table.rows}
        if len(found) == 1:
            table, text = table.without(heading), found.pop()
            said += [f"n = {text}" if heading == "n" else text] if text != NONE else []
    given = settings(shared)
    return table.without_empty(), ", ".join([*said, given] if given else said)


def merged(table: Table) -> Table:
    """The table with rows that differ in their link only made one: `all links`, `other links`, or by commas."""
    if "link" not in table.headings:
        return table
    at = table.headings.index("link")
    links = {row[at] for row in table.rows}
    gathered: dict[tuple[str, ...], list[str]] = {}
    for row in table.rows:
        gathered.setdefault((*row[:at], *row[at + 1 :]), []).append(row[at])
    rows = [(*rest[:at], link_words(found, links), *rest[at:]) for rest, found in gathered.items()]
    return replace(table, rows=tuple(rows))


def link_words(found: Sequence[str], links: Collection[str]) -> str:
    """Some of the `links`, by the shortest name for them."""
    if len(found) > 1 and set(found) == set(links):
        return "all links"
    if len(found) > 1 and set(found) == set(links) - {"class"}:
        return "other links"
    return ", ".join(sorted(found, key=link_rank))


def measure_text(risk: Risk, said: Collection[str] = ()) -> str:
    """The measure with its parameters, less those already `said`: `above (tau=0.5)`."""
    plain = [key for key in _PLAIN if key in risk.params and key not in said]
    parts = [clean(risk.params[key], 40) for key in plain]
    if rest := settings(risk.params, {*said, *plain, *_UNSAID}):
        parts.append(rest)
    given = ", ".join(parts)
    return clean(risk.measure, 40) + (f" ({given})" if given else "")


def utility_table(rows: Sequence[Utility]) -> Table:
    """The utility figures with the way that is better; what is missing says why, once for measures that share a reason."""
    cells: list[tuple[str, str, str]] = []
    for row in rows:
        value = finite(row.value)
        known = row.status == OK and value is not None
        given = ", ".join(clean(row.params[key], 40) for key in _UTILITY if row.params.get(key) is not None)
        name = clean(row.measure, 40) + (f" ({given})" if given else "")
        if known:
            shown = " ".join(part for part in (number(value), interval(finite(row.low), finite(row.high))) if part)
            cells.append((name, shown, f"{clean(row.better, 20)} is better{_beside(row)}"))
            continue
        missing = (_status(row.status), clean(row.reason or "no reason given"))
        if cells and cells[-1][1:] == missing:
            cells[-1] = (f"{cells[-1][0]}, {name}", *missing)
        else:
            cells.append((name, *missing))
    return Table(("measure", "value", "note"), tuple(cells), frozenset({1}))


def _beside(row: Utility) -> str:
    """What a figure is to be read beside: the same on the original, and without any knowledge."""
    words_for = {"original": "on the original", "majority": "the commonest class", "null": "by chance"}
    said = [
        f"{word} {number(found)}"
        for key, word in words_for.items()
        if (found := finite(row.detail.get(key))) is not None
    ]
    return f"; {', '.join(said)}" if said else ""


def _status(status: str) -> str:
    return (
        "did not converge"
        if status == NOT_CONVERGED
        else "no figure"
        if status == OK
        else clean(status).replace("_", " ")
    )


def policy_table(policy: PolicyVerdict) -> Table:
    """The checks of a policy, in words."""
    cells = tuple(
        (
            check_text(c),
            "holds" if c.passed else "FAILS" if c.passed is not None else "cannot be judged",
            clean(c.source or ""),
        )
        for c in policy.checks
    )
    return Table(("check", "outcome", "source"), cells).without_empty()


def release_facts(record: AuditRecord) -> list[tuple[str, str]]:
    """What the release is, as pairs of name and text."""
    release = record.release
    pairs = [
        ("kind", clean(release.kind)),
        ("method", _method(record)),
        ("rows", number(release.rows)),
        ("suppressed rows", f"{number(release.suppressed_rows)} ({clean(release.suppression)})"),
        *([("deleted rows", number(release.left_out_rows))] if release.left_out_rows else []),
        ("classes", number(release.classes)),
        ("smallest class (k)", number(release.k)),
        ("quasi-identifiers", ", ".join(clean(q, 60) for q in release.quasi)),
        ("blocks", " | ".join(", ".join(clean(c, 60) for c in block) for block in release.blocks)),
        ("promises", "; ".join(clean(p) for p in release.promises)),
    ]
    return [(name, text) for name, text in pairs if text and text != NONE]


def _method(record: AuditRecord) -> str:
    if record.release.method is None:
        return ""
    given = settings(record.release.params)
    return clean(record.release.method) + (f" ({given})" if given else "")


def inputs(run: RunRecord) -> list[Input]:
    """The files that the run read, each once."""
    return list(dict.fromkeys(item for record in run.records for item in record.inputs))


def inputs_table(run: RunRecord) -> Table:
    """The files that the run read, with their hashes."""
    cells = tuple(
        (clean(i.role, 40), clean(i.name), number(i.rows), clean(i.sha256, 64) if i.sha256 else NONE)
        for i in inputs(run)
    )
    return Table(("role", "name", "rows", "SHA-256"), cells, frozenset({2}))


def tool_text(tools: Iterable[Mapping[str, str]]) -> str:
    """The versions that made the record: `auditor 0.1.0, numpy 2.4.6`."""
    seen: dict[str, str] = {}
    for tool in tools:
        named = {"name", "version"} <= set(tool)
        pairs = {tool["name"]: tool["version"]} if named else {}
        pairs.update((key, text) for key, text in tool.items() if not named or key not in ("name", "version"))
        seen.update((clean(key, 40), clean(text, 40)) for key, text in pairs.items())
    return ", ".join(f"{name} {version}" for name, version in seen.items())
