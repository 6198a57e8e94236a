# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedCoProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Match(KeyedCoProcessFunction):
    """An order waits five for its payment; a payment without order is told when its time has come."""

    def open(self, context):
        self.order = context.get_state(ValueStateDescriptor("order", Types.LONG()))
        self.paid = context.get_list_state(ListStateDescriptor("paid", Types.LONG()))

    def process_element1(self, value, ctx):
        self.order.update(value[1])
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        yield "%s ordered at %d" % (ctx.get_current_key(), ctx.timestamp())

    def process_element2(self, value, ctx):
        self.paid.add(value[1])
        ctx.timer_service().register_event_time_timer(value[1] + 100)
        yield "%s paid at %d" % (ctx.get_current_key(), ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        order, paid = self.order.value(), list(self.paid.get())
        yield "%s timer %d order %s paid %s domain %s" % (ctx.get_current_key(), timestamp, order, paid, ctx.time_domain())
        if timestamp >= 100:
            self.order.clear()
            self.paid.clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
kind = Types.TUPLE([Types.STRING(), Types.LONG()])
orders = env.from_collection([("a", 1), ("b", 2), ("c", 3)], kind).assign_timestamps_and_watermarks(strategy)
payments = env.from_collection([("a", 4), ("c", 20), ("d", 21)], kind).assign_timestamps_and_watermarks(strategy)
results = list(
    orders.key_by(lambda v: v[0], Types.STRING())
    .connect(payments.key_by(lambda v: v[0], Types.STRING()))
    .process(Match(), Types.STRING())
    .execute_and_collect()
)
print(sorted(r for r in results if "timer" not in r))
print([r for r in results if "timer" in r and " a " in " " + r])
print(sorted(r for r in results if "timer 1" in r))
