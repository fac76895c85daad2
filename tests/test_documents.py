"""The documents: every page is in the site, every link leads somewhere, and the tutorial notebooks run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anonymizers import ANONYMIZERS
from attacks import ATTACKS
from auditor.measure.utility import MEASURES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
_LINK = re.compile(r"(?:\]\(|src=\"|srcset=\")([^)\"#\s]+)")


def test_the_site_has_every_page() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    names = [file.relative_to(DOCS).as_posix() for file in (*PAGES, *NOTEBOOKS)]
    assert [name for name in names if not re.search(rf"[ :]{re.escape(name)}$", listed, re.MULTILINE)] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    if page.parent == DOCS:  # the site has nothing from outside its folder
        assert [link for link in links if DOCS not in (page.parent / link).resolve().parents] == []


def test_the_first_screen_of_the_readme_shows_a_picture_and_how_to_try_it() -> None:
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30]
    text = "\n".join(first)
    assert "docs/pictures/six-releases.svg" in text
    assert "make demo" in text
    counts = (
        f"{len(ATTACKS.builtin)} attacks, {len(ANONYMIZERS.builtin)} anonymizers, {len(MEASURES)} measures of utility"
    )
    assert counts in text


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run(file: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(file, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()  # an error in a cell is one here
    shown = [one.get("data", {}).get("text/html", "") for cell in notebook.cells for one in cell.get("outputs", ())]
    assert any("data:image/svg+xml" in html for html in shown)  # a card with its picture
