"""Chunks for a subtask of the same process: records that nobody can change are handed on as they are, not as bytes."""

from __future__ import annotations

from collections.abc import Iterator

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
        codec, columns = self._codec, records.columns_of(self._codec)
        if columns is not None:
            values = None if codec.mutable else records.made_values
            return NearChunk(controls, records.with_content(values, codec, columns), int(columns.nbytes))
        if self._are_settled is None or not self._are_settled(records.values):
            return None
        if not self._takes_rows:
            columns = codec.encode(records.values)
            return NearChunk(controls, records.with_content(records.values, codec, columns), int(columns.nbytes))
        sample = codec.encode(records.values[:_SAMPLE])
        size = int(sample.nbytes) * len(records) // sample.num_rows
        return NearChunk(controls, records.with_content(records.values, codec, None), size)


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
