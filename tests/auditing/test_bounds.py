"""Bounds of a release: never below what an attack of their kind expects, equal to the best guess there is where they are
exact, and not told where the classes do not say which values they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizers import ANONYMIZERS
from attacks import ATTACKS
from attacks.base import View
from attacks.claims import SeveralClaims, ValueClaims
from attacks.homogeneity import Homogeneity
from attacks.minimality import Minimality
from auditor.auditing.attacking import Attacker
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.bounds import ALL_BUT_ONE, release_bounds
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Floats
from auditor.model.errors import PromiseError
from auditor.model.record.bound import Bound
from auditor.model.record.record import NOT_APPLICABLE, AuditRecord, RunRecord
from auditor.model.schema import Schema
from auditor.posterior.beliefs import ValueBeliefs
from auditor.posterior.links import Link
from reports.html import render_html
from reports.markdown import render_markdown
from reports.terminal import render_terminal
from scenarios.adversaries import PROSECUTOR, Adversary, Stance
from scenarios.options import Options
from tests.support.anonymizer_cases import SETTINGS, VALUES, kinds, table_of
from tests.support.bayes import ILL, Worlds, all_worlds, guesses

FACTS = (0, 1, 2, 3)
ALONE = Options(attacks=("homogeneity",), utility=())


def found(record: AuditRecord, column: str, facts: int | None) -> Bound:
    (one,) = [bound for bound in record.bounds if (bound.column, bound.facts) == (column, facts)]
    return one


def bounds_of(subject: Subject, options: Options = ALONE) -> dict[tuple[str, int | None], Bound]:
    made = release_bounds(subject, options, [Homogeneity()], (), Sides(subject, options).targets)
    return {(bound.column, bound.facts): bound for bound in made}


# ----- over all anonymizers and random tables -----------------------------------------------------------------------------


def releases(name: str, rows: int) -> Iterator[Subject]:
    """Releases of a random table by one method under all of its settings."""
    rng = np.random.default_rng(sum(map(ord, name)))
    for settings in SETTINGS[name]:
        table = table_of({c: [pool[i] for i in rng.integers(len(pool), size=rows)] for c, pool in VALUES.items()})
        try:
            release, provenance = ANONYMIZERS.get(name).configure(settings).anonymize(table, rng)
        except PromiseError:
            continue
        yield Subject(release, table, provenance)


def dealt_again(subject: Subject, column: str, beliefs: ValueBeliefs, rows: Any) -> Floats:
    """For each target the chance that what is claimed is right where the values of the class are dealt out again, by counting
    the people of the class who agree in the quasi-identifiers that stand beside the column in its block."""
    release, people, provenance = subject.release, subject.people, subject.provenance
    assert people is not None
    assert provenance is not None
    number = release.block_number(column)
    block, claimed, chances = release.blocks[number], guesses(beliefs), []
    beside = [c for c in block.columns if c in release.quasi]
    said = [(int(block.bucket[i]), *(int(block.cell(c)[i]) for c in beside)) for i in range(len(block.bucket))]
    for target, row in enumerate(rows):
        mine = said[provenance.fragment[row, number]]
        theirs = [i for i in range(len(said)) if said[i] == mine]
        codes = [int(release.labels[column].lo[block.cell(column)[i]]) for i in theirs]
        chances.append(float(np.mean([claimed[target, code] for code in codes])))
    return np.array(chances)


@pytest.mark.parametrize("name", kinds())
def test_no_attack_of_their_kind_expects_more(name: str) -> None:
    tried = 0
    for subject in releases(name, 30):
        sides = Sides(subject, ALONE).facing(PROSECUTOR)
        bounds = bounds_of(subject)
        knowledge = sides.knowledge()
        matching = sides.matching(knowledge)
        links, _ = Attacker(PROSECUTOR, sides, [Homogeneity()]).links
        for column in ("disease", "income"):
            if bounds[column, 0 if (column, 0) in bounds else 3].status == NOT_APPLICABLE:
                mechanism = subject.release.mechanism
                assert name == "grading" or (mechanism is not None and column in mechanism.columns)
                continue
            for link in links:
                beliefs = sides.main(knowledge, matching, link).beliefs.values(column)
                expected = dealt_again(subject, column, beliefs, sides.targets)
                first = bounds[column, 0]
                assert first.mean is not None
                assert first.worst is not None
                assert expected.mean() <= first.mean + 1e-9, (link, column)
                assert expected.max(initial=0) <= first.worst + 1e-9
                if link is Link.CLASS and (name != "slicing" or subject.release.exact):  # no doubt is left
                    assert expected.mean() == pytest.approx(first.mean, abs=1e-9)
                tried += 1
            means = [bounds[column, facts].mean or 0.0 for facts in FACTS]
            assert means == sorted(means)
            assert bounds[column, None].mean == 1.0
        if name == "mdav" and subject.release.params["k"] > 1:  # averages, in twelve digits
            assert bounds["age", None].mean == pytest.approx(1.0)
    assert tried or name == "grading"


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "slicing"])
def test_facts_about_the_person_are_within_the_bound_for_as_many(method: str) -> None:
    knowing = Adversary(Stance.PROSECUTOR, "knowing", not_values=1)
    options = replace(ALONE, attacks=("background",), adversaries=(knowing,), links=(Link.CLASS,))
    for subject in releases(method, 40):
        record = run_audit(subject, options)
        claimed = record.find("background", "success", sensitive="disease")
        assert claimed.expected is not None
        assert claimed.expected <= (found(record, "disease", 1).mean or 0.0) + 1e-9
        assert [one.attack for one in found(record, "disease", 1).outside] == ["background"]


# ----- the best guess there is --------------------------------------------------------------------------------------------

AGES = {"age": ["20", "21", "30", "32", "41"], "zip": ["1", "2", "1", "3", "3"]}


def by_class(subject: Subject, link: Link = Link.CLASS) -> ValueBeliefs:
    sides = Sides(subject, ALONE).facing(PROSECUTOR)
    knowledge = sides.knowledge()
    return sides.main(knowledge, sides.matching(knowledge), link).beliefs.values(ILL)


@pytest.mark.parametrize(
    ("method", "values", "people"),
    [("mondrian", "ab", 5), ("mdav", "ab", 5), ("kmember", "ab", 5), ("mondrian", "abc", 4)],
)
def test_where_classes_do_not_depend_on_the_values_the_bound_is_the_best_guess(
    method: str, values: str, people: int
) -> None:
    few = {column: texts[:people] for column, texts in AGES.items()}
    worlds = all_worlds(few, values, product(range(len(values)), repeat=people), method, k=2)
    assert len(worlds.subjects) == len(values) ** people
    for subject, chance in zip(worlds.subjects, worlds.posterior, strict=True):
        believed = by_class(subject)
        assert believed.rows.toarray()[believed.row_of] == pytest.approx(chance, abs=1e-12)
    bound = np.mean([bounds_of(subject, replace(ALONE, facts=(0,)))[ILL, 0].mean or 0.0 for subject in worlds.subjects])
    assert bound == pytest.approx(worlds.success, abs=1e-12)
    assert worlds.success_of(by_class) == pytest.approx(worlds.success, abs=1e-12)


def by_mechanism(worlds: Worlds, subject: Subject) -> ValueBeliefs:
    """What minimality believes; where nothing was generalised nothing follows from it."""
    sides = Sides(subject, ALONE).facing(PROSECUTOR)
    knowledge = replace(sides.knowledge(), mechanism=worlds.mechanism)
    main = sides.main(knowledge, sides.matching(knowledge), Link.CONTAINMENT)
    claims = Minimality().run(View(subject.release, knowledge, main.beliefs, None, ILL), np.random.default_rng(0))
    parts = claims.parts if isinstance(claims, SeveralClaims) else ()
    return next((part.values for part in parts if isinstance(part, ValueClaims)), main.beliefs.values(ILL))


def test_no_attack_beats_the_best_guess_where_classes_depend_on_the_values() -> None:
    # Two have a, the others b, c and d; three are 20 years old and two 30. They are one class of five only where the two have
    # the same value, a: in 6 cases of 60. By the classes alone a is right for 2 of 5 then; who knows how they were made names
    # the two, and one of the three.
    dealings = sorted(set(permutations((0, 0, 1, 2, 3))))
    worlds = all_worlds({"age": ["20"] * 3 + ["30"] * 2}, "abcd", dealings, "mondrian", k=2, l=2)
    assert [len(subject.release.sizes) for subject in worlds.subjects].count(1) == 6
    by_links = [worlds.success_of(partial(by_class, link=link)) for link in (Link.CLASS, Link.CONTAINMENT)]
    by_minimality = worlds.success_of(partial(by_mechanism, worlds))
    bound = np.mean([bounds_of(subject, replace(ALONE, facts=(0,)))[ILL, 0].mean or 0.0 for subject in worlds.subjects])
    assert max(by_links) <= bound + 1e-12
    assert worlds.success == pytest.approx(bound + 6 / 60 * (3 / 5 - 2 / 5))
    assert bound < by_minimality <= worlds.success + 1e-12


# ----- whoever knows all records but one ----------------------------------------------------------------------------------

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "ill": {"role": "sensitive"},
            "pay": {"role": "sensitive", "type": "numeric"},
        }
    }
)
ORIGINAL = pd.DataFrame(
    {"age": [20, 21, 23, 30, 34, 35], "ill": list("ababab"), "pay": [1, 2, 9, 4, 4, 7]}, dtype=object
).astype(str)


def averaged(written: str) -> AuditRecord:
    """Two classes of three, published as their average age."""
    release = ORIGINAL.assign(age=[format(21 + 1 / 3, written)] * 3 + [format(33, written)] * 3)
    return audit(release, SCHEMA, original=ORIGINAL, match="rows", options=ALONE)


def test_an_average_gives_the_last_value_away_but_for_rounding() -> None:
    record = averaged(".4f")
    (exact,) = [bound for bound in record.bounds if bound.column == "age"]
    assert (exact.who, exact.mean, exact.worst, exact.people) == (ALL_BUT_ONE, 1.0, 1.0, 6)
    # Rounded to whole years the sum of three ages is known within 1.5. The first class has 63 in place of 64: whoever knows
    # two of its ages has the third from 2.5 below to 0.5 above. For 20 that leaves 20; for 21, 20 and 21; for 23, 21 and 23.
    # The second has 99, which is right: for 30 that leaves 30; for 34 and 35, both of them. All ages are equally frequent.
    (rounded,) = [bound for bound in averaged(".0f").bounds if bound.column == "age"]
    assert rounded.mean == pytest.approx((1 + 1 / 2 + 1 / 2 + 1 + 1 / 2 + 1 / 2) / 6)
    assert rounded.worst == 1.0
    assert "rounding" in (rounded.reason or "")


def test_values_that_are_published_leave_nothing_to_find_out() -> None:
    record = averaged(".4f")
    assert found(record, "ill", None).mean == 1.0
    assert "published as they are" in (found(record, "ill", None).reason or "")
    best = found(record, "ill", None).best
    assert best is not None
    assert best.attack == "homogeneity"


def test_changed_values_have_no_smaller_bound() -> None:
    release = ORIGINAL.assign(age=["[20, 23]"] * 3 + ["[30, 35]"] * 3, pay=["2", "1", "8", "5", "4", "9"])
    record = audit(release, SCHEMA, original=ORIGINAL, match="rows", options=ALONE)
    assert found(record, "pay", 3).status == NOT_APPLICABLE
    assert "not the people's own" in (found(record, "pay", 3).reason or "")
    assert found(record, "pay", None).mean == 1.0
    assert "not known" in (found(record, "pay", None).reason or "")
    assert found(record, "ill", 0).mean == pytest.approx(2 / 3)


# ----- where classes do not say which values they hold --------------------------------------------------------------------


def test_of_labels_that_overlap_there_is_no_bound() -> None:
    schema = Schema.from_dict(
        {
            "columns": {
                "age": {"role": "quasi"},
                "ill": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "cough"], "Skin": ["rash"]}},
            }
        }
    )
    release = pd.DataFrame({"age": ["x"] * 3, "ill": ["flu", "Lung", "rash"]})
    assert "may hold the value of another" in (audit(release, schema, options=ALONE).bounds[0].reason or "")
    release = pd.DataFrame({"age": ["x"] * 3, "ill": ["flu", "*", "rash"]})
    hidden, last = audit(release, schema, options=ALONE).bounds
    assert hidden.status == NOT_APPLICABLE
    assert "recoded or changed" in (last.reason or "")


def test_of_several_rows_of_a_person_there_is_no_bound() -> None:
    schema = Schema.from_dict(
        {"columns": {"who": {"role": "person"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}}}
    )
    original = pd.DataFrame({"who": list("aabb"), "age": list("xyxy"), "ill": ["flu", "flu", "rash", "flu"]})
    record = audit(original.drop(columns="who"), schema, original=original, match="rows", options=ALONE)
    assert "several rows" in (found(record, "ill", 3).reason or "")


# ----- who is meant, and how it is told -----------------------------------------------------------------------------------


def test_the_bound_is_of_those_who_are_attacked() -> None:
    release = ORIGINAL.assign(age=["[20, 23]"] * 3 + ["[30, 35]"] * 3)
    options = replace(ALONE, targets=(3, 4), facts=(0,))
    record = audit(release, SCHEMA, original=ORIGINAL, match="rows", options=options)
    # Ages 30, 34 and 35 have pay 4, 4 and 7.
    assert (found(record, "pay", 0).mean, found(record, "pay", 0).people) == (pytest.approx(2 / 3), 2)


def test_the_order_of_rows_does_not_matter() -> None:
    release = ORIGINAL.assign(age=["[20, 23]"] * 3 + ["[30, 35]"] * 3)
    order = [4, 0, 5, 2, 1, 3]
    made = [
        audit(release.iloc[rows], SCHEMA, original=ORIGINAL.iloc[rows], match="rows", options=ALONE).bounds
        for rows in (list(range(6)), order)
    ]
    assert made[0] == made[1]


def test_a_release_alone_and_one_of_several_blocks_have_bounds() -> None:
    release = ORIGINAL.assign(age=["[20, 23]"] * 3 + ["[30, 35]"] * 3)
    alone = audit(release, SCHEMA, options=ALONE)
    assert found(alone, "pay", 0).mean == pytest.approx((1 / 3 + 2 / 3) / 2)
    for subject in releases("anatomy", 12):
        hidden = replace(subject, people=None, provenance=None, has_original=False)
        bound = bounds_of(hidden)["disease", 0]
        assert bound.mean == pytest.approx(bounds_of(subject)["disease", 0].mean)
        assert bound.people == subject.release.rows


def test_every_renderer_tells_the_bounds() -> None:
    release = ORIGINAL.assign(age=["[20, 23]"] * 3 + ["[30, 35]"] * 3)
    options = Options(attacks=("homogeneity", "definetti"), utility=())
    record = audit(release, SCHEMA, original=ORIGINAL, match="rows", options=options)
    run = RunRecord("small", 1, (record,))
    for text in (render_terminal(run, 160), render_markdown(run), render_html(run)):
        assert "How much worse could it be" in text
        assert "the classes, 2 facts" in text
        assert "… 1" in text
        assert "what other classes teach" in text
    assert AuditRecord.from_json(record.to_json()).bounds == record.bounds
    before = json.loads(record.to_json())
    del before["bounds"]
    assert AuditRecord.from_json(json.dumps(before)).bounds == ()


def test_attacks_that_name_values_say_what_they_go_by() -> None:
    said = {name: attack.beyond_class for name, attack in ATTACKS.all().items() if attack.beyond_class is not None}
    assert [name for name, beyond in said.items() if not beyond] == ["homogeneity"]
    assert {"background", "intersection", "alias", "degrade", "definetti", "inference", "minimality"} <= set(said)
