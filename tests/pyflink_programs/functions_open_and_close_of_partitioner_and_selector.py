# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeySelector, MapFunction, Partitioner, StreamExecutionEnvironment


class Modulo(Partitioner):
    def open(self, runtime_context):
        self.base = 10
        print("partitioner opened", flush=True)

    def partition(self, key, num_partitions):
        return (key + self.base) % num_partitions

    def close(self):
        print("partitioner closed", flush=True)


class Selector(KeySelector):
    def open(self, runtime_context):
        self.factor = 3
        print("selector opened", flush=True)

    def get_key(self, value):
        return value * self.factor

    def close(self):
        print("selector closed", flush=True)


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return "%d on %d" % (value, self.subtask)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection([1, 2, 3, 4], Types.INT())
numbers.partition_custom(Modulo(), Selector()).map(Subtask(), Types.STRING()).print()
env.execute()
