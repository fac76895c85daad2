"""Scans: audits of releases that do not fit into memory, by an engine that reads them where they are.

A release is counted by one set of Ibis expressions, which DuckDB (embedded), Spark and databases all run. Only small results
come back to Python: the distinct labels of each column, which the code for files in memory reads; the classes by size, with
the worst figures of each size; and the classes of a sample of people, whom the code for files in memory then attacks.

`opening` opens a release, `coding` numbers its labels. `counting`, `sensitive`, `statistics`, `distances` and `worst` are the
expressions. `registers` counts a population beside the release, `drawing` fetches the sample, and `scan` puts together the
facts of the release. Engines are opened by `auditor.engines.engine`, tables by `auditor.engines.sources`.
"""
