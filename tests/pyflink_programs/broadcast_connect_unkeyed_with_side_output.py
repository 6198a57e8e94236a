# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.output_tag import OutputTag
from pyflink.datastream.state import MapStateDescriptor

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
seen = OutputTag("seen", Types.STRING())


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules)
        known = sorted(key for key, _ in state.items())
        yield seen, "element %s" % value
        if not hasattr(state, "put"):
            yield "read only"
        yield "%s %s" % (value, set(known) <= {"double", "limit"})

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules)
        state.put(value[0], value[1])
        if value[1] < 0:
            state.remove(value[0])
        yield seen, "rule %s, now %d" % (value[0], len(list(state.items())))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
elements = env.from_collection(["x", "y"], Types.STRING())
changes = env.from_collection([("limit", 3), ("double", 2), ("limit", -1)], Types.TUPLE([Types.STRING(), Types.INT()]))
result = elements.connect(changes.broadcast(rules)).process(Apply(), Types.STRING())
result.print()
result.get_side_output(seen).print()
env.execute()
