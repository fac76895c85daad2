"""Scoring: claims of attacks, held against the truth, become figures and rows of the record."""
