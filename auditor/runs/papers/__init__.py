"""The claims of the papers: what each says, where, with which number, and how it is tested. One file a paper.

A claim is an `Item`; add one to the tuple of its paper. `auditor reproduce` runs them and writes one page, `docs/papers.md`
is that page for Adult and Census, and tests hold the verdicts on a small part of the data.
"""

from auditor.runs.papers.caat import CAAT
from auditor.runs.papers.item import Paper

PAPERS: tuple[Paper, ...] = (CAAT,)
"""The papers, in the order of their numbers."""
