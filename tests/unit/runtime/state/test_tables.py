"""Keyed state equals a plain dictionary, wherever the epochs are cut and whichever snapshots it comes back from."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.errors import ProgramError
from penstock.datastream import AggregateFunction, ReduceFunction
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.state.backend import KeyedStateBackend


class Sum(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


VALUE = ValueStateDescriptor("value", Types.INT())
LIST = ListStateDescriptor("list", Types.INT())
MAP = MapStateDescriptor("map", Types.STRING(), Types.INT())
REDUCING = ReducingStateDescriptor("reducing", Sum(), Types.INT())
AGGREGATING = AggregatingStateDescriptor("aggregating", Mean(), Types.PICKLED_BYTE_ARRAY())

keys = st.sampled_from(["a", "b", ("c", 1), None])
numbers = st.integers(0, 9)
names = st.sampled_from("xyz")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("value.update"), keys, numbers),
        st.tuples(st.just("value.clear"), keys, st.none()),
        st.tuples(st.just("list.add"), keys, numbers),
        st.tuples(st.just("list.add_all"), keys, st.lists(numbers, max_size=3)),
        st.tuples(st.just("list.update"), keys, st.lists(numbers, max_size=3)),
        st.tuples(st.just("list.clear"), keys, st.none()),
        st.tuples(st.just("map.put"), keys, st.tuples(names, numbers)),
        st.tuples(st.just("map.remove"), keys, names),
        st.tuples(st.just("map.clear"), keys, st.none()),
        st.tuples(st.just("reducing.add"), keys, numbers),
        st.tuples(st.just("reducing.clear"), keys, st.none()),
        st.tuples(st.just("aggregating.add"), keys, numbers),
        st.tuples(st.just("aggregating.clear"), keys, st.none()),
        st.tuples(st.sampled_from(["epoch", "move", "compact"]), st.none(), st.none()),
    ),
    max_size=80,
)


class States:
    """The five kinds, on a backend that can be replaced by one that knows only the deltas."""

    def __init__(self) -> None:
        self.log: list[bytes] = []
        self._open()

    def _open(self) -> None:
        self.backend = KeyedStateBackend(lambda: 0)
        self.by_name = {d.get_name(): self.backend.state(d) for d in (VALUE, LIST, MAP, REDUCING, AGGREGATING)}

    def end_epoch(self, full: bool) -> None:
        delta: Any = self.backend.take_delta()
        if full:
            delta = self.backend.full_delta()
            self.log.clear()
        if delta is not None:
            self.log.append(pickle.dumps(delta, 5))

    def move(self) -> None:
        self._open()
        for delta in self.log:
            self.backend.apply_delta(pickle.loads(delta))

    def of(self, key: Any) -> dict[str, Any]:
        self.backend.scope.key = key
        state = self.by_name
        return {
            "value": state["value"].value(),
            "list": list(state["list"].get()),
            "map": dict(state["map"].items()),
            "map.keys": sorted(state["map"].keys()),
            "map.empty": state["map"].is_empty(),
            "reducing": state["reducing"].get(),
            "aggregating": state["aggregating"].get(),
        }


class Model:
    """The same with plain dictionaries."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[Any, Any]] = {n: {} for n in ("value", "list", "map", "reducing", "aggregating")}

    def apply(self, what: str, key: Any, argument: Any) -> None:
        name, operation = what.split(".")
        table = self.tables[name]
        match name, operation:
            case _, "clear":
                table.pop(key, None)
            case "value", _:
                table[key] = argument
            case "list", "update":
                table[key] = list(argument)
            case "list", _:
                table[key] = table.get(key, []) + (argument if operation == "add_all" else [argument])
            case "map", "put":
                table.setdefault(key, {})[argument[0]] = argument[1]
            case "map", "remove":
                table.get(key, {}).pop(argument, None)
            case _:
                table[key] = table.get(key, []) + [argument]

    def of(self, key: Any) -> dict[str, Any]:
        entries = self.tables["map"].get(key, {})
        added, averaged = self.tables["reducing"].get(key), self.tables["aggregating"].get(key)
        return {
            "value": self.tables["value"].get(key),
            "list": self.tables["list"].get(key, []),
            "map": entries,
            "map.keys": sorted(entries),
            "map.empty": not entries,
            "reducing": None if added is None else sum(added),
            "aggregating": None if averaged is None else sum(averaged) / len(averaged),
        }


@given(steps)
def test_any_operations_with_any_cuts(operations: list[tuple[str, Any, Any]]) -> None:
    states, model = States(), Model()
    for what, key, argument in operations:
        if "." not in what:
            states.end_epoch(full=what == "compact")
            if what != "epoch":
                states.move()
            continue
        states.backend.scope.key = key
        name, operation = what.split(".")
        call = getattr(states.by_name[name], operation)
        if argument is None:
            call()
        elif what == "map.put":
            call(*argument)
        else:
            call(argument)
        model.apply(what, key, argument)
        assert states.of(key) == model.of(key)
    states.end_epoch(full=False)
    states.move()
    for key in ("a", "b", ("c", 1), None):
        assert states.of(key) == model.of(key)


def test_a_delta_holds_what_changed_and_nothing_else() -> None:
    backend = KeyedStateBackend(lambda: 0)
    value, entries = backend.state(VALUE), backend.state(MAP)
    for key in range(1000):
        backend.scope.key = key
        value.update(key)
        entries.put("x", key)
    backend.take_delta()
    backend.scope.key = 7
    value.update(8)
    delta = backend.take_delta()
    assert delta is not None and list(delta) == ["value"]
    assert delta["value"][1] == {7: 8}
    assert backend.take_delta() is None


def test_results_of_reads_do_not_change_behind_the_readers_back() -> None:
    backend = KeyedStateBackend(lambda: 0)
    state = backend.state(LIST)
    state.add_all([1, 2])
    for item in state.get():
        state.add(item + 10)
    assert list(state.get()) == [1, 2, 11, 12]


def test_one_name_for_two_kinds_is_refused() -> None:
    backend = KeyedStateBackend(lambda: 0)
    backend.state(VALUE)
    with pytest.raises(ProgramError, match="'value' is used for a ValueStateDescriptor and for a ListStateDescriptor"):
        backend.state(ListStateDescriptor("value", Types.INT()))


def test_update_with_none_clears() -> None:
    backend = KeyedStateBackend(lambda: 0)
    state = backend.state(VALUE)
    state.update(1)
    state.update(None)
    assert state.value() is None
    assert backend.take_delta() is None
