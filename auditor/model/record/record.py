"""The audit record: everything a report shows, as plain values that travel as JSON.

`AuditRecord` holds one audited release, `RunRecord` the several of one run. Reports are rendered from these alone, so
an old run can be rendered again. The JSON is a contract (see `schemas/record-2.json`): keys keep their names
and meaning within a format version, numbers are finite (never NaN), and what could not be computed is `null` with a
status and a reason beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from auditor.model.record.bound import Bound
from auditor.model.record.comparison import Comparison, RunCell
from auditor.model.record.meaning import AttackFacts, Better, Kind, LinkFacts, Measure, Note
from auditor.model.record.record_json import from_json, json_object, json_text
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.record.remedy import Driver, Remedy
from auditor.model.record.search import SearchFacts
from auditor.model.record.selection import Selection
from auditor.model.record.version_1 import upgraded
from auditor.model.upstairs import ask

if TYPE_CHECKING:
    import pandas as pd

RECORD_FORMAT = "auditor-record/2"
RUN_FORMAT = "auditor-run/2"

OK = "ok"
NOT_APPLICABLE = "not_applicable"
NOT_CONVERGED = "not_converged"

ORIGINAL, POPULATION, MECHANISM, FACTS = "original", "population", "mechanism", "facts"  # what an audit may lack


@dataclass(frozen=True, slots=True)
class Input:
    """A file (or built-in table) that the audit read: `role` is release, original, population, holdout, reference, schema or
    provenance."""

    role: str
    name: str
    sha256: str | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class AdversaryFacts:
    """Who attacks, and what they know, in one sentence; `stance` is prosecutor, journalist or marketer, whatever the name,
    and `knows` the known quasi-identifiers."""

    name: str
    sentence: str
    stance: str = "prosecutor"
    knows: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Risk:
    """One figure of one attack. Counts carry `n` and no interval; their baseline and control are scaled to `n`."""

    attack: str
    adversary: str
    link: str | None
    """How the adversary finds a person's class; null where the attack has its own way."""
    measure: str
    sensitive: str | None = None
    """The sensitive column that is sought."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Settings that tell this figure from others of the same measure."""
    status: str = OK
    reason: str | None = None
    """Why there is no figure, or why it is doubtful."""
    value: float | int | None = None
    """What was measured against the truth."""
    expected: float | None = None
    """What the attacker expects of it."""
    baseline: float | None = None
    """The same guess without the release."""
    control: float | None = None
    """The same attack on people who are not in the release."""
    control_kind: str | None = None
    """Who the control is: `outsiders`, `leave_one_out`, `other_classes` (the targets without their whole class), `fakes`; or
    what it is: a `random_record`, or the `chance` of predicates as rare. `detail.no_control` says why there is none."""
    low: float | None = None
    """The lower end of the 95 % interval of a rate."""
    high: float | None = None
    n: int | None = None
    """How many people it is about."""
    worst_rows: Sequence[int] = ()
    """The people hit hardest, as row numbers of the steward's own file, the first data row being 1."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    lacks: str | None = None
    """What a row that is not applicable would need (original, population, mechanism, facts); null where nothing would."""
    kind: str = Kind.RATE
    """How the figure comes about: rate, count, extreme or fact."""
    better: str = Better.LOWER
    """Which way is safer for the people."""


@dataclass(frozen=True, slots=True)
class Utility:
    """One figure of what the release is still good for. `better` says which way is better: "higher" or "lower"."""

    measure: str
    status: str = OK
    value: float | int | None = None
    better: str = "higher"
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """One threshold: `passed` is null where the figure it needs is not there (`reason` says why)."""

    measure: str
    limit: float
    relation: str
    value: float | None
    passed: bool | None
    reason: str | None = None
    source: str | None = None
    adversary: str | None = None
    """Of an attack's figure: whose it is."""
    link: str | None = None
    """Of an attack's figure: how they find the class."""
    estimate: float | None = None
    """Of an estimate: what was measured. `value` is then the worse end of its interval, which is judged."""
    of: str = "value"
    """Whether the figure itself was judged, or its excess."""


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """The outcome of a policy: it passes when every check holds; a check without a figure does not hold."""

    name: str
    title: str
    source: str
    checks: Sequence[PolicyCheck]
    passed: bool


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that the audit was not given: what it is (as in `Risk.lacks`), how to give it, and the figures that it would
    take. All other figures of the record need no more than was given."""

    what: str
    give: str
    figures: Sequence[str]


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """Who was attacked in place of everybody: so many, drawn by the seed, of all `people` that count."""

    attacked: int
    people: int


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One audited release. `lacking` says what could not be told from what was given; where a policy failed, `drivers` which
    classes drive it and `remedies` what would help, the best first. `sample` is there where not everybody was attacked: the
    rates are then estimates. `bounds` say how much more adversaries of a stated kind could expect, `search` what a search for
    the strongest adversary found."""

    seed: int
    release: ReleaseFacts
    risks: Sequence[Risk]
    utility: Sequence[Utility] = ()
    policy: PolicyVerdict | None = None
    adversaries: Sequence[AdversaryFacts] = ()
    attacks: Sequence[AttackFacts] = ()
    inputs: Sequence[Input] = ()
    notes: Sequence[Note] = ()
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = RECORD_FORMAT
    lacking: Sequence[Lack] = ()
    drivers: Sequence[Driver] = ()
    remedies: Sequence[Remedy] = ()
    sample: SampleFacts | None = None
    measures: Sequence[Measure] = ()
    links: Sequence[LinkFacts] = ()
    bounds: Sequence[Bound] = ()
    search: Sequence[SearchFacts] = ()
    date: str | None = None
    """The day that its report bears (YYYY-MM-DD); null where nobody gave one, so that the same audit has the same bytes."""

    @property
    def passes(self) -> bool | None:
        """Whether the release passes its policy, and no search found who breaks it; None where nothing was judged."""
        verdicts = [] if self.policy is None else [self.policy.passed]
        verdicts += [not search.breaks_policy for search in self.search if search.policy is not None]
        return all(verdicts) if verdicts else None

    def to_json(self) -> str:
        """The record as JSON text; the same record gives the same bytes."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str, name: str = "record") -> AuditRecord:
        """The record in a JSON text; `name` is said in errors."""
        return from_json(cls, upgraded(json_object(text, name)), name, RECORD_FORMAT)

    def to_frame(self) -> pd.DataFrame:
        """The figures as a pandas frame, one row a figure: `about` says whether it is one of risk or of utility. Rows that
        have no figure come last of each, with the reason."""
        import pandas as pd

        return pd.DataFrame(figure_rows(self))

    def find(self, attack: str, measure: str, **wanted: Any) -> Risk:
        """The one risk row with these fields (`link=`, `sensitive=`, `adversary=`, or a key of its params).

        Raises LookupError where there is none or more than one.
        """
        rows = [r for r in self.risks if r.attack == attack and r.measure == measure]
        for key, value in wanted.items():
            rows = [r for r in rows if getattr(r, key, r.params.get(key)) == value]
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} rows for {attack}.{measure} with {wanted}")
        return rows[0]

    def __repr__(self) -> str:
        policy = self.policy
        verdict = "" if policy is None else f", policy {policy.name} {'passed' if policy.passed else 'failed'}"
        return f"<AuditRecord {self.release.name}: {self.release.rows} rows, {len(self.risks)} risk figures{verdict}>"

    def _repr_html_(self) -> str:
        return str(ask("card")(self))


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The audited releases of one run, in the order they were made; of a comparison also its cells and the frontier, of a
    search for a release what was tried and chosen."""

    title: str
    seed: int
    records: Sequence[AuditRecord]
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = RUN_FORMAT
    cells: Sequence[RunCell] = ()
    comparison: Comparison | None = None
    date: str | None = None
    """As in `AuditRecord`."""
    selection: Selection | None = None

    def to_json(self) -> str:
        """The run as JSON text; the same run gives the same bytes."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str, name: str = "run") -> RunRecord:
        """The run in a JSON text; `name` is said in errors."""
        return from_json(cls, upgraded(json_object(text, name)), name, RUN_FORMAT)

    def to_frame(self) -> pd.DataFrame:
        """The figures of all releases as a pandas frame, one row a figure, with the name of its release and the method and
        settings that made it."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for record in self.records:
            made = record.release
            start = {"release": made.name, "method": made.method, "settings": dict(made.params)}
            rows += [start | row for row in figure_rows(record)]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        judged = [record.policy for record in self.records if record.policy is not None]
        passed = f", {sum(one.passed for one in judged)} of {len(judged)} pass their policy" if judged else ""
        return f"<RunRecord {self.title}: {len(self.records)} releases{passed}>"

    def _repr_html_(self) -> str:
        return str(ask("card")(self))


