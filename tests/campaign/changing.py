"""How the parts of an input are changed: tables in their cells, rows, columns and dialect; trees in their keys and values;
any file in its bytes. About half of the changes leave something that can still be worked with."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from anonymizers import ANONYMIZERS
from attacks import ATTACKS
from auditor.model.schema import Role, Type
from auditor.posterior.links import Link
from scenarios.adversaries import MechanismKnown, Stance
from tests.campaign import odd
from tests.campaign.parts import TYPES, Blob, Grid, Part, Tree

Change = Callable[[Any, Random], None]
Spots = list[tuple[Any, Any]]


def change(part: Part, rng: Random) -> str:
    """Changes a part in one place, and says what kind of change it was."""
    if rng.random() < 0.1:
        rng.choice(BYTES)(part, rng)
        return "bytes"
    if isinstance(part, Grid):
        kind = rng.choices(("gentle", "form", "rough", "typed"), (50, 22, 20, 8))[0]
        rng.choice({"gentle": GENTLE, "form": FORM, "rough": ROUGH, "typed": (_typed,)}[kind])(part, rng)
        return "typed" if kind == "typed" else "form" if kind == "form" else part.kind
    if isinstance(part, Tree):
        _tree(part, rng)
    elif isinstance(part, Blob):
        rng.choice(BYTES)(part, rng)
    return part.kind


# ----- tables --------------------------------------------------------------------------------------------------------


def _place(grid: Grid, rng: Random) -> tuple[list[str], int]:
    """A random cell: its row and its place there."""
    if not grid.rows or not grid.header:
        grid.header, grid.rows = grid.header or ["x"], grid.rows or [["1"] * max(1, len(grid.header))]
    row = rng.choice(grid.rows)
    if not row:
        row.append("")
    return row, rng.randrange(len(row))


def _column(grid: Grid, rng: Random) -> int:
    return rng.randrange(max(1, min([len(grid.header), *map(len, grid.rows)])))


def _fill(grid: Grid, column: int, made: Callable[[int], str]) -> None:
    for number, row in enumerate(grid.rows):
        if column < len(row):
            row[column] = made(number)


def _another_value(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    other = rng.choice(grid.rows)
    row[place] = other[place] if place < len(other) else ""


def _special_cell(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    row[place] = rng.choice(("", "*", "**", "?", "0", "1"))


def _many_special(grid: Grid, rng: Random) -> None:
    mark, share = rng.choice(("", "*", "**")), rng.random()
    for row in grid.rows:
        for place in range(len(row)):
            if rng.random() < share / 2:
                row[place] = mark


def _constant(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    value = rng.choice((row[place], row[place], "", "*"))
    _fill(grid, place, lambda _: value)


def _distinct(grid: Grid, rng: Random) -> None:
    form = rng.choice(("{}", "v{}", "{}.5", "-{}"))
    _fill(grid, _column(grid, rng), lambda number: form.format(number))


def _drop_rows(grid: Grid, rng: Random) -> None:
    keep = rng.choice((0, 1, 1, 2, 3, 5, len(grid.rows) // 2))
    grid.rows = rng.sample(grid.rows, min(keep, len(grid.rows)))


def _double_rows(grid: Grid, rng: Random) -> None:
    _place(grid, rng)
    grid.rows += [list(rng.choice(grid.rows)) for _ in range(rng.choice((1, 2, 10)))]


def _shuffle(grid: Grid, rng: Random) -> None:
    rng.shuffle(grid.rows)


def _drop_column(grid: Grid, rng: Random) -> None:
    place = _column(grid, rng)
    if len(grid.header) > 1:
        for row in (grid.header, *grid.rows):
            del row[place : place + 1]


def _add_column(grid: Grid, rng: Random) -> None:
    name = rng.choice((rng.choice(odd.NAMES), "extra", "note"))
    grid.header.append(name)
    cells = rng.choice((lambda _: "x", str, lambda i: odd.CELLS[i % 40]))
    for number, row in enumerate(grid.rows):
        row.append(cells(number))


def _reorder(grid: Grid, rng: Random) -> None:
    if all(len(row) == len(grid.header) for row in grid.rows):
        order = rng.sample(range(len(grid.header)), len(grid.header))
        grid.header = [grid.header[i] for i in order]
        grid.rows = [[row[i] for i in order] for row in grid.rows]


def _swap_cells(grid: Grid, rng: Random) -> None:
    here, place = _place(grid, rng)
    there = rng.choice(grid.rows)
    if place < len(there):
        here[place], there[place] = there[place], here[place]


def _numbers(grid: Grid, rng: Random) -> None:
    """All numbers of a column by a factor, or one of them far away."""
    place, factor = _column(grid, rng), rng.choice((-1, 0.1, 1e-12, 1e6, 1e15, 1e300))

    def made(number: int) -> str:
        cell = grid.rows[number][place]
        return str(float(cell) * factor) if cell.lstrip("-").isascii() and cell.lstrip("-").isdigit() else cell

    _fill(grid, place, made)


GENTLE: tuple[Change, ...] = (
    *(_another_value, _another_value, _special_cell, _special_cell, _many_special, _constant, _distinct, _drop_rows),
    *(_double_rows, _shuffle, _drop_column, _add_column, _reorder, _swap_cells, _numbers),
)


def _delimiter(grid: Grid, rng: Random) -> None:
    grid.delimiter = rng.choice(";\t|:, ")


def _newline(grid: Grid, rng: Random) -> None:
    grid.newline = rng.choice(("\r\n", "\r", "\n\n", "\n \n", "\n\r"))


_ENCODINGS = (
    *(("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-16-le", b"")),
    *(("cp1252", b""), ("latin-1", b""), ("utf-32", b""), ("utf-7", b""), ("utf-8", b"\xff\xfe"), ("ascii", b"")),
)


def _encoding(grid: Grid, rng: Random) -> None:
    grid.encoding, grid.mark = rng.choice(_ENCODINGS)


def _quotes(grid: Grid, _: Random) -> None:
    grid.quoted = True


def _spaces(grid: Grid, rng: Random) -> None:
    around = rng.choice((" ", "\t", "\u00a0", "  "))
    for row in grid.rows if rng.random() < 0.5 else [grid.header]:
        row[:] = [f"{around}{cell}{around}" for cell in row]


def _packed(grid: Grid, _: Random) -> None:
    grid.packed = True


def _statement(grid: Grid, rng: Random) -> None:
    line = rng.choice((b"sep=,\n", b"sep=;\n", b"# a comment\n", b"\n\n", b"title\n", b",,,\n"))
    grid.damage.append(lambda content: line + content)


FORM: tuple[Change, ...] = (_delimiter, _newline, _encoding, _quotes, _spaces, _packed, _statement)


def _odd_cell(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    row[place] = odd.text(rng)


def _odd_column(grid: Grid, rng: Random) -> None:
    cells = [odd.text(rng) for _ in range(3)]
    _fill(grid, _column(grid, rng), lambda _: rng.choice(cells))


def _extreme_column(grid: Grid, rng: Random) -> None:
    """A column of numbers, some of them extreme."""
    cells = rng.choice(
        (("1e308", "1"), ("-1", "0"), ("5e-324", "1"), ("1e308", "-1e308"), ("0", "0"), ("1e200", "1e-200"))
    )
    _fill(grid, _column(grid, rng), lambda _: rng.choice(cells))


def _odd_name(grid: Grid, rng: Random) -> None:
    if grid.header:
        grid.header[rng.randrange(len(grid.header))] = rng.choice(odd.NAMES)


def _twice_named(grid: Grid, rng: Random) -> None:
    if grid.header:
        grid.header[rng.randrange(len(grid.header))] = rng.choice(grid.header)


def _headless(grid: Grid, _: Random) -> None:
    grid.headless = True


def _ragged(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    if rng.random() < 0.5:
        row.append(odd.text(rng))
    else:
        del row[place:]


def _huge_cell(grid: Grid, rng: Random) -> None:
    row, place = _place(grid, rng)
    row[place] = rng.choice("x9*[é") * rng.choice((10_000, 140_000, 1_000_000))


def _wide(grid: Grid, rng: Random) -> None:
    count = rng.choices((50, 3_000, 11_000, 1_000_000), (60, 25, 14, 1))[0]
    grid.header += [f"c{i}" for i in range(count)]
    grid.rows = grid.rows[: 3 if count > 50 else None]
    for row in grid.rows:
        row += ["1"] * count


def _second_header(grid: Grid, rng: Random) -> None:
    grid.rows.insert(rng.randrange(len(grid.rows) + 1), list(grid.header))


def _nothing(grid: Grid, rng: Random) -> None:
    grid.rows = []
    if rng.random() < 0.5:
        grid.header = []


def _unclosed(grid: Grid, rng: Random) -> None:
    mark = rng.choice((b'"', b'"x', b'x"y'))
    grid.damage.append(lambda content: content + mark + b"\n" if len(content) % 2 else mark + content)


ROUGH: tuple[Change, ...] = (
    *(_odd_cell, _odd_cell, _odd_cell, _odd_column, _extreme_column, _extreme_column, _odd_name),
    *(_twice_named, _headless),
    *(_ragged, _huge_cell, _wide, _second_header, _nothing, _unclosed),
)


def _typed(grid: Grid, rng: Random) -> None:
    """The same table in a typed format, some columns as other types."""
    grid.form = rng.choice(("parquet", "arrow", "excel"))
    width = len(grid.header)
    grid.rows = [(row + [""] * width)[:width] for row in grid.rows]
    for name in grid.header:
        if rng.random() < 0.4:
            grid.types[name] = rng.choices(TYPES, (9, 5, 2, 2, 2, 2, 1, 2, 1, 1, 4, 2))[0]


# ----- trees ---------------------------------------------------------------------------------------------------------


VOCABULARY = (
    [*Role], [*Type], [*Link], [*ATTACKS.all()], [*ANONYMIZERS.all()], [*Stance], [*MechanismKnown], ["rows", "id", "name"],
    ["release.k", "release.alpha", "release.l_distinct", "release.t_equal", "linking.max", "homogeneity.success"],
)  # fmt: skip
"""Words that may stand in each other's place in a schema, a scenario or a policy, and still make sense."""


