# compare: exact
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self.subtask, value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection(list(range(10)), Types.INT())
pair = Types.TUPLE([Types.INT(), Types.INT()])
by_subtask = {}
for subtask, value in numbers.rebalance().map(Subtask(), pair).execute_and_collect():
    by_subtask.setdefault(subtask, []).append(value)
print(sorted(by_subtask), sorted(by_subtask.values()))
