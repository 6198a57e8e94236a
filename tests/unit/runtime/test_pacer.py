"""Batches are cut by the time that they take."""

from __future__ import annotations

import random

import pytest

from penstock.runtime.batch import Batch
from penstock.runtime.pacer import Pacer


class Run:
    def __init__(self, cost_ms: float, batch_ms: float = 0.0) -> None:
        self.now = 0.0
        self.cost_ms = cost_ms
        self.batch_ms = batch_ms
        self.parts: list[list[int]] = []
        self.looks = 0
        self.pacer = Pacer(lambda: int(self.now), self.look)

    def look(self) -> None:
        self.looks += 1

    def process(self, batch: Batch) -> None:
        self.parts.append(batch.values)
        self.now += self.batch_ms + self.cost_ms * len(batch)

    def emit(self, count: int) -> None:
        self.pauses = sum(1 for _ in self.pacer.emit(self.process, Batch(list(range(count)), list(range(count)))))


def test_order_and_completeness() -> None:
    run = Run(0.001)
    run.emit(10_000)
    assert sum(run.parts, []) == list(range(10_000))


def test_fast_operators_get_long_batches() -> None:
    run = Run(0.0)
    run.emit(1_000_000)
    assert len(run.parts) < 20


def test_slow_operators_let_the_clock_be_seen_often() -> None:
    run = Run(1_000.0)
    run.emit(20)
    assert max(map(len, run.parts)) == 1
    assert run.looks == 20
    assert run.pauses == 19, "others get their turn in between"


def test_a_batch_that_takes_long_in_many_short_parts_pauses_too() -> None:
    run = Run(1.0)
    run.emit(1_000)
    assert 10 <= run.pauses <= 20
    run.cost_ms = 0.0
    run.emit(1_000)
    assert run.pauses == 0


def test_adapts_when_operators_become_slow_and_fast_again() -> None:
    run = Run(0.0)
    run.emit(100_000)
    run.cost_ms = 100.0
    run.emit(64)
    run.emit(64)
    assert len(run.parts[-1]) == 1, "however long batches have been before, the first slow one counts"
    run.cost_ms = 0.0
    before = len(run.parts)
    run.emit(100_000)
    assert len(run.parts) - before < 20


def test_short_batches_say_nothing_about_long_ones() -> None:
    run = Run(0.0)
    for _ in range(100):
        run.emit(1)
    run.cost_ms = 10.0
    run.emit(1000)
    assert max(map(len, run.parts)) <= 8


@pytest.mark.parametrize("batch_ms", [4, 10, 30, 80])
def test_what_every_batch_costs_does_not_make_them_short(batch_ms: int) -> None:
    run = Run(0.01, batch_ms)
    run.emit(100_000)
    assert len(run.parts) < 200
    assert run.now < 6_000, "1,000 ms are for the records"


def test_longer_batches_are_given_up_where_records_do_not_get_cheaper() -> None:
    run = Run(20.0)
    run.emit(1000)
    lengths = list(map(len, run.parts))
    assert max(lengths) <= 4 and lengths.count(2) > 3 * lengths.count(4)


def test_a_busy_machine_makes_batches_neither_short_nor_endless() -> None:
    """What a batch costs changes all the time when others take the processor."""
    run = Run(0.02)
    source = random.Random(1)
    for _ in range(40):
        run.batch_ms = source.choice([5, 10, 40, 120])
        run.emit(5_000)
    assert len(run.parts) < 800
