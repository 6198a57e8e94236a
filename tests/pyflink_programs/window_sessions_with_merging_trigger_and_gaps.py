# compare: sorted
from typing import Iterable
from pyflink.common import Types, WatermarkStrategy, Time
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, ProcessWindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    Trigger,
    TriggerResult,
    SessionWindowTimeGapExtractor,
    TimeWindow,
)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class EveryTwo(Trigger):
    def __init__(self):
        self.d = ReducingStateDescriptor("n", lambda a, b: a + b, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        n = ctx.get_partitioned_state(self.d)
        n.add(1)
        if n.get() >= 2:
            n.clear()
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.d)
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.d).clear()


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 5 if element[0] == "a" else 20


class Show(ProcessWindowFunction[tuple, str, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple]
    ) -> Iterable[str]:
        return ["%s %d-%d %s" % (key, context.window().start, context.window().end, sorted(e[1] for e in elements))]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
ds = env.from_collection(
    [("a", 1), ("b", 1), ("a", 4), ("a", 20), ("b", 12), ("a", 23), ("a", 8), ("b", 50)],
    Types.TUPLE([Types.STRING(), Types.INT()]),
)
keyed = ds.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
).key_by(lambda t: t[0], Types.STRING())
keyed.window(EventTimeSessionWindows.with_dynamic_gap(Gap())).trigger(EveryTwo()).process(Show(), Types.STRING()).print(
    "s"
)
keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(6))).reduce(
    lambda a, b: (a[0], max(a[1], b[1])), Show() if False else None, Types.TUPLE([Types.STRING(), Types.INT()])
).print("r")
env.execute()
