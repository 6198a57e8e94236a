# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor


class Keep(KeyedProcessFunction):
    def open(self, context):
        self.lists = context.get_map_state(MapStateDescriptor("lists", Types.STRING(), Types.LIST(Types.INT())))
        self.rows = context.get_list_state(
            ListStateDescriptor("rows", Types.ROW_NAMED(["n", "word"], [Types.INT(), Types.STRING()]))
        )

    def process_element(self, value, ctx):
        word, number = value[1], value[2]
        before = self.lists.get(word) or []
        self.lists.put(word, list(before) + [number])
        self.rows.add(Row(number, word))
        if number == 3:
            self.lists.remove("x")
        yield "%s %s %s" % (
            value[0],
            sorted((k, list(v)) for k, v in self.lists.items()),
            [(row[0], row[1]) for row in self.rows.get()],
        )
        yield "%s %s %s" % (self.lists.contains("x"), self.lists.is_empty(), sorted(self.lists.keys()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", "x", 1), ("a", "y", 2), ("b", "x", 5), ("a", "x", 3), ("a", "x", 4)]
env.from_collection(data, Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])).key_by(
    lambda v: v[0], Types.STRING()
).process(Keep(), Types.STRING()).print()
env.execute()
