# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for delay in (30, 10, 20):
            ctx.timer_service().register_event_time_timer(value[1] + delay)

    def on_timer(self, timestamp, ctx):
        yield "%s %d %d %s" % (ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain().name)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
events = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()])).assign_timestamps_and_watermarks(strategy)
events.key_by(lambda e: e[0], Types.STRING()).process(Remind(), Types.STRING()).print()
env.execute()
