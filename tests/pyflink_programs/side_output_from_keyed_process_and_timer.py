# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

alerts = OutputTag("alerts", Types.TUPLE([Types.STRING(), Types.INT()]))


class Watch(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        total = (self.sum.value() or 0) + value[1]
        self.sum.update(total)
        if total > 10:
            yield alerts, (value[0], total)
        ctx.timer_service().register_event_time_timer(1)
        yield value

    def on_timer(self, timestamp, ctx):
        yield alerts, (ctx.get_current_key() + " at end", self.sum.value())
        yield ctx.get_current_key() + " done", 0


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
main = env.from_collection([("a", 6), ("b", 3), ("a", 6), ("b", 4)], pair).key_by(lambda v: v[0]).process(Watch(), pair)
main.print("main")
main.get_side_output(alerts).print("alert")
env.execute()
