# compare: sorted
from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedCoProcessFunction, KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Latest(KeyedCoProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element1(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield "%s left" % value[0]

    def process_element2(self, value, ctx):
        self.count.update((self.count.value() or 0) + 10)
        yield "%s right" % value[0]


class Ends(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(9223372036854775807)

    def on_timer(self, timestamp, ctx):
        yield "%s %d" % (ctx.get_current_key(), self.count.value())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
env.set_parallelism(1)
kind = Types.TUPLE([Types.STRING(), Types.INT()])
left = env.from_collection([("a", 1), ("b", 2), ("a", 3)], kind)
right = env.from_collection([("b", 4), ("c", 5)], kind)
left.key_by(lambda v: v[0], Types.STRING()).connect(right.key_by(lambda v: v[0], Types.STRING())).process(
    Latest(), Types.STRING()
).print()
left.key_by(lambda v: v[0], Types.STRING()).process(Ends(), Types.STRING()).print()
left.union(right, left).key_by(lambda v: v[0], Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1])).print()
env.execute()
