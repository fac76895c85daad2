"""Mending: labels one level up, classes suppressed, columns dropped; worked by hand, and against the audit's own figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.remedies.coarsening import coarser
from auditor.auditing.remedies.mending import Criterion, Mending, _check_covered, meeting, mend, mended_table
from auditor.files.releases import ReadRelease, in_file_order, read_release
from auditor.measure.class_figures import CLASS_FIGURES, LEAST_COUNTS, class_figures
from auditor.measure.classes import class_facts
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.labels.label_values import named_domain
from auditor.model.labels.labels import Labels
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from tests.conftest import Ended

Cli = Callable[..., Ended]

BANDS = {
    "0-9": {"0-4": [0, 1, 2, 3, 4], "5-9": [5, 6, 7, 8, 9]},
    "10-19": {"10-14": [10, 11, 12, 13, 14], "15+": [15, 16]},
}
CITIES = {"North": ["a", "b", "c"], "South": {"Coast": ["d", "e"], "Hills": ["f"]}}
SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "banded": {"role": "quasi", "type": "numeric", "taxonomy": BANDS},
            "zip": {"role": "quasi"},
            "grade": {"role": "quasi", "order": list("abcdefg")},
            "city": {"role": "quasi", "taxonomy": CITIES},
            "disease": {"role": "sensitive"},
        }
    }
)


def up(column: str, texts: list[str], levels: int = 1) -> list[str]:
    """The labels some levels up."""
    for _ in range(levels):
        made = coarser(SCHEMA.columns[column], SCHEMA.format, texts)
        texts = [made.texts[text] for text in texts]
    return texts


@pytest.mark.parametrize(
    ("column", "levels", "texts", "expected"),
    [
        # the range 17..90 has 74 whole numbers, a sixteenth is 4.6: bands of 5, then 10, from zero
        ("age", 1, ["17", "23", "90"], ["[15, 20[", "[20, 25[", "[90, 95["]),
        ("age", 2, ["17", "23", "90"], ["[10, 20[", "[20, 30[", "[90, 100["]),
        # four values: twice the width of one whole number
        ("age", 1, ["1", "2", "3", "4"], ["[0, 2[", "[2, 4[", "[2, 4[", "[4, 6["]),
        # closed between whole numbers: 20-39 are twenty ages, so bands of 40
        ("age", 1, ["20-39", "40-59", "60-79", "80-99"], ["[0, 40[", "[40, 80[", "[40, 80[", "[80, 120["]),
        # bands of ten from 17: bands of twenty from 17; open ends go to the next one
        (
            "age",
            1,
            ["[17, 27[", "[27, 37[", "[37, 47[", "<17", ">=57"],
            ["[17, 37[", "[17, 37[", "[37, 57[", "<17", ">=57"],
        ),
        ("age", 1, ["]0, 20]", "]20, 40]", "]40, 60]"], ["]0, 40]", "]0, 40]", "]40, 80]"]),
        ("age", 1, ["0.5", "0.75", "3.25", ""], ["[0.4, 0.6[", "[0.6, 0.8[", "[3.2, 3.4[", ""]),
        # a label across a border is widened to both bands
        ("age", 1, ["[18, 22]", "[0, 9]", "[50, 59]"], ["[10, 30[", "[0, 10[", "[50, 60["]),
        ("age", 1, ["[0, 50[", "[50, 90["], ["[0, 80[", "[0, 160["]),
        ("age", 2, ["[0, 50[", "[50, 90["], ["**", "**"]),
        # depth 3 is the finest, so all go up to depth 2; {a, b} and Coast are as coarse already
        ("city", 1, ["a", "Coast", "f", "{a, b}", "*"], ["a", "Coast", "Hills", "{a, b}", "*"]),
        ("city", 2, ["a", "Coast", "f", "{a, b}", "*"], ["North", "South", "South", "North", "*"]),
        ("city", 3, ["a", "Coast", "f", "", "*"], ["**", "**", "**", "**", "**"]),
        # intervals that are no group are widened to whole groups
        ("banded", 1, ["3", "[3, 7]", "[0, 12]", "16"], ["0-4", "[0, 9]", "[0, 14]", "15+"]),
        ("banded", 2, ["3", "[3, 7]", "[0, 12]", "16"], ["0-9", "0-9", "**", "10-19"]),
        ("grade", 1, list("abcdefg"), ["[a, b]", "[a, b]", "[c, d]", "[c, d]", "[e, f]", "[e, f]", "g"]),
        ("grade", 2, list("abcdefg"), ["[a, d]"] * 4 + ["[e, g]"] * 3),
        ("zip", 1, ["13001", "13002", "14555"], ["1300*", "1300*", "1455*"]),
        ("zip", 1, ["130**", "1301*", "14555"], ["130**", "1301*", "1455*"]),
        ("zip", 2, ["130**", "1301*", "14555"], ["130**", "130**", "145**"]),
        ("zip", 1, ["2020-01-31", "2020-01-02", "2021-05-05"], ["2020-01", "2020-01", "2021-05"]),
        ("zip", 2, ["2020-01-31", "2020-01-02", "2021-05-05"], ["2020", "2020", "2021"]),
        ("zip", 1, ["baker", "cook", "{baker, cook}"], ["**", "**", "**"]),
    ],
)
def test_one_level_up(column: str, levels: int, texts: list[str], expected: list[str]) -> None:
    assert up(column, texts, levels) == expected


@pytest.mark.parametrize("texts", [["]-20, 0]", "]0, 20]"], ["[-Inf, Inf]"], ["[-Inf, Inf]", ">3"], ["7"]])
def test_where_no_wider_band_is_left_all_is_one(texts: list[str]) -> None:
    # ]-20, 0] and ]0, 20] are 40 wide together, as one band of the next width would be
    assert up("age", texts) == ["**"] * len(texts)


def test_what_is_general_cannot_be_coarser() -> None:
    with pytest.raises(ReleaseError, match="general already"):
        up("age", ["*", "**"])


@pytest.mark.parametrize("column", ["age", "banded", "grade", "city", "zip"])
def test_coarser_labels_cover_and_nest(column: str) -> None:
    """A coarser label covers what the former did; labels that have met stay together; it ends in everything."""
    rng = random.Random(column)
    values = {"age": [str(n) for n in range(80)], "grade": list("abcdefg"), "city": list("abcdef")}
    values |= {"banded": [str(n) for n in range(17)], "zip": [str(n) for n in range(10000, 10100)]}
    for _ in range(20):
        texts = rng.sample(values[column], min(len(values[column]), 6))
        domain = named_domain(SCHEMA.columns[column], SCHEMA.format, "release", values[column])
        before = Labels.read(domain, texts, str)
        for _level in range(20):
            new = up(column, list(before.texts))
            after = Labels.read(domain, new, str)
            for i in range(len(texts)):
                codes = before.codes(i)
                assert after.covers(np.full(len(codes), i, dtype=np.int32), codes).all()
                assert all(new[i] == new[j] for j in range(i) if before.texts[i] == before.texts[j])
            if set(new) == {"**"}:
                break
            before = after
        else:
            pytest.fail(f"{texts} never become everything")


def release_of(
    rows: list[str], header: str = "age,zip,disease", schema: Schema = SCHEMA
) -> tuple[Release, ReadRelease]:
    """A release from lines of text."""
    frame = pd.DataFrame([row.split(",") for row in rows], columns=header.split(","))
    read = read_release(frame, schema, stage(0, "test"), whose=in_file_order)
    return read.release, read


ROWS = ["20,F,flu", "20,F,HIV", "21,F,flu", "21,F,cold", "40,M,flu", "40,M,flu", "*,*,flu"]


def test_mending_by_hand() -> None:
    """Classes 20/F, 21/F and 40/M of two people each, and a withheld row. Bands of two put 20 and 21 together."""
    release, raw = release_of(ROWS)
    assert class_facts(release).k == 2
    table, mended = mended_table(raw, Mending(coarsen={"age": 1}))
    assert list(table.columns["age"]) == ["[20, 22["] * 4 + ["[40, 42["] * 2 + ["*"]
    facts = class_facts(mended.release)
    assert (facts.k, facts.classes, facts.suppressed_rows) == (2, 2, 1)
    table, mended = mended_table(raw, Mending(coarsen={"age": 1}, suppress=(Criterion.parse("k<3"),)))
    assert list(table.columns["age"]) == ["[20, 22["] * 4 + ["*"] * 3
    assert list(table.columns["zip"]) == ["F"] * 4 + ["*"] * 3
    assert list(table.columns["disease"]) == [row.split(",")[2] for row in ROWS]
    assert (class_facts(mended.release).k, int(mended.suppressed.sum())) == (4, 2)


def test_rows_stay_where_they_are() -> None:
    """Whatever the random order of the release in memory, row i of the file stays row i."""
    release, raw = release_of(ROWS)
    table, _ = mended_table(raw, Mending(), rows=[1])
    assert list(table.columns["age"]) == ["20", "*", "21", "21", "40", "40", "*"]
    made = mend(release, Mending(coarsen={"zip": 1}))
    block, old = made.release.blocks[0], release.blocks[0]
    assert np.array_equal(block.cell("disease")[made.moved.fragment[:, 0]], old.cell("disease"))


def test_withheld_rows_are_not_generalised_into_a_class() -> None:
    """A column that becomes everything leaves the rows that are wholly withheld as they are: they stay out of all classes."""
    release, _ = release_of(["20,F,flu", "20,*,flu", "*,*,flu"])
    facts = class_facts(mend(release, Mending(coarsen={"zip": 1})).release)
    assert (facts.classes, facts.k, facts.suppressed_rows) == (1, 2, 1)
    both = mend(release, Mending(coarsen={"zip": 1, "age": 1})).release
    assert (class_facts(both).k, both.suppressed_rows) == (2, 1)


def test_closeness_is_reached_by_repeating() -> None:
    """t of the others changes when classes go: after one pass a class may be too far that was not before."""
    rng = random.Random(3)
    rows = [f"{rng.randrange(20)},F,{rng.choice(['flu', 'flu', 'HIV', 'cold'])}" for _ in range(120)]
    release, _ = release_of(rows)
    mended = mend(release, Mending(suppress=(Criterion.parse("t_equal>0.3"),)))
    found = class_facts(mended.release).sensitive[0].t_equal
    assert found is not None
    assert found <= 0.3 + 1e-9
    assert 0 < mended.suppressed.sum() < 120


@pytest.mark.parametrize("figure", CLASS_FIGURES)
@pytest.mark.parametrize("suppression", [Suppression.EXCLUDED, Suppression.OWN])
def test_worst_class_gives_the_statistic_of_the_release(figure: str, suppression: Suppression) -> None:
    """The figures of single classes: their worst is what the class statistics of the whole release say."""
    schema = Schema.from_dict(
        {
            "columns": {
                "age": {"role": "quasi", "type": "numeric"},
                "disease": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "cold"], "Other": ["HIV", "ulcer"]}},
                "income": {"role": "sensitive", "type": "numeric"},
            }
        }
    )
    for seed in range(12):
        rng = random.Random(seed)
        common = ["flu", "cold", "HIV", "ulcer"] if seed % 2 else ["flu", "cold"]
        rows = [
            f"{rng.choice(['1', '2', '3', '*'])},{rng.choice(common)},{rng.choice('11235')}"
            for _ in range(rng.randint(6, 60))
        ]
        release, _ = release_of(rows, "age,disease,income", schema)
        facts = class_facts(release, suppression)
        figures = class_figures(release, figure, suppression)
        if figure == "k":
            wanted: list[float | None] = [float(release.sizes[~release.suppressed].min())]
        else:
            wanted = [getattr(one, figure) for one in facts.sensitive]
        if suppression is Suppression.OWN and release.suppressed.any():
            continue  # there the withheld rows are a class too, and no class that could be suppressed
        if figures is None:
            assert None in wanted
            continue
        figures = figures[~release.suppressed]
        worst = figures.min() if figure in LEAST_COUNTS else figures.max()
        if None in wanted:
            assert np.isinf(worst)
        else:
            known = [float(w) for w in wanted if w is not None]
            assert worst == pytest.approx(min(known) if figure in LEAST_COUNTS else max(known), abs=1e-12)


def test_criteria() -> None:
    assert str(Criterion.parse(" k < 5 ")) == "k<5"
    assert Criterion.parse("alpha>0.5").meets(np.array([0.5, 0.6, np.nan])).tolist() == [False, True, False]
    for wrong in ("k>5", "alpha<0.5", "size<3", "k=3", "k<nan", "k<1.2.3", ""):
        with pytest.raises(UsageError):
            Criterion.parse(wrong)


def test_new_labels_must_cover_the_former_ones() -> None:
    """Against the sets themselves, on random labels: intervals, sets with gaps, and withheld values."""
    domain = named_domain(SCHEMA.columns["grade"], SCHEMA.format, "release", [])
    refused = 0
    for seed in range(60):
        rng = random.Random(seed)
        texts = ["*", "[b, d]", "{a, c}", "{b, d, g}", "e", "<=d", "{a, b, c, e}"]
        old, new = (Labels.read(domain, rng.sample(texts, 4), str) for _ in range(2))
        cells = np.array([[rng.randrange(4), rng.randrange(4)] for _ in range(2)], dtype=np.int32)
        held = all(set(old.codes(one)) <= set(new.codes(two)) for one, two in cells)
        try:
            _check_covered(old, cells[:, 0], new, cells[:, 1], "grade")
        except ReleaseError:
            refused += 1
            assert not held, seed
        else:
            assert held, seed
    assert 0 < refused < 60


def test_nothing_left_is_an_error() -> None:
    release, _ = release_of(ROWS)
    with pytest.raises(ReleaseError, match="nothing would be left"):
        mend(release, Mending(suppress=(Criterion.parse("k<9"),)))
    assert not meeting(release, Mending()).any()


# ----- the command -------------------------------------------------------------------------------------------------------

TOML = """
[columns."full name"]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
[columns."a=2"]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
FILE = 'full name;age;a=2;disease\nAnn;20;F;"flu; bad"\nBob;20;F;HIV\nCas;21;F;flu\nDee;40;M;flu\n'


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    schema, release = tmp_path / "schema.toml", tmp_path / "release.csv"
    schema.write_text(TOML)
    release.write_text(FILE)
    return release, schema, tmp_path / "mended.csv"


