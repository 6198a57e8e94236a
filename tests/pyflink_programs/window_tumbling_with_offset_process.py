# compare: sorted
from typing import Iterable

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TimeWindow, TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Describe(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements: Iterable):
        window: TimeWindow = context.window()
        yield "%s [%d, %d) max %d: %s, watermark %s" % (
            key, window.start, window.end, window.max_timestamp(), sorted(e[1] for e in elements),
            context.current_watermark() >= window.max_timestamp(),
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
events = env.from_collection(
    [("a", 100), ("a", 1100), ("b", 1200), ("a", 1250), ("a", 900)], Types.TUPLE([Types.STRING(), Types.LONG()])
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock()))
events.key_by(lambda v: v[0], Types.STRING()).window(
    TumblingEventTimeWindows.of(Time.seconds(1), Time.milliseconds(200))
).process(Describe(), Types.STRING()).print()
env.execute()
