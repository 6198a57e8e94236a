# compare: sorted
from typing import Iterable

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    EventTimeTrigger,
    MergingWindowAssigner,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Visits(MergingWindowAssigner[tuple, TimeWindow]):
    """A session that a logout ends."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + (1 if element[2] == "out" else 20))]

    def merge_windows(self, windows: Iterable[TimeWindow], callback):
        merged = []
        for window in sorted(windows, key=lambda w: (w.start, w.end)):
            if merged and merged[-1][0].intersects(window):
                merged[-1][0] = merged[-1][0].cover(window)
                merged[-1][1].append(window)
            else:
                merged.append([window, [window]])
        for result, parts in merged:
            if len(parts) > 1:
                callback.merge(parts, result)

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class AtLogout(Trigger[tuple, TimeWindow]):
    def on_element(self, element, timestamp, window, ctx):
        if element[2] == "out":
            return TriggerResult.FIRE_AND_PURGE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield "%s [%d, %d) %s" % (key, window.start, window.end, " ".join(e[2] for e in elements))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [
    ("a", 0, "in"), ("a", 5, "look"), ("b", 6, "in"), ("a", 22, "buy"), ("b", 30, "in"), ("a", 35, "out"), ("b", 45, "out"),
    ("a", 70, "in"), ("b", 80, "look"), ("a", 85, "look"), ("b", 99, "look"), ("a", 200, "in"),
]
events = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
)
visits = events.key_by(lambda v: v[0], Types.STRING()).window(Visits())
visits.process(Show(), Types.STRING()).map(lambda s: "default " + s, Types.STRING()).print()
visits.trigger(AtLogout()).process(Show(), Types.STRING()).map(lambda s: "logout " + s, Types.STRING()).print()
env.execute()
