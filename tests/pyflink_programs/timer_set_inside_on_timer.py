# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Countdown(KeyedProcessFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.INT()))

    def process_element(self, value, ctx):
        self.left.update(value)
        ctx.timer_service().register_event_time_timer(10)

    def on_timer(self, timestamp, ctx):
        left = self.left.value()
        yield "%d: %d left" % (timestamp, left)
        if left > 0:
            self.left.update(left - 1)
            ctx.timer_service().register_event_time_timer(timestamp + 10)
        else:
            self.left.clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([3], Types.INT()).key_by(lambda v: 0).process(Countdown(), Types.STRING()).print()
env.execute()
