"""LAG: the value of a row some rows before the current one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.typesystem.base import DataType
from penstock.runtime.table.aggregates.columnar import ColumnarFunction, Frame
from penstock.runtime.table.aggregates.interface import CallRows
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField


class Lag(ColumnarFunction):
    """Keeps as many of the last values as it has to look back, and the current one."""

    def __init__(self, prefix: str, value_type: DataType, result_type: DataType, offset: int, default: Any) -> None:
        super().__init__([SlotField(f"{prefix}last", object, None)])
        self._value_type, self._result_type = value_type, result_type
        self._offset, self._default = offset, default

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        values = plain_values(rows.arguments[0], self._value_type)
        places, kept = runs.order.tolist(), self._offset + 1
        after = np.empty(len(places), object)
        for state, start, count in zip(begins[0].tolist(), runs.starts.tolist(), runs.counts.tolist(), strict=True):
            for place in range(start, start + count):
                state = (*(state or ()), values[places[place]])[-kept:]
                after[place] = state
        return [after]

    def result(self, frame: Frame) -> pa.Array:
        offset, default = self._offset, self._default
        found = [state[-1 - offset] if state and len(state) > offset else None for state in frame[0].tolist()]
        # As in Flink the default also stands for a row whose value is null.
        return from_plain([default if value is None else value for value in found], self._result_type)
