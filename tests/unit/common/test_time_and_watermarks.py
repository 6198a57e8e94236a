from __future__ import annotations

import pickle
from typing import Any

import pytest

from penstock.common import Duration, Instant, Time, WatermarkGenerator, WatermarkOutput, WatermarkStrategy
from penstock.common.errors import NotSupportedError
from penstock.common.watermark_strategy import Alignment, GeneratorKind, TimestampAssigner, Watermark


class Assigner(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class EveryRecord(WatermarkGenerator):
    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(Watermark(timestamp))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


def test_durations() -> None:
    assert Duration.of_minutes(1) == Duration.of_seconds(60) == Duration.of_millis(60000)
    assert Duration.of_days(1).to_millis() == 24 * Duration.of_hours(1).to_millis() == 86_400_000
    assert Duration.of_nanos(1_999_999).to_millis() == 1
    assert repr(Duration.of_millis(1500)) == "Duration.of_millis(1500)"
    assert pickle.loads(pickle.dumps(Duration.of_seconds(5))) == Duration.of_seconds(5)
    with pytest.raises(TypeError, match="whole number of seconds"):
        Duration.of_seconds(1.5)  # type: ignore[arg-type]


def test_instants_and_times() -> None:
    assert Instant.of_epoch_milli(-1) == Instant(-1, 999_000_000)
    assert Instant(1, 2_345_678).to_epoch_milli() == 1002 and repr(Instant(1, 2)) == "Instant<1, 2>"
    assert Time.days(1).to_milliseconds() == 86_400_000 and str(Time.seconds(1)) == "1000 ms"
    assert Time.minutes(1) == Time.seconds(60) and Time.seconds(1) != Duration.of_seconds(1)


def test_strategies_are_data() -> None:
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    assert (bounded.generator, bounded.max_out_of_orderness_ms) == (
        GeneratorKind.BOUNDED_OUT_OF_ORDERNESS,
        5000,
    )
    assert WatermarkStrategy.for_monotonous_timestamps().generator is GeneratorKind.MONOTONOUS
    assert WatermarkStrategy.no_watermarks().generator is GeneratorKind.NONE


def test_idleness_keeps_the_assigner_and_leaves_the_first_strategy_alone() -> None:
    assigner = Assigner()
    first = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)
    second = first.with_idleness(Duration.of_seconds(3))
    assert (second.timestamp_assigner, second.idle_timeout_ms) == (assigner, 3000)
    assert first.idle_timeout_ms is None


def test_generators_of_the_program() -> None:
    assert WatermarkStrategy.for_generator(EveryRecord).generator_supplier is EveryRecord
    with pytest.raises(TypeError, match="for each source subtask"):
        WatermarkStrategy.for_generator(EveryRecord())  # type: ignore[arg-type]


def test_refusals() -> None:
    strategy = WatermarkStrategy.no_watermarks()
    assert strategy.with_watermark_alignment("g", Duration.of_seconds(1)).alignment == Alignment("g", 1000)
    with pytest.raises(TypeError, match="Duration"):
        strategy.with_idleness(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="TimestampAssigner"):
        strategy.with_timestamp_assigner(lambda value, timestamp: 1)  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError, match="Java"):
        WatermarkStrategy(object())  # type: ignore[arg-type]
