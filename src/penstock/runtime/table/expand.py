"""Operators that make several rows of one: for grouping sets, and as often as a count says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class ExpandParams:
    """`sets` has the places in `keys` that each set keeps, `numbers` what the last column says of it."""

    input_type: TableRowType
    keys: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]


class ExpandOperator(Operator):
    """Each row once for each set: its columns, the keys with nulls where the set lacks them, the set's number."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: ExpandParams = blueprint.params["expand"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)

    def process(self, batch: Batch, input_index: int) -> None:
        sets, count = self._params.sets, len(batch)
        rows = np.repeat(np.arange(count), len(sets))
        taken = integers_as_column(rows)
        columns = [column.take(taken) for column in self._input.arrays(batch)]
        found = list(columns)
        for place, key in enumerate(self._params.keys):
            kept = np.tile(np.array([place in members for members in sets]), count)
            found.append(pc.if_else(pa.array(kept), columns[key], pa.scalar(None, columns[key].type)))
        found.append(integers_as_column(np.tile(np.array(self._params.numbers, np.int64), count)))
        kinds = batch.kinds
        self.output.emit(self._output.batch(found, None if kinds is None else kinds[rows], len(rows)))


@dataclass(frozen=True)
class ReplicationParams:
    input_type: TableRowType


class ReplicationOperator(Operator):
    """Each row as often as its last column says."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: ReplicationParams = blueprint.params["replication"]
        self._input, self._output = TableCodec(params.input_type), TableCodec(blueprint.output_type)

    def process(self, batch: Batch, input_index: int) -> None:
        *columns, times = self._input.arrays(batch)
        rows = np.repeat(np.arange(len(batch)), times.to_numpy(zero_copy_only=False))
        if not len(rows):
            return
        taken, kinds = integers_as_column(rows), batch.kinds
        found = [column.take(taken) for column in columns]
        self.output.emit(self._output.batch(found, None if kinds is None else kinds[rows], len(rows)))
