# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Show(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        if value[1] == 3:
            self.seen.add_all([30, 31])
        if value[1] == 4:
            self.seen.update([0])
        yield "%s %s" % (value[0], list(self.seen.get()))
        if value[1] == 4:
            self.seen.clear()
            yield "cleared %s" % list(self.seen)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.key_by(lambda p: p[0], Types.STRING()).process(Show(), Types.STRING()).print()
env.execute()
