"""Epochs grow under backlog and stay within their bounds."""

from __future__ import annotations

import pytest

from penstock.common import Configuration
from penstock.common.options import value_of
from penstock.control.epoch_size import EpochSizer

_WAY_MS = 0.001  # what a record costs between operators


def settle(sizer: EpochSizer, overhead_ms: float, per_record_ms: float, epochs: int = 60) -> list[int]:
    sizes = []
    for _ in range(epochs):
        sizes.append(sizer.budget)
        work_ms = sizer.budget * per_record_ms
        sizer.observe(sizer.budget, overhead_ms + work_ms, work_ms - min(work_ms / 2, sizer.budget * _WAY_MS), True)
    return sizes


def test_starts_with_the_initial_size() -> None:
    assert EpochSizer(1000, 10_000, 1000).budget == 1000
    assert EpochSizer(1000, 10, 1000).budget == 10


def test_only_the_work_of_the_first_epoch_says_something() -> None:
    sizer = EpochSizer(1000, 1_000_000, 1000)
    sizer.observe(1000, 60_000, 50, backlog=True)
    assert sizer.budget == 20_000
    slow = EpochSizer(1000, 1_000_000, 1000)
    slow.observe(1000, 60_000, 10_000, backlog=True)
    assert slow.budget == 100


def test_the_third_epoch_has_nearly_the_right_size() -> None:
    """A job of some seconds must not spend them on small epochs."""
    sizes = settle(EpochSizer(5000, 4_000_000, 1000), overhead_ms=500, per_record_ms=0.004, epochs=3)
    assert sizes[0] == 5000 and sizes[2] >= 250_000


def test_a_machine_under_load_does_not_make_epochs_tiny() -> None:
    sizes = settle(EpochSizer(5000, 4_000_000, 1000), overhead_ms=8000, per_record_ms=0.02)
    assert min(sizes[1:]) >= 40_000


def test_finds_the_size_that_takes_the_wanted_time() -> None:
    sizer = EpochSizer(1000, 10**9, 1000)
    settle(sizer, 0.0, 0.01)
    assert sizer.budget == pytest.approx(100_000, rel=0.3)


def test_shrinks_when_records_become_expensive() -> None:
    sizer = EpochSizer(100_000, 10**9, 1000)
    settle(sizer, 0.0, 1.0)
    assert sizer.budget == pytest.approx(1000, rel=0.3)


def test_an_epoch_that_took_much_too_long_is_the_last_one() -> None:
    """A time in the middle of it cannot be acted on: see docs/pyflink.md, time inside an epoch."""
    sizer = EpochSizer(50_000, 10**9, 1000)
    assert [size <= 2000 for size in settle(sizer, 50.0, 1.0, epochs=6)] == [False, True, True, True, True, True]


def test_grows_so_that_a_large_overhead_becomes_a_small_share() -> None:
    sizer = EpochSizer(1000, 10**9, 1000)
    settle(sizer, 500.0, 0.01)
    assert sizer.budget * 0.01 >= 3 * 500, "the overhead is at most about a fifth"
    assert sizer.budget * 0.01 <= 5000


def test_never_beyond_the_maximum_nor_below_one() -> None:
    assert max(settle(EpochSizer(10, 500, 1000), 0.0, 0.0001)) == 500
    assert min(settle(EpochSizer(10, 500, 1000), 0.0, 100_000.0)) >= 1


def test_slow_streams_do_not_change_the_size() -> None:
    sizer = EpochSizer(1000, 10**6, 1000)
    for _ in range(10):
        sizer.observe(3, 500, 1, backlog=False)
    assert sizer.budget == 1000


def test_empty_epochs_are_ignored() -> None:
    sizer = EpochSizer(1000, 10**6, 1000)
    sizer.observe(0, 10, 0, backlog=True)
    sizer.observe(10, 0, 0, backlog=True)
    assert sizer.budget == 1000


def test_grows_in_bounded_steps() -> None:
    sizes = settle(EpochSizer(100, 10**9, 1000), 0.0, 0.0001, 10)
    assert all(later <= 32 * earlier for earlier, later in zip(sizes, sizes[1:], strict=False))


def test_equal_epochs_that_take_the_target_still_grow_to_learn_their_overhead() -> None:
    sizer = EpochSizer(50_000, 4_000_000, 1000)
    for _ in range(12):
        sizer.observe(
            sizer.budget, 800 + sizer.budget / 500, sizer.budget / 500, True
        )  # 800 ms overhead, 2 µs a record
    assert sizer.budget > 1_000_000


def test_a_first_epoch_of_slow_records_does_not_keep_a_savepoint_waiting() -> None:
    """By default, with 10 ms a record: nobody knows yet how slow they are."""
    initial = value_of(Configuration(), "penstock.epoch.initial-records")
    assert initial * 10 <= value_of(Configuration(), "penstock.epoch.target-ms")


def test_one_source_with_a_backlog_lets_epochs_grow_however_few_records_the_others_have() -> None:
    sizer = EpochSizer(100, 10**6, 1000)
    sizer.observe(25, 60_000, 0.1, backlog=True)
    sizer.observe(25, 10, 0.1, backlog=True)
    assert sizer.budget > 1000
