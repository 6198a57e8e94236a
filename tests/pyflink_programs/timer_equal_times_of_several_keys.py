# compare: sorted
# Flink gives no order among timers of the same time, hence sorted
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Total(KeyedProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(9223372036854775807)

    def on_timer(self, timestamp, ctx):
        yield "%s: %d" % (ctx.get_current_key(), self.total.value())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("d", 1), ("a", 2), ("c", 3), ("b", 4), ("a", 5), ("d", 6)]
stream = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.INT()]))
stream.key_by(lambda v: v[0]).process(Total(), Types.STRING()).print()
env.execute()
