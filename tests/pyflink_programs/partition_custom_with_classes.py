# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeySelector, MapFunction, Partitioner, StreamExecutionEnvironment


class Last(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions - 1 if key == "x" else 0


class First(KeySelector):
    def get_key(self, value):
        return value[0]


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return "%s on %d" % (value, self.subtask)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(3)
words = env.from_collection(["xa", "yb", "xc"], Types.STRING())
words.partition_custom(Last(), First()).map(Subtask(), Types.STRING()).print()
env.execute()
