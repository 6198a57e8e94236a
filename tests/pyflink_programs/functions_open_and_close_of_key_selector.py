# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeySelector, StreamExecutionEnvironment


class Selector(KeySelector):
    def open(self, runtime_context):
        self.base = 3
        print("opened", type(runtime_context).__name__ != "NoneType", flush=True)

    def get_key(self, value):
        return value % self.base

    def close(self):
        print("closed", flush=True)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], Types.INT())
numbers.key_by(Selector(), Types.INT()).reduce(lambda a, b: a + b).print()
env.execute()
