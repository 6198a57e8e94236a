# compare: exact
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Top(ProcessAllWindowFunction):
    def process(self, context, elements):
        best = max(elements, key=lambda e: (e[2], e[0]))
        yield "%d %s %d" % (context.window().start, best[0], best[2])


class ShowTime(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s carries %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
event = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
events = env.from_collection(
    [("a", 1, 1), ("b", 2, 5), ("a", 3, 2), ("a", 14, 1), ("b", 15, 1), ("a", 16, 3)], event
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock()))
windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
per_key = events.key_by(lambda v: v[0], Types.STRING()).window(windows).reduce(lambda x, y: (x[0], y[1], x[2] + y[2]))
per_key.window_all(windows).process(Top(), Types.STRING()).process(ShowTime(), Types.STRING()).print()
env.execute()
