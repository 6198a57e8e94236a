# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoMapFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Join(CoMapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map1(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return "left %s" % value[0]

    def map2(self, value):
        self.count.update((self.count.value() or 0) + 10)
        return None if value == "b" else "right %s" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
left = env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda p: p[0], Types.STRING())
right = env.from_collection(["a", "b"], Types.STRING()).key_by(lambda s: s, Types.STRING())
left.connect(right).map(Join(), Types.STRING()).print()
env.execute()
