"""Empty streams, None, large records, unicode, many keys, one key, long chains, many subtasks, batch mode."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Row, Types
from penstock.datastream import (
    CoMapFunction,
    KeyedProcessFunction,
    RuntimeContext,
    RuntimeExecutionMode,
)
from penstock.datastream.state import ValueStateDescriptor


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


class Same(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return value


@pytest.mark.parametrize("parallelism", [1, 3])
def test_empty_streams(local_env: EnvironmentFactory, parallelism: int) -> None:
    env = local_env(parallelism)
    empty = env.from_collection([], Types.INT())
    keyed = empty.key_by(lambda v: v).process(Count())
    assert collected(keyed.union(empty.rebalance().map(lambda v: v))) == []
    full = local_env(parallelism).from_collection([1, 2])
    assert sorted(collected(full.connect(full.filter(lambda v: False)).map(Same()))) == [1, 2]


@pytest.mark.parametrize("forget", [False, True])
def test_none_is_a_value(local_env: EnvironmentFactory, forget: bool) -> None:
    env = local_env(2, 1, forget)
    stream = env.from_collection([1, None, 2]).rebalance().map(lambda v: v).key_by(lambda v: v).map(lambda v: v)
    assert Counter(collected(stream)) == Counter([1, None, 2])
    rows = env.from_collection([Row("a", None)], Types.ROW([Types.STRING(), Types.INT()])).rebalance()
    assert [tuple(row) for row in collected(rows.map(lambda r: r))] == [("a", None)]


def test_records_of_ten_megabytes(local_env: EnvironmentFactory) -> None:
    env = local_env(2)
    stream = env.from_collection(range(4)).map(lambda n: bytes([n]) * 10_000_000).rebalance().key_by(lambda b: b[0])
    assert sorted(collected(stream.map(lambda b: (b[0], len(b))))) == [(n, 10_000_000) for n in range(4)]


TEXTS = ["", "ü", "日本語", "\U0001f600", "a\x00b", "tab\tand\nnewline", "\u202eright to left"]


@pytest.mark.parametrize("declared", [None, Types.STRING()], ids=["untyped", "typed"])
def test_unicode(local_env: EnvironmentFactory, declared: Any) -> None:
    env = local_env(2)
    stream = env.from_collection(TEXTS, declared).rebalance().key_by(lambda t: t, declared).map(lambda t: t, declared)
    assert sorted(collected(stream)) == sorted(TEXTS)


def test_hundred_thousand_keys(local_env: EnvironmentFactory) -> None:
    env = local_env(2, epoch_records=60_000, forget=True)
    stream = env.from_collection([n % 100_000 for n in range(200_000)]).key_by(lambda n: n).process(Count())
    assert Counter(count for _, count in collected(stream)) == Counter({1: 100_000, 2: 100_000})


def test_one_hot_key(local_env: EnvironmentFactory) -> None:
    env = local_env(4, epoch_records=30_000)
    stream = env.from_collection(range(100_000)).key_by(lambda n: "hot").process(Count())
    assert [count for _, count in collected(stream)] == list(range(1, 100_001))


@pytest.mark.parametrize("forget", [False, True])
def test_chain_of_a_thousand_operators(local_env: EnvironmentFactory, forget: bool) -> None:
    env = local_env(1, 2, forget)
    stream = env.from_collection([0, 1, 2])
    for _ in range(1000):
        stream = stream.map(lambda n: n + 1)
    assert collected(stream) == [1000, 1001, 1002]


@pytest.mark.parametrize("parallelism", [8, 50])
def test_more_subtasks_than_cores(local_env: EnvironmentFactory, parallelism: int) -> None:
    env = local_env(parallelism)
    stream = env.from_collection(range(200)).key_by(lambda n: n % 20).process(Count()).rebalance().map(lambda r: r)
    assert Counter(count for _, count in collected(stream)) == Counter(dict.fromkeys(range(1, 11), 20))


def test_operators_of_different_parallelism(local_env: EnvironmentFactory) -> None:
    env = local_env(2)
    stream = env.from_collection(range(100)).map(lambda n: n).set_parallelism(3).rescale().map(lambda n: n)
    stream = stream.set_parallelism(5).key_by(lambda n: n).map(lambda n: n).set_parallelism(4)
    assert sorted(collected(stream)) == list(range(100))


@pytest.mark.parametrize(("epoch_records", "forget"), [(1_000_000, False), (2, True)])
def test_batch_mode_emits_the_last_of_each_key(local_env: EnvironmentFactory, epoch_records: int, forget: bool) -> None:
    env = local_env(1, epoch_records, forget)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    data = [("b", 1), ("a", 2), ("b", 3), ("a", 4), ("c", 5)]
    stream = env.from_collection(data).key_by(lambda v: v[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))
    assert collected(stream) == [("a", 6), ("b", 4), ("c", 5)]


def test_streaming_mode_emits_every_change(local_env: EnvironmentFactory) -> None:
    env = local_env()
    data = [("b", 1), ("a", 2), ("b", 3)]
    stream = env.from_collection(data).key_by(lambda v: v[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))
    assert collected(stream) == [("b", 1), ("a", 2), ("b", 4)]
