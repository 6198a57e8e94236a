# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Longest(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return max(accumulator, value[1])

    def get_result(self, accumulator):
        return "longest %d" % accumulator

    def merge(self, a, b):
        return max(a, b)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
events = env.from_collection([("a", 1), ("b", 4), ("a", 7), ("a", 12), ("b", 13), ("a", 25)], Types.TUPLE([Types.STRING(), Types.INT()]))
events = events.assign_timestamps_and_watermarks(strategy)
windows = events.key_by(lambda e: e[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
windows.reduce(lambda a, b: (a[0], a[1] + b[1])).print()
windows.aggregate(Longest(), accumulator_type=Types.INT(), output_type=Types.STRING()).print()
env.execute()
