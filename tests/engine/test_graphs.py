"""Order, and graphs of any shape: every record passes every operator once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine import ledger

from penstock.common import Types
from penstock.datastream import (
    CoMapFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    SinkFunction,
    StreamExecutionEnvironment,
)

CUTS = [(1_000_000, False), (1, True), (3, True), (7, False)]
every_cut = pytest.mark.parametrize(("epoch_records", "forget"), CUTS)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


class Touch(MapFunction):
    """Counts how often each record passes here, in this process."""

    def __init__(self, place: str) -> None:
        self.place = place

    def map(self, value: Any) -> Any:
        ledger.passed[self.place, value] += 1
        return value


class Keep(SinkFunction):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def invoke(self, value: Any, context: Any) -> None:
        ledger.kept[self.name].append(value)


@pytest.fixture(autouse=True)
def fresh_counters() -> None:
    ledger.clear()


@every_cut
def test_forward_channels_keep_order(local_env: EnvironmentFactory, epoch_records: int, forget: bool) -> None:
    env = local_env(1, epoch_records, forget)
    stream = env.from_collection(list(range(50))).map(lambda n: n + 1).disable_chaining().filter(lambda n: n % 3 > 0)
    assert collected(stream) == [n + 1 for n in range(50) if (n + 1) % 3]


class Remember(KeyedProcessFunction):
    """Emits the key with everything it has seen, so that any disorder shows."""

    def open(self, runtime_context: Any) -> None:
        from penstock.datastream.state import ListStateDescriptor

        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.add(value)
        yield ctx.get_current_key(), list(self.seen.get())


@every_cut
@pytest.mark.parametrize("parallelism", [1, 3, 8])
def test_keyed_channels_keep_the_order_of_each_key(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool, parallelism: int
) -> None:
    env = local_env(parallelism, epoch_records, forget)
    keyed = env.from_collection(list(range(40))).key_by(lambda n: n % 5).process(Remember()).key_by(lambda r: r[0])
    last: dict[int, list[int]] = {}
    for key, seen in collected(keyed.map(lambda r: r)):
        assert len(seen) == len(last.get(key, [])) + 1
        last[key] = seen
    assert last == {key: list(range(key, 40, 5)) for key in range(5)}


EVEN, BIG = OutputTag("even", Types.INT()), OutputTag("big", Types.INT())


class Sort(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        if value % 2 == 0:
            yield EVEN, value
        if value > 15:
            yield BIG, value
        yield value


class Both(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return "left", value

    def map2(self, value: Any) -> Any:
        return "right", value


def everything(env: StreamExecutionEnvironment) -> None:
    """Two sources, a diamond, side outputs, several exchanges, four sinks."""
    numbers = env.from_collection(list(range(20)), Types.INT()).map(Touch("source"), Types.INT())
    more = env.from_collection(list(range(100, 110)), Types.INT())
    sorted_ = numbers.process(Sort(), Types.INT())
    sorted_.get_side_output(EVEN).map(Touch("even")).rebalance().add_sink(Keep("even"))
    sorted_.get_side_output(BIG).add_sink(Keep("big"))
    left = sorted_.map(Touch("left")).rebalance()
    right = sorted_.key_by(lambda n: n % 3).map(Touch("right"))
    diamond = left.connect(right).map(Both()).map(Touch("joined"))
    diamond.add_sink(Keep("diamond"))
    numbers.union(more).key_by(lambda n: n % 4).reduce(lambda a, b: a + b).map(Touch("reduced")).add_sink(Keep("sums"))


@pytest.mark.in_this_process
@every_cut
@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_graph_of_everything_is_computed_once_per_record(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool, parallelism: int
) -> None:
    env = local_env(parallelism, epoch_records, forget)
    everything(env)
    env.execute()
    numbers = list(range(20))
    for place in ("source", "left", "right"):
        assert {v: ledger.passed[place, v] for v in numbers} == dict.fromkeys(numbers, 1), place
    assert all(count == 1 for (place, _), count in ledger.passed.items() if place in ("even", "joined"))
    assert sorted(ledger.kept["even"]) == numbers[::2]
    assert sorted(ledger.kept["big"]) == [16, 17, 18, 19]
    assert Counter(ledger.kept["diamond"]) == Counter([(side, n) for side in ("left", "right") for n in numbers])
    totals: dict[int, int] = {}
    assert len(ledger.kept["sums"]) == 30, "one running sum for each record"
    for n in [*numbers, *range(100, 110)]:
        totals[n % 4] = totals.get(n % 4, 0) + n
    assert set(totals.values()) <= set(ledger.kept["sums"])


@pytest.mark.in_this_process
def test_two_jobs_of_one_environment_do_not_repeat_each_other(local_env: EnvironmentFactory) -> None:
    env = local_env()
    first = env.from_collection([1, 2]).map(Touch("first"))
    first.add_sink(Keep("first"))
    env.execute()
    env.from_collection([3]).add_sink(Keep("second"))
    env.execute()
    assert (ledger.kept["first"], ledger.kept["second"]) == ([1, 2], [3])
    assert ledger.passed["first", 1] == 1


class Counting(MapFunction):
    """Counts in a plain attribute, as many Flink programs do."""

    def open(self, runtime_context: Any) -> None:
        self.count = 0
        self.names: list[str] = []

    def map(self, value: Any) -> Any:
        self.count += 1
        self.names.append(str(value))
        return self.count, len(self.names)


@every_cut
def test_plain_attributes_survive(local_env: EnvironmentFactory, epoch_records: int, forget: bool) -> None:
    env = local_env(1, epoch_records, forget)
    stream = env.from_collection(list("abcdefgh")).map(Counting())
    assert collected(stream) == [(n, n) for n in range(1, 9)]


class Where(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return self.index, value


@every_cut
def test_custom_partitioning_broadcast_and_global(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool
) -> None:
    def run(repartition: Any) -> list[Any]:
        env = local_env(3, epoch_records, forget)
        return sorted(collected(repartition(env.from_collection(list(range(6)))).map(Where())))

    assert run(lambda s: s.partition_custom(lambda key, n: key % n, lambda v: v)) == sorted(
        (v % 3, v) for v in range(6)
    )
    assert run(lambda s: s.broadcast()) == sorted((i, v) for i in range(3) for v in range(6))
    assert Counter(index for index, _ in run(lambda s: s.rebalance())) == Counter({0: 2, 1: 2, 2: 2})
    assert sorted(v for _, v in run(lambda s: s.shuffle())) == list(range(6))
    assert sorted(v for _, v in run(lambda s: s.rescale())) == list(range(6))
