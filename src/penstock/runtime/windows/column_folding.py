"""Built-in aggregations over columns: NumPy groups the records of typed streams, and no record becomes an object.

What is folded, raw records as well as accumulators, is a *part*: a record batch with the key, the order of arrival, the
aggregated number, and the columns of the record that stands for it. Only what is exact in columns is done here:
counting, sums of whole numbers that 64 bits hold, sums of fractions in their order of arrival, minima and maxima.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Integers
from penstock.runtime.key_columns import column_of_keys, keys_of_column, numbered
from penstock.runtime.windows.field_folding import ExtremeFolding, FieldFolding
from penstock.runtime.windows.folding import CountFolding, Folding

Codes = npt.NDArray[np.int32]
Numbers = Integers | npt.NDArray[np.float64]
Part: TypeAlias = pa.RecordBatch
_KEY, _ORDER, _NUMBER, _FIELDS = 0, 1, 2, 3  # the columns of a part
_NAMES = ["$key", "$order", "$number"]
_LARGEST = (1 << 63) - 1


class Groups:
    """Which rows of a part belong together: those of a key, numbered in order of their first row, or as it is said."""

    def __init__(self, part: Part, codes: Codes | Integers | None = None, count: int = 0) -> None:
        self.codes: Codes | Integers
        if codes is None:
            self.codes, keys = numbered(part.column(_KEY))
            self.count = len(keys)
        else:
            self.codes, self.count = codes, count
        self.orders: Integers = part.column(_ORDER).to_numpy()
        self.numbers: Numbers = part.column(_NUMBER).to_numpy()
        self._in_order = bool((self.orders[1:] >= self.orders[:-1]).all())

    def first(self, positions: Integers | None = None) -> Integers:
        """For each key the row that arrived first, of all or of the given ones; each key must have one."""
        found = np.arange(len(self.codes)) if positions is None else positions
        if not self._in_order:
            earliest = np.full(self.count, _LARGEST)
            np.minimum.at(earliest, self.codes[found], self.orders[found])
            found = found[self.orders[found] == earliest[self.codes[found]]]
        return self._picked(found[::-1])

    def last(self) -> Integers:
        """For each key its last row."""
        return self._picked(np.arange(len(self.codes)))

    def _picked(self, positions: Integers) -> Integers:
        chosen = np.empty(self.count, np.int64)
        chosen[self.codes[positions]] = positions  # of several assignments to one place the last one stays
        return chosen

    def folded(self, ufunc: np.ufunc, start: Numbers) -> Numbers:
        """A function over the numbers of each key, applied in the order of the rows."""
        with np.errstate(all="ignore"):  # Python's own sums do not warn either
            ufunc.at(start, self.codes, self.numbers)
        return start


def _sums(groups: Groups) -> Numbers | None:
    """None where 64 bits may be too few."""
    numbers = groups.numbers
    if numbers.dtype == np.float64:
        return groups.folded(np.add, np.full(groups.count, -0.0))  # to which adding changes nothing
    if max(abs(int(numbers.min())), abs(int(numbers.max()))) * len(numbers) > _LARGEST:
        return None
    return groups.folded(np.add, np.zeros(groups.count, np.int64))


def _extremes(groups: Groups, ufunc: np.ufunc) -> Integers:
    """For each key the first row with the extreme number."""
    extremes = groups.folded(ufunc, groups.numbers[groups.first()])
    return groups.first(np.flatnonzero(groups.numbers == extremes[groups.codes]))


class ColumnFolding:
    """The column face of a built-in aggregation."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._field = folding if isinstance(folding, FieldFolding) else None
        self._codec: Any = None if self._field is None else codec_for(self._field.type_info)

    @staticmethod
    def of(folding: Folding | None) -> ColumnFolding | None:
        """None for functions of users, and for records without a declared type."""
        if not isinstance(folding, (CountFolding, FieldFolding)):
            return None
        columns = ColumnFolding(folding)
        return None if columns._field is not None and columns._codec is None else columns

    @property
    def merges_exactly(self) -> bool:
        """Whether accumulators may be merged in any order; sums of fractions may not, nor extremes of 0.0 and -0.0."""
        return self._field is None or self._field.mergeable

    # -- parts -------------------------------------------------------------------------------------------------

    def part(self, batch: Batch, orders: Integers) -> Part | None:
        """The records of a batch; None if they are not columns, or not such that folding them would be exact."""
        if self._field is None:
            arrays, names = [pa.array(np.ones(len(batch), np.int64))], []
        else:
            columns = batch.columns_of(self._codec)
            if columns is None or columns.schema.names[-1].startswith("$"):  # some row is None, or no insertion
                return None
            numbers = _numbers(batch.field(self._field.position))
            if numbers is None:
                return None
            arrays, names = [numbers, *columns.columns], columns.schema.names
        keys = batch.key_column
        if keys is None or keys.null_count:
            return None
        return Part.from_arrays([keys, pa.array(orders), *arrays], [*_NAMES, *names])

    def fold(self, parts: Sequence[Part]) -> tuple[Part, Codes | Integers] | None:
        """One row per key, in order of the keys' first rows, and for each row of the input the row that it went to."""
        whole = parts[0] if len(parts) == 1 else pa.concat_batches(parts)
        groups = Groups(whole)
        if groups.count == len(whole):
            return whole, groups.codes
        folded = self._folded(whole, groups)
        return None if folded is None else (folded, groups.codes)

    def fold_by(self, part: Part, codes: Integers, count: int) -> Part | None:
        """A row for each of so many groups, of which `codes` has the number for each row; None as for fold()."""
        groups = Groups(part, codes, count)
        return part.take(pa.array(groups.last())) if count == len(part) else self._folded(part, groups)

    def _folded(self, whole: Part, groups: Groups) -> Part | None:
        folding = self._folding
        if isinstance(folding, ExtremeFolding):
            extremes = _extremes(groups, np.minimum if folding.smallest else np.maximum)
            rows, numbers = extremes if folding.whole_record else groups.first(), groups.numbers[extremes]
        else:
            sums = _sums(groups)
            if sums is None:
                return None
            rows, numbers = groups.first(), sums
        return whole.take(pa.array(rows)).set_column(_NUMBER, _NAMES[_NUMBER], pa.array(numbers))

    @staticmethod
    def latest(parts: Sequence[Part]) -> Part:
        """Of each key the row in the last part that has it."""
        if len(parts) == 1:
            return parts[0]
        whole = pa.concat_batches(parts)
        return whole.take(pa.array(Groups(whole).last()))

    # -- to rows and back --------------------------------------------------------------------------------------

    def keys(self, part: Part) -> list[Any]:
        return keys_of_column(part.column(_KEY))

    def records(self, part: Part) -> list[Any]:
        """The records as they came; a part of a count has none."""
        return [None] * len(part) if self._field is None else self._codec.decode(_columns(part))

    def orders(self, part: Part) -> list[int]:
        return part.column(_ORDER).to_pylist()  # type: ignore[no-any-return]

    def entries(self, part: Part) -> Iterator[tuple[Any, Any]]:
        """Key and accumulator of each row."""
        numbers = part.column(_NUMBER).to_numpy().tolist()
        if self._field is None:
            return zip(self.keys(part), numbers, strict=True)
        accumulators = zip(self.records(part), numbers, self.orders(part), strict=True)
        return zip(self.keys(part), accumulators, strict=True)

    def from_entries(self, entries: Mapping[Any, Any], like: Part) -> Part | None:
        """The same accumulators as a part; None if columns like these cannot hold them exactly."""
        return self.from_lists(list(entries), list(entries.values()), like)

    def from_lists(self, keys: list[Any], accumulators: list[Any], like: Part) -> Part | None:
        """The same of keys that may come several times."""
        arrays: list[Any] = [column_of_keys(keys)]
        try:
            if self._field is None:
                arrays += [pa.array(np.zeros(len(keys), np.int64)), pa.array(accumulators, pa.int64())]
            else:
                records, fields, orders = zip(*accumulators, strict=True)
                arrays += [pa.array(orders, pa.int64()), _numbers(pa.array(fields, like.column(_NUMBER).type))]
                arrays += self._codec.encode(list(records)).columns
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return None
        if any(array is None for array in arrays) or [array.type for array in arrays] != like.schema.types:
            return None
        return Part.from_arrays(arrays, like.schema.names)

    # -- results -----------------------------------------------------------------------------------------------

    def results(self, part: Part, times: Integers) -> Batch:
        """The records that windows emit."""
        numbers = part.column(_NUMBER)
        if self._field is None:
            return Batch(numbers.to_pylist(), times.tolist())
        columns, position = _columns(part), self._field.position
        same_type = columns.schema.field(position).type == numbers.type
        columns = columns.set_column(position, columns.schema.names[position], numbers)
        if same_type:
            return Batch.of_columns(self._codec, columns, times)
        return Batch(self._codec.decode(columns), times.tolist())


def keys_in(part: Part) -> pa.Array:
    return part.column(_KEY)


def orders_in(part: Part) -> Integers:
    return part.column(_ORDER).to_numpy()  # type: ignore[no-any-return]


def _columns(part: Part) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(part.columns[_FIELDS:], part.schema.names[_FIELDS:])


def _numbers(column: pa.Array | None) -> pa.Array | None:
    """A field as 64-bit numbers; None when it has others."""
    if column is None or column.null_count:
        return None
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    if not pa.types.is_floating(column.type):
        return None
    numbers = column.to_numpy().astype(np.float64, copy=False)
    return None if np.isnan(numbers).any() else pa.array(numbers)  # NaN compares in its own way
