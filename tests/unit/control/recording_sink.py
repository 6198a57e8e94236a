"""A sink whose committer writes down what it was asked to commit, and can be told to fail."""

from __future__ import annotations

from typing import Any

from penstock.connectors.collecting import CollectSink
from penstock.functions.sink import Committer, CommitterContext


class RecordingSink(CollectSink):
    committables_survive = True

    def __init__(self) -> None:
        super().__init__()
        self.committed: list[tuple[int, list[Any]]] = []
        self.failure: Exception | None = None
        self.contexts: list[CommitterContext] = []
        self.swept = self.closed = 0

    def create_committer(self, context: CommitterContext) -> Committer:
        self.contexts.append(context)
        return _RecordingCommitter(self)


class _RecordingCommitter(Committer):
    def __init__(self, sink: RecordingSink) -> None:
        self._sink = sink

    def commit(self, epoch: int, committables: list[Any]) -> None:
        if self._sink.failure is not None:
            raise self._sink.failure
        self._sink.committed.append((epoch, list(committables)))

    def sweep(self) -> None:
        self._sink.swept += 1

    def close(self) -> None:
        self._sink.closed += 1
