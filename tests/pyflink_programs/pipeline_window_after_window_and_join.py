# compare: exact
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class PerKey(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().max_timestamp(), sum(e[2] for e in elements)


class Best(ProcessAllWindowFunction):
    def process(self, context, elements):
        best = sorted(elements, key=lambda e: (-e[2], e[0]))[:2]
        yield "%d: %s" % (context.window().end, [(e[0], e[2]) for e in best])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("abc"[n % 3], n * 2, n) for n in range(30)]
kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
keyed = (
    env.from_collection(data, kind)
    .assign_timestamps_and_watermarks(strategy)
    .key_by(lambda v: v[0], Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .process(PerKey(), kind)
)
keyed.window_all(TumblingEventTimeWindows.of(Time.milliseconds(20))).process(Best(), Types.STRING()).print()
env.execute()
