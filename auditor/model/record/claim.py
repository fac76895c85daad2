"""The test of a claim of differential privacy: what is claimed, how it was tried, and what was shown.

A record of its own, as plain values that travel as JSON. A test can refute a claim and cannot prove one: the verdict is
"refuted" or "not refuted", and never that something is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from auditor.model.record.record import Input
from auditor.model.record.record_json import from_json, json_object, json_text

CLAIM_FORMAT = "auditor-claim/1"


class ClaimVerdict(StrEnum):
    """What became of a claim."""

    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class ClaimTest:
    """A claim of (epsilon, delta)-differential privacy, put to the test."""

    seed: int
    mechanism: str
    """The method with its settings, or the name of a program."""
    epsilon: float
    """What is claimed."""
    delta: float
    worlds: str
    """`two`: runs with one person and runs without; `one`: one run with many canaries."""
    neighbours: str
    """`add` or `replace`: how neighbouring tables differ."""
    confidence: float
    verdict: str
    bound: float | None = None
    """Epsilon is at least this, at the confidence; null where nothing could be tested."""
    estimate: float | None = None
    """The plain estimate of the same; null where it is not finite."""
    gaussian: bool = False
    """Whether the bound goes by Gaussian differential privacy, since the mechanism claims that."""
    most: float | None = None
    """The largest bound that so many runs or guesses could have shown at all."""
    canary: str = ""
    """Who was added, in words."""
    score: str = ""
    """What told the worlds apart, in words."""
    rows: int = 0
    """The rows of the table without canaries."""
    runs: int = 0
    """Runs of either world; of one run, 1."""
    failed: int = 0
    """Runs that gave no release by the mechanism's own doing, which is an outcome."""
    lost: int = 0
    """Runs that a limit, a signal from outside or a bug ended, which is none."""
    public: Sequence[str] = ()
    """What was taken as public, so that the claim was not tested for it."""
    judged: Mapping[str, int] = field(default_factory=dict)
    """What the bound comes from: `hits` of `runs` and `other_hits` of `other_runs`; or `right` of `guesses`, of all
    `canaries`."""
    guess_claimed: float = 0.5
    """How often whoever has even odds beforehand may be right at most by the claim."""
    guess_shown: float | None = None
    """How often they can be right at least, by the bound."""
    reason: str | None = None
    """Why nothing was tested."""
    notes: Sequence[str] = ()
    inputs: Sequence[Input] = ()
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = CLAIM_FORMAT
    date: str | None = None
    """The day that its report bears; null where nobody gave one."""

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict == ClaimVerdict.REFUTED

    def to_json(self) -> str:
        """The record as JSON text; the same record gives the same bytes."""
        return json_text(self)

    @classmethod
    def is_in(cls, text: str) -> bool:
        """Whether a JSON text says that it is such a record."""
        return f'"format": "{CLAIM_FORMAT.partition("/")[0]}/' in text[:200]

    @classmethod
    def from_json(cls, text: str, name: str = "claim") -> ClaimTest:
        """The record in a JSON text; `name` is said in errors."""
        return from_json(cls, json_object(text, name), name, CLAIM_FORMAT)
