# compare: exact
from typing import Collection

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.serializer import TypeSerializer
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    CountWindow,
    CountWindowSerializer,
    EventTimeTrigger,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    WindowAssigner,
)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Growing(WindowAssigner[object, TimeWindow]):
    """Each element is in one window of ten, and in one of a hundred."""

    def assign_windows(self, element, timestamp, context):
        return [
            TimeWindow(timestamp - timestamp % 10, timestamp - timestamp % 10 + 10),
            TimeWindow(timestamp - timestamp % 100, timestamp - timestamp % 100 + 100),
        ]

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer:
        return TimeWindowSerializer()

    def is_event_time(self):
        return True

    def __repr__(self):
        return "Growing()"


class ByThird(WindowAssigner[tuple, CountWindow]):
    """The window is a number that the element names."""

    def assign_windows(self, element, timestamp, context):
        return [CountWindow(element[2] % 3)]

    def get_default_trigger(self, env):
        return EverySecond()

    def get_window_serializer(self):
        return CountWindowSerializer()

    def is_event_time(self):
        return False


class EverySecond(Trigger[tuple, CountWindow]):
    def on_element(self, element, timestamp, window, ctx):
        from pyflink.datastream.state import ValueStateDescriptor

        seen = ctx.get_partitioned_state(ValueStateDescriptor("seen", Types.INT()))
        count = (seen.value() or 0) + 1
        if count == 2:
            seen.clear()
            return TriggerResult.FIRE_AND_PURGE
        seen.update(count)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        raise Exception("not merging")

    def clear(self, window, ctx):
        pass


class Times(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield "%s [%d, %d) %s max=%d" % (key, window.start, window.end, [e[2] for e in elements], window.max_timestamp())


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s #%d %s %d" % (key, context.window().id, [e[2] for e in elements], context.window().max_timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1, 4), ("b", 2, 7), ("a", 13, 1), ("a", 14, 9), ("b", 95, 3), ("a", 101, 2), ("b", 115, 8), ("a", 116, 10)]
events = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()]))
stamped = events.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
)
keyed = stamped.key_by(lambda v: v[0], Types.STRING())
for line in sorted(keyed.window(Growing()).process(Times(), Types.STRING()).execute_and_collect()):
    print(line)
for line in sorted(
    events.key_by(lambda v: v[0], Types.STRING()).window(ByThird()).process(Numbers(), Types.STRING()).execute_and_collect()
):
    print(line)
print(sorted(keyed.window(Growing()).reduce(lambda a, b: (a[0], max(a[1], b[1]), a[2] + b[2])).execute_and_collect()))
