# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger, TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %s" % (key, [e[1] for e in elements])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("a", 5), ("b", 6), ("a", 12)]
events = env.from_collection(data, pair).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
)
keyed = events.key_by(lambda v: v[0], Types.STRING())
windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
keyed.window(windows).trigger(CountTrigger.of(2)).process(Show(), Types.STRING()).print("count")
env.execute()
keyed.window(windows).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Show(), Types.STRING()).print("purging")
env.execute()
keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(3)).process(Show(), Types.STRING()).print("global")
env.execute()
keyed.window(GlobalWindows.create()).process(Show(), Types.STRING()).print("never")
env.execute()
