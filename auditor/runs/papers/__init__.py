"""The claims of the papers: what each says, where, with which number, and how it is tested. One file a paper.

A claim is an `Item`; add one to the tuple of its paper. `auditor reproduce` runs them and writes one page, `docs/papers.md`
is that page for Adult and Census, and tests hold the verdicts on a small part of the data.
"""

from auditor.runs.papers.caat import CAAT
from auditor.runs.papers.grading import GRADING
from auditor.runs.papers.item import Paper
from auditor.runs.papers.kmeans import KMEANS
from auditor.runs.papers.microaggregation import MICROAGGREGATION
from auditor.runs.papers.slicing import SLICING

PAPERS: tuple[Paper, ...] = (CAAT, KMEANS, GRADING, SLICING, MICROAGGREGATION)
"""The papers, in the order of their numbers."""
