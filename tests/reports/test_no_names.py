"""Reports know no attack, link or measure by its name: what they say of one comes from the record."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reports
from attacks import ATTACKS
from auditor.measure.utility import MEASURES
from auditor.posterior.links import Link

HOME = Path(reports.__file__).parent
OWN = {measure.name for measure in MEASURES} | set(ATTACKS.all()) | {str(link) for link in Link}
NAMES = OWN | {f"{measure.of}.{measure.name}" for attack in ATTACKS.all().values() for measure in attack.meanings()}
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(.*?)\1""", re.DOTALL)


def literals(source: str) -> Iterator[str]:
    """The string literals of a module, but for its docstrings."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def quoted(template: str) -> Iterator[str]:
    """The string literals in the expressions of a template."""
    for expression in _EXPRESSION.findall(template):
        yield from (text for _, text in _QUOTED.findall(expression))


@pytest.mark.parametrize("file", sorted(HOME.rglob("*.py")), ids=lambda file: file.relative_to(HOME).as_posix())
def test_no_name_in_a_module(file: Path) -> None:
    assert sorted(NAMES & set(literals(file.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("file", sorted((HOME / "templates").glob("*.html")), ids=lambda file: file.name)
def test_no_name_in_a_template(file: Path) -> None:
    assert sorted(NAMES & set(quoted(file.read_text(encoding="utf-8")))) == []


def test_names_are_found_where_they_are() -> None:
    assert {"membership", "class", "queries", "linking.max"} <= NAMES
    assert "linking" in set(literals('"""linking"""\nhere = {"linking": f"{1} linking"}'))
    assert "linking" not in set(literals('"""linking"""\nhere = "a linking"\n"""linking"""'))
    assert set(quoted("linking {% if a == 'linking' %}{{ b[\"class\"] }}{% endif %}")) == {"linking", "class"}
