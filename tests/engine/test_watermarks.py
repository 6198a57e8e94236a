"""Event time: per record inside a batch, minimum over active inputs, everything at the end in order."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Types, WatermarkStrategy
from penstock.common.time import Duration, Time
from penstock.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator
from penstock.datastream import (
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
)
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP

CUTS = [(1_000_000, False), (1, True), (2, True)]
every_cut = pytest.mark.parametrize(("epoch_records", "forget"), CUTS)


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class EveryRecord(WatermarkGenerator):
    """Punctuated: each record moves event time at once."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: Any) -> None:
        pass


class OnMark(WatermarkGenerator):
    """Punctuated: only marked records move event time, and others are idle marks."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        if event[0] == "mark":
            output.emit_watermark(Watermark(event_timestamp))
        if event[0] == "idle":
            output.mark_idle()

    def on_periodic_emit(self, output: Any) -> None:
        pass


def punctuated(generator: type[WatermarkGenerator] = EveryRecord) -> WatermarkStrategy:
    return WatermarkStrategy.for_generator(generator).with_timestamp_assigner(Second())


class ShowWatermark(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        yield value[1], ctx.timer_service().current_watermark()


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


@every_cut
def test_watermark_moves_between_the_records_of_a_batch(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool
) -> None:
    env = local_env(1, epoch_records, forget)
    data = [("a", 10), ("a", 20), ("a", 15), ("a", 30)]
    stream = env.from_collection(data).assign_timestamps_and_watermarks(punctuated()).process(ShowWatermark())
    assert collected(stream) == [(10, MIN_TIMESTAMP), (20, 10), (15, 20), (30, 20)]


class Timers(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        yield f"element {value[1]}"

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        yield f"timer {timestamp}"


@every_cut
def test_timers_fire_between_the_records_of_a_batch(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool
) -> None:
    env = local_env(1, epoch_records, forget)
    keyed = env.from_collection([("a", 10), ("a", 12), ("a", 20), ("a", 21)]).assign_timestamps_and_watermarks(
        punctuated()
    )
    assert collected(keyed.key_by(lambda v: v[0]).process(Timers())) == [
        "element 10",
        "element 12",
        "element 20",
        "timer 15",
        "timer 17",
        "element 21",
        "timer 25",
        "timer 26",
    ]


@every_cut
@pytest.mark.parametrize("parallelism", [1, 3])
def test_end_of_input_fires_everything_in_the_order_of_time(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool, parallelism: int
) -> None:
    env = local_env(parallelism, epoch_records, forget)
    data = [(key, time) for time in (50, 10, 40, 20, 30) for key in "ab"]
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    stream = env.from_collection(data).assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0])
    fired = [text for text in collected(stream.process(Timers()).map(lambda t: t)) if text.startswith("timer")]
    if parallelism == 1:
        assert fired == [f"timer {time}" for time in (15, 15, 25, 25, 35, 35, 45, 45, 55, 55)]
    else:
        assert sorted(fired) == [f"timer {time}" for time in (15, 15, 25, 25, 35, 35, 45, 45, 55, 55)]


class AtEnd(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        ctx.timer_service().register_event_time_timer(1 << 60)
        yield from ()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        yield ctx.timer_service().current_watermark()


def test_end_of_input_is_the_highest_watermark(local_env: EnvironmentFactory) -> None:
    env = local_env()
    assert collected(env.from_collection([1]).key_by(lambda v: v).process(AtEnd())) == [MAX_TIMESTAMP]


class Seen(ProcessFunction):
    """Emits the watermark with each record of the stream 'probe'."""

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        if value[0] == "probe":
            yield ctx.timer_service().current_watermark()


@pytest.mark.parametrize("forget", [False, True])
def test_minimum_over_the_inputs(local_env: EnvironmentFactory, forget: bool) -> None:
    env = local_env(1, 4, forget)  # two records of each source in an epoch: the slow one has not ended at the probe
    slow = env.from_collection([("x", 1), ("mark", 10), ("x", 11), ("x", 12), ("x", 13), ("x", 14)])
    fast = env.from_collection([("x", 50), ("mark", 100), ("probe", 101)])
    streams = [stream.assign_timestamps_and_watermarks(punctuated(OnMark)) for stream in (slow, fast)]
    assert collected(streams[0].union(streams[1]).process(Seen())) == [10]


@pytest.mark.parametrize("forget", [False, True])
def test_a_generators_idle_mark_frees_the_other_input(local_env: EnvironmentFactory, forget: bool) -> None:
    env = local_env(1, 4, forget)  # two records of each source in an epoch: the mark comes before the probe
    idle = env.from_collection([("x", 1), ("idle", 2)]).assign_timestamps_and_watermarks(punctuated(OnMark))
    active = env.from_collection([("x", 50), ("mark", 50), ("x", 60), ("mark", 60), ("probe", 61)])
    stream = idle.union(active.assign_timestamps_and_watermarks(punctuated(OnMark))).process(Seen())
    assert collected(stream) == [60]


@pytest.mark.parametrize(
    "strategy",
    [
        WatermarkStrategy.for_monotonous_timestamps(),
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)),
    ],
)
def test_periodic_watermarks_follow_the_highest_timestamp(
    local_env: EnvironmentFactory, strategy: WatermarkStrategy
) -> None:
    env = local_env(1, epoch_records=1)
    disorder = 0 if strategy == WatermarkStrategy.for_monotonous_timestamps() else 5
    data = [("a", 10), ("a", 30), ("a", 20), ("a", 40)]
    stream = env.from_collection(data).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Second()))
    assert collected(stream.process(ShowWatermark())) == [
        (10, MIN_TIMESTAMP),
        (30, 10 - disorder - 1),
        (20, 30 - disorder - 1),
        (40, 30 - disorder - 1),
    ]


TOO_LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Show(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Any) -> Any:
        yield f"{key} {context.window().start} {[e[1] for e in elements]}"


@every_cut
def test_late_records_are_told_apart_exactly(local_env: EnvironmentFactory, epoch_records: int, forget: bool) -> None:
    """tests/pyflink_programs/window_late_data, with watermarks behind the records instead of waiting for the clock."""
    env = local_env(1, epoch_records, forget)
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    data = [("a", 1), ("a", 12), ("a", 5), ("a", 8), ("a", 31), ("a", 3)]

    class BehindByOne(WatermarkGenerator):
        def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
            output.emit_watermark(Watermark(event_timestamp - 1))

        def on_periodic_emit(self, output: Any) -> None:
            pass

    strategy = WatermarkStrategy.for_generator(BehindByOne).with_timestamp_assigner(Second())
    windowed = (
        env.from_collection(data, pair)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda v: v[0], Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(10)
        .side_output_late_data(TOO_LATE)
        .process(Show(), Types.STRING())
    )
    late = windowed.get_side_output(TOO_LATE).map(lambda v: f"late {v[1]}", Types.STRING())
    assert sorted(collected(windowed.union(late))) == sorted(
        ["a 0 [1]", "a 0 [1, 5]", "a 0 [1, 5, 8]", "a 10 [12]", "a 30 [31]", "late 3"]
    )
