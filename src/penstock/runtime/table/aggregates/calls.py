"""All aggregate calls of an operator: which function each is, and the rows that it sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.functions.registry import builtin
from penstock.columns.kernels.comparison import true_rows
from penstock.columns.kernels.datum import as_array, constant
from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Typed
from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import NotSupportedError
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates import contents, documents
from penstock.runtime.table.aggregates.bitmaps import set_outcomes
from penstock.runtime.table.aggregates.contents import Bag, ContentFunction, Pairs, Sequel
from penstock.runtime.table.aggregates.counted_distinct import CountedDistinct
from penstock.runtime.table.aggregates.distinct import Distinct
from penstock.runtime.table.aggregates.extremes import Boundary, Extreme
from penstock.runtime.table.aggregates.interface import AggregateFunction, CallRows, Running, Signs
from penstock.runtime.table.aggregates.numbers import Average, Count, Sum, Variance
from penstock.runtime.table.aggregates.offsets import Lag
from penstock.runtime.table.aggregates.python import PythonAggregate
from penstock.runtime.table.counted_values import RunValues
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slot_maps import MapShape
from penstock.runtime.table.slots import SlotField, SlotTable

_VARIANCES = {
    "stddevPop": (False, True),
    "stddevSamp": (True, True),
    "varPop": (False, False),
    "varSamp": (True, False),
}


class AggregateCalls:
    """The calls of an operator over one slot table. Arguments and filters are columns of the input, or constants.

    ``calls = AggregateCalls(nodes, retracting=False)`` and ``SlotTable(calls.fields, calls.maps)`` belong together.
    `retracting` says whether rows may also be taken back, for which some functions must remember more; `merging`,
    whether slots are ever merged, for which some can do less.
    """

    def __init__(self, calls: Sequence[Aggregate], retracting: bool, merging: bool = True) -> None:
        self.calls = tuple(calls)
        self._numbered: dict[Any, RunValues] = {}
        self._functions = [self._function(call, f"{place}.", retracting, merging) for place, call in enumerate(calls)]
        self.fields: list[SlotField] = [field for function in self._functions for field in function.fields]
        self.maps: list[MapShape] = [shape for function in self._functions for shape in function.maps]

    def _function(self, call: Aggregate, prefix: str, retracting: bool, merging: bool) -> AggregateFunction:
        types = [argument.data_type for argument in call.arguments]
        if merging or not call.distinct or not CountedDistinct.takes(types):
            return function_for(call, prefix, retracting)
        numbered = self._numbered.setdefault(call.arguments, RunValues())
        return CountedDistinct(prefix, function_for(replace(call, distinct=False), prefix, retracting), numbered)

    @property
    def user_functions(self) -> list[PythonFunction]:
        """Those that an operator has to open and close."""
        return functions_of(self.calls)

    def running(
        self, table: SlotTable, runs: Runs, columns: Sequence[pa.Array], signs: Signs | None, count: int
    ) -> list[Running]:
        """Takes the rows of a batch in; for each call the values before each run, and after each row."""
        found = [
            function.running(table, runs, _rows(call, columns, signs, count))
            for call, function in zip(self.calls, self._functions, strict=True)
        ]
        self._forget_batch()
        return found

    def accumulate(
        self, table: SlotTable, runs: Runs, columns: Sequence[pa.Array], signs: Signs | None, count: int
    ) -> None:
        """Takes the rows of a batch in."""
        for call, function in zip(self.calls, self._functions, strict=True):
            function.accumulate(table, runs, _rows(call, columns, signs, count))
        self._forget_batch()

    def _forget_batch(self) -> None:
        for values in self._numbered.values():
            values.forget()

    def values(self, table: SlotTable, slots: Integers) -> list[pa.Array]:
        """A column of values for each call."""
        return [function.value(table, slots) for function in self._functions]

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        """Adds what other slots have taken in; each slot is named at most once in `into`."""
        for function in self._functions:
            function.merge(table, into, other, sources)


def functions_of(calls: Sequence[Aggregate]) -> list[PythonFunction]:
    """The functions of users, each once."""
    options = (dict(call.options) for call in calls)
    return list(dict.fromkeys(found["python"] for found in options if "python" in found))


def _rows(call: Aggregate, columns: Sequence[pa.Array], signs: Signs | None, count: int) -> CallRows:
    if call.where is not None:
        seen = true_rows(argument_column(call.where, columns, count), count)
        signs = seen.astype(np.int8) if signs is None else np.where(seen, signs, np.int8(0))
    return CallRows([argument_column(argument, columns, count) for argument in call.arguments], signs, count)


def argument_column(node: Typed, columns: Sequence[pa.Array], count: int) -> pa.Array:
    if isinstance(node, InputRef):
        return columns[node.index]
    assert isinstance(node, Constant), "the plan computes arguments of aggregates below them"
    return as_array(constant(node.value, node.data_type), count)


# -- which function a call is ------------------------------------------------------------------------------------------


def function_for(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    python = dict(call.options).get("python")
    make = _FUNCTIONS.get(call.function) if python is None else _python
    if make is None:
        known = builtin(call.function)
        reason = known.missing if known is not None and known.missing else "there is no such aggregate function"
        raise NotSupportedError(f"{call.function} cannot be computed: {reason}.")
    function = make(call, prefix, retracting)
    types = [argument.data_type for argument in call.arguments]
    return Distinct(prefix, function, types) if call.distinct and call.arguments else function


Maker = Callable[[Aggregate, str, bool], AggregateFunction]


def _python(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    types = [argument.data_type for argument in call.arguments]
    return PythonAggregate(prefix, dict(call.options)["python"], types)


def _sum(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    return Sum(prefix, _type(call), call.data_type, zero=call.function == "sum0")


def _average(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    return Average(prefix, _type(call), call.data_type)


def _count(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    return Count(prefix, len(call.arguments))


def _variance(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    sample, root = _VARIANCES[call.function]
    return Variance(prefix, _type(call), call.data_type, sample, root)


def _extreme(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    largest = call.function == "max"
    if not retracting or dict(call.options).get("only_growing"):
        return Extreme(prefix, _type(call), largest)
    return _contents(call, prefix, Bag, contents.largest if largest else contents.smallest)


def _boundary(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    last = call.function == "last_value"
    if not retracting:
        return Boundary(prefix, _type(call), last)
    return _contents(call, prefix, Sequel, contents.last if last else contents.first)


def _array(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    keeps_nulls = dict(call.options).get("nulls") != "IGNORE"
    return _contents(call, prefix, Sequel, contents.listed, keeps_nulls)


def _json_object(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    outcome = documents.json_object(call.arguments[1].data_type, _absent(call, "NULL"))
    return _contents(call, prefix, Pairs, outcome)


def _json_array(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    return _contents(call, prefix, Sequel, documents.json_array(_type(call), _absent(call, "ABSENT")), True)


def _percentile(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    fractions = call.arguments[1]
    if not isinstance(fractions, Constant) or len(call.arguments) > 2:
        raise NotSupportedError("PERCENTILE takes a value and a constant fraction between 0 and 1.")
    return _contents(call, prefix, Bag, documents.percentile(fractions.value))


def _remembering(shape: Any, outcome: Callable[[Any], Any]) -> Maker:
    return lambda call, prefix, retracting: _contents(call, prefix, shape, outcome)


def _contents(
    call: Aggregate, prefix: str, shape: Any, outcome: Callable[[Any], Any], keeps_nulls: bool = False
) -> AggregateFunction:
    types = [argument.data_type for argument in call.arguments]
    return ContentFunction(prefix, types, call.data_type, shape, outcome, keeps_nulls)


def _lag(call: Aggregate, prefix: str, retracting: bool) -> AggregateFunction:
    given = [node.value for node in call.arguments[1:] if isinstance(node, Constant)]
    if len(given) < len(call.arguments) - 1:
        raise NotSupportedError("LAG takes a constant number of rows and a constant in place of a missing row.")
    offset = int(given[0]) if given else 1
    return Lag(prefix, _type(call), call.data_type, offset, given[1] if len(given) > 1 else None)


def _absent(call: Aggregate, default: str) -> bool:
    return str(dict(call.options).get("on_null", default)) == "ABSENT"


def _type(call: Aggregate) -> DataType:
    return call.arguments[0].data_type


_FUNCTIONS: dict[str, Maker] = {
    "count": _count,
    "sum": _sum,
    "sum0": _sum,
    "avg": _average,
    "max": _extreme,
    "min": _extreme,
    **dict.fromkeys(_VARIANCES, _variance),
    "first_value": _boundary,
    "last_value": _boundary,
    "lag": _lag,
    "collect": _remembering(Bag, contents.multiset),
    "ARRAY_AGG": _array,
    "listAgg": _remembering(Sequel, contents.joined),
    "PERCENTILE": _percentile,
    "approxCountDistinct": _remembering(Bag, contents.different),
    "singleValue": _remembering(Sequel, contents.single),
    **{name: _remembering(Bag, outcome) for name, outcome in set_outcomes().items()},
    "JSON_OBJECTAGG": _json_object,
    "JSON_ARRAYAGG": _json_array,
}
