"""Spark, started in one place: for scans of large tables and for anonymizing in blocks.

Needs pyspark (`pip install 'auditor[spark]'`) and Java 17 or later. Both are checked first, and an error names what is
missing. A running session (a notebook, a cluster's shell) is used, with our settings kept apart from the user's. Otherwise
one is started on the master that Spark's own configuration names (`SPARK_REMOTE`, `PYSPARK_SUBMIT_ARGS`,
`spark-defaults.conf`), or on all processors of this machine if it names none.

Spark's output goes to a temporary file and is shown only if Spark does not start. Times are UTC, and frames pass through
Arrow, so results do not depend on the machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.model.errors import AuditorError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = "needs pyspark: pip install 'auditor[spark]'"
JAVA = 17  # the first Java that Spark 4 runs on
REMOTE = "SPARK_REMOTE"  # the environment variable with the address of a Spark server, which has its own Java
_AT_START = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
}
_RUNNING = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
_PYTHON = "PYSPARK_PYTHON"  # the environment variable that names the Python of Spark's worker processes
_PANDAS = "PySpark does not yet fully support pandas"
_MEMORY = re.compile(r"[1-9]\d*[kmgt]", re.IGNORECASE)
_SHOWN = 400


def spark_session(memory: str | None = None) -> SparkSession:
    """The Spark session, started if none is running. `memory` is what a newly started one may use, such as "4g"."""
    if memory is not None and not _MEMORY.fullmatch(memory):
        raise UsageError(f"The memory for Spark must be a whole number with k, m, g or t, such as 4g. Got {memory!r}.")
    warnings.filterwarnings("ignore", _PANDAS, FutureWarning)  # shown to everybody with pandas 3; nothing to act on
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise AuditorError(f"The engine spark {NEEDED} (and Java {JAVA} or later), or use another engine.") from error
    running = SparkSession.getActiveSession()
    if running is None and (SparkContext._active_spark_context is not None or REMOTE in os.environ):
        running = SparkSession.builder.getOrCreate()  # one of another thread, or of a server
    if running is None:
        check_java()
        running = _started(memory)
    session = running.newSession()  # the user's own settings stay as they are
    for name, value in _RUNNING.items():
        session.conf.set(name, value)
    return session


def check_java() -> None:
    """Raises an error if there is no Java that Spark runs on."""
    remedy = f"Install Java {JAVA} or later and make JAVA_HOME or PATH point to it, or use another engine."
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"JAVA_HOME is {home}, and there is no Java in it" if home else "there is none on PATH"
        raise AuditorError(f"The engine spark needs Java: {where}. {remedy}")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AuditorError(f"The engine spark needs Java, and {java} does not run. {remedy}") from error
    version = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    if version is None or int(version[1]) < JAVA:
        found = f"is version {version[1]}" if version else "does not report its version"
        raise AuditorError(f"The engine spark needs Java {JAVA} or later; {java} {found}. {remedy}")


def _started(memory: str | None) -> SparkSession:
    """A session whose Java process ends with this one: the Java of a session that was stopped, or a new one."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    with tempfile.TemporaryFile() as said:
        try:
            conf = SparkConf()
            for name, value in {**_AT_START, **({} if memory is None else {"spark.driver.memory": memory})}.items():
                conf.set(name, value)
            gateway = SparkContext._gateway or launch_gateway(conf, {"stdout": subprocess.DEVNULL, "stderr": said})
            context = SparkContext(conf=conf, gateway=gateway)
        except (PySparkException, Py4JError, OSError, ValueError) as error:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or str(error).strip().splitlines()
            told = next((line for line in lines if "Exception" in line or "Error" in line), lines[-1] if lines else "")
            raise AuditorError(f"Spark did not start: {told[:_SHOWN]}") from error
    if str(context.master).startswith("local") and _PYTHON not in os.environ:
        context.pythonExec = sys.executable  # rather than the first python3 on the path
    return SparkSession(context)
