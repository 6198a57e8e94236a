"""Rows that wait for their time: kept in columns, and given out in the order of time when it has come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import MAX_TIMESTAMP
from penstock.runtime.key_columns import Booleans, Integers
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.row_type import TableRowType

_TIME, _KIND = "time", "kind"


class PendingRows:
    """A table of an operator's state. Rows of one time are given out in the order in which they came."""

    def __init__(self, operator: Operator, name: str, row_type: TableRowType, keys: tuple[int, ...]) -> None:
        codec = TableCodec(row_type)
        key = RowKey(row_type, keys)

        def key_column_of(columns: pa.RecordBatch) -> pa.Array:
            return key.key_column_of(codec.batch(list(columns.columns), rows=columns.num_rows))

        self._store = row_store(operator, name, codec.schema, key_column_of, (_TIME, _KIND))
        self._earliest = MAX_TIMESTAMP

    def __len__(self) -> int:
        return len(self._store)

    @property
    def earliest(self) -> int | None:
        """The time of the first row that waits."""
        return self._earliest if len(self._store) else None

    def loaded(self) -> None:
        numbers = self._store.numbers()
        self._earliest = int(self._store.note(_TIME)[numbers].min(initial=MAX_TIMESTAMP))

    def add(self, columns: list[pa.Array], times: Integers, kinds: Integers | None = None) -> None:
        if len(times):
            batch = pa.RecordBatch.from_arrays(columns, schema=self._store.schema)
            self._store.append(batch, time=times, kind=np.zeros(len(times), np.int64) if kinds is None else kinds)
            self._earliest = min(self._earliest, int(times.min()))

    def take_until(self, time: int, by_time: bool = True) -> tuple[pa.RecordBatch, Integers, Integers]:
        """Removes the rows up to a time; returns them with their times and kinds, by time or as they came."""
        if self._earliest > time or not len(self._store):
            nothing = np.zeros(0, np.int64)
            return pa.RecordBatch.from_pylist([], schema=self._store.schema), nothing, nothing
        numbers = self._store.numbers()
        times = self._store.note(_TIME)[numbers]
        due = times <= time
        chosen = numbers[due]
        if by_time:
            chosen = chosen[np.argsort(times[due], kind="stable")]
        found = self._store.batch(chosen), self._store.note(_TIME)[chosen], self._store.note(_KIND)[chosen]
        self._store.delete(chosen)
        self._earliest = int(times[~due].min(initial=MAX_TIMESTAMP))
        self._store.compact()
        return found

    def prune(self, keep: Callable[[pa.RecordBatch], Booleans]) -> None:
        """Gives up rows that nobody will ask for, though their time has not come."""
        numbers = self._store.numbers()
        self._store.delete(numbers[~keep(self._store.batch(numbers))])
        self._store.compact()
