"""Python functions of users in expressions: columns become values, the function is called, values become a column."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.python_columns import from_python, to_python
from penstock.columns.kernels.series import as_series, from_series
from penstock.columns.typed.nodes import Typed, expression, walk
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowType
from penstock.common.types import Row

_AT_ONCE = 128  # asynchronous calls that wait together
_ROWS_AT_ONCE = 2_048  # values of so many rows stay in the processor's cache while they are made, used and freed


@dataclass(frozen=True, eq=False)
class PythonFunction:
    """What the program declared: `function` has eval(), or accumulate() and its kin. Equal is only the same one.

    kind: scalar, async, table, aggregate, table_aggregate. `pandas`: it takes and gives whole Series.
    """

    name: str
    kind: str
    function: Any
    result_types: tuple[DataType, ...]
    argument_types: tuple[DataType, ...] | None = None
    pandas: bool = False
    deterministic: bool = True
    takes_row: bool = False  # one argument, which is the whole row
    result_names: tuple[str, ...] = ()

    @property
    def result_type(self) -> DataType:
        return self.result_types[0]


@expression
class PythonCall(Typed):
    """A call in a row."""

    function: PythonFunction
    arguments: tuple[Typed, ...]

    def children(self) -> tuple[Typed, ...]:
        return self.arguments

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return replace(self, arguments=children)


def called(call: PythonCall, arguments: Sequence[pa.Array], count: int) -> pa.Array:
    """The column of results."""
    function = call.function
    evaluate = function.function.eval
    if function.pandas:
        types = [argument.data_type for argument in call.arguments]
        series = [as_series(column, kind) for column, kind in zip(arguments, types, strict=True)]
        return from_series(evaluate(*series), call.data_type, count, function.name)
    if function.kind == "async":
        values = _values(call, arguments)
        return _column(call, _waited_for(evaluate, list(zip(*values, strict=True)) or [()] * count))
    pieces = []
    for start in range(0, max(count, 1), _ROWS_AT_ONCE):
        values = _values(call, [column.slice(start, _ROWS_AT_ONCE) for column in arguments])
        here = min(count - start, _ROWS_AT_ONCE)
        pieces.append(_column(call, list(map(evaluate, *values)) if values else [evaluate() for _ in range(here)]))
    return pa.concat_arrays(pieces)


def _values(call: PythonCall, columns: Sequence[pa.Array]) -> list[list[Any]]:
    types = [argument.data_type for argument in call.arguments]
    return [argument_values(column, kind) for column, kind in zip(columns, types, strict=True)]


def _column(call: PythonCall, results: list[Any]) -> pa.Array:
    return from_python(results, call.data_type, f"The result of {call.function.name}")


def argument_values(column: pa.Array, data_type: DataType) -> list[Any]:
    """Values as functions get them: rows with the names of their fields."""
    values = to_python(column, data_type)
    if isinstance(data_type, RowType):
        names = list(data_type.names)
        return [None if row is None else Row._of(tuple(row), names) for row in values]
    return values


def _waited_for(evaluate: Any, rows: list[tuple[Any, ...]]) -> list[Any]:
    """In a thread of its own: this one may have a loop that runs, as in a notebook."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_awaited(evaluate, rows))).result()


async def _awaited(evaluate: Any, rows: list[tuple[Any, ...]]) -> list[Any]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(row: tuple[Any, ...]) -> Any:
        async with room:
            return await evaluate(*row)

    return list(await asyncio.gather(*(one(row) for row in rows)))


def functions_in(nodes: Iterable[Typed]) -> list[PythonFunction]:
    """The Python functions that expressions call, each once."""
    found = [part.function for node in nodes for part in walk(node) if isinstance(part, PythonCall)]
    return list(dict.fromkeys(found))
