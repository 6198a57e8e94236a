"""Windows that count rows: aggregates of so many rows of a key, told when the last of them has come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import Aggregate
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField

_COUNT, _WINDOWS = "rows", "_windows"


@dataclass(frozen=True)
class RowWindowParams:
    """The windows of a key have `size` rows each; the next one begins `slide` rows later."""

    input_type: TableRowType
    keys: tuple[int, ...]
    calls: tuple[Aggregate, ...]
    size: int
    slide: int


class RowWindowOperator(AggregatingOperator):
    """The keys and the values of the calls. A window that never gets its last row is never told, as in Flink."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: RowWindowParams = blueprint.params["aggregate"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._calls = AggregateCalls(self._params.calls, retracting=False)
        self._counts = slot_table(self, "_counts", [SlotField(_COUNT, np.int64, 0)])
        self._windows = slot_table(self, _WINDOWS, self._calls.fields, self._calls.maps, KeyLayout.KEY_FIRST)

    def key_layout(self, table: str) -> KeyLayout:
        return KeyLayout.KEY_FIRST if table == _WINDOWS else KeyLayout.KEY

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        arrays = self._input.arrays(batch)
        numbers = self._numbers(batch.key_column)
        rows, windows = self._in_windows(numbers)
        if not len(rows):
            return
        chosen = pa.array(rows)
        arrays = [array.take(chosen) for array in arrays]
        keys = pa.StructArray.from_arrays([batch.key_column.take(chosen), pa.array(windows)], ["f0", "f1"])
        placed = self._windows.place(keys)
        runs = Runs.by_slot(placed.codes, placed.slots, ~self._windows.alive[placed.slots])
        self._calls.accumulate(self._windows, runs, arrays, None, len(rows))
        self._windows.mark(placed.slots)
        last = np.flatnonzero(numbers[rows] == windows * self._params.slide + self._params.size - 1)
        if not len(last):
            return
        over = placed.by_row[last]  # no further row comes into these
        columns = [arrays[place].take(pa.array(last)) for place in self._params.keys]
        columns += self._calls.values(self._windows, over)
        self._windows.remove_slots(over)
        self.output.emit(self._output.batch(columns, rows=len(last)))

    def _numbers(self, keys: pa.Array) -> Integers:
        """The number of each row among those of its key, from 0."""
        placed = self._counts.place(keys)
        runs = Runs.by_slot(placed.codes, placed.slots, ~self._counts.alive[placed.slots])
        begins = runs.begins(self._counts.column(_COUNT), 0)
        numbers = np.empty(len(keys), np.int64)
        numbers[runs.order] = np.arange(len(keys)) + np.repeat(begins - runs.starts, runs.counts)
        self._counts.column(_COUNT)[placed.slots] = begins + runs.counts
        self._counts.mark(placed.slots)
        return numbers

    def _in_windows(self, numbers: Integers) -> tuple[Integers, Integers]:
        """For each row and each window that it is in: the row, and the window's number."""
        size, slide = self._params.size, self._params.slide
        first = np.maximum(-(-(numbers - size + 1) // slide), 0)
        counts = np.maximum(numbers // slide - first + 1, 0)
        rows = np.repeat(np.arange(len(numbers)), counts)
        windows = first[rows] + np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
        return rows, windows
