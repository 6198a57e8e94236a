"""Keeps the snapshots of a subtask in Spark's state store, which commits or discards its version with the batch."""

from __future__ import annotations

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from penstock.runtime.state_log import Place


class SparkStateStore:
    """The state of the subtask whose turn it is."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        # One state for everything: making a state known to Spark costs round trips in every batch.
        self._records = handle.getMapState("log", "seq long, piece int", "content binary")

    def get(self, place: Place) -> bytes | None:
        stored = self._records.getValue(place)
        return None if stored is None else bytes(stored[0])

    def put(self, place: Place, content: bytes) -> None:
        self._records.updateValue(place, (content,))

    def remove(self, place: Place) -> None:
        self._records.removeKey(place)
