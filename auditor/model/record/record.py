"""The audit record: everything a report shows, as plain values that travel as JSON.

`AuditRecord` holds one audited release, `RunRecord` the several of one run. Reports are rendered from these alone, so
an old run can be rendered again. The JSON is a contract (see `schemas/record-1.json`): keys keep their names
and meaning within a format version, numbers are finite (never NaN), and what could not be computed is `null` with a
status and a reason beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from auditor.model.record.comparison import Comparison, RunCell
from auditor.model.record.record_json import from_json, json_object, json_text
from auditor.model.record.remedy import Driver, Remedy

if TYPE_CHECKING:
    import pandas as pd

RECORD_FORMAT = "auditor-record/1"
RUN_FORMAT = "auditor-run/1"

OK = "ok"
NOT_APPLICABLE = "not_applicable"
NOT_CONVERGED = "not_converged"

ORIGINAL, POPULATION, MECHANISM, FACTS = "original", "population", "mechanism", "facts"
"""What an audit may lack."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file (or built-in table) that the audit read: `role` is release, original, population, schema or provenance."""

    role: str
    name: str
    sha256: str | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class SensitiveFacts:
    """Class statistics of one sensitive column, recomputed from what is published; null where one does not apply.
    `proximity_m` is the largest m for which (ε,m)-anonymity holds, ε being `proximity_epsilon`.
    Where `labels_overlap`, one label may hold the value of another: alpha and l are then what may be at worst.
    `homogeneity` is the share of people whose value is the commonest of their class: what guessing that gets right."""

    column: str
    values: int
    alpha: float | None = None
    l_distinct: int | None = None
    l_entropy: float | None = None
    l_recursive_c: float | None = None
    l_recursive_l: int | None = None
    t_equal: float | None = None
    t_ordered: float | None = None
    t_hierarchical: float | None = None
    beta_basic: float | None = None
    beta_enhanced: float | None = None
    delta_disclosure: float | None = None
    proximity_m: float | None = None
    proximity_epsilon: float | None = None
    labels_overlap: bool = False
    homogeneity: float | None = None


@dataclass(frozen=True, slots=True)
class ClassRisk:
    """What class sizes alone say about finding records: one over the size of the class, over all `records` that count.
    `at_risk` of them have more than `threshold`; `sample_uniques` are alone in their class. `marketer` is for a register of
    nobody but the people in the release: the most that a marketer reaches. `wildcard_…` are the prosecutor's figures where a
    withheld cell fits any value; null where they would take too long."""

    records: int
    prosecutor_max: float
    prosecutor_mean: float
    prosecutor_min: float
    at_risk: int
    at_risk_share: float
    threshold: float
    marketer: float
    sample_uniques: int
    sample_unique_share: float
    wildcard_max: float | None = None
    wildcard_mean: float | None = None
    wildcard_min: float | None = None


