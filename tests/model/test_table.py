"""Tables and domains: shared codes, missing values, numbers, and pandas frames as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.errors import TableError
from auditor.model.packing import distinct_rows
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode, shared_domains
from auditor.model.values import format_number, parse_number

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others


def schema(table: dict[str, Any] | None = None, **columns: Any) -> Schema:
    return Schema.from_dict({"table": table or {}, "columns": columns}, "my.toml")


AGE = {"role": "quasi", "type": "numeric"}
TOWN = {"role": "quasi"}
SENSITIVE = {"role": "sensitive"}


def coded(cells: list[str], table: dict[str, Any] | None = None, **column: Any) -> Table:
    (result,) = encode(schema(table, c={"role": "quasi", **column}), [RawTable("data.csv", {"c": cells})])
    return result


# ----- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), (" -1.5 ", -1.5), ("+3", 3), (".5", 0.5), ("5.", 5), ("1e3", 1000), ("1E-2", 0.01), ("007", 7)],
)
def test_what_is_a_number(text: str, number: float) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "nan", "NaN", "inf", "-inf", "1_000", "1,5", "0x1f", "1e999", "1e9999", "٣", "1 2", "--1", "e5", "."]
)
def test_what_is_no_number(text: str) -> None:
    assert parse_number(text) is None


def test_the_decimal_mark_decides() -> None:
    assert parse_number("1,5", ",") == 1.5
    assert parse_number("1.500", ",") is None
    assert parse_number("1.5", ".") == 1.5
    assert format_number(1.5, ",") == "1,5"
    assert format_number(3.0, ",") == "3"


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(".,"))
def test_a_written_number_reads_back(number: float, decimal: str) -> None:
    assert parse_number(format_number(number, decimal), decimal) == number


# ----- domains --------------------------------------------------------------------------------------------------------


def test_codes_follow_the_order_of_the_type() -> None:
    assert coded(["9", "10", "2"], type="numeric").codes["c"].tolist() == [1, 2, 0]
    assert coded(["9", "10", "2"]).codes["c"].tolist() == [2, 0, 1]  # by text
    assert coded(["9", "10", "2"], order=["10", "9", "2"]).codes["c"].tolist() == [1, 0, 2]
    assert coded(["9", "10", "2"], taxonomy={"G": ["2", "9"], "H": ["10"]}).codes["c"].tolist() == [1, 2, 0]
    assert coded(["b", "b"], domain=["a", "b"]).codes["c"].tolist() == [1, 1]


def test_the_same_number_written_twice_is_one_value() -> None:
    table = coded(["1", "1.0", "01", "1e0", "2"], type="numeric")
    assert table.codes["c"].tolist() == [0, 0, 0, 0, 1]
    assert table.domains["c"].texts == ("1", "2")


def test_a_missing_value_is_a_value_with_the_last_code() -> None:
    table = coded(["b", "?", "a", "NA"], {"missing": ["?", "NA"]})
    domain = table.domains["c"]
    assert table.codes["c"].tolist() == [1, 2, 0, 2]
    assert (domain.missing, domain.size, domain.known) == (2, 3, 2)
    assert table.texts("c") == ["b", "?", "a", "?"]
    without = coded(["b", "a"], {"missing": ["?"]}).domains["c"]
    assert (without.missing, without.size, without.known) == (None, 2, 2)


def test_an_empty_cell_is_missing_only_where_the_schema_says_so() -> None:
    assert coded(["a", ""]).domains["c"].missing == 1
    assert coded(["a", ""], {"missing": ["?"]}).domains["c"].texts == ("", "a")
    with pytest.raises(TableError, match=r"data\.csv, row 2, column 'c': '' must be a number\."):
        coded(["1", ""], {"missing": ["?"]}, type="numeric")


def test_missing_numbers_have_no_place_in_the_range() -> None:
    domain = coded(["5", "", "-3"], type="numeric").domains["c"]
    assert domain.numbers is not None
    assert domain.numbers.tolist() == [-3, 5]
    assert (domain.span, domain.width, domain.missing) == ((-3, 5), 8, 2)
    assert coded(["", ""], type="numeric").domains["c"].width == 0


def test_the_declared_range_counts() -> None:
    domain = coded(["20", "30"], type="numeric", domain=[0, 100]).domains["c"]
    assert (domain.texts, domain.span) == (("20", "30"), (0, 100))
    with pytest.raises(TableError, match=r"row 2, column 'c': '101' is outside the declared domain \[0, 100\]"):
        coded(["20", "101"], type="numeric", domain=[0, 100])


def test_numbers_that_floats_cannot_tell_apart_are_refused() -> None:
    big = 2**53
    assert coded([str(big - 1), str(big - 2)], type="numeric").codes["c"].tolist() == [1, 0]
    for number in (big, big + 1, -big - 1, 10**30):
        with pytest.raises(TableError, match=r"row 1, column 'c': .* is too large .* \(2\^53 or more\).*nominal"):
            coded([str(number)], type="numeric")
    assert coded([str(big), str(big + 1)]).codes["c"].tolist() == [0, 1]  # as texts they differ


def test_numbers_whose_squares_are_as_good_as_nothing_are_refused() -> None:
    assert coded(["1e-100", "0", "-0.0"], type="numeric").codes["c"].tolist() == [1, 0, 0]
    for number in ("1e-101", "-5e-324"):
        with pytest.raises(TableError, match=r"row 1, column 'c': .* is too small \(below 1e-100\).*nominal"):
            coded([number], type="numeric")


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1_000", "twelve", "1,5"])
def test_texts_in_a_numeric_column_are_refused(text: str) -> None:
    with pytest.raises(TableError) as caught:
        coded(["1", "2", text, text], type="numeric")
    assert f"data.csv, row 3, column 'c': {text!r} must be a number." in str(caught.value)
    assert "[table] missing" in str(caught.value)
    assert coded(["1", text]).texts("c") == ["1", text]  # in a nominal column they are values


def test_the_decimal_mark_is_said_where_a_number_has_another() -> None:
    with pytest.raises(TableError, match=r"'1\.500' must be a number with the decimal mark ','"):
        coded(["1,5", "1.500"], {"decimal": ","}, type="numeric")


@pytest.mark.parametrize(
    ("column", "home"),
    [
        ({"taxonomy": {"Lung": ["flu", "asthma"]}}, r"the taxonomy of \[columns\.c\]\."),
        ({"domain": ["flu", "asthma"]}, r"the domain of \[columns\.c\]\."),
        ({"order": ["flu", "asthma"]}, r"the order of \[columns\.c\]\."),
    ],
)
def test_a_value_outside_the_declared_ones(column: dict[str, Any], home: str) -> None:
    with pytest.raises(TableError, match=rf"data\.csv, row 2, column 'c': 'flue' is outside {home}.*'flu'"):
        coded(["asthma", "flue", "flue"], **column)


def test_a_number_outside_its_taxonomy() -> None:
    assert coded(["1.0", "2"], type="numeric", taxonomy=["1", "2"]).codes["c"].tolist() == [0, 1]
    with pytest.raises(TableError, match=r"row 2, column 'c': '3' is outside the taxonomy of \[columns\.c\]"):
        coded(["1", "3"], type="numeric", taxonomy=["1", "2"])


def test_the_mark_for_withheld_values_is_no_value() -> None:
    with pytest.raises(TableError, match=r"data\.csv, row 2, column 'c': '\*' means a suppressed value"):
        coded(["a", "*"])
    assert coded(["a", "*"], {"suppressed": ["#"]}).texts("c") == ["a", "*"]
    assert coded(["a", "*"], role="neutral").texts("c") == ["a", "*"]


def test_a_long_cell_makes_a_short_message() -> None:
    with pytest.raises(TableError) as caught:
        coded(["1", "x" * 10_000_000], type="numeric")
    assert len(str(caught.value)) < 300
    with pytest.raises(TableError) as caught:
        coded(["a", "x" * 10_000_000], domain=["a", "b"])
    assert len(str(caught.value)) < 300


# ----- tables ---------------------------------------------------------------------------------------------------------


def test_tables_share_their_domains() -> None:
    columns = schema(age=AGE, town=TOWN, disease=SENSITIVE)
    original = RawTable("a.csv", {"age": ["30", "20"], "town": ["X", "Y"], "disease": ["flu", "flu"]})
    population = RawTable("b.csv", {"age": ["25", "20", ""], "town": ["W", "X", "Y"]})
    one, other = encode(columns, [original, population])
    assert one.domains is other.domains
    assert one.domains["age"].texts == ("20", "25", "30", "")
    assert one.codes["age"].tolist() == [2, 0]
    assert other.codes["age"].tolist() == [1, 0, 3]
    assert other.codes["town"].tolist() == [0, 1, 2]
    assert "disease" not in other.codes
    assert list(shared_domains(columns, [population])) == ["age", "town"]


def test_the_columns_of_a_coded_table() -> None:
    columns = schema(age=AGE, town=TOWN)
    (table,) = encode(columns, [RawTable("a.csv", {"town": ["X", "Y"], "age": ["30", "20"]})])
    assert repr(table) == "<Table a.csv: 2 rows, 2 columns>"
    assert table.matrix(["age", "town"]).tolist() == [[1, 0], [0, 1]]
    assert table.matrix([]).shape == (2, 0)
    assert table.take(np.array([1, 1])).texts("town") == ["Y", "Y"]
    assert table.to_frame().to_dict("list") == {"town": ["X", "Y"], "age": ["30", "20"]}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"age": ["1"], "twon": ["X"]}, "a.csv: the schema (my.toml) does not name column 2 ('twon') of the table."),
        (
            {"age": ["1"], "x": ["1"], "y": ["2"]},
            "does not name column 2 ('x'), column 3 ('y') of the table. Add them, or set [table] others",
        ),
        (
            {"age": ["1"]},
            "a.csv: the column 'town' of the schema (my.toml) must be in the table. It has column 'age'.",
        ),
        ({"age": [], "town": []}, "a.csv: the table must have at least one row below its header."),
        ({}, "a.csv: the table must have at least one row"),
    ],
)
def test_columns_that_do_not_fit_the_schema(cells: dict[str, list[str]], message: str) -> None:
    with pytest.raises(TableError) as caught:
        encode(schema(age=AGE, town=TOWN), [RawTable("a.csv", cells)])
    assert message in str(caught.value)


def test_further_columns_may_be_neutral() -> None:
    (table,) = encode(schema({"others": "neutral"}, age=AGE), [RawTable("a.csv", {"age": ["1"], "note": ["hello"]})])
    assert table.schema.columns["note"].role == "neutral"
    assert table.texts("note") == ["hello"]


# ----- frames ---------------------------------------------------------------------------------------------------------


def test_a_frame_with_any_index() -> None:
    frame = pd.DataFrame({"age": [30, 20, 30], "town": ["X", "Y", "Z"]}, index=[7, 7, -1])
    table = Table.from_frame(frame, schema(age=AGE, town=TOWN))
    assert table.codes["age"].tolist() == [1, 0, 1]
    assert table.texts("town") == ["X", "Y", "Z"]


def test_missing_cells_of_a_frame() -> None:
    frame = pd.DataFrame({"age": [20, None, 30.5], "town": ["X", None, pd.NA], "day": [pd.NaT, "a", float("nan")]})
    raw = RawTable.from_frame(frame)
    # 20 is no longer a whole number to pandas, beside a missing one; it is the value that a file has as "20".
    assert raw.columns == {"age": ["20", "", "30.5"], "town": ["X", "", ""], "day": ["", "a", ""]}
    form = schema({"missing": ["?"], "decimal": ","}, a=AGE).format
    assert RawTable.from_frame(frame, form=form).columns["age"] == ["20", "?", "30,5"]


def test_a_frame_and_a_file_give_the_same_codes() -> None:
    columns = schema({"decimal": ","}, age=AGE, postcode=TOWN)
    frame = pd.DataFrame({"age": [1.5, 2.0], "postcode": [13053.0, None]})
    one, other = encode(
        columns,
        [
            RawTable.from_frame(frame, "frame", columns.format),
            RawTable("file", {"age": ["1,5", "2"], "postcode": ["13053", ""]}),
        ],
    )
    assert one.codes["age"].tolist() == other.codes["age"].tolist() == [0, 1]
    assert one.codes["postcode"].tolist() == other.codes["postcode"].tolist() == [0, 1]


def test_other_cells_of_a_frame_are_their_texts() -> None:
    frame = pd.DataFrame({"a": [" x ", "y"], "b": [True, False], "c": pd.Categorical(["u", "v"]), 3: [10**20, 2]})
    raw = RawTable.from_frame(frame)
    assert raw.columns == {"a": ["x", "y"], "b": ["True", "False"], "c": ["u", "v"], "3": [str(10**20), "2"]}
    infinite = RawTable.from_frame(pd.DataFrame({"age": [1.0, float("inf")]}))
    assert infinite.columns["age"] == ["1", "inf"]
    with pytest.raises(TableError, match="'inf' must be a number"):
        encode(schema(age=AGE), [infinite])


@pytest.mark.parametrize("columns", [["age", "age"], [1, "1"]])
def test_a_frame_with_a_column_twice_is_refused(columns: list[Any]) -> None:
    frame = pd.DataFrame([[1, 2]], columns=columns)
    with pytest.raises(
        TableError, match=rf"my frame: column 1 \('{columns[0]}'\) and column 2 have the same name\. Rename one"
    ):
        RawTable.from_frame(frame, "my frame")


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(TableError, match="at least one row"):
        Table.from_frame(pd.DataFrame({"age": []}), schema(age=AGE))


# ----- rows as numbers ------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3), st.integers(0, 2**31 - 2)), max_size=20),
    st.integers(0, 3),
)
def test_rows_have_the_same_number_where_they_are_equal(rows: list[tuple[int, ...]], width: int) -> None:
    matrix = np.array(rows, dtype=np.int32).reshape(len(rows), 3)
    for wide in (
        matrix[:, :width],
        np.hstack([matrix, matrix, matrix]),
    ):  # one fits into an integer, the other does not
        numbers = distinct_rows(wide)
        for i in range(len(rows)):
            for j in range(len(rows)):
                assert (numbers[i] == numbers[j]) == (wide[i].tolist() == wide[j].tolist())
