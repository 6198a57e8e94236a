"""What flows between operators: batches of records, with control elements at their exact places between them.

Operators work on batches instead of single records because a Python call per record and operator is what makes
other Python stream processors slow; order and meaning are those of a record-by-record engine.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import chain, compress
from operator import itemgetter
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.key_columns import column_of_keys, integers_as_column, keys_of_column
from penstock.runtime.ownership import copied

MIN_TIMESTAMP: Final = -(1 << 63)
MAX_TIMESTAMP: Final = (1 << 63) - 1
KIND: Final = "$kind"  # the last column, if some row of the batch is not an insertion

Integers = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.int8]  # the numbers of RowKind


class Codec(Protocol):
    """Turns the records of one declared type into columns and back."""

    type_info: TypeInformation
    form: str  # equal for codecs that can read each other's columns; of rows their names too must be the same
    schema: pa.Schema  # of columns without kinds, in which no record is None
    mutable: bool  # whether user code can change a record in place

    def encode(self, values: list[Any]) -> pa.RecordBatch: ...

    def decode(self, columns: pa.RecordBatch) -> list[Any]: ...

    def field(self, columns: pa.RecordBatch, position: Any) -> pa.Array | None:
        """The column of a field; None when records have none there, or some record is None."""

    def field_values(self, columns: pa.RecordBatch, position: Any) -> list[Any] | None:
        """The same as Python objects."""


class Batch:
    """Records that follow each other on one channel with no control element between them.

    A batch has two faces: rows (`values`, `timestamps`, `keys`) and columns (`columns`, `times`, `key_column`,
    `kinds`). Each part is kept in the form in which it came. The other form is made when it is first read, and kept
    beside it; but `columns` are made of rows only by `in_columns()`, because rows alone do not say their type.
    """

    __slots__ = ("_key_column", "_keys", "_times", "_timestamps", "_values", "codec", "columns")

    def __init__(
        self,
        values: list[Any] | None,
        timestamps: list[int] | None = None,
        keys: list[Any] | None = None,
        *,
        codec: Codec | None = None,
        columns: pa.RecordBatch | None = None,
        times: Integers | None = None,
        key_column: pa.Array | None = None,
    ) -> None:
        self._values = values
        self._timestamps = timestamps
        self._keys = keys
        self.codec = codec  # reads the columns
        self.columns = columns  # None: the batch has rows only
        self._times = times
        self._key_column = key_column

    @staticmethod
    def of_columns(
        codec: Codec,
        columns: pa.RecordBatch,
        times: Integers | None = None,
        keys: pa.Array | list[Any] | None = None,
        kinds: Kinds | None = None,
    ) -> Batch:
        """A batch of columns; those of a row type have no names of their own, but `f0`, `f1`, ... in their order."""
        if kinds is not None:
            columns = columns.append_column(KIND, pa.array(kinds, pa.int8()))
        batch = Batch(None, codec=codec, columns=columns, times=times)
        batch._set_keys(keys)
        return batch

    def __len__(self) -> int:
        if self.columns is not None:
            return int(self.columns.num_rows)
        return len(self.values)

    def __repr__(self) -> str:
        return f"Batch({self.values!r}, timestamps={self.timestamps!r}, keys={self.keys!r})"

    # -- the row face ------------------------------------------------------------------------------------------

    @property
    def values(self) -> list[Any]:
        if self._values is None:
            assert self.codec is not None and self.columns is not None
            self._values = self.codec.decode(self.columns)
        return self._values

    @property
    def made_values(self) -> list[Any] | None:
        """The rows, if they are there already."""
        return self._values

    @property
    def timestamps(self) -> list[int] | None:
        """None: no record carries a timestamp."""
        if self._timestamps is None and self._times is not None:
            self._timestamps = self._times.tolist()
        return self._timestamps

    @property
    def keys(self) -> list[Any] | None:
        """Present only after a key exchange."""
        if self._keys is None and self._key_column is not None:
            self._keys = keys_of_column(self._key_column)
        return self._keys

    # -- the column face ---------------------------------------------------------------------------------------

    @property
    def times(self) -> Integers | None:
        """The timestamps as an array; MIN_TIMESTAMP where a record has none."""
        if self._times is None and self._timestamps is not None:
            self._times = np.frombuffer(array("q", self._timestamps), np.int64)
        return self._times

    def latest_timestamp(self) -> int:
        """The highest timestamp; MIN_TIMESTAMP when there is none."""
        if self._timestamps is not None:
            return max(self._timestamps, default=MIN_TIMESTAMP)
        return MIN_TIMESTAMP if self._times is None else int(self._times.max(initial=MIN_TIMESTAMP))

    @property
    def key_column(self) -> pa.Array | None:
        """The keys as a column, if one can hold them exactly."""
        if self._key_column is None and self._keys is not None:
            self._key_column = column_of_keys(self._keys)
        return self._key_column

    def some_keys(self, start: int, step: int) -> list[Any]:
        """Every so many-th key, without making the others."""
        if self._keys is not None:
            return self._keys[start::step]
        if self._key_column is None:
            return []
        return keys_of_column(self._key_column.take(pa.array(np.arange(start, len(self._key_column), step))))

    @property
    def has_key_column(self) -> bool:
        """Whether the keys are a column already."""
        return self._key_column is not None

    @property
    def kinds(self) -> Kinds | None:
        """The kinds of rows that are columns; None when all are insertions."""
        if self.columns is None or KIND not in self.columns.schema.names:
            return None
        kinds: Kinds = self.columns.column(KIND).to_numpy()
        return kinds

    @property
    def exact_columns(self) -> pa.RecordBatch | None:
        """The columns, if nobody can have changed the rows made of them; operators read only such columns."""
        return None if self.codec is None or (self.codec.mutable and self._values is not None) else self.columns

    def columns_of(self, codec: Codec) -> pa.RecordBatch | None:
        """The exact columns, if they are of this type."""
        return self.exact_columns if self.codec is not None and self.codec.form == codec.form else None

    def field(self, position: Any) -> pa.Array | None:
        """The column of a field; None when there are no exact columns, some record is None, or it has no such field."""
        columns = self.exact_columns
        return None if columns is None or self.codec is None else self.codec.field(columns, position)

    def in_columns(self, codec: Codec) -> Batch:
        """The same records with columns of this type: those that are there, or new ones, for which rows are coerced."""
        if self.columns_of(codec) is not None:
            return self
        return self.with_content(None, codec, codec.encode(self.values))

    # -- other batches made of this one ------------------------------------------------------------------------

    def keyed(self, keys: pa.Array | list[Any] | None) -> Batch:
        """The same records with these keys."""
        batch = Batch(self._values, self._timestamps, codec=self.codec, columns=self.columns, times=self._times)
        batch._set_keys(keys)
        return batch

    def with_content(self, values: list[Any] | None, codec: Codec, columns: pa.RecordBatch | None) -> Batch:
        """Other forms of the same records, with the timestamps and keys of these."""
        return Batch(
            values,
            self._timestamps,
            self._keys,
            codec=codec,
            columns=columns,
            times=self._times,
            key_column=self._key_column,
        )

    def timed(self, timestamps: list[int] | Integers) -> Batch:
        """The same records with these timestamps."""
        batch = Batch(
            self._values, None, self._keys, codec=self.codec, columns=self.columns, key_column=self._key_column
        )
        if isinstance(timestamps, list):
            batch._timestamps = timestamps
        else:
            batch._times = timestamps
        return batch

    def copied(self) -> Batch:
        """The same records as objects of their own."""
        copy = self.keyed(self._key_column if self._key_column is not None else self._keys)
        if self._values is not None and (self.codec is None or self.codec.mutable):
            copy._values, copy.codec, copy.columns = list(map(copied, self._values)), None, None
        return copy

    def slice(self, start: int, end: int) -> Batch:
        """The records from start to end, sharing the objects."""

        def cut(items: Any) -> Any:
            return items[start:end]

        return self._part(cut, cut, lambda column: column.slice(start, end - start))

    def every(self, step: int, start: int) -> Batch:
        """The record at start, and each that is a multiple of step further."""

        def cut(items: Any) -> Any:
            return items[start::step]

        positions = integers_as_column(np.arange(start, len(self), step))
        return self._part(cut, cut, lambda column: column.take(positions))

    def take(self, positions: Integers) -> Batch:
        """The records at some positions, in the order of these."""
        chosen = positions.tolist() if self._needs_lists() else []
        return self._part(
            lambda items: _picked(items, chosen),
            lambda times: times[positions],
            lambda column: column.take(integers_as_column(positions)),
        )

    def filter(self, mask: list[Any] | npt.NDArray[np.bool_]) -> Batch:
        """The records for which the mask is true; a list may hold whatever a user's function said."""
        if isinstance(mask, list):
            as_list, as_array = mask, np.array([])
            if self.columns is not None or self._times is not None:
                as_array = np.fromiter(map(bool, mask), np.bool_, len(mask))
        else:
            as_list, as_array = mask.tolist() if self._needs_lists() else [], mask
        return self._part(
            lambda items: list(compress(items, as_list)),
            lambda times: times[as_array],
            lambda column: column.filter(pa.array(as_array)),
        )

    def _needs_lists(self) -> bool:
        return not (self._values is None and self._timestamps is None and self._keys is None)

    def _part(
        self, of_list: Callable[[Any], Any], of_times: Callable[[Any], Any], of_column: Callable[[Any], Any]
    ) -> Batch:
        """A part of whatever has been made."""
        columns = self.exact_columns
        return Batch(
            None if self._values is None else of_list(self._values),
            None if self._timestamps is None else of_list(self._timestamps),
            None if self._keys is None else of_list(self._keys),
            codec=None if columns is None else self.codec,
            columns=None if columns is None else of_column(columns),
            times=None if self._times is None else of_times(self._times),
            key_column=None if self._key_column is None else of_column(self._key_column),
        )

    def _set_keys(self, keys: pa.Array | list[Any] | None) -> None:
        if isinstance(keys, pa.Array):
            self._key_column = keys
        else:
            self._keys = keys


