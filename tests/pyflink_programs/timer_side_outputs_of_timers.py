# compare: sorted
from pyflink.common import *
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import *
from pyflink.datastream.functions import *


class TA(TimestampAssigner):
    def extract_timestamp(self, v, t):
        return v[1]


T = Types.TUPLE([Types.STRING(), Types.LONG()])
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
tag = OutputTag("late", Types.STRING())


class P(KeyedProcessFunction):
    def process_element(self, v, ctx):
        ts = ctx.timer_service()
        ts.register_event_time_timer(v[1] + 10)
        ts.register_event_time_timer(v[1] + 10)
        ts.delete_event_time_timer(13)
        ts.register_processing_time_timer(9223372036854775000)
        yield "%s %s %s %s" % (
            ctx.get_current_key(),
            ctx.timestamp(),
            ts.current_watermark(),
            ts.current_processing_time() > 0,
        )
        yield tag, "side %s" % v[0]

    def on_timer(self, t, ctx):
        yield "timer %s %s %s %s" % (
            t,
            ctx.get_current_key(),
            ctx.timestamp(),
            ctx.time_domain() == TimeDomain.EVENT_TIME,
        )
        yield tag, "side timer %d" % t
        if t < 30:
            ctx.timer_service().register_event_time_timer(t + 100)


m = (
    env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 100)], T)
    .assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TA()))
    .key_by(lambda v: v[0], Types.STRING())
    .process(P(), Types.STRING())
)
m.print("main")
m.get_side_output(tag).print("side")
env.execute()


class Q(ProcessFunction):
    def process_element(self, v, ctx):
        yield "%s %s" % (ctx.timestamp(), ctx.timer_service().current_watermark())


env.from_collection([1], Types.INT()).process(Q(), Types.STRING()).print()
env.execute()


class R(ProcessFunction):
    def process_element(self, v, ctx):
        ctx.timer_service().register_event_time_timer(1)
        yield "x"


env.from_collection([1], Types.INT()).process(R(), Types.STRING()).print()
try:
    env.execute()
except Exception as e:
    print("refused")
