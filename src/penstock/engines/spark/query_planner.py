"""Stands between the query and its epochs: remembers why one failed, which Spark itself would not say."""

from __future__ import annotations

import threading

from penstock.common.errors import PenstockError
from penstock.common.failure import Failure
from penstock.control.micro_batches import MicroBatches
from penstock.control.work import Offset, Work
from penstock.runtime.failure import failure_of
from penstock.runtime.report import SubtaskReport


class QueryPlanner:
    """Called by the source process (through the planner link) and by foreachBatch."""

    def __init__(self, batches: MicroBatches) -> None:
        self._batches = batches
        self.planning = threading.Event()  # the query has begun to plan
        self.failure: Failure | None = None

    def forget(self) -> None:
        """Before another attempt."""
        self.failure = None
        self.planning.clear()

    def initial_offset(self) -> Offset:
        return self._batches.initial_offset()

    def latest_offset(self, start: Offset) -> Offset:
        self.planning.set()
        return self._batches.latest_offset(start)

    def partitions(self, start: Offset, end: Offset) -> list[Work]:
        self.planning.set()
        return self._batches.partitions(start, end)

    def planning_failed(self, error: Exception) -> None:
        self.failure = Failure(type(error).__name__, str(error))

    def complete(self, reports: list[SubtaskReport]) -> None:
        try:
            self._batches.complete(reports)
        except PenstockError as error:
            self.failure = failure_of(error)
            raise
        except Exception as error:
            self.failure = Failure(type(error).__name__, f"an epoch was not completed: {type(error).__name__}: {error}")
            raise
