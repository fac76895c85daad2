"""Measures: intervals, divergences, class statistics and utility. The only home of each formula."""
