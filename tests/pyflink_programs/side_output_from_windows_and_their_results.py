# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction, ProcessWindowFunction
from pyflink.datastream.output_tag import OutputTag
from pyflink.datastream.window import TumblingEventTimeWindows

large = OutputTag("large", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Totals(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sum(e[2] for e in elements)


class Split(KeyedProcessFunction):
    def process_element(self, value, ctx):
        if value[1] > 5:
            yield large, value
        else:
            yield "small %s %d" % (value[0], value[1])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1, 2), ("b", 2, 3), ("a", 6, 9), ("b", 12, 1), ("a", 13, 4), ("a", 14, 4)]
kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
totals = (
    env.from_collection(data, kind)
    .assign_timestamps_and_watermarks(strategy)
    .key_by(lambda v: v[0], Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .process(Totals(), Types.TUPLE([Types.STRING(), Types.LONG()]))
)
split = totals.key_by(lambda v: v[0], Types.STRING()).process(Split(), Types.STRING())
split.print()
split.get_side_output(large).map(lambda v: "large %s %d" % v, Types.STRING()).print()
env.execute()
