"""Records for the program that runs the job: they come epoch by epoch, when it is complete."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext

_END = object()


class CollectSink(Sink):
    """Keeps the records of completed epochs in the driver's process until :meth:`epochs` takes them."""

    committables_survive = False

    def __init__(self) -> None:
        super().__init__()
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __getstate__(self) -> dict[str, Any]:
        return {}  # the queue is the driver's

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _CollectWriter()

    def create_committer(self, context: CommitterContext) -> Committer:
        return _CollectCommitter(self._waiting)

    def epochs(self) -> Iterator[list[Any]]:
        """The records of each epoch that had any, until the job has ended."""
        while (records := self._waiting.get()) is not _END:
            yield records
        self._waiting.put(_END)  # for whoever asks again


class _CollectWriter(SinkWriter):
    def __init__(self) -> None:
        self._collected: list[Any] = []

    def write(self, records: Records) -> None:
        self._collected.extend(records.values)

    def prepare_commit(self) -> list[Any]:
        collected, self._collected = self._collected, []
        return collected


class _CollectCommitter(Committer):
    def __init__(self, waiting: queue.SimpleQueue[Any]) -> None:
        self._waiting = waiting

    def commit(self, epoch: int, committables: list[Any]) -> None:
        self._waiting.put(committables)

    def close(self) -> None:
        self._waiting.put(_END)
