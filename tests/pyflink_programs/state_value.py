# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class EverySecond(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.STRING()))

    def process_element(self, value, ctx: "KeyedProcessFunction.Context"):
        before = self.last.value()
        if before is None:
            self.last.update(value[1])
            yield "first %s of %s" % (value[1], ctx.get_current_key())
        else:
            self.last.clear()
            yield "%s after %s of %s" % (value[1], before, ctx.get_current_key())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
events = env.from_collection(
    [(1, "a"), (2, "b"), (1, "c"), (1, "d"), (2, "e"), (3, "f"), (1, "g")], Types.TUPLE([Types.INT(), Types.STRING()])
)
events.key_by(lambda e: e[0], Types.INT()).process(EverySecond(), Types.STRING()).print()
env.execute("value state")
