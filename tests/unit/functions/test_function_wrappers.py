"""Callables become function objects; what is neither is refused with the way out."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import pytest

from penstock.common.errors import ProgramError
from penstock.datastream.functions import (
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    as_function,
)


def double(value: int) -> int:
    return 2 * value


async def double_later(value: int) -> int:
    return 2 * value


class Doubler(MapFunction):
    def map(self, value: int) -> int:
        return 2 * value


class Multiplier:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, value: int) -> int:
        return self.factor * value

    def times(self, value: int) -> int:
        return self.factor * value


class NotCallable:
    def map(self, value: int) -> int:
        return value


@pytest.mark.parametrize(
    "given",
    [
        double,
        lambda value: 2 * value,
        Multiplier(2),
        Multiplier(2).times,
        functools.partial(lambda factor, value: factor * value, 2),
        Doubler(),
    ],
)
def test_everything_that_maps_becomes_a_map_function(given: Any) -> None:
    function = as_function(given, MapFunction)
    assert isinstance(function, MapFunction)
    assert function.map(21) == 42


def test_a_function_object_is_taken_as_it_is() -> None:
    doubler = Doubler()
    assert as_function(doubler, MapFunction) is doubler


def test_a_class_that_converts_is_a_callable_like_any_other() -> None:
    assert as_function(str, MapFunction).map(5) == "5"


def test_the_callable_itself_is_the_method() -> None:
    assert as_function(double, MapFunction).map is double
    copy = pickle.loads(pickle.dumps(as_function(double, MapFunction)))
    assert copy.map is double


@pytest.mark.parametrize(
    ("kind", "method", "arguments"),
    [
        (FlatMapFunction, "flat_map", (1,)),
        (FilterFunction, "filter", (1,)),
        (KeySelector, "get_key", (1,)),
        (ReduceFunction, "reduce", (1, 2)),
        (Partitioner, "partition", (1, 2)),
    ],
)
def test_each_kind_has_its_method(kind: type[Function], method: str, arguments: tuple[int, ...]) -> None:
    function = as_function(lambda *given: given, kind)
    assert isinstance(function, kind)
    assert getattr(function, method)(*arguments) == arguments


def test_a_class_instead_of_an_instance() -> None:
    with pytest.raises(ProgramError, match=r"map: .*got the class Doubler itself; pass an instance: Doubler\(\)"):
        as_function(Doubler, MapFunction, "map")


@pytest.mark.parametrize("given", [None, 5, "map", NotCallable()])
def test_what_is_neither_is_named(given: Any) -> None:
    with pytest.raises(ProgramError, match=rf"expected a MapFunction or a callable, got .*{type(given).__name__[:4]}"):
        as_function(given, MapFunction)


def test_a_function_of_another_kind_is_refused() -> None:
    with pytest.raises(ProgramError, match="expected a FilterFunction or a callable, got Doubler"):
        as_function(Doubler(), FilterFunction)


def test_coroutines_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"async function double_later.*AsyncDataStream"):
        as_function(double_later, MapFunction)


@pytest.mark.parametrize("kind", [CoMapFunction, ProcessFunction])
def test_kinds_with_several_methods_or_a_context_take_no_callable(kind: Any) -> None:
    with pytest.raises(ProgramError, match=f"expected a {kind.__name__}, got double"):
        as_function(double, kind)
