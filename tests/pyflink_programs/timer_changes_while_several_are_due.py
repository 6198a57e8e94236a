# compare: exact
# in thread mode PyFlink prints 100, 150, 200 here
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Rearrange(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for time in (300, 100, 200):
            ctx.timer_service().register_event_time_timer(time)

    def on_timer(self, timestamp, ctx):
        yield timestamp
        if timestamp == 100:
            # all three are due at the final watermark already: 300 fires in spite of this, 150 comes after it
            ctx.timer_service().register_event_time_timer(150)
            ctx.timer_service().delete_event_time_timer(300)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1], Types.INT()).key_by(lambda v: v).process(Rearrange(), Types.LONG()).print()
env.execute()
