# compare: exact
import time

from pyflink.common import Configuration, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


def slowly(n):
    time.sleep(0.5)
    return n


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 150)
        yield "element %d" % value

    def on_timer(self, timestamp, ctx):
        yield "timer of %s, %s" % (ctx.get_current_key(), ctx.time_domain().name)


# A bundle for each record, so that PyFlink too hands them on as they come.
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"python.fn-execution.bundle.size": "1"}))
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], Types.INT()).map(slowly, Types.INT())
numbers.key_by(lambda n: n % 2, Types.INT()).process(Remind(), Types.STRING()).print()
env.execute()
