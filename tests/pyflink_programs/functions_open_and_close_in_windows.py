# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream import (AggregateFunction, ProcessWindowFunction, ReduceFunction,
                                StreamExecutionEnvironment)
from pyflink.datastream.window import TumblingEventTimeWindows


class Announced:
    def open(self, runtime_context):
        print(type(self).__name__, "opened", flush=True)

    def close(self):
        print(type(self).__name__, "closed", flush=True)


class Add(ReduceFunction):
    def reduce(self, a, b):
        return a + b


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Each(Announced, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield sum(elements)


class All(Announced, ProcessAllWindowFunction):
    def process(self, context, elements):
        yield sum(elements)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
numbers = env.from_collection([1, 2, 3, 14], Types.INT()).assign_timestamps_and_watermarks(strategy)
windows = numbers.key_by(lambda n: n % 2, Types.INT()).window(TumblingEventTimeWindows.of(Time.seconds(10)))
windows.reduce(Add()).print("reduce")
env.execute()
windows.aggregate(Total(), output_type=Types.INT()).print("aggregate")
env.execute()
windows.process(Each(), Types.INT()).print("process")
env.execute()
windows.reduce(Add(), Each(), Types.INT()).print("reduce and process")
env.execute()
numbers.window_all(TumblingEventTimeWindows.of(Time.seconds(10))).process(All(), Types.INT()).print("all")
env.execute()