def _picked(items: list[Any], positions: list[int]) -> list[Any]:
    # itemgetter picks at C speed, but returns a bare item for a single position.
    return list(itemgetter(*positions)(items)) if len(positions) > 1 else [items[position] for position in positions]


def joined(batches: Sequence[Batch]) -> Batch:
    """Batches that follow each other as one: in columns if all are columns of one type, else in rows."""
    if len(batches) == 1:
        return batches[0]
    values: list[Any] | None = None
    codec, columns = _joined_columns(batches)
    if columns is None:
        values = list(chain.from_iterable(batch.values for batch in batches))
    timed = [batch._timestamps is not None or batch._times is not None for batch in batches]
    return Batch(
        values,
        codec=codec,
        columns=columns,
        times=np.concatenate([_times_or_none(batch) for batch in batches]) if any(timed) else None,
        **_joined_keys(batches),
    )


def _joined_columns(batches: Sequence[Batch]) -> tuple[Codec | None, pa.RecordBatch | None]:
    codec = batches[0].codec
    if codec is None:
        return None, None
    columns: list[Any] = [batch.columns_of(codec) for batch in batches]
    if any(part is None for part in columns):
        return None, None
    if len({KIND in part.schema.names for part in columns}) > 1:
        columns = [_with_kinds(part) for part in columns]
    if any(part.schema != columns[0].schema for part in columns):
        return None, None
    return codec, pa.concat_batches(columns)


