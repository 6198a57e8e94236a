"""The bytes of one exchange row: many records for one subtask, with control elements in their places."""

from __future__ import annotations

import array
import io
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Control
from penstock.runtime.column_batch import ColumnBatch, Decoder, key_column_of
from penstock.runtime.pickling import dumps, loads

_KEY = "$key"
_AS_COLUMN = "column"  # the keys are the last column of the body


class ColumnCodec(Decoder, Protocol):
    """Turns the values of a typed stream into Arrow columns and back."""

    def encode(self, values: list[Any]) -> pa.RecordBatch: ...


class ChunkBuilder:
    """Collects records and control elements of one channel until they are sent as one payload."""

    __slots__ = ("_controls", "keys", "timestamps", "values")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.values: list[Any] = []
        self.keys: list[Any] = []
        self.timestamps: list[int] = []
        self._controls: list[tuple[int, Control]] = []

    def extend(self, values: list[Any], timestamps: list[int] | None, keys: list[Any] | None) -> None:
        if timestamps is not None:
            self.timestamps.extend([MIN_TIMESTAMP] * (len(self.values) - len(self.timestamps)))
            self.timestamps.extend(timestamps)
        elif self.timestamps:
            self.timestamps.extend([MIN_TIMESTAMP] * len(values))
        self.values.extend(values)
        if keys is not None:
            self.keys.extend(keys)

    def add_control(self, control: Control) -> None:
        self._controls.append((len(self.values), control))

    def __bool__(self) -> bool:
        return bool(self.values or self._controls)

    def take(self, codec: ColumnCodec | None) -> bytes:
        """The payload of what was collected; the builder is empty afterwards."""
        timestamps = array.array("q", self.timestamps).tobytes() if self.timestamps else None
        keys: Any = self.keys or None
        body: Any = self.values
        if codec is not None:
            columns = codec.encode(self.values)
            key_column = key_column_of(self.keys) if self.keys else None
            if key_column is not None:
                columns, keys = columns.append_column(_KEY, key_column), _AS_COLUMN
            body = _to_ipc(columns)
        payload = dumps((self._controls, timestamps, keys, body))
        self._reset()
        return payload


def read_chunk(payload: bytes, codec: ColumnCodec | None) -> Iterator[Batch | Control]:
    """The elements of a payload in their order, records as batches that are as long as possible."""
    controls, timestamp_bytes, keys, body = loads(payload)
    times = None if timestamp_bytes is None else np.frombuffer(timestamp_bytes, np.int64)
    if codec is not None:
        columns = _from_ipc(body)
        if keys == _AS_COLUMN:
            last = columns.num_columns - 1
            columns, keys = columns.remove_column(last), columns.column(last)
        whole: Batch = ColumnBatch(codec, columns, times, keys)
    else:
        whole = Batch(body, None if times is None else times.tolist(), keys)
    if not controls:
        yield whole
        return
    start = 0
    for position, control in controls:
        if position > start:
            yield whole.slice(start, position)
            start = position
        yield control
    if start < len(whole):
        yield whole.slice(start, len(whole))


def _to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _from_ipc(payload: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_next_batch()
