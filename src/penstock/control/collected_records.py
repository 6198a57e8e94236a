"""Records that a program collects: from the epochs that were committed to whoever iterates over them."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

from penstock.runtime.blueprint import JobBlueprint

_END = object()


class CollectedRecords:
    """A queue for each collect sink."""

    def __init__(self, job: JobBlueprint) -> None:
        self._queues: dict[int, queue.SimpleQueue[Any]] = {
            operator.id: queue.SimpleQueue() for operator in job.operators if operator.kind == "collect"
        }

    def take(self, operator_id: int, records: list[Any]) -> bool:
        """Whether the operator is one of the collecting ones."""
        if operator_id not in self._queues:
            return False
        self._queues[operator_id].put(records)
        return True

    def epochs(self, operator_id: int) -> Iterator[list[Any]]:
        """The records of each epoch, until the job has ended."""
        while (records := self._queues[operator_id].get()) is not _END:
            yield records

    def end(self) -> None:
        for waiting in self._queues.values():
            waiting.put(_END)
