# compare: sorted
# Which of the two inputs is read first is not defined, so the program only tells what does not depend on it.
from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.get_broadcast_state(rules)
        yield "value %d" % value

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules)
        state.put(value[0], value[1])
        yield "rule %s, now %s" % (value[0], sorted(state.items()))
        if value[0] == "last":
            state.remove("first")
            yield "after removing %s %s" % (sorted(state.keys()), state.contains("first"))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], Types.INT())
changes = env.from_collection([("first", 1), ("next", 2), ("first", 5), ("last", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
numbers.connect(changes.broadcast(rules)).process(Apply(), Types.STRING()).print()
env.execute()
