"""Comparing: many releases of one table, each made and attacked alike, on one picture of risk against utility.

plan        the cells: methods × settings × seeds, and what tells their results apart from others'
worker      what a process does with a cell: its release is made and audited
store       finished cells as files, so that an interrupted comparison goes on
placing     figures of the records on two axes, over seeds, and the frontier
running     all of it: `compare`
"""
