"""The tables of a report as rows of plain text, the same for every renderer.

A `Table` holds headings and cells that are already written as text but not yet escaped. The overview has what the adversary
gets by the strongest link of their own, and beside it what they would if the class were known.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from auditor.model.record.comparison import which_figure
from auditor.model.record.meaning import Goal
from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, Input, Risk, RunRecord, Utility
from auditor.model.record.release_facts import FakeTuples, ReleaseFacts
from reports.reading import (
    IF_KNOWN,
    Meanings,
    adversaries,
    excess_of,
    figures,
    is_count,
    is_rate,
    is_synthetic,
    kind_of,
    least_class,
    utility_of,
    value_of,
)
from reports.text import NONE, clean, finite, interval, number, percent, probability, settings, spoken
from reports.words.verdicts import check_text, plain_check

_PLAIN = ("reading", "score", "against")  # settings whose value says enough without the name
LEFT_OUT = "left out"
"""The column of people who are not in a release, or suppressed in it."""
_UNSAID = ("prior", "population")  # assumptions that all rows of an attack share; the record has them


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
    """The excess with its interval; over the baseline it says so."""
    excess = excess_of(risk) if risk.status == OK and finite(risk.value) is not None else None
    if excess is None:
        return NONE
    over = "over baseline" if excess.over == "baseline" else ""
    return " ".join(part for part in (probability(excess.value), interval(excess.low, excess.high), over) if part)


def overview(run: RunRecord) -> Table:
    """One row a release: its k, its verdict, the first headline of utility, the risks that lead, and other utility."""
    meanings = Meanings(*run.records)
    useful = [(measure.name, measure.statistic or None) for measure in meanings.headlines()]
    cells = []
    for place, record in enumerate(run.records, 1):
        shown = {"#": str(place), "release": clean(record.release.name, 60), "verdict": verdict_word(record)}
        shown["k"] = number(least_class(record.release))
        shown[LEFT_OUT] = left_out_people(record.release) or NONE
        for at, one in enumerate(useful):
            row = utility_of(record, *one)
            shown[meanings.utility_name(*one)] = number(finite(row.value)) if row is not None else NONE
            if at == 0:
                shown |= dict(_headline_risks(record, meanings))
        cells.append(shown if useful else shown | dict(_headline_risks(record, meanings)))
    headings = tuple(dict.fromkeys(heading for shown in cells for heading in shown))
    rows = tuple(tuple(shown.get(heading, NONE) for heading in headings) for shown in cells)
    numeric = frozenset(i for i, h in enumerate(headings) if h not in ("release", "verdict"))
    return Table(headings, rows, numeric).without_empty()


def leading_attacks(meanings: Meanings, rows: Sequence[Risk]) -> list[str]:
    """The first attack with figures for each goal: on records, on membership, and on values; harms do not lead."""
    first: dict[str, str] = {Goal.IDENTITY: "", Goal.MEMBERSHIP: ""}  # the order of the columns
    for attack, _ in meanings.groups(rows):
        goal = meanings.attack(attack).goal
        if not meanings.attack(attack).harm:
            first[goal] = first.get(goal) or attack
    return [attack for attack in first.values() if attack]


def _headline_risks(record: AuditRecord, meanings: Meanings) -> Iterable[tuple[str, str]]:
    """The risks that lead, of the one adversary; several have a table of their own (`matrix`)."""
    if len(adversaries(record)) > 1:
        return
    rows = figures(record)
    leading = leading_attacks(meanings, rows)
    pairs = [pair for pair in meanings.groups(rows) if pair[0] in leading]
    for attack, sensitive in sorted(pairs, key=lambda pair: leading.index(pair[0])):
        goal = meanings.attack(attack).goal
        mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
        own = meanings.own(mine)
        row = meanings.compared(own)
        if goal == Goal.IDENTITY:
            for risk in (meanings.pick(own, measure) for measure in meanings.attack(attack).lead):
                if risk is not None and is_rate(risk) and risk is not row:
                    yield f"link {spoken(risk.measure)}{_if(meanings, risk)}", probability(value_of(risk))
        elif row is not None and goal == Goal.MEMBERSHIP:
            against = ", made-up people" if row.params.get("against") == "fakes" else ""
            yield f"member {spoken(row.measure)}{against}", probability(value_of(row))
        elif row is not None:
            yield from _guesses(meanings, mine, row)


def _if(meanings: Meanings, risk: Risk) -> str:
    """The end of a heading whose figures hold if the class were known."""
    return f", {IF_KNOWN}" if meanings.supposed(risk) else ""


def _guesses(meanings: Meanings, rows: Sequence[Risk], row: Risk) -> Iterable[tuple[str, str]]:
    name = spoken(row.sensitive) if row.sensitive else "value"
    excess, bound = excess_of(row), meanings.bound(rows, row)
    yield f"{name} guessed{_if(meanings, row)}", probability(value_of(row))
    if excess is not None:
        yield f"{name} excess", probability(excess.value)
    if bound is not None:
        yield f"{name} guessed, {IF_KNOWN}", probability(value_of(bound))


def verdict_word(*records: AuditRecord) -> str:
    """`pass`, `FAIL` or a dash; of several runs of a release how many pass, unless all or none do: `1 of 2 pass`."""
    judged = [record.passes for record in records if record.passes is not None]
    if not judged or all(judged) or not any(judged):
        return NONE if not judged else "pass" if judged[0] else "FAIL"
    return f"{number(sum(judged))} of {number(len(judged))} pass"


def sorted_risks(record: AuditRecord, attack: str | None = None) -> list[Risk]:
    """The rows with a figure, by attack, sensitive column, adversary and link."""
    meanings = Meanings(record)
    rows = [r for r in figures(record) if attack is None or r.attack == attack]
    names = _places(r.attack for r in rows)
    people, columns = _places(r.adversary for r in rows), _places(r.sensitive for r in rows)

    def place(r: Risk) -> tuple[int, ...]:
        ranks = meanings.attack_rank(r.attack), names[r.attack]
        return (*ranks, columns[r.sensitive], people[r.adversary], meanings.link_rank(r.link))

    return sorted(rows, key=place)


def by_figures(rows: Sequence[Risk]) -> list[list[Risk]]:
    """Sorted rows in tables: one for each attack, column and adversary; adversaries with equal figures share one."""
    made: dict[Hashable, list[Risk]] = {}
    names: dict[Hashable, list[str]] = {}
    for (attack, sensitive, who), group in groupby(rows, key=lambda r: (r.attack, r.sensitive, r.adversary)):
        mine = list(group)
        figures_ = tuple((r.link, measure_text(r), r.value, r.low, r.high, r.baseline, r.control) for r in mine)
        made.setdefault((attack, sensitive, figures_), mine)
        names.setdefault((attack, sensitive, figures_), []).append(who)
    return [[replace(r, adversary=", ".join(names[key])) for r in mine] for key, mine in made.items()]


def _places(items: Iterable[str | None]) -> dict[str | None, int]:
    return {item: place for place, item in enumerate(dict.fromkeys(items))}


def risk_table(rows: Sequence[Risk], said: Collection[str] = ()) -> Table:
    """The risk rows with everything a row says, except its worst rows and the settings `said` elsewhere."""
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


def merged(table: Table, meanings: Meanings) -> Table:
    """The table with rows that differ in their link only made one: `all links`, `other links`, or by commas."""
    if "link" not in table.headings:
        return table
    at = table.headings.index("link")
    links = {row[at] for row in table.rows}
    gathered: dict[tuple[str, ...], list[str]] = {}
    for row in table.rows:
        gathered.setdefault((*row[:at], *row[at + 1 :]), []).append(row[at])
    rows = [(*rest[:at], link_words(meanings, found, links), *rest[at:]) for rest, found in gathered.items()]
    return replace(table, rows=tuple(rows))


def link_words(meanings: Meanings, found: Sequence[str], links: Collection[str]) -> str:
    """Some of the `links`, by the shortest name for them: the others are those that do not grant the class."""
    if len(found) > 1 and set(found) == set(links):
        return "all links"
    if len(found) > 1 and set(found) == {link for link in links if not meanings.granted(link)}:
        return "other links"
    named = (f"{link} if known" if meanings.granted(link) else link for link in sorted(found, key=meanings.link_rank))
    return ", ".join(named)


def measure_text(risk: Risk, said: Collection[str] = ()) -> str:
    """The measure with its settings, less those already `said`: `above (tau=0.5)`."""
    plain = [key for key in _PLAIN if key in risk.params and key not in said]
    parts = [clean(risk.params[key], 40) for key in plain]
    if rest := settings(risk.params, {*said, *plain, *_UNSAID}):
        parts.append(rest)
    given = ", ".join(parts)
    return clean(risk.measure, 40) + (f" ({given})" if given else "")


def utility_table(rows: Sequence[Utility]) -> Table:
    """The utility figures and which way is better; missing ones with the reason, once for measures that share it."""
    cells: list[tuple[str, str, str]] = []
    for row in rows:
        value = finite(row.value)
        known = row.status == OK and value is not None
        apart = (which_figure(row.params), row.params.get("k"))  # what tells figures apart; the record has the rest
        given = ", ".join(clean(one, 40) for one in apart if one is not None)
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


def policy_table(record: AuditRecord, keys: bool = True) -> Table:
    """The checks of the policy, in words; with the `keys` by which policies name their figures."""
    said = check_text if keys else plain_check
    cells = tuple(
        (
            said(record, c),
            "holds" if c.passed else "FAILS" if c.passed is not None else "cannot be judged",
            clean(c.source or ""),
        )
        for c in (record.policy.checks if record.policy is not None else ())
    )
    return Table(("check", "outcome", "source"), cells).without_empty()


def release_facts(record: AuditRecord) -> list[tuple[str, str]]:
    """What the release is, as pairs of name and text."""
    release = record.release
    pairs = [
        ("kind", kind_of(release)),
        ("method", _method(record)),
        ("rows", number(release.rows)),
        *([("people", number(release.people))] if release.people is not None else []),
        ("suppressed rows", _suppressed_rows(record)),
        ("suppressed cells", suppressed_cells(record)),
        *([("deleted rows", number(release.left_out_rows))] if release.left_out_rows else []),
        *(
            []
            if is_synthetic(release)
            else [("classes", number(release.classes)), ("smallest class (k)", number(release.k))]
        ),
        *([("largest class", number(release.largest_class))] if len(release.blocks) > 1 else []),
        *([("people alone in a class", number(release.alone))] if len(release.blocks) > 1 and release.alone else []),
        *([("the same, a person's rows joined", number(release.k_joined))] if release.k_joined is not None else []),
        *([("fake tuples", _fakes(release.fakes))] if release.fakes is not None else []),
        ("quasi-identifiers", ", ".join(clean(q, 60) for q in release.quasi)),
        ("blocks", " | ".join(", ".join(clean(c, 60) for c in block) for block in release.blocks)),
        ("promises", "; ".join(clean(p) for p in release.promises)),
    ]
    return [(name, text) for name, text in pairs if text and text != NONE]


def _fakes(fakes: FakeTuples) -> str:
    """The count of fake tuples, with its interval where it is an estimate."""
    about = "" if fakes.low is None else f"about (95 % interval {number(fakes.low)} to {number(fakes.high)}) "
    return (
        f"{about}{number(fakes.count)} combinations of quasi-identifiers match a class and are nobody's, beside "
        f"{number(fakes.people)} that somebody has"
    )


def _suppressed_rows(record: AuditRecord) -> str:
    """How many rows are suppressed, and by which convention they count."""
    release = record.release
    said = f"{number(release.suppressed_rows)} ({clean(release.suppression)}"
    if release.suppressed_rows and release.suppression != "own" and release.sensitive:
        said += "; their sensitive values count in the table that t, β and δ compare classes with"
    return f"{said})"


def left_out_people(release: ReleaseFacts) -> str:
    """How many people are not in a release, or suppressed in it, and their share: `150 (50 %)`; empty where nobody is."""
    lost = release.left_out_rows + release.suppressed_rows
    return f"{number(lost)} ({percent(lost / (release.rows + release.left_out_rows))})" if lost else ""


def suppressed_cells(record: AuditRecord) -> str:
    """By which convention single suppressed cells count in which figures; empty where there are none."""
    risk = record.release.risk
    if risk is None or risk.wildcard_mean is None or risk.wildcard_mean == risk.prosecutor_mean:
        return ""
    classes = "a value of their own in the classes and all that follows from these (k, l, t, the prosecutor's risk)"
    if record.release.withheld_cells == "own":
        return f"{classes}, and everywhere else but in the wildcard risk"
    return f"{classes}; any value in the wildcard risk, by sampling weights, in uniqueness and in special uniques"


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