@dataclass(frozen=True, slots=True)
class WeightedRisk:
    """The individual risk in a sample with published weights (`column`): its maximum and mean over records, how many records
    a person who tries all would get right (`reidentified`), and how many have more than `threshold`. The records stand for
    `people`. The figures are null where `reason` says why."""

    column: str
    threshold: float
    people: float | None = None
    max: float | None = None
    mean: float | None = None
    reidentified: float | None = None
    at_risk: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterRisk:
    """What a register of `people` says about finding records: a class of f records has F people of the register who fit it.
    A record's risk is 1/F (the journalist); its mean is the greater of that over records, Σ f/F over the records, and that
    over people, the number of classes over ΣF; the `marketer`'s is the first. `at_risk` records have more than `threshold`.
    In `short` classes fewer people fit than there are records: the register is not complete, and F counts as f. The figures
    are null where `reason` says why."""

    people: int
    threshold: float
    journalist_max: float | None = None
    journalist_mean: float | None = None
    marketer: float | None = None
    at_risk: int | None = None
    at_risk_share: float | None = None
    short: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What the release is, and its class statistics. `class_sizes` maps a class size to the number of such classes;
    `identifiers` are identifying columns that stand in the file: nobody is protected then; `left_out_rows` are people of the
    original who were deleted; `risk` is null for several blocks, `weighted` where no weights are published, and
    `register` where none was given."""

    name: str
    kind: str
    rows: int
    suppressed_rows: int
    suppression: str
    classes: int
    k: int | None
    class_sizes: Mapping[str, int]
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    promises: Sequence[str] = ()
    quasi: Sequence[str] = ()
    blocks: Sequence[Sequence[str]] = ()
    sensitive: Sequence[SensitiveFacts] = ()
    identifiers: Sequence[str] = ()
    left_out_rows: int = 0
    risk: ClassRisk | None = None
    weighted: WeightedRisk | None = None
    register: RegisterRisk | None = None


@dataclass(frozen=True, slots=True)
class AdversaryFacts:
    """Who attacks, and what they know, in one sentence; `stance` is prosecutor, journalist or marketer, whatever the name,
    and `knows` the known quasi-identifiers."""

    name: str
    sentence: str
    stance: str = "prosecutor"
    knows: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AttackFacts:
    """What an attack claims, where it comes from and what lowers it, in plain words."""

    name: str
    goal: str
    claim: str
    lowered_by: str
    paper: str


@dataclass(frozen=True, slots=True)
class Risk:
    """One figure of one attack.

    `value` is measured against the truth, `expected` is the attacker's own expectation of it, `baseline` the same
    guess without the release, `control` the same attack on people who are not in it (`control_kind` says how), and
    `low`/`high` the 95 % interval of a rate. Counts carry `n` and no interval; their baseline and control are scaled
    to `n`. `worst_rows` are row numbers of the steward's own file, the first data row being 1. `lacks` is what a row that is
    not applicable would need (original, population, mechanism or facts; null where nothing would help).
    """

    attack: str
    adversary: str
    link: str | None
    measure: str
    sensitive: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    status: str = OK
    reason: str | None = None
    value: float | int | None = None
    expected: float | None = None
    baseline: float | None = None
    control: float | None = None
    control_kind: str | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    worst_rows: Sequence[int] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    lacks: str | None = None


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
    rates are then estimates."""

    seed: int
    release: ReleaseFacts
    risks: Sequence[Risk]
    utility: Sequence[Utility] = ()
    policy: PolicyVerdict | None = None
    adversaries: Sequence[AdversaryFacts] = ()
    attacks: Sequence[AttackFacts] = ()
    inputs: Sequence[Input] = ()
    notes: Sequence[str] = ()
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = RECORD_FORMAT
    lacking: Sequence[Lack] = ()
    drivers: Sequence[Driver] = ()
    remedies: Sequence[Remedy] = ()
    sample: SampleFacts | None = None

    def to_json(self) -> str:
        """The record as JSON text; the same record gives the same bytes."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str, name: str = "record") -> AuditRecord:
        """The record in a JSON text; `name` is said in errors."""
        return from_json(cls, text, name, RECORD_FORMAT)

    def to_frame(self) -> pd.DataFrame:
        """The risk rows as a pandas frame, one row a figure."""
        import pandas as pd

        return pd.DataFrame([asdict(risk) for risk in self.risks])

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
        verdict = (
            ""
            if self.policy is None
            else f", policy {self.policy.name} " + ("passed" if self.policy.passed else "failed")
        )
        return f"<AuditRecord {self.release.name}: {self.release.rows} rows, {len(self.risks)} risk figures{verdict}>"

    def _repr_html_(self) -> str:
        return str(self.to_frame().drop(columns=["detail"]).to_html(max_rows=40))


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The audited releases of one run, in the order they were made; of a comparison also its cells and the frontier."""

    title: str
    seed: int
    records: Sequence[AuditRecord]
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = RUN_FORMAT
    cells: Sequence[RunCell] = ()
    comparison: Comparison | None = None

    def to_json(self) -> str:
        """The run as JSON text; the same run gives the same bytes."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str, name: str = "run") -> RunRecord:
        """The run in a JSON text; `name` is said in errors."""
        return from_json(cls, text, name, RUN_FORMAT)


def read_run(text: str, name: str) -> RunRecord:
    """A run from the JSON of a run or of a single record."""
    found = json_object(text, name).get("format")
    if found == RECORD_FORMAT:
        record = AuditRecord.from_json(text, name)
        return RunRecord(title=record.release.name, seed=record.seed, records=(record,), tool=record.tool)
    return RunRecord.from_json(text, name)
