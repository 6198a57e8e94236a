"""TUMBLE, HOP and CUMULATE as table functions: each row once for each of its windows, with the window's columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_times import WindowClock, WindowParams, assigned, is_zoned, millis, property_columns


@dataclass(frozen=True)
class AssignmentParams:
    input_type: TableRowType
    window: WindowParams


class WindowAssignmentOperator(Operator):
    """Has no state; a row whose time is NULL belongs to no window."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: AssignmentParams = blueprint.params["windows"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._clock = WindowClock(self._params.window.zone)
        self._zoned = is_zoned(self._params.input_type.types[self._params.window.time_column])

    def process(self, batch: Batch, input_index: int) -> None:
        arrays, kinds = self._input.arrays(batch), batch.kinds
        if self._params.window.event_time:
            column = arrays[self._params.window.time_column]
            known = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            moments = millis(column)[known]
        else:
            known = np.arange(len(batch))
            moments = np.full(len(batch), self.context.clock(), np.int64)
        if not len(known):
            return
        times = self._clock.wall(moments)
        positions, starts, ends = assigned(times, self._params.window)
        rows = known[positions]
        places = pa.array(rows)
        properties = property_columns(starts, ends, self._clock, self._zoned)
        same = len(rows) == len(batch) and len(known) == len(batch) and self._params.window.kind == "TUMBLE"
        columns = [*(arrays if same else [array.take(places) for array in arrays]), *properties.values()]
        self.output.emit(self._output.batch(columns, None if kinds is None else kinds[rows], len(rows)))
