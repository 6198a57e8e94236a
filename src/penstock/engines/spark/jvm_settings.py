"""What Spark's JVM is started with. Nothing of PySpark is loaded here: the JVM starts before that, and beside it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from penstock.common.errors import NotSupportedError
from penstock.engines.spark.class_archive import archive_options
from penstock.engines.spark.java import java_home
from penstock.engines.spark.python_launcher import worker_python
from penstock.engines.spark.remembered import identity_of, remembered

# Without its native library Hadoop runs chmod and readlink for every local file: let that cost little. (The other
# CheckpointFileManager runs less of them, but keeps the state of a batch that was not committed when it is repeated.)
_QUICK_CHILDREN = " -Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""
_DEFAULTS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "penstock.engines.spark.daemon",
    # Over TCP, small messages to and from Python wait for acknowledgements: 30 ms of each task.
    "spark.python.unix.domain.socket.enabled": "true",
    # The JVM starts queries and moves bytes; compiling it to the last level costs the cores more than it gives back.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC" + _QUICK_CHILDREN,
    "spark.executor.extraJavaOptions": _QUICK_CHILDREN.strip(),
}
_LOCAL_DEFAULTS = {
    # Nothing outside this machine needs to reach a local driver.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_ATTEMPTS = 4
LOCAL = "local["


@dataclass(frozen=True)
class JvmSettings:
    """What a JVM must be started with."""

    options: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    log_file: Path | None  # None: its output is the program's


def jvm_settings(master: str | None, options: dict[str, str], log_file: Path, verbose: bool) -> JvmSettings:
    chosen = chosen_master(master, options)
    _refuse_spark_connect(chosen)
    java = _java_home()
    defaults = {**_DEFAULTS, **(_LOCAL_DEFAULTS if chosen.startswith("local") else {})}
    defaults["spark.driver.extraJavaOptions"] += f" {archive_options(java)}"
    environment = {
        "JAVA_HOME": java,
        "PYSPARK_PYTHON": worker_python(),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return JvmSettings(
        tuple({**defaults, **options, "spark.master": chosen}.items()),
        tuple(environment.items()),
        None if verbose else log_file,
    )


def chosen_master(master: str | None, options: dict[str, str]) -> str:
    return _with_retries(master or options.get("spark.master") or f"{LOCAL}{os.cpu_count() or 1}]")


def _java_home() -> str:
    """To ask a Java takes as long as to start it; the same file gives the same answer."""
    home = os.environ.get("JAVA_HOME")
    candidates = [os.path.join(home, "bin", "java") if home else None, shutil.which("java")]
    return remembered("java", [home, *map(identity_of, candidates)], java_home) if any(candidates) else java_home()


def _refuse_spark_connect(master: str) -> None:
    remote = os.environ.get("SPARK_REMOTE") or (master if master.startswith("sc://") else None)
    if remote is not None:
        raise NotSupportedError(
            f"Penstock cannot run on Spark Connect ({remote}): a job's driver plans its epochs beside Spark's driver."
            " Give the cluster's master, such as -D spark.master=spark://host:7077, and unset SPARK_REMOTE."
        )


def _with_retries(master: str) -> str:
    """Spark retries a lost worker only when it may: locally that must be said in the master's name."""
    if master == "local":
        return f"{LOCAL}1,{_ATTEMPTS}]"
    if master.startswith(LOCAL) and "," not in master:
        return f"{master[:-1]},{_ATTEMPTS}]"
    return master
