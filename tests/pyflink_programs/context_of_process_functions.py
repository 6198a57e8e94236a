# compare: sorted
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 100


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        service = ctx.timer_service()
        yield "%s %s %s" % (value, ctx.timestamp(), service.current_processing_time() > 0)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT())
numbers.process(Show(), Types.STRING()).print("without")
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
numbers.assign_timestamps_and_watermarks(strategy).process(Show(), Types.STRING()).print("with")
env.execute()
