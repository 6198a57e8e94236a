"""A level after an exchange: Spark's transformWithState calls it once per subtask and batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from penstock.engines.spark.state_store import SparkStateStore
from penstock.engines.spark.targets import targets
from penstock.engines.spark.worker_modules import prepare_worker
from penstock.runtime.exchange import ExchangeRow, edge_of_channel, summons_channel
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.state_log import StateLog


class LevelProcessor(StatefulProcessor):
    """Rows for this level go through its container, all others pass."""

    def __init__(self, blob: LevelBlob, parallelism: int, own_edges: frozenset[int]) -> None:
        self._blob = blob
        self._parallelism = parallelism
        self._own_edges = own_edges
        self._summons = summons_channel(blob.level)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._log = StateLog(SparkStateStore(handle))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        # Spark also loads this module in a process that only plans, once for every job: keep that one light.
        from penstock.runtime.hosting import run_level
        from penstock.runtime.summons import NOTHING, read_summons

        own: list[ExchangeRow] = []
        summons = NOTHING
        for row in rows:
            if row.channel >= 0 and edge_of_channel(row.channel) in self._own_edges:
                own.append(ExchangeRow(0, row.channel, row.seq, bytes(row.payload)))
            elif row.channel == self._summons:
                summons = read_summons(bytes(row.payload))
            else:
                yield Row(target=row.target, channel=row.channel, seq=row.seq, payload=bytes(row.payload))
        if own or summons.wakes:
            places = targets(self._parallelism)
            prepare_worker(self._blob.settings)
            subtask = places.index(key[0])
            for out in run_level(self._blob, subtask, own, self._log, summons):
                yield Row(target=places[out.subtask], channel=out.channel, seq=out.seq, payload=out.payload)

    def close(self) -> None:
        pass
