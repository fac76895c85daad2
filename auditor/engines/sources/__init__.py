"""Sources: the tables that an engine reads.

`sources` opens a table; `file_paths` and `parquet_files` look after its files. `faults` reports what an engine could not do.
"""
