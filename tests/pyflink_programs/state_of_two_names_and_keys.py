# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Show(KeyedProcessFunction):
    def open(self, runtime_context):
        self.one = runtime_context.get_state(ValueStateDescriptor("one", Types.INT()))
        self.two = runtime_context.get_state(ValueStateDescriptor("two", Types.STRING()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.STRING()))

    def process_element(self, value, ctx):
        self.one.update((self.one.value() or 0) + value[1])
        self.two.update((self.two.value() or "") + value[0])
        self.all.add(self.two.value())
        yield "%s %s %s %s" % (ctx.get_current_key(), self.one.value(), self.two.value(), list(self.all.get()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.key_by(lambda p: p[0], Types.STRING()).process(Show(), Types.STRING()).print()
env.execute()
