# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        yield "%s at %d" % (value[0], ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        yield "timer of %s at %d, record time %d, %s" % (
            ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain().name
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
events = env.from_collection([("a", 1), ("b", 5), ("a", 7), ("c", 100)], Types.TUPLE([Types.STRING(), Types.LONG()]))
timed = events.assign_timestamps_and_watermarks(strategy)
timed.key_by(lambda v: v[0], Types.STRING()).process(Remind(), Types.STRING()).print()
env.execute()
