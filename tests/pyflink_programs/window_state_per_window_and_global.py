# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Firings(ProcessWindowFunction):
    def process(self, key, context, elements):
        in_window = ValueStateDescriptor("firings in window", Types.INT())
        here = context.window_state().get_state(in_window)
        everywhere = context.global_state().get_state(ValueStateDescriptor("firings", Types.INT()))
        here.update((here.value() or 0) + 1)
        everywhere.update((everywhere.value() or 0) + 1)
        yield "%s %d window %d global %d size %d" % (
            key, context.window().start, here.value(), everywhere.value(), len(list(elements))
        )

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("firings in window", Types.INT())).clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
events = env.from_collection(
    [("a", 1), ("a", 2), ("b", 3), ("a", 11), ("a", 12)], Types.TUPLE([Types.STRING(), Types.LONG()])
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock()))
events.key_by(lambda v: v[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(
    CountTrigger.of(1)
).process(Firings(), Types.STRING()).print()
env.execute()
