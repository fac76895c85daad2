"""Four releases made by ARX 3.9.2: every figure of the `risk_*.txt` beside them that we compute.

The texts are read, not typed again. Of their lines we do not compute

- `optimum.*`, `optimal_found`, `lattice_size`, `search_time_ms`: ARX's search, not the release;
- `prosecutor.effective_threshold`: the threshold that was given, which is 0.2 here as there;
- `ambiguity`, `generalization_intensity`, `missings`, `non_uniform_entropy`, `*squared_error`, `ssesst` and `attr …`: utility
  by ARX's own definitions. `avg_class_size` and `discernibility` are scaled by ARX to 0..1, ours are as published;
- `granularity.mean` of the averages, which ARX counts as lossless; that of the two recodings is compared in
  `test_arx_reference`.

The journalist's figures are those of the prosecutor: ARX was given no register, and takes the data set itself for the
population. So we give the original as the register, and must find the same.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.audit import audit
from auditor.measure.population_uniqueness import Sample, estimates
from auditor.model.record.record import AuditRecord
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Suppression
from scenarios.options import Options
from tests.support.adult import unpack_release, write_adult
from tests.support.worst_cases import least

pytestmark = [pytest.mark.data, pytest.mark.slow]

QUASI = ("sex", "age", "race", "education", "native-country")  # of the notation files; the rest is published as it was
NAMES = ("k5_s5_8qi", "local_k5_8qi", "notation_interval_set", "notation_microagg")
MODELS = ("dankar", "pitman", "zayatz", "snb")


@dataclass(frozen=True)
class Case:
    """A release as ARX describes it (`told`), as we audit it alone, and with the original as original and register."""

    name: str
    told: dict[str, str]
    text: str
    alone: AuditRecord
    beside: AuditRecord
    file: Path

    def number(self, key: str) -> float:
        return float(self.told[key])

    @property
    def release(self) -> ReleaseFacts:
        return self.alone.release


@pytest.fixture(scope="module", params=NAMES)
def case(request: pytest.FixtureRequest, data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    name: str = request.param
    folder = tmp_path_factory.mktemp("arx")
    table, schema = write_adult(data_folder, folder)
    if name.startswith("notation"):
        columns = re.split(r"(?m)^(?=\[columns\.)", schema.read_text())
        told = [c if any(f"[columns.{q}]" in c for q in QUASI) else c.replace('"quasi"', '"neutral"') for c in columns]
        schema.write_text("".join(told))
    file = unpack_release(data_folder, name, folder)
    text = (data_folder / "reference" / "arx" / f"risk_{name}.txt").read_text()
    options = Options(attacks=("linking",), utility=())
    alone = audit(file, schema, options=options)
    beside = audit(file, schema, original=table, match="rows", population=table, options=options)
    return Case(name, dict(re.findall(r"([\w.()]+)=(\S+)", text)), text, alone, beside, file)


def test_classes_and_suppressed_rows(case: Case) -> None:
    counts = dict(re.findall(r"(\w+)=(\S+)", re.findall(r"(?m)^ec\.num.*$", case.text)[0].replace("ec.", "")))
    sizes = [int(size) for size in case.release.class_sizes]
    assert case.release.classes == int(counts["num"]) == case.number("classes.num")
    assert (case.release.k, min(sizes), max(sizes)) == (int(counts["min"]), int(counts["min"]), int(counts["max"]))
    assert case.release.suppressed_rows == int(counts["suppressed"])
    assert case.release.rows == int(counts["records_total"])
    assert case.release.risk is not None
    assert case.release.risk.records == int(counts["records_wo_suppressed"]) == case.number("records")
    assert case.release.risk.records / case.release.classes == pytest.approx(float(counts["avg"]), rel=1e-12)
    assert case.number("avg_size") == pytest.approx(float(counts["avg"]), rel=1e-12)


def test_histogram(case: Case) -> None:
    told = re.search(r"classes\.histogram\(size:count, first 20\)=(.*)", case.text)
    assert told is not None
    ours = sorted((int(size), times) for size, times in case.release.class_sizes.items())
    assert [f"{size}:{times}" for size, times in ours[:20]] == told[1].split()


def test_prosecutor_and_sample_risk_from_the_release_alone(case: Case) -> None:
    risk, sizes = case.release.risk, case.release.class_sizes
    assert risk is not None
    assert risk.threshold == case.number("prosecutor.effective_threshold")
    assert risk.at_risk_share == case.number("prosecutor.records_at_risk")
    for name in ("prosecutor.highest", "sample.highest_risk", "sample.estimated_prosecutor"):
        assert risk.prosecutor_max == pytest.approx(case.number(name), rel=1e-12), name
    for name in ("prosecutor.lowest", "sample.lowest_risk"):
        assert risk.prosecutor_min == pytest.approx(case.number(name), rel=1e-12), name
    for name in ("prosecutor.success_rate(avg)", "sample.average_risk"):
        assert risk.prosecutor_mean == pytest.approx(case.number(name), rel=1e-12), name
    smallest, largest = min(map(int, sizes)), max(map(int, sizes))
    assert smallest * sizes[str(smallest)] == case.number("sample.num_at_highest")
    assert smallest * sizes[str(smallest)] / risk.records == pytest.approx(case.number("sample.fraction_at_highest"))
    assert largest * sizes[str(largest)] == case.number("sample.num_at_lowest")
    assert risk.sample_uniques == case.number("sample_uniques")
    assert risk.sample_unique_share == case.number("fraction")


def test_marketer_from_the_release_alone(case: Case) -> None:
    assert case.release.risk is not None
    assert case.release.risk.marketer == pytest.approx(case.number("marketer.success_rate"), rel=1e-12)
    assert case.release.risk.marketer == pytest.approx(case.number("marketer"), rel=1e-12)


@pytest.mark.parametrize("adversary", ["prosecutor", "journalist", "marketer"])
def test_attacks_with_the_original_as_register(case: Case, adversary: str) -> None:
    found = {m: case.beside.find("linking", m, link="class", adversary=adversary) for m in ("max", "mean", "at_risk")}
    mean = "marketer.success_rate" if adversary == "marketer" else f"{adversary}.success_rate(avg)"
    assert found["mean"].value == pytest.approx(case.number(mean), rel=1e-12)
    if adversary != "marketer":
        assert found["max"].value == pytest.approx(case.number(f"{adversary}.highest"), rel=1e-12)
        assert found["at_risk"].value == case.number(f"{adversary}.records_at_risk")
    if adversary == "journalist":
        assert found["max"].value == pytest.approx(case.number("journalist"), rel=1e-12)  # of `sample.estimated_…`
    assert found["mean"].n == case.number("records")


def test_distribution_of_the_risk(case: Case) -> None:
    # `]low,high] frac=… cum=…`: the share of records with a risk in that range. ARX writes 1/7 as 0.143 and 1/6 as 0.167.
    ranges = re.findall(r"risk_dist \](\S+),(\S+)\] frac=(\S+) cum=(\S+)", case.text)
    ends = {"0.143": 1 / 7, "0.167": 1 / 6}
    size = np.repeat(*np.array([(int(s), n) for s, n in case.release.class_sizes.items()]).T)
    assert case.release.risk is not None
    running = 0.0
    for low, high, share, total in ranges:
        above, upto = (ends.get(end, float(end)) + 1e-12 for end in (low, high))
        inside = size[(1 / size > above) & (1 / size <= upto)].sum() / case.release.risk.records
        assert inside == pytest.approx(float(share), abs=1e-12), (low, high)
        running += inside
        assert running == pytest.approx(float(total), abs=1e-12)
    assert running == pytest.approx(1)


def test_uniqueness_in_the_population(case: Case) -> None:
    size = np.repeat(*np.array([(int(s), n) for s, n in case.release.class_sizes.items()]).T)
    people = re.search(r"population model USA, size (\d+)", case.text)
    assert people is not None
    plain = {model: case.number(f"pop_uniqueness.{model}") for model in MODELS}
    told = {int(people[1]): plain}
    for line in re.findall(r"(?m)^pop_uniqueness\(sampling.*$", case.text):
        sampled = re.search(r"sampling (\S+)\)\.dankar=(\S+) .*pitman=(\S+) zayatz=(\S+) snb=(\S+)", line)
        assert sampled is not None
        told[round(size.sum() / float(sampled[1]))] = dict(zip(MODELS, map(float, sampled.groups()[1:]), strict=True))
    assert len(told) == 3
    for population, expected in told.items():
        found = estimates(Sample.of(size, population))
        assert {m: found[m].number for m in MODELS} == {m: pytest.approx(expected[m] * population) for m in MODELS}


def test_wildcards(case: Case) -> None:
    line = re.search(r"wildcard\.highest=(\S+) average=(\S+) lowest=(\S+) records_at_risk=(\S+)", case.text)
    risk = case.release.risk
    assert line is not None
    assert risk is not None
    ours = (risk.wildcard_max, risk.wildcard_mean, risk.wildcard_min)
    assert ours == pytest.approx(tuple(map(float, line.groups()[:3])), rel=1e-12)
    # single cells are withheld in the local recoding only: there people hide among more than their class
    plain = (risk.prosecutor_max, risk.prosecutor_mean, risk.prosecutor_min)
    assert (ours == pytest.approx(plain)) is (case.name != "local_k5_8qi")
    assert float(line[4]) == risk.at_risk_share == 0  # none above 0.2 by either convention


def test_granularity_of_intervals(data_folder: Path, tmp_path: Path) -> None:
    # ARX's builder cut the ages into `<20`, `[20, 30[` … `>=80`, which needs no hierarchy file; the other columns have theirs
    table, schema = write_adult(data_folder, tmp_path)
    told = []
    for column in re.split(r"(?m)^(?=\[columns\.)", schema.read_text()):
        quasi = any(f"[columns.{name}]" in column for name in QUASI)
        column = column if quasi else column.replace('"quasi"', '"neutral"')
        told.append(re.sub(r"(?m)^taxonomy.*$", "", column) if "[columns.age]" in column else column)
    schema.write_text("".join(told))
    name = "notation_interval_set"
    file = unpack_release(data_folder, name, tmp_path)
    options = Options(attacks=("linking",), utility=("granularity", "granularity_arx"))
    record = audit(file, schema, original=table, match="rows", options=options)
    found = {one.measure: one for one in record.utility}
    text = (data_folder / "reference" / "arx" / f"risk_{name}.txt").read_text()
    ages = re.search(r"attr age granularity=(\S+)", text)
    mean = re.search(r"granularity\.mean=(\S+)", text)
    assert ages is not None
    assert mean is not None
    assert found["granularity_arx"].value == pytest.approx(float(mean[1]), rel=1e-9)
    # by width, `[30, 40[` hides 9 of the 73 years between 17 and 90; by values, 9 of the 71 steps between 72 ages that occur
    assert found["granularity"].detail["columns"]["age"] == pytest.approx(float(ages[1]), abs=0.004)


def test_suppression_says_how_withheld_rows_count(data_folder: Path, tmp_path: Path) -> None:
    # under `own` the withheld rows are a class more, 1346 people who cannot be told apart
    _, schema = write_adult(data_folder, tmp_path)
    file = unpack_release(data_folder, "k5_s5_8qi", tmp_path)
    options = Options(attacks=("linking",), utility=(), suppression=Suppression.OWN)
    found = audit(file, schema, options=options).release
    assert (found.classes, found.k, found.class_sizes["1346"], found.suppressed_rows) == (398, 5, 1, 1346)
    assert found.risk is not None
    assert found.risk.prosecutor_mean == pytest.approx(398 / 30162)


def test_nothing_else_is_printed(case: Case) -> None:
    # every line of the text is either compared above or named in this module's docstring
    known = (
        r"# |## |optimum\.|optimal_found|ec\.num|prosecutor\.|journalist\.|marketer\.|sample\.|sample_uniques|pop_uniqueness|"
        r"classes\.|risk_dist|wildcard\.|ambiguity|avg_class_size|discernibility|generalization_intensity|granularity\.|"
        r"missings|non_uniform_entropy|attr_squared_error|record_squared_error|ssesst|  attr "
    )
    assert [line for line in case.text.splitlines() if not re.match(known, line)] == []


# The bounds are not ARX's: its releases are read again as plain text, and the formulas worked out class by class.


def test_bounds_for_those_who_know_the_classes(case: Case) -> None:
    table = pd.read_csv(case.file, sep=";", dtype=str)
    quasi = list(case.release.quasi)
    hidden = (table[quasi] == "*").all(axis=1)
    known = table[~hidden].groupby(quasi)["occupation"].agg(list)
    groups = [list(Counter(found).values()) for found in known]
    everybody = [*groups, list(Counter(table["occupation"][hidden]).values())] if hidden.any() else groups
    people = sum(map(sum, groups))
    bounds = {bound.facts: bound for bound in case.beside.bounds if bound.column == "occupation"}
    assert bounds[0].people == people
    assert bounds[0].mean == pytest.approx(sum(map(max, groups)) / people, abs=1e-12)
    assert bounds[0].mean == pytest.approx(case.release.sensitive[0].homogeneity, abs=1e-12)
    # One fact: about the class itself, or about the most uniform of the other classes.
    alike = sorted(1 - max(counts) / sum(counts) for counts in everybody)[:2]
    own, anybody = 0.0, 0.0
    for counts in groups:
        odds = float(least(tuple(counts), 2)) * sum(counts) / max(counts)
        mine = 1 - max(counts) / sum(counts)
        outside = alike[1] if mine <= alike[0] else alike[0]
        own += sum(counts) / (1 + odds)
        anybody += sum(counts) / (1 + min(odds, mine * sum(counts) / max(counts) * outside))
    assert bounds[1].own_mean == pytest.approx(own / people, abs=1e-12)
    assert bounds[1].mean == pytest.approx(anybody / people, abs=1e-12)
