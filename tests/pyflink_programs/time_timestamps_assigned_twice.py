# compare: sorted
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessFunction


class First(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 10


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + value


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%d at %s" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([3, 1, 2], Types.INT())
numbers.process(Show(), Types.STRING()).print()
once = numbers.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(First())
)
once.process(Show(), Types.STRING()).print("once")
once.map(lambda n: n + 1, Types.INT()).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
).process(Show(), Types.STRING()).print("twice")
env.execute()
