"""Blocks on Spark: each is one row of a frame, and `applyInPandas` hands it to a Python process of the cluster.

A block and its reply travel as the same bytes that processes on one machine exchange. The same work is done on the same
numbers, so the release is the same. This package must be installed where Spark's Python processes run.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from auditor.engines.spark import spark_session
from auditor.engines.worker import Job, Reply, Work, carry_out
from auditor.model.discretion import cause, told
from auditor.model.errors import AuditorError

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = "block int, content binary"
_PARTS_A_BLOCK = 4
"""A hash deals blocks to partitions: with more partitions than blocks, few get two of them."""
_LACKING = "ModuleNotFoundError"  # in what a process says where this package is not installed


def run_on_spark(work: Work, jobs: Sequence[Job]) -> Iterator[tuple[int, Reply]]:
    """The number of each job with its reply, from the processes of Spark."""
    session = spark_session()
    session.conf.set("spark.sql.shuffle.partitions", str(_PARTS_A_BLOCK * len(jobs)))
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")  # blocks are small, but much work

    def answered(frame: pd.DataFrame) -> pd.DataFrame:
        replies = [carry_out(pickle.loads(content), work) for content in frame["content"]]
        return frame.assign(content=[pickle.dumps(reply, pickle.HIGHEST_PROTOCOL) for reply in replies])

    from pyspark.errors import PySparkException

    contents = [(number, pickle.dumps(job, pickle.HIGHEST_PROTOCOL)) for number, job in enumerate(jobs)]
    try:
        frame = session.createDataFrame(contents, _COLUMNS)
        rows = frame.groupBy("block").applyInPandas(answered, _COLUMNS).collect()
    except PySparkException as error:
        lacking = next((line.strip() for line in str(error).splitlines() if _LACKING in line), None)
        raise AuditorError(f"Spark did not finish the blocks: {lacking or told(error)}.") from cause(error)
    for row in rows:
        yield int(row["block"]), pickle.loads(bytes(row["content"]))
