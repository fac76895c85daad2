"""Tables as files: all figures with their digits, every release in every table, and nothing that a program misreads."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from auditor.model.record.record import OK
from reports.table_files import LONG, csv_table, figures_csv, latex_table, table_files, tables
from reports.tables.tables import Table
from reports.text import THIN
from tests.conftest import Ended
from tests.support import record_samples as samples

TABLES = ["adversaries", "policy", "attacks", "sensitive-columns", "utility"]
MAKE_RECORDS = ("audit", "redteam", "compare", "demo", "render", "reproduce")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_names_tell_what_is_in_a_table() -> None:
    assert list(tables(samples.single_run())) == TABLES
    assert next(iter(tables(samples.sample_run()))) == "overview"
    assert tables(samples.empty_run()) == {}


def test_figures_have_all_their_digits() -> None:
    run = samples.single_run()
    rows = list(csv.DictReader(io.StringIO(figures_csv(run))))
    record = run.records[0]
    assert len(rows) == len(record.risks) + len(record.utility)
    told = [float(row["value"]) for row in rows if row["about"] == "risk" and row["value"]]
    assert told == [risk.value for risk in record.risks if risk.status == OK]
    assert {row["release"] for row in rows} == {record.release.name}
    assert any(row["excess"] for row in rows)
    frame = pd.read_csv(io.StringIO(figures_csv(run)))
    assert frame["value"].dtype == float


@pytest.mark.parametrize("name", ["attacks", "utility", "sensitive-columns", "policy"])
def test_every_release_is_in_every_table(name: str) -> None:
    run = samples.many_run(20)
    column = [row[0] for row in cells(csv_table(tables(run)[name]))[1:]]
    assert {text.partition(" ")[2] for text in column} == {record.release.name for record in run.records}


def test_numbers_of_a_csv_file_are_plain() -> None:
    table = Table(("a", "b", "c"), ((f"1{THIN}234", "−0.5", "–"),), frozenset({0, 1, 2}))
    assert cells(csv_table(table)) == [["a", "b", "c"], ["1234", "-0.5", ""]]


@pytest.mark.parametrize("cell", ["=1+1", "@x", "+cmd", "-cmd|x"])
def test_no_cell_begins_a_formula(cell: str) -> None:
    table = Table(("a",), ((cell,),))
    assert cells(csv_table(table))[1] == [f"'{cell}"]
    record = samples.single_run().records[0]
    odd = replace(samples.single_run(), records=(replace(record, release=replace(record.release, name=cell)),))
    assert {row[0] for row in cells(figures_csv(odd))[1:]} == {f"'{cell}"}


def test_latex_escapes_what_has_a_meaning() -> None:
    text = latex_table(Table(("a_b", "50 %"), (("{x} & $y$ #1 ~^\\", f"1{THIN}000 −1 ε"),), frozenset({1})))
    assert r"a\_b & 50 \% \\" in text
    assert (
        r"\{x\} \& \$y\$ \#1 \textasciitilde{}\textasciicircum{}\textbackslash{} & 1\,000 $-$1 $\varepsilon$ \\" in text
    )
    assert text.count("{lr}") == 1
    body = text.split("\n")
    assert body[1] == r"\begin{tabular}{lr}"
    assert body[-2] == r"\end{tabular}"


def test_no_row_begins_with_what_the_line_before_takes_for_its_option() -> None:
    # the end of a row and the rules look for [, and the first also for *, over the end of the line
    text = latex_table(Table(("[a]", "b"), (("[20, 40[", "x"), ("*", "x"), ("[2cm]", "*"))))
    assert [line for line in text.splitlines() if line.startswith(("[", "*"))] == []
    assert "{[}a] & b" in text
    assert "{[}20, 40{[} & x" in text
    assert "{*} & x" in text


def test_hostile_names_end_no_row_and_begin_no_command() -> None:
    for name, table in tables(samples.hostile_run()).items():
        text = latex_table(table)
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len(rows) == len(table.rows) + 1, name
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(table.headings) - 1
        assert len(cells(csv_table(table))) == len(table.rows) + 1


def test_long_tables_go_over_pages() -> None:
    text = latex_table(Table(("a",), (("x",),) * (LONG + 1)))
    assert r"\begin{longtable}{l}" in text
    assert r"\endhead" in text
    assert "longtable" in text.splitlines()[0]


def test_the_command_writes_each_table_twice(auditor_cli: Callable[..., Ended], tmp_path: Path) -> None:
    file, folder = tmp_path / "run.json", tmp_path / "tables"
    file.write_text(samples.sample_run().to_json(), encoding="utf-8")
    ended = auditor_cli("render", file, "--tables", folder)
    assert (ended.code, ended.err) == (0, "")
    assert f"tables: {folder}" in ended.out
    wanted = {f"{name}{ending}" for name in tables(samples.sample_run()) for ending in (".csv", ".tex")}
    assert {one.name for one in folder.iterdir()} == wanted | {"figures.csv"}
    assert {file.relative_to(folder).name for file in table_files(samples.sample_run(), folder)} == {
        one.name for one in folder.iterdir()
    }
    again = auditor_cli("render", file, "--tables", folder)
    assert again.code == 2
    assert "holds tables already" in again.err
    assert auditor_cli("render", file, "--tables", folder, "--force", "--quiet").code == 0
    assert auditor_cli("render", file, "--tables", "-").code == 2


@pytest.mark.parametrize("command", MAKE_RECORDS)
def test_every_command_that_makes_a_record_offers_plots_and_tables(
    auditor_cli: Callable[..., Ended], command: str
) -> None:
    told = auditor_cli(command, "--help").out
    assert "--plots" in told
    assert "--tables" in told
