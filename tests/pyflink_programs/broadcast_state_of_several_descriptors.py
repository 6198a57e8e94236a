# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import BroadcastProcessFunction, KeyedBroadcastProcessFunction, OutputTag, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.ROW_NAMED(["low", "high"], [Types.INT(), Types.INT()]))
NOTES = MapStateDescriptor("notes", Types.INT(), Types.STRING())
REST = OutputTag("rest", Types.STRING())


class Check(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.INT()))

    def process_element(self, value, ctx):
        self.waiting.add(value[1])
        ctx.timer_service().register_event_time_timer(10)
        try:
            ctx.get_broadcast_state(RULES).put("x", Row(low=0, high=0))
        except Exception as error:
            yield "read only for %s" % ctx.get_current_key()

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], Row(low=value[1], high=value[2]))
        ctx.get_broadcast_state(NOTES).put(value[1], value[0])
        yield REST, "rule %s" % value[0]

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(RULES)
        key = ctx.get_current_key()
        if rules.contains(key):
            rule = rules.get(key)
            yield "%s %s" % (key, [n for n in self.waiting.get() if rule.low <= n <= rule.high])
        else:
            yield REST, "%s %s %s" % (key, list(self.waiting.get()), sorted(ctx.get_broadcast_state(NOTES).items()))


class Plain(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield "plain %s %s" % (value[0], value[1])

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(NOTES)
        state.put(value[1], value[0])
        if state.is_empty():
            yield "never"
        yield "notes %s %s" % (value[0], ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
rules = env.from_collection([("a", 1, 5), ("b", 3, 9), ("a", 2, 4)], Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()]))
values = env.from_collection([("a", 1), ("a", 2), ("b", 9), ("c", 7), ("a", 4), ("b", 10)], Types.TUPLE([Types.STRING(), Types.INT()]))
checked = values.key_by(lambda v: v[0], Types.STRING()).connect(rules.broadcast(RULES, NOTES)).process(Check(), Types.STRING())
checked.print()
checked.get_side_output(REST).print()
values.connect(rules.broadcast(NOTES)).process(Plain(), Types.STRING()).print()
try:
    values.connect(rules.broadcast(NOTES)).process(Check(), Types.STRING())
    print("taken")
except Exception as error:
    print("refused", isinstance(error, TypeError))
env.execute()
