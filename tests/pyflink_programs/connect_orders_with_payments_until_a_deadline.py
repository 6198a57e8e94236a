# compare: sorted
from pyflink.common import Types, WatermarkStrategy, Row
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, KeyedCoProcessFunction, OutputTag
from pyflink.datastream.state import ValueStateDescriptor, ListStateDescriptor, MapStateDescriptor

LATE = OutputTag("unmatched", Types.ROW([Types.STRING(), Types.INT()]))


class Stamp(TimestampAssigner):
    def __init__(self, place):
        self.place = place

    def extract_timestamp(self, value, record_timestamp):
        return value[self.place]


class Match(KeyedCoProcessFunction):
    def open(self, ctx):
        self.order = ctx.get_state(ValueStateDescriptor("order", Types.PICKLED_BYTE_ARRAY()))
        self.paid = ctx.get_map_state(MapStateDescriptor("paid", Types.STRING(), Types.DOUBLE()))
        self.timer = ctx.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element1(self, order, ctx):
        self.order.update(order)
        due = ctx.timestamp() + 10
        ctx.timer_service().register_event_time_timer(due)
        self.timer.update(due)

    def process_element2(self, payment, ctx):
        self.paid.put(payment[1], (self.paid.get(payment[1]) or 0.0) + payment[2])
        if self.order.value() is not None and sum(self.paid.values()) >= self.order.value()[1]:
            if self.timer.value():
                ctx.timer_service().delete_event_time_timer(self.timer.value())
                self.timer.clear()
            yield "%s done %s by %s" % (ctx.get_current_key(), self.order.value()[1], sorted(self.paid.items()))
            self.order.clear()
            self.paid.clear()

    def on_timer(self, timestamp, ctx):
        yield LATE, Row("%s at %d" % (ctx.get_current_key(), timestamp), len(list(self.paid.keys())))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
orders = env.from_collection(
    [("a", 10.0, 1), ("b", 5.0, 2), ("c", 7.5, 3)], Types.TUPLE([Types.STRING(), Types.DOUBLE(), Types.LONG()])
)
payments = env.from_collection(
    [("a", "card", 6.0, 2), ("b", "cash", 1.0, 3), ("a", "cash", 4.0, 4), ("c", "card", 7.5, 5)],
    Types.TUPLE([Types.STRING(), Types.STRING(), Types.DOUBLE(), Types.LONG()]),
)
ws = lambda p: WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(p))
o = orders.assign_timestamps_and_watermarks(ws(2)).key_by(lambda r: r[0], Types.STRING())
p = payments.assign_timestamps_and_watermarks(ws(3)).key_by(lambda r: r[0], Types.STRING())
res = o.connect(p).process(Match(), Types.STRING())
res.print("done")
res.get_side_output(LATE).map(lambda r: (r[0], r[1] * 10), Types.TUPLE([Types.STRING(), Types.INT()])).print("late")
env.execute()
