"""Scans: audits of releases that do not fit into memory, by an engine that reads them where they are.

A release is counted by one set of Ibis expressions, which DuckDB (embedded), Spark and databases run alike. What is small
comes back to Python: the distinct labels of each column, which are read by the same code as in memory; the classes by
their size, with the worst figures of each size; and the classes of a sample of people, who are then attacked by the same
code as in memory. `engines` opens an engine, `sources` a table in it (`file_paths` and
`parquet_files` see to its files), `coding` numbers its labels, `counting` and
`statistics` are the expressions, `registers` counts a population beside it, `drawing` fetches the sample, `scan` puts
the record together, and `faults` says what an engine could not do.
"""
