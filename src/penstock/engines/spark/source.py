"""The one Spark data source of a job: all Python sources, read together with the operators chained to them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from penstock.control.work import Work
from penstock.engines.spark.planner_link import PlannerClient
from penstock.engines.spark.schema import SPARK_SCHEMA
from penstock.engines.spark.targets import targets
from penstock.engines.spark.worker_modules import prepare_worker
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.level_blob import LevelBlob

if TYPE_CHECKING:
    import pyarrow as pa

# Spark also loads this module in processes that only plan, once for every job: what reading needs is imported there.
_ROWS_PER_BATCH = 64


class PenstockSource(DataSource):
    """Made by Spark in several processes, so everything it needs is in its options."""

    @classmethod
    def name(cls) -> str:
        return "penstock"

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return PenstockReader(*pickle.loads(bytes.fromhex(self.options["setup"])))


class PenstockReader(DataSourceStreamReader):
    """Plans by asking the driver; reads by running level 0."""

    def __init__(self, client: PlannerClient, blob: LevelBlob, parallelism: int) -> None:
        self._client = client
        self._blob = blob
        self._parallelism = parallelism

    def initialOffset(self) -> dict[str, Any]:
        return self._client.call("initial_offset")  # type: ignore[no-any-return]

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        return self._client.call("latest_offset", start)  # type: ignore[no-any-return]

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [InputPartition(cloudpickle.dumps(work)) for work in self._client.call("partitions", start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from penstock.engines.spark.wire import to_record_batch

        work: Work = pickle.loads(partition.value)
        places = targets(self._parallelism)
        pending: list[ExchangeRow] = []
        for row in self._rows(work):
            pending.append(row)
            if len(pending) >= _ROWS_PER_BATCH:
                yield to_record_batch(pending, places)
                pending = []
        if pending:
            yield to_record_batch(pending, places)

    def _rows(self, work: Work) -> Iterator[ExchangeRow]:
        from penstock.runtime.hosting import run_level_zero

        for (level, subtask), summons in work.summons:
            yield summons.row(level, subtask)
        if work.subtask is not None:
            prepare_worker(self._blob.settings)
            yield from run_level_zero(
                self._blob,
                work.subtask,
                work.assignments,
                work.snapshot,
                work.note,
                work.union_lists,
                work.committed,
            )
