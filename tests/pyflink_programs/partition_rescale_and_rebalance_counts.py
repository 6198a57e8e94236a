# compare: exact
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self.subtask


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection(list(range(8)), Types.INT())
found = list(numbers.rebalance().map(Subtask(), Types.INT()).execute_and_collect())
print(sorted(found))
found = list(numbers.rescale().map(Subtask(), Types.INT()).execute_and_collect())
print(sorted(found))
found = list(numbers.broadcast().map(Subtask(), Types.INT()).execute_and_collect())
print(sorted(found))
