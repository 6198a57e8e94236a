# compare: exact
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import CountTumblingWindowAssigner, TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Everything(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "%d-%d %s" % (context.window().start, context.window().end, sorted(elements))


class Total(AllWindowFunction):
    def apply(self, window, inputs):
        yield "%d %d" % (window.start, sum(inputs))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 12, 3, 25, 7, 14], Types.LONG()).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
)
windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
numbers.window_all(windows).process(Everything(), Types.STRING()).print("process")
env.execute()
numbers.window_all(windows).apply(Total(), Types.STRING()).print("apply")
env.execute()
numbers.window_all(windows).reduce(lambda a, b: a + b).print("reduce")
env.execute()
numbers.window_all(CountTumblingWindowAssigner.of(2)).reduce(lambda a, b: a + b).print("count")
env.execute()
