"""Chunks for a subtask of the same process: records that nobody can change are handed on as they are, not as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.batch import Batch, Codec, Control
from penstock.runtime.coerced_lists import settled_check

_CONSTANT_KEYS = frozenset({int, str, bytes, float, bool, type(None)})
_SAMPLE = 8  # records of which the size is looked at


class NearChunk:
    """Records and control elements of one channel. Its length is about that of the bytes that it spares."""

    __slots__ = ("_size", "controls", "records")

    def __init__(self, controls: list[tuple[int, Control]], records: Batch | None, size: int) -> None:
        self.controls = controls
        self.records = records
        self._size = size

    def __len__(self) -> int:
        return self._size


class NearWay:
    """The way of an edge's records to subtasks of the same process, where they arrive as from anywhere else: of the
    declared type, and nobody else's."""

    def __init__(self, type_info: TypeInformation, codec: Codec, takes_rows: bool) -> None:
        """`takes_rows`: columns would only be made to be unmade."""
        self._codec = codec
        self._takes_rows = takes_rows
        self._are_settled = None if codec.mutable else settled_check(type_info)

    def chunk_of(self, controls: list[tuple[int, Control]], records: Batch | None) -> NearChunk | None:
        """None: somebody could change the records, or they are not of their type yet."""
        if records is None:
            return NearChunk(controls, None, 0)
        if not _has_constant_keys(records):
            return None
        columns = records.columns_of(self._codec)
        if columns is not None:
            return NearChunk(controls, self._in_columns(records, columns), int(columns.nbytes))
        values = records.values
        if self._are_settled is None or not self._are_settled(values):
            return None
        if not self._takes_rows:
            columns = self._codec.encode(values)
            return NearChunk(controls, self._batch(records, values, columns), int(columns.nbytes))
        sample = self._codec.encode(values[:_SAMPLE])
        return NearChunk(controls, self._batch(records, values), int(sample.nbytes) * len(values) // sample.num_rows)

    def _in_columns(self, records: Batch, columns: pa.RecordBatch) -> Batch:
        return self._batch(records, None if self._codec.mutable else records.made_values, columns)

    def _batch(self, records: Batch, values: list[Any] | None, columns: pa.RecordBatch | None = None) -> Batch:
        return records.with_content(values, self._codec, columns)


def _has_constant_keys(batch: Batch) -> bool:
    return batch.has_key_column or batch.keys is None or _CONSTANT_KEYS.issuperset(map(type, batch.keys))


def elements_of(controls: list[tuple[int, Control]], records: Batch | None) -> Iterator[Batch | Control]:
    """In their order; records as batches that are as long as possible."""
    if records is None:
        yield from (control for _, control in controls)
        return
    if not controls:
        yield records
        return
    start = 0
    for position, control in controls:
        if position > start:
            yield records.slice(start, position)
            start = position
        yield control
    if start < len(records):
        yield records.slice(start, len(records))