def _with_kinds(columns: pa.RecordBatch) -> pa.RecordBatch:
    if KIND in columns.schema.names:
        return columns
    return columns.append_column(KIND, pa.array(np.zeros(columns.num_rows, np.int8)))


def _joined_keys(batches: Sequence[Batch]) -> dict[str, Any]:
    if all(batch._key_column is not None for batch in batches):
        columns = [batch._key_column for batch in batches]
        if all(column.type == columns[0].type for column in columns):  # type: ignore[union-attr]
            return {"key_column": pa.concat_arrays(columns)}
    keys = [batch.keys for batch in batches]
    return {"keys": list(chain.from_iterable(part for part in keys if part is not None)) or None}


def _times_or_none(batch: Batch) -> Integers:
    times = batch.times
    return np.full(len(batch), MIN_TIMESTAMP) if times is None else times


class Watermark(NamedTuple):
    """No record with this timestamp or an earlier one is expected after this point of a channel."""

    timestamp: int


class Idleness(NamedTuple):
    """The channel stops (or starts again) to take part in the watermark."""

    idle: bool


class EndOfInput(NamedTuple):
    """Nothing follows on this channel, ever."""


class LatencyMarker(NamedTuple):
    """Sent by a source now and then: how old it is where it arrives says how long records are under way."""

    source: str  # uid
    created: int  # milliseconds


Control = Watermark | Idleness | EndOfInput | LatencyMarker
END_OF_INPUT: Final = EndOfInput()
