# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import DynamicEventTimeSessionWindows, SessionWindowTimeGapExtractor


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 4 if element[0] == "a" else 20


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield "%s [%s, %s) %d" % (key, getattr(window, "start", ""), getattr(window, "end", ""), len(list(elements)))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
events = env.from_collection([("a", 1), ("b", 4), ("a", 7), ("a", 12), ("b", 13), ("a", 25)], Types.TUPLE([Types.STRING(), Types.INT()]))
events = events.assign_timestamps_and_watermarks(strategy)
events.key_by(lambda e: e[0], Types.STRING()).window(DynamicEventTimeSessionWindows(Gap())).process(Count(), Types.STRING()).print()
env.execute()
