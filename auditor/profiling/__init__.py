"""Profiling: the schema of an unknown table, proposed with reasons.

From the ground: `reading` (the file's form), `dates`, `facts` (what is in each column), `patterns`, `person_numbers`,
`words` and `vocabulary` (what identifiers, names of columns and values look like), `signs` (what a column looks like, with
evidence), `roles`, `ranking`, `taxonomies`, `safe_harbour`; `writing`, `sentences` and `showing` turn them into TOML and
text; `proposal` puts all together. Nothing here is certain: the output is for a person to edit.
"""
