# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %d %s" % (key, context.window().start, list(elements))


class ApplyWindow(WindowFunction):
    def apply(self, key, window, inputs):
        for value in inputs:
            yield "%s %d-%d %s" % (key, window.start, window.end, value)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
events = env.from_collection([("a", 1), ("a", 2), ("b", 3), ("a", 11), ("b", 25)], pair).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
)
windowed = events.key_by(lambda v: v[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
windowed.aggregate(Count(), WithWindow(), Types.INT(), Types.STRING()).print("aggregate process")
env.execute()
windowed.aggregate(Count(), ApplyWindow(), Types.INT(), Types.STRING()).print("aggregate apply")
env.execute()
windowed.reduce(lambda a, b: (a[0], a[1] + b[1]), WithWindow(), Types.STRING()).print("reduce process")
env.execute()
windowed.apply(ApplyWindow(), Types.STRING()).print("apply")
env.execute()
