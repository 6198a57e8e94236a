# compare: sorted
# In BATCH mode a key's timers fire when all its elements are through; only that much is shown here.
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(10)

    def on_timer(self, timestamp, ctx):
        yield "%s %d %d" % (ctx.get_current_key(), self.sum.value(), ctx.timer_service().current_watermark())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
data = env.from_collection([("d", 1), ("a", 2), ("c", 3), ("a", 5), ("d", 4)], pair)
data.key_by(lambda v: v[0], Types.STRING()).process(Sum(), Types.STRING()).print()
env.execute()
