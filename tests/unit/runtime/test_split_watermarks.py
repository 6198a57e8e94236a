"""Event time of several splits in one subtask: the slowest that is not idle counts."""

from __future__ import annotations

import pickle

from penstock.common import Duration, WatermarkStrategy
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import JobSettings, OperatorBlueprint, Origin
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from penstock.testing.harness import Collected

STRATEGY = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(100))


class Splits:
    """A watermark operator, and a clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0
        self.build()

    def build(self) -> None:
        blueprint = OperatorBlueprint(1, "u", "w", "timestamps", STRATEGY, {}, 1, 128, 0, Origin("job.py", 1))
        settings = JobSettings("0" * 32, "job", auto_watermark_interval_ms=1)
        context = SubtaskContext(blueprint, settings, 0, lambda: self.now)
        self.operator = TimestampsAndWatermarksOperator(blueprint, context)
        self.operator.connect(Collected(), {})
        self.operator.open()

    def restart(self) -> None:
        snapshot = pickle.loads(pickle.dumps(self.operator.snapshot(full=True)))
        self.build()
        self.operator.load(snapshot)

    def record(self, split: str, timestamp: int) -> int:
        """The watermark after a record, and after the end of the epoch."""
        self.operator.select_split(split)
        self.operator.process(Batch(["x"], [timestamp]), 0)
        self.operator.advance_processing_time(self.now)
        self.operator.end_epoch()
        return self.operator._emitted


def test_the_slowest_split_counts() -> None:
    splits = Splits()
    splits.operator.keep_splits(["a", "b"])
    nothing = splits.operator._emitted
    assert splits.record("a", 1000) == nothing, "b has not told its time"
    assert splits.record("b", 300) == 299
    assert splits.record("b", 2000) == 999


def test_idle_splits_do_not_count_and_time_does_not_go_back() -> None:
    splits = Splits()
    splits.operator.keep_splits(["a", "b"])
    splits.now = 100
    assert splits.record("a", 2000) == 1999, "b has been silent for too long"
    assert splits.record("b", 500) == 1999, "it is late, and so are its records"
    assert splits.record("b", 3000) == 1999
    assert splits.record("a", 2500) == 2499
    splits.now = 150
    assert splits.operator.next_processing_time() == 200


def test_splits_come_and_go() -> None:
    splits = Splits()
    splits.operator.keep_splits(["a", "b"])
    splits.record("a", 1000)
    splits.record("b", 500)
    splits.operator.keep_splits(["a"])
    assert splits.record("a", 1100) == 1099, "b is finished, and holds nobody back"
    splits.operator.keep_splits(["a", "c"])
    assert splits.record("a", 5000) == 1099, "c is new"
    assert splits.record("c", 4000) == 3999


def test_a_snapshot_has_the_time_of_every_split() -> None:
    splits = Splits()
    splits.operator.keep_splits(["a", "b"])
    splits.record("a", 1000)
    splits.record("b", 500)
    splits.restart()
    splits.operator.keep_splits(["a", "b"])
    assert splits.operator._emitted == 499
    assert splits.record("b", 800) == 799
    assert splits.record("b", 9000) == 999, "a is where it was"
