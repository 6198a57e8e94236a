"""Builds the Spark query of a job: a linear plan of levels, whatever the shape of the graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.common.errors import JobExecutionError
from penstock.engines.spark.frames import exchange_rows_of
from penstock.engines.spark.planner_link import PlannerClient
from penstock.engines.spark.processor import LevelProcessor
from penstock.engines.spark.schema import SPARK_SCHEMA
from penstock.engines.spark.session import prepare_for_query
from penstock.engines.spark.source import PenstockSource
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.pickling import dumps_on_driver
from penstock.runtime.report import SubtaskReport, read_report
from penstock.runtime.savepoint import Savepoint

# A query copies the session's settings some time after start() has returned, but before it plans: until then no other
# job may change them.
_starting = threading.Lock()
_POLL_SECONDS = 0.02


def start_query(
    session: SparkSession,
    job: JobBlueprint,
    frames: dict[int, DataFrame],
    client: PlannerClient,
    run_id: str,
    checkpoint: Path,
    complete: Callable[[list[SubtaskReport]], None],
    planning: threading.Event,
    savepoint: Savepoint | None,
) -> StreamingQuery:
    rows = _level_zero(session, job, frames, client, run_id, savepoint)
    for level in range(1, job.levels):
        own_edges = frozenset(edge.id for edge in job.edges if edge.target_level == level and edge.crosses_levels)
        processor = LevelProcessor(LevelBlob.of(job, level, run_id, savepoint), job.parallelism, own_edges)
        rows = rows.groupBy("target").transformWithState(processor, SPARK_SCHEMA, "Append", "None")

    def on_batch(batch: DataFrame, batch_id: int) -> None:
        payloads = batch.select("payload").toArrow().column(0).to_pylist()
        complete([read_report(payload) for payload in payloads])

    writer = rows.writeStream.foreachBatch(on_batch).option("checkpointLocation", str(checkpoint))
    with _starting:
        prepare_for_query(session, job.parallelism)
        try:
            query = writer.start()
        except (PySparkException, Py4JJavaError) as error:
            reason = str(error).partition("\n\tat ")[0]
            raise JobExecutionError(f"Spark cannot start with its files in {checkpoint}: {reason}") from error
        while query.isActive and not planning.wait(_POLL_SECONDS):
            pass
        return query


def _level_zero(
    session: SparkSession,
    job: JobBlueprint,
    frames: dict[int, DataFrame],
    client: PlannerClient,
    run_id: str,
    savepoint: Savepoint | None,
) -> DataFrame:
    session.dataSource.register(PenstockSource)
    setup = dumps_on_driver((client, LevelBlob.of(job, 0, run_id, savepoint), job.parallelism))
    rows = session.readStream.format("penstock").option("setup", setup.hex()).load()
    for operator_id, frame in frames.items():
        rows = rows.unionAll(exchange_rows_of(frame, job, operator_id))
    return rows
