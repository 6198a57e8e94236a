# compare: sorted
from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessWindowFunction, ReduceFunction
from pyflink.datastream.window import SlidingEventTimeWindows


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Larger(ReduceFunction):
    def reduce(self, a, b):
        return a if a[2] >= b[2] else b


class Tell(ProcessWindowFunction):
    def process(self, key, context, elements):
        (element,) = elements
        window = context.window()
        yield Row(key, window.start, window.end, element[2], context.current_watermark() >= window.max_timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
data = [("abcd"[n % 4], 5 * n, (n * 7) % 11) for n in range(16)]
kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
env.from_collection(data, kind).assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], Types.STRING()).window(
    SlidingEventTimeWindows.of(Time.milliseconds(40), Time.milliseconds(20), Time.milliseconds(5))
).reduce(Larger(), Tell(), Types.ROW([Types.STRING(), Types.LONG(), Types.LONG(), Types.INT(), Types.BOOLEAN()])).map(
    lambda row: " ".join(str(field) for field in row), Types.STRING()
).set_parallelism(1).print().set_parallelism(1)
env.execute()
