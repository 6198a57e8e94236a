"""Rows made of one row: by a table function of the user, or by the elements of arrays and maps (UNNEST)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session, as_array, from_plain, plain_values
from penstock.columns.kernels.python_columns import from_python
from penstock.columns.typed.evaluation import Rows, evaluate
from penstock.columns.typed.nodes import Typed
from penstock.columns.typed.python_call import PythonFunction, argument_values, functions_in
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import MapType, MultisetType, RowType
from penstock.common.errors import ProgramError
from penstock.common.types import Row
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.user_functions import UserFunctions


@dataclass(frozen=True)
class CorrelateParams:
    """`arguments` are over the input; without a function they are collections whose elements become rows.

    `outer`: a row of which nothing is made stays, with nulls.
    """

    input_type: TableRowType
    arguments: tuple[Typed, ...]
    function: PythonFunction | None
    result_types: tuple[DataType, ...]
    outer: bool
    ordinality: bool
    session: Session


class CorrelateOperator(Operator):
    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: CorrelateParams = blueprint.params["correlate"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        called = [] if self._params.function is None else [self._params.function]
        self._functions = UserFunctions([*called, *functions_in(self._params.arguments)], context)

    def open(self) -> None:
        self._functions.open()

    def close(self) -> None:
        self._functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        columns, count = self._input.arrays(batch), len(batch)
        rows = Rows(columns, count, session_at(self._params.session, self.context.clock()))
        arguments = [as_array(evaluate(node, rows), count) for node in self._params.arguments]
        made = self._called(arguments, count) if self._params.function is not None else self._elements(arguments)
        width = len(self._params.result_types)
        if self._params.outer:
            made = [found or [(None,) * width] for found in made]
        counts = np.fromiter(map(len, made), np.int64, count)
        if not counts.any():
            return
        causes = np.repeat(np.arange(count), counts)
        taken = integers_as_column(causes)
        found = [column.take(taken) for column in columns] + self._results([row for some in made for row in some])
        kinds = batch.kinds
        self.output.emit(self._output.batch(found, None if kinds is None else kinds[causes], len(causes)))

    def _results(self, rows: list[tuple[Any, ...]]) -> list[pa.Array]:
        cells = zip(*rows, strict=True)
        if self._params.function is None:
            return [from_plain(cell, kind) for cell, kind in zip(cells, self._params.result_types, strict=True)]
        name = self._params.function.name
        return [
            from_python(cell, kind, f"A result of {name}")
            for cell, kind in zip(cells, self._params.result_types, strict=True)
        ]

    # -- functions ---------------------------------------------------------------------------------------------

    def _called(self, arguments: Sequence[pa.Array], count: int) -> list[list[tuple[Any, ...]]]:
        function = self._params.function
        assert function is not None
        types = [argument.data_type for argument in self._params.arguments]
        values = [argument_values(column, kind) for column, kind in zip(arguments, types, strict=True)]
        calls = zip(*values, strict=True) if values else (() for _ in range(count))
        evaluate = function.function.eval
        return [self._rows_of(evaluate(*row), function.name) for row in calls]

    def _rows_of(self, given: Any, name: str) -> list[tuple[Any, ...]]:
        """What a table function returned: nothing, one row, or several; a row of one column may be the bare value."""
        if given is None:
            return []
        if isinstance(given, (tuple, Row, str)) or not hasattr(given, "__iter__"):
            given = [given]
        width = len(self._params.result_types)
        rows = [tuple(row) if isinstance(row, (tuple, Row, list)) and width > 1 else row for row in given]
        rows = [row if isinstance(row, tuple) else (next(iter(row)) if isinstance(row, Row) else row,) for row in rows]
        wrong = next((row for row in rows if len(row) != width), None)
        if wrong is not None:
            raise ProgramError(f"{name} was declared with {width} result types, but gave {wrong!r}.")
        return rows

    # -- collections -------------------------------------------------------------------------------------------

    def _elements(self, arguments: Sequence[pa.Array]) -> list[list[tuple[Any, ...]]]:
        lists = [
            [_rows_in(value, node.data_type) for value in plain_values(column, node.data_type)]
            for column, node in zip(arguments, self._params.arguments, strict=True)
        ]
        found = [_side_by_side(parts) for parts in zip(*lists, strict=True)]
        if self._params.ordinality:
            found = [[(*row, number) for number, row in enumerate(rows, 1)] for rows in found]
        return found


def _rows_in(value: Any, data_type: DataType) -> list[tuple[Any, ...]]:
    if value is None:
        return []
    if isinstance(data_type, MapType):
        return list(value.items())
    if isinstance(data_type, MultisetType):
        value = [item for item, count in value.items() for _ in range(count)]
    if isinstance(getattr(data_type, "element_type", None), RowType):
        return [tuple(row) for row in value if row is not None]  # as in Flink, where a row that is null is none
    return [(item,) for item in value]


def _side_by_side(parts: Sequence[list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    if len(parts) == 1:
        return parts[0]
    widths = [len(rows[0]) if rows else 1 for rows in parts]
    longest = max(map(len, parts))
    padded = [rows + [(None,) * width] * (longest - len(rows)) for rows, width in zip(parts, widths, strict=True)]
    return [tuple(cell for row in rows for cell in row) for rows in zip(*padded, strict=True)]
