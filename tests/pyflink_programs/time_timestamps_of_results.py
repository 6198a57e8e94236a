# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Minutes(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 60000


class Twice(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1)
        yield "element %d" % value

    def on_timer(self, timestamp, ctx):
        yield "timer %d" % timestamp


class ShowTime(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s carries %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
timed = env.from_collection([1, 2, 5], Types.INT()).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Minutes())
)
timed.map(lambda n: n, Types.INT()).key_by(lambda n: n % 2).process(Twice(), Types.STRING()).process(
    ShowTime(), Types.STRING()
).print()
env.execute()
