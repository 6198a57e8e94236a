# compare: exact
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Longest(AggregateFunction):
    def create_accumulator(self):
        return 0, ""

    def add(self, value, accumulator):
        return accumulator[0] + 1, max(accumulator[1], value[2], key=len)

    def get_result(self, accumulator):
        return "%d words, longest %s" % accumulator

    def merge(self, a, b):
        return a[0] + b[0], max(a[1], b[1], key=len)


class Tell(ProcessWindowFunction):
    def process(self, key, context, elements):
        for element in elements:
            yield "%s %d..%d %s" % (key, context.window().start, context.window().end, element)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1, "go"), ("a", 3, "river"), ("b", 4, "x"), ("a", 20, "sea"), ("a", 22, "mountain"), ("b", 30, "yy"), ("a", 60, "end")]
kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
env.from_collection(data, kind).assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], Types.STRING()).window(
    EventTimeSessionWindows.with_gap(Time.milliseconds(10))
).aggregate(Longest(), Tell(), accumulator_type=Types.TUPLE([Types.INT(), Types.STRING()]), output_type=Types.STRING()).print()
env.execute()
