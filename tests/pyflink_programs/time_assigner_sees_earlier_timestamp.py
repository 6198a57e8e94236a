# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Fixed(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 1000 + value


class AddToEarlier(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 5


class ShowTime(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%d: %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
stream = env.from_collection([3, 1, 2], Types.INT())
once = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Fixed())
)
again = once.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(AddToEarlier())
)
again.process(ShowTime(), Types.STRING()).print()
env.execute()
