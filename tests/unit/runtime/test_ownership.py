"""What a function keeps and changes later does not change what it has given away."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Row, Types
from penstock.common.typeinfo import TypeInformation
from penstock.datastream import CoFlatMapFunction, DataStream, KeyedProcessFunction, MapFunction, ProcessFunction
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import CountTrigger, GlobalWindows
from penstock.runtime.ownership import can_change, copied, given

LISTS = Types.LIST(Types.INT())


class Point(NamedTuple):
    x: int
    tags: Any = None


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Basket:
    items: list[int]


@dataclasses.dataclass
class Note:
    text: str


@dataclasses.dataclass(slots=True)
class Slotted:
    items: list[int]


@pytest.mark.parametrize(
    ("type_info", "answer"),
    [
        (Types.INT(), False),
        (Types.INSTANT(), False),
        (Types.SQL_TIMESTAMP(), False),
        (Types.TUPLE([Types.STRING(), Types.TUPLE([Types.DOUBLE()])]), False),
        (Types.TUPLE([Types.STRING(), LISTS]), True),
        (Types.ROW([Types.INT()]), True),
        (Types.MAP(Types.INT(), Types.INT()), True),
        (Types.PRIMITIVE_ARRAY(Types.INT()), True),
        (Types.PICKLED_BYTE_ARRAY(), True),
        (None, True),
    ],
)
def test_types_say_whether_their_values_can_change(type_info: TypeInformation | None, answer: bool) -> None:
    assert can_change(type_info) is answer


@pytest.mark.parametrize(
    "value",
    [1, "a", None, (1, "b"), Point(1), Color.RED, datetime.date(2026, 1, 1), frozenset([1]), (1, (2, "x"))],
)
def test_constants_are_given_as_they_are(value: Any) -> None:
    assert copied(value) is value or copied(value) == value
    assert given(value) == value and type(given(value)) is type(value)


@pytest.mark.parametrize(
    "value",
    [[1, [2]], {"a": [1]}, {1, 2}, bytearray(b"a"), Row(1, [2]), Row(a=1), (1, [2]), Point(1, [2]), Basket([1])],
)
def test_what_somebody_still_holds_is_copied(value: Any) -> None:
    for copy in (given(value), copied(value)):
        assert copy == value and type(copy) is type(value)
        assert copy is not value


def test_new_objects_are_not_copied() -> None:
    kept = [1]

    def results() -> Any:
        yield Row(1, "a")
        yield [1, 2]
        yield {"a": 1}
        yield Note("a")
        yield kept
        yield Slotted([1])
        yield functools.partial(print, kept)
        yield Basket([1])

    assert [given(result) is result for result in results()] == [True] * 4 + [False] * 4


def test_what_cannot_be_copied_is_given_as_it_is() -> None:
    lock = threading.Lock()
    assert copied(lock) is lock


class Gather(ProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen: list[int] = []

    def process_element(self, value: int, ctx: Any) -> Any:
        self.seen.append(value)
        yield self.seen


class GatherByMap(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen: list[int] = []

    def map(self, value: int) -> list[int]:
        self.seen.append(value)
        return self.seen


class GatherInState(KeyedProcessFunction):
    """As many PyFlink programs do."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> Any:
        seen = self.seen.value() or []
        seen.append(value)
        self.seen.update(seen)
        yield seen


class GatherTwo(CoFlatMapFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen: list[int] = []

    def flat_map1(self, value: int) -> Any:
        self.seen.append(value)
        yield self.seen

    def flat_map2(self, value: int) -> Any:
        return None


def grow(first: list[int], second: list[int]) -> list[int]:
    first.extend(second)
    return first


def gatherer() -> Callable[[int], Any]:
    seen: list[int] = []

    def gather(value: int) -> Any:
        seen.append(value)
        return [seen]

    return gather


PROGRAMS: dict[str, Callable[[DataStream], DataStream]] = {
    "process": lambda numbers: numbers.process(Gather()),
    "typed": lambda numbers: numbers.process(Gather(), LISTS),
    "map": lambda numbers: numbers.map(GatherByMap()),
    "flat_map": lambda numbers: numbers.flat_map(gatherer()),
    "keyed map": lambda numbers: numbers.key_by(lambda n: 0).map(GatherByMap(), LISTS),
    "state": lambda numbers: numbers.key_by(lambda n: 0).process(GatherInState()),
    "reduce": lambda numbers: numbers.map(lambda n: [n], LISTS).key_by(lambda v: 0).reduce(grow),
    "two inputs": lambda numbers: numbers.connect(numbers.filter(lambda n: False)).flat_map(GatherTwo()),
    "windows": lambda numbers: (
        numbers.map(lambda n: [n], LISTS)
        .key_by(lambda v: 0)
        .window(GlobalWindows.create())
        .trigger(CountTrigger.of(1))
        .reduce(grow)
    ),
}


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_result_is_what_it_was_when_it_was_given(
    local_env: EnvironmentFactory, name: str, exchange: bool
) -> None:
    env = local_env()
    gathered = PROGRAMS[name](env.from_collection(list(range(60)), Types.INT()))
    if exchange:
        gathered = gathered.key_by(lambda v: 0).map(lambda v: v)
    found = sorted(gathered.map(list).execute_and_collect(), key=len)
    assert found == [list(range(count)) for count in range(1, 61)]


@pytest.mark.parametrize("type_info", [None, LISTS])
def test_branches_do_not_see_what_others_do_to_records(
    local_env: EnvironmentFactory, type_info: TypeInformation | None
) -> None:
    env = local_env()
    lists = env.from_collection(list(range(50)), Types.INT()).map(lambda n: [n], type_info)
    spoilt = lists.map(lambda v: grow(v, [-1]), type_info)
    others = [lists.map(lambda v: v), lists.key_by(lambda v: 0).map(lambda v: v), lists.rebalance().map(lambda v: v)]
    every = spoilt.union(*others) if type_info is None else spoilt.map(lambda v: v).union(*others)
    found = sorted(every.execute_and_collect())
    assert found == sorted([[n, -1] for n in range(50)] + 3 * [[n] for n in range(50)])
