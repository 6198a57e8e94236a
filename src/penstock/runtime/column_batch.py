"""Batches of typed streams as they came over the wire: columns, made into Python objects only when somebody looks."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.batch import Batch

Times = npt.NDArray[np.int64]


class Decoder(Protocol):
    """The half of a codec that a reader needs."""

    def decode(self, batch: pa.RecordBatch) -> list[Any]: ...

    def field(self, batch: pa.RecordBatch, position: Any) -> pa.Array | None:
        """The column of a field; None when records have none there, or some record is None."""


class ColumnBatch(Batch):
    """A batch whose lists are made when they are first read; an operator that needs only columns makes none."""

    __slots__ = ("_decoder", "columns", "key_column", "times")

    def __init__(
        self, decoder: Decoder, columns: pa.RecordBatch, times: Times | None, keys: pa.Array | list[Any] | None
    ) -> None:
        # The slots of Batch stay empty until __getattr__ fills them.
        self._decoder = decoder
        self.columns = columns
        self.times = times
        self.key_column: pa.Array | None = None
        if isinstance(keys, pa.Array):
            self.key_column = keys
        else:
            self.keys = keys

    def __getattr__(self, name: str) -> Any:
        if name == "values":
            self.values = self._decoder.decode(self.columns)
        elif name == "timestamps":
            self.timestamps = None if self.times is None else self.times.tolist()
        elif name == "keys":
            assert self.key_column is not None
            self.keys = python_keys(self.key_column)
        else:
            raise AttributeError(name)
        return getattr(self, name)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def slice(self, start: int, end: int) -> ColumnBatch:
        """The records from start to end, sharing the columns."""
        length = end - start
        keys = self.keys if self.key_column is None else self.key_column
        return ColumnBatch(
            self._decoder,
            self.columns.slice(start, length),
            None if self.times is None else self.times[start:end],
            keys.slice(start, length) if isinstance(keys, pa.Array) else None if keys is None else keys[start:end],
        )

    def take(self, positions: npt.NDArray[np.int64]) -> ColumnBatch:
        """Some of the records; only for a batch with a column of keys."""
        assert self.key_column is not None
        chosen = pa.array(positions)
        return ColumnBatch(
            self._decoder,
            self.columns.take(chosen),
            None if self.times is None else self.times[positions],
            self.key_column.take(chosen),
        )

    def field(self, position: Any) -> pa.Array | None:
        return self._decoder.field(self.columns, position)


def joined(batches: list[ColumnBatch]) -> ColumnBatch | None:
    """Batches with columns of keys that follow each other, as one; None when their columns differ."""
    first = batches[0]
    if len(batches) == 1:
        return first
    if len({(batch.columns.schema, _type_of(batch.key_column)) for batch in batches}) > 1:
        return None
    times = [batch.times for batch in batches if batch.times is not None]
    return ColumnBatch(
        first._decoder,
        pa.concat_batches([batch.columns for batch in batches]),
        np.concatenate(times) if len(times) == len(batches) else None,
        pa.concat_arrays([batch.key_column for batch in batches]),
    )


def _type_of(column: pa.Array | None) -> Any:
    return None if column is None else column.type


def key_column_of(keys: list[Any]) -> pa.Array | None:
    """A column for keys that are all int or all str, which Arrow keeps exactly; None for others."""
    kinds = set(map(type, keys))
    if len(kinds) != 1 or not kinds <= {int, str}:
        return None
    try:
        return pa.array(keys, pa.int64() if int in kinds else pa.string())
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None


def python_keys(column: pa.Array) -> list[Any]:
    return list(column.to_numpy(zero_copy_only=False).tolist())
