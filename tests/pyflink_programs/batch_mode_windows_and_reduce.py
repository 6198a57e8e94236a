# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
env.set_parallelism(1)
events = env.from_collection([("a", 15), ("b", 4), ("a", 7), ("a", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
keyed = events.assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0], Types.STRING())
keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(lambda a, b: (a[0], a[1] + b[1])).print("window")
keyed.sum(1).print("sum")
env.execute()
