# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoProcessFunction, OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows

right = OutputTag("right", Types.STRING())
small = OutputTag("small", Types.INT())


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Both(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield right, "right %s" % value


class Sum(ProcessWindowFunction):
    def process(self, key, context, elements):
        total = sum(elements)
        if total < 5:
            yield small, total
        else:
            yield total


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 13, 14], Types.INT())
both = numbers.connect(env.from_collection(["x"], Types.STRING())).process(Both(), Types.INT())
both.print("left")
both.get_side_output(right).print("side")
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
sums = numbers.assign_timestamps_and_watermarks(strategy).key_by(lambda n: 0, Types.INT()) \
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Sum(), Types.INT())
sums.print("sums")
sums.get_side_output(small).print("small")
env.execute()
