"""A user's SourceFunction: runs in the driver and writes what it emits to a log that epochs can read again.

Such a function cannot be asked to repeat itself, so its records are made durable before an epoch may read them. Each
segment of the log holds the records emitted since the one before, and the function's attributes at that moment.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.watermark_strategy import Watermark as UserWatermark
from penstock.functions.source_sink import SourceFunction
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Control, Idleness, Watermark
from penstock.runtime.clock import system_clock
from penstock.runtime.pickling import dumps_on_driver, loads
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader
from penstock.runtime.state.operator_state import InitializationContext, OperatorStates, SnapshotContext
from penstock.storage import storage_at

_PENDING_LIMIT = 1_000_000
_RECORDS_PER_BATCH = 32_768

_Element = tuple[Any, int] | Control


class SegmentReader(WorkReader):
    """Reads the elements of a range of segments, which travel with the epoch."""

    def read(self, work: Any) -> Iterator[Batch | Control]:
        values: list[Any] = []
        timestamps: list[int] = []
        for element in loads(work):
            if isinstance(element, (Watermark, Idleness)):
                if values:
                    yield _batch(values, timestamps)
                    values, timestamps = [], []
                yield element
                continue
            values.append(element[0])
            timestamps.append(element[1])
            if len(values) >= _RECORDS_PER_BATCH:
                yield _batch(values, timestamps)
                values, timestamps = [], []
        if values:
            yield _batch(values, timestamps)


def _batch(values: list[Any], timestamps: list[int]) -> Batch:
    return Batch(values, timestamps if any(t != MIN_TIMESTAMP for t in timestamps) else None)


def _picklable_attributes(function: Any) -> dict[str, Any]:
    kept = {}
    for name, value in vars(function).items():
        if getattr(value, "__penstock_transient__", False):
            continue
        try:
            dumps_on_driver(value)
        except Exception:  # a connection or the like: open() makes it anew
            continue
        kept[name] = value
    return kept


class _Context(SourceFunction.SourceContext):
    """What the function sees; `collect` blocks while the job cannot keep up."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source

    def collect(self, value: Any) -> None:
        self._source.add((value, MIN_TIMESTAMP))

    def collect_with_timestamp(self, value: Any, timestamp: int) -> None:
        self._source.add((value, timestamp))

    def emit_watermark(self, watermark: UserWatermark | int) -> None:
        timestamp = watermark if isinstance(watermark, int) else watermark.timestamp
        self._source.add(Watermark(timestamp))

    def mark_as_temporarily_idle(self) -> None:
        self._source.add(Idleness(True))

    def get_checkpoint_lock(self) -> Any:
        return self._source.lock

    def close(self) -> None:
        pass


class FunctionSource(SourcePlanner):
    """A position is the number of log segments that have been read."""

    bounded = False
    max_parallelism = 1

    def __init__(self, function: SourceFunction) -> None:
        self._function = function
        self.lock = threading.RLock()
        self._room = threading.Condition(self.lock)
        self._pending: list[_Element] = []
        self._segments = self._oldest = 0
        self._operator_states = OperatorStates()
        self._restored = False
        self._ended = False
        self._closing = False
        self._error: str | None = None

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._storage = storage_at(directory)
        self._recover()
        self._thread = threading.Thread(target=self._run, name="penstock-source-function", daemon=True)
        self._thread.start()

    def _recover(self) -> None:
        """Goes on after the last segment that an earlier process wrote, with the attributes of that moment."""
        segments = self._storage.names()
        if segments:
            self._oldest = int(segments[0])
            self._segments = int(segments[-1]) + 1
            self._take_over(loads(self._storage.read(segments[-1]))[1])

    def _take_over(self, state: tuple[dict[str, Any], Any]) -> None:
        attributes, operator_states = state
        vars(self._function).update(attributes)
        self._restored = True
        if operator_states is not None:
            self._operator_states.apply_delta(operator_states)

    def _run(self) -> None:
        try:
            if hasattr(self._function, "initialize_state"):
                self._function.initialize_state(InitializationContext(self._operator_states, self._restored))
            self._function.open(self.runtime_context)
            self._function.run(_Context(self))
            self._function.close()
        except Exception:
            self._error = traceback.format_exc()
        with self.lock:
            self._ended = True
        self._wake()

    def add(self, element: _Element) -> None:
        with self._room:
            while len(self._pending) >= _PENDING_LIMIT and not self._closing:
                self._room.wait(1.0)
            first = not self._pending
            self._pending.append(element)
        if first:
            self._wake()

    def close(self) -> None:
        self._closing = True
        self._function.cancel()

    def initial_position(self, parallelism: int) -> list[Any]:
        return [0, False]

    def advance(self, position: list[Any], budget: int) -> list[Any]:
        segments, _ = position
        with self._room:
            if self._error is not None:
                raise JobExecutionError(f"the source function failed\n\n{self._error}")
            if self._pending:
                self._write_segment()
                self._room.notify_all()
            return [self._segments, self._ended and not self._pending] if self._segments >= segments else position

    def _write_segment(self) -> None:
        # All of it, whatever the epoch's budget: the function's attributes are already past the last record.
        taken, self._pending = self._pending, []
        self._storage.write(_name(self._segments), dumps_on_driver((taken, self._state())))
        self._segments += 1

    def _state(self) -> tuple[dict[str, Any], Any]:
        if hasattr(self._function, "snapshot_state"):
            self._function.snapshot_state(SnapshotContext(system_clock))
        self._operator_states.take_delta()
        return _picklable_attributes(self._function), self._operator_states.full_delta()

    def assignments(self, start: list[Any], end: list[Any], parallelism: int) -> dict[int, Assignment]:
        elements: list[_Element] = []
        for segment in range(start[0], end[0]):
            elements += loads(self._storage.read(_name(segment)))[0]
        return {0: Assignment(dumps_on_driver(elements), self.exhausted(end))}

    def on_commit(self, position: list[Any]) -> None:
        """The last segment stays: the function's attributes are in it."""
        for segment in range(self._oldest, position[0] - 1):
            self._storage.delete(_name(segment))
        self._oldest = max(self._oldest, position[0] - 1)

    def savepoint_state(self, position: list[Any]) -> Any:
        if position[0] == 0:
            return None
        return loads(self._storage.read(_name(position[0] - 1)))[1]

    def restore_savepoint(self, position: list[Any], state: Any) -> list[Any]:
        """The log belongs to the old job; a new one begins with the attributes after the old position."""
        if state is not None:
            self._take_over(state)
        return [0, False]

    def exhausted(self, position: list[Any]) -> bool:
        return bool(position[1])

    def reader(self) -> WorkReader:
        return SegmentReader()


def _name(segment: int) -> str:
    return f"{segment:012d}"
