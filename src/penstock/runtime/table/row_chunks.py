"""Columns of many rows, found by number: in pieces of growing size, which with state on disk are files.

A file is mapped into memory and has no name any more: the system brings in what is read, drops it when it needs the
room, and frees the disk when nobody holds the piece, whatever becomes of the process.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pyarrow as pa

from penstock.runtime.key_columns import Booleans, Integers

_LARGE_BYTES = 128 << 20  # such a piece is not made larger: it would need room twice, and texts end at 2 GiB
_FILE_BYTES = 4 << 20  # smaller pieces stay in memory


class RowChunks:
    """Rows are only ever added; their number is their place. A directory is where large pieces go."""

    def __init__(self, schema: pa.Schema, directory: str | None = None) -> None:
        self._schema = schema
        self._directory = directory
        self._chunks: list[pa.RecordBatch] = []
        self._starts = np.zeros(0, np.int64)

    def append(self, columns: pa.RecordBatch) -> None:
        # Neighbours of like size become one: there are few chunks, and each row is copied few times.
        chunks = self._chunks
        chunks.append(pa.RecordBatch.from_arrays(columns.columns, schema=self._schema))
        size, tail = columns.num_rows, 1
        while tail < len(chunks) and chunks[-tail - 1].num_rows <= 2 * size and chunks[-tail - 1].nbytes < _LARGE_BYTES:
            tail += 1
            size += chunks[-tail].num_rows
        chunks[-tail:] = [self._kept(pa.concat_batches(chunks[-tail:]) if tail > 1 else chunks[-1])]
        self._starts = np.cumsum([0, *(chunk.num_rows for chunk in chunks[:-1])], dtype=np.int64)

    def _kept(self, chunk: pa.RecordBatch) -> pa.RecordBatch:
        if self._directory is None or chunk.nbytes < _FILE_BYTES:
            return chunk
        return _in_file(chunk, self._directory)

    def take(self, numbers: Integers, present: Booleans | None = None) -> list[pa.Array]:
        """The columns of some rows; null in all columns where none is present."""
        if not self._chunks:
            return [pa.nulls(len(numbers), column.type) for column in self._schema]
        if present is not None and present.all():
            present = None
        if len(self._chunks) == 1:
            places = pa.array(numbers, mask=None if present is None else ~present)
            return self._chunks[0].take(places).columns  # type: ignore[no-any-return]
        if present is None:
            return self._found(numbers).columns  # type: ignore[no-any-return]
        places = pa.array(np.cumsum(present) - 1, mask=~present)
        return self._found(numbers[present]).take(places).columns  # type: ignore[no-any-return]

    def _found(self, numbers: Integers) -> pa.RecordBatch:
        """Chunk by chunk: Arrow's own way would make one array of all chunks first."""
        of_chunk = np.searchsorted(self._starts, numbers, side="right") - 1
        order = np.argsort(of_chunk, kind="stable")
        ends = np.cumsum(np.bincount(of_chunk, minlength=len(self._chunks)))
        parts, begin = [], 0
        for chunk, start, end in zip(self._chunks, self._starts.tolist(), ends.tolist(), strict=True):
            if end > begin:
                parts.append(chunk.take(pa.array(numbers[order[begin:end]] - start)))
                begin = end
        if len(parts) <= 1:
            return parts[0] if parts else self._chunks[0].slice(0, 0)
        found = pa.concat_batches(parts)
        if (order[1:] > order[:-1]).all():
            return found
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return found.take(pa.array(back))

    def keep(self, numbers: Integers) -> None:
        """Only these rows stay, in this order, which is that of their numbers; they are numbered anew."""
        chunks, starts = self._chunks, self._starts
        bounds = np.searchsorted(numbers, [*starts.tolist(), self.count]).tolist()
        self._chunks = []
        for place, start in enumerate(starts.tolist()):
            kept = numbers[bounds[place] : bounds[place + 1]] - start
            if len(kept):
                self.append(chunks[place].take(pa.array(kept)))
            chunks[place] = None  # its room is needed for the next

    @property
    def count(self) -> int:
        return sum(chunk.num_rows for chunk in self._chunks)


def _in_file(chunk: pa.RecordBatch, directory: str) -> pa.RecordBatch:
    handle, path = tempfile.mkstemp(suffix=".rows", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file, pa.ipc.new_file(file, chunk.schema) as writer:
            writer.write_batch(chunk)
        return pa.ipc.open_file(pa.memory_map(path)).get_batch(0)
    finally:
        os.unlink(path)
