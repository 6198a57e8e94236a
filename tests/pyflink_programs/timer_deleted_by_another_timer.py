# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for moment in (10, 20, 30, 40):
            ctx.timer_service().register_event_time_timer(moment)
        ctx.timer_service().delete_event_time_timer(30)
        ctx.timer_service().delete_event_time_timer(999)
        yield "element %d watermark below %s" % (value[1], ctx.timer_service().current_watermark() < value[1])

    def on_timer(self, timestamp, ctx):
        yield "timer %d of %s, timestamp %s" % (timestamp, ctx.get_current_key(), ctx.timestamp())
        if timestamp == 10:
            ctx.timer_service().delete_event_time_timer(20)
            ctx.timer_service().register_event_time_timer(5)
            ctx.timer_service().register_event_time_timer(35)
        if timestamp == 35:
            ctx.timer_service().delete_event_time_timer(35)
            ctx.timer_service().delete_event_time_timer(40)
            ctx.timer_service().register_event_time_timer(50)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
env.from_collection([("a", 1), ("a", 2)], Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
    strategy
).key_by(lambda v: v[0], Types.STRING()).process(Timers(), Types.STRING()).print()
env.execute()
