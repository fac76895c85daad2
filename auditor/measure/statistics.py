"""All class statistics in words: audit records carry them, and policies may name them."""

from __future__ import annotations

from auditor.measure.class_risk import RISKS, WEIGHTED
from auditor.measure.classes import SIZES
from auditor.measure.divergences import DISTANCES
from auditor.measure.diversity import DIVERSITY, LIKENESS
from auditor.measure.nearness import NEARNESS
from auditor.measure.register_risk import REGISTER

STATISTICS = (*SIZES, *RISKS, *WEIGHTED, *REGISTER, *DIVERSITY, *DISTANCES, *LIKENESS, *NEARNESS)