def _spots(data: Any, found: Spots) -> Spots:
    """Every place of a tree: a container, and a key or index in it."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        found.append((data, key))
        _spots(value, found)
    return found


_SETTINGS: dict[str, tuple[Any, ...]] = {
    "delimiter": (",", ";", "\t", "|", "x", "", "ab", "\x00"),
    "decimal": (".", ",", ";"),
    "encoding": (
        *("utf-8", "latin-1", "cp1252", "ascii", "utf-16", "utf-32", "utf-7", "cp037", "punycode", "idna", "rot13"),
        *("unicode_escape", "raw_unicode_escape", "base64", "zlib", "undefined", "mbcs", "shift_jis"),
        *("hz", "utf_8_sig"),
    ),
    "header": (["a", "b"], ["age"], [], [""], ["a", "a"]),
    "missing": (["?"], ["", "NA"], ["*"], [], ["F"], [0]),
    "suppressed": (["*"], ["XX"], [""], [], ["*", "**"], ["F"]),
    "others": ("neutral", "error"),
    "sheet": ("Sheet", "Data"),
}
_OF_COLUMNS: dict[str, tuple[Any, ...]] = {
    "type": ("numeric", "ordinal", "nominal"),
    "domain": ([0, 100], [0, 0], [5, 1], [-1e300, 1e300], ["F", "M"], ["F"], [], [1, 2, 3]),
    "order": (["a", "b"], ["F", "M"], [], ["20", "30"], [1, 2, 3]),
    "taxonomy": (
        {"A": ["F"], "B": ["M"]},
        {},
        [],
        {"A": {"B": {"C": ["F", "M"]}}},
        "codes.csv",
        {"F": ["F"]},
        ["F", "M"],
    ),
    "notation": (
        ["interval"],
        ["value"],
        ["set"],
        ["mask", "value"],
        ["group"],
        ["centroid"],
        [],
        ["bound"],
        ["period"],
    ),
    "missing": (["F"], ["?"], [], ["20"]),
    "suppressed": ([], ["F"], ["*", "X"]),
}


def _setting(data: Any, rng: Random) -> bool:
    """Changes a setting of a schema's table, or of one of its columns."""
    columns = data.get("columns") if isinstance(data, dict) else None
    if not isinstance(columns, dict) or not columns:
        return False
    column = columns[rng.choice(list(columns))]
    known, part = (_OF_COLUMNS, column) if rng.random() < 0.6 else (_SETTINGS, data.setdefault("table", {}))
    if isinstance(part, dict):
        key = rng.choice(list(known))
        part[key] = deepcopy(rng.choice(known[key]))
    return True


