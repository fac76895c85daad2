"""Every figure has a control, or says why it has none; and what is held out for a control is held out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from attacks import ATTACKS, attacks_on
from attacks.base import NotApplicable, View, WholeAttack
from attacks.claims import Claims, ValueClaims
from auditor.auditing import folds
from auditor.auditing.attacking import Attacker
from auditor.auditing.audit import run_audit
from auditor.auditing.folds import cut, without
from auditor.auditing.scoring.figures import Control, Figure, joined, rate
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Ints
from auditor.model.provenance import Provenance
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.record import OK, Risk
from auditor.model.release import Release
from auditor.posterior.links import Link
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options
from tests.attacks.test_every_release import KNOWING, SMALLER, control_of, people
from tests.support.anonymizer_cases import SETTINGS, kinds
from tests.support.telling import Tell


def subject_of(name: str) -> Subject:
    members = people().take(np.arange(80))
    release, provenance = anonymize(members, name, 3, **SETTINGS[name][0])
    return Subject(release, members, provenance, True)


# ----- the table -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", kinds())
def test_every_figure_has_a_control_or_says_why_not(name: str, tell: Tell) -> None:
    # Without outsiders; `tests/attacks/test_every_release.py` has them.
    found: dict[str, set[str]] = defaultdict(set)
    options = Options(adversaries=(KNOWING,), seed=3, utility=(), settings=SMALLER)
    for risk in run_audit(subject_of(name), options).risks:
        found[risk.attack].add(control_of(risk))
    assert set(found) == set(attacks_on(subject_of(name).release.synthetic))
    of_goal = {
        Goal.ATTRIBUTE: {Control.LEAVE_ONE_OUT, Control.OTHER_CLASSES},
        Goal.IDENTITY: {Control.RANDOM_RECORD, Control.CHANCE},
        Goal.MEMBERSHIP: {Control.FAKES},
    }
    for attack, cells in found.items():
        assert set(map(str, Control)) & cells <= set(map(str, of_goal[ATTACKS.get(attack).goal])), attack
        tell("The control of every attack", attack=attack, release=name, control="; ".join(sorted(cells)))


# ----- other classes -------------------------------------------------------------------------------------------------


def test_folds_are_of_whole_classes_and_hold_everybody_once() -> None:
    subject = subject_of("mondrian")
    assert subject.people is not None
    assert subject.provenance is not None
    bucket = subject.provenance.bucket.astype(np.int64)
    targets, mark = np.flatnonzero(bucket >= 0), np.arange(len(bucket)).astype(np.uint64) * np.uint64(7919)
    made = cut(subject.release, bucket, targets, bucket, mark)
    assert len(made) >= folds.FOLDS
    assert np.sort(np.concatenate([fold.people for fold in made])).tolist() == list(range(len(targets)))
    for fold in made:
        assert fold.held[bucket[targets[fold.people]]].all()
        rest = without(subject.release, fold.held)
        assert rest.rows == subject.release.rows - int(subject.release.sizes[fold.held].sum())
        assert int(rest.sizes.sum()) == sum(np.bincount(rest.blocks[0].bucket))


def test_somebody_with_records_in_several_classes_is_without_all_of_them() -> None:
    subject = subject_of("mondrian")
    assert subject.provenance is not None
    bucket = subject.provenance.bucket.astype(np.int64)
    person = np.arange(len(bucket)) // 3
    mark = (person * 104729 % 65537).astype(np.uint64)
    made = cut(subject.release, bucket, np.arange(len(bucket)), person, mark)
    assert made
    for fold in made:
        theirs = np.isin(person, person[fold.people])
        assert fold.held[bucket[theirs]].all()
        assert np.flatnonzero(theirs).tolist() == fold.people.tolist()


@dataclass(frozen=True)
class Memory(WholeAttack):
    """Claims for everybody the commonest value of the release; keeps what it was shown."""

    name = "memory"
    summary = claim = needs = success = lowered_by = paper = "-"
    goal = Goal.ATTRIBUTE
    about_matched = False

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        SHOWN.append((view.release, view.knowledge.codes, view.blind))
        return ValueClaims(view.beliefs.values(view.column), 0.5)


SHOWN: list[tuple[Release, Ints, bool]] = []


def rows_of(subject: Subject, attack: WholeAttack) -> list[Risk]:
    SHOWN.clear()
    attacker = Attacker(PROSECUTOR, Sides(subject, Options()), [attack])
    return list(attacker.risks(lambda *_: None))


def test_an_attack_that_learns_is_not_shown_the_classes_of_its_control() -> None:
    subject = subject_of("mondrian")
    rows = [row for row in rows_of(subject, Memory()) if row.measure == "success"]
    assert {row.control_kind for row in rows} == {"other_classes"}
    assert {row.detail["control_n"] for row in rows} == {80}
    folded = [(release, codes) for release, codes, blind in SHOWN if not blind and release is not subject.release]
    assert len(folded) >= 2 * folds.FOLDS  # for both sensitive columns
    assert all(release.rows + len(codes) == 80 for release, codes in folded)


def test_where_an_attack_has_nothing_to_say_of_them_people_are_guessed_at() -> None:
    @dataclass(frozen=True)
    class Needy(Memory):
        """Applies to the whole release only."""

        def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
            whole = view.blind or view.release.rows == 80
            return super().run(view, rng) if whole else NotApplicable("it needs everybody")

    (row,) = (
        r for r in rows_of(subject_of("mondrian"), Needy()) if r.measure == "success" and r.sensitive == "disease"
    )
    assert row.control == pytest.approx(row.baseline)
    assert row.control_kind == "other_classes"


def test_of_one_class_there_is_no_control_and_the_row_says_so() -> None:
    population = people()
    release, provenance = anonymize(population, "mondrian", 1, k=160)
    assert len(release.sizes) == 1
    rows = rows_of(Subject(release, population, provenance, True), Memory())
    assert {(row.control, row.detail.get("no_control")) for row in rows} == {(None, folds.ONE_CLASS)}


def test_the_folds_do_not_depend_on_the_order_of_people() -> None:
    population = people()
    release, provenance = anonymize(population, "mondrian", 1, k=4)
    order = np.random.default_rng(5).permutation(population.rows)
    turned = Provenance(provenance.bucket[order], provenance.fragment[order])
    figures = [
        {(r.measure, r.sensitive): r.control for r in run_audit(subject, options).risks if r.status == OK}
        for options in [Options(("inference",), (Link.CONTAINMENT,), utility=())]
        for subject in (
            Subject(release, population, provenance, True),
            Subject(release, population.take(order), turned, True),
        )
    ]
    assert figures[0] == pytest.approx(figures[1], rel=1e-12)


# ----- figures of several groups -------------------------------------------------------------------------------------


def test_figures_of_folds_put_together() -> None:
    first = replace(rate("success", np.array([1.0, 0.0])), rows=np.array([4, 2]))
    second = replace(rate("success", np.array([0.5])), rows=np.array([7]))
    both = joined([first, second])
    assert (both.value, both.n) == (0.5, 3)
    assert both.rows is not None
    assert both.rows.tolist() == [4, 2, 7]
    most = [Figure("max", Kind.EXTREME, value, 1) for value in (0.2, 0.9)]
    assert joined(most).value == 0.9
    counts = [Figure("above", Kind.COUNT, value, 5) for value in (2.0, 3.0)]
    assert (joined(counts).value, joined(counts).n) == (5.0, 10)


def test_a_record_at_random_is_the_control_of_a_link() -> None:
    rows = run_audit(subject_of("mdav"), Options(("record-linkage", "linking"), None, (PROSECUTOR,), utility=())).risks
    found = {
        (row.attack, row.control_kind, row.control) for row in rows if row.measure == "success" and row.status == OK
    }
    assert {kind for _, kind, _ in found} == {"random_record"}
    assert all(control == pytest.approx(1 / 80) for _, _, control in found)
