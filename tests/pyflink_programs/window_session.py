# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Session(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield "%s %d-%d %s" % (key, window.start, window.end, sorted(e[1] for e in elements))


class GapOfKey(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 5 if element[0] == "a" else 20


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
# 20 touches the session that ends at exactly 20: they merge; 50 bridges nothing
data = [("a", 10), ("a", 20), ("b", 12), ("a", 31), ("b", 40), ("a", 50), ("b", 50)]
events = env.from_collection(data, pair).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
)
keyed = events.key_by(lambda v: v[0], Types.STRING())
keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(10))).process(Session(), Types.STRING()).print("fixed")
env.execute()
keyed.window(EventTimeSessionWindows.with_dynamic_gap(GapOfKey())).process(Session(), Types.STRING()).print("dynamic")
env.execute()
