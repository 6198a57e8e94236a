# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


from pyflink.datastream.functions import ProcessAllWindowFunction


class Names(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return accumulator + value[0]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Count(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "%d-%d %d" % (context.window().start, context.window().end, len(list(elements)))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
events = env.from_collection([("a", 1), ("b", 4), ("a", 7), ("a", 12), ("b", 13), ("a", 25)], Types.TUPLE([Types.STRING(), Types.INT()]))
events = events.assign_timestamps_and_watermarks(strategy)
windows = events.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
windows.reduce(lambda a, b: (a[0] + b[0], a[1] + b[1])).print()
windows.aggregate(Names(), output_type=Types.STRING()).print()
windows.process(Count(), Types.STRING()).print()
env.execute()
