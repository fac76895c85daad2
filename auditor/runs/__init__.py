"""Runs: several audits that belong together, each release with its own audit record.

worlds      the data of a run: the people who are released, and those who are outside
redteaming  a scenario: its releases are made or read, and each is audited
sweeping    the same for every number of known quasi-identifiers
exporting   the files of a built-in scenario, to start from
plan        the cells of a comparison: methods × settings × seeds, each with an id of all that its result depends on
worker      what a process does with a cell: it makes the release and audits it
store       finished cells as files, so that an interrupted comparison can go on
placing     the figures of the cells on two axes, over seeds, and the frontier
comparing   the comparison itself: `auditor.compare`
"""
