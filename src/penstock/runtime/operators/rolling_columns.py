"""Rolling sum, min and max over columns: the result of each record, computed for all records of a batch at once.

The records that keys have reached are columns too while an epoch runs. They are made of the operator's table when a
key first appears, and brought back into it before the snapshot: once per key and epoch, not once per record. Only
what is exact is done here: whole numbers that their declared type holds, and fractions of 64 bits, which are added in
their order of arrival. For everything else the records go one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.common.typeinfo import TypeInformation
from penstock.functions.rolling import Maximum, Minimum, Sum
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Codec, Integers, joined
from penstock.runtime.key_columns import first_positions, keys_of_column, numbered
from penstock.runtime.key_index import KeyIndex, index_for
from penstock.runtime.state.table import ABSENT, DELETED, ValueTable

Numbers = npt.NDArray[Any]
_UFUNCS: dict[type, np.ufunc] = {Sum: np.add, Minimum: np.minimum, Maximum: np.maximum}
_HOT = 32  # a key with more records in a batch is folded by itself
_LARGEST = (1 << 63) - 1


class RollingColumns:
    """What the keys of the running epoch have reached."""

    def __init__(self, function: Any, codec: Codec) -> None:
        self._ufunc = _UFUNCS[type(function)]
        self._position: int = function._position
        self._codec = codec
        self._clear()

    @staticmethod
    def of(function: Any, type_info: TypeInformation | None) -> RollingColumns | None:
        """None for functions and fields that have no exact form in columns."""
        codec = None if type_info is None else codec_for(type_info)
        if codec is None or type(function) not in _UFUNCS or not isinstance(function._position, int):
            return None
        if function._position >= len(codec.schema):
            return None
        kind = codec.schema.field(function._position).type
        return RollingColumns(function, codec) if pa.types.is_integer(kind) or pa.types.is_float64(kind) else None

    def _clear(self) -> None:
        self._index: KeyIndex | None = None  # the slots of keys
        self._records = GrowingRecords()  # the first record of each slot
        self._numbers: Numbers = np.array([])  # the aggregated field of each slot, and room for more

    def fold(self, batch: Batch, table: ValueTable) -> Batch | None:
        """The results for the records of a batch; None, and nothing has changed, when they have to go one by one."""
        if batch.columns_of(self._codec) is None or batch.key_column is None or batch.kinds is not None:
            return None
        numbers = self._numbers_of(batch)
        if numbers is None or not len(numbers):
            return None
        codes, distinct = numbered(batch.key_column)
        index = self._index or index_for(distinct.type)
        if index.key_type != distinct.type:
            return None
        slots = index.find(distinct)
        new = np.flatnonzero(slots < 0)
        slots[new] = len(index) + np.arange(len(new))
        new_keys = distinct.take(pa.array(new))
        saved = [_saved(table, key) for key in keys_of_column(new_keys)]
        added = self._first_records(batch.take(first_positions(codes)[new]).keyed(None), saved)
        if added is None or not self._make_room(added, len(index)):
            return None
        starts = self._numbers[slots]
        fresh = new[[record is ABSENT for record in saved]]
        starts[fresh] = self._identity(starts[fresh])
        running = self._running(codes, numbers, starts)
        if running is None:
            return None
        self._index = index
        index.add(new_keys)
        self._records.append(added.columns)
        self._numbers[slots[codes]] = running  # of several the last one stays
        results = self._with_numbers(self._records.take(slots), running, pa.array(codes))
        return Batch.of_columns(self._codec, results, batch.times)

    def flush(self, table: ValueTable) -> None:
        """Brings what was reached into the table."""
        if self._index is not None:
            reached = self._with_numbers(self._records.all(), self._numbers[: len(self._index)])
            table.changes.update(zip(self._index.keys(), self._codec.decode(reached), strict=True))
            self._clear()

    # -- records -----------------------------------------------------------------------------------------------

    def _first_records(self, firsts: Batch, saved: list[Any]) -> Batch | None:
        """The records of new slots: the one in the table, or else the first one of this batch."""
        known = [number for number, record in enumerate(saved) if record is not ABSENT]
        if known:
            try:
                from_table = Batch.of_columns(self._codec, self._codec.encode([saved[number] for number in known]))
            except (TypeError, ValueError):
                return None  # state that was reached record by record, and which no column holds
            order = np.arange(len(saved))
            order[known] = len(saved) + np.arange(len(known))
            firsts = joined([firsts, from_table]).take(order)
        return firsts if firsts.columns is not None and firsts.columns.schema == self._codec.schema else None

    def _make_room(self, added: Batch, used: int) -> bool:
        """Puts the numbers of new slots after those that are used; they do not count before the slots are taken."""
        numbers = self._numbers_of(added)
        if numbers is None:
            return False
        if used + len(numbers) > len(self._numbers):
            larger = np.empty(2 * used + len(numbers), numbers.dtype)
            larger[:used] = self._numbers[:used]
            self._numbers = larger
        self._numbers[used : used + len(numbers)] = numbers
        return True

    def _with_numbers(
        self, columns: pa.RecordBatch, numbers: Numbers, chosen: pa.Array | None = None
    ) -> pa.RecordBatch:
        """Records, or some of them, with other numbers in the aggregated field."""
        schema = self._codec.schema
        arrays = [
            pa.array(numbers, schema.field(position).type)
            if position == self._position
            else (column if chosen is None else column.take(chosen))
            for position, column in enumerate(columns.columns)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    # -- numbers -----------------------------------------------------------------------------------------------

    def _numbers_of(self, batch: Batch) -> Numbers | None:
        column = batch.field(self._position)
        if column is None or column.null_count:
            return None
        numbers: Numbers = column.to_numpy()
        if pa.types.is_integer(column.type):
            return numbers.astype(np.int64)
        # Of 0.0 and -0.0 the first one stays the smallest, and NaN is not compared: NumPy does neither.
        odd = self._ufunc is not np.add and bool((np.isnan(numbers) | (numbers == 0)).any())
        return None if odd else numbers.copy()

    def _identity(self, firsts: Numbers) -> Numbers:
        """What the first record of a key is combined with."""
        if self._ufunc is not np.add:
            return firsts
        return np.full_like(firsts, -0.0 if firsts.dtype == np.float64 else 0)

    def _running(self, codes: npt.NDArray[np.int32], numbers: Numbers, starts: Numbers) -> Numbers | None:
        """The result of each record; None for whole numbers that are too large."""
        counts = np.bincount(codes, minlength=len(starts))
        whole = numbers.dtype == np.int64
        if whole and self._ufunc is np.add:
            reach = int(np.abs(numbers).max()) * int(counts.max()) + int(np.abs(starts).max())
            if min(int(numbers.min()), int(starts.min())) == -_LARGEST - 1 or reach > _LARGEST:
                return None
        order = np.argsort(codes.astype(np.uint16) if len(starts) <= 1 << 16 else codes, kind="stable")
        folded = _folded(self._ufunc, numbers[order], starts, counts)
        result = np.empty_like(folded)
        result[order] = folded
        return result if not whole or self._holds(result) else None

    def _holds(self, numbers: Numbers) -> bool:
        largest: int = (1 << (self._codec.schema.field(self._position).type.bit_width - 1)) - 1
        return int(numbers.max()) <= largest and int(numbers.min()) >= -largest - 1


class GrowingRecords:
    """Records by number, of which more come all the time: in parts of which each is much longer than the next."""

    def __init__(self) -> None:
        self._parts: list[pa.RecordBatch] = []

    def append(self, records: Any) -> None:
        if not records.num_rows:
            return
        self._parts.append(records)
        while len(self._parts) > 1 and self._parts[-2].num_rows < 2 * self._parts[-1].num_rows:
            last = self._parts.pop()
            self._parts[-1] = pa.concat_batches([self._parts[-1], last])

    def all(self) -> pa.RecordBatch:
        return pa.concat_batches(self._parts)

    def take(self, numbers: Integers) -> pa.RecordBatch:
        if len(self._parts) == 1:
            return self._parts[0].take(pa.array(numbers))
        starts = np.cumsum([0, *(part.num_rows for part in self._parts[:-1])])
        part_of = np.searchsorted(starts, numbers, side="right") - 1
        order = np.argsort(part_of, kind="stable")
        pieces = [
            part.take(pa.array(numbers[part_of == place] - starts[place])) for place, part in enumerate(self._parts)
        ]
        places = np.empty(len(numbers), np.int64)
        places[order] = np.arange(len(numbers))
        return pa.concat_batches(pieces).take(pa.array(places))


def _saved(table: ValueTable, key: Any) -> Any:
    value = table.changes.get(key, ABSENT)
    if value is ABSENT:
        value = table.base.get(key, ABSENT)
    return ABSENT if value is DELETED else value


def _folded(ufunc: np.ufunc, numbers: Numbers, starts: Numbers, counts: Integers) -> Numbers:
    """Numbers that are sorted by group, each combined with all before it in its group, one after the other."""
    result = numbers.copy()
    ends = np.cumsum(counts)
    firsts = ends - counts
    with np.errstate(all="ignore"):  # Python's own sums do not warn either
        result[firsts] = ufunc(starts, numbers[firsts])
        for group in np.flatnonzero(counts > _HOT).tolist():
            ufunc.accumulate(result[firsts[group] : ends[group]], out=result[firsts[group] : ends[group]])
        cold = counts <= _HOT
        for rank in range(1, int(counts[cold].max(initial=0))):
            places = firsts[cold & (counts > rank)] + rank
            result[places] = ufunc(result[places - 1], result[places])
    return result
