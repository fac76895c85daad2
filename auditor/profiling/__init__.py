"""Profiling: the schema of an unknown table, proposed with reasons; and how the labels of a release were read.

From the ground up: `reading` finds the form of a file, `dates` and `facts` what is in each column. `patterns`,
`person_numbers`, `words` and `vocabulary` know what identifiers, column names and values look like. `signs` collects the
evidence for each column; `roles`, `ranking`, `taxonomies` and `safe_harbour` draw the conclusions, which `proposals` holds.
`writing`, `sentences` and `showing` turn them into TOML and text, and `proposal` puts everything together. Nothing here is
certain: the output is for a person to edit. `explaining` shows how each label of a release was read.
"""
