"""State expires by the clock, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Types
from penstock.common.time import Time
from penstock.datastream import ReduceFunction
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.state.backend import KeyedStateBackend


class Sum(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Clock:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def backend(clock: Clock) -> KeyedStateBackend:
    backend = KeyedStateBackend(clock)
    backend.scope.key = "k"
    return backend


def ttl(milliseconds: int = 100) -> StateTtlConfig.Builder:
    return StateTtlConfig.new_builder(Time.milliseconds(milliseconds))


def value_state(backend: KeyedStateBackend, config: StateTtlConfig) -> Any:
    descriptor = ValueStateDescriptor("value", Types.INT())
    descriptor.enable_time_to_live(config)
    return backend.state(descriptor)


def test_value_lives_until_the_last_millisecond(backend: KeyedStateBackend, clock: Clock) -> None:
    state = value_state(backend, ttl().build())
    state.update(1)
    clock.now += 99
    assert state.value() == 1
    clock.now += 1
    assert state.value() is None


def test_reading_renews_only_when_asked_to(backend: KeyedStateBackend, clock: Clock) -> None:
    state = value_state(backend, ttl().update_ttl_on_read_and_write().build())
    state.update(1)
    for _ in range(5):
        clock.now += 99
        assert state.value() == 1


def test_writing_renews(backend: KeyedStateBackend, clock: Clock) -> None:
    state = value_state(backend, ttl().build())
    for number in range(5):
        state.update(number)
        clock.now += 99
    assert state.value() == 4


def test_expired_value_may_be_seen_once_when_allowed(backend: KeyedStateBackend, clock: Clock) -> None:
    state = value_state(backend, ttl().return_expired_if_not_cleaned_up().disable_cleanup_in_background().build())
    state.update(1)
    clock.now += 1_000
    assert state.value() == 1
    assert state.value() is None


def test_list_items_and_map_entries_expire_one_by_one(backend: KeyedStateBackend, clock: Clock) -> None:
    items, entries = ListStateDescriptor("list", Types.INT()), MapStateDescriptor("map", Types.INT(), Types.INT())
    for descriptor in (items, entries):
        descriptor.enable_time_to_live(ttl().build())
    listed, mapped = backend.state(items), backend.state(entries)
    for number in range(3):
        listed.add(number)
        mapped.put(number, number)
        clock.now += 40
    assert list(listed.get()) == [1, 2]
    assert list(mapped.keys()) == [1, 2]
    assert not mapped.contains(0)
    assert mapped.get(0) is None
    clock.now += 1_000
    assert mapped.is_empty()
    assert list(listed.get()) == []


def test_reducing_starts_anew_after_expiry(backend: KeyedStateBackend, clock: Clock) -> None:
    descriptor = ReducingStateDescriptor("sum", Sum(), Types.INT())
    descriptor.enable_time_to_live(ttl().build())
    state = backend.state(descriptor)
    state.add(1)
    state.add(2)
    assert state.get() == 3
    clock.now += 100
    state.add(5)
    assert state.get() == 5


def test_what_nobody_reads_is_swept_from_the_snapshot(backend: KeyedStateBackend, clock: Clock) -> None:
    state = value_state(backend, ttl().build())
    for key in range(10):
        backend.scope.key = key
        state.update(key)
    backend.take_delta()
    clock.now += 100
    backend.take_delta()
    assert backend.full_delta()["value"][1] == {}


def test_age_survives_a_move_to_another_worker(clock: Clock, backend: KeyedStateBackend) -> None:
    config = ttl().build()
    value_state(backend, config).update(1)
    delta = backend.take_delta()
    assert delta is not None
    clock.now += 60
    other = KeyedStateBackend(clock)
    other.scope.key = "k"
    state = value_state(other, config)
    other.apply_delta(delta)
    assert state.value() == 1
    clock.now += 40
    assert state.value() is None
