"""Aggregate functions of users that take whole Series, over frames: there is no accumulator but the rows.

A frame is a range of places in columns that are sorted already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.python_columns import from_python
from penstock.columns.kernels.series import as_series
from penstock.columns.typed.nodes import Aggregate
from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers


def series_function(call: Aggregate) -> PythonFunction | None:
    """The function, if the call is one of whole Series."""
    function: PythonFunction | None = dict(call.options).get("python")
    return function if function is not None and function.pandas else None


class SeriesFrames:
    """One call, with its arguments in the order of places."""

    def __init__(self, call: Aggregate, arguments: Sequence[pa.Array]) -> None:
        function = series_function(call)
        assert function is not None
        self._function, self._arguments = function, arguments
        self._types = [argument.data_type for argument in call.arguments]

    def each(self, low: Integers, high: Integers) -> pa.Array:
        """Frames that are Series of their own, as Flink has them on streams."""
        return self._values(low, high, self._series)

    def in_partitions(self, starts: Integers, low: Integers, high: Integers) -> pa.Array:
        """The frames of all places as parts of their partitions, as Flink has them in batch programs."""
        ends = [*starts[1:].tolist(), len(low)]
        found = []
        for start, end in zip(starts.tolist(), ends, strict=True):
            part = partial(_part, self._series(start, end))
            found.append(self._values(low[start:end] - start, high[start:end] - start, part))
        return pa.concat_arrays(found)

    def _series(self, begin: int, end: int) -> list[Any]:
        return _as_series([column.slice(begin, end - begin) for column in self._arguments], self._types)

    def _values(self, low: Integers, high: Integers, frame: Callable[[int, int], list[Any]]) -> pa.Array:
        values: list[Any] = []
        before: tuple[int, int] | None = None
        for here in zip(low.tolist(), high.tolist(), strict=True):
            # Rows of one time have one frame.
            values.append(values[-1] if here == before else _value(self._function, frame(*here)))
            before = here
        return from_python(values, self._function.result_type, f"The result of {self._function.name}")


def called_with(columns: Sequence[pa.Array], types: Sequence[DataType], function: PythonFunction) -> Any:
    """The value for columns as a whole."""
    return _value(function, _as_series(columns, types))


def _part(series: list[Any], begin: int, end: int) -> list[Any]:
    return [one.iloc[begin:end] for one in series]


def _as_series(columns: Sequence[pa.Array], types: Sequence[DataType]) -> list[Any]:
    return [as_series(column, kind) for column, kind in zip(columns, types, strict=True)]


def _value(function: PythonFunction, series: list[Any]) -> Any:
    """What the function gives, without NumPy; what pandas calls missing is NULL."""
    import pandas

    value = function.function.eval(*series)
    if isinstance(value, np.generic):
        value = value.item()
    if value is pandas.NaT or value is pandas.NA or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, float) and families.is_integer(function.result_type):
        if not value.is_integer():
            kind = function.result_type.as_summary_string()
            raise ValueFailure(f"The result of {function.name} is {kind}: {value!r} does not fit it.")
        return int(value)  # NULL among whole numbers made them floats
    return value.tolist() if isinstance(value, np.ndarray) else value
