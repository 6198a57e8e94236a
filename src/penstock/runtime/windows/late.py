"""Elements that came too late: to their side output, or counted and dropped."""

from __future__ import annotations

from typing import Any

from penstock.runtime.batch import Batch
from penstock.runtime.operators.process import TimedOperator


class LateOutput:
    """The side output with this tag, if it has one."""

    def __init__(self, operator: TimedOperator, tag_id: str | None) -> None:
        self._operator = operator
        self._tag_id = tag_id
        self._dropped = operator.context.memory.metrics.counter("numLateRecordsDropped")
        self._values: list[Any] = []
        self._timestamps: list[int] = []

    def add(self, value: Any, timestamp: int) -> None:
        self._values.append(value)
        self._timestamps.append(timestamp)

    def flush(self) -> None:
        if not self._values:
            return
        batch = Batch(self._values, self._timestamps)
        self._values, self._timestamps = [], []
        if self._tag_id is None:
            self._dropped.inc(len(batch))
        elif self._tag_id in self._operator.side_outputs:
            self._operator.side_outputs[self._tag_id].emit(batch)
