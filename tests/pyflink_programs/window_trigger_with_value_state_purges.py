# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import SlidingEventTimeWindows, Trigger, TriggerResult


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class EverySecond(Trigger):
    def __init__(self):
        self.seen = ValueStateDescriptor("seen", Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        seen = ctx.get_partitioned_state(self.seen)
        seen.update((seen.value() or 0) + 1)
        if seen.value() == 2:
            seen.clear()
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.seen).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        w = context.window()
        yield "%s [%d,%d) %s" % (key, w.start, w.end, [e[2] for e in elements])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", t, t * 10) for t in (0, 1, 3, 4, 6, 9, 12)] + [("b", 13, 1)]
kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
env.from_collection(data, kind).assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], Types.STRING()).window(
    SlidingEventTimeWindows.of(Time.milliseconds(8), Time.milliseconds(4))
).trigger(EverySecond()).process(Show(), Types.STRING()).print()
env.execute()