def figure_rows(record: AuditRecord) -> list[dict[str, Any]]:
    """The figures of a record as plain rows: those of risk, then those of utility; of each the missing ones last. What an
    attack has over its control or baseline stands beside the figure, as `excess`, with its interval."""
    parts: tuple[tuple[str, Sequence[Risk | Utility]], ...] = (("risk", record.risks), ("utility", record.utility))
    return [
        {"about": about, **asdict(row), **_excess(row.detail)}
        for about, rows in parts
        for row in sorted(rows, key=lambda row: row.status != OK or row.value is None)
    ]


def _excess(detail: Mapping[str, Any]) -> dict[str, Any]:
    noted = detail.get("excess")
    keys = {"value": "excess", "low": "excess_low", "high": "excess_high", "over": "excess_over"}
    return {name: noted.get(key) for key, name in keys.items()} if isinstance(noted, Mapping) else {}


def read_run(text: str, name: str) -> RunRecord:
    """A run from the JSON of a run or of a single record."""
    data = upgraded(json_object(text, name))
    if data.get("format") == RECORD_FORMAT:
        record = from_json(AuditRecord, data, name, RECORD_FORMAT)
        return RunRecord(record.release.name, record.seed, (record,), record.tool, date=record.date)
    return from_json(RunRecord, data, name, RUN_FORMAT)
