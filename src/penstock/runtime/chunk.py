"""The bytes of one exchange row: many records for one subtask, with control elements in their places."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import Batch, Codec, Control, joined
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.near_chunk import NearChunk, NearWay, elements_of
from penstock.runtime.pickling import dumps, loads

Payload = bytes | NearChunk  # the latter only within a process

_KEY = "$key"
_AS_COLUMN = "column"  # the keys are the last column of the body


class ChunkBuilder:
    """Collects records and control elements of one channel until they are sent as one payload."""

    __slots__ = ("_controls", "_parts", "length")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._parts: list[Batch] = []
        self._controls: list[tuple[int, Control]] = []
        self.length = 0

    def add(self, batch: Batch) -> None:
        self._parts.append(batch)
        self.length += len(batch)

    def add_control(self, control: Control) -> None:
        self._controls.append((self.length, control))

    def __bool__(self) -> bool:
        return bool(self.length or self._controls)

    def take(self, codec: Codec | None) -> bytes:
        """The payload of what was collected; the builder is empty afterwards."""
        records = _packed(joined(self._parts), codec) if self._parts else None
        payload = dumps((self._controls, records))
        self._reset()
        return payload

    def take_near(self, way: NearWay) -> NearChunk | None:
        """The same without bytes; None if that cannot be, and then nothing is taken."""
        self._parts = [joined(self._parts)] if self._parts else []
        chunk = way.chunk_of(self._controls, self._parts[0] if self._parts else None)
        if chunk is not None:
            self._reset()
        return chunk


def _packed(batch: Batch, codec: Codec | None) -> tuple[bytes | None, Any, Any]:
    """Timestamps, keys and records in the form in which they are pickled."""
    times = None if batch.times is None else batch.times.tobytes()
    if codec is None:
        return times, _pickled_keys(batch), batch.values
    columns: Any = batch.in_columns(codec).columns
    key_column = batch.key_column
    if key_column is None:
        return times, batch.keys, _to_ipc(columns)
    return times, _AS_COLUMN, _to_ipc(columns.append_column(_KEY, key_column))


def _pickled_keys(batch: Batch) -> Any:
    """Integers that are a column as an array, which pickle copies; what else there is as objects."""
    column = batch.key_column if batch.has_key_column else None
    return batch.keys if column is None or column.type != pa.int64() else column.to_numpy()


def read_chunk(payload: Payload, codec: Codec | None) -> Iterator[Batch | Control]:
    """The elements of a payload in their order."""
    if isinstance(payload, NearChunk):
        return elements_of(payload.controls, payload.records)
    controls, records = loads(payload)
    return elements_of(controls, None if records is None else _unpacked(records, codec))


def _unpacked(records: tuple[bytes | None, Any, Any], codec: Codec | None) -> Batch:
    timestamp_bytes, keys, body = records
    times = None if timestamp_bytes is None else np.frombuffer(timestamp_bytes, np.int64)
    if codec is None:
        return Batch(body, times=times).keyed(integers_as_column(keys) if isinstance(keys, np.ndarray) else keys)
    columns = _from_ipc(body)
    if isinstance(keys, str):
        last = columns.num_columns - 1
        columns, keys = columns.remove_column(last), columns.column(last)
    return Batch.of_columns(codec, columns, times, keys)


def _to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _from_ipc(payload: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_next_batch()
