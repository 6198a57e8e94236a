# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class LastThree(KeyedProcessFunction):
    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.INT()))

    def process_element(self, value, ctx):
        key, number = value
        if number == 0:
            self.items.clear()
        elif number < 0:
            self.items.add_all([-number, -number])
        else:
            self.items.add(number)
        kept = list(self.items.get())
        if len(kept) > 3:
            kept = kept[-3:]
            self.items.update(kept)
        yield key, kept


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1), ("b", 7), ("a", 2), ("a", -3), ("b", 0), ("b", 8), ("a", 4), ("a", 0)]
stream = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.INT()]))
for result in stream.key_by(lambda v: v[0]).process(LastThree()).execute_and_collect():
    print(result)
