# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield "%s %d" % (ctx.get_current_key(), self.count.value())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules).put(value, len(value))
        yield "rule %s %d" % (value, ctx.get_broadcast_state(rules).get(value))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
limits = env.from_collection(["x", "yy"], Types.STRING()).broadcast(rules)
pairs.key_by(lambda p: p[0], Types.STRING()).connect(limits).process(Apply(), Types.STRING()).print()
env.execute()
