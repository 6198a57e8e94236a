# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Join(WindowFunction):
    def apply(self, key, window, inputs):
        return ["%s %d-%d %s" % (key, window.start, window.end, [i[1] for i in inputs])]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
events = env.from_collection([("a", 1), ("b", 4), ("a", 7), ("a", 12), ("b", 13), ("a", 25)], Types.TUPLE([Types.STRING(), Types.INT()]))
events = events.assign_timestamps_and_watermarks(strategy)
events.key_by(lambda e: e[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).apply(Join(), Types.STRING()).print()
env.execute()
