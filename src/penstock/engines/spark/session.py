"""Spark in this process: one context for all jobs, silent unless asked, and a session for those that need SQL."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.common.errors import NotSupportedError
from penstock.engines.spark.class_archive import archive_options
from penstock.engines.spark.gateway import JvmSettings, gateway_with, start_ahead
from penstock.engines.spark.java import java_home
from penstock.engines.spark.python_launcher import worker_python

# Without its native library Hadoop runs chmod and readlink for every local file: let that cost little. (The other
# CheckpointFileManager runs less of them, but keeps the state of a batch that was not committed when it is repeated.)
_QUICK_CHILDREN = " -Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""
_STATE_STORE = "spark.sql.streaming.stateStore"
_SESSION_DEFAULTS = {
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
_QUERY_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    f"{_STATE_STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE_STORE}.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.sql.streaming.pollingDelay": "1ms",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}
_LOCAL_DEFAULTS = {
    # Nothing outside this machine needs to reach a local driver.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_ATTEMPTS = 4
# A resident task waits most of the time, but Spark counts it as a busy core for as long as its job runs. A local Spark
# of ours has places for the jobs of a whole program, and for what the program itself asks of Spark meanwhile.
_PLACES = 64
_HAS_PLACES = "spark.penstock.places"
_LOCAL = "local["


def start_jvm_ahead(master: str | None, options: dict[str, str], log_file: Path, verbose: bool) -> None:
    """Starts Spark's JVM while the program is still being read; spark_context() takes it if it asks for the same."""
    start_ahead(_jvm_settings(master, options, log_file, verbose))


def running_session() -> SparkSession:
    """On the context of the jobs of this process."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def setting_of(context: SparkContext, key: str, default: str | None = None) -> str | None:
    """One question to the JVM: `getConf()` asks for all settings one by one, which takes some 30 ms of every job."""
    found: str | None = context._conf.get(key, default)
    return found


def has_places(master: str | None, options: dict[str, str]) -> bool:
    """Whether tasks may stay for as long as their job runs without taking a core from others: see `places`."""
    _forget_dead_session()
    active = SparkContext._active_spark_context
    if active is not None:
        return setting_of(active, _HAS_PLACES) is not None
    return _with_retries(_chosen_master(master, options)).startswith(_LOCAL)


def spark_session(master: str | None, options: dict[str, str], log_file: Path, verbose: bool) -> SparkSession:
    """A session takes the JVM as long as the context itself: only queries and DataFrames need one."""
    spark_context(master, options, log_file, verbose)
    return running_session()


def spark_context(
    master: str | None, options: dict[str, str], log_file: Path, verbose: bool, places: bool = False
) -> SparkContext:
    """The running one, or a new one; options that need a new JVM take effect only then."""
    _forget_dead_session()
    active = SparkContext._active_spark_context
    if active is not None:
        return active
    settings = _jvm_settings(master, options, log_file, verbose)
    if SparkContext._gateway is None:
        SparkContext._ensure_initialized(gateway=gateway_with(settings))
    conf = SparkConf().setAppName("penstock")
    for key, value in (*settings.options, *(_more_places(settings.options) if places else {}).items()):
        conf = conf.set(key, value)
    context = SparkContext.getOrCreate(conf)
    context.setLogLevel("WARN" if verbose else "OFF")
    return context


def _jvm_settings(master: str | None, options: dict[str, str], log_file: Path, verbose: bool) -> JvmSettings:
    chosen = _chosen_master(master, options)
    _refuse_spark_connect(chosen)
    java = java_home()
    defaults = {**_SESSION_DEFAULTS, **(_LOCAL_DEFAULTS if chosen.startswith("local") else {})}
    defaults["spark.driver.extraJavaOptions"] += f" {archive_options(java)}"
    environment = {
        "JAVA_HOME": java,
        "PYSPARK_PYTHON": worker_python(),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return JvmSettings(
        tuple({**defaults, **options, "spark.master": _with_retries(chosen)}.items()),
        tuple(environment.items()),
        None if verbose else log_file,
    )


def has_died(context: SparkContext, patience_seconds: float = 0.0) -> bool:
    """Whether the JVM that was started for the context is gone: nothing can be asked of it any more.

    Patience is for calls that have just failed: a dying process closes its connections before it is gone.
    """
    return _has_ended(context._gateway, patience_seconds)


def _has_ended(gateway: Any, patience_seconds: float = 0.0) -> bool:
    process = getattr(gateway, "proc", None)
    if process is None:
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience_seconds)
    return process.poll() is not None


def _forget_dead_session() -> None:
    """PySpark itself would go on asking a JVM that is gone; without these it starts another one."""
    if _has_ended(SparkContext._gateway):
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None


def prepare_for_query(session: SparkSession, partitions: int) -> None:
    """Sets what a query must find in its session when it starts; the session may be the user's own."""
    for key, value in {**_QUERY_SETTINGS, "spark.sql.shuffle.partitions": str(partitions)}.items():
        session.conf.set(key, value)


def _refuse_spark_connect(master: str) -> None:
    remote = os.environ.get("SPARK_REMOTE") or (master if master.startswith("sc://") else None)
    if remote is not None:
        raise NotSupportedError(
            f"Penstock cannot run on Spark Connect ({remote}): a job's driver plans its epochs beside Spark's driver."
            " Give the cluster's master, such as -D spark.master=spark://host:7077, and unset SPARK_REMOTE."
        )


def _chosen_master(master: str | None, options: dict[str, str]) -> str:
    return master or options.get("spark.master") or f"local[{os.cpu_count() or 1}]"


def _more_places(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Places beside the cores, which stay the measure of how much is done at once, and a daemon for such tasks."""
    settings = dict(options)
    if not settings["spark.master"].startswith(_LOCAL):
        return {}
    cores, _, attempts = settings["spark.master"][len(_LOCAL) : -1].partition(",")
    number = (os.cpu_count() or 1) if cores.strip() == "*" else int(cores)
    return {
        "spark.master": f"{_LOCAL}{number + _PLACES},{attempts}]",
        "spark.default.parallelism": settings.get("spark.default.parallelism", str(number)),
        _HAS_PLACES: str(_PLACES),
        "spark.python.daemon.module": "penstock.engines.resident.daemon",
    }


def _with_retries(master: str) -> str:
    """Spark retries a lost worker only when it may: locally that must be said in the master's name."""
    if master == "local":
        return f"{_LOCAL}1,{_ATTEMPTS}]"
    if master.startswith(_LOCAL) and "," not in master:
        return f"{master[:-1]},{_ATTEMPTS}]"
    return master
