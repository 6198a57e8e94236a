# compare: exact
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_idleness(Duration.of_seconds(5)) \
    .with_timestamp_assigner(Stamp())
numbers = env.from_collection([1, 15, 3, 12, 2], Types.INT()).assign_timestamps_and_watermarks(strategy)
numbers.key_by(lambda n: 0, Types.INT()).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(lambda a, b: a + b).print()
env.execute()
