"""flat_aggregate(): for each group the rows that a table aggregate function of the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.python_columns import from_python
from penstock.columns.typed.python_call import PythonFunction, argument_values
from penstock.common.errors import ProgramError
from penstock.common.types import Row
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.change_rows import DELETE, INSERT, signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.expiry import Expiry
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.slots import SlotField
from penstock.runtime.table.user_functions import UserFunctions

_ACCUMULATOR, _RECORDS = "accumulator", "records"


@dataclass(frozen=True)
class TableAggregateParams:
    input_type: TableRowType
    keys: tuple[int, ...]
    function: PythonFunction
    arguments: tuple[int, ...]
    retracting: bool = False
    ttl: int | None = None


class TableAggregateOperator(Operator):
    """Row by row: what the group gave before is deleted, what it gives now is inserted."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: TableAggregateParams = blueprint.params["aggregate"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._types = blueprint.output_type.types[len(self._params.keys) :]
        self._functions = UserFunctions([self._params.function], context)
        self._expiry = Expiry(self._params.ttl, context.clock)
        fields = [SlotField(_ACCUMULATOR, object, None), SlotField(_RECORDS, np.int64, 0), *self._expiry.fields]
        self._table = slot_table(self, "_groups", fields)

    def open(self) -> None:
        self._functions.open()

    def close(self) -> None:
        self._functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        columns, table, function = self._input.arrays(batch), self._table, self._params.function.function
        placed = table.place(batch.key_column)
        self._expiry.forget(table, placed.slots)
        accumulators, records = table.column(_ACCUMULATOR), table.column(_RECORDS)
        types = self._params.input_type.types
        values = [argument_values(columns[place], types[place]) for place in self._params.arguments]
        signs = signs_of(batch.kinds)
        causes: list[int] = []
        kinds: list[int] = []
        rows: list[tuple[Any, ...]] = []

        def emit(place: int, kind: int, accumulator: Any) -> None:
            for row in function.emit_value(accumulator) or ():
                causes.append(place)
                kinds.append(kind)
                rows.append(self._row(row))

        for place, slot in enumerate(placed.by_row.tolist()):
            sign = 1 if signs is None else int(signs[place])
            accumulator = accumulators[slot]
            if accumulator is None:
                if sign < 0:
                    continue
                accumulator = accumulators[slot] = function.create_accumulator()
            else:
                emit(place, DELETE, accumulator)
            (function.accumulate if sign > 0 else function.retract)(accumulator, *(one[place] for one in values))
            records[slot] += sign
            if self._params.retracting and not records[slot]:
                accumulators[slot] = None
            else:
                emit(place, INSERT, accumulator)
        self._settle(placed.slots)
        if rows:
            self._emit(columns, causes, kinds, rows)

    def _settle(self, slots: Any) -> None:
        gone = np.array([value is None for value in self._table.column(_ACCUMULATOR)[slots]], np.bool_)
        self._table.mark(slots[~gone])
        self._expiry.touch(self._table, slots[~gone])
        self._table.remove_slots(slots[gone])

    def _row(self, row: Any) -> tuple[Any, ...]:
        found = tuple(row) if isinstance(row, (Row, tuple)) else (row,)
        if len(found) != len(self._types):
            name = self._params.function.name
            raise ProgramError(f"{name} was declared with {len(self._types)} columns, but gave {row!r}.")
        return found

    def _emit(self, columns: list[pa.Array], causes: list[int], kinds: list[int], rows: list[tuple[Any, ...]]) -> None:
        taken = integers_as_column(np.array(causes, np.int64))
        name = f"A result of {self._params.function.name}"
        cells = zip(*rows, strict=True)
        found = [from_python(cell, kind, name) for cell, kind in zip(cells, self._types, strict=True)]
        emitted = np.array(kinds, np.int8)
        keys = [columns[place].take(taken) for place in self._params.keys]
        self.output.emit(self._output.batch([*keys, *found], emitted if emitted.any() else None, len(rows)))

    def end_epoch(self) -> None:
        self._expiry.sweep(self._table)
        super().end_epoch()
