"""Spark in this process: one context for all jobs, silent unless asked, and a session for those that need SQL."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.engines.spark.gateway import gateway_with
from penstock.engines.spark.jvm_settings import LOCAL, chosen_master, jvm_settings

_STATE_STORE = "spark.sql.streaming.stateStore"
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
# A resident task waits most of the time, but Spark counts it as a busy core for as long as its job runs. A local Spark
# of ours has places for the jobs of a whole program, and for what the program itself asks of Spark meanwhile.
_PLACES = 64
_HAS_PLACES = "spark.penstock.places"
_settings: WeakKeyDictionary[SparkContext, dict[str, str]] = WeakKeyDictionary()


def running_session() -> SparkSession:
    """On the context of the jobs of this process."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def has_places(master: str | None, options: dict[str, str]) -> bool:
    """Whether tasks may stay for as long as their job runs without taking a core from others: see `places`."""
    _forget_dead_session()
    active = SparkContext._active_spark_context
    if active is not None:
        return places_of(active)
    return chosen_master(master, options).startswith(LOCAL)


def places_of(context: SparkContext) -> bool:
    return _HAS_PLACES in settings_of(context)


def settings_of(context: SparkContext) -> dict[str, str]:
    """All at once, and once: each question would be a call of the JVM, and the answers do not change."""
    known = _settings.get(context)
    if known is None:
        known = _settings[context] = dict(context.getConf().getAll())
    return known


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
    settings = jvm_settings(master, options, log_file, verbose)
    if SparkContext._gateway is None:
        SparkContext._ensure_initialized(gateway=gateway_with(settings))
    conf = SparkConf().setAppName("penstock")
    for key, value in (*settings.options, *(_more_places(settings.options) if places else {}).items()):
        conf = conf.set(key, value)
    context = SparkContext.getOrCreate(conf)
    context.setLogLevel("WARN" if verbose else "OFF")
    return context


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


def _more_places(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Places beside the cores, which stay the measure of how much is done at once, and a daemon for such tasks."""
    settings = dict(options)
    if not settings["spark.master"].startswith(LOCAL):
        return {}
    cores, _, attempts = settings["spark.master"][len(LOCAL) : -1].partition(",")
    number = (os.cpu_count() or 1) if cores.strip() == "*" else int(cores)
    return {
        "spark.master": f"{LOCAL}{number + _PLACES},{attempts}]",
        "spark.default.parallelism": settings.get("spark.default.parallelism", str(number)),
        _HAS_PLACES: str(_PLACES),
        "spark.python.daemon.module": "penstock.engines.resident.daemon",
    }
