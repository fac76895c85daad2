"""Claims of differential privacy: kept ones are not refuted, broken ones are, by two worlds and by one run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import binom

from anonymizers import ANONYMIZERS
from anonymizers.base import Anonymizer, published_columns
from auditor.engines.worker import Job, Reply, Work, carry_out
from auditor.model.errors import EndedError, PromiseError, RecordError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish_synthetic
from auditor.model.record.claim import ClaimTest, ClaimVerdict
from auditor.model.record.comparison import FAILED
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.runs import repeating
from auditor.runs.canaries import Choice, Watch, cast, made_up, named_canary, published_text, shortened
from auditor.runs.claims import Claim, Neighbours, Trial, Worlds, check_claim
from reports.claims import render_claim_html, render_claim_markdown, render_claim_terminal, verdict_line
from tests.support.noisy_histograms import NoisyCounts
from tests.support.telling import Tell

SCHEMA = """
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
[columns.town]
role = "quasi"
[columns.illness]
role = "sensitive"
"""
TWO = Trial(runs=96, canary=Choice.OUTLIER, jobs=1)
ONE = Trial(Worlds.ONE, jobs=1)


def people(rows: int = 200, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    columns = {
        "id": [f"p{number}" for number in range(rows)],
        "age": [str(30 + 10 * age) for age in rng.choice(5, rows, p=[0.4, 0.3, 0.2, 0.07, 0.03])],
        "town": list(rng.choice(["A", "B"], rows)),
        "illness": [f"i{number}" for number in rng.choice(4, rows, p=[0.6, 0.3, 0.07, 0.03])],
    }
    (table,) = encode(Schema.from_dict(tomllib.loads(SCHEMA)), [RawTable("people", columns)])
    return table


def even_people(columns: int, values: int, rows: int = 200) -> Table:
    """People in columns of as many values, each as common as the others."""
    rng = np.random.default_rng(0)
    cells = {c: [f"{c}{number:02d}" for number in rng.permutation(np.arange(rows) % values)] for c in "abc"[:columns]}
    schema = Schema.from_dict({"columns": {c: {"role": "sensitive" if c == "a" else "quasi"} for c in cells}})
    (table,) = encode(schema, [RawTable("people", cells)])
    return table


@pytest.fixture(scope="module")
def table() -> Table:
    return people()


@dataclass(frozen=True)
class Refusing(NoisyCounts):
    """Refuses to work with the canary."""

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        if table.rows > 200:
            raise PromiseError("refusing: too many rows.")
        return super().anonymize(table, rng, progress)


@dataclass(frozen=True)
class Ended(NoisyCounts):
    """Is ended from outside in some runs with the canary: in those that draw less than a share."""

    share: float = 1.0

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        if table.rows > 200 and rng.random() < self.share:
            raise EndedError("the program took more than 1 s and was ended.")
        return super().anonymize(table, rng, progress)


@dataclass(frozen=True)
class Buggy(NoisyCounts):
    """Has a bug."""

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        raise ZeroDivisionError


@dataclass(frozen=True)
class Blind(NoisyCounts):
    """Publishes as many rows as its table has, or a multiple, and nothing else of it: every value is drawn, the first of a
    column nearly always."""

    times: int = 1

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        rows = self.times * table.rows
        columns = published_columns(table)
        cells = {c: np.where(rng.random(rows) < 0.998, 0, table.domains[c].size - 1).astype(np.int32) for c in columns}
        labels = {c: Labels.exact(table.domains[c]) for c in columns}
        everybody = np.ones(table.rows, dtype=np.bool_)
        return publish_synthetic(table.schema, labels, cells, everybody, rng, self.title, self.name)


@dataclass(frozen=True)
class Never(NoisyCounts):
    """Gives no release."""

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        raise PromiseError("never: it does not work.")


def test_a_claim_that_is_kept_is_not_refuted(table: Table) -> None:
    for trial in (TWO, ONE):
        found = check_claim(table, NoisyCounts(1.0), Claim(1.0), trial)
        assert found.verdict == ClaimVerdict.NOT_REFUTED
        assert found.bound is not None
        assert found.bound <= 1


def test_noise_divided_by_ten_is_refuted_by_both(table: Table) -> None:
    for trial in (TWO, ONE):
        found = check_claim(table, NoisyCounts(1.0, less_noise=10), Claim(1.0), trial)
        assert found.refuted
        assert found.bound is not None
        assert found.most is not None
        assert 1 < found.bound <= found.most
        assert "refuted." in verdict_line(found)


def test_people_who_are_replaced_and_the_worst_canary(table: Table) -> None:
    broken = NoisyCounts(1.0, less_noise=10)
    swapped = Trial(runs=60, canary=Choice.WORST, neighbours=Neighbours.REPLACE, jobs=1)
    assert check_claim(table, broken, Claim(1.0), swapped).refuted
    few = Trial(Worlds.ONE, neighbours=Neighbours.REPLACE, jobs=1)
    assert check_claim(table, broken, Claim(1.0), few).refuted


def test_refusing_tells_as_well_as_a_release(table: Table) -> None:
    found = check_claim(table, Refusing(1.0), Claim(1.0), TWO)
    assert found.refuted
    assert found.failed == TWO.runs
    assert "gave no release" in found.notes[0]


def test_what_follows_from_the_number_of_rows_refutes_nothing() -> None:
    """The count of the only value of a column is the number of rows, that of a very common one nearly so."""
    columns = {"age": ["30"] * 40, "town": ["A"] * 39 + ["B"], "illness": ["flu"] * 40}
    (table,) = encode(Schema.from_dict(tomllib.loads(SCHEMA)), [RawTable("people", columns)])
    for times in (1, 2):
        found = check_claim(table, Blind(times=times), Claim(0.5), replace(TWO, runs=120))
        assert found.verdict == ClaimVerdict.NOT_REFUTED
        assert "the number of rows" in found.public
        assert any("taken as public" in note for note in found.notes)
    assert check_claim(table, ANONYMIZERS.get("identity")(), Claim(1.0), TWO).refuted  # who copies is still found


def test_runs_that_were_ended_from_outside_are_no_outcome(table: Table) -> None:
    """A few are left out; where they are many, nothing is judged, since they may not be lost by chance."""
    found = check_claim(table, Ended(1.0), Claim(0.1), TWO)
    assert (found.verdict, found.lost, found.failed) == (ClaimVerdict.NOT_TESTED, TWO.runs, 0)
    assert "96 of 96 with the canary and 0 without" in (found.reason or "")
    assert "took more than 1 s" in (found.reason or "")
    assert check_claim(table, Ended(1.0), Claim(1.0), ONE).lost == 1
    found = check_claim(table, Ended(1.0, share=0.02), Claim(1.0), replace(TWO, runs=200))
    assert found.verdict == ClaimVerdict.NOT_REFUTED
    assert 0 < found.lost < 10
    assert found.judged["runs"] + found.judged["other_runs"] == 200 - found.lost // 2  # half of either world
    assert f"{found.lost} of 200 with the canary and 0 without" in found.notes[-1]
    assert "runs that were lost" in render_claim_markdown(found)
    buggy = check_claim(table, Buggy(1.0), Claim(1.0), TWO)
    assert buggy.verdict == ClaimVerdict.NOT_TESTED
    assert "ZeroDivisionError" in (buggy.reason or "")


def test_a_batch_whose_process_ended_is_lost(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_but_the_first(work: Work, jobs: Sequence[Job], *_: object) -> Iterator[tuple[int, Reply]]:
        yield 0, Reply(FAILED, "the process was ended from outside", None, 0.0)
        yield from ((number, carry_out(job, work)) for number, job in enumerate(jobs) if number)

    monkeypatch.setattr(repeating, "run_jobs", all_but_the_first)
    found = check_claim(table, NoisyCounts(1.0), Claim(1.0), replace(TWO, jobs=2))
    assert (found.verdict, found.lost, found.failed) == (ClaimVerdict.NOT_REFUTED, 2, 0)
    assert "2 of 96 with the canary and 0 without" in found.notes[-1]


def test_what_is_taken_as_public_is_said() -> None:
    declared = {"age": {"role": "quasi", "type": "numeric", "domain": [0, 120]}, "town": {"role": "sensitive"}}
    columns = {"age": ["30", "40", "50", "60"] * 10, "town": ["A", "B"] * 20}
    (table,) = encode(Schema.from_dict({"columns": declared}), [RawTable("people", columns)])
    method = ANONYMIZERS.get("marginals").configure({"epsilon": 1.0, "most_rows": 2})
    for trial in (Trial(runs=8, canary=Choice.RARE, jobs=1), ONE):
        found = check_claim(table, method, Claim(1.0), trial)
        text = " ".join(render_claim_terminal(found).split())
        for said in (
            "the values that occur in each column: canaries have no other",
            "what the schema declares: the range of age",
            "since the schema does not declare it: the values of town",
            "which columns have missing values",
            "at most 2 rows of a person count",
        ):
            assert said in text, said


def test_where_nothing_is_released_nothing_is_tested(table: Table) -> None:
    for trial in (TWO, ONE):
        found = check_claim(table, Never(1.0), Claim(1.0), trial)
        assert (found.verdict, found.bound) == (ClaimVerdict.NOT_TESTED, None)
        assert "it does not work" in (found.reason or "")
        assert "not tested" in verdict_line(found)


def test_a_method_that_publishes_as_many_rows_as_it_was_given(table: Table) -> None:
    """No promise, the same rows each time: the number of rows is taken as public, and the copy is still refuted."""
    identity = ANONYMIZERS.get("identity")()
    found = check_claim(table, identity, Claim(1.0), TWO)
    assert found.refuted
    assert any("as many rows as its table" in note for note in found.notes)
    assert any("the same each time" in note for note in found.notes)


def test_too_few_runs_are_said(table: Table) -> None:
    found = check_claim(table, NoisyCounts(8.0), Claim(8.0), ONE)
    assert found.verdict == ClaimVerdict.NOT_REFUTED
    assert "cannot refute this claim" in found.notes[0]


def test_one_seed_gives_one_answer_whatever_the_order_of_rows(table: Table) -> None:
    mixed = table.take(np.random.default_rng(1).permutation(table.rows))
    first, second = (check_claim(one, NoisyCounts(1.0), Claim(1.0), ONE) for one in (table, mixed))
    assert first == second
    small = Trial(runs=24, canary=Choice.RARE, jobs=1)
    for method in (NoisyCounts(1.0), ANONYMIZERS.get("identity")()):  # of the releases of the latter rows are left out
        first, second = (check_claim(one, method, Claim(1.0), small) for one in (table, mixed))
        assert first == second


def test_which_rows_are_left_out_does_not_depend_on_their_order() -> None:
    rows = [("30", "A"), ("40", "A"), ("40", "B"), ("50", "C")]
    kept = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        mixed = [rows[number] for number in order]
        release = published_text({"age": [age for age, _ in mixed], "town": [town for _, town in mixed]})
        (block,) = shortened(release, 3, np.random.default_rng(5))
        kept.append(
            sorted(
                (block["age"].texts[a], block["town"].texts[b])
                for a, b in zip(block["age"].codes, block["town"].codes, strict=True)
            )
        )
    assert kept[0] == kept[1]
    assert len(kept[0]) == 3


def test_canaries_have_only_values_that_occur(table: Table) -> None:
    outlier, _ = named_canary(table, "outlier")
    for column in ("age", "illness"):
        texts = table.texts(column)
        assert texts.count(outlier[column]) == min(map(texts.count, texts))
    assert outlier["id"] == "canary-1"
    again, words = named_canary(table, "7")
    assert again == {**{c: table.texts(c)[6] for c in ("age", "town", "illness")}, "id": "canary-1"}
    assert "row 7" in words
    with pytest.raises(UsageError, match="a row from 1 to 200"):
        named_canary(table, "201")
    several = made_up(table, 500, np.random.default_rng(1))
    assert len({tuple(one.values())[1:] for one in several}) == len(several) == 40  # 5 ages, 2 towns, 4 illnesses
    assert len(cast(table, several).canaries) == len({one["id"] for one in several})


def test_what_is_noted_of_a_release_worked_by_hand() -> None:
    canary = {"id": "x", "age": "30", "town": "A", "illness": "i0"}
    watch = Watch(({**canary},), ("age", "town", "illness"), {"age": 10.0})
    block = {"age": ["30.0", "40", "70"], "town": ["A", "A", "B"], "illness": ["i0", "i1", "i0"]}
    found = dict(zip(watch.names, watch.figures(published_text(block))[0], strict=True))
    assert found == {
        "rows with its age": 1,  # 30.0 is 30
        "rows with its town": 2,
        "rows with its illness": 2,
        "rows near its age": 2,
        "rows with its age and town": 1,
        "rows with its age and illness": 1,
        "rows with its town and illness": 1,
        "rows with all its values": 1,
        "values of the closest row": 3,
    }


def test_the_record_is_rendered_and_read_again(table: Table) -> None:
    found = check_claim(table, NoisyCounts(1.0, less_noise=10), Claim(1.0, 1e-5), ONE)
    assert ClaimTest.from_json(found.to_json()) == found
    with pytest.raises(RecordError):
        ClaimTest.from_json('{"format": "auditor-record/2"}')
    for text in (render_claim_terminal(found, 80), render_claim_markdown(found), render_claim_html(found)):
        for said in ("claims ε = 1 with δ = 1e-05", "at 95 % at least", "refuted", "73.1 %", "cannot prove it"):
            assert said in " ".join(text.split()), said
        assert "is private" not in text
    assert all(len(line) <= 80 for line in render_claim_terminal(found, 80).splitlines())


@pytest.mark.parametrize(
    ("claim", "trial", "fault"),
    [
        (Claim(-1.0), TWO, "from 0"),
        (Claim(1.0, 1.0), TWO, "below 1"),
        (Claim(1.0, gaussian=True), TWO, "beside a delta"),
        (Claim(1.0, 1e-5, gaussian=True), ONE, "needs two worlds"),
        (Claim(1.0), Trial(runs=7), "at least 8 runs"),
        (Claim(1.0), Trial(canaries=1), "at least 2 canaries"),
        (Claim(1.0), Trial(guesses=300), "1 to 200 guesses"),
        (Claim(1.0), Trial(confidence=1.0), "confidence"),
    ],
)
def test_what_cannot_be_is_refused(claim: Claim, trial: Trial, fault: str, table: Table) -> None:
    with pytest.raises(UsageError, match=fault):
        check_claim(table, NoisyCounts(1.0), claim, trial)


@pytest.mark.slow
def test_processes_give_the_same_answer(table: Table) -> None:
    alone = Trial(runs=20, canary=Choice.OUTLIER, jobs=1)
    together = Trial(runs=20, canary=Choice.OUTLIER, jobs=2)
    first, second = (check_claim(table, ANONYMIZERS.get("identity")(), Claim(1.0), one) for one in (alone, together))
    assert first == second


@pytest.mark.proof
@pytest.mark.slow
def test_a_kept_claim_is_refuted_no_more_often_than_one_in_twenty(full: bool, tell: Tell) -> None:
    """Also the bounds that are not chosen by chance: the true epsilon is the claim, so that any refutation is an error."""
    times = 200 if full else 2
    table = people(60, seed=1)
    wrong = dict.fromkeys(Worlds, 0)
    for seed in range(times):
        for trial in (Trial(runs=200, canary=Choice.OUTLIER, jobs=1), ONE):
            wrong[trial.worlds] += check_claim(table, NoisyCounts(1.0), Claim(1.0), trial, seed).refuted
    for worlds, count in wrong.items():
        tell("refutations of a claim that is kept", worlds=worlds, wrong=f"{count} of {times}", allowed="5 %")
        assert count <= binom.isf(0.001, times, 0.05)


@pytest.mark.proof
@pytest.mark.slow
def test_half_the_noise_is_refuted_by_two_worlds(full: bool, tell: Tell) -> None:
    """All runs are judged by what the canary adds, the count of its own combination of values."""
    half = NoisyCounts(1.0, less_noise=2.0)
    found = check_claim(people(), half, Claim(1.0), Trial(runs=20_000 if full else 800, canary=Choice.OUTLIER, jobs=1))
    tell("half the noise", method=half.title, shown=f"{found.bound:.3f}", verdict=found.verdict)
    assert found.refuted


def marginals(epsilon: float) -> Anonymizer:
    """The method draws many rows, since drawing few hides the counts, which the promise is about."""
    return ANONYMIZERS.get("marginals").configure({"epsilon": epsilon, "rows": 20_000})


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("less_noise", [1.0, 2.0, 10.0])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_method_that_promises_an_epsilon(columns: int, less_noise: float, full: bool, tell: Tell) -> None:
    """Run with ten times the epsilon, `marginals` has a tenth of the noise: who claims 1 for that is refuted by both tests,
    whatever the seed. With half of the noise two worlds refute it on one column, where the whole of epsilon is spent on the
    counts that the canary is in; on two columns the claim stands, and the power is told: how much could have been shown."""
    table, method = even_people(columns=columns, values=12 if columns > 1 else 100), marginals(less_noise)
    runs = {1.0: (16, 1_000), 2.0: (16, 1_000), 10.0: (40, 100)}[less_noise][full]
    trials = [(replace(TWO, runs=runs), 3 if full else 1), (ONE, 20 if full else 1)]
    for trial, times in trials:
        found = [check_claim(table, method, Claim(1.0), trial, 4_000 + seed) for seed in range(times)]
        bounds, refuted = [one.bound or 0.0 for one in found], sum(one.refuted for one in found)
        tell(
            "marginals that claims an epsilon of 1",
            columns=columns,
            worlds=trial.worlds,
            epsilon=f"{less_noise:g}",
            runs=trial.runs if trial is not ONE else 1,
            shown=f"{min(bounds):.2f} to {max(bounds):.2f}",
            at_most=f"{found[0].most:.2f}",
            refuted=f"{refuted} of {times}",
        )
        if less_noise == 1:
            assert refuted <= binom.isf(0.001, times, 0.05)
        if less_noise == 10 or (full and less_noise == 2 and columns == 1 and trial is not ONE):
            assert refuted == times
