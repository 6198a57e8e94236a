# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Show(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.STRING()))

    def process_element(self, value, ctx):
        empty = self.map.is_empty()
        self.map.put(value[1], value[0] * value[1])
        self.map[value[1] + 10] = "x"
        if value[1] == 4:
            self.map.remove(1)
            del self.map[11]
        yield "%s %s %s %s" % (value[0], empty, sorted(self.map.keys()), sorted(self.map.values()))
        yield "%s %s %s" % (sorted(self.map.items()), 3 in self.map, self.map.contains(99))
        yield "%s %s" % (self.map.get(value[1]), self.map[value[1]])
        if value[1] == 5:
            self.map.clear()
            yield "cleared %s" % self.map.is_empty()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.key_by(lambda p: p[0], Types.STRING()).process(Show(), Types.STRING()).print()
env.execute()