def _tree(tree: Tree, rng: Random) -> None:
    if tree.kind == "schema" and rng.random() < 0.3 and _setting(tree.data, rng):
        return
    spots = _spots(tree.data, [])
    if not spots or rng.random() < 0.01:
        tree.data = odd.value(rng)
        return
    holder, key = rng.choice(spots)
    related = []
    if rng.random() < 0.5:
        texts = [(h, k) for h, k in spots if isinstance(h[k], str)]
        related = [(h, k, words) for h, k in texts for words in VOCABULARY if h[k] in words]
    if related:
        holder, key, words = rng.choice(related)
        holder[key] = str(rng.choice(words))
    else:
        rng.choice(TREES)(holder, key, rng, spots)


def _drop(holder: Any, key: Any, _: Random, _others: Spots) -> None:
    del holder[key]


def _odd_value(holder: Any, key: Any, rng: Random, _others: Spots) -> None:
    holder[key] = odd.value(rng)


def _near(holder: Any, key: Any, rng: Random, _others: Spots) -> None:
    """Another value of the same type."""
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = rng.choice((value + 1, value - 1, value * 2, -value, 0, 1, float(value)))
    elif isinstance(value, float):
        holder[key] = rng.choice((value * 2, value / 2, -value, 0.0, 1.0, 0.5, 1 - value))
    elif isinstance(value, str):
        holder[key] = rng.choice((value.upper(), value[:-1], value + "x", value * 2, odd.text(rng)))
    elif isinstance(value, list):
        rng.shuffle(value)
        del value[rng.randrange(len(value) + 1) :]
    else:
        holder[key] = None


