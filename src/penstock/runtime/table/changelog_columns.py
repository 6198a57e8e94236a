"""Kinds of changes as a column, and a column as kinds of changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.common.errors import JobExecutionError
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class ToChangelogParams:
    """What each kind is called; None: such changes are left out."""

    input_type: TableRowType
    codes: tuple[str | None, ...]


class ToChangelogOperator(Operator):
    """The kind, and the columns of the input."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: ToChangelogParams = blueprint.params["changelog"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._codes = pa.array(self._params.codes, pa.string())

    def process(self, batch: Batch, input_index: int) -> None:
        kinds = np.zeros(len(batch), np.int8) if batch.kinds is None else np.asarray(batch.kinds, np.int8)
        shown = self._codes.take(pa.array(kinds))
        columns = [shown, *self._input.arrays(batch)]
        if shown.null_count:
            kept = shown.is_valid()
            columns = [column.filter(kept) for column in columns]
        if len(columns[0]):
            self.output.emit(self._output.batch(columns, rows=len(columns[0])))


@dataclass(frozen=True)
class FromChangelogParams:
    """`codes` are texts of the column with the number of the kind that each means."""

    input_type: TableRowType
    column: int
    codes: tuple[tuple[str, int], ...]


class FromChangelogOperator(Operator):
    """The columns of the input without that of the kind."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: FromChangelogParams = blueprint.params["changelog"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._codes = pa.array([code for code, _ in self._params.codes], pa.string())
        self._kinds = np.array([kind for _, kind in self._params.codes], np.int8)

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._input.arrays(batch)
        column = arrays.pop(self._params.column)
        places = pc.index_in(column, self._codes)
        if places.null_count:
            wrong = column.filter(places.is_null())[0].as_py()
            name = self._params.input_type.names[self._params.column]
            known = ", ".join(repr(code) for code, _ in self._params.codes)
            raise JobExecutionError(
                f"FROM_CHANGELOG: {wrong!r} in the column {name!r} is no change that op_mapping names ({known})."
            )
        kinds = self._kinds[places.to_numpy()]
        self.output.emit(self._output.batch(arrays, kinds if kinds.any() else None, len(kinds)))
