"""What a descriptor accepts, keeps and refuses."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.datastream.functions import AggregateFunction, ReduceFunction
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)


def add(a: int, b: int) -> int:
    return a + b


class Add(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Count(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


def test_descriptors_know_name_and_type() -> None:
    assert ValueStateDescriptor("v", Types.LONG()).get_name() == "v"
    assert ValueStateDescriptor("v", Types.LONG()).type_info == Types.LONG()
    assert ListStateDescriptor("l", Types.LONG()).type_info == Types.LIST(Types.LONG())
    assert MapStateDescriptor("m", Types.STRING(), Types.LONG()).type_info == Types.MAP(Types.STRING(), Types.LONG())


def test_no_type_is_pickled() -> None:
    assert ValueStateDescriptor("v", None).type_info == Types.PICKLED_BYTE_ARRAY()
    assert MapStateDescriptor("m", None, Types.LONG()).key_type_info == Types.PICKLED_BYTE_ARRAY()


@pytest.mark.parametrize("function", [add, Add(), lambda a, b: a + b])
def test_reducing_state_takes_a_function_or_a_callable(function: Any) -> None:
    descriptor = ReducingStateDescriptor("r", function, Types.LONG())
    assert isinstance(descriptor.get_reduce_function(), ReduceFunction)
    assert descriptor.get_reduce_function().reduce(1, 2) == 3


def test_descriptors_travel_to_workers() -> None:
    reducing = pickle.loads(pickle.dumps(ReducingStateDescriptor("r", add, Types.LONG())))
    aggregating = pickle.loads(pickle.dumps(AggregatingStateDescriptor("a", Count(), Types.LONG())))
    assert reducing.get_reduce_function().reduce(1, 2) == 3
    assert aggregating.get_agg_function().add("x", 4) == 5
    assert aggregating.get_name() == "a"


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_state_needs_a_name(name: Any) -> None:
    with pytest.raises(ProgramError, match="non-empty string"):
        ValueStateDescriptor(name, Types.LONG())


@pytest.mark.parametrize("type_info", [int, "LONG", [Types.LONG()], Types.LONG])
def test_a_type_is_a_type_information(type_info: Any) -> None:
    with pytest.raises(ProgramError, match=r"such as Types.LONG\(\)"):
        ValueStateDescriptor("v", type_info)


def test_wrong_functions_are_named() -> None:
    with pytest.raises(ProgramError, match=r"ReducingStateDescriptor 'r'.*expected a ReduceFunction or a callable"):
        ReducingStateDescriptor("r", 5, Types.LONG())  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=r"pass an instance: Count\(\)"):
        AggregatingStateDescriptor("a", Count, Types.LONG())  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="expected a AggregateFunction|expected an AggregateFunction"):
        AggregatingStateDescriptor("a", add, Types.LONG())  # type: ignore[arg-type]
