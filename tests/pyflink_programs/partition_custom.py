# compare: sorted
from pyflink.common import Types
from pyflink.datastream import MapFunction, Partitioner, StreamExecutionEnvironment


class ByLength(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


class WithSubtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return "%s on %d" % (value, self.subtask)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
words = env.from_collection(["a", "bb", "ccc", "dddd", "e"], Types.STRING())
words.partition_custom(ByLength(), lambda w: len(w)).map(WithSubtask(), Types.STRING()).print()
env.execute()
words.partition_custom(lambda key, n: 0, lambda w: w).map(WithSubtask(), Types.STRING()).print("all first")
env.execute()
