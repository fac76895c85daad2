"""Remedies: what drives a failing check, what would mend it, and the mending."""
