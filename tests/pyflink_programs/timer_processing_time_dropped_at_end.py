# compare: exact
# A bounded job does not wait for processing-time timers that lie in the future: they are dropped.
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Wait(KeyedProcessFunction):
    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 3600 * 1000)
        yield "waiting for %s" % value

    def on_timer(self, timestamp, ctx):
        yield "never"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection(["a", "b"], Types.STRING()).key_by(lambda v: v).process(Wait(), Types.STRING()).print()
env.execute()
