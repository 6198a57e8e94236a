"""A level behind an exchange: Spark's transformWithState calls it once per subtask and batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from penstock.runtime.exchange import ExchangeRow, edge_of_channel
from penstock.spark.host import Lease, LevelBlob, new_token, opened
from penstock.spark.state_log import StateLog
from penstock.spark.targets import targets
from penstock.spark.wire import report_row, wakeup_channel


class LevelProcessor(StatefulProcessor):
    """Rows for this level go through its container, all others pass."""

    def __init__(self, blob: LevelBlob, parallelism: int, own_edges: frozenset[int]) -> None:
        self._blob = blob
        self._parallelism = parallelism
        self._own_edges = own_edges
        self._wakeup = wakeup_channel(blob.level)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._log = StateLog(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        own: list[ExchangeRow] = []
        woken = False
        for row in rows:
            if row.channel >= 0 and edge_of_channel(row.channel) in self._own_edges:
                own.append(ExchangeRow(0, row.channel, row.seq, bytes(row.payload)))
            elif row.channel == self._wakeup:
                woken = True
            else:
                yield Row(target=row.target, channel=row.channel, seq=row.seq, payload=bytes(row.payload))
        if own or woken:
            places = targets(self._parallelism)
            for out in self._run(places.index(key[0]), own):
                yield Row(target=places[out.subtask], channel=out.channel, seq=out.seq, payload=out.payload)

    def _run(self, subtask: int, rows: list[ExchangeRow]) -> Iterator[ExchangeRow]:
        lease = Lease(self._blob, subtask)
        token = self._log.token()
        deltas, from_cache = self._log.since(lease.cached_token())
        container, failure = opened(lambda: lease.container(deltas, from_cache), self._blob.level, subtask)
        if container is None:
            yield failure
            return
        yield from container.run_epoch(rows)
        if container.report.failure is None:
            next_token, full = new_token(token), self._log.wants_full()
            self._log.append(next_token, container.take_delta(full), full)
            lease.put_back(container, next_token)
        yield report_row(container.report)

    def close(self) -> None:
        pass
