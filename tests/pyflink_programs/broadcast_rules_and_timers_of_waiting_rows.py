# compare: sorted
from pyflink.common import Types, Row
from pyflink.datastream import StreamExecutionEnvironment, KeyedBroadcastProcessFunction, BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor, ListStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


class Apply(KeyedBroadcastProcessFunction):
    def open(self, ctx):
        self.waiting = ctx.get_list_state(ListStateDescriptor("waiting", Types.ROW([Types.STRING(), Types.INT()])))

    def process_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        ctx.timer_service().register_event_time_timer(100)
        self.waiting.add(value)
        if False:
            yield

    def process_broadcast_element(self, value, ctx):
        if value[1] is None:
            ctx.get_broadcast_state(RULES).remove(value[0])
        else:
            ctx.get_broadcast_state(RULES).put(value[0], value[1])
        if False:
            yield

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(RULES)
        for row in self.waiting.get():
            hit = [name for name, limit in rules.items() if row[1] > limit["above"]]
            yield "%s %s %s %s" % (ctx.get_current_key(), row[1], sorted(hit), rules.contains("low"))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = env.from_collection([Row("a", 5), Row("b", 15), Row("a", 25)], Types.ROW([Types.STRING(), Types.INT()]))
rules = env.from_collection([("low", {"above": 3}), ("high", {"above": 20}), ("gone", {"above": 0}), ("gone", None)])
data.key_by(lambda r: r[0], Types.STRING()).connect(rules.broadcast(RULES)).process(Apply(), Types.STRING()).print()
env.execute()
