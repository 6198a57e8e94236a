"""Plain Python callables as function objects, so that the runtime knows only one kind of function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar, cast

from penstock.common.errors import ProgramError
from penstock.functions.base import Function
from penstock.functions.element import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ReduceFunction,
)

__all__ = [
    "FilterFunctionWrapper",
    "FlatMapFunctionWrapper",
    "FunctionWrapper",
    "KeySelectorFunctionWrapper",
    "MapFunctionWrapper",
    "PartitionerFunctionWrapper",
    "ReduceFunctionWrapper",
    "as_function",
]

F = TypeVar("F", bound=Function)


class FunctionWrapper(Function):
    """Makes a callable a :class:`Function`.

    The callable itself becomes the instance's method (`wrapper.map is func`): no call in between per record.
    """

    _method: ClassVar[str | None] = None

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func
        if self._method is not None:
            setattr(self, self._method, func)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_describe(self._func)})"


class MapFunctionWrapper(FunctionWrapper, MapFunction):
    """A callable as a :class:`MapFunction`."""

    _method = "map"

    def map(self, value: Any) -> Any:
        return self._func(value)


class FlatMapFunctionWrapper(FunctionWrapper, FlatMapFunction):
    """A callable as a :class:`FlatMapFunction`."""

    _method = "flat_map"

    def flat_map(self, value: Any) -> Iterable[Any]:
        return cast(Iterable[Any], self._func(value))


class FilterFunctionWrapper(FunctionWrapper, FilterFunction):
    """A callable as a :class:`FilterFunction`."""

    _method = "filter"

    def filter(self, value: Any) -> bool:
        return cast(bool, self._func(value))


class ReduceFunctionWrapper(FunctionWrapper, ReduceFunction):
    """A callable as a :class:`ReduceFunction`."""

    _method = "reduce"

    def reduce(self, value1: Any, value2: Any) -> Any:
        return self._func(value1, value2)


class KeySelectorFunctionWrapper(FunctionWrapper, KeySelector):
    """A callable as a :class:`KeySelector`."""

    _method = "get_key"

    def get_key(self, value: Any) -> Any:
        return self._func(value)


class PartitionerFunctionWrapper(FunctionWrapper, Partitioner):
    """A callable as a :class:`Partitioner`."""

    _method = "partition"

    def partition(self, key: Any, num_partitions: int) -> int:
        return cast(int, self._func(key, num_partitions))


WRAPPERS: dict[type[Function], type[FunctionWrapper]] = {
    MapFunction: MapFunctionWrapper,
    FlatMapFunction: FlatMapFunctionWrapper,
    FilterFunction: FilterFunctionWrapper,
    ReduceFunction: ReduceFunctionWrapper,
    KeySelector: KeySelectorFunctionWrapper,
    Partitioner: PartitionerFunctionWrapper,
}


def as_function(given: Any, expected: Callable[..., F], operation: str | None = None) -> F:
    """Return ``given`` as an instance of ``expected``, wrapping a plain callable where that class allows it.

    Anything else is a :class:`ProgramError` that names what was given, what ``operation`` expects and, for
    the usual slips (a class instead of an instance, an ``async def``), the way out.
    """
    # Typed as a callable because mypy takes no abstract class for a type[F].
    kind = cast("type[F]", expected)
    if isinstance(given, kind):
        return given
    wrapper = WRAPPERS.get(kind)
    problem = _problem_with(given, kind, wrapper)
    if problem is not None:
        where = f"{operation}: " if operation else ""
        raise ProgramError(f"{where}{problem}")
    assert wrapper is not None
    return cast(F, wrapper(given))


def _problem_with(given: Any, expected: type[Function], wrapper: type[FunctionWrapper] | None) -> str | None:
    name = expected.__name__
    wanted = f"a {name}" if wrapper is None else f"a {name} or a callable"
    if isinstance(given, type) and issubclass(given, Function):
        return f"expected {wanted}, got the class {given.__name__} itself; pass an instance: {given.__name__}()"
    if wrapper is None or not callable(given):
        return f"expected {wanted}, got {_describe(given)}; subclass penstock.datastream.functions.{name}"
    if inspect.iscoroutinefunction(given):
        return f"expected {wanted}, got the async function {_describe(given)}; async I/O is AsyncDataStream"
    return None


def _describe(given: Any) -> str:
    """How an error names what the user passed."""
    if given is None:
        return "None"
    if isinstance(given, functools.partial):
        return f"partial of {_describe(given.func)}"
    if inspect.isroutine(given):
        return str(getattr(given, "__qualname__", given))
    if isinstance(given, type):
        return f"class {given.__qualname__}"
    text = repr(given)
    return f"{type(given).__qualname__} {text if len(text) <= 60 else text[:57] + '...'}"
