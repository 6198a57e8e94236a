# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
event = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
events = env.from_collection(
    [("a", 1000, 1), ("b", 1500, 2), ("a", 4999, 3), ("a", 5000, 4), ("b", 12000, 5), ("a", -1, 6)], event
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock()))
events.key_by(lambda v: v[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.seconds(5))).reduce(
    lambda x, y: (x[0], max(x[1], y[1]), x[2] + y[2])
).print()
env.execute()
