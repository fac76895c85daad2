"""Engines: where work runs.

`engine` opens DuckDB or Spark, or lets a database count. `spark` starts Spark. `sources` opens the tables that an engine
reads, `scanning` computes the statistics of a release in it. `pool` runs jobs in processes side by side (cells of a
comparison, blocks of a large table) and enforces their limits of time and memory; `worker` is what such a process does.
"""
