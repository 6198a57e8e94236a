# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

names = MapStateDescriptor("names", Types.INT(), Types.STRING())


class Keep(BroadcastProcessFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        yield "element %d" % value

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(names)
        state.put(len(list(state.keys())), value)
        yield "subtask %d has %s" % (self.subtask, sorted(state.items()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection([1, 2, 3, 4], Types.INT())
words = env.from_collection(["x", "y"], Types.STRING())
numbers.connect(words.broadcast(names)).process(Keep(), Types.STRING()).print()
env.execute()