def _borrowed(holder: Any, key: Any, rng: Random, spots: Spots) -> None:
    """A value of another place, of the same type where there is one."""
    same = [(h, k) for h, k in spots if type(h[k]) is type(holder[key]) and not isinstance(h[k], dict | list)]
    there, other = rng.choice(same or [(holder, key)])
    if not isinstance(there[other], dict | list):
        holder[key] = there[other]


def _renamed(holder: Any, key: Any, rng: Random, _others: Spots) -> None:
    if isinstance(holder, dict):
        holder[rng.choice((f"{key}x", str(key).upper(), rng.choice(odd.NAMES)))] = holder.pop(key)


def _added(holder: Any, key: Any, rng: Random, spots: Spots) -> None:
    if isinstance(holder, dict):
        names = sorted({str(k) for h, k in spots if isinstance(h, dict)})
        holder[rng.choice((rng.choice(names), rng.choice(odd.NAMES)))] = odd.value(rng)
    else:
        holder.append(rng.choice((odd.value(rng), holder[key])))


def _wrapped(holder: Any, key: Any, rng: Random, _others: Spots) -> None:
    holder[key] = rng.choice(([holder[key]], {"x": holder[key]}, [holder[key], holder[key]]))


TREES = (_drop, _drop, _odd_value, _odd_value, _near, _near, _near, _borrowed, _borrowed, _renamed, _added, _wrapped)


# ----- bytes ---------------------------------------------------------------------------------------------------------


def _cut(part: Part, rng: Random) -> None:
    share = rng.random()
    part.damage.append(lambda content: content[: int(len(content) * share)])


def _emptied(part: Part, _: Random) -> None:
    part.damage.append(lambda _: b"")


def _flipped(part: Part, rng: Random) -> None:
    shares = [(rng.random(), rng.randrange(256)) for _ in range(rng.choice((1, 1, 3, 20)))]

    def damage(content: bytes) -> bytes:
        made = bytearray(content)
        for share, value in shares:
            if made:
                made[int(len(made) * share)] = value
        return bytes(made)

    part.damage.append(damage)


def _inserted(part: Part, rng: Random) -> None:
    share = rng.random()
    piece = rng.choice(
        (b"\x00", b"\xff", b"\xc3", b"\r", b"\n", b'"', b"\x1a", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[2J")
    )

    def damage(content: bytes) -> bytes:
        place = int(len(content) * share)
        return content[:place] + piece + content[place:]

    part.damage.append(damage)


def _repeated(part: Part, _: Random) -> None:
    part.damage.append(lambda content: content * 2)


def _magic(part: Part, rng: Random) -> None:
    start = rng.choice((b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"ARROW1", b"%PDF", b"SQLite format 3\x00", b"\x89PNG"))
    part.damage.append(lambda content: start + content[len(start) :])


BYTES: tuple[Change, ...] = (_cut, _emptied, _flipped, _flipped, _inserted, _inserted, _repeated, _magic)
