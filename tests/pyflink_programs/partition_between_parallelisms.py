# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Where(MapFunction):
    def __init__(self, name):
        self.name = name

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()
        self.of = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return "%s %s on %d of %d" % (self.name, value, self.subtask, self.of)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
letters = env.from_collection(["a", "b", "c", "d"], Types.STRING())
letters.rebalance().map(Where("one"), Types.STRING()).set_parallelism(1).print("o").set_parallelism(1)
letters.broadcast().map(Where("all"), Types.STRING()).set_parallelism(3).print("b").set_parallelism(1)
letters.map(lambda w: w, Types.STRING()).set_parallelism(1).forward().map(
    Where("forward"), Types.STRING()).set_parallelism(1).print("f").set_parallelism(1)
env.execute()
