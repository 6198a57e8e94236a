# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 10


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%d at %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
print(isinstance(Stamp(), object), hasattr(TimestampAssigner, "open"), hasattr(TimestampAssigner, "close"))
numbers = env.from_collection([1, 2, 3], Types.INT())
numbers.assign_timestamps_and_watermarks(strategy).process(Show(), Types.STRING()).print()
env.execute()
