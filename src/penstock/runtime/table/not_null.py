"""Columns that a sink declares as NOT NULL: a row with null in one of them fails the job, or is dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.common.errors import JobExecutionError
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class NotNullParams:
    input_type: TableRowType
    columns: tuple[int, ...]
    drop: bool = False


class NotNullOperator(Operator):
    """Passes rows on that have values where the sink needs them."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: NotNullParams = blueprint.params["not_null"]
        self._codec = TableCodec(self._params.input_type)

    def process(self, batch: Batch, input_index: int) -> None:
        batch = batch.in_columns(self._codec)
        arrays = self._codec.arrays(batch)
        for column in self._params.columns:
            if not arrays[column].null_count:
                continue
            if not self._params.drop:
                raise JobExecutionError(
                    f"Column '{self._params.input_type.names[column]}' is NOT NULL, however, a null value is being"
                    " written into it. Filter such rows, or set 'table.exec.sink.not-null-enforcer' = 'DROP'."
                )
            mask: np.ndarray = arrays[column].is_valid().to_numpy(zero_copy_only=False)
            batch = batch.filter(mask)
            arrays = self._codec.arrays(batch)
        if len(batch):
            self.output.emit(batch)
