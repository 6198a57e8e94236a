# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Join(KeyedCoProcessFunction):
    """Joins orders with payments, whichever comes first, and reports the rest at the end."""

    def open(self, runtime_context):
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.STRING()))
        self.payments = runtime_context.get_list_state(ListStateDescriptor("payments", Types.INT()))

    def process_element1(self, value, ctx):
        self.order.update(value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.payments.add(value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield "%d: %s %s" % (ctx.get_current_key(), self.order.value(), sorted(self.payments.get()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
orders = env.from_collection([(1, "book"), (2, "pen"), (3, "ink")], Types.TUPLE([Types.INT(), Types.STRING()]))
payments = env.from_collection([(1, 5), (3, 2), (4, 9), (1, 6)], Types.TUPLE([Types.INT(), Types.INT()]))
orders.key_by(lambda v: v[0]).connect(payments.key_by(lambda v: v[0])).process(Join(), Types.STRING()).print()
env.execute()
