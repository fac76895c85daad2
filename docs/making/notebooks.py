"""Runs the tutorial notebooks and keeps what their cells show, so that the site and code hosts show it too.

python docs/making/notebooks.py        # needs the extra `test`
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

HOME = Path(__file__).parents[1] / "notebooks"


def run(file: Path) -> nbformat.NotebookNode:
    """A notebook with the outputs of a fresh run; an error in a cell is an error here. What a cell says in passing, such as
    its times and the progress that it showed, is not kept."""
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(file.parent))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if "transient" not in one and not _emptied(one)]
    return notebook


def _emptied(output: nbformat.NotebookNode) -> bool:
    """Whether this is the place of a progress bar that was taken away."""
    return output.output_type == "display_data" and output.data.get("text/html") == ""


if __name__ == "__main__":
    for file in sorted(HOME.glob("*.ipynb")):
        nbformat.write(run(file), file)
