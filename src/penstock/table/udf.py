"""Python functions on tables: udf, udtf, udaf and udtaf, as decorators or as calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowType
from penstock.columns.typesystem.type_text import parse_type
from penstock.common.errors import ProgramError
from penstock.functions.table_function import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)

if TYPE_CHECKING:
    from penstock.table.expression import Expression

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

_FUNC_TYPES = ("general", "pandas")


class DelegatingScalarFunction(ScalarFunction):
    """A plain callable as a function object."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self.eval = func  # type: ignore[method-assign]

    def eval(self, *args: Any) -> Any:  # pragma: no cover - replaced above
        return self.func(*args)


class PandasAggregateFunctionWrapper:
    """An aggregate function of whole Series, which may be written as an AggregateFunction of them."""

    def __init__(self, func: AggregateFunction[Any, Any]) -> None:
        self.func = func

    def open(self, function_context: FunctionContext) -> None:
        self.func.open(function_context)

    def eval(self, *args: Any) -> Any:
        accumulator = self.func.create_accumulator()
        self.func.accumulate(accumulator, *args)
        return self.func.get_value(accumulator)

    def close(self) -> None:
        self.func.close()


class UserDefinedFunctionWrapper:
    """A declared function: called with expressions it is an expression, registered it has a name in SQL."""

    _kind = "scalar"

    def __init__(
        self, func: Any, input_types: Any, func_type: str, deterministic: bool | None = None, name: str | None = None
    ) -> None:
        if inspect.isclass(func) or not (callable(func) or isinstance(func, UserDefinedFunction)):
            raise TypeError(f"Invalid function: not a function or callable (__call__ is not defined): {type(func)}")
        if func_type not in _FUNC_TYPES:
            raise ValueError(f"The func_type must be one of 'general, pandas', got {func_type}.")
        self._func = func
        self._input_types = None if input_types is None else _types(input_types)
        self._func_type = func_type
        self._name = name or _name_of(func)
        own = func.is_deterministic() if isinstance(func, UserDefinedFunction) else True
        if deterministic is not None and isinstance(func, UserDefinedFunction) and deterministic != own:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {own}")
        self._deterministic = own if deterministic is None else deterministic
        self._alias_names: tuple[str, ...] = ()
        self._takes_row = False
        self._made: PythonFunction | None = None

    def __call__(self, *args: Any) -> Expression[Any]:
        from penstock.table import expressions

        found = expressions.call(self, *args)
        return found.alias(*self._alias_names) if self._alias_names else found

    def alias(self, *alias_names: str) -> UserDefinedFunctionWrapper:
        self._alias_names = alias_names
        return self

    def _set_takes_row_as_input(self) -> UserDefinedFunctionWrapper:
        self._takes_row, self._made = True, None
        return self

    def _python_function(self) -> PythonFunction:
        if self._made is None:
            self._made = PythonFunction(
                self._name,
                self._kind,
                self._callable(),
                tuple(self._results()),
                None if self._takes_row or self._input_types is None else tuple(self._input_types),
                self._func_type == "pandas",
                self._deterministic,
                self._takes_row,
                self._alias_names,
            )
        return self._made

    def _callable(self) -> Any:
        return self._func if isinstance(self._func, UserDefinedFunction) else DelegatingScalarFunction(self._func)

    def _results(self) -> Sequence[DataType]:
        raise NotImplementedError


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: DataType | str,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        self._result_type = _type(result_type)

    def _results(self) -> Sequence[DataType]:
        return [self._result_type]


class UserDefinedAsyncScalarFunctionWrapper(UserDefinedScalarFunctionWrapper):
    _kind = "async"


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    _kind = "table"

    def __init__(
        self, func: Any, input_types: Any, result_types: Any, deterministic: bool | None = None, name: str | None = None
    ) -> None:
        super().__init__(func, input_types, "general", deterministic, name)
        self._result_types = _types(result_types)

    def _results(self) -> Sequence[DataType]:
        [*types] = self._result_types
        if len(types) == 1 and isinstance(types[0], RowType):
            self._alias_names = self._alias_names or tuple(types[0].names)
            return list(types[0].children())
        return types


class UserDefinedAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    _kind = "aggregate"

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: Any,
        accumulator_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
        is_table_aggregate: bool = False,
    ) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        if accumulator_type is None and func_type == "general" and isinstance(func, ImperativeAggregateFunction):
            accumulator_type = func.get_accumulator_type()
        if result_type is None and isinstance(func, ImperativeAggregateFunction):
            result_type = func.get_result_type()
        self._result_type = _type(result_type)
        self._accumulator_type = None if accumulator_type is None else _type(accumulator_type)
        if is_table_aggregate:
            self._kind = "table_aggregate"

    def _callable(self) -> Any:
        if self._func_type == "pandas" and isinstance(self._func, AggregateFunction):
            return PandasAggregateFunctionWrapper(self._func)
        if not isinstance(self._func, ImperativeAggregateFunction) and self._func_type == "general":
            raise TypeError(f"{self._name}: a general aggregate function is an instance of AggregateFunction.")
        return super()._callable()

    def _results(self) -> Sequence[DataType]:
        return [self._result_type]


def udf(
    f: Any = None,
    input_types: Any = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """A function on values::

    @udf(result_type=DataTypes.BIGINT())
    def add(i, j):
        return i + j

    table.select(add(col("a"), col("b")))
    """
    if f is None:
        return functools.partial(
            udf, input_types=input_types, result_type=result_type, deterministic=deterministic, name=name,
            func_type=func_type,
        )  # fmt: skip
    _require(result_type, "udf", "result_type")
    made = f() if inspect.isclass(f) else f
    evaluate = made.eval if isinstance(made, UserDefinedFunction) and hasattr(made, "eval") else made
    asynchronous = isinstance(made, AsyncScalarFunction) or inspect.iscoroutinefunction(evaluate)
    wrapper = UserDefinedAsyncScalarFunctionWrapper if asynchronous else UserDefinedScalarFunctionWrapper
    return wrapper(made, input_types, result_type, func_type, deterministic, name)  # type: ignore[arg-type]


def udtf(
    f: Any = None,
    input_types: Any = None,
    result_types: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """A function that gives rows::

    @udtf(result_types=["STRING", "INT"])
    def words(line):
        for word in line.split():
            yield word, len(word)
    """
    if f is None:
        return functools.partial(
            udtf, input_types=input_types, result_types=result_types, deterministic=deterministic, name=name
        )
    _require(result_types, "udtf", "result_types")
    made = f() if inspect.isclass(f) else f
    return UserDefinedTableFunctionWrapper(made, input_types, result_types, deterministic, name)


def udaf(
    f: Any = None,
    input_types: Any = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """A function on groups: an AggregateFunction, or with func_type="pandas" a function of Series."""
    return _aggregate(udaf, f, input_types, result_type, accumulator_type, deterministic, name, func_type, False)


def udtaf(
    f: Any = None,
    input_types: Any = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """A function on groups that gives rows: a TableAggregateFunction."""
    if func_type != "general":
        raise ValueError(f"The func_type must be one of 'general' for table aggregates, got {func_type}.")
    return _aggregate(udtaf, f, input_types, result_type, accumulator_type, deterministic, name, func_type, True)


def _aggregate(
    again: Any, f: Any, input_types: Any, result: Any, accumulator: Any, deterministic: bool | None, name: str | None,
    func_type: str, table: bool,
) -> Any:  # fmt: skip
    if f is None:
        return functools.partial(
            again, input_types=input_types, result_type=result, accumulator_type=accumulator,
            deterministic=deterministic, name=name, func_type=func_type,
        )  # fmt: skip
    made = f() if inspect.isclass(f) else f
    return UserDefinedAggregateFunctionWrapper(
        made, input_types, result, accumulator, func_type, deterministic, name, table
    )


def _require(value: Any, function: str, parameter: str) -> None:
    if value is None:
        raise ProgramError(f"{function}() needs {parameter}: the type of what the function gives.")


def _name_of(func: Any) -> str:
    return str(getattr(func, "__name__", None) or type(func).__name__)


def _type(given: Any) -> DataType:
    if isinstance(given, str):
        return parse_type(given)
    if not isinstance(given, DataType):
        raise TypeError(f"Invalid type: a DataType or its text is wanted, not {given!r}")
    return given


def _types(given: Any) -> list[DataType]:
    if isinstance(given, (list, tuple)):
        return [_type(one) for one in given]
    return [_type(given)]
