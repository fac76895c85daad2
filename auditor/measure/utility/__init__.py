"""Utility: what a release is still good for, as rows of the record. `registry` lists the measures, one idea a file.

A measure that does not suit the release says so, with the reason. Sliced and bucketized releases, and labels that
cover several values, are measured in sampled `worlds`, which the rows say.
"""

from auditor.measure.utility.case import Case, check_columns
from auditor.measure.utility.measure import Measure
from auditor.measure.utility.registry import MEASURES, find_measures, utility_meanings, utility_rows

__all__ = ["MEASURES", "Case", "Measure", "check_columns", "find_measures", "utility_meanings", "utility_rows"]