def test_mend_command(files: tuple[Path, Path, Path], auditor_cli: Cli) -> None:
    release, schema, out = files
    ended = auditor_cli("mend", release, "--schema", schema, "--coarsen", "age", "--drop", "full name", "-o", out)
    assert ended.code == 0, ended.err
    assert out.read_text() == 'age;a=2;disease\n[20, 22[;F;"flu; bad"\n[20, 22[;F;HIV\n[20, 22[;F;flu\n[40, 42[;M;flu\n'
    assert "k = 1 (before: 1)" in ended.out
    ended = auditor_cli(
        "mend", release, "--schema", schema, "--coarsen", "a=2", "--suppress-rows", "1,4", "-o", out, "--force"
    )
    assert ended.code == 0, ended.err
    assert [line.split(";")[1:3] for line in out.read_text().splitlines()[1:]] == [
        ["*", "*"], ["20", "**"], ["21", "**"], ["*", "*"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Say what to mend"),
        (["--coarsen", "disease"], 2, "only a quasi-identifier"),
        (["--coarsen", "age=0"], 2, "COLUMN=LEVELS"),
        (["--coarsen", "age=50"], 3, "'age' covers everything after "),
        (["--drop", "nothing"], 2, "no column 'nothing'"),
        (["--suppress", "k>3"], 2, "safe"),
        (["--suppress", "t_ordered>0.3"], 3, "does not apply"),
        (["--suppress-rows", "5"], 2, "rows 1 to 4"),
        (["--suppress-rows", "x"], 2, "from 1"),
        (["--suppress-rows", "@none"], 2, "cannot be read"),
        (["--suppress-below", "9"], 3, "nothing would be left"),
    ],
)
def test_mend_refuses(
    files: tuple[Path, Path, Path], auditor_cli: Cli, arguments: list[str], code: int, said: str
) -> None:
    release, schema, out = files
    ended = auditor_cli("mend", release, "--schema", schema, *arguments, "-o", out)
    assert ended.code == code, ended.err
    assert said in ended.err
    assert not out.exists()


def test_mend_does_not_overwrite(files: tuple[Path, Path, Path], auditor_cli: Cli) -> None:
    release, schema, out = files
    out.write_text("mine")
    assert auditor_cli("mend", release, "--schema", schema, "--coarsen", "age", "-o", out).code == 2
    assert auditor_cli("mend", release, "--schema", schema, "--coarsen", "age", "-o", release, "--force").code == 2
    assert out.read_text() == "mine"
    assert release.read_text() == FILE
